"""Elman, LSTM, GRU: one step, the derivative of a step, the parameters; read them by comparison.

Each cell answers the same questions:

    drive(x)                  W x + b of all gates: the part of a step that needs no state
    advance(drive, s, U)      one step: the new state, from which derivatives flow; or, given room, everything in place
    factors(trace)            the multipliers that the derivative of a step is made of, for all steps at once
    retreat(f, ds, U, into)   one step backwards: adds J_t^T dL/ds_t to what is there of dL/ds_{t-1}
    preactivations(f, ds)     from dL/ds_t to the gradient at the pre-activations
    jacobian(factors)         the derivative of a step as a matrix

Matrices are [out, in]. What has a part for each gate has an axis of blocks first, [blocks, time, batch, hidden], in the
order of pre_names, so that each gate lies in one piece: that is what makes a step fast. Slopes come from
pre-activations: sech^2(a) and sigma(a) sigma(-a). 1 - h^2 is exactly 0 in float32 from |a| about 9.01, and
sigma (1 - sigma) in float64 from a = 37.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, cast, runtime_checkable

import torch
from torch import Tensor, nn

from rnnviz import arguments, weights
from rnnviz.arguments import Flag, Given, Name, Number, Stream, Whole
from rnnviz.axes import Left, Matrices, Right, Rows
from rnnviz.config import ACTIVATIONS, RESETS, CellConfig, TrainConfig

if TYPE_CHECKING:
    from rnnviz.trace import Trace

State = tuple[Tensor, ...]
"""(h,) for Elman and GRU, (h, c) for the LSTM."""
Factors = tuple[Tensor, ...]
Hold = Callable[[str, Tensor], Tensor]
"""hold(gate, computed) is the value that counts: the computed one, or a clamp's, written in its place."""


class Room(NamedTuple):
    """Where a step writes its gates [blocks, batch, hidden] and its new state; its pre-activations replace the drive.

    Without room a step makes new tensors, through which derivatives flow.
    """

    gates: Tensor
    state: State


def free(gate: str, computed: Tensor) -> Tensor:
    """The Hold of a cell that nobody holds."""
    return computed


@runtime_checkable
class Cell(Protocol):
    """What every cell can do; structural, no cell inherits from it."""

    state_names: ClassVar[tuple[str, ...]]
    gate_names: ClassVar[tuple[str, ...]]
    pre_names: ClassVar[tuple[str, ...]]

    @property
    def inputs(self) -> int: ...
    @property
    def hidden(self) -> int: ...
    @property
    def dtype(self) -> torch.dtype: ...
    def parameters(self) -> dict[str, Tensor]: ...
    def to_torch(self) -> nn.Module: ...
    def step(self, x: Any, state: Any) -> Any: ...
    def drive(self, x: Tensor, out: Tensor | None = None) -> Tensor: ...
    def reading(self) -> Tensor: ...
    def recurrence(self) -> Tensor: ...
    def advance(self, drive: Tensor, state: State, U: Tensor, hold: Hold = ..., room: Room | None = ...) -> State: ...
    def factors(self, trace: "Trace") -> Factors: ...
    def retreat(self, factors: Factors, grad: State, U: Tensor, into: State) -> None: ...
    def preactivations(self, factors: Factors, grad: State, out: Tensor | None = None) -> Tensor: ...
    def gradients(self, trace: "Trace", pre: Tensor) -> dict[str, Tensor]: ...
    def jacobian(self, factors: Factors) -> Tensor: ...

    @staticmethod
    def from_torch(module: Any, layer: Whole = 0, reverse: Flag = False) -> "Cell":
        """The cell of one layer and direction of an nn.RNN, nn.LSTM or nn.GRU."""
        for kind, cell in ((nn.RNN, Elman), (nn.LSTM, LSTM), (nn.GRU, GRU)):
            if isinstance(module, kind):
                return cast(Cell, cast(Any, cell).from_torch(module, layer, reverse))
        raise ValueError(f"module is a {type(module).__name__}: it takes an nn.RNN, nn.LSTM or nn.GRU")


