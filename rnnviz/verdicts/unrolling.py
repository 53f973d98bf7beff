"""What the unrolling page says of a word that was read, of its nudge, and of what lies behind the picture."""

import math
import unicodedata
from collections.abc import Sequence

import numpy as np

from rnnviz.results import BY_DIFFERENCE, Learned, Proof, Push, Reading, Spelled
from rnnviz.verdicts import Verdict, digits

SPOKEN = 24
"""Letters that a description goes through one by one; a long text's steps are read by the cursor."""


def verdict(reading: Reading, push: Push) -> Verdict:
    """Whether memory tells equal letters apart, and what the loss would be without it."""
    numbers = {
        "loss": reading.loss,
        "uniform": reading.uniform,
        "floor": reading.floor,
        "parameters": float(reading.parameters),
        "parameters_torch": float(reading.parameters_torch),
        "guess": float(reading.answers[-1].max()),
        "gone": math.inf if push.gone is None else float(push.gone),
        "left_at_end": float(push.left[-1]),
        "right": float(_right(reading)),
    }
    if reading.twins is not None:
        numbers["apart"] = reading.apart(*reading.twins)
    return Verdict(_text(reading), numbers)


def _text(reading: Reading) -> str:
    word, cost, even = reading.word, nats(reading.loss), digits(reading.uniform)
    if len(word) == 1:
        nothing = "there is nothing to predict and nothing to learn"
        return f"One letter makes no pair: after {named(word)} {nothing}. Type a second letter."
    if len(reading.letters) == 1:
        return (
            f"Only {named(word[0])} ever comes, so there is nothing to tell apart: the loss is 0 before any learning."
        )
    if reading.twins is None:
        alike = len(set(word[:-1])) == len(word) - 1
        why = "No letter is read twice" if alike else "Each letter is always followed by the same one"
        if not reading.steps:
            return f"{why}, so one glance tells the next. Untrained it costs {cost} a letter; guessing evenly {even}."
        need = "so this word needs no memory: without one the loss can go to 0"
        return f"{why}, {need}; here {cost}, where guessing evenly costs {even}."
    first, second = reading.twins
    says, right = (reading.says[first - 1], reading.says[second - 1]), (word[first], word[second])
    steps = f"Steps {first} and {second} read the same {named(word[first - 1])}"
    apart = digits(reading.apart(first, second))
    both = f"{named(says[0])} both times" if says[0] == says[1] else f"{named(says[0])}, then {named(says[1])}"
    if not reading.steps:
        already = f"Untrained, their states are already {apart} apart, and the net says {both}"
        return f"{steps}. {already}. Loss {cost}; guessing evenly costs {even}."
    floor = f"Without memory the loss cannot go below {digits(reading.floor)}; here {cost}."
    if says == right:
        return f"{steps}. Their states differ by {apart}, so the net says {both}. {floor}"
    wanted = f"{named(right[0])}, then {named(right[1])} is right"
    return f"{steps}. Their states differ by {apart}, and the net says {both} where {wanted}. {floor}"


def described(reading: Reading, push: Push) -> str:
    """The picture for who cannot see it: what is read and said, the ends and extremes of what is left of the nudge."""
    word, kind = reading.word, "a trained" if reading.steps else "an untrained"
    size = counted(reading.states.shape[1], "unit")
    lines = [f"{counted(len(word), 'letter')} read by {kind} network of {size}, the same weights at each step."]
    for t, (letter, said) in enumerate(zip(word[:SPOKEN], reading.says, strict=False), 1):
        share = float(reading.answers[t - 1].max())
        after = f", right is {named(word[t])}" if t < len(word) and word[t] != said else ""
        lines.append(
            f"Step {t} reads {named(letter)} and answers {named(said)} with {digits(100 * share)} percent{after}."
        )
    return " ".join([*lines, nudge(push)])


def nudge(push: Push) -> str:
    """How far a nudge is seen, and whether the derivative knew."""
    if len(push.left) == 1:
        return "The nudge is after the last step: no later state can see it."
    later, size = push.left[1:], digits(push.size)
    last, knew = digits(float(push.left[-1])), digits(math.exp(float(push.predicted[-1])))
    most = int(np.argmax(later)) + 1
    grown = f" At most {digits(float(later.max()))} of it is there, {most} later." if later.max() > 1 else ""
    ends = f"after {counted(len(later), 'step')} {last} of it is left, where the derivative says {knew}"
    return f"Nudge the state after step {push.step} by {size}: {ends}; {reach(push)}.{grown}"


def reach(push: Push) -> str:
    """How far the nudge is heard."""
    if push.gone is None:
        return "it is still heard at the end"
    return f"less than 1 % is left {counted(push.gone, 'step')} later"


def loss(learned: Learned) -> str:
    """When the loss went below what no memory can beat."""
    if len(learned.losses) == 1:
        return "One letter makes no pair: there is no loss to lower."
    last, first = nats(float(learned.losses[-1])), nats(float(learned.losses[0]))
    way = f"From {first} to {last} in {counted(len(learned.losses) - 1, 'step')}"
    if learned.floor == 0:
        return f"{way}. No memory is needed for this word: the floor is 0."
    if learned.below_floor is None:
        return f"{way}: it does not stay below {digits(learned.floor)}, so nothing proves a memory."
    return (
        f"Guessing evenly costs {digits(learned.uniform)}, no memory can beat {digits(learned.floor)}. "
        f"From training step {learned.below_floor} on the net is below that: it remembers. It ends at {last}."
    )


def parameters(reading: Reading) -> str:
    """The cell's parameters do not grow with the number of steps."""
    d, H, n = len(reading.letters), reading.states.shape[1], reading.parameters
    return (
        f"{n} parameters at T = 5 and at T = 500: {H}×{d} weights for the input, {H}×{H} for the last state and "
        f"{H} bias{'es' * (H != 1)}, used again at each step. "
        f"torch counts {reading.parameters_torch}: it keeps two biases, of which only the sum matters."
    )


