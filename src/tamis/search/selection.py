"""The parents of a node among any candidates: PPS and the backward phase, many times over.

``pps`` and ``iamb`` say what is computed; this is the same for searches that ask for the same
node with thousands of slightly different sets of candidates. What has been counted is kept as a
tree for each node: a row holds the gains of all variables given the members taken so far, best
first, so that a step is a walk to the first one that is a candidate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tamis.decisions.rule import Rule
from tamis.information.interface import Context, Information, Interaction, Query
from tamis.search.iamb import Blanket, shrink
from tamis.search.outcome import Boundary
from tamis.search.pps import Judged, best_set, judge_sets, possible_parents, sets_to_try

Members = tuple[int, ...]


class Selected(NamedTuple):
    """The parents chosen for a node, and how well they explain it: a penalised likelihood."""

    members: Members
    score: float


@dataclass(slots=True)
class _Row:
    """What is known given some members: all variables by falling gain, their gains and scores."""

    best_first: list[int]
    gains: list[float]
    scores: list[float] | None


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
    ) -> None:
        d = information.n_variables
        self._information = information
        self._rule = rule
        self._interactions = [()] * d if interactions is None else interactions
        self._backward = backward
        self._max_boundary = max_boundary
        self._bars: list[float] = np.broadcast_to(rule.bar(np.arange(d + 1)), d + 1).tolist()
        self._rows: dict[Context, _Row] = {}
        self._evidence: dict[tuple[Context, int], float] = {}
        self._sets: dict[tuple[Context, tuple[Members, ...]], list[Judged]] = {}
        self._scores: dict[Context, float] = {}
        self._selected: dict[tuple[int, frozenset[int]], Selected] = {}

    def select(self, target: int, candidates: frozenset[int]) -> Selected:
        """The parents of ``target`` among ``candidates``."""
        key = target, candidates
        known = self._selected.get(key)
        if known is None:
            members = self._grow(target, candidates)
            if self._backward and len(members) > 1:
                members = self._shrunk(target, members, len(candidates))
            known = Selected(members, self.score(Context(target, tuple(sorted(members)))))
            self._selected[key] = known
        return known

    def boundary(self, target: int, candidates: Sequence[int]) -> Boundary:
        """The same with every decision, as the paper's procedures make them."""
        grown = possible_parents(
            self._information,
            target,
            sorted(candidates),
            self._rule,
            max_boundary=self._max_boundary,
            interactions=self._interactions[target],
        )
        if not self._backward or len(grown.members) < 2:
            return grown
        blanket = Blanket(target, grown.members, len(candidates))
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

    def score(self, context: Context) -> float:
        """The penalised log-likelihood of a node given some parents."""
        known = self._scores.get(context)
        if known is None:
            known = float(self._information.penalised_likelihoods([context])[0])
            self._scores[context] = known
        return known

    def _grow(self, target: int, candidates: frozenset[int]) -> Members:
        """Algorithm 2."""
        limit = len(candidates) if self._max_boundary is None else self._max_boundary
        members: Members = ()
        while len(members) < min(limit, len(candidates)):
            context = Context(target, tuple(sorted(members)))
            row = self._row(context)
            best = next(k for k in row.best_first if k in candidates)
            n_left = len(candidates) - len(members)
            if self._score_of(context, row, best) > self._bars[n_left]:
                members += (best,)
                continue
            together = self._together(context, candidates, n_left, limit)
            if together is None:
                break
            members += together
        return members

    def _together(
        self, context: Context, candidates: frozenset[int], n_left: int, limit: int
    ) -> Members | None:
        """The set to take where no single candidate passes."""
        target, given = context
        if not self._interactions[target]:
            return None
        sets = sets_to_try(self._interactions[target], candidates, given, limit)
        if not sets:
            return None
        key = context, sets
        if key not in self._sets:
            self._sets[key] = judge_sets(self._information, target, sets, given, self._rule)
        best = best_set(target, sets, self._sets[key], given, self._rule, n_left, False)
        return best.others if best is not None and best.dependent else None

    def _shrunk(self, target: int, members: Members, n_candidates: int) -> Members:
        """Algorithm alg:iamb, one member at a time: of those that are superfluous, the weakest."""
        while members:
            bar = self._bars[n_candidates - len(members) + 1]
            strengths = [self._strength(target, members, k) for k in members]
            superfluous = [one for one in strengths if one[1] < bar]
            if not superfluous:
                break
            weakest = min(superfluous)[2]
            members = tuple(k for k in members if k != weakest)
        return members

    def _strength(self, target: int, members: Members, k: int) -> tuple[float, float, int]:
        """How strongly member k speaks given the others: its gain, then its score."""
        context = Context(target, tuple(sorted(set(members) - {k})))
        row = self._row(context)
        return row.gains[k], self._score_of(context, row, k), k

    def _row(self, context: Context) -> _Row:
        row = self._rows.get(context)
        if row is None:
            counted = self._information.rows([context])
            excluded = {context.target, *context.given}
            order = np.argsort(-counted.gains[0], kind="stable").tolist()
            scores = None
            if counted.stats is not None:
                evidence = self._information.as_evidence(counted.gains[0], counted.stats[0])
                scores = self._rule.scores(evidence).tolist()
            row = _Row([k for k in order if k not in excluded], counted.gains[0].tolist(), scores)
            self._rows[context] = row
        return row

    def _score_of(self, context: Context, row: _Row, k: int) -> float:
        if row.scores is not None:
            return row.scores[k]
        key = context, k
        if key not in self._evidence:
            asked = [Query(*context, np.array([k], dtype=np.int64))]
            self._evidence[key] = float(self._rule.scores(self._information.evidence(asked))[0])
        return self._evidence[key]


def total(selected: Sequence[Selected]) -> float:
    """The score of several nodes together, whatever their order."""
    return math.fsum(one.score for one in selected)
