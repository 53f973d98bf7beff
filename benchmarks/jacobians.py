"""Step Jacobians and transport ÷ autograd, a backward pass a row, T = 100, H = 64.

One torch thread; CPU seconds of the process, the smallest of three rounds. Budgets: norms alone 0.20, with bound and
exponents 0.50.
"""

import time

import torch

from rnnviz.analysis.jacobians import step_jacobians, transport
from rnnviz.cells import build
from rnnviz.config import CellConfig, InputConfig
from rnnviz.inputs import sequence
from rnnviz.trace import unroll

ROUNDS = 3


def by_rows(cell: object, x: torch.Tensor, states: torch.Tensor) -> None:
    """Each row of each step's Jacobian by one backward pass, then each product's norm."""
    product = torch.eye(states.shape[-1], dtype=states.dtype)
    for t in range(len(x), 0, -1):
        h = states[t - 1].clone().requires_grad_()
        after = cell.step(x[t - 1], h)  # type: ignore[attr-defined]
        rows = [torch.autograd.grad(after[0, i], h, retain_graph=True)[0][0] for i in range(after.shape[1])]
        product = product @ torch.stack(rows)
        torch.linalg.matrix_norm(product, 2)


def seconds(run) -> float:  # type: ignore[no-untyped-def]
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.process_time()
        run()
        best = min(best, time.process_time() - began)
    return best


def main() -> None:
    torch.set_num_threads(1)
    cell = build(CellConfig(inputs=64, hidden=64, recurrent="orthogonal", input_weights="identity"))
    x = sequence(InputConfig(length=100, strength=0.5), 64)
    trace = unroll(cell, x)
    rows = seconds(lambda: by_rows(cell, x, trace["h"]))
    ours = seconds(lambda: transport(step_jacobians(cell, trace)))
    jacobians = seconds(lambda: step_jacobians(cell, trace))
    print(f"{'what':40}{'ms':>9}{'÷ rows':>9}{'budget':>8}")
    print(f"{'autograd by rows, with norms':40}{1e3 * rows:9.1f}{1:9.2f}")
    print(f"{'step Jacobians':40}{1e3 * jacobians:9.1f}{jacobians / rows:9.3f}")
    print(f"{'norms, bound and exponents':40}{1e3 * ours:9.1f}{ours / rows:9.2f}{0.5:8.2f}")


if __name__ == "__main__":
    main()