def check_cell(cell: object) -> None:
    """ValueError unless it is a cell."""
    if not isinstance(cell, Elman | LSTM | GRU):
        got = cell.__name__ if isinstance(cell, type) else f"a {type(cell).__name__}"
        raise ValueError(
            f"cell is {got}: it takes an Elman, an LSTM or a GRU, which Cell.from_torch makes of torch's modules"
        )


def _check_step(cell: Cell, x: Any, state: Any) -> State:
    """The state as a tuple; ValueError unless x and each part of the state fit the cell."""
    parts = tuple(state) if isinstance(state, tuple | list) and len(cell.state_names) > 1 else (state,)
    if len(parts) != len(cell.state_names):
        raise ValueError("state is not the pair (h, c): it takes two tensors [..., hidden]")
    sizes = (cell.inputs, *(cell.hidden for _ in parts))
    for name, value, size in zip(("x", *cell.state_names), (x, *parts), sizes, strict=True):
        takes = f"it takes a tensor [..., {size}], {cell.dtype}"
        if not isinstance(value, Tensor):
            raise ValueError(f"{name} is a {type(value).__name__}: {takes}")
        if value.dim() < 1 or value.shape[-1] != size or value.dtype != cell.dtype:
            raise ValueError(f"{name} has shape {tuple(value.shape)}, {value.dtype}: {takes}")
        if value.shape[:-1] != x.shape[:-1]:
            raise ValueError(f"{name} has shape {tuple(value.shape)}: it takes {(*x.shape[:-1], size)}, as x has")
    return parts


def _step(cell: Cell, x: Any, state: Any) -> State:
    parts = _check_step(cell, x, state)
    rows = tuple(part.reshape(-1, cell.hidden) for part in parts)
    new = cell.advance(cell.drive(x.reshape(-1, cell.inputs)), rows, cell.recurrence())
    return tuple(part.reshape(parts[0].shape) for part in new)


