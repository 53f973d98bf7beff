"""The adding problem at T = 100 by the book's recipe: when four models escape the plateau, and where they end.

    PYTHONPATH=. python benchmarks/adding_problem.py [seed ...]

64 units, Adam 1e-3, batches of 64, global clip 1.0, torch's initialisation, 4,000 steps; seeds 0, 1, 2 if none is
named. Escape is the first step whose smoothed loss is below 1/12, half of what always answering 1 costs. Beside them
the book's run, one seed of plain torch modules by the same recipe (Le et al. 2015, Arjovsky et al. 2016). About eight
minutes a seed on one core, so `make bench`, which runs what has a main(), leaves it out.
"""

import sys

import numpy as np
import torch

from rnnviz.analysis.learning import escape, smoothed
from rnnviz.config import TrainConfig
from rnnviz.tasks.adding import BASELINE_MSE, memory_floor, sample
from rnnviz.trace import unroll
from rnnviz.training import network, train

STEPS, TESTED = 4000, 1000
MODELS = {
    "tanh RNN": ({"cell": "rnn"}, "never", "0.169"),
    "GRU, reset after": ({"cell": "gru"}, "1,010", "0.0010"),
    "LSTM, default bias": ({"cell": "lstm"}, "2,850", "0.009"),
    "LSTM, forget bias 1": ({"cell": "lstm", "forget_bias": 1.0}, "3,189", "0.008"),
}


def trained(config: TrainConfig) -> tuple[int | None, float, float]:
    """The escape, the smoothed loss at the end, and the error on sequences never seen."""
    losses = []
    for record in train(config):
        losses.append(record.loss)
    snapshot = record.snapshot()
    cell, weights = network(config, snapshot.weights)
    x, y = sample(config.length, TESTED, torch.Generator().manual_seed(12345))
    error = (unroll(cell, x)["h"][-1] @ weights["W_y"] + weights["b_y"] - y).square().mean()
    loss = smoothed(np.array(losses))
    return escape(np.arange(len(loss)), loss), float(loss[-1]), float(error)


def table(seeds: list[int]) -> None:
    torch.set_num_threads(1)
    print(f"Always answering 1 costs {BASELINE_MSE:.4f}, a memory of the last 50 steps {memory_floor(100, 50):.4f}.")
    print(f"{'model':22}{'seed':>5}{'escape':>9}{'the book':>10}{'smoothed':>10}{'the book':>10}{'unseen':>9}")
    for name, (fields, left, ends) in MODELS.items():
        for seed in seeds:
            when, loss, error = trained(TrainConfig(steps=STEPS, seed=seed, **fields))
            said = "never" if when is None else f"{when:,}"
            print(f"{name:22}{seed:5}{said:>9}{left:>10}{loss:10.4f}{ends:>10}{error:9.4f}", flush=True)


if __name__ == "__main__":
    table([int(seed) for seed in sys.argv[1:]] or [0, 1, 2])
