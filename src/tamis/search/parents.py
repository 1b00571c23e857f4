"""The parents of nodes among thousands of slightly different sets of candidates.

The order search (``orders``) asks for the same node again and again. What was counted and what was
selected is remembered, and a selection says which further candidates would leave it as it is, so
that most need not be made again. The steps and rules are those of ``pps`` and ``selection``, one
node at a time and without the decisions; a property test holds the two to one oracle. A selection
goes along rows that have been counted. Where something is missing it is given up, and made again
once that, and what others miss, has been counted in one batch.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tamis.constants import constants
from tamis.counting.compiled import Ints
from tamis.information.interface import Context, Group, Profiles, Query
from tamis.knowledge import as_bits
from tamis.search.cmi_rows import exclude, in_parts
from tamis.search.selection import Asked, Selector

SELECTED_BYTES = 2**28
"""Selections beyond this are made again when they are asked for again."""
SHORT = 128
"""As many candidates of a row are listed at first, the best."""
WHOLE = 128
"""With more variables only those strengths are kept that are asked for."""


class Selected(NamedTuple):
    """The parents of a node, how well they explain it (a penalised likelihood), and what the choice
    hangs on: who was no candidate and would change it, a bit each, the number of candidates up to
    which it is the same, and whether several were taken together."""

    members: tuple[int, ...]
    score: float
    rivals: int
    most: int
    by_set: bool


class Family(NamedTuple):
    """A target with some members: each member's cmi and strength given the others, the smallest
    strength of one that may leave, and the score."""

    members: tuple[tuple[float, float, int], ...]
    least: float
    score: float


class Row:
    """The other nodes by their cmi with a target given some, the largest first, and what was found
    out about them: their strengths, and the rows that follow when they are taken."""

    __slots__ = ("_all", "context", "family", "following", "listed", "strengths")

    def __init__(self, context: Context, falling: Ints, strengths: dict[int, float]) -> None:
        self.context = context
        self._all = falling
        self.listed: list[int] = falling[:SHORT].tolist()
        self.strengths = strengths
        self.following: dict[int, Row] = {}
        self.family: Family | None = None

    def first(self, candidates: int) -> int:
        """Where the best of the candidates, one bit each, is listed; -1 if none is."""
        for place, k in enumerate(self.listed):
            if candidates >> k & 1:
                return place
        if len(self.listed) == len(self._all):
            return -1
        self.listed = self._all[: 8 * len(self.listed)].tolist()
        return self.first(candidates)


class Missing(Exception):  # noqa: N818 - no error, but what a selection waits for
    """The row of a context, the strength of a candidate at it, the tests and the score of its
    members as a ``family``, or tests of sets."""

    def __init__(
        self,
        context: Context,
        candidate: int | None = None,
        *,
        family: bool = False,
        sets: Sequence[Group] = (),
    ) -> None:
        super().__init__(context)
        self.context, self.candidate, self.family, self.sets = context, candidate, family, sets


class ParentSelector:
    """Chooses parents by the rules of a selector, and remembers."""

    def __init__(self, selector: Selector) -> None:
        self.selector = selector
        pps = selector.pps
        self._pps = pps
        self._information = pps.information
        self._thresholds: list[float] = pps.thresholds.tolist()
        self.n_variables = pps.information.n_variables
        self.n_made = 0
        """The selections made so far,"""
        self.n_most = math.inf
        """and the number after which no node is moved any more."""
        self._rows: dict[Context, Row] = {}
        self._families: dict[Context, Family] = {}
        self._selected: dict[Asked, Selected] = {}

    @property
    def affordable(self) -> int:
        """How many selections may be made before no new start is tried."""
        most = constants.selections_per_pair * self.n_variables**2
        rows = self._information.rows_read
        return most if rows == 0 else min(most, int(constants.rows_for_selections / (rows + 8000)))

    def allow(self, times: float) -> None:
        """Let so many times as many selections be made from now on as are affordable, where they
        are dear: one climb may take far longer than all others."""
        dear = self._information.rows_read > 0
        self.n_most = self.n_made + times * self.affordable if dear else math.inf

    @property
    def is_spent(self) -> bool:
        """Whether all selections that are allowed have been made."""
        return self.n_made > self.n_most

    def select(self, target: int, candidates: int) -> Selected:
        """The parents of ``target`` among ``candidates``, one bit each."""
        known = self._selected.get((target, candidates))
        return self.select_all([(target, candidates)])[0] if known is None else known

    def select_all(self, asked: Sequence[Asked]) -> list[Selected]:
        """The parents of many; what they miss is counted in batches."""
        if len(self._selected) * self.n_variables > 8 * SELECTED_BYTES:
            self._selected.clear()
        selected = self._selected
        unknown = [one for one in dict.fromkeys(asked) if one not in selected]
        self.n_made += len(unknown)
        while unknown:
            waiting, missing = [], []
            for one in unknown:
                try:
                    selected[one] = self._choose(*one)
                except Missing as what:
                    waiting.append(one)
                    missing.append(what)
            self._find_out(missing)
            unknown = waiting
        return [selected[one] for one in asked]

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
            and not self._pps.mentioned[target] & more
            and not self._pps.blocked[target]
        )

    def _choose(self, target: int, candidates: int) -> Selected:
        """PPS: take the best candidate while it passes, or several where none does."""
        n = candidates.bit_count()
        allowed = candidates & ~self._pps.blocked[target]
        row = self._begin(target, candidates)
        size = len(row.context.given)
        most_members = min(self._pps.limit, n)
        rivals, most, by_set = 0, self.n_variables, False
        while True:
            place = row.first(allowed) if size < most_members else -1
            if place < 0:
                most = n  # one more may change everything
                break
            best = row.listed[place]
            strength = row.strengths.get(best)
            if strength is None:
                raise Missing(row.context, best)
            threshold = self._thresholds[n - size]
            if strength > threshold:
                # Who is ahead of one that passes would be taken first, or try and fail.
                for k in row.listed[:place]:
                    rivals |= 1 << k
                most = min(most, bisect_left(self._thresholds, strength) - 1 + size)
                row = row.following.get(best) or self._follow(row, best)
                size += 1
                continue
            for k in row.listed[:place]:
                if row.strengths.get(k, np.inf) > threshold:
                    rivals |= 1 << k
            together = self._set(row.context, allowed, n) if self._pps.mentioned[target] else ()
            if not together:
                break
            row = self._row(target, (*row.context.given, *together))
            size, by_set = len(row.context.given), True
        if size > 1 and self.selector.backward:
            return self._shrink(row, n, rivals, most, by_set)
        family = row.family or self._family(row.context)
        return Selected(row.context.given, family.score, rivals, most, by_set)

    def _begin(self, target: int, candidates: int) -> Row:
        """Required parents, if all are candidates, are members from the start."""
        required = self._pps.required.get(target)
        if required and not as_bits(required) & ~candidates:
            return self._row(target, required)
        return self._rows.get(Context(target, ())) or self._row(target, ())

    def _set(self, context: Context, candidates: int, n: int) -> tuple[int, ...]:
        """Where no single candidate passes, the set of several that PPS takes, if any."""
        sets = self._pps.groups(*context, candidates)
        if any(one not in self._pps.judged for one in sets):
            raise Missing(context, sets=sets)
        return self._pps.best_set(sets, n - len(context.given))

    def _shrink(self, row: Row, n: int, rivals: int, most: int, by_set: bool) -> Selected:
        """The backward phase: superfluous members leave one at a time, the weakest first."""
        context = row.context
        if row.family is None:
            row.family = self._family(context)
        family = row.family
        required = self._pps.required.get(context.target, ())
        while True:
            size = len(context.given)
            threshold = self._thresholds[n - size + 1]
            needed, leaves = family.least, family.least < threshold
            if leaves:
                own = [one for one in family.members if one[2] not in required]
                needed = min((one[1] for one in own if one[1] >= threshold), default=np.inf)
            most = min(most, bisect_right(self._thresholds, needed) - 2 + size)
            if leaves:
                weakest = min(one for one in own if one[1] < threshold)[2]
                context = Context(context.target, tuple(k for k in context.given if k != weakest))
                family = self._family(context)
            if not leaves or not context.given:
                return Selected(context.given, family.score, rivals, most, by_set)

    def _follow(self, row: Row, best: int) -> Row:
        following = self._row(row.context.target, (*row.context.given, best))
        row.following[best] = following
        return following

    def _row(self, target: int, members: Sequence[int]) -> Row:
        context = Context(target, tuple(sorted(members)))
        row = self._rows.get(context)
        if row is None:
            raise Missing(context)
        return row

    def _family(self, context: Context) -> Family:
        family = self._families.get(context)
        if family is None:
            raise Missing(context, family=True)
        return family

    def _find_out(self, missing: Sequence[Missing]) -> None:
        """Count what selections wait for."""
        if not missing:
            return
        self._pps.judge([group for one in missing for group in one.sets])
        self._judge(list(dict.fromkeys(one.context for one in missing if one.family)))
        single = {(one.context, one.candidate) for one in missing if one.candidate is not None}
        self._judge_candidates(sorted(single))
        others = (one for one in missing if not one.family and not one.sets)
        rows = dict.fromkeys(one.context for one in others if one.candidate is None)
        for part in in_parts(list(rows), self.n_variables):
            self._file(part, self._information.profiles(part))

    def _judge_candidates(self, single: Sequence[tuple[Context, int]]) -> None:
        """The strengths of single candidates at their rows."""
        if single:
            queries = [Query(*context, np.array([k])) for context, k in single]
            strengths = self._pps.rule.strengths(self._information.tests(queries)).tolist()
            for (context, k), strength in zip(single, strengths, strict=True):
                self._rows[context].strengths[k] = strength

    def _file(self, contexts: Sequence[Context], counted: Profiles) -> None:
        """Keep rows, with all strengths if their tests come along."""
        d, cmi = self.n_variables, counted.cmi.copy()
        exclude(cmi, range(len(contexts)), contexts)
        orders = np.argsort(-cmi, axis=1, kind="stable")
        orders = orders.astype(np.uint16 if d < 2**16 else np.uint32)
        strengths: list[dict[int, float]] = [{} for _ in contexts]
        if counted.stats is not None and d <= WHOLE:
            stats = counted.stats.reshape(cmi.size, -1)
            tests = self._information.as_tests(counted.cmi.ravel(), stats)
            found = self._pps.rule.strengths(tests).reshape(cmi.shape)
            strengths = [dict(enumerate(one.tolist())) for one in found]
        for context, order, own in zip(contexts, orders, strengths, strict=True):
            self._rows[context] = Row(context, order[: d - 1 - len(context.given)], own)

    def _judge(self, contexts: Sequence[Context]) -> None:
        """The tests of each member given the others, and the scores, of families."""
        if not contexts:
            return
        if self.selector.backward:
            tests, scores = self._information.families(contexts)
            strengths = self._pps.rule.strengths(tests).tolist() if len(tests) else []
            judged = zip(tests.cmi.tolist(), strengths, strict=True)
        else:
            scores, judged = (
                self._information.penalised_likelihoods(contexts),
                zip((), (), strict=True),
            )
        for context, score in zip(contexts, scores.tolist(), strict=True):
            # Without a backward phase there are no tests, and nobody asks for them.
            own = tuple((*one, k) for k, one in zip(context.given, judged, strict=False))
            required = self._pps.required.get(context.target, ())
            least = min((one[1] for one in own if one[2] not in required), default=np.inf)
            self._families[context] = Family(own, least, score)
