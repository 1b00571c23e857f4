"""One question at a time: what a compiled search asks of a table in memory while it runs.

The order search (``search/order_loops``) asks thousands of small questions, one after the other,
each of which depends on the last. Batches of them would have to be guessed ahead, and going out to
Python for each takes longer than to count it. So a question is a batch of one, made by ``answer``
for the loops that judge batches (``judge``, ``by_rows``). ``answer`` calls these through pointers,
as the search calls ``answer``: each is compiled by itself, and once.

The table comes as one array of numbers, ``E``: addresses, sizes and limits (``Direct``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tamis.counting.by_rows import count_sets, judge_rows
from tamis.counting.compiled import (
    Asked,
    Columns,
    Floats,
    Ints,
    Rows,
    Tables,
    address_of,
    compiled,
    inner,
    whole,
)
from tamis.counting.independence import ROUNDING, SMALLEST_P, STATS
from tamis.counting.judge import judge_planes

ROW, STRENGTH, FAMILY, GROUP = whole(0), whole(1), whole(2), whole(3)
"""Questions: the cmi of a target with every column given a set, and its entropy; the strength of
one of them; of a target with its parents the score, and for each parent given the others its cmi
and strength; and the strength of several columns taken together."""

(
    N_COLUMNS, N_ROWS, N_PLANES, N_WORDS, WIDEST, MOST, MOST_JOINT, EMPTY, TAIL, CONSTANT, CLIPS,
    WORDS, ONES, PAIRS, FIRST, ARITIES, PLAIN, CODES, WEIGHTS, RANGES, EVERYONE, ZEROS, TERMS,
    PRODUCTS, REGRETS, N_REGRETS,
    GAMMA, PLANES_LOOP, ROWS_LOOP, SETS_LOOP, ANSWER_LOOP,
) = (whole(one) for one in range(31))  # fmt: skip
"""The places in ``E``: sizes, limits, then addresses of arrays, the lookup of the estimator among
them, and the addresses of scipy's upper tail of gamma laws and of the loops."""

array_at: Any = None
gamma_tail: Any = None
in_planes: Any = None
by_rows: Any = None
counted: Any = None
"""What loops call to read arrays, and scipy's Q(shape, at) and the loops that count, by their
addresses: of numba, and so not there before a loop is made."""


def signature() -> Any:  # noqa: ANN401 - numba has no types
    """That of ``answer``, which can be compiled from now on."""
    global array_at, gamma_tail, in_planes, by_rows, counted
    from tamis.counting import pointers

    array_at, gamma_tail = pointers.array_at, pointers.law_at
    in_planes, by_rows = pointers.judge_planes_at, pointers.judge_rows_at
    counted = pointers.count_sets_at
    return pointers.ANSWER


@inner
def strength_of(stats: Floats, c: int, gamma: int) -> float:
    """-ln p of a permutation test, from its statistics (``null_laws.CountTests``)."""
    pearson, mean, variance = stats[c, 2], stats[c, 3], stats[c, 4]
    p = 1.0
    if mean > ROUNDING * mean and variance > ROUNDING * mean:
        rate = mean / variance
        p = gamma_tail(gamma, mean * rate, pearson * rate)
    strength: float = 0.0 - np.log(p if p > SMALLEST_P else SMALLEST_P)
    return strength


@inner
def span(start: int, stop: int) -> Ints:
    """One context, or the candidates of one, among what is laid end to end."""
    ends = np.empty(2, dtype=np.int64)
    ends[0] = start
    ends[1] = stop
    return ends


@inner
def asked_of(
    E: Ints, variables: Ints, starts: Ints, candidates: Ints, candidates_start: Ints, parts: Ints
) -> Asked:
    """A batch of contexts; of lookups that need no support, there is one head."""
    base_heads = array_at(E[ZEROS], (1, 2), np.int64)
    heads = array_at(E[ZEROS], (1, 1, 2), np.int64)
    return variables, starts, candidates, candidates_start, parts, base_heads, heads


@inner
def judge_one(
    E: Ints, columns: Columns, rows: Rows, lookup: Tables, X: Ints, at: int, n: int,
    candidates: Ints, entropies: Floats, gains: Floats, stats: Floats,
) -> None:  # fmt: skip
    """The context ``X[at : at + n]`` with these candidates."""
    zero, end, most = whole(0), candidates.shape[0], E[MOST]
    asked = asked_of(E, X, span(at, at + n), candidates, span(zero, end), X[:0])
    n_left = in_planes(
        E[PLANES_LOOP], (columns, most, asked, zero, end, lookup, entropies, gains, stats)
    )
    if n_left > 0:
        by_rows(
            E[ROWS_LOOP], (columns, rows, most, asked, zero, end, lookup, entropies, gains, stats)
        )


