"""train(): one network on the adding problem, a generator of frozen records; it knows no process, store or chart."""

import io
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rnnviz import arguments
from rnnviz.analysis.answer import answer
from rnnviz.arguments import Start, Training
from rnnviz.bptt import deltas
from rnnviz.cells import LSTM, Cell, build
from rnnviz.clipping import bounded, norms
from rnnviz.config import TrainConfig
from rnnviz.results import Probe, Record
from rnnviz.tasks.adding import sample
from rnnviz.trace import Trace, finite, unroll

Differentiate = Callable[[Cell, Mapping[str, Tensor], Tensor, Tensor], tuple[float, dict[str, Tensor], str | None]]
# Streams of their own, derived from the seed alone: cells that draw different numbers of weights see the same batches.
BATCH_STREAM, PROBE_STREAM = 1 << 40, 2 << 40


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """Where a run stands after `step` steps: what train() needs to go on to the same numbers, bit for bit.

    weights: name -> tensor, the read-out W_y [hidden], b_y [1] included; optimizer: its moments; generator: the
    state of the stream of batches; seconds spent so far.
    """

    step: int
    weights: Mapping[str, Tensor]
    optimizer: Mapping[str, Any]
    generator: Tensor
    seconds: float

    def to_bytes(self) -> bytes:
        """The snapshot as a file's content, readable without running code."""
        buffer = io.BytesIO()
        torch.save({name: getattr(self, name) for name in self.__slots__}, buffer)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> "Snapshot":
        """The snapshot that to_bytes wrote; ValueError for anything else."""
        try:
            return cls(**torch.load(io.BytesIO(data), weights_only=True))
        except Exception as error:
            raise ValueError("data is not a snapshot of a run: it takes what Snapshot.to_bytes() gave") from error


def train(config: Training, start: Start | None = None) -> Iterator[Record]:
    """Train a cell with a linear read-out of its last state, y = W_y . h_T + b_y, on the mean squared error.

    W_y is [hidden], b_y [1]. Yields a Record a step, from step 0 or from start.step, until config.steps. A changed
    rate or clip is train(replace(config, ...), start=snapshot). Non-finite values end the run: the last record says
    where in `fault`, its snapshot is the last finite state. float32; the same config gives the same run on one machine.
    ValueError, at the call: start does not fit the config. Recipe: Le et al. (2015), Arjovsky et al. (2016).
    """
    if not isinstance(config, TrainConfig):
        raise ValueError(f"config is {arguments.shown(config)}: it takes a TrainConfig")
    if start is not None and not isinstance(start, Snapshot):
        raise ValueError(f"start is {arguments.shown(start)}: it takes a Snapshot, as Snapshot.from_bytes() returns")
    cell, flat, weights = _network(config)
    batches = torch.Generator().manual_seed(config.seed + BATCH_STREAM)
    # One parameter, viewed by name: an optimiser that works entry by entry cannot tell, and does it in one pass.
    adam = config.optimizer == "adam"
    optimizer = (torch.optim.Adam if adam else torch.optim.SGD)([flat], lr=config.learning_rate, fused=True)
    # glibc's malloc hands freed memory back to the system and takes it anew, page by page, at every step; after a large
    # block was freed (32 MB is the most that it heeds) it keeps twice as much. Worth a third of a step of the RNN;
    # without effect elsewhere.
    torch.empty(31 << 20, dtype=torch.uint8)
    first, spent = 0, 0.0
    if start is not None:
        _restore(config, start, weights, optimizer, batches)
        first, spent = start.step, start.seconds
    return _steps(config, cell, flat, weights, batches, optimizer, first, spent)


