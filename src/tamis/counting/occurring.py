"""Tables in memory with far more cells than rows: only the cells that occur are looked at.

Columns of many levels make such tables, and to lay them out costs more than to count them. What is
found is that of ``judge_tables``, to the last bit.
"""

from __future__ import annotations

import numpy as np

from tamis.counting.compiled import Codes, Floats, Ints, Pairs, Tables, compiled, inner, whole
from tamis.counting.fold import HEAD, finish
from tamis.counting.independence import ROUNDING, SCALE, null_moments


@compiled
def gain_from_rows(
    rows: Ints,
    strata: Ints,
    groups: Ints,
    codes: Codes,
    candidates: Ints,
    widths: Ints,
    n_alone: int,
    bases: Ints,
    choices: Ints,
    lookup: Tables,
    room: Pairs,
    gains: Floats,
) -> None:
    """The gains of the candidates of one context where no tests are wanted, and the support is not
    what occurs: only cells that occur are looked at, so the size of the tables does not matter.

    ``strata`` and ``groups`` number the states of S and of (S, X_k) that these rows have; strata of
    one row are left out, and there are ``n_alone`` of them. ``room`` has zeros for the cells of
    the largest tables of (S, X_l) and (S, X_k, X_l), and is left so.
    """
    terms, tail, supports, nothing, constant, _, clips = lookup
    for c in range(candidates.shape[0]):
        k, width = candidates[c], widths[c]
        heads = choices[c, 0] * HEAD, choices[c, 1] * HEAD
        beside = np.int64(n_alone * terms[1 + heads[0]])
        both = np.int64(n_alone * terms[1 + heads[1]])
        n_beside = n_both = n_alone + whole(0)
        for i in range(rows.shape[0]):
            y = np.int64(codes[k, rows[i]])
            room[0, strata[i] * width + y] += 1
            room[1, groups[i] * width + y] += 1
        for i in range(rows.shape[0]):  # a cell that was read before is 0, and so is f(0)
            y = np.int64(codes[k, rows[i]])
            count = np.int64(room[0, strata[i] * width + y])
            room[0, strata[i] * width + y] = 0
            beside += terms[count + (tail if count >= HEAD else heads[0])]
            n_beside += int(count > 0)
            count = np.int64(room[1, groups[i] * width + y])
            room[1, groups[i] * width + y] = 0
            both += terms[count + (tail if count >= HEAD else heads[1])]
            n_both += int(count > 0)
        h_sl = finish(beside, n_beside, choices[c, 0], supports, nothing, constant, clips)
        h_skl = finish(both, n_both, choices[c, 1], supports, nothing, constant, clips)
        gains[c] = (bases[1] + h_sl - bases[0] - h_skl) / SCALE


@compiled
def judge_occurring(
    rows: Ints,
    groups: Ints,
    strata: Ints,
    codes: Codes,
    candidates: Ints,
    widest: int,
    n_alone: int,
    bases: Ints,
    choices: Ints,
    lookup: Tables,
    plain: Ints,
    gains: Floats,
    stats: Floats,
) -> None:
    """Judge the candidates of one context where tables have far more cells than there are rows:
    only the cells that occur are looked at.

    ``rows`` go by stratum and the target's level: group g has ``rows[groups[g] : groups[g + 1]]``,
    and stratum s the groups from ``strata[s]`` to ``strata[s + 1]``. Strata of one row are left
    out: there are ``n_alone`` of them. ``bases`` are H(S) and H(S, X_k); the rest is as for
    ``judge_tables``.
    """
    n_groups, n_strata = groups.shape[0] - 1, strata.shape[0] - 1
    here = np.zeros(widest, dtype=np.int64)
    column = np.zeros(widest, dtype=np.int64)
    levels = np.empty(widest, dtype=np.int64)
    cells = np.empty((2, rows.shape[0]), dtype=np.int64)  # levels of the candidate, and counts
    cells_from = np.zeros(n_groups + 1, dtype=np.int64)
    beside = np.empty(rows.shape[0], dtype=np.int64)
    for c in range(candidates.shape[0]):
        n_beside = whole(0)
        for i in range(stats.shape[1] if stats.shape[0] else 0):
            stats[c, i] = 0.0
        gain = np.int64(0)
        for s in range(n_strata):
            for g in range(strata[s], strata[s + 1]):
                cells_from[g + 1] = count_group(
                    rows, groups[g], groups[g + 1], codes, candidates[c], here, levels, cells,
                    cells_from[g],
                )  # fmt: skip
            n_columns = sum_columns(
                cells, cells_from[strata[s]], cells_from[strata[s + 1]], column, levels
            )
            for j in range(n_columns):
                beside[n_beside + j] = column[levels[j]]
            n_beside += n_columns
            if stats.shape[0] and n_columns > 1 and strata[s + 1] > strata[s] + 1:
                gain += test_stratum(
                    groups, cells, cells_from, strata[s], strata[s + 1], column, levels, n_columns,
                    plain, c, stats,
                )  # fmt: skip
            for j in range(n_columns):
                column[levels[j]] = 0
        h_sl = fold_counts(beside, n_beside, n_alone, choices[c, 0], lookup)
        h_skl = fold_counts(cells[1], cells_from[n_groups], n_alone, choices[c, 1], lookup)
        gains[c] = (bases[1] + h_sl - bases[0] - h_skl) / SCALE
        if stats.shape[0]:
            stats[c, 0] = gain / SCALE