@dataclass(frozen=True, eq=False)
class Elman:
    """h' = phi(W_x x + W_h h + b) with phi = tanh, relu, sigmoid or the identity ("linear").

    W_x [hidden, inputs], W_h [hidden, hidden], b [hidden]; one floating dtype. ValueError names what does not fit.
    Source: Elman (1990).
    """

    W_x: Given
    W_h: Given
    b: Given
    activation: Name = "tanh"

    state_names: ClassVar[tuple[str, ...]] = ("h",)
    gate_names: ClassVar[tuple[str, ...]] = ()
    pre_names: ClassVar[tuple[str, ...]] = ("a",)

    def __post_init__(self) -> None:
        arguments.choice("activation", self.activation, ACTIVATIONS)
        weights.check(self, self.W_x, self.W_h)

    @property
    def inputs(self) -> int:
        return self.W_x.shape[1]

    @property
    def hidden(self) -> int:
        return self.W_h.shape[0]

    @property
    def dtype(self) -> torch.dtype:
        return self.W_h.dtype

    @classmethod
    def init(
        cls,
        inputs: Whole,
        hidden: Whole,
        *,
        activation: Name = "tanh",
        recurrent: Name = "uniform",
        gain: Number = 1.0,
        generator: Stream | None = None,
        dtype: Any = None,
    ) -> "Elman":
        """A cell with random weights: W_x [hidden, inputs] and b as torch draws them, W_h by the rule `recurrent`,
        times gain.

        "uniform": U(-1/sqrt(hidden), 1/sqrt(hidden)), and the very numbers of nn.RNN for the same seed; "orthogonal";
        "identity" with b = 0 (Le et al. 2015); "normal": variance 1/hidden. ValueError names a wrong argument.
        """
        arguments.choice("activation", activation, ACTIVATIONS)
        W, U, b_ih, b_hh = weights.draw(inputs, hidden, 1, recurrent, gain, generator, dtype)
        return cls(W_x=W[0], W_h=U[0], b=b_ih[0] + b_hh[0], activation=activation)

    @classmethod
    def from_torch(cls, module: Any, layer: Whole = 0, reverse: Flag = False) -> "Elman":
        """The cell of one layer and direction of an nn.RNN; the two biases are summed."""
        W, U, b_ih, b_hh = weights.read(module, nn.RNN, layer, reverse)
        return cls(W_x=W.clone(), W_h=U.clone(), b=b_ih + b_hh, activation=module.nonlinearity)

    def to_torch(self) -> nn.RNN:
        """An nn.RNN with the same outputs; b goes to bias_ih_l0. ValueError for "sigmoid" and "linear"."""
        if self.activation not in ("tanh", "relu"):
            raise ValueError(f"activation is {self.activation!r}: nn.RNN takes 'tanh' or 'relu'")
        module = nn.RNN(self.inputs, self.hidden, nonlinearity=self.activation, dtype=self.dtype, device="meta")
        return cast(nn.RNN, weights.write(module, self.W_x, self.W_h, self.b, torch.zeros_like(self.b)))

    def parameters(self) -> dict[str, Tensor]:
        """The named tensors themselves, not copies: W_x, W_h, b."""
        return {"W_x": self.W_x, "W_h": self.W_h, "b": self.b}

    def step(self, x: Any, state: Any) -> Tensor:
        """h' = phi(W_x x + W_h h + b) from x [..., inputs] and h [..., hidden]; differentiable.

        ValueError names what does not fit: width, dtype, or leading axes that differ. Source: Elman (1990).
        """
        return _step(self, x, state)[0]

    def drive(self, x: Tensor, out: Tensor | None = None) -> Tensor:
        return _linear(x, ((self.W_x, self.b),), out)

    def reading(self) -> Tensor:
        return self.W_x

    def recurrence(self) -> Tensor:
        return self.W_h.unsqueeze(0)

    def advance(self, drive: Tensor, state: State, U: Tensor, hold: Hold = free, room: Room | None = None) -> State:
        (h,), (own,) = state, drive
        a = torch.addmm(own, h, self.W_h.mT, out=None if room is None else own)
        return (_apply(self.activation, a, None if room is None else room.state[0]),)

    def factors(self, trace: "Trace") -> Factors:
        return (slope(self.activation, trace["a"]),)

    def retreat(self, factors: Factors, grad: State, U: Tensor, into: State) -> None:
        _add_product(into[0], grad[0] * factors[0], self.W_h)

    def preactivations(self, factors: Factors, grad: State, out: Tensor | None = None) -> Tensor:
        return torch.mul(grad[0], factors[0].unsqueeze(0), out=out)

    def gradients(self, trace: "Trace", pre: Tensor) -> dict[str, Tensor]:
        return {
            "W_x": _outer(pre[0], trace.inputs),
            "W_h": _outer(pre[0], trace["h"][:-1]),
            "b": pre[0].flatten(0, -2).sum(0),
        }

    def jacobian(self, factors: Factors) -> Tensor:
        return factors[0].unsqueeze(-1) * self.W_h


