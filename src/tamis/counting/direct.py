"""One question at a time: what a compiled search asks of a table in memory while it runs.

The order search (``search/order_loops``) asks thousands of small questions, one after the other,
each of which depends on the last. Batches of them would have to be guessed ahead, and going out to
Python for each takes longer than to count it. So ``answer`` is compiled by itself and called by the
search through a pointer. It gives the bits that batches give (``judge``, ``by_rows``).

The table comes as one array of numbers, ``E``: addresses, sizes and limits (``Direct``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, cast

import numpy as np

from tamis.counting.by_rows import (
    append_column,
    fold_counts,
    joint_states,
    judge_candidate,
    put_in_groups,
    renumber,
    sum_in_pairs,
)
from tamis.counting.compiled import (
    Codes,
    Floats,
    Ints,
    Pairs,
    Tables,
    Words,
    compiled,
    inner,
    pointed_at,
    popcount,
    whole,
)
from tamis.counting.fold import HEAD
from tamis.counting.independence import ROUNDING, SCALE, SMALLEST_P, STATS, test_table
from tamis.counting.tables import (
    candidate_in_planes,
    cells_in_planes,
    close_levels,
    context_margin,
    is_among,
)

ROW, STRENGTH, FAMILY, GROUP = whole(0), whole(1), whole(2), whole(3)
"""Questions: the cmi of a target with every column given a set, and its entropy; the strength of
one of them; of a target with its parents the score, and for each parent given the others its cmi
and strength; and the strength of several columns taken together."""

(
    N_COLUMNS, N_ROWS, N_PLANES, N_WORDS, WIDEST, MOST, MOST_JOINT, EMPTY,
    WORDS, ONES, PAIRS, FIRST, ARITIES, CODES, WORTH,
    TERMS, TAIL, CONSTANT, CLIPS, PLAIN, PRODUCTS, REGRETS, N_REGRETS, GAMMA,
) = (whole(one) for one in range(24))  # fmt: skip
"""The places in ``E``: sizes, limits, then addresses of arrays, the lookup of the estimator in the
middle, and the address of scipy's upper tail of gamma laws."""

Answer = Callable[[Ints, int, Ints, int, int, Floats, int], int]
"""``answer(E, what, X, at, n, A, to)``: the n columns of the context are ``X[at : at + n]``, its
target last. Where a strength is asked for the candidate comes next, or the number of a group and
then its columns. The answer goes to ``A`` from ``to`` on. 1 if there is one, 0 if the question is
not for here."""

array_at: Any = None
pointer: Any = None
gamma_tail: Any = None
"""What loops call to read arrays, and scipy's Q(shape, at), by their addresses: of numba, and so
not there before a loop is made."""


def signature() -> Any:  # noqa: ANN401 - numba has no types
    """That of ``answer``, which can be compiled from now on."""
    global array_at, pointer, gamma_tail
    from tamis.counting import pointers

    array_at, pointer, gamma_tail = pointers.carray, pointers.pointer, pointers.law_at
    return pointers.ANSWER


@inner
def strength_of(stats: Floats, gamma: int) -> float:
    """-ln p of a permutation test, from its statistics (``null_laws.CountTests``)."""
    pearson, mean, variance = stats[0, 2], stats[0, 3], stats[0, 4]
    p = 1.0
    if mean > ROUNDING * mean and variance > ROUNDING * mean:
        rate = mean / variance
        p = gamma_tail(gamma, mean * rate, pearson * rate)
    strength: float = 0.0 - np.log(p if p > SMALLEST_P else SMALLEST_P)
    return strength


@inner
def term(terms: Ints, tail: int, count: int) -> int:
    """f of a count."""
    found: int = terms[count + (tail if count >= HEAD else 0)]
    return found


@inner
def finished(total: int, occupied: int, constant: int, clips: int) -> int:
    """``fold.finish`` where f does not depend on the support."""
    if occupied <= 1:
        return whole(0)
    total += constant
    return whole(0) if clips and total < 0 else total


