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
from functools import cache
from typing import Any

import numpy as np

from tamis.counting.by_rows import (
    append_column,
    count_sets,
    fold_counts,
    is_constant,
    judge_rows,
    renumber,
)
from tamis.counting.compiled import (
    Asked,
    Codes,
    Columns,
    Floats,
    Ints,
    Pairs,
    Rows,
    Shorts,
    Tables,
    address_of,
    compiled,
    inner,
    whole,
)
from tamis.counting.in_planes import judge_planes
from tamis.counting.independence import HEAD, ROUNDING, SCALE, SMALLEST_P, STATS

ROW, STRENGTH, FAMILY, GROUP = whole(0), whole(1), whole(2), whole(3)
"""Questions: the cmi of a target with every column given a set, and its entropy; the strength of
one of them; of a target with its parents the score, and for each parent given the others its cmi
and strength; and the strength of several columns taken together."""

(
    N_COLUMNS, N_ROWS, N_PLANES, N_WORDS, WIDEST, MOST, MOST_JOINT, EMPTY, TAIL, CONSTANT, CLIPS,
    WORDS, ONES, PAIRS, FIRST, ARITIES, PLAIN, CODES, WEIGHTS, RANGES, EVERYONE, ZEROS, TERMS,
    PRODUCTS, FIELDS, LINES, TERMS_OF_COUNT, ROOM, N_FIELDS, REGRETS, N_REGRETS,
    GAMMA, PLANES_LOOP, ROWS_LOOP, SETS_LOOP, ANSWER_LOOP,
) = (whole(one) for one in range(36))  # fmt: skip
"""The places in ``E``: sizes, limits, then addresses of arrays, the lookup of the estimator among
them, and the addresses of scipy's upper tail of gamma laws and of the loops."""

FIELDS_AT_ONCE = 64
"""Fields of a line are a multiple of this, so that they are added in the processor's registers."""
MOST_ROWS = 2**16 - 1
"""A field counts no further."""
LINE_BYTES = 2**24
"""What the lines of a table may take: past the caches they are no quicker than columns."""
ROOM_FOR_FIELDS = 2**20
"""The fields of a context's cells may be so many."""
WORTH = 10
"""Lines are added where a context's cells, times planes, are so many times more than fields: where
they are fewer planes count them sooner."""
AT_MOST = 8
"""Cells in which no field is above this are folded by how many fields reach 1, 2, ..."""
SHORT = 64
"""Cells of more rows hardly ever are such."""

Table = tuple[Columns, Rows, Tables, Floats]
"""A table with the lookup of the estimator and n ln n."""

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
    E: Ints, T: Table, members: Ints, candidates: Ints, entropies: Floats, gains: Floats,
    stats: Floats,
) -> None:  # fmt: skip
    """A context with these candidates."""
    columns, rows, lookup, _ = T
    zero, end, most = whole(0), candidates.shape[0], E[MOST]
    ends = span(zero, members.shape[0])
    asked = asked_of(E, members, ends, candidates, span(zero, end), members[:0])
    n_left = in_planes(
        E[PLANES_LOOP], (columns, most, asked, zero, end, lookup, entropies, gains, stats)
    )
    if n_left > 0:
        by_rows(
            E[ROWS_LOOP], (columns, rows, most, asked, zero, end, lookup, entropies, gains, stats)
        )


@inner
def put_in_slots(
    sizes: Ints, n_strata: int, n_levels: int, slots: Pairs, ends: Pairs, totals: Ints
) -> tuple[int, int]:
    """Number the cells (s, x) of a context that occur where the target has several levels in s:
    elsewhere no column can say anything about it. The number of strata that occur, and of these
    cells; ``ends`` are where those of a stratum end, ``slots`` -1 for the others."""
    n_slots = n_occurring = whole(0)
    for s in range(n_strata):
        n_rows = n_occupied = whole(0)
        for g in range(s * n_levels, (s + 1) * n_levels):
            n_rows += sizes[g]
            n_occupied += int(sizes[g] > 0)
        for g in range(s * n_levels, (s + 1) * n_levels):
            slots[g] = n_slots if n_occupied > 1 and sizes[g] > 0 else whole(-1)
            n_slots += int(slots[g] >= 0)
        ends[s] = n_slots
        totals[n_occurring] = n_rows
        n_occurring += int(n_rows > 0)
    return n_occurring, n_slots


