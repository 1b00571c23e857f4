"""Tables that were counted and not yet folded become entropies, gains and tests, by numpy.

So are judged tables that were summed over blocks, and the first tables of a process, which are
counted by numpy too: while they are few, compiling would take longer, or loading what was compiled.
The answers are those of the compiled loops to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import entr

from tamis.counting.compiled import Codes, Floats, Ints, Judgements, uncompiled
from tamis.counting.counts import Batch, Shapes, part_starts, starts_of
from tamis.counting.independence import ROUNDING, SCALE
from tamis.counting.lookup import fixed_point, segment_sums

CROWDED = 4
"""Keys that span at most this multiple of their number are numbered without sorting."""
SECONDS, SECONDS_PER_ROW = 5e-5, 1e-8
"""What a table takes, about."""
SMALL_CELLS = 1024
"""Those of more cells are never counted by numpy."""
SMALL_ROWS = 10_000
"""Nor are those of tables with more rows."""


class TableBatch(NamedTuple):
    """The tables of contexts and their candidates, as lists of the cells that occur.

    Those of (S, X_k) are laid end to end, and so are those of the candidates, each of which belongs
    to some context. Cells are in order of stratum, level of the target and level of the candidate.
    """

    pairs: Ints
    """The rows of each pair of a stratum and a level of the target."""
    pair_starts: Ints
    """Where the pairs of each context begin."""
    strata: Ints
    """The stratum of each pair: numbers that rise, through all contexts."""
    context: Ints
    """That of each candidate."""
    widths: Ints
    """The levels of each candidate."""
    cells: Ints
    """The rows of each."""
    cell_starts: Ints
    pair: Ints
    """That of each cell, by its place among all."""
    level: Ints

    def judge(self, batch: Batch, shapes: Shapes, b: Ints, c: Ints, answers: Judgements) -> None:
        """Write the entropies of contexts b of a batch, and the gains and tests of candidates c."""
        own = self.context
        stratum = np.cumsum(np.diff(self.strata, prepend=-1) != 0) - 1
        # Whole numbers of rows are exact as floats.
        N: Floats = np.bincount(stratum, self.pairs).astype(np.float64)
        strata_starts = np.append(stratum, len(N))[self.pair_starts]
        n_strata = np.diff(strata_starts)[own]
        candidate = np.repeat(np.arange(len(own)), np.diff(self.cell_starts))
        # A group is a candidate in a stratum, and a column is a level of it there.
        local, groups = stratum[self.pair] - strata_starts[own[candidate]], starts_of(n_strata)
        group, columns = groups[candidate] + local, starts_of(n_strata * self.widths)
        keys = columns[candidate] + local * self.widths[candidate] + self.level
        column = numbered(keys, int(columns[-1]))
        beside = np.bincount(column, self.cells).astype(np.int64)
        group_of = np.empty(len(beside), dtype=np.int64)
        group_of[column] = group
        tables = (
            (N.astype(np.int64), strata_starts),
            (self.pairs, self.pair_starts),
            (beside, np.searchsorted(group_of, groups)),
            (self.cells, self.cell_starts),
        )
        classes = np.zeros_like(c) if len(batch.parts) else shapes.classes[batch.candidates[c]]
        used = *batch.base_heads[b].T, *batch.heads[b[own], classes].T
        h_s, h_sk, h_sl, h_skl = (
            batch.lookup.entropies(*table, rows) for table, rows in zip(tables, used, strict=True)
        )
        answers.entropies[b] = (h_sk - h_s) / SCALE
        answers.gains[c] = (h_sk[own] + h_sl - h_s[own] - h_skl) / SCALE
        if not len(answers.stats):
            return
        # What a test adds up of -p ln p telescopes to four sums.
        of_s, of_sk, of_sl, of_skl = (
            segment_sums(plain_terms(counts, shapes.n_rows), starts) for counts, starts in tables
        )
        answers.stats[c, 0] = ((of_sk - of_s)[own] + of_sl - of_skl) / SCALE
        inverses = 1.0 / beside
        squared = self.cells.astype(float) * self.cells * inverses[column]
        begins = np.diff(self.pair, prepend=-1) != 0
        begins[self.cell_starts[:-1]] = True
        first = np.flatnonzero(begins)
        of_row = np.bincount(np.cumsum(begins) - 1, squared) / self.pairs[self.pair[first]]
        squares = np.bincount(group[first], of_row, int(groups[-1]))
        # Of each group the stratum, and from there on what ``independence.test_table`` does.
        within = np.empty(int(groups[-1]), dtype=np.int64)
        within[group] = stratum[self.pair]
        r = np.bincount(stratum).astype(float)[within]
        s = np.bincount(group_of, minlength=len(within)).astype(float)
        free = np.flatnonzero((r > 1) & (s > 1))
        N, r, s, squares, within = N[within[free]], r[free], s[free], squares[free], within[free]
        inverse_a: Floats = np.bincount(stratum, 1.0 / self.pairs).astype(np.float64)
        inverse_b: Floats = np.bincount(group_of, inverses).astype(np.float64)
        mean, variance = _null_moments(N, r, s, inverse_a[within], inverse_b[free])
        varies = variance > ROUNDING * mean
        excess = np.maximum(N * (squares - 1.0), 0.0)
        of_free = np.repeat(np.arange(len(own)), n_strata)[free]
        answers.stats[c, 1] = np.bincount(of_free, (r - 1.0) * (s - 1.0), len(own))
        for i, one in enumerate((excess, mean, variance), start=2):
            answers.stats[c, i] = np.bincount(of_free[varies], one[varies], len(own))


def occurring(
    n_levels: Ints, margin_starts: Ints, margins: Ints, context: Ints, widths: Ints, cells: Ints
) -> TableBatch:
    """The cells that occur in tables laid out whole: those of contexts, (s, x), whose targets have
    so many levels, and those of candidates, (s, x, y); end to end."""
    found, there = np.flatnonzero(margins), np.flatnonzero(cells)
    of_pair = np.repeat(np.arange(len(n_levels)), np.diff(margin_starts))[found]
    # Strata have at least as many pairs as there are, so that these numbers rise.
    strata = margin_starts[of_pair] + (found - margin_starts[of_pair]) // n_levels[of_pair]
    cell_starts = starts_of(np.diff(margin_starts)[context] * widths)
    candidate = np.repeat(np.arange(len(widths)), np.diff(cell_starts))[there]
    at, level = np.divmod(there - cell_starts[candidate], widths[candidate])
    return TableBatch(
        margins[found], np.searchsorted(found, margin_starts), strata, context, widths,
        cells[there], np.searchsorted(there, cell_starts),
        (np.cumsum(margins > 0) - 1)[margin_starts[context[candidate]] + at], level,
    )  # fmt: skip


def numbered(keys: Ints, size: int) -> Ints:
    """Of each key, all below ``size``, how many that occur are smaller."""
    if size > CROWDED * len(keys):
        return np.unique(keys, return_inverse=True)[1]
    occurs = np.zeros(size, dtype=np.int64)
    occurs[keys] = 1
    found: Ints = (np.cumsum(occurs) - 1)[keys]
    return found


def plain_terms(counts: Ints, n_rows: int) -> Ints:
    """-p ln p in fixed point, p being the share of the rows."""
    return fixed_point(entr(counts / n_rows))


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


class SmallCounts:
    """The contingency tables of a small table, until there were too many of them."""

    def __init__(self, codes: Codes, shapes: Shapes, loop: Callable[..., Any]) -> None:
        """``loop`` is the one that would count them."""
        self._codes = codes
        self._shapes = shapes
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
        if not self._open or any(self._shapes.n_joint(one) > SMALL_CELLS for one in sets):
            return False
        uncompiled.spent += seconds
        return True

    def cells(self, variables: tuple[int, ...]) -> Ints:
        """The rows of every joint state, whether it occurs or not."""
        state = np.zeros(self._codes.shape[1], dtype=np.int64)
        for k in variables:
            state = state * self._shapes.sizes[k] + self._codes[k]
        return np.bincount(state, minlength=self._shapes.n_joint(variables))

    def judge(self, batch: Batch, answers: Judgements) -> bool:
        """Judge a batch, if it is to be judged here."""
        if not self.take(len(batch.contexts) + int(batch.starts[-1]), batch.tables()):
            return False
        answers.gains[:] = 0.0
        answers.stats[:] = 0.0
        asked = [
            (b, c)
            for b, (target, given) in enumerate(batch.contexts)
            for c in range(batch.starts[b], batch.starts[b + 1])
            if len(batch.parts) or batch.candidates[c] not in (target, *given)
        ]
        context, c = np.array(asked, dtype=np.int64).reshape(-1, 2).T
        sets = [(*given, target) for target, given in batch.contexts]
        candidates = [batch.columns(i) for i in c]
        margins = [self.cells(one) for one in sets]
        cells = [self.cells(sets[b] + one) for b, one in zip(context, candidates, strict=True)]
        occurring(
            self._shapes.arities[[target for target, _ in batch.contexts]],
            part_starts(margins), np.concatenate(margins), context,
            np.array(list(map(self._shapes.n_joint, candidates)), dtype=np.int64),
            np.concatenate([np.zeros(0, dtype=np.int64), *cells]),
        ).judge(batch, self._shapes, np.arange(len(sets)), c, answers)  # fmt: skip
        return True