@dataclass(frozen=True, eq=False)
class LSTM:
    """i, f, o = sigma(W x + U h + b), g = tanh(W_g x + U_g h + b_g), c' = f*c + i*g, h' = o*tanh(c').

    W_k [hidden, inputs], U_k [hidden, hidden], b_k [hidden] for k in i, f, g, o, which is torch's order of blocks; g is
    the candidate. b_k is the sum of torch's two biases. ValueError names what does not fit. Sources: Hochreiter and
    Schmidhuber (1997), forget gate Gers et al. (2000).
    """

    W_i: Given
    U_i: Given
    b_i: Given
    W_f: Given
    U_f: Given
    b_f: Given
    W_g: Given
    U_g: Given
    b_g: Given
    W_o: Given
    U_o: Given
    b_o: Given

    state_names: ClassVar[tuple[str, ...]] = ("h", "c")
    gate_names: ClassVar[tuple[str, ...]] = ("i", "f", "g", "o")
    pre_names: ClassVar[tuple[str, ...]] = ("a_i", "a_f", "a_g", "a_o")

    def __post_init__(self) -> None:
        weights.check(self, self.W_i, self.U_i)

    @property
    def inputs(self) -> int:
        return self.W_i.shape[1]

    @property
    def hidden(self) -> int:
        return self.U_i.shape[0]

    @property
    def dtype(self) -> torch.dtype:
        return self.U_i.dtype

    @classmethod
    def init(
        cls,
        inputs: Whole,
        hidden: Whole,
        *,
        forget_bias: Number | None = None,
        input_bias: Number | None = None,
        recurrent: Name = "uniform",
        gain: Number = 1.0,
        generator: Stream | None = None,
        dtype: Any = None,
    ) -> "LSTM":
        """A cell with random weights, as Elman.init; each gate's U_k [hidden, hidden] is drawn by itself.

        b_f = forget_bias and b_i = input_bias are the sums of the two biases that torch keeps: filling both of torch's
        with 1 is 2. ValueError names a wrong argument. Source: a forget bias of 1, Jozefowicz et al. (2015).
        """
        W, U, b_ih, b_hh = weights.draw(inputs, hidden, 4, recurrent, gain, generator, dtype)
        b = b_ih + b_hh
        for row, name, value in ((0, "input_bias", input_bias), (1, "forget_bias", forget_bias)):
            if value is not None:
                limit = torch.finfo(b.dtype).max
                b[row] = arguments.number(name, value, -limit, high=limit)
        blocks = zip("ifgo", W, U, b, strict=True)
        return cls(**{f"{m}_{k}": v for k, *row in blocks for m, v in zip("WUb", row, strict=True)})

    @classmethod
    def from_torch(cls, module: Any, layer: Whole = 0, reverse: Flag = False) -> "LSTM":
        """The cell of one layer and direction of an nn.LSTM; biases are summed. A projection is refused."""
        W, U, b_ih, b_hh = weights.read(module, nn.LSTM, layer, reverse)
        parts = zip("ifgo", W.chunk(4), U.chunk(4), (b_ih + b_hh).chunk(4), strict=True)
        return cls(**{f"{m}_{k}": v.clone() for k, *row in parts for m, v in zip("WUb", row, strict=True)})

    def to_torch(self) -> nn.LSTM:
        """An nn.LSTM with the same outputs; the biases go to bias_ih_l0, bias_hh_l0 is zero."""
        module = nn.LSTM(self.inputs, self.hidden, dtype=self.dtype, device="meta")
        W, b = self._stack("W"), self.biases()
        return cast(nn.LSTM, weights.write(module, W, self._stack("U"), b, torch.zeros_like(b)))

    def parameters(self) -> dict[str, Tensor]:
        """The named tensors themselves, not copies: W_k, U_k, b_k for k in i, f, g, o."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def step(self, x: Any, state: Any) -> tuple[Tensor, Tensor]:
        """c' = f*c + i*g, h' = o*tanh(c') from x [..., inputs] and (h, c), each [..., hidden]; differentiable.

        ValueError names what does not fit: no pair, width, dtype, leading axes. Source: Gers et al. (2000).
        """
        h, c = _step(self, x, state)
        return h, c

    def _stack(self, letter: str) -> Tensor:
        return torch.cat([getattr(self, f"{letter}_{k}") for k in self.gate_names])

    def drive(self, x: Tensor, out: Tensor | None = None) -> Tensor:
        pairs = ((self.W_i, self.b_i), (self.W_f, self.b_f), (self.W_g, self.b_g), (self.W_o, self.b_o))
        return _linear(x, pairs, out)

    def reading(self) -> Tensor:
        return self._stack("W")

    def biases(self) -> Tensor:
        return self._stack("b")

    def recurrence(self) -> Tensor:
        return torch.stack((self.U_i, self.U_f, self.U_g, self.U_o))

    def advance(self, drive: Tensor, state: State, U: Tensor, hold: Hold = free, room: Room | None = None) -> State:
        h, c = state
        a = torch.baddbmm(drive, h.expand(4, -1, -1), U.mT, out=None if room is None else drive)
        i, f, g, o = torch.sigmoid(a, out=None if room is None else room.gates).unbind(0)
        g = torch.tanh(a[2], out=None if room is None else g)  # in the place of a sigmoid that nobody asked for
        i, f, g, o = hold("i", i), hold("f", f), hold("g", g), hold("o", o)
        c = torch.addcmul(f * c, i, g, out=None if room is None else room.state[1])
        return torch.mul(o, torch.tanh(c), out=None if room is None else room.state[0]), c

    def factors(self, trace: "Trace") -> Factors:
        # With dc the whole dL/dc_t: gradients at the pre-activations are (dc*g*i', dc*c_{t-1}*f', dc*i*g',
        # dh*tanh(c)*o').
        i, f, g, o = (trace[k] for k in self.gate_names)
        c, c_old = trace["c"][1:], trace["c"][:-1]
        through = torch.empty(4, *f.shape, dtype=f.dtype)
        for block, (k, value) in enumerate(zip(self.gate_names, (g, c_old, i, torch.tanh(c)), strict=True)):
            torch.mul(value, _gate_slope(trace, k), out=through[block])
        return through, o * slope("tanh", c), f

    def retreat(self, factors: Factors, grad: State, U: Tensor, into: State) -> None:
        _add_products(into[0], self.preactivations(factors, grad), U)
        into[1].addcmul_(self.whole_c(factors, grad), factors[2])

    def whole_c(self, factors: Factors, grad: State) -> Tensor:
        """dL/dc_t by all ways: carried back from step t+1, and through h_t = o*tanh(c_t)."""
        return torch.addcmul(grad[1], grad[0], factors[1])

    def preactivations(self, factors: Factors, grad: State, out: Tensor | None = None) -> Tensor:
        dc = self.whole_c(factors, grad)
        return torch.mul(factors[0], torch.stack((dc, dc, dc, grad[0])), out=out)

    def gradients(self, trace: "Trace", pre: Tensor) -> dict[str, Tensor]:
        grads: dict[str, Tensor] = {}
        for k, part in zip(self.gate_names, pre, strict=True):
            grads |= {f"W_{k}": _outer(part, trace.inputs), f"U_{k}": _outer(part, trace["h"][:-1])}
            grads[f"b_{k}"] = part.flatten(0, -2).sum(0)
        return grads

    def jacobian(self, factors: Factors) -> Tensor:
        (mi, mf, mg, mo), mc, f = (m.unsqueeze(-1) for m in factors[0].unbind(0)), *factors[1:]
        c_h = mi * self.U_i + mf * self.U_f + mg * self.U_g
        h_h = mo * self.U_o + mc.unsqueeze(-1) * c_h
        return torch.cat(
            (torch.cat((h_h, torch.diag_embed(mc * f)), -1), torch.cat((c_h, torch.diag_embed(f)), -1)), -2
        )


@dataclass(frozen=True, eq=False)
class GRU:
    """z, r = sigma(W x + U h + b), h' = (1-z)*h + z*n, with one of two candidates n, which are two different functions.

    reset="before": n = tanh(W_n x + U_n (r*h) + b_n), the books' cell: reset as in Cho et al. (2014), z on the new
    state as in Chung et al. (2014). reset="after":  n = tanh(W_n x + b_n + r*(U_n h + c_n)), torch's and cuDNN's.
    torch's z is 1 - ours (it weighs the old state), so from_torch and to_torch flip the sign of W_z, U_z, b_z.
    W_k [hidden, inputs], U_k [hidden, hidden], b_k [hidden] for k in z, r, n; c_n [hidden] with reset="after" only.
    ValueError names what does not fit.
    """

    W_z: Given
    U_z: Given
    b_z: Given
    W_r: Given
    U_r: Given
    b_r: Given
    W_n: Given
    U_n: Given
    b_n: Given
    c_n: Given | None = None
    reset: Name = "after"

    state_names: ClassVar[tuple[str, ...]] = ("h",)
    gate_names: ClassVar[tuple[str, ...]] = ("z", "r", "n")
    pre_names: ClassVar[tuple[str, ...]] = ("a_z", "a_r", "a_n")

    def __post_init__(self) -> None:
        arguments.choice("reset", self.reset, RESETS)
        if (self.c_n is None) == (self.reset == "after"):
            takes = "it takes a tensor [hidden]" if self.reset == "after" else "leave it out"
            raise ValueError(f"c_n is {arguments.shown(self.c_n)}: with reset={self.reset!r} {takes}")
        weights.check(self, self.W_z, self.U_z)

    @property
    def inputs(self) -> int:
        return self.W_z.shape[1]

    @property
    def hidden(self) -> int:
        return self.U_z.shape[0]

    @property
    def dtype(self) -> torch.dtype:
        return self.U_z.dtype

    @classmethod
    def init(
        cls,
        inputs: Whole,
        hidden: Whole,
        *,
        reset: Name = "after",
        recurrent: Name = "uniform",
        gain: Number = 1.0,
        generator: Stream | None = None,
        dtype: Any = None,
    ) -> "GRU":
        """A cell with random weights, as Elman.init; each gate's U_k [hidden, hidden] is drawn by itself.

        With reset="after" and "uniform" they are nn.GRU's numbers for the same seed, z = 1 - torch's.
        ValueError names a wrong argument. Source: Cho et al. (2014).
        """
        arguments.choice("reset", reset, RESETS)
        # Drawn in torch's order r, z, n. Its z weighs the old state, so the numbers of z change sign to be the same
        # cell; an identity stays the identity.
        W, U, b_ih, b_hh = weights.draw(inputs, hidden, 3, recurrent, gain, generator, dtype)
        b, c_n = b_ih + b_hh, None
        if reset == "after":  # n keeps torch's two biases apart, since r scales only the second
            b[2], c_n = b_ih[2], b_hh[2].clone()
        W[1], b[1] = -W[1], -b[1]
        if recurrent == "uniform":
            U[1] = -U[1]
        rows = enumerate("rzn")
        parts: dict[str, Any] = {
            f"{m}_{k}": v[row] for row, k in rows for m, v in zip("WUb", (W, U, list(b)), strict=True)
        }
        return cls(**parts, c_n=c_n, reset=reset)

    @classmethod
    def from_torch(cls, module: Any, layer: Whole = 0, reverse: Flag = False) -> "GRU":
        """The cell of one layer and direction of an nn.GRU: reset="after", the sign of the z parameters flipped."""
        W, U, b_ih, b_hh = weights.read(module, nn.GRU, layer, reverse)
        (W_r, W_z, W_n), (U_r, U_z, U_n) = W.chunk(3), U.chunk(3)
        b_r, b_z, _ = (b_ih + b_hh).chunk(3)
        z = {"W_z": -W_z, "U_z": -U_z, "b_z": -b_z}
        r = {"W_r": W_r, "U_r": U_r, "b_r": b_r}
        n = {"W_n": W_n, "U_n": U_n, "b_n": b_ih.chunk(3)[2], "c_n": b_hh.chunk(3)[2]}
        parts: dict[str, Any] = {name: value.clone() for name, value in (z | r | n).items()}
        return cls(**parts)

    def to_torch(self) -> nn.GRU:
        """An nn.GRU with the same outputs; bias_hh is zero but for c_n. ValueError for reset="before"."""
        if self.reset == "before" or self.c_n is None:
            raise ValueError(
                "reset is 'before': nn.GRU computes 'after', and no conversion exists unless U_n is diagonal"
            )
        module = nn.GRU(self.inputs, self.hidden, dtype=self.dtype, device="meta")
        zero = torch.zeros_like(self.c_n)
        return cast(
            nn.GRU,
            weights.write(
                module,
                torch.cat((self.W_r, -self.W_z, self.W_n)),
                torch.cat((self.U_r, -self.U_z, self.U_n)),
                torch.cat((self.b_r, -self.b_z, self.b_n)),
                torch.cat((zero, zero, self.c_n)),
            ),
        )

    def parameters(self) -> dict[str, Tensor]:
        """The named tensors themselves, not copies: W_k, U_k, b_k for k in z, r, n, and c_n with reset="after"."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in named.items() if isinstance(value, Tensor)}

    def step(self, x: Any, state: Any) -> Tensor:
        """h' = (1 - z)*h + z*n from x [..., inputs] and h [..., hidden]; differentiable.

        ValueError names what does not fit: width, dtype, or leading axes that differ. Source: Chung et al. (2014).
        """
        return _step(self, x, state)[0]

    def _stack(self, letter: str) -> Tensor:
        return torch.cat([getattr(self, f"{letter}_{k}") for k in self.gate_names])

    def drive(self, x: Tensor, out: Tensor | None = None) -> Tensor:
        return _linear(x, ((self.W_z, self.b_z), (self.W_r, self.b_r), (self.W_n, self.b_n)), out)

    def reading(self) -> Tensor:
        return self._stack("W")

    def recurrence(self) -> Tensor:
        return torch.stack((self.U_z, self.U_r, self.U_n))

    def advance(self, drive: Tensor, state: State, U: Tensor, hold: Hold = free, room: Room | None = None) -> State:
        (h,) = state
        a_zr, a_n = drive[:2], drive[2]
        gates_zr, gates_n = (None, None) if room is None else (room.gates[:2], room.gates[2])
        a_zr = torch.baddbmm(a_zr, h.expand(2, -1, -1), U[:2].mT, out=None if room is None else a_zr)
        z, r = torch.sigmoid(a_zr, out=gates_zr).unbind(0)
        z, r = hold("z", z), hold("r", r)
        if self.c_n is not None:
            q = nn.functional.linear(h, self.U_n, self.c_n)
            a_n = torch.addcmul(a_n, r, q, out=None if room is None else a_n)
        else:
            a_n = torch.addmm(a_n, r * h, self.U_n.mT, out=None if room is None else a_n)
        n = hold("n", torch.tanh(a_n, out=gates_n))
        return (torch.lerp(h, n, z, out=None if room is None else room.state[0]),)  # (1 - z)*h + z*n

    def factors(self, trace: "Trace") -> Factors:
        z, r, n = (trace[k] for k in self.gate_names)
        h = trace["h"][:-1]
        sz, sr, sn = (_gate_slope(trace, k) for k in self.gate_names)
        keep, held = torch.sigmoid(-trace["a_z"]), trace.held("z")  # 1 - z, which is 0 in float64 from a_z = 37
        if held is not None:
            keep = torch.where(held, 1 - z, keep)
        mn = z * sn
        if self.c_n is None:
            return (n - h) * sz, h * sr, mn, keep, r
        q = nn.functional.linear(h, self.U_n, self.c_n)
        through = torch.empty(3, *h.shape, dtype=h.dtype)
        torch.mul(n - h, sz, out=through[0])
        torch.mul(q.mul_(mn), sr, out=through[1])
        torch.mul(mn, r, out=through[2])
        return through, mn, keep

    def retreat(self, factors: Factors, grad: State, U: Tensor, into: State) -> None:
        (dh,), (dh_old,) = grad, into
        if self.c_n is not None:
            through, _, keep = factors
            _add_products(dh_old.addcmul_(dh, keep), dh * through, U)
            return
        mz, mr, mn, keep, r = factors
        back = (dh * mn) @ self.U_n
        dh_old.addcmul_(dh, keep).addcmul_(back, r)
        _add_products(dh_old, torch.stack((dh * mz, back * mr)), U[:2])

    def preactivations(self, factors: Factors, grad: State, out: Tensor | None = None) -> Tensor:
        (dh,) = grad
        if self.c_n is not None:
            through, mn, _ = factors
            pre = torch.mul(dh, through, out=out)
            torch.mul(dh, mn, out=pre[2])  # at a_n itself; r scales only what comes from h
            return pre
        mz, mr, mn, _, _ = factors
        da_n = dh * mn
        return torch.stack((dh * mz, (da_n @ self.U_n) * mr, da_n), out=out)

    def gradients(self, trace: "Trace", pre: Tensor) -> dict[str, Tensor]:
        h, r = trace["h"][:-1], trace["r"]
        grads: dict[str, Tensor] = {}
        for k, part in zip(self.gate_names, pre, strict=True):
            grads |= {f"W_{k}": _outer(part, trace.inputs), f"b_{k}": part.flatten(0, -2).sum(0)}
        grads |= {f"U_{k}": _outer(part, h) for k, part in zip("zr", pre[:2], strict=True)}
        if self.c_n is None:
            return grads | {"U_n": _outer(pre[2], r * h)}
        by_q = pre[2] * r
        return grads | {"U_n": _outer(by_q, h), "c_n": by_q.flatten(0, -2).sum(0)}

    def jacobian(self, factors: Factors) -> Tensor:
        if self.c_n is not None:
            mz, mr, mn = (m.unsqueeze(-1) for m in factors[0].unbind(0))
            return torch.diag_embed(factors[2]) + mz * self.U_z + mr * self.U_r + mn * self.U_n
        mz, mr, mn, keep, r = (m.unsqueeze(-1) for m in factors)
        inner = torch.diag_embed(r.squeeze(-1)) + mr * self.U_r
        return torch.diag_embed(keep.squeeze(-1)) + mz * self.U_z + mn * (self.U_n @ inner)


def build(config: CellConfig | TrainConfig, generator: torch.Generator | None = None) -> Cell:
    """The cell that a config asks for: float64 for analysis, float32 with two inputs for training.

    Drawn from generator, or from one of its own with the config's seed.
    """
    analysis = isinstance(config, CellConfig)
    common: dict[str, Any] = {
        "recurrent": config.recurrent,
        "gain": config.gain,
        "generator": torch.Generator().manual_seed(config.seed) if generator is None else generator,
        "dtype": torch.float64 if analysis else torch.float32,
    }
    inputs = config.inputs if isinstance(config, CellConfig) else 2
    if config.cell == "lstm":
        return LSTM.init(inputs, config.hidden, forget_bias=config.forget_bias, input_bias=config.input_bias, **common)
    if config.cell == "gru":
        return GRU.init(inputs, config.hidden, reset=config.reset, **common)
    cell = Elman.init(inputs, config.hidden, activation=config.activation, **common)
    if isinstance(config, CellConfig) and config.input_weights == "identity":
        cell = replace(cell, W_x=torch.eye(config.hidden, dtype=cell.dtype), b=torch.zeros_like(cell.b))
    return cell


def _apply(activation: str, a: Rows, out: Tensor | None) -> Rows:
    if activation == "tanh":
        return torch.tanh(a, out=out)
    if activation == "sigmoid":
        return torch.sigmoid(a, out=out)
    y = torch.relu(a) if activation == "relu" else a
    return y if out is None else out.copy_(y)


def slope(activation: str, a: Rows) -> Rows:
    """phi'(a), from the pre-activation; relu'(0) = 0, as torch has it."""
    if activation == "tanh":
        return _bell(a.abs().mul_(-2)).mul_(4)  # sech^2(a)
    if activation == "relu":
        return (a > 0).to(a.dtype)
    return _bell(a.abs().neg_()) if activation == "sigmoid" else torch.ones_like(a)


def _bell(low: Rows) -> Rows:
    """sigma(x) sigma(-x) from low = -|x|, which it overwrites: s - s^2 with s = sigma(low) <= 1/2, so nothing
    cancels."""
    s = low.sigmoid_()
    return torch.addcmul(s, s, s, value=-1)


def _linear(x: Tensor, pairs: tuple[tuple[Tensor, Tensor], ...], out: Tensor | None) -> Tensor:
    """W x + b for each block: [blocks, ..., hidden]."""
    if out is None:
        return torch.stack([nn.functional.linear(x, W, b) for W, b in pairs])
    for (W, b), block in zip(pairs, out, strict=True):
        torch.addmm(b, x.reshape(-1, x.shape[-1]), W.mT, out=block.view(-1, len(W)))
    return out


def _add_product(into: Tensor, left: Tensor, matrix: Tensor) -> None:
    """into += left matrix, for one step, or for many side by side."""
    if left.dim() == 2:
        into.addmm_(left, matrix)
    else:
        into.view(-1, into.shape[-1]).addmm_(left.reshape(-1, left.shape[-1]), matrix)


def _add_products(into: Tensor, pre: Tensor, U: Tensor) -> None:
    """into += sum over blocks of pre_k U_k."""
    if pre.dim() == 3:
        into.addbmm_(pre, U)
    else:
        for part, matrix in zip(pre, U, strict=True):
            _add_product(into, part, matrix)


def _gate_slope(trace: "Trace", gate: str) -> Tensor:
    """The slope of a gate, 0 where a clamp holds it: what is held does not answer to anything."""
    a = trace[f"a_{gate}"]
    free_slope = slope("tanh", a) if gate in "gn" else trace[gate] * torch.sigmoid(-a)
    held = trace.held(gate)
    return free_slope if held is None else free_slope.masked_fill(held, 0.0)


def _outer(left: Left, right: Right) -> Matrices:
    """The sum over time and batch of left right^T; taken the other way round it is five times as fast for two
    inputs."""
    return (right.flatten(0, -2).mT @ left.flatten(0, -2)).mT
