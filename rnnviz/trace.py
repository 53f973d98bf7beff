"""Trace and unroll(): what happened, step by step, detached."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from rnnviz import arguments
from rnnviz.arguments import Clamps, Name, Network, Number, Units, Unrolled, Whole
from rnnviz.cells import Cell, Hold, Room, State, check_cell, free

CACHE = 2**16


@dataclass(frozen=True, slots=True)
class Clamp:
    """Holds a gate of some units at a value over the steps first..last (1-based, both included; None is to the end).

    units: indices, or None for all. States answer to it, and backward and step_jacobians obey it: a held gate has
    slope 0.
    """

    gate: Name
    value: Number
    units: Units | None = None
    first: Whole = 1
    last: Whole | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """The values of an unrolled cell.

    trace["h"] [time+1, batch, hidden] (row 0 is the initial state), likewise "c"; gates "i", "f", "g", "o", "z", "r",
    "n" and pre-activations "a" (Elman), "a_i", "a_f", ... [time, batch, hidden].
    valid [time, batch, 1] is False at padded steps, None without lengths. first_nonfinite is the first step whose
    state is not finite, or None.
    """

    values: dict[str, Tensor]
    inputs: Tensor
    valid: Tensor | None
    masks: dict[str, Tensor]
    first_nonfinite: int | None

    def __getitem__(self, name: str) -> Tensor:
        try:
            return self.values[name]
        except KeyError:
            raise KeyError(f"{name!r}: this trace has {', '.join(self.values)}") from None

    def between(self, first: int, last: int) -> "Trace":
        """The steps first+1..last, and the state before them."""
        time = len(self.inputs)
        return replace(
            self,
            values={name: part[first : last + len(part) - time] for name, part in self.values.items()},
            inputs=self.inputs[first:last],
            valid=None if self.valid is None else self.valid[first:last],
            masks={name: part[first:last] for name, part in self.masks.items()},
        )

    def held(self, gate: str) -> Tensor | None:
        """True [time, 1, hidden] where a clamp holds the gate; None if it never does."""
        return self.masks.get(gate)


def unroll(cell: Network, inputs: Any, state: Any = None, *, lengths: Any = None, clamps: Clamps = ()) -> Trace:
    """Run cell.step over a sequence: s_t = step(x_t, s_{t-1}) for t = 1..time.

    inputs [time, batch, inputs] of the cell's dtype; state [batch, hidden], for the LSTM the pair (h, c), zeros if left
    out; lengths [batch]: a step beyond a sequence's length moves no state. Nothing of the caller's is changed.
    ValueError names what does not fit: rank, width, dtype, no step at all, NaN or infinity. Source: Elman (1990).
    """
    check_cell(cell)
    x = _check_inputs(cell, inputs)
    time, batch, _ = x.shape
    states = _check_state(cell, state, batch)
    valid = _check_lengths(lengths, time, batch)
    masks, held = _check_clamps(cell, clamps, time)

    with torch.no_grad():
        U = cell.recurrence()
        pre = torch.empty(len(cell.pre_names), time, batch, cell.hidden, dtype=cell.dtype)
        gates = torch.empty(len(cell.gate_names), time, batch, cell.hidden, dtype=cell.dtype)
        history = tuple(torch.empty(time + 1, *part.shape, dtype=cell.dtype) for part in states)
        for whole, part in zip(history, states, strict=True):
            whole[0] = part
        rows = list(zip(*(whole.unbind(0) for whole in history), strict=True))
        steps = zip(cell.drive(x, pre).unbind(1), gates.unbind(1), strict=True)
        for t, (drive, gate) in enumerate(steps):  # each step adds its part to its row of the drive
            hold = _hold_at(masks, held, t) if masks else free
            cell.advance(drive, rows[t], U, hold, Room(gate, rows[t + 1]))
            if valid is not None:
                for new, old in zip(rows[t + 1], rows[t], strict=True):
                    new.copy_(torch.where(valid[t], new, old))
        values = dict(zip(cell.state_names, history, strict=True))
        values |= dict(zip(cell.gate_names, gates.unbind(0), strict=True))
        values |= dict(zip(cell.pre_names, pre.unbind(0), strict=True))
    return Trace(values, x, valid, masks, _first_nonfinite(history))


def unroll_stack(layers: Any, inputs: Any, *, lengths: Any = None) -> list[Trace]:
    """Run a stack of layers, each (forward,) or (forward, backward); the outputs of a layer are the next one's inputs.

    Returns the traces in torch's order: layer 0 forward, layer 0 backward, layer 1 forward, ... A backward trace is in
    its own time: it starts at each sequence's last real step. The output of a layer at a step is (forward, backward):
    layer l+1 reads x' = [h_forward, h_backward], [time, batch, hidden or 2*hidden]. ValueError names what does not fit.
    Source: both directions Schuster and Paliwal (1997).
    """
    fits = isinstance(layers, list | tuple) and len(layers) > 0
    if not fits or not all(isinstance(layer, list | tuple) and len(layer) in (1, 2) for layer in layers):
        raise ValueError("layers is a list of (forward,) or (forward, backward): it takes at least one layer")
    traces = []
    x = inputs
    for layer in layers:
        outputs = []
        for direction, cell in enumerate(layer):
            order = flip(x, lengths) if direction else x
            trace = unroll(cell, order, lengths=lengths)
            traces.append(trace)
            out = trace["h"][1:]
            outputs.append(flip(out, lengths) if direction else out)
        x = torch.cat(outputs, -1)
    return traces


def flip(values: Tensor, lengths: Any = None) -> Tensor:
    """values [time, batch, ...] in reverse order of time; with lengths, each sequence within its own length."""
    if lengths is None:
        return values.flip(0)
    time, batch = values.shape[:2]
    ends = torch.tensor(_whole_lengths(lengths, time, batch))
    steps = torch.arange(time).unsqueeze(1)
    index = torch.where(steps < ends, ends - 1 - steps, steps)
    return values.gather(0, index.unsqueeze(-1).expand_as(values))


def check_trace(cell: Network, trace: Unrolled) -> None:
    """ValueError unless the trace is of this kind and size of cell."""
    check_cell(cell)
    if not isinstance(trace, Trace):
        raise ValueError(f"trace is a {type(trace).__name__}: it takes what unroll() returns")
    if any(name not in trace.values for name in (*cell.state_names, *cell.gate_names, *cell.pre_names)):
        raise ValueError(f"trace has {', '.join(trace.values)}: it takes a trace of the same kind of cell")
    has, takes = (trace.inputs.shape[-1], trace["h"].shape[-1]), (cell.inputs, cell.hidden)
    if has != takes:
        raise ValueError(
            f"trace has {has[0]} inputs and {has[1]} units: it takes {takes[0]} and {takes[1]}, as the cell has"
        )
    if trace["h"].dtype != cell.dtype:
        raise ValueError(f"trace is {trace['h'].dtype}: it takes the cell's dtype, {cell.dtype}")


def stretches(time: int, width: int) -> list[tuple[int, int]]:
    """(first, last) of stretches of steps of `width` numbers each, about CACHE numbers a stretch.

    Operation after operation over a whole long trace waits for memory; over a stretch, which stays in a processor's
    cache meanwhile, it does not.
    """
    steps = max(1, CACHE // width)
    return [(first, min(first + steps, time)) for first in range(0, time, steps)]


def finite(values: Tensor) -> bool:
    """Whether all are finite. NaN and infinity survive in a sum; a sum that overflows by itself is looked at again."""
    return bool(values.sum().isfinite()) or bool(values.isfinite().all())


def _first_nonfinite(history: State) -> int | None:
    if all(finite(part) for part in history):
        return None
    broken = torch.stack([~part.isfinite().all(-1).all(-1) for part in history]).any(0)
    return int(torch.nonzero(broken)[0])


def check_finite(trace: Trace, so: str) -> None:
    """ValueError with the first step whose state is not finite, and what follows from it."""
    if trace.first_nonfinite is not None:
        raise ValueError(f"the trace is not finite from step {trace.first_nonfinite}: {so}")


def _hold_at(masks: dict[str, Tensor], held: dict[str, Tensor], t: int) -> Hold:
    def hold(gate: str, computed: Tensor) -> Tensor:
        return computed.copy_(torch.where(masks[gate][t], held[gate][t], computed)) if gate in masks else computed

    return hold


def _check_inputs(cell: Cell, inputs: Any) -> Tensor:
    takes = f"it takes a tensor [time, batch, {cell.inputs}]"
    if not isinstance(inputs, Tensor):
        raise ValueError(f"inputs is a {type(inputs).__name__}: {takes}")
    shape = tuple(inputs.shape)
    if inputs.dim() == 2:
        raise ValueError(f"inputs has shape {shape}: {takes}; one sequence of {shape[0]} steps is inputs[:, None, :]")
    if inputs.dim() != 3 or inputs.shape[2] != cell.inputs:
        raise ValueError(f"inputs has shape {shape}: {takes}")
    if inputs.shape[0] < 1 or inputs.shape[1] < 1:
        raise ValueError(f"inputs has shape {shape}: {takes} with at least one step and one sequence")
    if inputs.layout != torch.strided or inputs.device.type != "cpu":
        raise ValueError(f"inputs is {inputs.layout} on {inputs.device}: it takes a dense tensor on the CPU")
    if inputs.dtype != cell.dtype:
        raise ValueError(f"inputs is {inputs.dtype}: it takes the cell's dtype, {cell.dtype}")
    if not finite(inputs):
        t, b, k = torch.nonzero(~torch.isfinite(inputs))[0].tolist()
        raise ValueError(f"inputs[{t}, {b}, {k}] is {inputs[t, b, k].item()}: it takes finite numbers")
    return inputs.detach().clone()  # the trace stays what it was when the caller's tensor changes


def _check_state(cell: Cell, state: Any, batch: int) -> State:
    names = cell.state_names
    if state is None:
        return tuple(torch.zeros(batch, cell.hidden, dtype=cell.dtype) for _ in names)
    parts = (state,) if isinstance(state, Tensor) else state
    if not isinstance(parts, tuple | list) or len(parts) != len(names) or not all(isinstance(p, Tensor) for p in parts):
        raise ValueError(f"state is not {'a tensor h' if len(names) == 1 else 'the pair (h, c)'}, each [batch, hidden]")
    for name, part in zip(names, parts, strict=True):
        if tuple(part.shape) != (batch, cell.hidden) or part.dtype != cell.dtype:
            raise ValueError(
                f"state {name} has shape {tuple(part.shape)}, {part.dtype}: "
                f"it takes ({batch}, {cell.hidden}), {cell.dtype}"
            )
        if not finite(part):
            raise ValueError(f"state {name} holds NaN or infinity: it takes finite numbers")
    return tuple(part.detach() for part in parts)


def _check_lengths(lengths: Any, time: int, batch: int) -> Tensor | None:
    if lengths is None:
        return None
    return (torch.arange(time).unsqueeze(1) < torch.tensor(_whole_lengths(lengths, time, batch))).unsqueeze(-1)


def _whole_lengths(lengths: Any, time: int, batch: int) -> list[int]:
    given = lengths.tolist() if hasattr(lengths, "tolist") else lengths
    if not isinstance(given, list | tuple):
        raise ValueError(
            f"lengths is {arguments.shown(lengths)}: it takes one whole number for each of the {batch} sequences"
        )
    values = [arguments.integer("lengths", value, 1, time) for value in given]
    if len(values) != batch:
        raise ValueError(f"lengths has {len(values)} entries: it takes one for each of the {batch} sequences")
    return values


def _check_clamps(cell: Cell, clamps: Clamps, time: int) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    masks: dict[str, Tensor] = {}
    held: dict[str, Tensor] = {}
    limit = torch.finfo(cell.dtype).max
    if not isinstance(clamps, list | tuple) or not all(isinstance(clamp, Clamp) for clamp in clamps):
        raise ValueError(f"clamps is {arguments.shown(clamps)}: it takes a list of Clamp")
    for clamp in clamps:
        if not isinstance(clamp.gate, str) or clamp.gate not in cell.gate_names:
            has = ", ".join(cell.gate_names) or "no gate"
            raise ValueError(f"clamp gate is {arguments.shown(clamp.gate)}: this cell has {has}")
        first = arguments.integer("clamp first", clamp.first, 1, time)
        last = time if clamp.last is None else arguments.integer("clamp last", clamp.last, first, time)
        units: Any = range(cell.hidden) if clamp.units is None else clamp.units
        if not hasattr(units, "__iter__") or getattr(units, "ndim", 1) != 1:
            raise ValueError(f"clamp units is {arguments.shown(units)}: it takes a list of indices, or None for all")
        rows = [arguments.integer("clamp units", unit, 0, cell.hidden - 1) for unit in units]
        mask = masks.setdefault(clamp.gate, torch.zeros(time, 1, cell.hidden, dtype=torch.bool))
        value = held.setdefault(clamp.gate, torch.zeros(time, 1, cell.hidden, dtype=cell.dtype))
        for row in rows:
            mask[first - 1 : last, 0, row] = True
            value[first - 1 : last, 0, row] = arguments.number("clamp value", clamp.value, -limit, high=limit)
    return masks, held
