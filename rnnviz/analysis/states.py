"""The states of a stack of layers, one or both directions, in the order of the input's time."""

from dataclasses import replace

import torch

from rnnviz import arguments
from rnnviz.arguments import Flag, Whole
from rnnviz.cells import build
from rnnviz.config import CellConfig, InputConfig
from rnnviz.inputs import sequence
from rnnviz.results import Array, States
from rnnviz.trace import Trace, unroll_stack

LAYERS = 3


def states(cell: CellConfig, inputs: InputConfig, layers: Whole = 1, both: Flag = False) -> States:
    """Read a seeded sequence with a stack of seeded cells: layer l+1 reads x' = h of layer l, or both directions' h.

    layers is 1 to 3. All cells are drawn one after the other from one stream with the cell's seed, in torch's order:
    layer 1 forward, layer 1 backward, layer 2 forward, ... States are [T+1, hidden], gates [T, hidden], in the order of
    the input's time, also a backward layer's, whose start stands after the last step. ValueError names a wrong
    argument, or that a layer's states left the range of floats. Source: both directions Schuster and Paliwal (1997),
    stacked layers El Hihi and Bengio (1995).
    """
    layers = arguments.integer("layers", layers, 1, LAYERS)
    if not isinstance(both, bool):
        raise ValueError(f"both is {arguments.shown(both)}: it takes True or False")
    if both and layers > 1 and cell.input_weights == "identity":
        raise ValueError("input_weights is 'identity': a layer that reads both directions takes 'uniform'")
    x = sequence(inputs, cell.inputs)
    generator = torch.Generator().manual_seed(cell.seed)
    directions = 2 if both else 1
    stack = []
    for layer in range(layers):
        width = cell.inputs if layer == 0 else directions * cell.hidden
        config = replace(cell, inputs=width)
        stack.append(tuple(build(config, generator) for _ in range(directions)))
    try:
        traces = unroll_stack(stack, x)
    except ValueError as fault:  # what went in fits: a layer read what is not finite
        raise ValueError(
            "a layer's states left the range of floats, and the next cannot read them: lower gain, or take one layer"
        ) from fault
    cells = [one for layer in stack for one in layer]
    arrows = (" →", " ←") if both else ("",)
    names = tuple(f"layer {n}{arrow}" for n in range(1, layers + 1) for arrow in arrows)
    parameters = sum(value.numel() for one in cells for value in one.parameters().values())
    return States(
        cell=cell.cell,
        names=names,
        values={name: _in_order(one, name.endswith("←")) for name, one in zip(names, traces, strict=True)},
        inputs=x[:, 0].numpy(),
        parameters=parameters,
        parameters_torch=sum(len(one.pre_names) * one.hidden * (one.inputs + one.hidden + 2) for one in cells),
    )


def _in_order(trace: Trace, backward: bool) -> dict[str, Array]:
    """States and gates without what they were made of; a backward layer's own time runs against the input's."""
    kept = {name: value[:, 0].numpy() for name, value in trace.values.items() if not name.startswith("a")}
    return {name: value[::-1].copy() for name, value in kept.items()} if backward else kept