@inner
def table_of(
    words: Words,
    ones: Ints,
    pairs: Pairs,
    masks: Words,
    where: Ints,
    margin: Ints,
    start: int,
    arity: int,
    arities: Ints,
    X: Ints,
    at: int,
    n: int,
    cells: Ints,
    tensor: Ints,
) -> None:
    """The table of a context with a candidate whose planes begin at ``start``:
    ``cells[y, (s, x)]``."""
    n_planes, n_cells = words.shape[0], where.shape[0]
    last = (arity - 1) * n_cells
    for e in range(n_cells):
        cells[last + e] = margin[e]
    for y in range(arity - 1):
        plane = start + y
        for e in range(n_cells):
            place = where[e]
            if place >= n_planes:
                total = np.uint64(0)
                for w in range(words.shape[1]):
                    total += popcount(masks[place - n_planes, w] & words[plane, w])
                tensor[e, 0] = np.int64(total)
            elif place < 0:
                tensor[e, 0] = ones[plane]
            else:
                tensor[e, 0] = pairs[place, plane]
        close_levels(tensor, whole(1), arities, X, at, at + n)
        for e in range(n_cells):
            cells[y * n_cells + e] = tensor[e, 0]
            cells[last + e] -= tensor[e, 0]


@inner
def fold_levels(
    cells: Ints, n_cells: int, n_levels: int, arity: int, E: Ints, terms: Ints
) -> tuple[int, int]:
    """H(S, X_l) and H(S, X_k, X_l) of a table ``cells[y, (s, x)]``; with a single y, H(S) and
    H(S, X_k)."""
    tail = E[TAIL]
    beside = both = n_beside = n_both = whole(0)
    for s in range(0, n_cells * arity, n_levels):
        total = whole(0)
        for e in range(s, s + n_levels):
            count = cells[e]
            both += term(terms, tail, count)
            n_both += int(count > 0)
            total += count
        beside += term(terms, tail, total)
        n_beside += int(total > 0)
    return (
        finished(beside, n_beside, E[CONSTANT], E[CLIPS]),
        finished(both, n_both, E[CONSTANT], E[CLIPS]),
    )


@inner
def fold_groups(
    codes: Codes,
    k: int,
    width: int,
    groups: Pairs,
    strata_from: Pairs,
    table: Pairs,
    E: Ints,
    terms: Ints,
) -> tuple[int, int]:
    """The same of a table counted row by row, laid out by groups of rows: ``groups`` says in which
    of them a row is, and ``strata_from`` where those of each stratum begin."""
    tail, n_strata = E[TAIL], strata_from.shape[0] - 1
    for e in range(strata_from[n_strata] * width):
        table[e] = 0
    for i in range(groups.shape[0]):
        # Numbers without a sign need not be looked at for places counted from the end.
        table[np.uint64(groups[i] * width + np.int64(codes[k, i]))] += 1
    beside = both = n_beside = n_both = whole(0)
    for s in range(n_strata):
        first, stop = strata_from[s] * width, strata_from[s + 1] * width
        for y in range(first, first + width):
            total = whole(0)
            for e in range(y, stop, width):
                count = whole(table[e])
                if count > 0:
                    both += term(terms, tail, count)
                    n_both += 1
                    total += count
            if total > 0:
                beside += term(terms, tail, total)
                n_beside += 1
    return (
        finished(beside, n_beside, E[CONSTANT], E[CLIPS]),
        finished(both, n_both, E[CONSTANT], E[CLIPS]),
    )