@inner
def count_one(
    E: Ints, columns: Columns, rows: Rows, products: Floats, members: Ints, sums: Floats
) -> Rows:  # fmt: skip
    """The joint states of a set of columns that occur, in the place of rows."""
    n, room = members.shape[0], whole(1)
    lines = np.empty(E[N_COLUMNS], dtype=np.int64)
    for v in range(n):
        lines[members[v]] = v
        room *= columns[4][members[v]]
        room = room if room < E[N_ROWS] else E[N_ROWS]
    levels, counts = np.empty((n, room), dtype=np.uint8), np.empty(room, dtype=np.int32)
    starts = np.zeros(2, dtype=np.int64)
    found = (levels, lines, counts, starts)
    counted(
        E[SETS_LOOP],
        (columns, rows, E[MOST_JOINT], members, span(whole(0), n), products, found, sums),
    )
    ranges = np.zeros((1, 2), dtype=np.int64)
    ranges[0, 1] = starts[1]
    return levels, lines, counts, ranges, E[EMPTY]


@inner
def judge_together(
    E: Ints, columns: Columns, rows: Rows, lookup: Tables, products: Floats, X: Ints, at: int,
    n: int,
) -> float:  # fmt: skip
    """The strength of the group that stands behind its context."""
    size = X[at + n]
    members = np.empty(n + size, dtype=np.int64)
    for v in range(n):
        members[v] = X[at + v]
    for v in range(size):
        members[n + v] = X[at + n + 1 + v]
    zero, one, n_cells = whole(0), whole(1), whole(1)
    for v in range(n + size):
        n_cells *= columns[4][members[v]] if n_cells < E[N_ROWS] else one
    states = rows
    if n_cells < E[N_ROWS]:  # else there may be as many states as rows
        no_sums = np.empty((0, 2), dtype=np.float64)
        states = count_one(E, columns, rows, products, members, no_sums)
    asked = asked_of(E, members, span(zero, n), members, span(zero, one), span(n, n + size))
    stats = np.zeros((1, STATS), dtype=np.float64)
    room = np.empty(2, dtype=np.float64)
    by_rows(
        E[ROWS_LOOP],
        (columns, states, zero, asked, zero, one, lookup, room[:1], room[1:], stats),
    )
    return strength_of(stats, zero, E[GAMMA])


@inner
def judge_family(
    E: Ints, columns: Columns, rows: Rows, lookup: Tables, products: Floats, regrets: Floats,
    X: Ints, at: int, n: int, A: Floats, to: int,
) -> int:  # fmt: skip
    """The score of a family, and each member with its cmi and strength given the others."""
    arities, n_strata = columns[4], whole(1)
    for v in range(at, at + n - 1):
        n_strata *= arities[X[v]]
        if n_strata >= E[N_REGRETS]:
            return whole(0)
    size = n_strata * arities[X[at + n - 1]]
    if size >= E[N_REGRETS]:
        return whole(0)
    sums = np.empty((1, 2), dtype=np.float64)
    states = count_one(E, columns, rows, products, X[at : at + n], sums)
    A[to] = (sums[0, 0] - regrets[size]) - (sums[0, 1] - regrets[n_strata])
    n_members, zero = n - 1, whole(0)
    if n_members == 0:
        return whole(1)
    variables = np.empty(n_members * n_members, dtype=np.int64)
    starts = np.empty(n, dtype=np.int64)
    for i in range(n):
        starts[i] = i * n_members
    for i in range(n_members):
        for v in range(n_members):
            variables[i * n_members + v] = X[at + (v if v < i else v + 1)]
    # Each context has one candidate: they begin where they are counted.
    asked = asked_of(E, variables, starts, X[at : at + n_members], rows[1], X[:0])
    gains = np.empty(n_members, dtype=np.float64)
    stats = np.empty((n_members, STATS), dtype=np.float64)
    entropies = np.empty(n_members, dtype=np.float64)
    by_rows(
        E[ROWS_LOOP],
        (columns, states, zero, asked, zero, n_members, lookup, entropies, gains, stats),
    )
    for i in range(n_members):
        place = to + 1 + 3 * i
        A[place] = X[at + i]
        A[place + 1] = gains[i]
        A[place + 2] = strength_of(stats, i, E[GAMMA])
    return whole(1)