@inner
def add_lines(lines: Codes, n_fields: int, cells: Pairs, slots: Pairs, counts: Shorts) -> None:
    """Count the cells of a context with every level of every column: add up their lines."""
    n = np.uint64(n_fields)
    for i in range(cells.shape[0]):
        slot = slots[cells[i]]
        if slot >= 0:
            to, own = np.uint64(slot) * n, np.uint64(i) * n
            for f in range(n):
                counts[to + f] += lines[own + f]


@inner
def fold_slot(
    counts: Shorts, start: int, n_fields: int, size: int, plain: Ints, beside: Shorts,
    reach: Shorts, totals: Ints,
) -> None:  # fmt: skip
    """Take f of the counts of a cell of this size from the totals of their fields, and add them to
    those of their stratum. What is small is only noted in ``reach``: how many fields reach 1, 2,
    ..., because comparing goes many at a time, and looking up does not."""
    n, first = np.uint64(n_fields), np.uint64(start)
    largest = np.uint16(0)
    for f in range(n):
        count = counts[first + f]
        beside[f] += count
        largest = count if count > largest else largest
    if size <= SHORT and largest <= AT_MOST:
        for j in range(np.uint16(largest)):
            own = np.uint64(j) * n
            for f in range(n):
                reach[own + f] += np.uint16(counts[first + f] > j)
        return
    for f in range(n):
        totals[f] -= plain[np.uint64(counts[first + f])]


@inner
def number_cells(columns: Columns, rows: Rows, members: Ints, cells: Pairs) -> int:
    """Number the strata of a context and, within them, its target's levels: the cell of each row.
    How many strata there are, or 0 where the cells are far more than the rows."""
    arities, codes, empty = columns[4], rows[0], rows[4]
    n_rows, n_given, size = cells.shape[0], members.shape[0] - 1, whole(1)
    target = members[n_given]
    number = np.empty((empty + 1) * n_rows, dtype=np.int32)
    for k in members[:n_given]:
        size = append_column(rows, whole(0), k, arities[k], cells, size, number)
    n_levels = arities[target]
    if size * n_levels > n_rows:
        size = renumber(cells, size, number)
        if size * n_levels > empty * n_rows:
            return whole(0)
    for i in range(n_rows):
        cells[i] = cells[i] * n_levels + np.int64(codes[target, i])
    return size


@inner
def fold_lines(
    counts: Shorts, ends: Pairs, sizes: Ints, n_fields: int, plain: Ints, totals: Ints
) -> None:
    """f summed over the counts of each field in the strata, less that in their cells, whose sizes
    follow each other up to where each stratum ends."""
    beside = np.zeros(n_fields, dtype=np.uint16)
    reach = np.zeros(AT_MOST * n_fields, dtype=np.uint16)
    slot = whole(0)
    for s in range(ends.shape[0]):
        speaks = slot < ends[s]
        while slot < ends[s]:
            fold_slot(counts, slot * n_fields, n_fields, sizes[slot], plain, beside, reach, totals)
            slot += 1
        for f in range(n_fields if speaks else whole(0)):
            totals[f] += plain[np.uint64(beside[f])]
            beside[f] = 0
    for j in range(AT_MOST if plain.shape[0] > AT_MOST else plain.shape[0] - 1):
        step = plain[j + 1] - plain[j]
        for f in range(n_fields):
            totals[f] -= step * np.int64(reach[j * n_fields + f])


