"""The frozen results of analysis and training: numpy only, so that figures and stored first pictures need no torch."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rnnviz.training import Snapshot

Array = NDArray[Any]
HEARD = 0.01
"""The share of a gradient that still counts as heard; the reach is the first lag at which less is left."""


def reach(log_norm: Array) -> int | None:
    """The first lag k at which less than 1 % is left: log_norm[T-k] - log_norm[T] < ln 0.01; None if beyond T.

    log_norm [time+1] holds natural logarithms over the steps 0..T. A value that is not known (NaN: below what could be
    carried) counts as not heard.
    """
    left = np.asarray(log_norm)[::-1] - log_norm[-1]
    quiet = np.flatnonzero(~(left >= math.log(HEARD)))
    return int(quiet[0]) if quiet.size else None


@dataclass(frozen=True, slots=True, eq=False)
class Transport:
    """The product of step Jacobians, measured.

    log_norm [time+1]: ln of the norm of ds_T/ds_k for k = 0..T, 0 at k = T, -inf for an exact zero, NaN where lost.
    log_bound [time+1]: the sum of ln sigma_max(J_i) for i = k+1..T, never below log_norm.
    lyapunov [state]: exponents a step, descending.
    lost [time+1]: some entries of the product were more than 308 decades below its largest and are gone.
    """

    log_norm: Array
    log_bound: Array
    lyapunov: Array
    lost: Array

    @property
    def reach(self) -> int | None:
        """The first lag at which less than 1 % is left; None if beyond T."""
        return reach(self.log_norm)


@dataclass(frozen=True, slots=True, eq=False)
class AllPairs:
    """How much of a random push of the state after step k is there after step t, for all pairs.

    log_gain [time+1, time+1]: ln(‖J_t ... J_{k+1}‖_F / sqrt(state)) at [t, k], the root mean square gain of a random
    direction; 0 where t = k, NaN where t < k, -inf for an exact zero.
    """

    log_gain: Array


@dataclass(frozen=True, slots=True, eq=False)
class ByLag:
    """The gradient of each weight, split by the steps between a loss and the use of the weight: name -> [time], lag
    0..T-1.

    log_norm: ln ‖G_k‖, -inf for exactly nothing. share: <G_k, G> / ‖G‖^2, which add up to 1; NaN where G is 0.
    """

    log_norm: Mapping[str, Array]
    share: Mapping[str, Array]


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """A linear answer from the last state, y = W_y . h_T + b_y, and what it hears.

    value [batch]. by_input [time, batch, inputs]: dy/dx_t, 0 at padded steps. log_by_state [time+1, batch]: ln of
    ‖dy/ds_t‖, s the whole state; -inf for an exact zero.
    """

    value: Array
    by_input: Array
    log_by_state: Array

    @property
    def heard(self) -> Array:
        """[time+1]: median over the batch (the lower of two middles) of ln of ‖dy/ds_t‖ / ‖dy/ds_T‖; -inf where all
        is 0.

        NaN where the answer hears no state at all.
        """
        with np.errstate(invalid="ignore"):
            relative = self.log_by_state - self.log_by_state[-1]
        middle: Array = np.sort(relative, axis=-1)[:, (relative.shape[1] - 1) // 2]
        return middle

    @property
    def reach(self) -> int | None:
        """The first lag at which less than 1 % of the answer's derivative is left; None if beyond T."""
        return reach(self.heard)


@dataclass(frozen=True, slots=True, eq=False)
class Saturation:
    """Shares of a gate's values, over steps and sequences, that are all but stuck: name -> [hidden].

    low: below 0.1 (a tanh: below -0.9). high: above 0.9.
    """

    low: Mapping[str, Array]
    high: Mapping[str, Array]


