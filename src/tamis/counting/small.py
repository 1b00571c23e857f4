"""Tables counted and judged by numpy: where they are few, compiling would take longer, or loading
what was compiled.

So it is done for the first tables of a process.

The answers are those of the compiled loops to the last bit: counts and entropies are whole
numbers, and what is not is added in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tamis.counting.compiled import Codes, Floats, Ints, Judgements, uncompiled
from tamis.counting.counts import Batch, Question
from tamis.counting.independence import ROUNDING, SCALE
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
        for b, context in enumerate(batch.contexts):
            base = self._base(context, batch.base_heads[b], lookup)
            answers.entropies[b] = (base[1] - base[0]) / SCALE
            for c, k in enumerate(batch.others(b), start=int(batch.starts[b])):
                if k == context[0] or k in context[1]:
                    answers.gains[c] = 0.0
                    answers.stats[c : c + 1] = 0.0
                else:
                    heads = batch.heads[b, classes[k]]
                    self._judge(c, context, (k,), base, heads, lookup, answers)

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
        for b, context in enumerate(contexts):
            base = self._base(context, base_heads[b], lookup)
            answers.entropies[b] = (base[1] - base[0]) / SCALE
            self._judge(b, context, others[b], base, heads[b], lookup, answers)

    def _base(self, context: Question, heads: Ints, lookup: Lookup) -> tuple[int, int]:
        """H(S) and H(S, X_k)."""
        target, given = context
        margin = self.cells((*given, target))
        strata = margin.reshape(-1, self._sizes[target]).sum(axis=1)
        return lookup.entropy(strata, heads[0]), lookup.entropy(margin, heads[1])

    def _judge(
        self,
        c: int,
        context: Question,
        together: tuple[int, ...],
        base: tuple[int, int],
        heads: Ints,
        lookup: Lookup,
        answers: Judgements,
    ) -> None:
        """Write the gain and the test of candidate c, which is one column or several as one."""
        target, given = context
        cells = self.cells((*given, target, *together))
        table = cells.reshape(-1, self._sizes[target], self._n_cells(together))
        h_sl = lookup.entropy(table.sum(axis=1).ravel(), heads[0])
        h_skl = lookup.entropy(cells, heads[1])
        answers.gains[c] = (base[1] + h_sl - base[0] - h_skl) / SCALE
        if len(answers.stats):
            answers.stats[c] = test_of(table, self._plain)

    def _n_cells(self, variables: tuple[int, ...]) -> int:
        return math.prod(self._sizes[k] for k in variables)


def test_of(table: Ints, plain: Ints) -> Floats:
    """``independence.test_table`` of ``table[s, x, y]``, for all strata at once."""
    rows, columns = table.sum(axis=2), table.sum(axis=1)
    r, s = np.count_nonzero(rows, axis=1), np.count_nonzero(columns, axis=1)
    free = (r > 1) & (s > 1)
    table, rows, columns = table[free], rows[free], columns[free]
    r, s, N = r[free].astype(float), s[free].astype(float), rows.sum(axis=1)
    gain = plain[rows].sum() + plain[columns].sum() - plain[table].sum() - plain[N].sum()
    per_row, per_column = _inverses(rows), _inverses(columns)
    weighted = _in_order(table.astype(float) * table * per_column[:, None, :])
    squares = _in_order(weighted / np.maximum(rows, 1))
    mean, variance = _null_moments(N.astype(float), r, s, _in_order(per_row), _in_order(per_column))
    varies = variance > ROUNDING * mean
    excess = np.where(squares > 1.0, N * (squares - 1.0), 0.0)
    sums = (_in_order(one[varies]) for one in (excess, mean, variance))
    return np.array([gain / SCALE, np.sum((r - 1.0) * (s - 1.0)), *sums])


def _inverses(counts: Ints) -> Floats:
    return np.divide(1.0, counts, out=np.zeros(counts.shape), where=counts > 0)


def _in_order(values: Floats) -> Floats:
    """The sums along the last axis, added from the first to the last."""
    if values.shape[-1] == 0:
        return np.zeros(values.shape[:-1])
    return np.asarray(np.cumsum(values, axis=-1)[..., -1])


def _null_moments(
    N: Floats, r: Floats, s: Floats, inverse_a: Floats, inverse_b: Floats
) -> tuple[Floats, Floats]:
    """``independence.null_moments`` of many tables with two rows or more."""
    per_one_less = 1.0 / (N - 1.0)
    mean = N * (r - 1.0) * (s - 1.0) * per_one_less
    per_two_less = 1.0 / np.maximum(N - 2.0, 1.0)
    w_r = (N * inverse_a - r * r) * per_two_less
    w_s = (N * inverse_b - s * s) * per_two_less
    variance = N * N * per_one_less * w_r * w_s
    v_r = (N - r) * (r - 1.0) * per_one_less
    v_s = (N - s) * (s - 1.0) * per_one_less
    more = 2.0 * N / np.maximum(N - 3.0, 1.0) * (v_r - w_r) * (v_s - w_s)
    variance = np.where(N > 3.0, variance + more, variance)
    return mean, np.where(N < 3.0, 0.0, variance)