@inner
def judge_lines(E: Ints, T: Table, members: Ints, A: Floats, to: int) -> bool:
    """The cmi of a context with every column, and its entropy behind them, from the lines of the
    rows; False where its cells are too many, or too few."""
    columns, rows, lookup, _ = T
    codes, arities, n_rows, n_fields = rows[0], columns[4], columns[7], E[N_FIELDS]
    d, n_cells, n_levels = arities.shape[0], whole(1), whole(1)
    for k in members:
        n_levels = arities[k]
        n_cells *= n_levels if n_cells < n_rows else whole(1)
    if n_cells * E[N_PLANES] < WORTH * n_fields:
        return False
    cells = np.zeros(n_rows, dtype=np.int32)
    size = number_cells(columns, rows, members, cells)
    if size == 0:
        return False
    sizes = np.zeros(size * n_levels, dtype=np.int64)
    for i in range(n_rows):
        sizes[cells[i]] += 1
    slots = np.empty(size * n_levels, dtype=np.int32)
    ends = np.empty(size, dtype=np.int32)
    strata = np.empty(size, dtype=np.int64)
    n_strata, n_slots = put_in_slots(sizes, size, n_levels, slots, ends, strata)
    if n_slots * n_fields > ROOM_FOR_FIELDS:
        return False
    occupied = np.empty(size * n_levels, dtype=np.int64)
    in_slots = np.empty(n_slots, dtype=np.int64)
    n_occupied = whole(0)
    for g in range(size * n_levels):
        occupied[n_occupied] = sizes[g]
        n_occupied += int(sizes[g] > 0)
        if slots[g] >= 0:
            in_slots[slots[g]] = sizes[g]
    counts = array_at(E[ROOM], n_slots * n_fields, np.uint16)
    for f in range(n_slots * n_fields):
        counts[f] = 0
    lines = array_at(E[LINES], n_rows * n_fields, np.uint8)
    add_lines(lines, n_fields, cells, slots, counts)
    plain = array_at(E[TERMS_OF_COUNT], n_rows + 1, np.int64)
    totals = np.zeros(n_fields, dtype=np.int64)
    fold_lines(counts, ends, in_slots, n_fields, plain, totals)
    h_s = fold_counts(strata[:n_strata], whole(0), lookup)
    entropy = fold_counts(occupied[:n_occupied], whole(0), lookup) - h_s
    fields = array_at(E[FIELDS], d + 1, np.int64)
    for k in range(d):
        total = np.int64(0)
        for f in range(fields[k], fields[k + 1]):
            total += totals[f]
        A[to + k] = (entropy + total) / SCALE
        if n_strata == 1 and is_constant(codes[k]):
            A[to + k] = 0.0
    for k in members:
        A[to + k] = 0.0
    A[to + d] = entropy / SCALE
    return True


@inner
def count_one(E: Ints, T: Table, members: Ints, sums: Floats) -> Rows:
    """The joint states of a set of columns that occur, in the place of rows."""
    columns, rows, _, products = T
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
def judge_together(E: Ints, T: Table, X: Ints, at: int, n: int) -> float:
    """The strength of the group that stands behind its context."""
    columns, rows, lookup, _ = T
    size, zero, one, n_cells = X[at + n], whole(0), whole(1), whole(1)
    members = np.empty(n + size, dtype=np.int64)
    for v in range(n + size):
        members[v] = X[at + (v if v < n else v + 1)]
        n_cells *= columns[4][members[v]] if n_cells < E[N_ROWS] else one
    states = rows
    if n_cells < E[N_ROWS]:  # else there may be as many states as rows
        no_sums = np.empty((0, 2), dtype=np.float64)
        states = count_one(E, T, members, no_sums)
    asked = asked_of(E, members, span(zero, n), members, span(zero, one), span(n, n + size))
    stats = np.zeros((1, STATS), dtype=np.float64)
    room = np.empty(2, dtype=np.float64)
    by_rows(
        E[ROWS_LOOP],
        (columns, states, zero, asked, zero, one, lookup, room[:1], room[1:], stats),
    )
    return strength_of(stats, zero, E[GAMMA])