@dataclass(frozen=True, slots=True, eq=False)
class Probe:
    """A look at a fixed batch of adding problems, from one forward and one backward pass.

    error: mean squared error. reach: of the answer, None if beyond T.
    listening: mean of dy/dv at the first mark and at the second, mean of |dy/dv| at unmarked steps; 1, 1, 0 is solved.
    log_answer [time+1]: median over the batch of ln of ‖dy/ds_t‖ / ‖dy/ds_T‖, s the whole state.
    log_grad_norm [time+1]: ln ‖dL/ds_t‖ of the whole batch. Either is -inf where all is 0 in float64.
    inputs [time, 2], gates: name -> [time, hidden] (Elman: its state "h", row 0 is after step 1), of the first
    sequence. predictions, targets [batch]. weights: name -> array, those that were looked at, read-out included.
    """

    error: float
    reach: int | None
    listening: tuple[float, float, float]
    log_answer: Array
    log_grad_norm: Array
    inputs: Array
    gates: Mapping[str, Array]
    predictions: Array
    targets: Array
    weights: Mapping[str, Array]


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """One training step: everything was measured before the step's update, but update, which is of the update itself.

    grad_norm is the global norm before clipping; parts are the norms of single parameters. update is the size of the
    step relative to the size of the weights. rho is the spectral radius of W_h (RNN only, at probes). seconds are
    spent in this config so far.
    fault says why the run cannot go on: step and parameter that were not finite; the weights are then the last finite.
    """

    step: int
    loss: float
    grad_norm: float
    clipped: bool
    update: float
    seconds: float
    parts: Mapping[str, float]
    rho: float | None = None
    probe: Probe | None = None
    fault: str | None = None
    _take: "Callable[[], Snapshot] | None" = field(default=None, repr=False)

    def snapshot(self) -> "Snapshot":
        """The state after this step, from which train() goes on; ask before the next record is drawn."""
        if self._take is None:
            raise RuntimeError("this record is a copy without its run: take snapshots from the records of train()")
        return self._take()


@dataclass(frozen=True, slots=True, eq=False)
class Push:
    """A push of the state after step `step`, seen at later steps n = 0, 1, ...

    left [n]: the true difference relative to the size of the push. The rest are natural logarithms: predicted, the
    derivative along the push; log_norm, the most that any push could keep; log_bound, the product of the steps' largest
    singular values; log_simple, (gamma sigma_max(W_h))^n, None for gated cells. A left not above floor [n] is rounding.
    """

    step: int
    size: float
    left: Array
    predicted: Array
    log_norm: Array
    log_bound: Array
    log_simple: Array | None
    floor: Array

    @property
    def gone(self) -> int | None:
        """The first later step n at which less than 1 % of the push is left, or only rounding; None if at none."""
        quiet = np.flatnonzero(~(self.left[1:] >= np.maximum(HEARD, self.floor[1:])))
        return int(quiet[0]) + 1 if quiet.size else None


@dataclass(frozen=True, slots=True, eq=False)
class Carried:
    """What arrives from the end, by lag 0, 1, ..., T, in natural logarithms: a mean over the vectors carried back.

    total = slopes + weights, exactly; the two parts are None for gated cells, which have no such split. Where all
    vectors are exactly 0 the total is -inf, and so is the part that made it so; the other is NaN. living: how many
    came through.
    """

    transport: Transport
    total: Array
    slopes: Array | None
    weights: Array | None
    living: int


BASELINE_MSE = 1 / 6
"""The adding problem's error of always answering 1: Var(u + v) = 1/12 + 1/12 for two values uniform on [0, 1]."""
HALF_MSE = 1 / 12
"""The error of knowing one of the two numbers; below it, memory beyond half the sequence is proven."""


@dataclass(frozen=True, slots=True, eq=False)
class Progress:
    """One network's training on the adding problem as a picture shows it.

    step, loss [n]: smoothed. probe_step, reach [m]: inf is beyond the sequence of length steps. listening [m, 3]:
    dy/dv at the first mark, at the second, and |dy/dv| elsewhere.
    """

    name: str
    cell: str
    length: int
    step: Array
    loss: Array
    probe_step: Array
    reach: Array
    listening: Array


@dataclass(frozen=True, slots=True, eq=False)
class Lane:
    """One network of a recorded race, seen at n training steps, every one of them a snapshot.

    steps [n]: training steps, ascending. loss [n]: the smoothed training loss. escape: the first step at which it is
    below half of what predicting 1 costs, None if never. reach [n]: of the answer, -1 if beyond T. listening [n, 3] and
    log_answer [n, time+1] are those of Probe. answers [n, values]: to the race's sequence, its first number taking
    each of the race's values.
    """

    steps: Array
    loss: Array
    escape: int | None
    reach: Array
    listening: Array
    log_answer: Array
    answers: Array

    @property
    def snapshot_steps(self) -> Array:
        """The steps of log_answer and answers: all of them."""
        return self.steps

    def at(self, step: int) -> int:
        """The index of the last look at or before a training step."""
        return max(0, int(np.searchsorted(self.steps, step, side="right")) - 1)


