"""What a check says of one condition: whether it holds, by how much, and who breaks it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tamis.information.inference import TooLarge

TOLERANCE = 1e-9
"""Entropies are exact to about 1e-12 nats; a strict inequality must hold by this many."""


class TooMany(Exception):  # noqa: N818 - it is caught, never seen
    """More quantities than a check is ready to compute; the message says how many of what."""


UNDECIDABLE = (TooLarge, TooMany)
"""What leaves a condition undecided."""


@dataclass(frozen=True)
class Violation:
    """Where a condition breaks, in words and in numbers; ``names`` are the nodes involved."""

    text: str
    names: tuple[str, ...]
    numbers: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, object]:
        """Convert it to what JSON can hold."""
        return {"text": self.text, "names": list(self.names), "numbers": dict(self.numbers)}


@dataclass(frozen=True, repr=False)
class Condition:
    """One condition of the paper on one network.

    ``holds`` is None where it could not be decided; ``undecided`` says what stood in the way.
    ``margin`` is the slack of the tightest inequality, negative where it is broken, and None
    where nothing was computed or there is nothing to be short of.
    """

    key: str
    title: str
    holds: bool | None
    margin: float | None
    sentence: str
    unit: str = "nats"
    violations: tuple[Violation, ...] = ()
    undecided: tuple[str, ...] = ()
    details: dict[str, object] = field(default_factory=dict)

    @property
    def word(self) -> str:
        """The verdict in a word."""
        return {True: "holds", False: "fails", None: "undecided"}[self.holds]

    def __repr__(self) -> str:
        margin = "" if self.margin is None else f", margin {self.margin:+.3g} {self.unit}"
        return f"<Condition {self.key}: {self.word}{margin}>"

    def __str__(self) -> str:
        return f"{self.title}: {self.word}. {self.sentence}"

    def to_dict(self) -> dict[str, object]:
        """Convert it to what JSON can hold."""
        return {
            "title": self.title,
            "holds": self.holds,
            "margin": self.margin,
            "unit": self.unit,
            "sentence": self.sentence,
            "violations": [violation.to_dict() for violation in self.violations],
            "undecided": list(self.undecided),
            "details": self.details,
        }


class Findings:
    """Gathers the inequalities of one condition, each with its slack."""

    def __init__(self, tolerance: float = TOLERANCE) -> None:
        self._tolerance = tolerance
        self.margin: float | None = None
        self.violations: list[tuple[float, Violation]] = []
        self.undecided: list[str] = []

    def add(self, slack: float, violation: Callable[[], Violation]) -> None:
        """One inequality; the violation is only put in words if there is one."""
        if self.margin is None or slack < self.margin:
            self.margin = slack
        if slack <= self._tolerance:
            self.violations.append((slack, violation()))

    def skip(self, what: str) -> None:
        """One inequality that could not be computed."""
        self.undecided.append(what)

    @property
    def holds(self) -> bool | None:
        """A violation settles it; without one, everything must have been seen."""
        if self.violations:
            return False
        return None if self.undecided else True

    def condition(
        self,
        key: str,
        title: str,
        *,
        good: str,
        bad: str,
        unit: str = "nats",
        details: dict[str, object] | None = None,
    ) -> Condition:
        """The verdict, with the sentence for the good or for the bad case."""
        worst_first = sorted(self.violations, key=lambda pair: pair[0])
        sentence = {
            True: good,
            False: bad,
            None: "Not decided: " + (self.undecided[0] if self.undecided else "nothing computed."),
        }[self.holds]
        return Condition(
            key,
            title,
            self.holds,
            self.margin,
            sentence,
            unit,
            tuple(violation for _, violation in worst_first),
            tuple(self.undecided),
            details or {},
        )