@compiled
def answer(E: Ints, what: int, X: Ints, at: int, n: int, A: Floats, to: int) -> int:
    """Answer a question about the context ``X[at : at + n]``, its target last.

    Where a strength is asked for the candidate comes next, or the number of a group and then its
    columns. The answer goes to ``A`` from ``to`` on. 1 if there is one, 0 if the question is not
    for here.
    """
    d, n_rows, n_planes, n_words = E[N_COLUMNS], E[N_ROWS], E[N_PLANES], E[N_WORDS]
    everyone = array_at(E[EVERYONE], d, np.int64)
    columns = (
        array_at(E[WORDS], (n_planes, n_words), np.uint64),
        array_at(E[ONES], n_planes, np.int64),
        array_at(E[PAIRS], (n_planes, n_planes), np.int32),
        array_at(E[FIRST], d + 1, np.int64),
        array_at(E[ARITIES], d, np.int64),
        everyone,  # no support matters here, and so no class
        array_at(E[PLAIN], n_rows + 1, np.int64),
        n_rows,
        E[WIDEST],
    )
    rows = (
        array_at(E[CODES], (d, n_rows), np.uint8), everyone,
        array_at(E[WEIGHTS], n_rows, np.int32),
        array_at(E[RANGES], (1, 2), np.int64), E[EMPTY],
    )  # fmt: skip
    terms = array_at(E[TERMS], E[TAIL] + n_rows + 1, np.int64)
    nothing = array_at(E[ZEROS], 1, np.int64)
    lookup = (terms, E[TAIL], nothing, nothing, E[CONSTANT], False, E[CLIPS] != 0)
    if what == ROW:
        no_stats = np.empty((0, STATS), dtype=np.float64)
        entropies, gains = A[to + d : to + d + 1], A[to : to + d]
        judge_one(E, columns, rows, lookup, X, at, n, everyone, entropies, gains, no_stats)
        return whole(1)
    if what == STRENGTH:
        stats = np.empty((1, STATS), dtype=np.float64)
        entropies, gains = np.empty(1, dtype=np.float64), np.empty(1, dtype=np.float64)
        candidate = X[at + n : at + n + 1]
        judge_one(E, columns, rows, lookup, X, at, n, candidate, entropies, gains, stats)
        A[to] = strength_of(stats, whole(0), E[GAMMA])
        return whole(1)
    products = array_at(E[PRODUCTS], n_rows + 1, np.float64)
    if what == GROUP:
        A[to] = judge_together(E, columns, rows, lookup, products, X, at, n)
        return whole(1)
    regrets = array_at(E[REGRETS], E[N_REGRETS], np.float64)
    return judge_family(E, columns, rows, lookup, products, regrets, X, at, n, A, to)


class Direct:
    """A table as ``answer`` reads it; it lives as long as its arrays, which are kept here.

    Up to ``most`` cells tables are counted in planes, sets of columns up to ``most_joint``;
    ``products`` are n ln n, and ``regrets`` gives what tables cost, up to a number of cells at
    least.
    """

    def __init__(
        self,
        columns: Columns,
        rows: Rows,
        lookup: Tables,
        most: int,
        most_joint: int,
        products: Floats,
        regrets: Callable[[int], Floats],
    ) -> None:
        from tamis.counting import pointers

        words, ones, pairs, first, arities, _, plain, n_rows, widest = columns
        codes, everyone, weights, ranges, empty = rows
        terms, tail, _, _, constant, _, clips = lookup
        zeros = np.zeros(2, dtype=np.int64)
        numbers = (
            len(arities), n_rows, *words.shape, widest, most, most_joint, empty, tail, constant,
            clips,
        )  # fmt: skip
        arrays = (
            words, ones, pairs, first, arities, plain, codes, weights, ranges, everyone, zeros,
            terms, products,
        )  # fmt: skip
        # Rows that were drawn anew may lie in memory column by column.
        self._kept = [np.ascontiguousarray(one) for one in arrays]
        self._regrets = regrets
        loops = (
            address_of(judge_planes, pointers.JUDGE_PLANES),
            address_of(judge_rows, pointers.JUDGE_ROWS),
            address_of(count_sets, pointers.COUNT_SETS),
            address_of(answer, signature()),
        )
        places = (one.ctypes.data for one in self._kept)
        self.numbers = np.array(
            [*numbers, *places, 0, 0, pointers.gamma_address(), *loops], dtype=np.int64
        )
        self.price_up_to(1)

    def price_up_to(self, n_cells: int) -> None:
        """Know what tables up to this number of cells cost: larger ones are not for here."""
        self._prices = np.ascontiguousarray(self._regrets(n_cells))
        self.numbers[[REGRETS, N_REGRETS]] = self._prices.ctypes.data, len(self._prices)
