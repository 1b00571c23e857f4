"""The parents of a node among any candidates: PPS and the backward phase, many times over.

``pps`` and ``iamb`` say what is computed; this is the same for searches that ask for the same
node with thousands of slightly different sets of candidates. What has been counted is kept as a
tree for each node: a row holds the largest gains given the members taken so far, best first, so
that a step is a walk to the first one that is a candidate. Many selections go in step: each says
what it needs to know next, and one batch answers all of them. A selection also says which further
candidates would leave it as it is, so that most need not be made again.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Generator, Sequence
from typing import NamedTuple

import numpy as np

from tamis.decisions.rule import Rule
from tamis.information.interface import (
    Context,
    Group,
    Interaction,
    Query,
    Source,
)
from tamis.search.constraints import Constraints
from tamis.search.iamb import Blanket, shrink
from tamis.search.listed_rows import ListedRows, Row
from tamis.search.outcome import Boundary
from tamis.search.pps import (
    Judged,
    Listed,
    as_bits,
    best_set,
    judge_sets,
    listed,
    possible_parents,
    sets_to_try,
)

SELECTED_BYTES = 2**28
"""Selections beyond this are made again when they are asked for again."""

Members = tuple[int, ...]
Asked = tuple[int, int]
"""A target and its candidates, one bit each: thousands of sets of them are kept."""
Test = tuple[Context, int]
"""One candidate, given a context."""


class Needs(NamedTuple):
    """What a selection waits for."""

    rows: tuple[Context, ...] = ()
    """Rows of gains; all of a row if it is there in part."""
    sets: tuple[Group, ...] = ()
    tests: tuple[Test, ...] = ()


class Chosen(NamedTuple):
    """The parents chosen for a node, and what the choice hangs on."""

    members: Members
    rivals: int
    """Who was no candidate, and would have been taken before the next or in place of none: a bit
    each."""
    most: int
    """Among up to so many candidates, if no rival is one of them, the choice is the same."""
    by_set: bool
    """Whether several were taken together: how many candidates there are then weighs on sets of
    different sizes differently."""


class Selected(NamedTuple):
    """What is chosen, and how well the parents explain the node: a penalised likelihood."""

    chosen: Chosen
    score: float

    @property
    def members(self) -> Members:
        """The parents."""
        return self.chosen.members


class Selector:
    """Chooses parents as ``possible_parents`` and ``shrink`` do, and remembers."""

    def __init__(
        self,
        information: Source,
        rule: Rule,
        interactions: Sequence[Sequence[Interaction]] | None = None,
        *,
        backward: bool = True,
        max_boundary: int | None = None,
        constraints: Constraints | None = None,
    ) -> None:
        d = information.n_variables
        self._information = information
        self._rule = rule
        self._interactions = [()] * d if interactions is None else interactions
        self._listed: list[Listed] = [listed(one) for one in self._interactions]
        self._backward = backward
        self._max_boundary = max_boundary
        self._blocked = (0,) * d if constraints is None else constraints.blocked
        self._required = {} if constraints is None else constraints.required
        self.constraints = constraints
        self.n_variables = d
        self.n_made = 0
        """The selections made so far."""
        self._mentioned = [as_bits(k for _, one in sets for k in one) for sets in self._listed]
        self._bars: list[float] = np.broadcast_to(rule.bar(np.arange(d + 1)), d + 1).tolist()
        self._rows = ListedRows(information, rule)
        self._sets: dict[Group, Judged] = {}
        self._tests: dict[Test, Judged] = {}
        self._scores: dict[Context, float] = {}
        self._selected: dict[Asked, Selected] = {}

    def select(self, target: int, candidates: int) -> Selected:
        """The parents of ``target`` among ``candidates``, one bit each."""
        known = self._selected.get((target, candidates))
        return self.select_all([(target, candidates)])[0] if known is None else known

    def select_all(self, asked: Sequence[Asked]) -> list[Selected]:
        """The same for many, which are counted in batches."""
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

    def boundary(self, target: int, candidates: Sequence[int]) -> Boundary:
        """The same with every decision, as the paper's procedures make them."""
        grown = possible_parents(
            self._information,
            target,
            sorted(candidates),
            self._rule,
            max_boundary=self._max_boundary,
            interactions=self._interactions[target],
            required=self._required.get(target, ()),
            blocked=self._blocked[target],
        )
        if not self._backward or len(grown.members) < 2:
            return grown
        required = self._required.get(target, ())
        blanket = Blanket(target, grown.members, len(candidates), required)
        shrink(self._information, [blanket], self._rule, together=False, inclusive=True)
        return Boundary(
            target,
            tuple(blanket.members),
            grown.entropy,
            grown.taken,
            grown.refused,
            tuple(blanket.removed),
            tuple(blanket.retained),
        )

    def boundary_of(
        self, target: int, candidates: Sequence[int], members: Sequence[int]
    ) -> Boundary:
        """Parents that were not selected but follow from the others' directions, each judged given
        the rest."""
        required = self._required.get(target, ())
        own = (*required, *(k for k in members if k not in required))
        blanket = Blanket(target, own, len(candidates), own)
        shrink(self._information, [blanket], self._rule, together=False, inclusive=True)
        entropy = self._information.entropies([Context(target, tuple(sorted(own)))])
        return Boundary(target, own, float(entropy[0]), retained=tuple(blanket.retained))

    def _in_step(self, selections: Sequence[Generator[Needs, None, Chosen]]) -> list[Chosen]:
        """Let all selections go on, and answer what they need in batches, until all have ended."""
        ended: dict[int, Chosen] = {}
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
            self._rows.know(contexts)
            self._know_sets(groups)
            self._know_tests(tests)
            waiting = going_on
        return [ended[i] for i in range(len(selections))]

    def _chosen(self, target: int, candidates: int) -> Generator[Needs, None, Chosen]:
        """Algorithm 2, then the backward phase."""
        n_candidates = candidates.bit_count()
        ruled_out = candidates & self._blocked[target]
        candidates &= ~ruled_out
        limit = n_candidates if self._max_boundary is None else self._max_boundary
        members: Members = self._required.get(target, ())
        refused = False
        rivals = 0
        by_set = False
        most = self._information.n_variables
        while len(members) < limit:
            context = Context(target, tuple(sorted(members)))
            row, place = yield from self._first(context, candidates)
            if place is None:
                break
            best, score = row.best_first[place], self._rows.score(context, row, place)
            n_left = n_candidates - len(members)
            if score > self._bars[n_left]:
                rivals |= as_bits(row.best_first[:place])
                most = min(most, bisect_left(self._bars, score) - 1 + len(members))
                members += (best,)
                continue
            together = yield from self._together(context, candidates, n_left, limit)
            if together is None:
                rivals |= self._would_pass(context, row, place, self._bars[n_left])
                refused = True
                break
            members += together
            by_set = True
        if not refused or ruled_out:
            most = n_candidates  # one more may make all the difference
        if self._backward and len(members) > 1:
            members, shrinks_to = yield from self._shrunk(target, members, n_candidates)
            most = min(most, shrinks_to)
        return Chosen(members, rivals, most, by_set)

    def _would_pass(self, context: Context, row: Row, place: int, bar: float) -> int:
        """Of those before a place that has failed, who would pass."""
        return as_bits(
            k
            for i, k in enumerate(row.best_first[:place])
            if self._rows.score(context, row, i) > bar
        )

    def _first(
        self, context: Context, candidates: int
    ) -> Generator[Needs, None, tuple[Row, int | None]]:
        """The row of a context and the place of the first candidate in it."""
        row = self._rows.get(context)
        place = None if row is None else row.place(candidates)
        if row is None or (place is None and not row.is_whole):
            yield Needs(rows=(context,))
            return (yield from self._first(context, candidates))
        return row, place

    def _together(
        self, context: Context, candidates: int, n_left: int, limit: int
    ) -> Generator[Needs, None, Members | None]:
        """The set to take where no single candidate passes."""
        target, given = context
        sets = sets_to_try(self._listed[target], candidates, given, limit)
        if not sets:
            return None
        groups = [Group(target, given, members) for members in sets]
        unknown = tuple(group for group in groups if group not in self._sets)
        if unknown:
            yield Needs(sets=unknown)
        judged = [self._sets[group] for group in groups]
        best = best_set(target, sets, judged, given, self._rule, n_left, False)
        return best.others if best is not None and best.dependent else None

    def _shrunk(
        self, target: int, members: Members, n_candidates: int
    ) -> Generator[Needs, None, tuple[Members, int]]:
        """Algorithm alg:iamb, one member at a time: of those that are superfluous, the weakest.

        Also the largest number of candidates with which all goes the same way.
        """
        required = self._required.get(target, ())
        most = self._information.n_variables
        while members:
            bar = self._bars[n_candidates - len(members) + 1]
            superfluous = []
            tests = [
                (Context(target, tuple(sorted(set(members) - {k}))), k)
                for k in members
                if k not in required
            ]
            unknown = tuple(test for test in tests if test not in self._tests)
            if unknown:
                yield Needs(tests=unknown)
            for test in tests:
                gain, score = self._tests[test]
                if score < bar:
                    superfluous.append((gain, score, test[1]))
                else:
                    most = min(most, bisect_right(self._bars, score) - 2 + len(members))
            if not superfluous:
                break
            weakest = min(superfluous)[2]
            members = tuple(k for k in members if k != weakest)
        return members, most

    def _know_sets(self, groups: Sequence[Group]) -> None:
        fresh = [one for one in dict.fromkeys(groups) if one not in self._sets]
        if fresh:
            judged = judge_sets(self._information, fresh, self._rule)
            self._sets.update(zip(fresh, judged, strict=True))

    def _know_tests(self, tests: Sequence[Test]) -> None:
        """Whole rows would tell the same and more, but few of them are read again."""
        fresh = list(dict.fromkeys(tests))
        if fresh:
            queries = [Query(*context, np.array([k], dtype=np.int64)) for context, k in fresh]
            evidence = self._information.tests(queries)
            judged = zip(evidence.cmi.tolist(), self._rule.scores(evidence).tolist(), strict=True)
            self._tests.update(zip(fresh, judged, strict=True))

    def _know_scores(self, contexts: Sequence[Context]) -> None:
        fresh = [one for one in dict.fromkeys(contexts) if one not in self._scores]
        if fresh:
            scores = self._information.penalised_likelihoods(fresh).tolist()
            self._scores.update(zip(fresh, scores, strict=True))


def total(selected: Sequence[Selected]) -> float:
    """The score of several nodes together, whatever their order."""
    return math.fsum(one.score for one in selected)