def spelled(several: Sequence[Spelled], word: str, start: int) -> Verdict:
    """How many seeds spell the word to its end, and in how many ways those go on; or how far each comes.

    numbers: complete, seeds that came to the end; ways, how many different continuations these have; loops, how many of
    these begin the word again; right, of the first seed.
    """
    wanted, count = len(word) - start, len(several[0].text) - 1
    on = [s.text[wanted + 1 :] for s in several if s.right >= wanted] if count > wanted else []
    again = word * (1 + count // len(word))
    numbers = {
        "complete": float(sum(s.right >= wanted for s in several)),
        "ways": float(len(set(on))),
        "loops": float(sum(again.startswith(text) for text in on)),
        "right": float(several[0].right),
    }
    if len(set(word)) == 1:
        return Verdict(f"There is no other letter than {named(word[-1])}.", numbers)
    if not on:
        return Verdict(_as_far(several, word, start), numbers)
    seeds, ways, taught = counted(len(several), "seed"), len(set(on)), _taught(word, start, len(set(on)))
    if not wanted:
        how = "alike" if ways == 1 else f"in {ways} different ways"
        return Verdict(f"From {named(word[-1])} the {seeds} go on {how}: {taught}.", numbers)
    if len(on) == 1:
        return Verdict(f"Only 1 of {seeds} spells the word to its end and goes on: {taught}.", numbers)
    how = "in 1 way, all the same" if ways == 1 else f"in {ways} different ways"
    return Verdict(f"{len(on)} of {seeds} spell the word to its end and go on {how}: {taught}.", numbers)


def _taught(word: str, start: int, ways: int) -> str:
    """Whether what follows the word's end was taught."""
    last, spelled = named(word[-1]), word[start - 1 :]
    if word[-1] not in word[:-1]:
        return f"{last} was never read in training, so what follows it is a guess"
    if ways == 1 or (start > 1 and word.startswith(spelled)):
        return f"{last} was read in training, so what follows it was taught"
    return f"{last} was read in training, but never after exactly these letters"


def _as_far(several: Sequence[Spelled], word: str, start: int) -> str:
    """How many letters each seed spells before its first mistake, where none is seen to come to the end."""
    wanted, count = len(word) - start, len(several[0].text) - 1
    first = min(wanted, count)
    of = f"{f'the first {first} of ' * (first < wanted)}{counted(wanted, 'letter')}"
    if all(s.right == first for s in several):
        even = f"guessing evenly, 1 letter in {len(set(word))} would be right"
        left = "training left no mistake there" if start == 1 else "they need none of the letters before them"
        return f"Each of {counted(len(several), 'seed')} spells all of {of}: {left}; {even}."
    rights = [f"{'all' if s.right == first else s.right or 'none'} at seed {s.seed}" for s in several]
    listed = rights[0] if len(rights) == 1 else f"{', '.join(rights[:-1])} and {rights[-1]}"
    ends = first < wanted or any(s.right == first for s in several)
    head = f"Of {of}" if ends else f"No seed spells the word to its end: of {of}"
    why = (
        "Until then a seed reads the very text, so training left that mistake; from then on it reads its own letters."
        if start == 1
        else f"They begin at {named(word[start - 1])} with an empty state, where training had read the letters before."
    )
    return f"{head} these are right before the first mistake: {listed}. {why}"


def proved(proofs: Sequence[Proof]) -> str:
    """How far the numbers are from themselves by other routes."""
    exact = [p for p in proofs if BY_DIFFERENCE not in p.routes]
    rough = max((p.apart for p in proofs if p not in exact), default=0.0)
    routes = sum(len(p.routes) for p in proofs)
    return (
        f"{len(proofs)} numbers of this view, found again by {routes} routes that share no code with them: at most "
        f"{digits(max((p.apart for p in exact), default=0.0))} of a number apart, and {digits(rough)} where one is a "
        f"difference of two runs, which rounding keeps from coming closer."
    )


def challenge(reading: Reading) -> str:
    """The smallest memory that spells the word: what this one scores."""
    pairs, right, units = len(reading.word) - 1, _right(reading), reading.states.shape[1]
    memory = counted(units, "unit")
    if right == pairs:
        fewer = "Can it be done with fewer?" if units > 1 else "No network has a smaller one."
        return (
            f"Challenge · the smallest memory that spells the word. Yours: {memory}, all {pairs} answers right. {fewer}"
        )
    return (
        f"Challenge · the smallest memory that spells the word. Not yet: with {memory} {right} of {pairs} answers are "
        f"right. Another seed, or one unit more?"
    )


def nats(loss: float) -> str:
    """A loss as people compare it: 0.0006 rather than a power of ten, while four decimals show it."""
    return f"{loss:.4f}" if 5e-5 <= loss < 1e-3 else digits(loss)


def named(letter: str, space: str = "space") -> str:
    """A letter in words: a space by its name, or by ␣ in labels, an accent on a ring, a right-to-left one in place."""
    if letter == " ":
        return space
    if unicodedata.category(letter).startswith("M"):
        return f"◌{letter}"
    # isolated, it leaves the words around it in their order
    return f"\u2068{letter}\u2069" if unicodedata.bidirectional(letter) in ("R", "AL", "AN") else letter


def counted(number: int, of: str) -> str:
    """A number of things, one or several."""
    return f"{number:,} {of}{'' if number == 1 else 's'}"


def _right(reading: Reading) -> int:
    """How many of the word's pairs are answered rightly."""
    return sum(a == b for a, b in zip(reading.says, reading.word[1:], strict=False))