@inner
def judge_family(E: Ints, T: Table, family: Ints, A: Floats, to: int) -> int:
    """The score of a family, and each member with its cmi and strength given the others."""
    columns, rows, lookup, _ = T
    n_strata = size = whole(1)
    for k in family:
        n_strata, size = size, size * columns[4][k]
        if size >= E[N_REGRETS]:
            return whole(0)
    regrets = array_at(E[REGRETS], E[N_REGRETS], np.float64)
    sums = np.empty((1, 2), dtype=np.float64)
    states = count_one(E, T, family, sums)
    A[to] = (sums[0, 0] - regrets[size]) - (sums[0, 1] - regrets[n_strata])
    n, n_members, zero = family.shape[0], family.shape[0] - 1, whole(0)
    if n_members == 0:
        return whole(1)
    variables = np.empty(n_members * n_members, dtype=np.int64)
    starts = np.empty(n, dtype=np.int64)
    for i in range(n):
        starts[i] = i * n_members
    for i in range(n_members):
        for v in range(n_members):
            variables[i * n_members + v] = family[v if v < i else v + 1]
    # Each context has one candidate: they begin where they are counted.
    asked = asked_of(E, variables, starts, family[:n_members], rows[1], family[:0])
    gains = np.empty(n_members, dtype=np.float64)
    stats = np.empty((n_members, STATS), dtype=np.float64)
    entropies = np.empty(n_members, dtype=np.float64)
    by_rows(
        E[ROWS_LOOP],
        (columns, states, zero, asked, zero, n_members, lookup, entropies, gains, stats),
    )
    for i in range(n_members):
        place = to + 1 + 3 * i
        A[place] = family[i]
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
    T, members = (
        (columns, rows, lookup, array_at(E[PRODUCTS], n_rows + 1, np.float64)),
        X[at : at + n],
    )
    if what == ROW:
        if E[N_FIELDS] > 0 and judge_lines(E, T, members, A, to):
            return whole(1)
        no_stats = np.empty((0, STATS), dtype=np.float64)
        entropies, gains = A[to + d : to + d + 1], A[to : to + d]
        judge_one(E, T, members, everyone, entropies, gains, no_stats)
        return whole(1)
    if what == STRENGTH:
        stats = np.empty((1, STATS), dtype=np.float64)
        entropies, gains = np.empty(1, dtype=np.float64), np.empty(1, dtype=np.float64)
        candidate = X[at + n : at + n + 1]
        judge_one(E, T, members, candidate, entropies, gains, stats)
        A[to] = strength_of(stats, whole(0), E[GAMMA])
        return whole(1)
    if what == GROUP:
        A[to] = judge_together(E, T, X, at, n)
        return whole(1)
    return judge_family(E, T, members, A, to)


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
        lines, fields = lines_of(codes, arities, most_bytes=0 if clips else LINE_BYTES)
        room = np.empty(ROOM_FOR_FIELDS if lines.size else 0, dtype=np.uint16)
        of_count = np.concatenate([terms[: min(HEAD, n_rows + 1)], terms[tail + HEAD :]])
        zeros = np.zeros(2, dtype=np.int64)
        numbers = (
            len(arities), n_rows, *words.shape, widest, most, most_joint, empty, tail, constant,
            clips,
        )  # fmt: skip
        arrays = (
            words, ones, pairs, first, arities, plain, codes, weights, ranges, everyone, zeros,
            terms, products, fields, lines, of_count, room,
        )  # fmt: skip
        # Rows that were drawn anew may lie in memory column by column.
        self._kept = [np.ascontiguousarray(one) for one in arrays]
        self._regrets = regrets
        places = [one.ctypes.data for one in self._kept]
        gamma = pointers.gamma_address()
        self.numbers = np.array(
            [*numbers, *places, lines.shape[1], 0, 0, gamma, *places_of_loops()], dtype=np.int64
        )
        self.price_up_to(1)

    def price_up_to(self, n_cells: int) -> None:
        """Know what tables up to this number of cells cost: larger ones are not for here."""
        self._prices = np.ascontiguousarray(self._regrets(n_cells))
        self.numbers[[REGRETS, N_REGRETS]] = self._prices.ctypes.data, len(self._prices)


@cache
def places_of_loops() -> tuple[int, ...]:
    """The addresses of the loops that count, and of ``answer``, which calls them."""
    from tamis.counting import pointers

    return (
        address_of(judge_planes, pointers.JUDGE_PLANES),
        address_of(judge_rows, pointers.JUDGE_ROWS),
        address_of(count_sets, pointers.COUNT_SETS),
        address_of(answer, signature()),
    )


def lines_of(codes: Codes, arities: Ints, *, most_bytes: int) -> tuple[Codes, Ints]:
    """The rows of a table as lines of fields, one for each level of each column, 1 where the row
    has it; and where the fields of each column begin. No lines where they would take too much."""
    fields = np.concatenate([[0], np.cumsum(arities)])
    n_rows = codes.shape[1]
    n_fields = -(-int(fields[-1]) // FIELDS_AT_ONCE) * FIELDS_AT_ONCE
    if n_rows > MOST_ROWS or n_rows * n_fields > most_bytes:
        return np.zeros((0, 0), dtype=np.uint8), fields
    lines = np.zeros((n_rows, n_fields), dtype=np.uint8)
    starts = fields[:-1] + n_fields * np.arange(n_rows)[:, None]
    lines.ravel()[codes.T + starts] = 1
    return lines, fields