@dataclass(frozen=True, slots=True, eq=False)
class Race:
    """Networks that learn the same batches, recorded. lanes: cell -> Lane.

    The sequence [time, 2] (value, mark) is the one that was answered; marks: its two marked steps, counted from 1;
    values [values]: what its first marked number takes in turn.
    """

    lanes: Mapping[str, Lane]
    marks: tuple[int, int]
    values: Array
    sequence: Array

    @property
    def T(self) -> int:
        """Steps of a sequence."""
        return len(self.sequence)

    @property
    def truth(self) -> Array:
        """[values]: the right answers."""
        return self.values + float(self.sequence[self.marks[1] - 1, 0])


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """A race at one training step, for one value of the first number: the RNN beside one other network.

    step is a training step of the race, value an index into its values, second the cell beside the RNN.
    """

    race: Race
    second: str
    step: int
    value: int

    @property
    def lanes(self) -> Mapping[str, Lane]:
        """Upper and lower: cell -> Lane."""
        return {cell: self.race.lanes[cell] for cell in ("rnn", self.second)}

    @property
    def steps(self) -> Array:
        """[T]: the steps of the sequence, from 1."""
        return np.arange(1, self.race.T + 1)

    @property
    def lag(self) -> int:
        """Steps from the first mark to the answer: it is heard when the reach is greater."""
        return self.race.T - self.race.marks[0]

    @property
    def truth(self) -> float:
        """The right answer."""
        return float(self.race.truth[self.value])

    def reach(self, cell: str) -> float:
        """The reach of a lane now; inf if beyond T."""
        lane = self.race.lanes[cell]
        steps = int(lane.reach[lane.at(self.step)])
        return math.inf if steps < 0 else float(steps)

    def left(self, cell: str) -> Array:
        """[T]: the share of the answer's derivative that is left at steps 1..T, relative to the last."""
        lane = self.race.lanes[cell]
        curve = lane.log_answer[lane.at(self.step)].astype(float)
        left: Array = np.exp(curve[1:] - curve[-1])
        return left

    def answer(self, cell: str) -> float:
        """What a lane answers now."""
        lane = self.race.lanes[cell]
        return float(lane.answers[lane.at(self.step), self.value])


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """A network that was taught to say the next letter of a word.

    letters: the vocabulary in the order first seen. losses [steps+1]: mean cross-entropy in nats a letter, before each
    step and after the last; of a long text those between the first and the last are as its training in pieces sees
    them, from states one step old. uniform: what guessing evenly costs, ln V. floor: the least that a network without
    memory can reach. weights: name -> array, the read-out W_y [V, hidden], b_y [V] included.
    """

    word: str
    letters: tuple[str, ...]
    losses: Array
    uniform: float
    floor: float
    weights: Mapping[str, Array]

    @property
    def below_floor(self) -> int | None:
        """The training step from which the loss stays below the floor, which takes a memory; None if there is none."""
        above = np.flatnonzero(~(self.losses < self.floor))
        first = int(above[-1]) + 1 if above.size else 0
        return first if first < len(self.losses) else None


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A word read letter by letter, T = its length.

    steps: of training behind the network. states [T+1, hidden], row 0 is the initial state. answers [T, V]: the softmax
    after each letter. parameters: of the cell, with one bias, and as torch counts it, with two. loss: of the last
    weights on the whole word, uniform, floor: as in Learned. weights: name -> array, as in Learned, so that a step can
    be computed by hand. before [T, V]: the softmax of the same network at birth.
    """

    word: str
    letters: tuple[str, ...]
    steps: int
    states: Array
    answers: Array
    loss: float
    uniform: float
    floor: float
    parameters: int
    parameters_torch: int
    weights: Mapping[str, Array] = field(default_factory=dict)
    before: Array = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def says(self) -> str:
        """The likeliest letter after each step."""
        return "".join(self.letters[k] for k in self.answers.argmax(-1))

    @property
    def twins(self) -> tuple[int, int] | None:
        """The nearest two steps, counted from 1, that read the same letter and are followed by different ones."""
        # A pair with the same letter between its two has a nearer one: what follows there differs from one of both.
        found, last = [], dict[str, int]()
        for t, (letter, following) in enumerate(zip(self.word, self.word[1:], strict=False), 1):
            before = last.get(letter)
            if before is not None and self.word[before] != following:
                found.append((t - before, before, t))
            last[letter] = t
        return min(found)[1:] if found else None

    def apart(self, first: int, second: int) -> float:
        """The distance of the states after two steps."""
        return float(np.linalg.norm(self.states[first] - self.states[second]))


@dataclass(frozen=True, slots=True, eq=False)
class Spelled:
    """What a network spells on by itself, each answer read as the next letter.

    text: the first letter, which was given, and n answers. shares [n]: the softmax's share of each answer. right: how
    many of the word's next letters are answered rightly before the first mistake, at most n. guesses [n]: the letter
    before this answer was never read in training.
    """

    seed: int
    text: str
    shares: Array
    right: int
    guesses: Array


@dataclass(frozen=True, slots=True, eq=False)
class HandSet:
    """One LSTM unit, set by hand, on one adding sequence; its score is from 1,000 others.

    inputs [time, 2] (value, mark), gates "f", "i", "g" -> [time], level [time+1] is c and row 0 its start.
    answer [time+1]: what the read-out weight*tanh(c) + bias, which fits the last step best, makes of each level; truth
    [time+1]: the sum of the marked values so far. constant: the error of the best constant on the same sequences.
    """

    inputs: Array
    gates: Mapping[str, Array]
    level: Array
    answer: Array
    truth: Array
    weight: float
    bias: float
    score: float
    constant: float

    @property
    def marks(self) -> Array:
        """The marked steps, counted from 1."""
        return np.flatnonzero(self.inputs[:, 1]) + 1

    @property
    def first_left(self) -> float:
        """The share of what the first mark wrote that is there after the last step."""
        return float(np.prod(self.gates["f"][int(self.marks[0]) :]))

    @property
    def unmarked(self) -> float:
        """The share of the last level that unmarked values wrote."""
        later = np.append(np.cumprod(self.gates["f"][:0:-1])[::-1], 1.0)
        written = self.gates["i"] * self.gates["g"] * later
        total = float(written.sum())
        return float(written[self.inputs[:, 1] == 0].sum()) / total if total > 0 else 0.0

    @property
    def columns(self) -> dict[str, Array]:
        """Everything with a step, by name."""
        series = {"value": self.inputs[:, 0], "mark": self.inputs[:, 1], **self.gates}
        states = {"c": self.level, "answer": self.answer, "truth": self.truth}
        return series | {f"{name}_from_step_0": values for name, values in states.items()}


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """The gates and states of a cell on one adding sequence: values, name -> [time, hidden], row t-1 is step t.

    keep: the gate whose value is kept of the old state, "f"; or "z", of which 1 - z is.
    """

    cell: str
    inputs: Array
    values: Mapping[str, Array]
    keep: str

    @property
    def kept(self) -> Array:
        """[time, hidden]: the share of a unit's own state that a step keeps."""
        return self.values["f"] if self.keep == "f" else 1 - self.values["z"]

    @property
    def marks(self) -> Array:
        """The marked steps, counted from 1."""
        return np.flatnonzero(self.inputs[:, 1]) + 1

    @property
    def columns(self) -> dict[str, Array]:
        """Everything with a step, by name: f_1, f_2, ... are the units' forget gates."""
        series = {"value": self.inputs[:, 0], "mark": self.inputs[:, 1]}
        return series | {f"{k}_{n}": unit for k, values in self.values.items() for n, unit in enumerate(values.T, 1)}


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """Two ways back from the end to the kept state (c of an LSTM, h of a GRU), by lag 0..T, in natural logarithms.

    direct [time+1]: the sum over steps of ln of the kept share, mean over units; least and most are those of single
    units, and most is the norm of the direct path as a matrix. whole [time+1]: ln ‖dc_T/dc_{T-k}‖, all ways; -inf
    where it is 0 in the trace's floats, as where a gate is. reach: of the whole state, None if beyond T. units
    [hidden]: the direct path of each unit over all T steps.
    """

    direct: Array
    least: Array
    most: Array
    whole: Array
    reach: int | None
    units: Array

    @property
    def columns(self) -> dict[str, Array]:
        """The curves by lag, by name."""
        return {"ln_direct_by_lag": self.direct, "ln_whole_by_lag": self.whole}

    @property
    def half_direct(self) -> float:
        """Steps after which half is left at the direct path's mean rate; inf where nothing is lost."""
        return _half_life(self.direct[-1], self.direct)

    @property
    def half_units(self) -> Array:
        """[hidden]: the same of each unit's direct path."""
        return np.array([_half_life(end, self.direct) for end in self.units])

    @property
    def half_whole(self) -> float:
        """The same of the whole derivative; inf where it grows."""
        return _half_life(self.whole[-1], self.whole)


