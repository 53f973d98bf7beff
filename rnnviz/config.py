"""What is asked for: frozen, validated at construction, usable as a cache key; standard library only."""

import math
from dataclasses import dataclass
from typing import Any

from rnnviz import arguments
from rnnviz.arguments import Name, Number, Whole
from rnnviz.own import Table, rectangle

CELLS = ("rnn", "lstm", "gru")
ACTIVATIONS = ("tanh", "relu", "sigmoid", "linear")
RECURRENT = ("uniform", "orthogonal", "identity", "normal")
RESETS = ("before", "after")
INPUT_WEIGHTS = ("uniform", "identity")
INPUT_KINDS = ("noise", "zeros", "sine", "impulse", "adding", "text", "own")
OPTIMIZERS = ("adam", "sgd")
CLIP_MODES = ("global", "each", "value")
LENGTH = 100
TEXT, LETTERS = 2000, 100
"""Characters of a text that a network learns, and how many different ones."""


@dataclass(frozen=True, slots=True)
class CellConfig:
    """A cell with seeded weights.

    input_weights "uniform" is torch's default for W and b; "identity" is W = I with b = 0, which takes inputs = hidden
    and makes the input strength the standard deviation of the noise in every pre-activation.
    Raises ValueError naming the field, what it got and what it takes.
    """

    cell: Name = "rnn"
    inputs: Whole = 8
    hidden: Whole = 64
    activation: Name = "tanh"
    recurrent: Name = "uniform"
    gain: Number = 1.0
    forget_bias: Number | None = None
    input_bias: Number | None = None
    reset: Name = "after"
    input_weights: Name = "uniform"
    seed: Whole = 0

    def __post_init__(self) -> None:
        _whole(self, "inputs")
        arguments.choice("input_weights", self.input_weights, INPUT_WEIGHTS)
        if self.input_weights == "identity" and self.inputs != self.hidden:
            raise ValueError(
                f"inputs is {self.inputs}: with input_weights='identity' it takes the number of units, {self.hidden}"
            )
        if self.input_weights == "identity" and self.cell != "rnn":
            raise ValueError(
                f"input_weights is 'identity': only cell='rnn' has it, leave it 'uniform' for {self.cell!r}"
            )
        _check_cell(self)


@dataclass(frozen=True, slots=True)
class InputConfig:
    """A sequence to feed in: noise of standard deviation strength, a sine, an impulse, an adding sequence, a text, or
    own values, a row a step.

    A text and own values have their own length, which may be left out; zeros, an adding sequence and own values have
    no strength. values are kept as tuples of floats, whatever rows they came in.
    """

    kind: Name = "noise"
    length: Whole = LENGTH
    strength: Number = 1.0
    text: Name = ""
    seed: Whole = 0
    values: Table = ()

    def __post_init__(self) -> None:
        arguments.choice("kind", self.kind, INPUT_KINDS)
        _whole(self, "length", 2 if self.kind == "adding" else 1)
        _number(self, "strength", 0.0)
        _whole(self, "seed", 0, 2**63 - 1)
        if not isinstance(self.text, str) or (self.kind == "text") != bool(self.text):
            raise ValueError(
                f"text is {arguments.shown(self.text)}: it takes at least one letter with kind='text', and nothing else"
            )
        if self.text:
            self._own_length("this text takes", len(self.text))
        if self.kind == "own":
            object.__setattr__(self, "values", rectangle("values", self.values))
            self._own_length("these values take", len(self.values))
        elif self.values != ():
            raise ValueError(f"values is {arguments.shown(self.values)}: only kind='own' has it, leave it ()")
        if self.kind in ("zeros", "adding", "own") and self.strength != 1.0:
            raise ValueError(f"strength is {self.strength}: kind={self.kind!r} has none, leave it 1.0")

    def _own_length(self, takes: str, length: int) -> None:
        if self.length not in (LENGTH, length):
            raise ValueError(f"length is {self.length}: {takes} {length}, or leave it out")
        object.__setattr__(self, "length", length)


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """One network on the adding problem.

    A field that the cell has no use for is refused, so that no setting is silently without effect. clip=None is off.
    probe_every is the number of steps between two looks at a fixed batch of probe_batch sequences.
    Raises ValueError naming the field, what it got and what it takes.
    """

    cell: Name = "gru"
    hidden: Whole = 64
    length: Whole = 100
    batch: Whole = 64
    steps: Whole = 4000
    optimizer: Name = "adam"
    learning_rate: Number = 1e-3
    clip: Number | None = 1.0
    clip_mode: Name = "global"
    forget_bias: Number | None = None
    input_bias: Number | None = None
    activation: Name = "tanh"
    reset: Name = "after"
    recurrent: Name = "uniform"
    gain: Number = 1.0
    seed: Whole = 0
    probe_every: Whole = 50
    probe_batch: Whole = 32

    def __post_init__(self) -> None:
        _whole(self, "length", 2)
        _whole(self, "batch")
        _whole(self, "steps")
        _whole(self, "probe_every")
        _whole(self, "probe_batch")
        arguments.choice("optimizer", self.optimizer, OPTIMIZERS)
        _number(self, "learning_rate", above=0.0, high=3e37)  # Adam starts with ten times it, in float32
        arguments.choice("clip_mode", self.clip_mode, CLIP_MODES)
        if self.clip is not None:
            _number(self, "clip", above=0.0)
        elif self.clip_mode != "global":
            raise ValueError(f"clip_mode is {self.clip_mode!r}: nothing is clipped with clip=None, leave it 'global'")
        _check_cell(self)


def _check_cell(config: CellConfig | TrainConfig) -> None:
    arguments.choice("cell", config.cell, CELLS)
    _whole(config, "hidden")
    arguments.choice("activation", config.activation, ACTIVATIONS)
    arguments.choice("reset", config.reset, RESETS)
    arguments.choice("recurrent", config.recurrent, RECURRENT)
    _number(config, "gain", 0.0)
    _whole(config, "seed", 0, 2**63 - 1)
    for name in ("forget_bias", "input_bias"):
        value = getattr(config, name)
        if value is not None:
            _number(config, name, -3e38, high=3e38)  # float32 has to hold it
            if config.cell != "lstm":
                raise ValueError(f"{name} is {value!r}: only cell='lstm' has it, leave it None for {config.cell!r}")
    if config.cell != "rnn" and config.activation != "tanh":
        raise ValueError(f"activation is {config.activation!r}: only cell='rnn' has a choice, leave it 'tanh'")
    if config.cell != "gru" and config.reset != "after":
        raise ValueError(f"reset is {config.reset!r}: only cell='gru' has it, leave it 'after'")


def _whole(config: Any, name: str, low: int = 1, high: int | None = None) -> None:
    """Check a field and keep it as an int: equal configs are equal in every digit of their repr."""
    object.__setattr__(config, name, arguments.integer(name, getattr(config, name), low, high))


def _number(config: Any, name: str, low: float = -math.inf, **limits: float) -> None:
    object.__setattr__(config, name, arguments.number(name, getattr(config, name), low, **limits))
