"""The numbers that a word's reading shows, found again by routes that share no code with the package's."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from rnnviz.analysis.push import directions
from rnnviz.config import CellConfig
from rnnviz.results import BY_DIFFERENCE, Array, Learned, Proof, Push, Reading

TINY = 1e-150
"""The imaginary step: its square is below every float, so the derivative comes out to the last digit."""
BUMP = 1e-6


def proved(cell: CellConfig, learned: Learned, reading: Reading, push: Push) -> tuple[Proof, ...]:
    """Each number with its equation, its value here, and the same by other routes: route -> value.

    ‖h_s - h_t‖ of equal letters, the loss, the floor, the largest singular value of a step's Jacobian, and what a
    derivative keeps of a nudge, ‖J_T ... J_{k+1} v‖. Routes: torch.nn.RNN, a loop in NumPy, autograd, the complex step;
    states [T+1, hidden]. ValueError: the cell is no tanh RNN. Source: complex step, Squire and Trapp (1998).
    """
    if cell.cell != "rnn" or cell.activation != "tanh":
        raise ValueError(f"cell is {cell.cell!r} with {cell.activation!r}: these proofs are of a tanh RNN")
    weights = {name: np.asarray(learned.weights[name]) for name in ("W_x", "W_h", "b", "W_y", "b_y")}
    places = [learned.letters.index(letter) for letter in learned.word]
    by_torch = _module_states(weights, places)
    found = []
    if reading.twins is not None:
        s, t = reading.twins
        loop = _loop(weights, places)
        found.append(
            Proof(
                f"states after steps {s} and {t} apart",
                f"‖h_{t} − h_{s}‖ = √Σ (h_{t} − h_{s})²",
                reading.apart(s, t),
                {
                    "torch.nn.RNN": float((by_torch[t - 1] - by_torch[s - 1]).norm()),
                    "a loop in NumPy": float(np.linalg.norm(loop[t] - loop[s])),
                },
            )
        )
    if len(places) > 1:
        logits = by_torch @ torch.from_numpy(weights["W_y"]).mT + torch.from_numpy(weights["b_y"])
        loss = torch.nn.functional.cross_entropy(logits[:-1], torch.tensor(places[1:]))
        found += [
            Proof("loss, nats a letter", "−1/n Σ ln p_t[x_t+1]", reading.loss, {"torch's cross_entropy": float(loss)}),
            Proof(
                "floor without memory",
                "−1/n Σ ln count(a b)/count(a)",
                reading.floor,
                {"a table of all pairs": _floor(learned.word)},
            ),
        ]
    found.append(_jacobian(weights, places, reading.states, min(push.step + 1, len(places))))
    if len(push.left) > 1:
        v = directions(cell.hidden, 1, cell.seed)[:, 0].numpy()
        start = reading.states[push.step]
        later = places[push.step :]
        complex_step = np.linalg.norm(_loop(weights, later, start + 1j * TINY * v)[-1].imag) / TINY
        carried = _derivative(weights, later, start) @ v
        found.append(
            Proof(
                f"left of a small nudge after step {push.step}, at the end",
                "‖J_T … J_k+1 v‖",
                math.exp(float(push.predicted[-1])),
                {"complex step": float(complex_step), "autograd": float(np.linalg.norm(carried))},
            )
        )
    return tuple(found)


def _loop(weights: dict[str, Array], places: list[int], start: Array | None = None) -> Array:
    """h_t = tanh(W_x x_t + W_h h_{t-1} + b), [T+1, hidden]; of a complex start the imaginary part is a derivative."""
    h = [np.zeros(len(weights["b"])) if start is None else start]
    for k in places:
        h.append(np.tanh(weights["W_x"][:, k] + weights["W_h"] @ h[-1] + weights["b"]))
    return np.stack(h)


def _module_states(weights: dict[str, Array], places: list[int]) -> Tensor:
    """[T, hidden]: the states of torch's own RNN with these weights."""
    hidden, letters = weights["W_x"].shape
    module = torch.nn.RNN(letters, hidden, dtype=torch.float64)
    own = {"weight_ih_l0": weights["W_x"], "weight_hh_l0": weights["W_h"], "bias_ih_l0": weights["b"]}
    module.load_state_dict(
        {name: torch.from_numpy(value.copy()) for name, value in own.items()}
        | {"bias_hh_l0": torch.zeros(hidden, dtype=torch.float64)}
    )
    with torch.no_grad():
        states: Tensor = module(torch.eye(letters, dtype=torch.float64)[places])[0]
    return states


def _derivative(weights: dict[str, Array], places: list[int], start: Array) -> Array:
    """[hidden, hidden]: of the last state by the first, by autograd."""
    W_x, W_h, b = (torch.from_numpy(weights[name].copy()) for name in ("W_x", "W_h", "b"))

    def last(h: Tensor) -> Tensor:
        for k in places:
            h = torch.tanh(W_x[:, k] + W_h @ h + b)
        return h

    found: Array = torch.autograd.functional.jacobian(last, torch.from_numpy(start.copy())).numpy()
    return found


def _jacobian(weights: dict[str, Array], places: list[int], states: Array, t: int) -> Proof:
    """sigma_max of J_t = diag(1 - h_t^2) W_h, by the formula, by autograd and by differences of 10^-6."""
    before, k = states[t - 1], places[t - 1]
    formula = (1 - states[t] ** 2)[:, None] * weights["W_h"]
    by_autograd = _derivative(weights, [k], before)
    bumps = BUMP * np.eye(len(before))
    ends = [[_loop(weights, [k], before + sign * bump)[-1] for sign in (1, -1)] for bump in bumps]
    by_difference = np.stack([(up - down) / (2 * BUMP) for up, down in ends], -1)
    largest, autograd, difference = (float(np.linalg.norm(J, 2)) for J in (formula, by_autograd, by_difference))
    routes = {"autograd": autograd, BY_DIFFERENCE: difference}
    return Proof(f"most that step {t} passes on", "σ_max(diag(1 − h²) W_h)", largest, routes)


def _floor(word: str) -> float:
    """The entropies of the letters that follow each letter, weighed by how often it is read."""
    following: dict[str, Counter[str]] = {}
    for a, b in pairwise(word):
        following.setdefault(a, Counter())[b] += 1
    total = 0.0
    for counts in following.values():
        share = np.array(list(counts.values())) / counts.total()
        total -= counts.total() * float((share * np.log(share)).sum())
    return total / (len(word) - 1) + 0.0
