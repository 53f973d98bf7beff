"""A training step with its telemetry ÷ the bare torch.nn loop of the same cell, shapes and optimiser.

T = 100, H = 64, batch 64, one torch thread; CPU seconds of the process, the smallest of five rounds of 20 steps
each, the two in turn. The first row of the budget table; the budgets are for the issue that makes the core fast.
"""

import time
from collections.abc import Callable

import torch
from torch import nn

from rnnviz.config import TrainConfig
from rnnviz.tasks.adding import sample
from rnnviz.training import train

STEPS, ROUNDS = 20, 5
MODULES = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}


def bare(config: TrainConfig) -> None:
    """What people write: module, loss, backward, clip, step."""
    module, read = MODULES[config.cell](2, config.hidden), nn.Linear(config.hidden, 1)
    parameters = [*module.parameters(), *read.parameters()]
    optimizer = torch.optim.Adam(parameters, config.learning_rate)
    generator = torch.Generator().manual_seed(0)
    for _ in range(config.steps):
        x, y = sample(config.length, config.batch, generator)
        loss = (read(module(x)[0][-1])[:, 0] - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        loss.item()


def ours(config: TrainConfig) -> None:
    for _ in train(config):
        pass


def seconds(run: Callable[[TrainConfig], None], config: TrainConfig) -> float:
    began = time.process_time()
    run(config)
    return (time.process_time() - began) / config.steps


def main() -> None:
    torch.set_num_threads(1)
    print(f"{'cell':6}{'ours, ms':>10}{'torch, ms':>11}{'ratio':>8}{'budget':>8}")
    for cell, budget in (("rnn", 0.85), ("gru", 0.85), ("lstm", 1.05)):
        config = TrainConfig(cell=cell, steps=STEPS)
        seconds(ours, config), seconds(bare, config)
        rounds = [(seconds(ours, config), seconds(bare, config)) for _ in range(ROUNDS)]
        mine, torchs = (min(column) for column in zip(*rounds, strict=True))
        print(f"{cell:6}{1e3 * mine:10.1f}{1e3 * torchs:11.1f}{mine / torchs:8.2f}{budget:8.2f}")


if __name__ == "__main__":
    main()
