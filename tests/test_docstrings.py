"""Every public function of the core says what it computes, in which shapes, what it refuses, and after whom."""

import importlib
import inspect
import re

import pytest

MODULES = (
    "cells",
    "trace",
    "bptt",
    "clipping",
    "training",
    "tasks.adding",
    "tasks.letters",
    "tasks.proofs",
    "analysis.answer",
    "analysis.cost",
    "analysis.gates",
    "analysis.gradients",
    "analysis.jacobians",
    "analysis.leak",
    "analysis.push",
    "analysis.states",
)
"""What other programs call."""
SAYS = {
    "an equation": re.compile(r"\S (=|<|>|<=|->|:) \S|\bln\b|‖"),
    "shapes": re.compile(r"\[[\w+*/. ,-]+\]|\bshape"),
    "errors": re.compile(r"\w+Error"),
    "a source": re.compile(r"\((?:19|20)\d\d(?:, [\d.]+)?\)|\b(?:19|20)\d\d\b"),
}
PLAIN = re.compile(
    r"^(check_\w+|free|build|network|finite|stretches|bounded|norms|carry_back|deltas|by_inputs|flip|slope|directions)$"
)
"""Parts that the core shares with itself."""


def public(module):
    """Name -> docstring of the functions of a module, and of the classes and methods of cells that people call."""
    found = {}
    for name, value in vars(module).items():
        if name.startswith("_") or PLAIN.match(name) or getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(value):
            found[name] = value.__doc__
        elif name in ("Elman", "LSTM", "GRU"):
            found[name] = value.__doc__
            found |= {f"{name}.{method}": getattr(value, method).__doc__ for method in ("init", "step")}
    return found


SCALARS = ("memory_floor", "uniform", "floor")

FUNCTIONS = [
    (f"{name}.{function}", text)
    for name in MODULES
    for function, text in public(importlib.import_module(f"rnnviz.{name}")).items()
]


def silent(text, name=""):
    needed = [part for part in SAYS if part != "shapes" or not name.endswith(SCALARS)]
    return [part for part in needed if not SAYS[part].search(text or "")]


@pytest.mark.parametrize(("name", "text"), FUNCTIONS, ids=[name for name, _ in FUNCTIONS])
def test_it_says_equation_shapes_errors_and_source(name, text):
    assert silent(text, name) == []


def test_the_contract_is_among_them_and_a_silent_docstring_is_found():
    names = {name for name, _ in FUNCTIONS}
    contract = {"cells.LSTM.init", "trace.unroll", "trace.unroll_stack", "bptt.backward", "clipping.clip"}
    assert contract | {"training.train", "analysis.jacobians.transport", "tasks.adding.sample"} <= names
    assert silent("Multiply two numbers.") == list(SAYS)
