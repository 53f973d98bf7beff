"""A training step with its telemetry ÷ the bare torch.nn loop of the same cell, shapes and optimiser.

T = 100, H = 64, batch 64, one torch thread. The two take turns, 50 steps each, one look at the probe batch among ours;
CPU seconds of the process; the ratio is the median over the turns, so that a machine that is busy for a while counts
for both.
"""

import statistics
import time
from collections.abc import Callable, Iterator

import torch
from torch import nn

from rnnviz.config import TrainConfig
from rnnviz.tasks.adding import sample
from rnnviz.training import train

TURNS = 12
MODULES = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}


def bare(config: TrainConfig) -> Iterator[None]:
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
        yield


def milliseconds(step: Callable[[], object], steps: int) -> float:
    began = time.process_time()
    for _ in range(steps):
        step()
    return 1e3 * (time.process_time() - began) / steps


def main() -> None:
    torch.set_num_threads(1)
    print(f"{'cell':6}{'ours, ms':>10}{'torch, ms':>11}{'ratio':>8}{'budget':>8}")
    for cell, budget in (("rnn", 0.85), ("gru", 0.85), ("lstm", 1.05)):
        config = TrainConfig(cell=cell, steps=10**6)
        ours, torchs = train(config), bare(config)
        next(ours), next(torchs)
        turns = [
            [milliseconds(lambda run=run: next(run), config.probe_every) for run in (ours, torchs)]  # type: ignore[misc]
            for _ in range(TURNS)
        ]
        mine, its = (statistics.median(column) for column in zip(*turns, strict=True))
        ratio = statistics.median(one / other for one, other in turns)
        print(f"{cell:6}{mine:10.1f}{its:11.1f}{ratio:8.2f}{budget:8.2f}")


if __name__ == "__main__":
    main()
