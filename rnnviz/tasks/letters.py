"""The next letter: a network reads a word and says after each letter which one comes next."""

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnnviz import arguments
from rnnviz.analysis.push import nudge
from rnnviz.arguments import Name, Whole
from rnnviz.bptt import backward
from rnnviz.cells import Cell, build
from rnnviz.config import CellConfig, InputConfig
from rnnviz.inputs import sequence, vocabulary
from rnnviz.results import Learned, Push, Reading, Spelled
from rnnviz.trace import Trace, unroll

STEPS, RATE = 300, 0.1
BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8


def uniform(word: Name) -> float:
    """What guessing evenly costs: ln V nats a letter, V the number of different letters.

    ValueError: no text. Source: Shannon (1948).
    """
    return math.log(len(vocabulary(_text("word", word))))


def floor(word: Name) -> float:
    """The least that a network without memory can reach: the entropy of the next letter given this one, in nats.

    -1/n sum over the n pairs (a, b) of ln(count(a, b) / count(a)); 0 for a word without a pair.
    ValueError: no text. Source: Shannon (1951).
    """
    pairs = list(zip(_text("word", word), word[1:], strict=False))
    firsts, both = Counter(a for a, _ in pairs), Counter(pairs)
    return -sum(n * math.log(n / firsts[a]) for (a, _), n in both.items()) / max(len(pairs), 1) + 0.0


def learn(cell: CellConfig, word: Name, steps: Whole = STEPS) -> Learned:
    """Teach a cell with a softmax read-out, p_t = softmax(W_y h_t + b_y), to say the next letter of a word.

    The loss is the mean of -ln p_t[x_{t+1}] over the word's pairs; full-batch Adam (Kingma and Ba, 2015) with rate 0.1,
    in float64, through unroll() and backward(). The read-out is drawn after the cell, as torch's nn.Linear draws it.
    Losses [steps+1]. Deterministic; a word of one letter has no pair: nothing is learned, and its loss is NaN.
    ValueError: the cell's inputs are not one a letter, or steps is below 0.
    """
    letters = _check(cell, word)
    steps = arguments.integer("steps", steps, 0) if len(word) > 1 else 0
    network, flat = _at_birth(cell, len(letters))
    named = network.parameters()
    x = sequence(InputConfig(kind="text", text=word), len(letters))
    read, wanted = x[:-1], x[1:, 0]
    mean, square = torch.zeros_like(flat), torch.zeros_like(flat)
    losses = np.full(steps + 1, math.nan)
    for step in range(steps + 1 if len(word) > 1 else 0):
        trace = unroll(network.cell, read)
        losses[step], grads = _loss_and_gradients(network, trace, wanted)
        if step == steps:
            break
        g = torch.cat([grads[name].reshape(-1) for name in named])
        mean.mul_(BETA_1).add_(g, alpha=1 - BETA_1)
        square.mul_(BETA_2).addcmul_(g, g, value=1 - BETA_2)
        size = (square / (1 - BETA_2 ** (step + 1))).sqrt_().add_(EPSILON)
        flat.addcdiv_(mean, size, value=-RATE / (1 - BETA_1 ** (step + 1)))
    weights = {name: value.numpy().copy() for name, value in named.items()}
    return Learned(word, tuple(letters), losses, uniform(word), floor(word), weights)


def read(cell: CellConfig, learned: Learned) -> Reading:
    """The whole word, its last letter too, read by the network with the weights that it learned.

    p_t = softmax(W_y h_t + b_y): states [T+1, hidden], answers [T, letters]. ValueError: the cell is not the one that
    learned. Source: next letters from a state, Elman (1990).
    """
    network = _network(cell, learned)
    trace = _unrolled(network, learned)
    torch_cell = network.cell.to_torch()
    return Reading(
        word=learned.word,
        letters=learned.letters,
        steps=len(learned.losses) - 1,
        states=trace["h"][:, 0].numpy(),
        answers=network.log_shares(trace["h"][1:, 0]).exp().numpy(),
        loss=float(learned.losses[-1]),
        uniform=learned.uniform,
        floor=learned.floor,
        parameters=sum(value.numel() for value in network.cell.parameters().values()),
        parameters_torch=sum(value.numel() for value in torch_cell.parameters()),
    )


def nudged(cell: CellConfig, learned: Learned, step: Whole, size: float) -> Push:
    """nudge() of the state after `step`, s' = s + size*v, while the word is read; step is 0..T-1.

    Its curves are [T-step+1]. ValueError names a wrong argument. Source: as nudge(), Bengio et al. (1994).
    """
    network = _network(cell, learned)
    return nudge(network.cell, _unrolled(network, learned), step, size, cell.seed)


