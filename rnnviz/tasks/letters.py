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
from rnnviz.config import LETTERS, TEXT, CellConfig, InputConfig
from rnnviz.inputs import sequence, vocabulary
from rnnviz.results import Learned, Push, Reading, Spelled
from rnnviz.trace import Trace, unroll

STEPS, RATE = 300, 0.1
BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8
PIECE = 40
"""Pairs of letters that are read in one piece while a text is learned; longer ones in pieces side by side."""


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
    A text of more than PIECE pairs is read in pieces side by side: each starts from the state in which the one before
    it ended at the training step before, and no gradient crosses a border (Williams and Peng, 1990). Its first and last
    losses are exact, those between are of states one step old. Losses [steps+1]. Deterministic; a word of one letter
    has no pair: nothing is learned, and its loss is NaN. ValueError: the cell's inputs are not one a letter, steps is
    below 0, or the text is longer than TEXT or has more than LETTERS different letters.
    """
    letters = _check(cell, word)
    steps = arguments.integer("steps", steps, 0) if len(word) > 1 else 0
    network, flat = _at_birth(cell, len(letters))
    named = network.parameters()
    x = sequence(InputConfig(kind="text", text=word), len(letters))
    pieces = _Pieces.of(x)
    start = pieces.at_birth(network.cell, x)
    mean, square = torch.zeros_like(flat), torch.zeros_like(flat)
    losses = np.full(steps + 1, math.nan)
    for step in range(steps + 1 if len(word) > 1 else 0):
        if step == steps:
            start = pieces.at_birth(network.cell, x)  # exact again: of these weights from the first letter on
        trace = unroll(network.cell, pieces.read, start)
        losses[step], grads = _loss_and_gradients(network, trace, pieces)
        if step == steps:
            break
        start = pieces.next(network.cell, trace)
        g = torch.cat([grads[name].reshape(-1) for name in named])
        mean.mul_(BETA_1).add_(g, alpha=1 - BETA_1)
        square.mul_(BETA_2).addcmul_(g, g, value=1 - BETA_2)
        size = (square / (1 - BETA_2 ** (step + 1))).sqrt_().add_(EPSILON)
        flat.addcdiv_(mean, size, value=-RATE / (1 - BETA_1 ** (step + 1)))
    weights = {name: value.numpy().copy() for name, value in named.items()}
    return Learned(word, tuple(letters), losses, uniform(word), floor(word), weights)


def read(cell: CellConfig, learned: Learned) -> Reading:
    """The whole word, its last letter too, read by the network with the weights that it learned.

    p_t = softmax(W_y h_t + b_y): states [T+1, hidden], answers [T, letters], and before [T, letters], the same of the
    network at birth. ValueError: the cell is not the one that learned. Source: next letters from a state, Elman (1990).
    """
    network = _network(cell, learned)
    trace = _unrolled(network, learned)
    born, _ = _at_birth(cell, len(learned.letters))
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
        weights=learned.weights,
        before=born.log_shares(_unrolled(born, learned)["h"][1:, 0]).exp().numpy(),
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
    rows = dict(zip(letters, torch.eye(len(letters), dtype=torch.float64), strict=True))
    state: Any = None
    text, shares = learned.word[start - 1], []
    for _ in range(count):
        trace = unroll(network.cell, rows[text[-1]].reshape(1, 1, -1), state)
        state = _state([trace[name][-1] for name in network.cell.state_names])
        share, k = network.log_shares(trace["h"][-1, 0]).exp().max(-1)
        text += letters[int(k)]
        shares.append(float(share))
    follows = learned.word[start:]
    most = min(count, len(follows))
    right = next((n for n in range(most) if text[n + 1] != follows[n]), most)
    known = set(learned.word[:-1])
    guesses = np.array([letter not in known for letter in text[:-1]])
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


@dataclass(frozen=True, slots=True, eq=False)
class _Pieces:
    """A text's pairs cut into pieces of one length, side by side; the last one may end earlier.

    read [length, pieces, V]: a letter, wanted [length*pieces, V]: the one that follows it. Rows behind the end of the
    last piece are zero in both. pairs: of the whole text.
    """

    read: Tensor
    wanted: Tensor
    pairs: int

    @classmethod
    def of(cls, x: Tensor) -> "_Pieces":
        pairs, letters = len(x) - 1, x.shape[-1]
        count = max(1, math.ceil(pairs / PIECE))
        length = math.ceil(pairs / count)
        both = torch.zeros(2, count * length, letters, dtype=x.dtype)
        both[0, :pairs], both[1, :pairs] = x[:-1, 0], x[1:, 0]
        read, wanted = both.view(2, count, length, letters).transpose(1, 2)
        return cls(read.contiguous(), wanted.reshape(-1, letters), pairs)

    def at_birth(self, cell: Cell, x: Tensor) -> Any:
        """Where each piece starts when these weights read the whole text."""
        length, count, _ = self.read.shape
        if count == 1:
            return None
        trace = unroll(cell, x[: (count - 1) * length + 1])
        return _state([trace[name][:-1:length, 0] for name in cell.state_names])

    def next(self, cell: Cell, trace: Trace) -> Any:
        """Where each piece ended, which is where the one after it starts at the next training step."""
        if self.read.shape[1] == 1:
            return None
        ends = [trace[name][-1] for name in cell.state_names]
        return _state([torch.cat((torch.zeros_like(end[:1]), end[:-1])) for end in ends])


def _state(parts: list[Tensor]) -> Any:
    """A state as unroll() takes it."""
    return parts[0] if len(parts) == 1 else tuple(parts)


def _loss_and_gradients(network: _Network, trace: Trace, pieces: _Pieces) -> tuple[float, dict[str, Tensor]]:
    """The loss, and dL/dz = (p - y)/n sent through the read-out and back through time, from where a letter follows."""
    h = trace["h"][1:].flatten(0, 1)
    log_p = network.log_shares(h)
    dz = (log_p.exp() - pieces.wanted) / pieces.pairs
    if len(dz) > pieces.pairs:
        dz *= pieces.wanted.sum(-1, keepdim=True)
    grads = backward(network.cell, trace, (dz @ network.W_y).view(trace["h"][1:].shape)).grads
    loss = -float((log_p * pieces.wanted).sum()) / pieces.pairs + 0.0
    return loss, {**grads, "W_y": dz.mT @ h, "b_y": dz.sum(0)}


def _check(cell: CellConfig, word: object) -> list[str]:
    text = _text("word", word)
    letters = vocabulary(text)
    if len(text) > TEXT:
        raise ValueError(f"the text has {len(text):,} letters: at most {TEXT:,} are learned, so take a part of it")
    if len(letters) > LETTERS:
        raise ValueError(
            f"the text has {len(letters)} different letters: at most {LETTERS} are learned, so take a part of it"
        )
    if cell.inputs != len(letters):
        raise ValueError(f"inputs is {cell.inputs}: this word takes {len(letters)}, one for each of its letters")
    return letters


def _text(name: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} is {arguments.shown(value)}: it takes a text of at least one letter")
    return value
