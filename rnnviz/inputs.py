"""The sequences that pages feed in."""

import math

import torch
from torch import Tensor

from rnnviz.config import InputConfig
from rnnviz.tasks.adding import sample


def sequence(config: InputConfig, inputs: int) -> Tensor:
    """One sequence [time, 1, inputs], float64, seeded by the config.

    "noise" is normal with sd strength; "sine" has a period of 20 steps, each input a phase of its own; "impulse" is
    strength at step 1 and 0 after; "adding" is (value, mark) and takes inputs = 2; "text" is one-hot over the
    letters in the order first seen, strength in height; "own" is the config's values, a row a step.
    ValueError: the width does not fit the kind.
    """
    generator = torch.Generator().manual_seed(config.seed)
    x = torch.zeros(config.length, 1, inputs, dtype=torch.float64)
    if config.kind == "noise":
        x.normal_(0, 1, generator=generator).mul_(config.strength)
    elif config.kind == "sine":
        steps = torch.arange(config.length, dtype=torch.float64).reshape(-1, 1, 1)
        phases = torch.arange(inputs, dtype=torch.float64) / inputs
        x = config.strength * torch.sin(2 * math.pi * (steps / 20 + phases))
    elif config.kind == "impulse":
        x[0] = config.strength
    elif config.kind == "adding":
        if inputs != 2:
            raise ValueError(f"inputs is {inputs}: an adding sequence takes 2, value and mark")
        x, _ = sample(config.length, 1, generator, torch.float64)
    elif config.kind == "text":
        letters = vocabulary(config.text)
        if inputs != len(letters):
            raise ValueError(f"inputs is {inputs}: this text takes {len(letters)}, one a letter")
        places = {letter: k for k, letter in enumerate(letters)}
        x[torch.arange(config.length), 0, [places[letter] for letter in config.text]] = config.strength
    elif config.kind == "own":
        width = len(config.values[0])
        if inputs != width:
            raise ValueError(f"inputs is {inputs}: these own numbers take {width}, one a column")
        x = torch.tensor(config.values, dtype=torch.float64).unsqueeze(1)
    return x


def vocabulary(text: str) -> list[str]:
    """The letters of a text in the order first seen: the same in every process, unlike a set's."""
    return list(dict.fromkeys(text))
