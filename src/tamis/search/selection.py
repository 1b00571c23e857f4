"""The parents of a node among some candidates: PPS (``pps``) and the backward phase of IAMB.

This is the one selector: the searches ask for the boundaries of all remaining nodes after every
layer (``boundaries``), the order search for the same node with thousands of slightly different
sets of candidates (``orders``). What was counted and what was selected is remembered, and a
selection says which further candidates would leave it as it is, so that most need not be made
again.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tamis.constants import constants
from tamis.information.interface import Context, Group, Source
from tamis.knowledge import as_bits
from tamis.search.outcome import Boundary, Decision
from tamis.search.pps import PPS, Asked, Members
from tamis.settings import Settings

__all__ = ["Asked", "Selected", "Selector", "total"]

SELECTED_BYTES = 2**28
"""Selections beyond this are made again when they are asked for again."""


class Selected(NamedTuple):
    """The parents of a node, how well they explain it (a penalised likelihood), and what the choice
    hangs on (see ``Paths``)."""

    members: Members
    score: float
    rivals: int
    most: int
    by_set: bool


@dataclass(slots=True)
class Blanket:
    """A node's Markov blanket while it is being shrunk.

    ``n_candidates`` is the number the members were chosen from. ``removed`` holds the tests that
    took members out; ``retained`` those that kept the rest, given what was there when they were
    judged last.
    """

    target: int
    members: Members
    n_candidates: int
    most: int
    """The number of candidates up to which all goes the same way."""
    removed: list[Decision] = field(default_factory=list)
    retained: list[Decision] = field(default_factory=list)


class Selector:
    """Chooses parents by PPS and, unless told not to, the backward phase; and remembers."""

    def __init__(self, pps: PPS, *, backward: bool = True) -> None:
        self.pps = pps
        self._backward = backward
        self._thresholds: list[float] = self.pps.thresholds.tolist()
        self.n_variables = pps.information.n_variables
        self.n_made = 0
        """The selections made so far."""
        self._least: dict[tuple[int, frozenset[int]], float] = {}
        """The smallest strength of a member, required ones aside, given the others."""
        self._selected: dict[Asked, Selected] = {}

    @classmethod
    def of(
        cls, information: Source, settings: Settings, ahead: Collection[int], *, often: bool = True
    ) -> Selector:
        """The selector that the settings ask for, looking ahead, if they do, at these targets.

        ``often`` says that the same contexts will be asked about with many sets of candidates.
        """
        interactions, largest = None, settings.look_ahead or 1
        if largest > 1 and settings.boundary == "pps":
            known = information.interactions(largest)
            interactions = [one if k in ahead else () for k, one in enumerate(known)]
        pps = PPS(
            information,
            settings.boundary_rule,
            interactions,
            max_boundary=settings.max_boundary,
            constraints=settings.constraints,
            inclusive=settings.is_reference,
            ordered=often,
        )
        return cls(pps, backward=settings.backward != "none")

    @property
    def affordable(self) -> int:
        """How many selections may be made before no new start is tried."""
        most = constants.selections_per_pair * self.n_variables**2
        rows = self.pps.information.rows_read
        return most if rows == 0 else min(most, int(constants.rows_for_selections / (rows + 8000)))

    def select(self, target: int, candidates: int) -> Selected:
        """The parents of ``target`` among ``candidates``, one bit each."""
        known = self._selected.get((target, candidates))
        return self.select_all([(target, candidates)])[0] if known is None else known

    def select_all(self, asked: Sequence[Asked]) -> list[Selected]:
        """The parents of many, which are counted in batches."""
        fresh = [one for one in dict.fromkeys(asked) if one not in self._selected]
        if len(self._selected) * self.n_variables > 8 * SELECTED_BYTES:
            fresh = list(dict.fromkeys(asked))
            self._selected.clear()
        self.n_made += len(fresh)
        if fresh:
            self._selected.update(zip(fresh, self._choose(fresh), strict=True))
        return [self._selected[one] for one in asked]

    def stays(self, target: int, one: Selected, more: int, n_candidates: int) -> bool:
        """Whether a selection is the same with ``more`` candidates, one bit each, who are
        ``n_candidates`` then.

        False also where that is not plain to see: sets that were refused stay so among more
        candidates, but one that was taken need not be the best any more.
        """
        return (
            n_candidates <= one.most
            and not one.rivals & more
            and not one.by_set
            and not self.pps.mentioned[target] & more
            and not self.pps.blocked[target]
        )

    def boundary(self, target: int, candidates: Sequence[int]) -> Boundary:
        """The parents with every decision."""
        found = self.pps.boundary(self.pps.grow([(target, as_bits(candidates))]), 0)
        if not self._backward or len(found.members) < 2:
            return found
        return self.shrink([found], [len(candidates)])[0]

    def boundary_of(
        self, target: int, candidates: Sequence[int], members: Sequence[int]
    ) -> Boundary:
        """Parents that were not selected but follow from the others' directions, each judged given
        the rest."""
        required = self.pps.required.get(target, ())
        own = (*required, *(k for k in members if k not in required))
        blanket = Blanket(target, own, len(candidates), self.n_variables)
        (verdicts,) = self._verdicts([blanket], grown=True)
        entropy = self.pps.entropy(Context(target, tuple(sorted(own))))
        retained = tuple(one for one in verdicts if one.dependent)
        return Boundary(target, own, entropy, retained=retained)

    def shrink(
        self,
        boundaries: Sequence[Boundary],
        n_candidates: Sequence[int],
        *,
        together: bool = False,
        grown: bool = True,
    ) -> list[Boundary]:
        """The backward phase on boundaries, each chosen from a number of candidates.

        The superfluous members leave one at a time, the weakest first, or ``together``, as the
        paper has it: of two that stand in for each other none is left then. A member of a
        ``grown`` boundary is judged on the way out as on the way in, as the best of those that are
        not among the other members; where the members are all candidates, each is one of them all.
        """
        blankets = [
            Blanket(one.target, one.members, n, self.n_variables)
            for one, n in zip(boundaries, n_candidates, strict=True)
        ]
        self._shrink(blankets, together=together, grown=grown)
        return [
            replace(
                one,
                members=left.members,
                removed=tuple(left.removed),
                retained=tuple(left.retained),
            )
            for one, left in zip(boundaries, blankets, strict=True)
        ]

    def _choose(self, asked: Sequence[Asked]) -> list[Selected]:
        """PPS, then the backward phase."""
        paths = self.pps.grow(asked)
        members = zip(paths.path.tolist(), paths.depths.tolist(), strict=True)
        blankets = [
            Blanket(target, tuple(own[:n]), candidates.bit_count(), most)
            for (target, candidates), (own, n), most in zip(
                asked, members, paths.most.tolist(), strict=True
            )
        ]
        if self._backward:
            several = [o for o in blankets if len(o.members) > 1 and not self._stands(o)]
            self._shrink(several, together=False, grown=True)
        contexts = [Context(one.target, tuple(sorted(one.members))) for one in blankets]
        scores = self.pps.information.penalised_likelihoods(contexts).tolist()
        rivals = [int.from_bytes(own.tobytes(), "little") for own in paths.rivals]
        return [
            Selected(one.members, scores[i], rivals[i], one.most, i in paths.sets)
            for i, one in enumerate(blankets)
        ]

    def _stands(self, blanket: Blanket) -> bool:
        """Whether these members were judged before, and all are needed among this number of
        candidates too."""
        least = self._least.get((blanket.target, frozenset(blanket.members)))
        n = len(blanket.members)
        if least is None or least < self._thresholds[blanket.n_candidates - n + 1]:
            return False
        blanket.most = min(blanket.most, bisect_right(self._thresholds, least) - 2 + n)
        return True

    def _shrink(self, blankets: Sequence[Blanket], *, together: bool, grown: bool) -> None:
        """Algorithm alg:iamb on several nodes in step, so that their tests come in one batch."""
        unfinished = [one for one in blankets if one.members]
        while unfinished:
            changed = []
            verdicts = self._verdicts(unfinished, grown=grown)
            for blanket, found in zip(unfinished, verdicts, strict=True):
                if self._take_out(blanket, found, together) and blanket.members and not together:
                    changed.append(blanket)
            unfinished = changed

    def _verdicts(self, blankets: Sequence[Blanket], *, grown: bool) -> list[list[Decision]]:
        """Each member of each blanket against its target, given all the other members."""
        tests = [_each_given_the_rest(one) for one in blankets]
        self.pps.judge([test for own in tests for test in own])
        verdicts = []
        for blanket, own in zip(blankets, tests, strict=True):
            n = blanket.n_candidates - len(blanket.members) + 1 if grown else blanket.n_candidates
            threshold = self._thresholds[n]
            found = []
            for test in own:
                target, given, other = test
                cmi, strength = self.pps.judged[test]
                passes = strength >= threshold
                found.append(Decision(target, other, given, cmi, strength, threshold, passes))
            verdicts.append(found)
        return verdicts

    def _take_out(self, blanket: Blanket, verdicts: Sequence[Decision], together: bool) -> bool:
        """Remove what the verdicts make superfluous, the weakest or all; say whether anything
        was."""
        required = self.pps.required.get(blanket.target, ())
        blanket.retained = [one for one in verdicts if one.dependent]
        own = [one for one in verdicts if one.others[0] not in required]
        needed = min((one.strength for one in own if one.dependent), default=math.inf)
        up_to = bisect_right(self._thresholds, needed) - 2 + len(blanket.members)
        blanket.most = min(blanket.most, up_to)
        superfluous = [one for one in own if not one.dependent]
        least = min((one.strength for one in superfluous), default=needed)
        self._least[blanket.target, frozenset(blanket.members)] = least
        if not superfluous:
            return False
        leaving = superfluous if together else [min(superfluous, key=_strength)]
        blanket.removed += leaving
        gone = {verdict.others[0] for verdict in leaving}
        blanket.members = tuple(k for k in blanket.members if k not in gone)
        return True


def _each_given_the_rest(blanket: Blanket) -> list[Group]:
    ordered = tuple(sorted(blanket.members))
    rest = {k: ordered[:i] + ordered[i + 1 :] for i, k in enumerate(ordered)}
    return [Group(blanket.target, rest[k], (k,)) for k in blanket.members]


def _strength(verdict: Decision) -> tuple[float, float, int]:
    return verdict.cmi, verdict.strength, verdict.others[0]


def total(selected: Sequence[Selected]) -> float:
    """The score of several nodes together, whatever their order."""
    return math.fsum(one.score for one in selected)
