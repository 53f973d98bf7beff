"""Every scene as data, with its check: what a lesson shows, what it claims, and the number that a test finds again."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Check:
    """A number that the page computes: verdict.numbers[quantity] of the scene's settings is value, within tolerance."""

    quantity: str
    value: float | int
    tolerance: float | int


@dataclass(frozen=True, slots=True)
class Scene:
    """One view of a page and what to see in it.

    name: its word in addresses. claim: what it shows, one sentence. question with two to four answers, of which
    answers[right]
    is true. settings: controls of the page that differ from their defaults. ghost: the scene it is compared with, or
    None.
    """

    page: str
    name: str
    title: str
    claim: str
    question: str
    answers: tuple[str, ...]
    right: int
    checks: tuple[Check, ...]
    settings: Mapping[str, float | int | str] = field(default_factory=dict)
    ghost: str | None = None

    def __post_init__(self) -> None:
        if not 2 <= len(self.answers) <= 4 or not 0 <= self.right < len(self.answers):
            raise ValueError(f"scene {self.name!r}: it takes two to four answers and the index of the right one")
        if not self.checks:
            raise ValueError(f"scene {self.name!r}: it takes at least one check")


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its word in the navigation and the question that it answers."""

    title: str
    question: str


PAGES: Mapping[str, Page] = {
    "home": Page("rnnviz", "Why can one hear step 12, the other not?"),
    "unrolling": Page("Unrolling", "Same letter in. Same answer out?"),
    "jacobians": Page("Gradients", "What is left of a push, many steps later?"),
    "gates": Page("Gates", "What does a gate let a cell keep?"),
    "adding_problem": Page("Learning", "What happens while the loss lies flat?"),
}

HOME: tuple[Scene, ...] = (
    Scene(
        page="home",
        name="light",
        title="The light reaches the mark",
        claim="Under a flat loss the reach grows until it meets the mark.",
        question="900 training steps, and no loss has moved from 1/6. How far back does the GRU hear now?",
        answers=("10 steps, as at birth", "about 50 steps", "past the mark, 88 steps back"),
        right=2,
        checks=(
            Check("reach_birth", 10, 0),
            Check("reach", 97, 0),
            Check("reach_rnn", 10, 0),
            Check("loss", 0.1651, 0.0001),
            Check("hears", 0.0033, 0.0001),
        ),
    ),
    Scene(
        page="home",
        name="answer",
        title="Only one answer follows",
        claim="Drag the first marked number: the GRU's answer follows, the RNN's does not move.",
        question="The number at step 12 is dragged from 0 to 1, and everything else stays. Whose answer follows?",
        answers=("both", "only the GRU's", "only the RNN's", "neither"),
        right=1,
        checks=(Check("moves", 1.011, 0.001), Check("moves_rnn", 0, 1e-6), Check("reach_rnn", 9, 0)),
        settings={"step": 3200, "number": 0.2},
        ghost="light",
    ),
    Scene(
        page="home",
        name="birth",
        title="Born equal",
        claim="Before any training a GRU hears one step further than an RNN: gates are dials, not gifts.",
        question="No training yet. How much further than the RNN's 9 steps does the GRU hear?",
        answers=("it hears all 100", "about five times as far", "one step further"),
        right=2,
        checks=(Check("reach", 10, 0), Check("reach_rnn", 9, 0)),
        settings={"step": 0},
        ghost="light",
    ),
    Scene(
        page="home",
        name="late",
        title="Late, then at once",
        claim="The LSTM's reach idles for 2,280 training steps, then jumps past the mark; the loss falls after it.",
        question="From training step 100 to 2,280 the LSTM hears 13 to 22 steps back. And 60 steps later?",
        answers=("no further: it is as deaf as the RNN", "about twice as far", "past the mark, 88 steps back"),
        right=2,
        checks=(
            Check("reach_birth", 8, 0),
            Check("reach", 93, 0),
            Check("loss", 0.1636, 0.0001),
            Check("escape", 2581, 0),
        ),
        settings={"second": "lstm", "step": 2340},
        ghost="light",
    ),
)

UNROLLING: tuple[Scene, ...] = (
    Scene(
        page="unrolling",
        name="twins",
        title="The two L's",
        claim="Same input, another state, another answer: the state is what the network remembers.",
        question="HELLO is read letter by letter. After each of the two L's, does the network give the same answer?",
        answers=("yes, the letter is the same", "no: L, then O"),
        right=1,
        checks=(Check("apart", 2.014, 0.02), Check("loss", 0.0006, 0.0001), Check("floor", 0.3466, 0.0001)),
    ),
    Scene(
        page="unrolling",
        name="untrained",
        title="Before it learned",
        claim="An untrained network already has another state at the second L; what it lacks is the answer.",
        question="The weights are still random. Do the states after the two L's differ already?",
        answers=("no, memory has to be learned", "yes, the state carries its past from the start"),
        right=1,
        checks=(Check("apart", 0.285, 0.005), Check("loss", 1.494, 0.005), Check("uniform", 1.3863, 0.0001)),
        settings={"net": "untrained"},
        ghost="twins",
    ),
    Scene(
        page="unrolling",
        name="one_w",
        title="One W",
        claim="The parameters do not grow with the number of steps: each column is the same cell.",
        question="A network of 4 units reads 5 letters with 36 parameters. How many does it need for 500 letters?",
        answers=("3,600", "360", "36"),
        right=2,
        checks=(Check("parameters", 36, 0), Check("parameters_torch", 40, 0)),
        settings={"units": 4, "why": "parameters"},
    ),
    Scene(
        page="unrolling",
        name="one_unit",
        title="One number is enough",
        claim="A memory of one single number spells HELLO.",
        question="How many units does a network need that tells the two L's apart?",
        answers=("1", "3", "one for each letter, 4"),
        right=0,
        checks=(Check("loss", 0.176, 0.01), Check("right", 4, 0), Check("floor", 0.3466, 0.0001)),
        settings={"units": 1},
    ),
    Scene(
        page="unrolling",
        name="never_read",
        title="Never read, never learned",
        claim="Past its data a network guesses: O was never read, and 5 seeds go on in 4 different ways.",
        question="Five networks, each from another seed, learned to spell HELLO. How do they go on after the O?",
        answers=("all with H: they begin again", "all alike, but not with H", "in 4 different ways"),
        right=2,
        checks=(
            Check("right", 4, 0),
            Check("guess", 0.533, 0.02),
            Check("complete", 5, 0),
            Check("ways", 4, 0),
            Check("loops", 0, 0),
        ),
        settings={"units": 4, "why": "generate"},
    ),
    Scene(
        page="unrolling",
        name="loop",
        title="Read the O as well",
        claim="With HELLOHELLO the O is read once, and each of 5 seeds goes on spelling HELLO for ever.",
        question="HELLOHELLO reads the O once. What follows when the network spells on?",
        answers=("other letters from seed to seed", "HELLO, again and again"),
        right=1,
        checks=(
            Check("right", 9, 0),
            Check("loss", 0.0005, 0.0002),
            Check("complete", 5, 0),
            Check("ways", 1, 0),
            Check("loops", 5, 0),
        ),
        settings={"word": "HELLOHELLO", "units": 4, "why": "generate"},
        ghost="never_read",
    ),
    Scene(
        page="unrolling",
        name="leaked",
        title="Leaked state",
        claim="A forgotten reset hurts in proportion to memory: an LSTM that keeps still carries it 60 steps later.",
        question="An LSTM with forget bias 5 reads on without a reset. How much of its state is there 60 steps later?",
        answers=("less than 1 %", "about a tenth", "all of it"),
        right=2,
        checks=(Check("left_share", 1.050, 0.005), Check("h_start", 3.476, 0.005), Check("h_left", 2.105, 0.005)),
        settings={"why": "carry", "cell": "lstm", "forget": "5"},
    ),
    Scene(
        page="unrolling",
        name="washed_out",
        title="Washed out",
        claim="An untrained RNN forgives a forgotten reset: 8 steps later less than 1 % of the old state is left.",
        question="An RNN with torch's default weights reads on without a reset. When is less than 1 % left?",
        answers=("8", "30", "never within 60"),
        right=0,
        checks=(Check("gone", 8, 0), Check("start", 1.818, 0.005)),
        settings={"why": "carry"},
        ghost="leaked",
    ),
)

JACOBIANS: tuple[Scene, ...] = (
    Scene(
        page="jacobians",
        name="push",
        title="Push",
        claim="The gradient is what is left of a nudge: the push fades, and the derivative knew.",
        question="The state is pushed at step 10. How much of the push is left 40 steps later?",
        answers=("all of it", "about a tenth", "less than a ten-thousandth"),
        right=2,
        checks=(
            Check("left_of_push_10", 0.0752, 0.001),
            Check("left_of_push_40", 5.09e-6, 0.05e-6),
            Check("derivative_40", 5.10e-6, 0.05e-6),
        ),
    ),
    Scene(
        page="jacobians",
        name="slopes",
        title="Slopes alone",
        claim="Perfect weights still forget: tanh's slopes alone take twelve decades in 100 steps.",
        question="Orthogonal weights keep every length. How much of a gradient survives 100 steps of tanh?",
        answers=("all of it", "about a thousandth", "about 10⁻¹²"),
        right=2,
        checks=(Check("slopes_log10", -12.0, 0.1), Check("weights_log10", 0, 1e-9), Check("bound_log10", 0, 0.05)),
        settings={"why": "tug"},
        ghost="push",
    ),
    Scene(
        page="jacobians",
        name="tug",
        title="Tug of war",
        claim="Long memory is a draw: weights of strength 1.5 win back what the slopes take.",
        question="The slopes take some 18 decades in 100 steps. Weights of strength 1.5 give back how many?",
        answers=("none", "about 2", "about 18"),
        right=2,
        checks=(
            Check("slopes_log10", -17.9, 0.1),
            Check("weights_log10", 17.61, 0.01),
            Check("carried_log10", -0.29, 0.1),
        ),
        settings={"gain": 1.5, "why": "tug"},
        ghost="slopes",
    ),
    Scene(
        page="jacobians",
        name="butterfly",
        title="Butterfly",
        claim="Backward explosion is forward chaos: at strength 3 a push of a millionth takes over the network.",
        question="At strength 3 a push of a millionth grows. Does the derivative stay right for ever?",
        answers=("yes", "until the push is as large as the states", "it is never right"),
        right=1,
        checks=(
            Check("left_of_push_40", 38_900, 500),
            Check("derivative_40", 38_800, 500),
            Check("left_of_push_60", 1.17e6, 0.02e6),
            Check("derivative_60", 1.68e6, 0.02e6),
        ),
        settings={"gain": 3.0},
        ghost="tug",
    ),
    Scene(
        page="jacobians",
        name="louder",
        title="Louder is shorter",
        claim="The input sets the memory too: the weights that held a draw forget when the noise is louder.",
        question="Strength 1.5 carried a push through 100 steps. What does four times louder input do?",
        answers=("nothing, the weights decide", "the memory gets longer", "the memory gets shorter"),
        right=2,
        checks=(Check("reach", 18, 0), Check("carried_log10", -16.8, 0.1), Check("weights_log10", 17.61, 0.01)),
        settings={"gain": 1.5, "input": 2.0},
        ghost="tug",
    ),
    Scene(
        page="jacobians",
        name="born",
        title="Born equal",
        claim="Untrained gates forget like no gates: with torch's default all three cells reach 11 to 13 steps.",
        question="Fresh from torch, untrained: which hears furthest back?",
        answers=("the RNN", "the GRU", "the LSTM", "all about equally far"),
        right=3,
        checks=(Check("reach", 13, 0),),
        settings={"recurrent": "uniform", "cell": "lstm", "why": "back"},
    ),
)

GATES: tuple[Scene, ...] = (
    Scene(
        page="gates",
        name="hand",
        title="Build it by hand",
        claim="One unit adds the two marked numbers, once it keeps what it has and writes only at the marks.",
        question="One unit, three dials: keep at 5, shut at −5, open at 10. How near does it come to the sum?",
        answers=("no nearer than always answering 1", "as near as knowing one number", "far nearer than both"),
        right=2,
        checks=(Check("score", 0.0104, 2e-4), Check("reach", math.inf, 0)),
    ),
    Scene(
        page="gates",
        name="poured",
        title="Poured away",
        claim="Keeping 0.73 a step sounds like much: after two steps half is gone, after sixteen 99 %.",
        question="It writes at the marks and keeps 0.73 of its level a step. Is the first number there at the end?",
        answers=("yes, 0.73 of it", "a tenth of it", "nothing that counts"),
        right=2,
        checks=(Check("score", 0.163, 0.001), Check("reach", 16, 0), Check("half_direct", 2.21, 0.01)),
        settings={"hold": 1.0},
        ghost="hand",
    ),
    Scene(
        page="gates",
        name="brims",
        title="It brims over",
        claim="Keeping alone does not help: everything flows in, and the two numbers drown in ninety-eight others.",
        question="The unit keeps 0.993 a step, and its write gate stands half open all the time. How well does it add?",
        answers=("well: it forgets nothing", "hardly better than always answering 1", "exactly"),
        right=1,
        checks=(Check("score", 0.160, 0.001), Check("last_state", 0.955, 0.001), Check("unmarked", 0.964, 0.001)),
        settings={"shut": 0.0, "open": 0.0},
        ghost="hand",
    ),
    Scene(
        page="gates",
        name="exact",
        title="All but exact",
        claim="Keep everything, write nothing but the marked: one unit, set by hand, is right to a thousandth.",
        question="Keep goes to 10 and shut to −10. What becomes of the score, 0.0104?",
        answers=("a half", "a tenth", "a ten-thousandth"),
        right=2,
        checks=(Check("score", 1.4e-6, 0.1e-6),),
        settings={"hold": 10.0, "shut": -10.0},
        ghost="hand",
    ),
    Scene(
        page="gates",
        name="birth",
        title="At birth",
        claim="With torch's default weights every gate stands near ½: an untrained LSTM forgets half of itself a step.",
        question="An LSTM as torch makes it, untrained. How far back does it hear?",
        answers=("about a dozen steps", "about fifty", "all hundred"),
        right=0,
        checks=(Check("kept", 0.5, 0.01), Check("reach", 13, 1), Check("half_direct", 1.0, 0.02)),
        settings={"show": "lstm", "biases": "torch"},
    ),
    Scene(
        page="gates",
        name="halves",
        title="Two half-lives",
        claim="The carousel is not the whole derivative: most of what comes back travels through the gates.",
        question="With forget bias 1 the direct path leaves 10⁻¹⁴ after 100 steps. And the whole derivative?",
        answers=("the same 10⁻¹⁴", "some 10⁻⁶", "even less"),
        right=1,
        checks=(
            Check("direct_log10", -13.6, 0.1),
            Check("whole_log10", -5.7, 0.1),
            Check("half_direct", 2.21, 0.01),
            Check("half_whole", 5.24, 0.05),
        ),
        settings={"show": "lstm", "biases": "forget", "why": "half"},
    ),
    Scene(
        page="gates",
        name="reset",
        title="Before and after r",
        claim="Two different functions go by the name GRU: the same weights, and their states part.",
        question="One set of weights, the reset gate before U_n or after it. How far apart are the last states?",
        answers=("not at all: it is one function", "some 5 %", "they have nothing in common"),
        right=1,
        checks=(Check("apart", 0.0462, 0.0005), Check("diagonal", 0.0, 1e-16)),
        settings={"show": "gru", "hidden": 16, "T": 60, "why": "reset"},
    ),
)

ADDING_PROBLEM: tuple[Scene, ...] = (
    Scene(
        page="adding_problem",
        name="plateau",
        title="The plateau is not idle",
        claim="Nothing moves in the loss while the reach grows; when it meets the first mark, the loss falls.",
        question="After 900 steps no loss has moved from 1/6. Which network will learn first?",
        answers=("the tanh RNN", "the GRU", "the LSTM", "none of them"),
        right=1,
        checks=(
            Check("reach_gru", 97, 0),
            Check("reach_rnn", 10, 0),
            Check("reach_lstm", 18, 0),
            Check("loss_gru", 0.1651, 0.0001),
            Check("loss_rnn", 0.1710, 0.0001),
            Check("escape_gru", 1100, 0),
            Check("escape_lstm", 2600, 0),
        ),
        settings={"step": 900},
    ),
    Scene(
        page="adding_problem",
        name="minute",
        title="A minute of your own",
        claim="A GRU of 32 units learns sequences of 20 steps while you watch: first it listens, then it answers.",
        question="You train a GRU on 20 steps. Which comes first?",
        answers=("the loss falls, then the answer listens", "the answer listens, then the loss falls"),
        right=1,
        checks=(Check("escape_gru", 525, 0), Check("first_gru", 0.967, 0.001)),
        settings={"T": 20, "cell": "gru", "hidden": 32, "steps": 1000, "step": 980},
    ),
    Scene(
        page="adding_problem",
        name="breath",
        title="A breath",
        claim="A ReLU RNN that starts as the identity learns 30 steps in about 170 steps, without a single gate.",
        question="Can a network without gates learn to add two numbers 30 steps apart?",
        answers=("no, it needs gates", "yes, in some 170 steps", "only after thousands of steps"),
        right=1,
        checks=(Check("escape_rnn", 168, 0), Check("first_rnn", 0.920, 0.001)),
        settings={
            "T": 30,
            "cell": "rnn",
            "hidden": 64,
            "steps": 400,
            "activation": "relu",
            "recurrent": "identity",
            "step": 380,
        },
    ),
)

SCENES: Mapping[str, tuple[Scene, ...]] = {
    "home": HOME,
    "unrolling": UNROLLING,
    "jacobians": JACOBIANS,
    "gates": GATES,
    "adding_problem": ADDING_PROBLEM,
}
