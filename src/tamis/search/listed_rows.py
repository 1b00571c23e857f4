"""Rows of gains as selections read them: the best first, with the scores that were asked for.

Of wide tables most of a row is never read, so only its best are listed at first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tamis.decisions.rule import Rule
from tamis.information.interface import Context, Floats, Ints, Profiles, Query, Source
from tamis.search.parts import in_parts

MOST_LISTED = 128
"""Of a row so many variables are listed, those of largest gain; all where none of them will do."""
WHOLE_ROWS = 512
"""With up to so many variables all are listed at once."""


@dataclass(slots=True)
class Row:
    """What is known given some members: variables by falling gain, their gains, and all tests."""

    best_first: list[int]
    gains: list[float]
    """Of these, in the same order."""
    is_whole: bool
    """Whether those are all."""
    stats: Floats | None
    scores: dict[int, float]
    """Of those that have been asked for; most are never."""

    def place(self, candidates: int) -> int | None:
        """The place of the first candidate, one bit each."""
        return next((i for i, k in enumerate(self.best_first) if candidates >> k & 1), None)


class ListedRows:
    """The rows that have been counted, by context."""

    def __init__(self, information: Source, rule: Rule) -> None:
        self._information = information
        self._rule = rule
        self._rows: dict[Context, Row] = {}

    def get(self, context: Context) -> Row | None:
        """The row of a context, if it has been counted."""
        return self._rows.get(context)

    def know(self, contexts: Sequence[Context]) -> None:
        """Count what is not there, and what is there in part and asked for again."""
        fresh = [one for one in dict.fromkeys(contexts) if one not in self._rows]
        again = [one for one in dict.fromkeys(contexts) if one in self._rows]
        d = self._information.n_variables
        self._list_rows(fresh, d if d <= WHOLE_ROWS else MOST_LISTED)
        self._list_rows([one for one in again if not self._rows[one].is_whole], d)

    def _list_rows(self, contexts: Sequence[Context], size: int) -> None:
        for part in in_parts(contexts, self._information.n_variables):
            counted = self._information.profiles(part)
            stats = [None] * len(part) if counted.stats is None else list(counted.stats)
            for context, gains, tests in zip(part, counted.cmi, stats, strict=True):
                known = self._rows.get(context)
                order = _largest(gains, size)
                excluded = {context.target, *context.given}
                best_first = [k for k in order.tolist() if k not in excluded]
                self._rows[context] = Row(
                    best_first,
                    gains[best_first].tolist(),
                    len(order) == len(gains),
                    tests,
                    {} if known is None else known.scores,
                )
            if counted.stats is not None:
                self._score(part, counted)

    def _score(self, contexts: Sequence[Context], counted: Profiles) -> None:
        """The scores of whole rows, all at once: one by one they take longer."""
        if counted.stats is None:
            return
        gains = counted.cmi
        evidence = self._information.as_tests(gains.ravel(), counted.stats.reshape(gains.size, -1))
        scores = self._rule.scores(evidence).reshape(gains.shape)
        for context, own in zip(contexts, scores, strict=True):
            row = self._rows[context]
            row.scores = dict(zip(row.best_first, own[row.best_first].tolist(), strict=True))

    def score(self, context: Context, row: Row, place: int) -> float:
        """The score of the variable at a place of a row: gain and, for the rule, its test."""
        k = row.best_first[place]
        known = row.scores.get(k)
        if known is None:
            if row.stats is None:
                asked = [Query(*context, np.array([k], dtype=np.int64))]
                evidence = self._information.tests(asked)
            else:
                gains = np.array([row.gains[place]])
                evidence = self._information.as_tests(gains, row.stats[k : k + 1])
            known = row.scores[k] = float(self._rule.scores(evidence)[0])
        return known


def _largest(gains: Floats, size: int) -> Ints:
    """Variables by falling gain, of equals the first: at least so many, and none left out that
    gains as much as the last of them."""
    if size >= len(gains):
        return np.argsort(-gains, kind="stable")
    least = np.partition(gains, len(gains) - size)[len(gains) - size]
    some = np.flatnonzero(gains >= least)
    return some[np.argsort(-gains[some], kind="stable")]