def _steps(
    config: TrainConfig,
    cell: Cell,
    flat: Tensor,
    weights: dict[str, Tensor],
    batches: torch.Generator,
    optimizer: Any,
    first: int,
    spent: float,
) -> Iterator[Record]:
    probe_inputs, probe_targets = _probe_batch(config)
    # The one cell for which torch's own pass, fused over all steps, beats a loop of operations: benchmarks/training.py.
    differentiate: Differentiate = partial(_by_torch, cell.to_torch()) if isinstance(cell, LSTM) else _by_hand

    def take(steps: int) -> Snapshot:
        if steps != done:
            raise RuntimeError(f"the run has gone on to step {done - 1}: take the snapshot before the next record")
        state = {k: v.clone() for k, v in optimizer.state[flat].items() if isinstance(v, Tensor)}
        named = {name: value.clone() for name, value in weights.items()}
        return Snapshot(done, named, state, batches.get_state(), spent)

    done = first
    for step in range(first, config.steps):
        began = time.perf_counter()
        resume = batches.get_state()
        x, y = sample(config.length, config.batch, batches)
        loss, grads, fault = differentiate(cell, weights, x, y)
        parts: dict[str, float] = {}
        size, clipped, update = math.nan, False, 0.0
        if fault is None:
            try:
                parts = norms(grads)
                size = math.hypot(*parts.values())
                if config.clip is not None:
                    within = bounded(grads, parts, config.clip, config.clip_mode)
                    clipped = any(within[name] is not g for name, g in grads.items())
                    grads = within
            except FloatingPointError as error:
                fault = (
                    f"{error}; the states were finite, so a lower gain or shorter sequences would help, clipping cannot"
                )
        look = None
        rho = None
        if step % config.probe_every == 0 or step == config.steps - 1 or fault is not None:
            look = _probe(cell, weights, probe_inputs, probe_targets)
            rho = float(torch.linalg.eigvals(weights["W_h"]).abs().max()) if "W_h" in weights else None
        if fault is None:
            before, held = flat.clone(), {k: v.clone() for k, v in optimizer.state[flat].items()}
            flat.grad = torch.cat([grads[name].reshape(-1) for name in weights])
            optimizer.step()
            moments = [v for v in optimizer.state[flat].values() if v.shape == flat.shape]
            if not finite(flat):
                fault = f"the update made {_broken(weights, flat)} not finite: lower the learning rate"
            elif not all(finite(v) for v in moments):  # a square that is infinite would stop the weight for good
                broken = next(_broken(weights, v) for v in moments if not finite(v))
                fault = f"the gradient of {broken} is too large for the optimizer to square: clip it, or lower the gain"
            if fault is not None:
                flat.copy_(before)
                optimizer.state[flat] = held
            # in double precision: the squares of what is still finite in single need not be
            moved, was = (torch.linalg.vector_norm(v, dtype=torch.float64) for v in (flat - before, before))
            update = float(moved / was)
        if fault is None:
            done = step + 1
        else:
            batches.set_state(resume)
            fault = f"step {step}: {fault}"
        spent += time.perf_counter() - began
        yield Record(step, loss, size, clipped, update, spent, parts, rho, look, fault, partial(take, done))
        if fault is not None:
            return


def _broken(weights: Mapping[str, Tensor], flat: Tensor) -> str:
    """The first parameter whose part of a vector of all of them is not finite."""
    parts = flat.split([w.numel() for w in weights.values()])
    return next(name for name, part in zip(weights, parts, strict=True) if not finite(part))


def network(config: TrainConfig, weights: Mapping[str, Any] | None = None) -> tuple[Cell, dict[str, Tensor]]:
    """The cell and all weights of a run by name, at birth or as stored (tensors or arrays), for looking at."""
    cell, _, named = _network(config)
    if weights is not None:
        _fill(named, weights)
    return cell, named


def _network(config: TrainConfig) -> tuple[Cell, Tensor, dict[str, Tensor]]:
    generator = torch.Generator().manual_seed(config.seed)
    cell = build(config, generator)
    bound = 1 / math.sqrt(config.hidden)  # torch's nn.Linear
    W_y = torch.empty(config.hidden, dtype=torch.float32).uniform_(-bound, bound, generator=generator)
    b_y = torch.empty(1, dtype=torch.float32).uniform_(-bound, bound, generator=generator)
    named = {**cell.parameters(), "W_y": W_y, "b_y": b_y}
    flat = torch.cat([value.reshape(-1) for value in named.values()])
    parts = flat.split([value.numel() for value in named.values()])
    views = {name: part.view_as(named[name]) for name, part in zip(named, parts, strict=True)}
    held: dict[str, Any] = {name: views[name] for name in cell.parameters()}
    return replace(cell, **held), flat, views  # type: ignore[type-var]


def _fill(weights: dict[str, Tensor], stored: Mapping[str, Any]) -> None:
    if stored.keys() != weights.keys():
        raise ValueError(f"weights are {', '.join(stored)}: this config takes {', '.join(weights)}")
    for name, value in stored.items():
        tensor = torch.as_tensor(value)
        if tensor.shape != weights[name].shape:
            raise ValueError(f"{name} has shape {tuple(tensor.shape)}: this config takes {tuple(weights[name].shape)}")
        weights[name].copy_(tensor)


def _restore(
    config: TrainConfig, start: Snapshot, weights: dict[str, Tensor], optimizer: Any, batches: torch.Generator
) -> None:
    arguments.integer("start.step", start.step, 0, config.steps)
    _fill(weights, start.weights)
    flat = optimizer.param_groups[0]["params"][0]
    if bool(start.optimizer) != (config.optimizer == "adam" and start.step > 0):
        raise ValueError(f"start has the moments of another optimizer: it takes a snapshot of {config.optimizer!r}")
    shapes = {name: value.shape for name, value in start.optimizer.items()}
    if shapes and shapes != {"step": torch.Size(()), "exp_avg": flat.shape, "exp_avg_sq": flat.shape}:
        raise ValueError(f"start has moments {arguments.shown(shapes)}: it takes those of Adam for this config")
    for name, value in start.optimizer.items():
        optimizer.state[flat][name] = value.clone()
    try:
        batches.set_state(start.generator)
    except (RuntimeError, TypeError) as error:
        raise ValueError("start has no state of a stream of batches: it takes what record.snapshot() gave") from error


