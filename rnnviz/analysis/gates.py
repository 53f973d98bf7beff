"""Gates at work: one unit set by hand, the gates of a layer, two ways back to what was kept, two places for r."""

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from rnnviz import arguments
from rnnviz.arguments import Network, Number, Unrolled, Whole
from rnnviz.cells import GRU, LSTM, Cell, build
from rnnviz.config import CellConfig, InputConfig
from rnnviz.inputs import sequence
from rnnviz.results import HEARD, HandSet, Layer, Parting, Paths, Saturation
from rnnviz.tasks.adding import sample
from rnnviz.trace import Clamp, Trace, check_finite, check_trace, unroll

VALUE_SCALE = 0.1  # small, so that tanh(0.1 v) is all but 0.1 v, and so is tanh of two of them
SEQUENCES = 1000
# A stream of its own, so that the score is never taken on the sequence that is drawn.
SCORE_STREAM = 3 << 40
WIDE_OPEN = Clamp("o", 1.0)


def hand_set(keep: Number, shut: Number, opened: Number) -> LSTM:
    """One LSTM unit that reads (value, mark): f = sigma(keep), i = sigma(shut + opened m), g = tanh(0.1 v).

    It has no recurrent weights (U_k [1, 1] is 0), and its output gate none at all: unroll it with WIDE_OPEN, o = 1.
    ValueError names a wrong dial. Source: the gates of Gers et al. (2000).
    """
    opened = arguments.number("opened", opened)
    biases = {"i": arguments.number("shut", shut), "f": arguments.number("keep", keep), "g": 0.0, "o": 0.0}
    reads = {"i": (0.0, opened), "f": (0.0, 0.0), "g": (VALUE_SCALE, 0.0), "o": (0.0, 0.0)}
    weights = {}
    for k in "ifgo":
        weights[f"W_{k}"] = torch.tensor([reads[k]], dtype=torch.float64)
        weights[f"U_{k}"] = torch.zeros(1, 1, dtype=torch.float64)
        weights[f"b_{k}"] = torch.tensor([biases[k]], dtype=torch.float64)
    return LSTM(**weights)


def hand(keep: Number, shut: Number, opened: Number, length: Whole = 100, seed: Whole = 0) -> tuple[HandSet, Paths]:
    """The unit on one adding sequence, and its score: the mean squared error of y = w h_T + b on 1,000 others.

    w and b are the least-squares fit on those very sequences, w = cov(h, y) / var(h): what the unit's memory allows at
    best, not what some training found. Its curves are [time] and [time+1]. ValueError names a wrong argument.
    Source: the task of Hochreiter and Schmidhuber (1997).
    """
    unit = hand_set(keep, shut, opened)
    inputs = InputConfig(kind="adding", length=length, seed=seed)
    x = sequence(inputs, 2)
    trace = unroll(unit, x, clamps=[WIDE_OPEN])
    many, y = sample(inputs.length, SEQUENCES, torch.Generator().manual_seed(inputs.seed + SCORE_STREAM), torch.float64)
    h = unroll(unit, many, clamps=[WIDE_OPEN])["h"][-1, :, 0]
    varies = float(h.var(correction=0))
    w = float(((h - h.mean()) * (y - y.mean())).mean()) / varies if varies > 0 else 0.0
    b = float(y.mean()) - w * float(h.mean())
    marked = torch.cat((torch.zeros(1, dtype=torch.float64), (x[:, 0, 0] * x[:, 0, 1]).cumsum(0)))
    shown = HandSet(
        inputs=x[:, 0].numpy(),
        gates={k: trace[k][:, 0, 0].numpy() for k in "fig"},
        level=trace["c"][:, 0, 0].numpy(),
        answer=(w * trace["h"][:, 0, 0] + b).numpy(),
        truth=marked.numpy(),
        weight=w,
        bias=b,
        score=float((w * h + b - y).square().mean()),
        constant=float(y.var(correction=0)),
    )
    return shown, paths(unit, trace)


def layer(cell: CellConfig, inputs: InputConfig) -> tuple[Layer, Paths]:
    """The gates and states of a seeded cell on one adding sequence, s_t = step(x_t, s_{t-1}), and its two ways back.

    Each value is [time, hidden]. ValueError: the cell has no gates. Source: carpets of gates, Karpathy et al. (2015).
    """
    network = build(cell)
    trace = unroll(network, sequence(inputs, cell.inputs))
    ways = paths(network, trace)
    names = (*network.gate_names, network.state_names[-1])
    values = {k: trace[k][-inputs.length :, 0].numpy() for k in names}  # states without their start
    return Layer(cell.cell, trace.inputs[:, 0].numpy(), values, _keeper(network)), ways