@inner
def judge_groups(
    codes: Codes,
    weights: Pairs,
    arities: Ints,
    X: Ints,
    at: int,
    n: int,
    first: int,
    stop: int,
    skip: Ints,
    E: Ints,
    lookup: Tables,
    plain: Ints,
    gains: Floats,
    stats: Floats,
) -> float:
    """Row by row, the context ``X[at : at + n]`` with the columns from ``first`` to ``stop`` that
    are not to be skipped; tests them if there is room for ``stats``, which has one line. Without
    such columns, those of ``skip`` taken together. Returns the entropy of the target."""
    terms, n_rows, empty = lookup[0], codes.shape[1], E[EMPTY]
    strata = np.empty(n_rows, dtype=np.int32)
    groups = np.empty(n_rows, dtype=np.int32)
    number = np.empty((empty + 1) * n_rows, dtype=np.int32)
    target = X[at + n - 1]
    n_strata = joint_states(codes, whole(0), arities, X, at, at + n - 1, strata, number, empty)
    for i in range(n_rows):
        groups[i] = strata[i]
    size = append_column(codes, whole(0), target, arities[target], groups, n_strata, number, empty)
    n_groups = renumber(groups, size, number)
    order, begins, sizes, strata_from, totals, inverses = put_in_groups(
        strata, groups, n_strata, n_groups, weights
    )
    base = np.empty(2, dtype=np.int64)
    base[0] = fold_counts(totals, whole(0), lookup)
    base[1] = fold_counts(sizes, whole(0), lookup)
    choices = np.zeros(2, dtype=np.int64)
    levels = np.empty(n_rows, dtype=np.int32)
    room = np.zeros(1, dtype=np.float64)
    if first == stop:
        width = joint_states(
            codes, whole(0), arities, skip, whole(0), skip.shape[0], levels, number, empty
        )
        judge_candidate(
            levels, width, weights, groups, order, begins, sizes, strata_from, totals, inverses,
            base, choices, lookup, plain, empty, whole(0), room, stats,
        )  # fmt: skip
    for k in range(first, stop):
        if skip[k] != 0 or is_among(k, X, at, at + n):
            continue
        width = arities[k]
        if stats.shape[0] == 0 and n_groups * width <= empty * n_rows:
            beside, both = fold_groups(codes, k, width, groups, strata_from, number, E, terms)
            gains[k] = (base[1] + beside - base[0] - both) / SCALE
            continue
        for i in range(n_rows):
            levels[i] = codes[k, i]
        judge_candidate(
            levels, width, weights, groups, order, begins, sizes, strata_from, totals, inverses,
            base, choices, lookup, plain, empty, whole(0), room, stats,
        )  # fmt: skip
        gains[k] = room[0]
    entropy: float = (base[1] - base[0]) / SCALE
    return entropy


@inner
def judge_row(
    E: Ints, words: Words, ones: Ints, pairs: Pairs, first: Ints, arities: Ints, codes: Codes,
    worth: Pairs, lookup: Tables, plain: Ints, X: Ints, at: int, n: int, A: Floats, to: int,
) -> None:  # fmt: skip
    """The cmi of the target with every column, 0 with those of the context; then its entropy."""
    d, most, n_left, entropy = E[N_COLUMNS], E[MOST], whole(0), 0.0
    gains = np.zeros(d, dtype=np.float64)
    done = np.zeros(d, dtype=np.int64)
    n_cells = cells_in_planes(first, arities, most, X, at, at + n)
    if n_cells <= most:
        terms, n_levels = lookup[0], arities[X[at + n - 1]]
        where = np.empty(n_cells, dtype=np.int64)
        margin = np.empty(n_cells, dtype=np.int64)
        masks = context_margin(words, ones, first, arities, E[N_ROWS], X, at, at + n, where, margin)
        h_s, h_sk = fold_levels(margin, n_cells, n_levels, whole(1), E, terms)
        entropy = (h_sk - h_s) / SCALE
        cells = np.empty(n_cells * E[WIDEST], dtype=np.int64)
        tensor = np.empty((n_cells, 1), dtype=np.int64)
        for k in range(d):
            if not candidate_in_planes(first, arities, most, n_cells, k):
                continue
            done[k] = 1
            if is_among(k, X, at, at + n):
                continue
            table_of(
                words, ones, pairs, masks, where, margin, first[k], arities[k], arities, X, at, n,
                cells, tensor,
            )  # fmt: skip
            beside, both = fold_levels(cells, n_cells, n_levels, arities[k], E, terms)
            gains[k] = (h_sk + beside - h_s - both) / SCALE
    for k in range(d):
        n_left += int(done[k] == 0 and not is_among(k, X, at, at + n))
    if n_left > 0 or n_cells > most:
        stats = np.empty((0, STATS), dtype=np.float64)
        entropy = judge_groups(
            codes, worth, arities, X, at, n, whole(0), d, done, E, lookup, plain, gains, stats
        )
    for k in range(d):
        A[to + k] = gains[k]
    A[to + d] = entropy


