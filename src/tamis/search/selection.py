"""The parents of a node among some candidates: PPS (``pps``) and the backward phase of IAMB.

The searches ask for the boundaries of all remaining nodes after every layer (``boundaries``), and
every boundary of a result is made here, with its decisions. The order search, which wants only
members and scores, thousands of times, goes the same steps by the same rules in ``parents``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from operator import or_

from tamis.decisions.p_values import PValue
from tamis.decisions.rule import Rule
from tamis.information.interface import Context, Group, Source
from tamis.information.wrappers import RememberedInformation
from tamis.knowledge import as_bits
from tamis.search.cmi_rows import MOST_SLOTS, CmiRows
from tamis.search.outcome import Boundary, Decision, Found
from tamis.search.pps import PPS, Asked, Members
from tamis.settings import Settings

__all__ = ["Asked", "Selector"]

SIDE_BY_SIDE = 64
"""Boundaries along an order that are grown together."""


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
    removed: list[Decision] = field(default_factory=list)
    retained: list[Decision] = field(default_factory=list)


class Selector:
    """Chooses parents by PPS and, unless told not to, the backward phase."""

    def __init__(self, pps: PPS, *, backward: bool = True) -> None:
        self.pps = pps
        self.backward = backward
        self._thresholds: list[float] = self.pps.thresholds.tolist()
        self.n_variables = pps.information.n_variables

    @classmethod
    def of(cls, information: Source, settings: Settings) -> Selector:
        """The selector that the settings ask for."""
        interactions, largest = None, settings.look_ahead or 1
        if largest > 1 and settings.boundary == "pps":
            interactions = information.interactions(largest)
        pps = PPS(
            information,
            settings.boundary_rule,
            interactions,
            max_boundary=settings.max_boundary,
            constraints=settings.constraints,
            inclusive=settings.is_reference,
            rows=_rows(information, settings.boundary_rule),
        )
        return cls(pps, backward=settings.backward != "none")

    def boundary(self, target: int, candidates: Sequence[int]) -> Boundary:
        """The parents with every decision."""
        return self.boundaries([(target, as_bits(candidates))])[0]

    def boundaries(self, asked: Sequence[Asked]) -> list[Boundary]:
        """The parents of several targets, each among candidates of its own, in step."""
        paths = self.pps.grow(asked)
        found = [self.pps.boundary(paths, i) for i in range(len(asked))]
        large = [i for i, one in enumerate(found) if self.backward and len(one.members) > 1]
        sizes = [asked[i][1].bit_count() for i in large]
        for i, one in zip(large, self.shrink([found[i] for i in large], sizes), strict=True):
            found[i] = one
        return found

    def boundaries_along(
        self, order: Sequence[int], constant: Sequence[int]
    ) -> dict[int, Boundary]:
        """The parents of every node among those before it, and of constant columns, which have
        none; of wide tables there is no room for the rows of all."""
        before = accumulate((1 << k for k in order), or_, initial=0)
        asked = [*((k, 0) for k in constant), *zip(order, before, strict=False)]
        found: dict[int, Boundary] = {}
        for start in range(0, len(asked), SIDE_BY_SIDE):
            for one in self.boundaries(asked[start : start + SIDE_BY_SIDE]):
                found[one.target] = one
                self.pps.rows.forget(one.target)
        return found

    def boundary_of(self, target: int, n_candidates: int, members: Sequence[int]) -> Boundary:
        """Parents that were not selected but follow from the others' directions, each judged given
        the rest."""
        required = self.pps.required.get(target, ())
        own = (*required, *(k for k in members if k not in required))
        blanket = Blanket(target, own, n_candidates)
        (verdicts,) = self._verdicts([blanket], grown=True)
        entropy = self.pps.entropy(Context(target, tuple(sorted(own))))
        retained = tuple(one for one in verdicts if one.dependent)
        return Boundary(target, own, entropy, retained=retained)

    def strengths(self, order: Sequence[int], found: Mapping[int, Found]) -> list[float]:
        """How strongly members of boundaries along an order speak given the others, if they pass:
        those whose own tests go the other way are not kept."""
        blankets = [Blanket(k, found[k].members, n) for n, k in enumerate(order)]
        verdicts = self._verdicts(blankets, grown=True)
        return [one.strength for own in verdicts for one in own if one.dependent]

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
            Blanket(one.target, one.members, n)
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
        tests = [each_given_the_rest(one.target, one.members) for one in blankets]
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
        superfluous = [one for one in own if not one.dependent]
        if not superfluous:
            return False
        leaving = superfluous if together else [min(superfluous, key=_strength)]
        blanket.removed += leaving
        gone = {verdict.others[0] for verdict in leaving}
        blanket.members = tuple(k for k in blanket.members if k not in gone)
        return True


def _rows(information: Source, rule: Rule) -> CmiRows | None:
    """The rows that all selections by a rule share where several searches go over the same table
    of few columns; the rows of one rule are kept."""
    if not isinstance(information, RememberedInformation) or information.n_variables > MOST_SLOTS:
        return None
    known, rows = information.selected or (None, None)
    if not isinstance(rows, CmiRows) or not (rule is known or _are_alike(rule, known)):
        # Rules from outside may compare in ways of their own.
        rows = CmiRows(information, shared=True)
        information.selected = rule, rows
    return rows


def _are_alike(rule: Rule, other: object) -> bool:
    return isinstance(rule, PValue) and rule == other


def each_given_the_rest(target: int, members: Members) -> list[Group]:
    """Each member against the target, given all the other members."""
    ordered = tuple(sorted(members))
    rest = {k: ordered[:i] + ordered[i + 1 :] for i, k in enumerate(ordered)}
    return [Group(target, rest[k], (k,)) for k in members]


def _strength(verdict: Decision) -> tuple[float, float, int]:
    return verdict.cmi, verdict.strength, verdict.others[0]
