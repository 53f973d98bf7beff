"""What a run is: the frozen results that the store hands out, the bounds it keeps, and its refusals in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rnnviz.config import TrainConfig
from rnnviz.results import Array, Probe
from rnnviz.runs.packing import SNAPSHOTS

State = Literal["queued", "running", "paused", "stopped", "finished", "failed"]
Wish = Literal["run", "pause", "stop"]

LIVE: tuple[State, ...] = ("queued", "running")


class Refused(Exception):
    """What was asked for is not allowed; the message is a sentence for people.

    offer: the person can have "continue as my own from here" instead, RunStore.continue_from.
    """

    def __init__(self, sentence: str, *, offer: bool = False) -> None:
        super().__init__(sentence + (" You can continue it as your own from here." if offer else ""))
        self.offer = offer


class UnknownRun(LookupError):
    """No run has this id; the message is a sentence for people."""

    def __init__(self) -> None:
        super().__init__("There is no such run: its link is wrong, or it was deleted.")


class Lost(Exception):
    """A process writes to a run that is not its own any more: it was deleted, or a later process has taken over."""


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """The records of one config from the step asked for, oldest first; n of them, m with a probe.

    done: steps done in all. fault: why it cannot go on, or None.
    step int [n]. loss, grad_norm, update, seconds, rho float64 [n], rho NaN where it was not measured; clipped bool
    [n]; parts name -> [n]. Of the probes: probe_step int [m]; error [m]; reach [m], inf where it is beyond T;
    listening [m, 3], at the first mark, the second, elsewhere. newest: the last probe of all with its arrays, at
    newest_step; None before the first.
    """

    config: TrainConfig
    done: int
    fault: str | None
    step: Array
    loss: Array
    grad_norm: Array
    clipped: Array
    update: Array
    seconds: Array
    rho: Array
    parts: Mapping[str, Array]
    probe_step: Array
    error: Array
    reach: Array
    listening: Array
    newest: Probe | None
    newest_step: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A run as it stands. curves has one Curve a config from RunStore.read, and is empty from list and find.

    reason: a sentence on why it is in its state, often empty. wish: what the process was told. place: 1 is next in the
    queue, None if not queued. done, total: training steps, summed over configs. seconds: spent training, likewise.
    best: the smallest error of any probe. created, changed, heartbeat: seconds since 1970; heartbeat is the last sign
    of life of the process, None before the first. watching: how many owners have it open now.
    """

    id: str
    owner: str
    name: str
    configs: tuple[TrainConfig, ...]
    state: State
    reason: str
    wish: Wish
    place: int | None
    done: int
    total: int
    seconds: float
    best: float | None
    created: float
    changed: float
    heartbeat: float | None
    watching: int
    curves: tuple[Curve, ...] = ()

    @property
    def live(self) -> bool:
        """It trains, or waits for its turn."""
        return self.state in LIVE


@dataclass(frozen=True, slots=True, eq=False)
class Still:
    """A moment of the training, kept for scrubbing: the probe at a step, with the weights that it looked at."""

    config: int
    step: int
    probe: Probe


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of a store: what one person may ask for, what one run may cost, how much is kept.

    numbers: length x batch x hidden, what a training step keeps in memory. seconds: of training, summed over configs.
    size, kept_size: bytes of one run, and of all.
    """

    live_per_owner: int = 2
    queue: int = 40
    configs: int = 12
    steps: int = 20_000
    hidden: int = 128
    length: int = 1_000
    batch: int = 512
    numbers: int = 4_000_000
    seconds: float = 7_200.0
    size: int = 500_000_000
    kept: int = 200
    kept_size: int = 4_000_000_000

    def check(self, configs: Sequence[TrainConfig]) -> None:
        """Raise Refused if these configs are more than a run may be."""
        if not 1 <= len(configs) <= self.configs:
            raise Refused(f"A run trains 1 to {self.configs} networks, not {len(configs)}.")
        for config in configs:
            for name in ("steps", "hidden", "length", "batch"):
                value, most = getattr(config, name), getattr(self, name)
                if value > most:
                    raise Refused(f"{name} is {value}: on this server a run takes at most {most}.")
            numbers = config.length * config.batch * config.hidden
            if numbers > self.numbers:
                raise Refused(
                    f"length × batch × hidden is {numbers:,}: on this server a run takes at most {self.numbers:,}."
                    " Make one of them smaller."
                )
        size = sum(map(expected_size, configs))
        if size > self.size:
            raise Refused(
                f"This run would store about {size / 1e6:.0f} MB, and may store {self.size / 1e6:.0f} MB."
                " Take fewer networks, fewer units or shorter sequences."
            )


def expected_size(config: TrainConfig) -> int:
    """About how many bytes a config comes to: its snapshots (float32 weights, float16 gates) and its records."""
    blocks = {"rnn": 1, "gru": 3, "lstm": 4}[config.cell]
    weights = 4 * blocks * config.hidden * (config.hidden + 4)
    gates = 2 * (blocks + 2) * config.length * config.hidden
    stills = min(SNAPSHOTS, 1 + config.steps // config.probe_every)
    return stills * (weights + gates + 16 * config.length) + RECORD_SIZE * config.steps


RECORD_SIZE = 400
"""About how many bytes a record takes in the database."""