@inner
def judge_strength(
    E: Ints, words: Words, ones: Ints, pairs: Pairs, first: Ints, arities: Ints, codes: Codes,
    worth: Pairs, lookup: Tables, plain: Ints, X: Ints, at: int, n: int, A: Floats, to: int,
) -> None:  # fmt: skip
    """The strength of one candidate."""
    k, most = X[at + n], E[MOST]
    stats = np.zeros((1, STATS), dtype=np.float64)
    n_cells = cells_in_planes(first, arities, most, X, at, at + n)
    if candidate_in_planes(first, arities, most, n_cells, k):
        n_levels, arity = arities[X[at + n - 1]], arities[k]
        where = np.empty(n_cells, dtype=np.int64)
        margin = np.empty(n_cells, dtype=np.int64)
        masks = context_margin(words, ones, first, arities, E[N_ROWS], X, at, at + n, where, margin)
        cells = np.empty(n_cells * arity, dtype=np.int64)
        tensor = np.empty((n_cells, 1), dtype=np.int64)
        table_of(
            words, ones, pairs, masks, where, margin, first[k], arity, arities, X, at, n, cells,
            tensor,
        )  # fmt: skip
        turned = np.empty(n_cells * arity, dtype=np.int64)
        for e in range(n_cells):
            for y in range(arity):
                turned[e * arity + y] = cells[y * n_cells + e]
        rows = np.empty(n_levels, dtype=np.int64)
        columns = np.empty(arity, dtype=np.int64)
        inverses = np.empty(arity, dtype=np.float64)
        test_table(
            turned, n_cells, n_levels, arity, plain, rows, columns, inverses, whole(0), stats
        )
    else:
        gains = np.zeros(E[N_COLUMNS], dtype=np.float64)
        done = np.zeros(E[N_COLUMNS], dtype=np.int64)
        judge_groups(
            codes, worth, arities, X, at, n, k, k + 1, done, E, lookup, plain, gains, stats
        )
    A[to] = strength_of(stats, E[GAMMA])


@inner
def judge_together(
    E: Ints, arities: Ints, codes: Codes, worth: Pairs, lookup: Tables, plain: Ints, X: Ints,
    at: int, n: int, A: Floats, to: int,
) -> None:  # fmt: skip
    """The strength of a group."""
    stats = np.zeros((1, STATS), dtype=np.float64)
    gains = np.zeros(1, dtype=np.float64)
    members = np.empty(X[at + n], dtype=np.int64)
    for i in range(members.shape[0]):
        members[i] = X[at + n + 1 + i]
    judge_groups(
        codes, worth, arities, X, at, n, whole(0), whole(0), members, E, lookup, plain, gains, stats
    )
    A[to] = strength_of(stats, E[GAMMA])


