"""What a kind of case is, and what may happen in one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TypeVar

from tamis.errors import TamisError

T = TypeVar("T")


class BrokenError(AssertionError):
    """tamis did what it must not do."""


@dataclass
class Case:
    """One case: its random numbers, the empty folder that it runs in, and what it has tried."""

    rng: Random
    folder: Path
    tried: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)

    def tries(self, text: str) -> None:
        """Note what is tried, to be shown if it fails, or if the process does not survive it."""
        self.tried.append(text)
        print(ascii(text), flush=True)

    def answer(self, call: Callable[[], T]) -> T | None:
        """What a call returns, or None where tamis refuses; all other exceptions are failures."""
        try:
            return call()
        except TamisError as error:
            said = str(error)
            if not said.strip():
                raise BrokenError(f"a {type(error).__name__} that says nothing") from error
            self.refusals.append(said)
            return None

    def chance(self, share: float) -> bool:
        """True in this share of cases."""
        return self.rng.random() < share


def require(holds: bool, otherwise: str) -> None:
    """Fail with a sentence."""
    if not holds:
        raise BrokenError(otherwise)