def _half_life(end: float, curve: Array) -> float:
    """Steps to lose ln 2 at the mean rate of a curve from 0 to end."""
    return -(len(curve) - 1) * math.log(2) / float(end) if end < 0 else math.inf


@dataclass(frozen=True, slots=True, eq=False)
class Parting:
    """Two GRUs of the same weights, the reset before and after U_n, on one sequence: ‖h_before - h_after‖ / ‖h_after‖.

    apart [time] and diagonal [time], row t-1 is step t; diagonal: the same with nothing but the diagonal of U_n left.
    """

    apart: Array
    diagonal: Array


@dataclass(frozen=True, slots=True, eq=False)
class States:
    """A stack of layers that read one sequence; layer l+1 reads the outputs h of layer l.

    names: "layer 1", "layer 2", ..., or with both directions "layer 1 →", "layer 1 ←", ... values: name -> value ->
    array, in the order of the input's time: "h", for the LSTM "c" too, [T+1, hidden], and the gates [T, hidden], row
    t-1 of which is step t. Forward, row 0 of a state is its start and row t what it is after step t. Backward, the last
    row, T, is the start, which stands after the last step, and row t-1 is the state that has read step t: steps() says
    where the rows stand. inputs [T, d]. parameters: of the stack, with one bias a gate; parameters_torch: with torch's
    two.
    """

    cell: str
    names: tuple[str, ...]
    values: Mapping[str, Mapping[str, Array]]
    inputs: Array
    parameters: int
    parameters_torch: int

    @property
    def hidden(self) -> int:
        """Units of a layer and direction."""
        return int(self.values[self.names[0]]["h"].shape[1])

    def steps(self, name: str, value: str = "h") -> Array:
        """The steps at which the rows of a value stand: a state's 0..T forward, 1..T+1 backward; a gate's 1..T."""
        rows = len(self.values[name][value])
        first = int(rows == len(self.inputs) or name.endswith("←"))
        return np.arange(first, first + rows)

    def read(self, name: str, value: str = "h") -> Array:
        """[T, hidden]: a value after each step, row t-1 is step t: a state without its start, which read nothing."""
        rows = self.values[name][value]
        if len(rows) == len(self.inputs):
            return rows
        return rows[:-1] if name.endswith("←") else rows[1:]