def _by_hand(
    cell: Cell, weights: Mapping[str, Tensor], x: Tensor, y: Tensor
) -> tuple[float, dict[str, Tensor], str | None]:
    """The loss and its gradients by parameter; in the third place why there are none."""
    trace = unroll(cell, x)
    h = trace["h"][-1]
    loss, by_h, read, fault = _loss(weights, h, y, trace.first_nonfinite)
    if fault:
        return loss, {}, fault
    grad_h = torch.zeros_like(trace["h"][1:])
    grad_h[-1] = by_h
    with torch.no_grad():
        _, pre = deltas(cell, trace, grad_h)
        grads = cell.gradients(trace, pre)
    return loss, grads | read, None


def _by_torch(
    module: nn.Module, cell: Any, weights: Mapping[str, Tensor], x: Tensor, y: Tensor
) -> tuple[float, dict[str, Tensor], str | None]:
    """The same through an nn.LSTM, to which the weights are lent."""
    stacked = {"weight_ih": cell.reading(), "weight_hh": cell.recurrence().flatten(0, 1), "bias_ih": cell.biases()}
    held = {name: getattr(module, f"{name}_l0") for name in stacked}
    with torch.no_grad():
        for name, value in stacked.items():
            held[name].copy_(value)
    with torch.enable_grad():
        last: Tensor = module(x)[0][-1]
    h = last.detach()
    broken = None if finite(h) else unroll(cell, x).first_nonfinite
    loss, by_h, read, fault = _loss(weights, h, y, broken)
    if fault:
        return loss, {}, fault
    parts = torch.autograd.grad(last, list(held.values()), by_h)
    blocks = [part.chunk(4) for part in parts]
    grads = {
        f"{letter}_{k}": block[n] for n, k in enumerate("ifgo") for letter, block in zip("WUb", blocks, strict=True)
    }
    return loss, grads | read, None


def _loss(
    weights: Mapping[str, Tensor], h: Tensor, y: Tensor, first_nonfinite: int | None
) -> tuple[float, Tensor, dict[str, Tensor], str | None]:
    """The mean squared error of the answers from h [batch, hidden], its gradient by h and by the read-out, a fault."""
    residual = h @ weights["W_y"] + weights["b_y"] - y
    loss = float(residual.square().mean())
    by_answer = 2 / len(y) * residual
    by_h = by_answer.unsqueeze(1) * weights["W_y"]
    fault = None
    if first_nonfinite is not None or not math.isfinite(loss):
        where = f"h at step {first_nonfinite} of the sequence" if first_nonfinite else "the loss"
        fault = (
            f"the forward pass overflowed, {where} is not finite; clipping acts later and cannot help, "
            "lower the gain or the learning rate"
        )
    elif not finite(by_h):
        fault = "the gradient at the last state is not finite: lower the gain or the learning rate"
    return loss, by_h, {"W_y": by_answer @ h, "b_y": by_answer.sum().reshape(1)}, fault


def _probe_batch(config: TrainConfig) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(config.seed + PROBE_STREAM)
    return sample(config.length, config.probe_batch, generator, torch.float64)


def _probe(cell: Cell, weights: Mapping[str, Tensor], x: Tensor, y: Tensor) -> Probe | None:
    """One forward and one backward pass in float64: over long lags float32 would call a small gradient zero."""
    double: dict[str, Any] = {name: value.double() for name, value in cell.parameters().items()}
    cell = replace(cell, **double)  # type: ignore[type-var]
    trace = unroll(cell, x)
    if trace.first_nonfinite is not None:
        return None
    # Of the answer, not of the loss: a residual of zero would hide what it hears.
    said = answer(cell, trace, weights["W_y"].double(), float(weights["b_y"]))
    by_value, marks = said.by_input[..., 0], x[..., 1].numpy()
    half = x.shape[0] // 2
    first, second = ((by_value * marks)[part].sum(0).mean() for part in (slice(half), slice(half, None)))
    unmarked = (np.abs(by_value) * (1 - marks)).sum(0).mean() / max(x.shape[0] - 2, 1)
    residual = said.value - y.numpy()
    with np.errstate(divide="ignore"):
        by_sequence = said.log_by_state + np.log(np.abs(2 / len(y) * residual))
    return Probe(
        error=float(np.square(residual).mean()),
        reach=said.reach,
        listening=(float(first), float(second), float(unmarked)),
        log_answer=said.heard,
        log_grad_norm=0.5 * np.logaddexp.reduce(2 * by_sequence, -1),
        inputs=x[:, 0].numpy(),
        gates=_gates(cell, trace),
        predictions=said.value,
        targets=y.numpy(),
        weights={name: value.numpy().copy() for name, value in weights.items()},
    )


def _gates(cell: Cell, trace: Trace) -> dict[str, Any]:
    """The gates of the first sequence; a cell without gates shows its state."""
    if not cell.gate_names:
        return {"h": trace["h"][1:, 0].float().numpy()}
    return {name: trace[name][:, 0].float().numpy() for name in cell.gate_names}
