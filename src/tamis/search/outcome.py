"""What a search leaves behind: the layers, the boundaries, and every decision with its reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Decision:
    """One test: the target and the others it was tested with, given a set; and the verdict.

    ``strength`` is what the rule compared with ``threshold``; ``cmi`` is the information in nats.
    """

    target: int
    others: tuple[int, ...]
    given: tuple[int, ...]
    cmi: float
    strength: float
    threshold: float
    dependent: bool


@dataclass(frozen=True, slots=True)
class Boundary:
    """A node's Markov boundary in its ancestral set, with the steps that found it.

    ``taken`` are the candidates accepted, in order; ``refused`` the best of those left when
    the search stopped; ``removed`` what a backward phase took out again, and ``retained`` what
    it kept, each given all the others.
    """

    target: int
    members: tuple[int, ...]
    entropy: float
    taken: tuple[Decision, ...] = ()
    refused: Decision | None = None
    removed: tuple[Decision, ...] = ()
    retained: tuple[Decision, ...] = ()


class Found(NamedTuple):
    """What of a boundary is the answer."""

    members: tuple[int, ...]
    entropy: float


@dataclass(frozen=True, slots=True)
class Admission:
    """A node enters: in which round, its conditional entropy then, and the next in line."""

    node: int
    round: int
    entropy: float
    runner_up: int | None
    runner_up_entropy: float | None
    closest: Decision | None
    """The test that came nearest to masking it, if any was made."""


@dataclass(frozen=True, slots=True)
class Masking:
    """A node is kept out of a round's layer by the test that found it dependent."""

    node: int
    round: int
    entropy: float
    decision: Decision


class Uncertainties:
    """The conditional entropies of all nodes in each round, infinite for those admitted.

    A round changes few of them, so only what is not as in the round before is kept.
    """

    def __init__(self) -> None:
        self._last = np.zeros(0, dtype=np.float32)
        self._changes: list[tuple[NDArray[np.int32], NDArray[np.float32]]] = []

    def __len__(self) -> int:
        return len(self._changes)

    def append(self, entropies: NDArray[np.floating]) -> None:
        """The entropies of one more round."""
        fresh = entropies.astype(np.float32)
        if not self._changes:
            self._last = np.full_like(fresh, np.nan)  # all are new
        changed = np.flatnonzero(fresh != self._last)
        self._changes.append((changed.astype(np.int32), fresh[changed]))
        self._last = fresh

    def __iter__(self) -> Iterator[NDArray[np.float32]]:
        """Round by round; an array is overwritten when the next one is asked for."""
        now = np.empty_like(self._last)
        for nodes, entropies in self._changes:
            now[nodes] = entropies
            yield now


@dataclass
class Rounds:
    """Who entered in which round, and what was known then."""

    admissions: list[Admission] = field(default_factory=list)
    uncertainties: Uncertainties = field(default_factory=Uncertainties)


@dataclass
class Outcome:
    """The record of one search, filled layer by layer; where its answer is ``known``, the rest may
    be told later."""

    layers: list[list[int]] = field(default_factory=list)
    maskings: list[Masking] = field(default_factory=list)
    known: Mapping[int, Found] | None = None
    tell_strengths: Callable[[], list[float]] | None = None
    tell_boundaries: Callable[[], dict[int, Boundary]] = dict
    tell_rounds: Callable[[], Rounds] = Rounds

    @property
    def found(self) -> Mapping[int, Found]:
        """The answer for every node."""
        if self.known is not None:
            return self.known
        return {k: Found(one.members, one.entropy) for k, one in self.boundaries.items()}

    @property
    def strengths(self) -> list[float]:
        """How strongly each member of each boundary speaks given the others."""
        if self.tell_strengths is not None:
            return self.tell_strengths()
        return [
            decision.strength
            for one in self.boundaries.values()
            for decision in one.retained or one.taken
            if len(decision.others) == 1
        ]

    @cached_property
    def boundaries(self) -> dict[int, Boundary]:
        """The boundaries with every decision, worked out when they are first asked for."""
        return self.tell_boundaries()

    @cached_property
    def rounds(self) -> Rounds:
        """The rounds, worked out when they are first asked for."""
        return self.tell_rounds()