@dataclass(frozen=True, slots=True, eq=False)
class Leaked:
    """A sequence read twice: the second time from zeros, and from the state in which the first pass ended.

    apart [T+1]: ‖s_t carried over - s_t reset‖ of the whole state s, (h, c) for the LSTM; row 0 is the norm of what
    was carried over. h_apart [T+1]: of h alone. inf: a state beyond the range of floats. floor: differences not above
    it are rounding.
    """

    cell: str
    apart: Array
    h_apart: Array
    floor: float

    @property
    def share(self) -> Array:
        """[T+1]: what is left of the state carried over; all 0 where that was zero."""
        return _shares(self.apart)

    @property
    def h_share(self) -> Array:
        """[T+1]: the same of h alone."""
        return _shares(self.h_apart)

    @property
    def gone(self) -> int | None:
        """The first step after which less than 1 % is left, 0 where nothing was carried over; None if there is none."""
        quiet = np.flatnonzero(~(self.share >= HEARD))
        return int(quiet[0]) if quiet.size else None


def _shares(apart: Array) -> Array:
    left: Array = apart / apart[0] if apart[0] > 0 else np.zeros(len(apart))
    return left


@dataclass(frozen=True, slots=True, eq=False)
class Cost:
    """What one sequence costs, counted while it was read and while the gradient came back.

    forward, backward: multiply-adds of all matrix products. bytes: of the values that the trace holds: the states,
    gates and pre-activations of all steps. parameters: with one bias a gate; parameters_torch: with torch's two. gates:
    blocks of weights, 1 for an RNN, 3 for a GRU, 4 for an LSTM.
    """

    cell: str
    steps: int
    inputs: int
    hidden: int
    gates: int
    parameters: int
    parameters_torch: int
    forward: int
    backward: int
    bytes: int

    @property
    def formula(self) -> int:
        """T (n² + n d) for each gate: what the forward pass has to be."""
        return self.steps * self.gates * self.hidden * (self.hidden + self.inputs)


BY_DIFFERENCE = "central difference"
"""The route of a proof that rounding keeps from coming close."""


@dataclass(frozen=True, slots=True, eq=False)
class Proof:
    """A number that a page shows, its equation, and the same number by other routes: route -> value."""

    name: str
    equation: str
    value: float
    routes: Mapping[str, float]

    @property
    def apart(self) -> float:
        """The largest difference of a route, relative to the value; absolute where that is 0."""
        return max(abs(found - self.value) for found in self.routes.values()) / (abs(self.value) or 1.0)