@inner
def count_group(
    rows: Ints,
    start: int,
    stop: int,
    codes: Codes,
    candidate: int,
    here: Ints,
    levels: Ints,
    cells: Ints,
    first: int,
) -> int:
    """Write the cells of one group, the candidate's levels in their order; where the next begin."""
    n_levels = whole(0)
    for i in range(start, stop):
        y = np.int64(codes[candidate, rows[i]])
        if here[y] == 0:
            levels[n_levels] = y
            n_levels += 1
        here[y] += 1
    if n_levels > 1:
        put_in_order(levels, n_levels)
    for j in range(n_levels):
        cells[0, first + j] = levels[j]
        cells[1, first + j] = here[levels[j]]
        here[levels[j]] = 0
    return first + n_levels


@inner
def sum_columns(cells: Ints, start: int, stop: int, column: Ints, levels: Ints) -> int:
    """Add up the cells of a stratum for each level of the candidate; how many levels occur."""
    n_levels = whole(0)
    for e in range(start, stop):
        y = cells[0, e]
        if column[y] == 0:
            levels[n_levels] = y
            n_levels += 1
        column[y] += cells[1, e]
    put_in_order(levels, n_levels)
    return n_levels


@inner
def put_in_order(values: Ints, n: int) -> None:
    """Sort the first values; most are few."""
    step = whole(1)
    while step < n // 3:
        step = 3 * step + 1
    while step > 0:
        for i in range(step, n):
            value, j = values[i], i
            while j >= step and values[j - step] > value:
                values[j] = values[j - step]
                j -= step
            values[j] = value
        step //= 3


@inner
def test_stratum(
    groups: Ints,
    cells: Ints,
    cells_from: Ints,
    start: int,
    stop: int,
    column: Ints,
    levels: Ints,
    n_columns: int,
    plain: Ints,
    c: int,
    stats: Floats,
) -> np.int64:
    """What ``test_table`` does with one stratum, from the cells that occur; the plug-in gain."""
    gain = np.int64(0)
    squares = inverse_a = inverse_b = 0.0
    for g in range(start, stop):
        size = groups[g + 1] - groups[g]
        weighted = 0.0
        for e in range(cells_from[g], cells_from[g + 1]):
            count = cells[1, e]
            weighted += float(count) * float(count) * (1.0 / column[cells[0, e]])
            gain -= plain[count]
        squares += weighted / size
        inverse_a += 1.0 / size
        gain += plain[size]
    for j in range(n_columns):
        inverse_b += 1.0 / column[levels[j]]
        gain += plain[column[levels[j]]]
    N = groups[stop] - groups[start]
    r, s = float(stop - start), float(n_columns)
    stats[c, 1] += (r - 1.0) * (s - 1.0)
    null_mean, null_variance = null_moments(float(N), r, s, inverse_a, inverse_b)
    if null_variance > ROUNDING * null_mean:
        if squares > 1.0:
            stats[c, 2] += N * (squares - 1.0)
        stats[c, 3] += null_mean
        stats[c, 4] += null_variance
    return np.int64(gain - plain[N])


@inner
def fold_counts(counts: Ints, n_counts: int, n_alone: int, choice: int, lookup: Tables) -> np.int64:
    """The entropy of a table from the counts that are not 0, and so many more that are 1."""
    terms, tail, supports, nothing, constant, observed, clips = lookup
    row = n_counts + n_alone if observed else choice
    total = np.int64(n_alone * terms[1 + row * HEAD])
    for e in range(n_counts):
        total += terms[counts[e] + (tail if counts[e] >= HEAD else row * HEAD)]
    return finish(total, n_counts + n_alone, row, supports, nothing, constant, clips)
