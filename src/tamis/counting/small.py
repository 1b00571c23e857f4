"""Tables counted and judged by numpy: where they are few, compiling would take longer, or loading
what was compiled.

So it is done for the first tables of a process.

The answers are those of the compiled loops to the last bit (``folding.ListedContext``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tamis.counting.compiled import Codes, Ints, Judgements, uncompiled
from tamis.counting.counts import Batch, Question
from tamis.counting.folding import ListedContext
from tamis.counting.lookup import Lookup

SECONDS, SECONDS_PER_ROW = 5e-5, 1e-8
"""What a table takes, about."""
SMALL_CELLS = 1024
"""Those of more cells are never counted by numpy."""
SMALL_ROWS = 10_000
"""Nor are those of tables with more rows."""


class SmallCounts:
    """The contingency tables of a small table, until there were too many of them."""

    def __init__(self, codes: Codes, arities: Ints, plain: Ints, loop: Callable[..., Any]) -> None:
        """``loop`` is the one that would count them."""
        self._codes = codes
        self._sizes: list[int] = arities.tolist()
        self._plain = plain
        self._loop = loop
        self._open = codes.shape[1] <= SMALL_ROWS

    @property
    def is_open(self) -> bool:
        """Whether tables may still be counted here."""
        return self._open and uncompiled.allows(self._loop)

    def take(self, n_tables: int, sets: Iterable[tuple[int, ...]]) -> bool:
        """Whether so many joint tables, of these columns, are to be counted here; if so, they are
        taken for counted."""
        seconds = n_tables * (SECONDS + SECONDS_PER_ROW * self._codes.shape[1])
        self._open = self._open and uncompiled.allows(self._loop, seconds)
        if not self._open or any(self._n_cells(one) > SMALL_CELLS for one in sets):
            return False
        uncompiled.spent += seconds
        return True

    def cells(self, variables: tuple[int, ...]) -> Ints:
        """The rows of every joint state, whether it occurs or not."""
        state = np.zeros(self._codes.shape[1], dtype=np.int64)
        for k in variables:
            state = state * self._sizes[k] + self._codes[k]
        return np.bincount(state, minlength=self._n_cells(variables))

    def judge(self, batch: Batch, classes: Ints, lookup: Lookup, answers: Judgements) -> None:
        """Judge each context with each of its candidates."""
        for b, question in enumerate(batch.contexts):
            judge = self._judging(b, question, batch.base_heads[b], lookup, answers)
            for c, k in enumerate(batch.others(b), start=int(batch.starts[b])):
                if k == question[0] or k in question[1]:
                    answers.gains[c] = 0.0
                    answers.stats[c : c + 1] = 0.0
                else:
                    judge(c, (k,), batch.heads[b, classes[k]])

    def judge_joints(
        self,
        contexts: Sequence[Question],
        others: Sequence[tuple[int, ...]],
        base_heads: Ints,
        heads: Ints,
        lookup: Lookup,
        answers: Judgements,
    ) -> None:
        """Judge each context with its candidates taken together."""
        for b, question in enumerate(contexts):
            judge = self._judging(b, question, base_heads[b], lookup, answers)
            judge(b, others[b], heads[b])

    def _judging(
        self, b: int, question: Question, heads: Ints, lookup: Lookup, answers: Judgements
    ) -> Callable[[int, tuple[int, ...], Ints], None]:
        """What judges candidate c of context b, one column or several taken together."""
        target, given = question
        margin = self.cells((*given, target))
        keys = np.flatnonzero(margin)
        strata = keys // self._sizes[target]
        context = ListedContext(margin[keys], strata, heads, lookup, self._plain.take)
        answers.entropies[b] = context.entropy

        def judge(c: int, together: tuple[int, ...], own_heads: Ints) -> None:
            cells = self.cells((*given, target, *together))
            found = np.flatnonzero(cells)
            pair, level = np.divmod(found, self._n_cells(together))
            places = np.searchsorted(keys, pair)
            context.judge(c, cells[found], places, level, own_heads, answers)

        return judge

    def _n_cells(self, variables: tuple[int, ...]) -> int:
        return math.prod(self._sizes[k] for k in variables)