def spell(cell: CellConfig, learned: Learned, count: Whole, start: Whole = 1) -> Spelled:
    """Give the word's letter number `start`, then let the likeliest answer be the next letter, count times.

    x_{t+1} = the letter of argmax p_t, shares [count]; the state starts at zero. Source: Graves (2013). ValueError:
    start is not a place in the word, or count is below 1.
    """
    count, start = arguments.integer("count", count), arguments.integer("start", start, 1, len(learned.word))
    network, letters = _network(cell, learned), learned.letters
    rows = torch.eye(len(letters), dtype=torch.float64)
    state: Any = None
    text, shares = learned.word[start - 1], []
    for _ in range(count):
        trace = unroll(network.cell, rows[letters.index(text[-1])].reshape(1, 1, -1), state)
        parts = tuple(trace[name][-1] for name in network.cell.state_names)
        state = parts if len(parts) > 1 else parts[0]
        share, k = network.log_shares(trace["h"][-1, 0]).exp().max(-1)
        text += letters[int(k)]
        shares.append(float(share))
    follows = learned.word[start:]
    most = min(count, len(follows))
    right = next((n for n in range(most) if text[n + 1] != follows[n]), most)
    guesses = np.array([letter not in learned.word[:-1] for letter in text[:-1]])
    return Spelled(cell.seed, text, np.array(shares), right, guesses)


@dataclass(frozen=True, slots=True, eq=False)
class _Network:
    cell: Cell
    W_y: Tensor
    b_y: Tensor

    def parameters(self) -> dict[str, Tensor]:
        return {**self.cell.parameters(), "W_y": self.W_y, "b_y": self.b_y}

    def log_shares(self, h: Tensor) -> Tensor:
        """ln softmax(W_y h + b_y); the largest term is taken out of the sum first, so no exponential overflows."""
        z = h @ self.W_y.mT + self.b_y
        return z - torch.logsumexp(z, -1, keepdim=True)


def _at_birth(cell: CellConfig, letters: int) -> tuple[_Network, Tensor]:
    """The network and all its weights as one vector, of which the named ones are views: Adam works entry by entry."""
    generator = torch.Generator().manual_seed(cell.seed)
    built = build(cell, generator)
    bound = 1 / math.sqrt(cell.hidden)  # torch's nn.Linear
    W_y = torch.empty(letters, cell.hidden, dtype=torch.float64).uniform_(-bound, bound, generator=generator)
    b_y = torch.empty(letters, dtype=torch.float64).uniform_(-bound, bound, generator=generator)
    named = _Network(built, W_y, b_y).parameters()
    flat = torch.cat([value.reshape(-1) for value in named.values()])
    parts = zip(named.items(), flat.split([value.numel() for value in named.values()]), strict=True)
    return _with(built, {name: part.view_as(value) for (name, value), part in parts}), flat


def _network(cell: CellConfig, learned: Learned) -> _Network:
    _check(cell, learned.word)
    return _with(build(cell), {name: torch.from_numpy(value.copy()) for name, value in learned.weights.items()})


def _with(cell: Cell, weights: dict[str, Tensor]) -> _Network:
    held: dict[str, Any] = {name: weights[name] for name in cell.parameters()}
    return _Network(replace(cell, **held), weights["W_y"], weights["b_y"])  # type: ignore[type-var]


def _unrolled(network: _Network, learned: Learned) -> Trace:
    return unroll(network.cell, sequence(InputConfig(kind="text", text=learned.word), len(learned.letters)))


def _loss_and_gradients(network: _Network, trace: Trace, wanted: Tensor) -> tuple[float, dict[str, Tensor]]:
    """The loss, and dL/dz = (p - y)/n sent through the read-out and back through time."""
    h = trace["h"][1:, 0]
    log_p = network.log_shares(h)
    dz = (log_p.exp() - wanted) / len(wanted)
    grads = backward(network.cell, trace, (dz @ network.W_y).unsqueeze(1)).grads
    return -float((log_p * wanted).sum()) / len(wanted) + 0.0, {**grads, "W_y": dz.mT @ h, "b_y": dz.sum(0)}


def _check(cell: CellConfig, word: object) -> list[str]:
    letters = vocabulary(_text("word", word))
    if cell.inputs != len(letters):
        raise ValueError(f"inputs is {cell.inputs}: this word takes {len(letters)}, one for each of its letters")
    return letters


def _text(name: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} is {arguments.shown(value)}: it takes a text of at least one letter")
    return value
