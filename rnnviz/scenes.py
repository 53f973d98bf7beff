"""Every scene as data, with its check: what a lesson shows, what it claims, and the number that a test finds again."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Check:
    """A number that the page computes: verdict.numbers[quantity] of the scene's settings is value, within tolerance."""

    quantity: str
    value: float
    tolerance: float


@dataclass(frozen=True, slots=True)
class Scene:
    """One view of a page and what to see in it.

    name: its word in addresses. claim: what it shows, one sentence. question with two to four answers, of which answers[right]
    is true. settings: controls of the page that differ from their defaults. ghost: the scene it is compared with, or None.
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
    "home": Page("rnnviz", "Why can one network hear step 12 and the other not?"),
    "unrolling": Page("Unrolling", "Same letter in. Same answer out?"),
    "jacobians": Page("Gradients", "What is left of a push, many steps later?"),
    "gates": Page("Gates", "What does a gate let a cell keep?"),
    "adding_problem": Page("Learning", "What happens while the loss lies flat?"),
}

HOME: tuple[Scene, ...] = ()

UNROLLING: tuple[Scene, ...] = ()

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
            Check("left_of_push_10", 0.075, 0.005),
            Check("left_of_push_40", 2.8e-5, 0.2e-5),
        ),
    ),
)

GATES: tuple[Scene, ...] = ()

ADDING_PROBLEM: tuple[Scene, ...] = ()

SCENES: Mapping[str, tuple[Scene, ...]] = {
    "home": HOME,
    "unrolling": UNROLLING,
    "jacobians": JACOBIANS,
    "gates": GATES,
    "adding_problem": ADDING_PROBLEM,
}
