"""Step Jacobians, transport and the all-pairs map ÷ autograd, a backward pass a row, T = 100, H = 64.

One torch thread; CPU seconds of the process, the smallest of five. The norms alone are those of the products, without
bound and exponents. The budget of the map is its time, the others' are ratios.
"""

import time
from collections.abc import Callable

import torch

from rnnviz.analysis.jacobians import all_pairs, product_norms, step_jacobians, transport
from rnnviz.cells import Cell, build
from rnnviz.config import CellConfig, InputConfig
from rnnviz.inputs import sequence
from rnnviz.trace import unroll

ROUNDS = 5


def by_rows(cell: Cell, x: torch.Tensor, states: torch.Tensor) -> None:
    """Each row of each step's Jacobian by one backward pass, then each product's norm."""
    product = torch.eye(states.shape[-1], dtype=states.dtype)
    for t in range(len(x), 0, -1):
        h = states[t - 1].clone().requires_grad_()
        after = cell.step(x[t - 1], h)
        rows = [torch.autograd.grad(after[0, i], h, retain_graph=True)[0][0] for i in range(after.shape[1])]
        product = product @ torch.stack(rows)
        torch.linalg.matrix_norm(product, 2)


def seconds(run: Callable[[], object]) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began


def main() -> None:
    torch.set_num_threads(1)
    cell = build(CellConfig(inputs=64, hidden=64, recurrent="orthogonal", input_weights="identity"))
    x = sequence(InputConfig(length=100, strength=0.5), 64)
    trace = unroll(cell, x)
    jacobians = step_jacobians(cell, trace)
    runs: dict[str, tuple[Callable[[], object], str]] = {
        "autograd by rows, with norms": (lambda: by_rows(cell, x, trace["h"]), ""),
        "step Jacobians": (lambda: step_jacobians(cell, trace), ""),
        "norms alone": (lambda: product_norms(step_jacobians(cell, trace)), "0.20"),
        "norms, bound and exponents": (lambda: transport(step_jacobians(cell, trace)), "0.50"),
        "all-pairs map, ‖·‖_F/√H": (lambda: all_pairs(jacobians), "0.3 s"),
    }
    best = {name: min(seconds(run) for _ in range(ROUNDS)) for name, (run, _) in runs.items()}
    rows = best["autograd by rows, with norms"]
    print(f"{'what':40}{'ms':>9}{'÷ rows':>9}{'budget':>8}")
    for name, (_, budget) in runs.items():
        print(f"{name:40}{1e3 * best[name]:9.1f}{best[name] / rows:9.3f}{budget:>8}")


if __name__ == "__main__":
    main()