@inner
def states_of(
    E: Ints, words: Words, ones: Ints, first: Ints, arities: Ints, codes: Codes, X: Ints, at: int,
    n: int,
) -> tuple[Codes, Pairs]:  # fmt: skip
    """The joint states of columns that occur, in their order, a line a column; and the rows of
    each."""
    n_rows, most = E[N_ROWS], E[MOST_JOINT]
    n_cells = cells_in_planes(first, arities, most, X, at, at + n)
    n_states, j = whole(0), whole(0)
    if n_cells <= most:
        where = np.empty(n_cells, dtype=np.int64)
        margin = np.empty(n_cells, dtype=np.int64)
        context_margin(words, ones, first, arities, n_rows, X, at, at + n, where, margin)
        for e in range(n_cells):
            n_states += int(margin[e] > 0)
        levels = np.empty((n, n_states), dtype=np.uint8)
        counts = np.empty(n_states, dtype=np.int32)
        for e in range(n_cells):
            if margin[e] == 0:
                continue
            counts[j] = margin[e]
            rest = whole(e)
            for v in range(n - 1, -1, -1):
                levels[v, j] = rest % arities[X[at + v]]
                rest //= arities[X[at + v]]
            j += 1
        return levels, counts
    states = np.empty(n_rows, dtype=np.int32)
    number = np.empty((E[EMPTY] + 1) * n_rows, dtype=np.int32)
    n_states = joint_states(codes, whole(0), arities, X, at, at + n, states, number, E[EMPTY])
    levels = np.empty((n, n_states), dtype=np.uint8)
    counts = np.zeros(n_states, dtype=np.int32)
    for i in range(n_rows):
        counts[states[i]] += 1
        number[states[i]] = i  # a row that has the state
    for v in range(n):
        for e in range(n_states):
            levels[v, e] = codes[X[at + v], number[e]]
    return levels, counts


@inner
def sums_of(levels: Codes, counts: Pairs, products: Floats) -> tuple[float, float]:
    """n ln n added up over the states of a family, and over its strata."""
    n_members, n_states = levels.shape[0] - 1, levels.shape[1]
    values = np.empty(n_states, dtype=np.float64)
    for e in range(n_states):
        values[e] = products[counts[e]]
    family = sum_in_pairs(values, whole(0), n_states)
    n, total = whole(0), whole(0)
    for e in range(n_states):
        total += counts[e]
        is_last = e == n_states - 1
        for v in range(whole(0) if is_last else n_members):
            if levels[v, e] != levels[v, e + 1]:
                is_last = True
        if is_last:
            values[n] = products[total]
            n += 1
            total = whole(0)
    return family, sum_in_pairs(values, whole(0), n)


@inner
def judge_family(
    E: Ints, words: Words, ones: Ints, first: Ints, arities: Ints, codes: Codes, lookup: Tables,
    plain: Ints, products: Floats, regrets: Floats, X: Ints, at: int, n: int, A: Floats, to: int,
) -> int:  # fmt: skip
    """The score of a family, and each member with its cmi and strength given the others."""
    n_strata = whole(1)
    for v in range(at, at + n - 1):
        n_strata *= arities[X[v]]
        if n_strata >= E[N_REGRETS]:
            return whole(0)
    size = n_strata * arities[X[at + n - 1]]
    if size >= E[N_REGRETS]:
        return whole(0)
    levels, counts = states_of(E, words, ones, first, arities, codes, X, at, n)
    of_family, of_strata = sums_of(levels, counts, products)
    A[to] = (of_family - regrets[size]) - (of_strata - regrets[n_strata])
    if n == 1:
        return whole(1)
    own = np.empty(n, dtype=np.int64)
    others = np.empty(n - 1, dtype=np.int64)
    nobody = np.zeros(n, dtype=np.int64)
    gains = np.zeros(n, dtype=np.float64)
    stats = np.zeros((1, STATS), dtype=np.float64)
    for v in range(n):
        own[v] = arities[X[at + v]]
    for i in range(n - 1):
        for v in range(n - 1):
            others[v] = v if v < i else v + 1
        judge_groups(
            levels, counts, own, others, whole(0), n - 1, i, i + 1, nobody, E, lookup, plain,
            gains, stats,
        )  # fmt: skip
        place = to + 1 + 3 * i
        A[place] = X[at + i]
        A[place + 1] = gains[i]
        A[place + 2] = strength_of(stats, E[GAMMA])
    return whole(1)