def paths(cell: Network, trace: Unrolled, batch: Whole = 0) -> Paths:
    """The direct path from s_T back to s_{T-k} beside all ways, s = c for the LSTM and h for the GRU, each [time+1].

    direct: sum over t = T-k+1..T of ln f_t, or ln(1 - z_t): one unit's carousel. whole: ln of the 2-norm of the (s, s)
    block of J_T ... J_{T-k+1}, which holds the ways through h and the gates too. The product is rescaled at each step.
    T is the sequence's own length: padded steps are no steps.
    ValueError: the cell has no gates, or the trace is not its own. Source: Hochreiter and Schmidhuber (1997).
    """
    keeper = _checked(cell, trace)
    row = arguments.integer("batch", batch, 0, trace.inputs.shape[1] - 1)
    H = cell.hidden
    with torch.no_grad():
        length = len(trace.inputs) if trace.valid is None else int(trace.valid[:, row].sum())
        back = _log_kept(trace, keeper)[:length, row].flip(0).cumsum(0)  # [time, hidden] by lag 1..T
        factors = tuple(f[..., row, :] for f in cell.factors(trace))
        whole, reach = torch.zeros(len(back) + 1, dtype=torch.float64), None
        P: Tensor | None = None
        log_scale = 0.0
        for k in range(1, len(back) + 1):
            # A step's matrix at a time: all of them are 0.4 GB for 128 units and 400 steps.
            J = cell.jacobian(tuple(f[..., len(back) - k, :] for f in factors))
            P = J if P is None else P @ J
            largest = float(P.abs().max())
            if largest == 0:
                whole[k:] = -math.inf
                reach = k if reach is None else reach
                break
            P = P / largest
            log_scale += math.log(largest)
            whole[k] = torch.linalg.matrix_norm(P[-H:, -H:], 2).log() + log_scale
            if reach is None and _quiet(P, log_scale):
                reach = k
    first = torch.zeros(1, dtype=torch.float64)
    by_lag = [torch.cat((first, v)).numpy() for v in (back.mean(-1), back.amin(-1), back.amax(-1))]
    return Paths(by_lag[0], by_lag[1], by_lag[2], whole.numpy(), reach, back[-1].numpy())


def saturation(cell: Network, trace: Unrolled) -> Saturation:
    """How often each unit's gates are all but stuck: the shares P(value < 0.1) and P(value > 0.9), [hidden] a gate.

    A tanh counts from -0.9 and 0.9. Over all real steps and sequences of the trace, gate by gate. ValueError: the
    cell has no gates, or the trace is not its own. Source: left- and right-saturated gates of Karpathy et al. (2015).
    """
    _checked(cell, trace)
    time, batch = trace.inputs.shape[:2]
    steps = time * batch if trace.valid is None else int(trace.valid.sum())
    shares: list[dict[str, Any]] = [{}, {}]
    for gate in cell.gate_names:
        values = trace[gate]
        low = -0.9 if gate in "gn" else 0.1
        for found, stuck in zip(shares, (values < low, values > 0.9), strict=True):
            real = stuck if trace.valid is None else stuck & trace.valid
            found[gate] = real.sum((0, 1)).double().numpy() / steps
    return Saturation(*shares)


def parting(cell: CellConfig, inputs: InputConfig) -> Parting:
    """How far one set of GRU weights goes apart by where r stands: n = U_n (r*h) before, n = r*(U_n h) after.

    The weights are those of reset="before"; after has them too, and c_n = 0, so that only the place of r differs.
    r*(U_n h) = U_n (r*h) for every r and h only if U_n is diagonal, so no conversion of weights exists otherwise.
    Both curves are [time]. ValueError: not a GRU with reset="before". Source: the two forms, Cho et al. (2014) and
    Chung et al. (2014).
    """
    before = build(cell)
    if not isinstance(before, GRU) or before.reset != "before":
        raise ValueError(f"cell is {cell.cell!r} with reset={cell.reset!r}: it takes cell='gru' with reset='before'")
    x = sequence(inputs, cell.inputs)

    def apart(weights: dict[str, Tensor]) -> Tensor:
        h = unroll(GRU(**weights, reset="before"), x)["h"][1:, 0]
        other = unroll(GRU(**weights, c_n=torch.zeros_like(before.b_n), reset="after"), x)["h"][1:, 0]
        ratio: Tensor = torch.linalg.vector_norm(h - other, dim=-1) / torch.linalg.vector_norm(other, dim=-1)
        return ratio

    weights = before.parameters()
    alone = weights | {"U_n": torch.diag(before.U_n.diagonal())}
    return Parting(apart(weights).numpy(), apart(alone).numpy())


def _checked(cell: Network, trace: Unrolled) -> str:
    """The gate that keeps; ValueError unless the trace is the cell's and finite."""
    check_trace(cell, trace)
    keeper = _keeper(cell)
    check_finite(trace, "its gates say nothing from there")
    return keeper


def _keeper(cell: Cell) -> str:
    for gate in ("f", "z"):
        if gate in cell.gate_names:
            return gate
    raise ValueError(f"cell is {type(cell).__name__}: it takes an LSTM or a GRU, a cell with a gate that keeps")


def _log_kept(trace: Trace, keeper: str) -> Tensor:
    """ln f or ln(1 - z) from the pre-activation: 1 - z is 0 in float64 from 37 on. A held gate has its value's."""
    pre = trace[f"a_{keeper}"].double()
    log = logsigmoid(pre if keeper == "f" else -pre)
    held = trace.held(keeper)
    value = trace[keeper].double()
    # A held share may be anything, and it is its size that is kept.
    return log if held is None else torch.where(held, (value if keeper == "f" else 1 - value).abs().log(), log)


def _quiet(P: Tensor, log_scale: float) -> bool:
    """Whether less than 1 % is left: ‖P‖₂ e^log_scale < 0.01. ‖P‖_F / √n ≤ ‖P‖₂ ≤ ‖P‖_F mostly decides, cheaply."""
    limit = math.log(HEARD) - log_scale
    frobenius = math.log(float(P.norm()))
    if frobenius < limit or frobenius - math.log(len(P)) / 2 >= limit:
        return frobenius < limit
    return math.log(float(torch.linalg.matrix_norm(P, 2))) < limit
