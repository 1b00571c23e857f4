"""The parents of a node among any candidates: PPS and the backward phase, many times over.

``pps`` and ``iamb`` say what is computed; this is the same for searches that ask for the same
node with thousands of slightly different sets of candidates. What has been counted is kept as a
tree for each node: a row holds the gains of all variables given the members taken so far, best
first, so that a step is a walk to the first one that is a candidate. Many selections go in step:
each says what it needs to know next, and one batch answers all of them.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tamis.decisions.rule import Rule
from tamis.information.interface import Context, Floats, Group, Information, Interaction, Query
from tamis.search.constraints import Constraints
from tamis.search.iamb import Blanket, shrink
from tamis.search.outcome import Boundary
from tamis.search.pps import (
    Judged,
    Listed,
    best_set,
    judge_sets,
    listed,
    possible_parents,
    sets_to_try,
)

MOST_LIKELY = 3
"""Of a row so many variables are scored at once, those of largest gain."""

Members = tuple[int, ...]
Asked = tuple[int, int]
"""A target and its candidates, one bit each: thousands of sets of them are kept."""
Chosen = tuple[Members, int | None, int | None]
"""The parents, the best candidate that was refused, and one that knowledge has ruled out."""
Needs = Context | tuple[Group, ...]
"""What a selection waits for: a row of gains, or sets to be judged."""


class Selected(NamedTuple):
    """The parents chosen for a node, and how well they explain it: a penalised likelihood."""

    members: Members
    score: float
    refused: int | None
    """The best of those that were not taken."""
    barred: int | None
    """One that would have been taken, had knowledge not ruled it out."""


@dataclass(slots=True)
class _Row:
    """What is known given some members: all variables by falling gain, their gains and tests."""

    best_first: list[int]
    gains: list[float]
    stats: Floats | None
    scores: dict[int, float]
    """Of those that have been asked for; most are never."""


class Selector:
    """Chooses parents as ``possible_parents`` and ``shrink`` do, and remembers."""

    def __init__(
        self,
        information: Information,
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
        self._bars: list[float] = np.broadcast_to(rule.bar(np.arange(d + 1)), d + 1).tolist()
        self._rows: dict[Context, _Row] = {}
        self._sets: dict[Group, Judged] = {}
        self._scores: dict[Context, float] = {}
        self._selected: dict[Asked, Selected] = {}

    def select(self, target: int, candidates: int) -> Selected:
        """The parents of ``target`` among ``candidates``, one bit each."""
        return self.select_all([(target, candidates)])[0]

    def select_all(self, asked: Sequence[Asked]) -> list[Selected]:
        """The same for many, which are counted in batches."""
        fresh = [one for one in dict.fromkeys(asked) if one not in self._selected]
        if fresh:
            chosen = self._in_step([self._chosen(*one) for one in fresh])
            contexts = [
                Context(target, tuple(sorted(members)))
                for (target, _), (members, *_) in zip(fresh, chosen, strict=True)
            ]
            self._know_scores(contexts)
            for one, context, (members, *others) in zip(fresh, contexts, chosen, strict=True):
                self._selected[one] = Selected(members, self._scores[context], *others)
        return [self._selected[one] for one in asked]

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

    def _in_step(self, selections: Sequence[Generator[Needs, None, Chosen]]) -> list[Chosen]:
        """Let all selections go on, and answer what they need in batches, until all have ended."""
        ended: dict[int, Chosen] = {}
        waiting = list(enumerate(selections))
        while waiting:
            contexts: list[Context] = []
            groups: list[Group] = []
            going_on = []
            for i, selection in waiting:
                try:
                    need = next(selection)
                except StopIteration as end:
                    ended[i] = end.value
                    continue
                going_on.append((i, selection))
                if isinstance(need, Context):
                    contexts.append(need)
                else:
                    groups += need
            self._know_rows(contexts)
            self._know_sets(groups)
            waiting = going_on
        return [ended[i] for i in range(len(selections))]

    def _chosen(self, target: int, candidates: int) -> Generator[Needs, None, Chosen]:
        """Algorithm 2, then the backward phase."""
        n_candidates = candidates.bit_count()
        ruled_out = candidates & self._blocked[target]
        candidates &= ~ruled_out
        limit = n_candidates if self._max_boundary is None else self._max_boundary
        members: Members = self._required.get(target, ())
        refused: int | None = None
        while len(members) < limit:
            context = Context(target, tuple(sorted(members)))
            row = self._rows.get(context)
            if row is None:
                yield context
                row = self._rows[context]
            best = next((k for k in row.best_first if candidates >> k & 1), None)
            if best is None:
                break
            n_left = n_candidates - len(members)
            if self._score_of(context, row, best) > self._bars[n_left]:
                members += (best,)
                continue
            together = yield from self._together(context, candidates, n_left, limit)
            if together is None:
                refused = best
                break
            members += together
        if self._backward and len(members) > 1:
            members = yield from self._shrunk(target, members, n_candidates)
        return members, refused, self._barred(target, members, ruled_out, n_candidates)

    def _barred(
        self, target: int, members: Members, ruled_out: int, n_candidates: int
    ) -> int | None:
        """The candidate that knowledge has ruled out and the rows ask for most, if they do."""
        context = Context(target, tuple(sorted(members)))
        row = self._rows.get(context)
        if not ruled_out or row is None:
            return None
        best = next((k for k in row.best_first if ruled_out >> k & 1), None)
        bar = self._bars[n_candidates - len(members)]
        return best if best is not None and self._score_of(context, row, best) > bar else None

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
            yield unknown
        judged = [self._sets[group] for group in groups]
        best = best_set(target, sets, judged, given, self._rule, n_left, False)
        return best.others if best is not None and best.dependent else None

    def _shrunk(
        self, target: int, members: Members, n_candidates: int
    ) -> Generator[Needs, None, Members]:
        """Algorithm alg:iamb, one member at a time: of those that are superfluous, the weakest."""
        while members:
            bar = self._bars[n_candidates - len(members) + 1]
            strengths = []
            for k in members:
                context = Context(target, tuple(sorted(set(members) - {k})))
                if context not in self._rows:
                    yield context
                row = self._rows[context]
                strengths.append((row.gains[k], self._score_of(context, row, k), k))
            required = self._required.get(target, ())
            superfluous = [one for one in strengths if one[1] < bar and one[2] not in required]
            if not superfluous:
                break
            weakest = min(superfluous)[2]
            members = tuple(k for k in members if k != weakest)
        return members

    def _score_of(self, context: Context, row: _Row, k: int) -> float:
        """The score of one variable: gain and, for the rule, its test."""
        known = row.scores.get(k)
        if known is None:
            if row.stats is None:
                asked = [Query(*context, np.array([k], dtype=np.int64))]
                evidence = self._information.evidence(asked)
            else:
                gains = np.array([row.gains[k]])
                evidence = self._information.as_evidence(gains, row.stats[k : k + 1])
            known = row.scores[k] = float(self._rule.scores(evidence)[0])
        return known

    def _know_rows(self, contexts: Sequence[Context]) -> None:
        fresh = [one for one in dict.fromkeys(contexts) if one not in self._rows]
        if not fresh:
            return
        counted = self._information.rows(fresh)
        order = np.argsort(-counted.gains, axis=1, kind="stable").tolist()
        gains = counted.gains.tolist()
        stats = [None] * len(fresh) if counted.stats is None else list(counted.stats)
        for i, context in enumerate(fresh):
            excluded = {context.target, *context.given}
            best_first = [k for k in order[i] if k not in excluded]
            self._rows[context] = _Row(best_first, gains[i], stats[i], {})
        if counted.stats is not None:
            self._score_the_best([self._rows[context] for context in fresh])

    def _score_the_best(self, rows: Sequence[_Row]) -> None:
        """The scores that will be asked for most likely, all at once."""
        asked = [(row, k) for row in rows for k in row.best_first[:MOST_LIKELY]]
        if not asked:
            return
        gains = np.array([row.gains[k] for row, k in asked])
        stats = np.array([row.stats[k] for row, k in asked if row.stats is not None])
        scores = self._rule.scores(self._information.as_evidence(gains, stats))
        for (row, k), score in zip(asked, scores.tolist(), strict=True):
            row.scores[k] = score

    def _know_sets(self, groups: Sequence[Group]) -> None:
        fresh = [one for one in dict.fromkeys(groups) if one not in self._sets]
        if fresh:
            judged = judge_sets(self._information, fresh, self._rule)
            self._sets.update(zip(fresh, judged, strict=True))

    def _know_scores(self, contexts: Sequence[Context]) -> None:
        fresh = [one for one in dict.fromkeys(contexts) if one not in self._scores]
        if fresh:
            scores = self._information.penalised_likelihoods(fresh).tolist()
            self._scores.update(zip(fresh, scores, strict=True))


def total(selected: Sequence[Selected]) -> float:
    """The score of several nodes together, whatever their order."""
    return math.fsum(one.score for one in selected)