@compiled
def answer(E: Ints, what: int, X: Ints, at: int, n: int, A: Floats, to: int) -> int:
    """Answer a question about the context ``X[at : at + n]``, its target last (``Answer``)."""
    d, n_rows, n_planes, n_words = E[N_COLUMNS], E[N_ROWS], E[N_PLANES], E[N_WORDS]
    words = array_at(pointer(E[WORDS]), (n_planes, n_words), np.uint64)
    ones = array_at(pointer(E[ONES]), n_planes, np.int64)
    pairs = array_at(pointer(E[PAIRS]), (n_planes, n_planes), np.int32)
    first = array_at(pointer(E[FIRST]), d + 1, np.int64)
    arities = array_at(pointer(E[ARITIES]), d, np.int64)
    codes = array_at(pointer(E[CODES]), (d, n_rows), np.uint8)
    worth = array_at(pointer(E[WORTH]), n_rows, np.int32)
    terms = array_at(pointer(E[TERMS]), E[TAIL] + n_rows + 1, np.int64)
    plain = array_at(pointer(E[PLAIN]), n_rows + 1, np.int64)
    one_support = np.ones(1, dtype=np.int64)
    nothing_unseen = np.zeros(1, dtype=np.int64)
    lookup = (terms, E[TAIL], one_support, nothing_unseen, E[CONSTANT], False, E[CLIPS] != 0)
    if what == ROW:
        judge_row(
            E, words, ones, pairs, first, arities, codes, worth, lookup, plain, X, at, n, A, to
        )
        return whole(1)
    if what == STRENGTH:
        judge_strength(
            E, words, ones, pairs, first, arities, codes, worth, lookup, plain, X, at, n, A, to
        )
        return whole(1)
    if what == GROUP:
        judge_together(E, arities, codes, worth, lookup, plain, X, at, n, A, to)
        return whole(1)
    products = array_at(pointer(E[PRODUCTS]), n_rows + 1, np.float64)
    regrets = array_at(pointer(E[REGRETS]), E[N_REGRETS], np.float64)
    return judge_family(
        E, words, ones, first, arities, codes, lookup, plain, products, regrets, X, at, n, A, to
    )


@compiled
def refuse(E: Ints, what: int, X: Ints, at: int, n: int, A: Floats, to: int) -> int:
    """Answer nothing: every question has to be asked in a batch."""
    return whole(0)


class Direct:
    """A table as ``answer`` reads it; it lives as long as its arrays, which are kept here.

    ``regrets`` gives what tables cost, up to a number of cells at least.
    """

    def __init__(
        self, numbers: dict[int, int], arrays: dict[int, Any], regrets: Callable[[int], Floats]
    ) -> None:
        from tamis.counting.pointers import gamma_address

        self.numbers = np.zeros(GAMMA + 1, dtype=np.int64)
        # Rows that were drawn anew may lie in memory column by column.
        self._arrays = {place: np.ascontiguousarray(one) for place, one in arrays.items()}
        self._regrets = regrets
        for place, value in numbers.items():
            self.numbers[place] = value
        for place, array in self._arrays.items():
            self.numbers[place] = array.ctypes.data
        self.numbers[GAMMA] = gamma_address()
        self.price_up_to(1)

    def price_up_to(self, n_cells: int) -> None:
        """Know what tables of so many cells cost: more are not for here."""
        found = self._arrays[REGRETS] = self._regrets(n_cells)
        self.numbers[[REGRETS, N_REGRETS]] = found.ctypes.data, len(found)

    @cached_property
    def loop(self) -> Answer:
        """What answers."""
        return cast(Answer, pointed_at(answer, signature))
