"""The parents of a node among some candidates: PPS (Algorithm 2) and the backward phase of IAMB.

This is the one selector: the searches ask for the boundaries of all remaining nodes after every
layer (``boundaries``), the order search for the same node with thousands of slightly different
sets of candidates (``orders``). ``paper`` has the algorithms as printed; beyond them a selection
here can look ahead (``interactions``) and knows what is required and what is ruled out.

What has been counted is kept as rows (``cmi_rows``). Many selections go in step: each says what it
needs to know next, and one batch answers all of them. A selection also says which further
candidates would leave it as it is, so that most need not be made again.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

import numpy as np

from tamis.decisions.rule import Rule
from tamis.information.interface import Context, Group, Interaction, Query, Source, Tests
from tamis.search.cmi_rows import Best, CmiRows, Given, Row, WholeRow
from tamis.search.constraints import Constraints, as_bits
from tamis.search.interactions import Listed, listed, sets_to_try
from tamis.search.outcome import Boundary, Decision

SELECTED_BYTES = 2**28
"""Selections beyond this are made again when they are asked for again."""

Members = tuple[int, ...]
Asked = tuple[int, int]
"""A target and its candidates, one bit each: thousands of sets of them are kept."""
Test = tuple[Context, int]
"""One candidate, given a context."""
Judged = tuple[float, float]
"""The gain and the score of a test."""
Found = TypeVar("Found")


class Needs(NamedTuple):
    """What a selection waits for."""

    rows: tuple[Context, ...] = ()
    sets: tuple[Group, ...] = ()
    tests: tuple[Test, ...] = ()


class Step(NamedTuple):
    """One decision of a selection."""

    others: Members
    given: Given
    gain: float
    score: float
    bar: float
    dependent: bool


class Grown(NamedTuple):
    """The boundary that PPS has found, and what it hangs on."""

    members: Members
    rivals: int
    """Who was no candidate, and would have been taken before the next or in place of none: a bit
    each."""
    most: int
    """Among up to so many candidates, if no rival is one of them, it is the same."""
    by_set: bool
    """Whether several were taken together: how many candidates there are then weighs on sets of
    different sizes differently."""
    taken: list[Step]
    refused: Step | None


class Shrunk(NamedTuple):
    """What the backward phase has left of a boundary."""

    members: Members
    most: int
    """Among up to so many candidates all goes the same way."""
    removed: list[Step]
    retained: list[Step]


class Chosen(NamedTuple):
    """The parents chosen for a node, and what the choice hangs on (see ``Grown``)."""

    members: Members
    rivals: int
    most: int
    by_set: bool


class Selected(NamedTuple):
    """What is chosen, and how well the parents explain the node: a penalised likelihood."""

    chosen: Chosen
    score: float

    @property
    def members(self) -> Members:
        """The parents."""
        return self.chosen.members


class Selector:
    """Chooses parents, and remembers.

    ``inclusive`` lets a score that equals the bar pass, as the authors' program does. Required
    parents are members from the start, once all of them are candidates. ``lists`` rows where the
    same contexts are asked about very often.
    """

    def __init__(
        self,
        information: Source,
        rule: Rule,
        interactions: Sequence[Sequence[Interaction]] | None = None,
        *,
        backward: bool = True,
        max_boundary: int | None = None,
        constraints: Constraints | None = None,
        inclusive: bool = False,
        lists: bool = True,
    ) -> None:
        d = information.n_variables
        self._information = information
        self._rule = rule
        self._listed: list[Listed] = (
            [()] * d if interactions is None else [listed(one) for one in interactions]
        )
        self._backward = backward
        self._limit = d if max_boundary is None else max_boundary
        self._blocked = (0,) * d if constraints is None else constraints.blocked
        self._required = {} if constraints is None else constraints.required
        self._inclusive = inclusive
        self.constraints = constraints
        self.n_variables = d
        self.n_made = 0
        """The selections made so far."""
        self.rank: list[int] | None = None
        """Of candidates with the same gain the lowest rank is taken, by default the first."""
        self._mentioned = [as_bits(k for _, one in sets for k in one) for sets in self._listed]
        self._bars: list[float] = np.broadcast_to(rule.bar(np.arange(d + 1)), d + 1).tolist()
        self.rows = CmiRows(information, rule, lists=lists)
        self._sets: dict[Group, Judged] = {}
        self._tests: dict[Test, Judged] = {}
        self._scores: dict[Context, float] = {}
        self._selected: dict[Asked, Selected] = {}

    def select(self, target: int, candidates: int) -> Selected:
        """The parents of ``target`` among ``candidates``, one bit each."""
        known = self._selected.get((target, candidates))
        return self.select_all([(target, candidates)])[0] if known is None else known

    def select_all(self, asked: Sequence[Asked]) -> list[Selected]:
        """The parents of many, which are counted in batches."""
        fresh = [one for one in dict.fromkeys(asked) if one not in self._selected]
        if len(self._selected) * self._information.n_variables > 8 * SELECTED_BYTES:
            fresh = list(dict.fromkeys(asked))
            self._selected.clear()
        self.n_made += len(fresh)
        if fresh:
            chosen = self._in_step([self._chosen(*one) for one in fresh])
            contexts = [
                Context(target, tuple(sorted(members)))
                for (target, _), (members, *_) in zip(fresh, chosen, strict=True)
            ]
            self._know_scores(contexts)
            for one, context, found in zip(fresh, contexts, chosen, strict=True):
                self._selected[one] = Selected(found, self._scores[context])
        return [self._selected[one] for one in asked]

    def stays(self, target: int, one: Chosen, more: int, n_candidates: int) -> bool:
        """Whether a selection is the same among ``more`` candidates, one bit each, which makes so
        many of them.

        False also where that is not plain to see: sets that were refused stay so among more
        candidates, but one that was taken need not be the best any more.
        """
        return (
            n_candidates <= one.most
            and not one.rivals & more
            and not one.by_set
            and not self._mentioned[target] & more
            and not self._blocked[target]
        )

    def grow(self, asked: Sequence[Asked], limit: int | None = None) -> list[Grown]:
        """PPS alone, for many in step; boundaries of at most ``limit`` members."""
        most = self._limit if limit is None else min(limit, self._limit)
        return self._in_step([self._grown(*one, most) for one in asked])

    def concerns(self, target: int, one: Grown) -> int:
        """Whose arrival as a candidate may change a boundary, one bit each."""
        rivals = one.rivals | self._mentioned[target] | as_bits(self._required.get(target, ()))
        return rivals & ~self._blocked[target]

    def shrink(
        self,
        boundaries: Sequence[Boundary],
        n_candidates: Sequence[int],
        *,
        together: bool = False,
        grown: bool = True,
    ) -> list[Boundary]:
        """The backward phase on boundaries that were chosen from so many candidates, in step.

        The superfluous members leave one at a time, the weakest first, or ``together``, as the
        paper has it: of two that stand in for each other none is left then. A member of a
        ``grown`` boundary is judged on the way out as on the way in, as the best of those that are
        not among the other members; where the members are all candidates, each is one of so many.
        """
        shrunk = self._in_step(
            [
                self._shrunk(one.target, one.members, n, together, grown)
                for one, n in zip(boundaries, n_candidates, strict=True)
            ]
        )
        return [
            replace(
                one,
                members=left.members,
                removed=_told(one.target, left.removed),
                retained=_told(one.target, left.retained),
            )
            for one, left in zip(boundaries, shrunk, strict=True)
        ]

    def boundary(self, target: int, candidates: Sequence[int]) -> Boundary:
        """The parents with every decision."""
        (grown,) = self.grow([(target, as_bits(candidates))])
        found = self.told(target, grown)
        if not self._backward or len(grown.members) < 2:
            return found
        return self.shrink([found], [len(candidates)])[0]

    def boundary_of(
        self, target: int, candidates: Sequence[int], members: Sequence[int]
    ) -> Boundary:
        """Parents that were not selected but follow from the others' directions, each judged given
        the rest."""
        required = self._required.get(target, ())
        own = (*required, *(k for k in members if k not in required))
        bar = self._bars[max(len(candidates) - len(own) + 1, 0)]
        (judged,) = self._in_step([self._each_given_the_rest(target, own, bar)])
        retained = _told(target, [one for one in judged if one.dependent])
        return Boundary(target, own, self._entropy(target, own), retained=retained)

    def told(self, target: int, grown: Grown) -> Boundary:
        """A boundary that PPS has found, with its decisions."""
        refused = None if grown.refused is None else Decision(target, *grown.refused)
        entropy = self._entropy(target, grown.members)
        return Boundary(target, grown.members, entropy, _told(target, grown.taken), refused)

    def _entropy(self, target: int, members: Members) -> float:
        given = tuple(sorted(members))
        row = self.rows.of(target).get(given)
        if row is not None:
            return row.entropy
        return float(self._information.entropies([Context(target, given)])[0])

    def _in_step(self, selections: Sequence[Generator[Needs, None, Found]]) -> list[Found]:
        """Let all selections go on, and answer what they need in batches, until all have ended."""
        ended: dict[int, Found] = {}
        waiting = list(enumerate(selections))
        while waiting:
            contexts: list[Context] = []
            groups: list[Group] = []
            tests: list[Test] = []
            going_on = []
            for i, selection in waiting:
                try:
                    need = next(selection)
                except StopIteration as end:
                    ended[i] = end.value
                    continue
                going_on.append((i, selection))
                contexts += need.rows
                groups += need.sets
                tests += need.tests
            if contexts:
                self.rows.know(contexts)
            if groups:
                self._know_sets(groups)
            if tests:
                self._know_tests(tests)
            waiting = going_on
        return [ended[i] for i in range(len(selections))]

    def _chosen(self, target: int, candidates: int) -> Generator[Needs, None, Chosen]:
        """Algorithm 2, then the backward phase."""
        members, rivals, most, by_set, _, _ = yield from self._grown(
            target, candidates, self._limit
        )
        if self._backward and len(members) > 1:
            n_candidates = candidates.bit_count()
            members, also, _, _ = yield from self._shrunk(target, members, n_candidates)
            most = min(most, also)
        return Chosen(members, rivals, most, by_set)

    def _grown(self, target: int, candidates: int, limit: int) -> Generator[Needs, None, Grown]:
        """Algorithm 2."""
        n_candidates = candidates.bit_count()
        candidates &= ~self._blocked[target]
        members = self._required.get(target, ())
        if as_bits(members) & ~candidates:
            members = ()
        rivals, most, by_set = 0, self.n_variables, False
        taken: list[Step] = []
        refused = None
        while len(members) < min(limit, n_candidates):
            context = Context(target, tuple(sorted(members)))
            while (found := self._best(context, candidates)) is None:
                yield Needs(rows=(context,))
            row, best = found
            if best is None:
                break
            score = best.score
            if score is None:
                (score,) = yield from self._scores_of(context, (best.variable,))
            n_left = n_candidates - len(members)
            bar = self._bars[n_left]
            passes = score >= bar if self._inclusive else score > bar
            step = Step((best.variable,), context.given, best.gain, score, bar, passes)
            if passes:
                rivals |= row.before(best.place)
                most = min(most, self._passes_up_to(score) + len(members))
            else:
                together = yield from self._together(context, candidates, n_left, limit)
                if together is None:
                    rivals |= yield from self._would_pass(context, row, best.place, bar)
                    refused = step
                    break
                step, by_set = together, True
            members += step.others
            taken.append(step)
        if refused is None:
            most = n_candidates  # one more may make all the difference
        return Grown(members, rivals, most, by_set, taken, refused)

    def _best(self, context: Context, candidates: int) -> tuple[Row, Best | None] | None:
        """The row of a context and the best candidate in it, if they are known."""
        row = self.rows.of(context.target).get(context.given)
        if row is None:
            return None
        best = row.best(candidates, self.rank)
        return (row, best) if best is not None or row.is_whole else None

    def _passes_up_to(self, score: float) -> int:
        """The largest number of candidates the best of which passes with this score."""
        clears = bisect_right if self._inclusive else bisect_left
        return clears(self._bars, score) - 1

    def _would_pass(
        self, context: Context, row: Row, place: int, bar: float
    ) -> Generator[Needs, None, int]:
        """Of those before a place that has failed, who would pass; all, where it would take too
        long to say."""
        if isinstance(row, WholeRow):
            return row.before(place)
        before = row.variables[:place]
        scores = row.scores
        if scores is None:
            scores = yield from self._scores_of(context, before)
        inclusive = self._inclusive
        return as_bits(
            k
            for k, score in zip(before, scores, strict=False)
            if score > bar or (inclusive and score == bar)
        )

    def _scores_of(
        self, context: Context, variables: Sequence[int]
    ) -> Generator[Needs, None, list[float]]:
        """The scores of these variables, each tested alone."""
        tests = [(context, k) for k in variables]
        yield from self._tested(tests)
        return [self._tests[test][1] for test in tests]

    def _tested(self, tests: Sequence[Test]) -> Generator[Needs, None, None]:
        unknown = tuple(test for test in tests if test not in self._tests)
        if unknown:
            yield Needs(tests=unknown)

    def _together(
        self, context: Context, candidates: int, n_left: int, limit: int
    ) -> Generator[Needs, None, Step | None]:
        """The set to take where no single candidate passes: that which clears its bar by most, the
        first of equals; the bar is that of the best of all sets of its size."""
        target, given = context
        sets = sets_to_try(self._listed[target], candidates, given, limit)
        groups = [Group(target, given, members) for members in sets]
        unknown = tuple(group for group in groups if group not in self._sets)
        if unknown:
            yield Needs(sets=unknown)
        best: Step | None = None
        for group in groups:
            gain, score = self._sets[group]
            bar = float(self._rule.bar(math.comb(n_left, len(group.members))))
            if best is None or score - bar > best.score - best.bar:
                passes = score >= bar if self._inclusive else score > bar
                best = Step(group.members, given, gain, score, bar, passes)
        return best if best is not None and best.dependent else None

    def _shrunk(
        self,
        target: int,
        members: Members,
        n_candidates: int,
        together: bool = False,
        grown: bool = True,
    ) -> Generator[Needs, None, Shrunk]:
        """Algorithm alg:iamb (see ``shrink``)."""
        required = self._required.get(target, ())
        most = self.n_variables
        removed: list[Step] = []
        retained: list[Step] = []
        while members:
            bar = self._bars[n_candidates - len(members) + 1 if grown else n_candidates]
            judged = yield from self._each_given_the_rest(target, members, bar)
            retained = [one for one in judged if one.dependent]
            for one in retained:
                if one.others[0] not in required:
                    most = min(most, bisect_right(self._bars, one.score) - 2 + len(members))
            superfluous = [
                one for one in judged if not one.dependent and one.others[0] not in required
            ]
            if not superfluous:
                break
            leaving = superfluous if together else [min(superfluous, key=_strength)]
            removed += leaving
            gone = {one.others[0] for one in leaving}
            members = tuple(k for k in members if k not in gone)
            if together:
                break
        return Shrunk(members, most, removed, retained)

    def _each_given_the_rest(
        self, target: int, members: Members, bar: float
    ) -> Generator[Needs, None, list[Step]]:
        """Each member against the target, given all the other members."""
        ordered = sorted(members)
        tests = [(Context(target, tuple(m for m in ordered if m != k)), k) for k in members]
        yield from self._tested(tests)
        steps = []
        for context, k in tests:
            gain, score = self._tests[context, k]
            steps.append(Step((k,), context.given, gain, score, bar, score >= bar))
        return steps

    def _know_sets(self, groups: Sequence[Group]) -> None:
        fresh = list(dict.fromkeys(groups))
        self._sets.update(
            zip(fresh, self._judge(self._information.joint_tests(fresh)), strict=True)
        )

    def _know_tests(self, tests: Sequence[Test]) -> None:
        """Whole rows would tell the same and more, but few of them are read again."""
        fresh = list(dict.fromkeys(tests))
        queries = [Query(*context, np.array([k], dtype=np.int64)) for context, k in fresh]
        judged = self._judge(self._information.tests(queries))
        self._tests.update(zip(fresh, judged, strict=True))

    def _judge(self, evidence: Tests) -> list[Judged]:
        scores = self._rule.scores(evidence).tolist()
        return list(zip(evidence.cmi.tolist(), scores, strict=True))

    def _know_scores(self, contexts: Sequence[Context]) -> None:
        fresh = [one for one in dict.fromkeys(contexts) if one not in self._scores]
        if fresh:
            scores = self._information.penalised_likelihoods(fresh).tolist()
            self._scores.update(zip(fresh, scores, strict=True))


def _told(target: int, steps: Sequence[Step]) -> tuple[Decision, ...]:
    return tuple(Decision(target, *step) for step in steps)


def _strength(step: Step) -> tuple[float, float, int]:
    return step.gain, step.score, step.others[0]


def total(selected: Sequence[Selected]) -> float:
    """The score of several nodes together, whatever their order."""
    return math.fsum(one.score for one in selected)
