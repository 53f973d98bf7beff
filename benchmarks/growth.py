"""Work and memory against the length of a sequence, T = 100 to 10,000: linear is a factor of 10 a decade.

H = 64, one sequence, float64, one torch thread. Work: CPU microseconds a step, the smallest of several rounds in which
the lengths take turns; the ratios are to T = 1,000, and 1 is linear (budget: within 10 % a decade). At T = 100 what is
paid once a call still shows. Memory: the peak of a fresh process that unrolls and takes back 30,000, 60,000 or 120,000
steps; linear is twice as much more for the second doubling.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

from rnnviz.analysis.gradients import by_lag
from rnnviz.analysis.jacobians import product_norms, step_jacobians
from rnnviz.bptt import backward
from rnnviz.cells import Cell, build
from rnnviz.config import CellConfig
from rnnviz.trace import Trace, unroll

LENGTHS = (100, 1_000, 10_000)
LONG = (30_000, 60_000, 120_000)
ROUNDS = 4
CELLS = ("rnn", "gru", "lstm")
HIDDEN = 64


def made(kind: str, length: int) -> tuple[Cell, torch.Tensor]:
    cell = build(CellConfig(cell=kind, inputs=2, hidden=HIDDEN))
    return cell, torch.randn(length, 1, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def last(trace: Trace) -> torch.Tensor:
    """dL/dh of a loss at the last step alone."""
    grad = torch.zeros_like(trace["h"][1:])
    grad[-1] = 1
    return grad


def works(kind: str, length: int) -> dict[str, Callable[[], object]]:
    cell, x = made(kind, length)
    trace = unroll(cell, x)
    return {
        "unroll": lambda: unroll(cell, x),
        "backward": lambda: backward(cell, trace, last(trace)),
        "step Jacobians, norms": lambda: product_norms(step_jacobians(cell, trace)),
        "gradient by lag, last loss": lambda: by_lag(cell, trace, last(trace)),
    }


def microseconds(runs: dict[int, Callable[[], object]]) -> list[float]:
    """CPU time a step at each length."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(ROUNDS):
        for length, run in runs.items():
            for _ in range(max(1, 1_000 // length)):
                began = time.process_time()
                run()
                best[length] = min(best[length], time.process_time() - began)
    return [1e6 * least / length for length, least in best.items()]


def peak(kind: str, length: int) -> float:
    """Megabytes that a process had at its peak (Linux)."""
    # VmHWM, not ru_maxrss: that one remembers the parent's peak, from before the new program was loaded
    code = f"""
from benchmarks.growth import last, made
from rnnviz.bptt import backward
from rnnviz.trace import unroll
cell, x = made({kind!r}, {length})
trace = unroll(cell, x)
backward(cell, trace, last(trace))
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parents[1], capture_output=True, text=True, check=True
    )
    return float(done.stdout) / 1024


def main() -> None:
    torch.set_num_threads(1)
    heads = "".join(f"{f'T={length:,}':>12}" for length in LENGTHS)
    print(f"{'cell':6}{'work, µs a step':30}{heads}{'100÷1k':>9}{'10k÷1k':>9}")
    for kind in CELLS:
        by_length = {length: works(kind, length) for length in LENGTHS}
        for name in by_length[100]:
            # 10,000 steps of these take gigabytes or half a minute in the larger cells
            heavy = kind != "rnn" and ("Jacobians" in name or "lag" in name)
            times = microseconds({length: by_length[length][name] for length in LENGTHS[: 2 if heavy else 3]})
            numbers = "".join(f"{t:12.1f}" for t in times).ljust(36)
            ratios = "".join(f"{t / times[1]:9.2f}" for t in (times[0], *times[2:]))
            print(f"{kind:6}{name:30}{numbers}{ratios}", flush=True)
    heads = "".join(f"{f'T={length:,}':>12}" for length in LONG)
    print(f"\n{'cell':6}{'peak of a process, MB':30}{heads}{'kB a step':>12}{'ratio':>9}")
    for kind in CELLS:
        a, b, c = (peak(kind, length) for length in LONG)
        step = 1024 * (c - b) / (LONG[2] - LONG[1])
        print(f"{kind:6}{'unroll and backward':30}{a:12.0f}{b:12.0f}{c:12.0f}{step:12.2f}{(c - b) / (b - a):9.2f}")


if __name__ == "__main__":
    main()
