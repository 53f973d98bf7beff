"""What an address means: controls as data, the nearest valid view to any query, and the query of a view. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from rnnviz import own
from rnnviz.arguments import shown

VERSION = "1"
Value = float | int | str | bool
Settings = dict[str, Value]


@dataclass(frozen=True, slots=True)
class Number:
    """A number on a grid: low, low + step, ... up to high. A whole step makes whole numbers."""

    name: str
    label: str
    default: float | int
    low: float | int
    high: float | int
    step: float | int
    help: str | None = None

    def nearest(self, given: object, fallback: Value) -> tuple[Value, str | None]:
        """The value nearest to what was given, fallback where nothing is near, and in words what was wrong, if
        anything."""
        takes = f"{self.low:g} to {self.high:g}"
        number = _decimal(given)
        if number is None:
            return fallback, f"is not a number: it takes {takes}"
        low, high, step = (Decimal(str(v)) for v in (self.low, self.high, self.step))
        if not low <= number <= high:
            value = self.at(self.low if number < low else self.high)
            return value, f"is outside {takes}"
        value = self.at(float(low + round((number - low) / step) * step))
        return value, None if Decimal(str(value)) == number else f"is between two steps of {self.step:g}"

    def at(self, value: float | int) -> Value:
        return int(value) if float(self.step).is_integer() and float(self.low).is_integer() else float(value)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several words; options maps the word in the address to the label on the page.

    empty is the word for "none chosen": it has no label, and choosing a label again goes back to it.
    """

    name: str
    label: str
    default: str
    options: Mapping[str, str]
    help: str | None = None
    empty: str | None = None

    def nearest(self, given: object, fallback: Value) -> tuple[Value, str | None]:
        if given is None and self.empty is not None:
            return self.empty, None
        words = {word.lower(): word for word in (*self.options, *filter(None, [self.empty]))}
        word = words.get(given.strip().lower()) if isinstance(given, str) else None
        return (fallback, f"is not one of {', '.join(words.values())}") if word is None else (word, None)


@dataclass(frozen=True, slots=True)
class Flag:
    """Something that is on or off."""

    name: str
    label: str
    default: bool = False
    help: str | None = None

    def nearest(self, given: object, fallback: Value) -> tuple[Value, str | None]:
        word = str(given).strip().lower()
        if word in ("on", "true", "1", "yes"):
            return True, None
        return (False, None) if word in ("off", "false", "0", "no") else (fallback, "is neither on nor off")


@dataclass(frozen=True, slots=True)
class Text:
    """A text; letters that cannot be shown are left out, and at most so many may be different."""

    name: str
    label: str
    default: str
    shortest: int
    longest: int
    different: int
    help: str | None = None

    def nearest(self, given: object, fallback: Value) -> tuple[Value, str | None]:
        text = "".join(c for c in given if c.isprintable()) if isinstance(given, str) else ""
        takes = f"it takes {self.shortest:,} to {self.longest:,} letters"
        if len(text) < self.shortest:
            return fallback, f"is too short: {takes}"
        kept = text[: self.longest]
        if len(set(kept)) > self.different:
            return fallback, f"has {len(set(kept))} different letters: it takes up to {self.different}"
        if len(text) > self.longest:
            return kept, f"is too long with {len(text):,} letters: {takes}, and what comes after was left out"
        return text, None if text == given else "holds letters that cannot be shown"


@dataclass(frozen=True, slots=True)
class Table:
    """Numbers in rows and columns, as rnnviz.own reads and writes them."""

    name: str
    label: str
    default: str
    help: str | None = None

    def nearest(self, given: object, fallback: Value) -> tuple[Value, str | None]:
        try:
            return own.write(own.table(given if isinstance(given, str) else "")), None
        except ValueError as error:
            return fallback, f"cannot be used: {error}"


Control = Number | Choice | Text | Flag | Table


def read(
    page: str, controls: Sequence[Control], scenes: Mapping[str, Settings], query: Mapping[str, Sequence[str]]
) -> tuple[Settings, list[str]]:
    """The view that a query asks for: a scene, and the controls that differ from it; the nearest valid one where it
    errs.

    query maps a name to all its values; names of other pages are passed over. Returns the settings and a line for each
    thing that was changed.
    """
    notices: list[str] = []
    version = list(query.get("v", [VERSION]))[-1]
    if version != VERSION:
        notices.append(f"This link has version {shown(version)}: it is read as version {VERSION}.")
    known = {f"{page}_scene", *(f"{page}_{control.name}" for control in controls)}
    for key in query:
        if key.startswith(f"{page}_") and key not in known:
            notices.append(f"{shown(key)} names nothing on this page: it was left out.")

    def last(name: str) -> str | None:
        values = query.get(f"{page}_{name}")
        if not values:
            return None
        if len(values) > 1:
            notices.append(f"{page}_{name} was given {len(values)} times: the last one counts.")
        return values[-1]

    first = next(iter(scenes))
    asked = last("scene")
    scene = first if asked is None else asked
    if scene not in scenes:
        notices.append(f"{page}_scene={short(scene)} is not one of {', '.join(scenes)}: now {first}.")
        scene = first
    settings = base(controls, scenes, scene)
    for control in controls:
        given = last(control.name)
        if given is None:
            continue
        value, why = control.nearest(given, settings[control.name])
        settings[control.name] = value
        if why is not None:
            notices.append(f"{page}_{control.name}={short(given)} {why}; now {short(_plain(value))}.")
    return settings, notices


def write(page: str, controls: Sequence[Control], scenes: Mapping[str, Settings], settings: Settings) -> dict[str, str]:
    """The shortest query that read() turns into these settings: the scene, and the controls that differ from it."""
    query: dict[str, str] = {}
    scene = str(settings["scene"])
    if scene != next(iter(scenes)):
        query[f"{page}_scene"] = scene
    start = base(controls, scenes, scene)
    for control in controls:
        if settings[control.name] != start[control.name]:
            query[f"{page}_{control.name}"] = _plain(settings[control.name])
    return {"v": VERSION, **query} if query else {}


def base(controls: Sequence[Control], scenes: Mapping[str, Settings], scene: str) -> Settings:
    """The settings of a scene: what it names, and the default of every other control."""
    settings: Settings = {"scene": scene}
    for control in controls:
        settings[control.name] = scenes[scene].get(control.name, control.default)
    return settings


def _decimal(given: object) -> Decimal | None:
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        return None
    text = given.strip() if isinstance(given, str) else repr(given)
    if len(text) > 400 or "_" in text:
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return None if number.is_nan() else number


def _plain(value: Value) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def plain(text: str) -> str:
    """A text as Markdown that shows it letter by letter: a link may hold anything, an address or a picture's too."""
    return re.sub(r"([\\`*_\[\]{}<>$~#|:@]|(?<=[^\W\d])\.(?=\w))", r"\\\1", text)


def short(text: str) -> str:
    """A text as a notice quotes it."""
    printable = "".join(c for c in text.replace("\n", " / ") if c.isprintable())
    return printable if len(printable) <= 40 else f"{printable[:37]}..."
