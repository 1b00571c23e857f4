"""Tables that are too large for planes, counted row by row.

The rows of a context are put in order of stratum and level of the target, once. A candidate is then
folded and tested stratum after stratum, and only the cells that occur are looked at. Rows may stand
for several: a set of columns that is asked about in several ways is counted once (``count_sets``),
and from there on its cells take the place of the rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tamis.counting.compiled import (
    Asked,
    Codes,
    Columns,
    Floats,
    Ints,
    Pairs,
    Rows,
    States,
    Tables,
    compiled,
    inner,
    whole,
)
from tamis.counting.fold import HEAD, finish
from tamis.counting.independence import ROUNDING, SCALE, null_moments, write_test
from tamis.counting.tables import (
    candidate_in_planes,
    cells_in_planes,
    context_margin,
    head_of,
    is_among,
    nothing_gained,
)

MOSTLY = 3
"""Rows that cannot matter are left out where they are more than one in this number."""
FOLDED = 4
"""Tables with more cells than this for each row that matters are folded while they are counted."""


class Grouped(NamedTuple):
    """The rows of a context in groups that share a stratum and a level of the target."""

    groups: Pairs
    """The group of each row."""
    order: Pairs
    """The rows in order of their groups."""
    begins: Pairs
    """Where the rows of each group begin in that order."""
    sizes: Ints
    """How many rows those of a group stand for."""
    strata_from: Pairs
    """Where the groups of each stratum begin."""
    totals: Ints
    """How many rows a stratum stands for."""
    inverses: Floats
    """The sum of the reciprocals of its groups."""


@inner
def renumber(states: Pairs, size: int, number: Pairs) -> int:
    """Number the states that occur 0, 1, ... in order of their value; how many there are.

    All are below ``size``; ``number`` is scratch for as many.
    """
    for e in range(size):
        number[e] = 0
    for i in range(states.shape[0]):
        number[states[i]] = 1
    total = whole(0)
    for e in range(size):
        here = number[e]
        number[e] = total
        total += here
    for i in range(states.shape[0]):
        states[i] = number[states[i]]
    return total


@inner
def append_column(
    codes: Codes,
    at: int,
    line: int,
    arity: int,
    states: Pairs,
    size: int,
    number: Pairs,
    empty: int,
) -> int:
    """Append a column to the joint states, all below ``size``, of the rows from ``at`` on; the new
    size.

    Where there would be ``empty`` times as many states as rows they are renumbered, and sorted
    where even those that occur would make too many.
    """
    room = empty * states.shape[0]
    if size * arity > room:
        size = renumber(states, size, number)
        if size * arity > room:
            return append_by_sorting(codes, at, line, arity, states, size)
    column = codes[line, at : at + states.shape[0]]
    for i in range(states.shape[0]):
        states[i] = states[i] * arity + np.int64(column[i])
    return size * arity


@inner
def append_by_sorting(
    codes: Codes, at: int, line: int, arity: int, states: Pairs, size: int
) -> int:
    """Append a column by sorting rows by the column and then by the states: no gaps are left."""
    n = states.shape[0]
    by_code = np.empty(n, dtype=np.int32)
    order = np.empty(n, dtype=np.int32)
    places = np.zeros((size if size > arity else arity) + 1, dtype=np.int32)
    for i in range(n):
        places[np.int64(codes[line, at + i]) + 1] += 1
    for e in range(arity):
        places[e + 1] += places[e]
    for i in range(n):
        code = np.int64(codes[line, at + i])
        by_code[places[code]] = i
        places[code] += 1
    for e in range(places.shape[0]):
        places[e] = 0
    for i in range(n):
        places[states[i] + 1] += 1
    for e in range(size):
        places[e + 1] += places[e]
    for j in range(n):
        i = by_code[j]
        order[places[states[i]]] = i
        places[states[i]] += 1
    total, state, code = whole(-1), np.int64(-1), np.int64(-1)
    for j in range(n):
        i = order[j]
        if states[i] != state or np.int64(codes[line, at + i]) != code:
            state, code = np.int64(states[i]), np.int64(codes[line, at + i])
            total += 1
        states[i] = total
    return total + 1


@inner
def joint_states(
    codes: Codes,
    lines: Ints,
    at: int,
    arities: Ints,
    variables: Ints,
    start: int,
    stop: int,
    states: Pairs,
    number: Pairs,
    empty: int,
) -> int:
    """The joint states of ``variables[start:stop]`` in the rows from ``at`` on, numbered without
    gaps in order of their value; how many there are."""
    size = whole(1)
    for i in range(states.shape[0]):
        states[i] = 0
    for v in range(start, stop):
        k = variables[v]
        size = append_column(codes, at, lines[k], arities[k], states, size, number, empty)
    return renumber(states, size, number)


@inner
def put_in_groups(
    strata: Pairs, groups: Pairs, n_strata: int, n_groups: int, weights: Pairs
) -> Grouped:
    """The rows of a context, given the stratum and the group of each."""
    n = groups.shape[0]
    order = np.empty(n, dtype=np.int32)
    begins = np.zeros(n_groups + 2, dtype=np.int32)
    sizes = np.zeros(n_groups, dtype=np.int64)
    strata_from = np.zeros(n_strata + 1, dtype=np.int32)
    totals = np.zeros(n_strata, dtype=np.int64)
    inverses = np.zeros(n_strata, dtype=np.float64)
    for i in range(n):
        begins[groups[i] + 2] += 1
    for g in range(2, n_groups + 2):
        begins[g] += begins[g - 1]
    for i in range(n):
        g = groups[i]
        place = begins[g + 1]
        begins[g + 1] = place + 1
        order[place] = i
        sizes[g] += weights[i]
    for g in range(n_groups):
        s = strata[order[begins[g]]]
        strata_from[s + 1] = g + 1
        totals[s] += sizes[g]
        inverses[s] += 1.0 / sizes[g]
    return Grouped(groups, order, begins, sizes, strata_from, totals, inverses)


@inner
def fold_counts(counts: Ints, choice: int, lookup: Tables) -> np.int64:
    """The entropy of a table from the counts that are not 0."""
    terms, tail, supports, nothing, constant, observed, clips = lookup
    n = counts.shape[0]
    row = n if observed else choice
    total = np.int64(0)
    for e in range(n):
        total += terms[counts[e] + (tail if counts[e] >= HEAD else row * HEAD)]
    return finish(total, n, row, supports, nothing, constant, clips)


@inner
def count_group(
    levels: Pairs, order: Pairs, weights: Pairs, start: int, stop: int, here: Ints, cells: Ints,
    first: int,
) -> int:  # fmt: skip
    """List the cells of one group that occur, by the candidate's level; where the next begin."""
    end = first
    for j in range(start, stop):
        y = levels[order[j]]
        if here[y] == 0:
            cells[0, end] = y
            end += 1
        here[y] += weights[order[j]]
    put_in_order(cells, first, end)
    for e in range(first, end):
        cells[1, e] = here[cells[0, e]]
        here[cells[0, e]] = 0
    return end


@inner
def sum_columns(
    cells: Ints, n_cells: int, width: int, is_laid_out: bool, here: Ints, columns: Ints
) -> int:
    """Add up the cells of a stratum for each level of the candidate; how many levels occur."""
    n = whole(0)
    for e in range(n_cells):
        y = cells[0, e]
        if not is_laid_out and here[y] == 0:
            columns[0, n] = y
            n += 1
        here[y] += cells[1, e]
    if is_laid_out:
        for y in range(width):
            columns[0, n] = y
            n += int(here[y] > 0)
    else:
        put_in_order(columns, whole(0), n)
    for j in range(n):
        columns[1, j] = here[columns[0, j]]
        here[columns[0, j]] = 0
    return n


@inner
def put_in_order(values: Ints, start: int, stop: int) -> None:
    """Sort the first line of values from ``start`` to ``stop``; most are few."""
    step = whole(1)
    while step < (stop - start) // 3:
        step = 3 * step + 1
    while step > 0:
        for i in range(start + step, stop):
            value, j = values[0, i], i
            while j >= start + step and values[0, j - step] > value:
                values[0, j] = values[0, j - step]
                j -= step
            values[0, j] = value
        step //= 3


@inner
def lay_out(levels: Pairs, width: int, weights: Pairs, groups: Pairs, n_cells: int) -> Pairs:
    """The table of a candidate, by groups of rows and its levels."""
    table = np.zeros(n_cells, dtype=np.int32)
    for i in range(levels.shape[0] if n_cells > 0 else 0):
        # Numbers without a sign need not be looked at for places counted from the end.
        table[np.uint64(groups[i] * width + levels[i])] += weights[i]
    return table


@inner
def plain_terms(lookup: Tables, most: int) -> Ints:
    """f by the count, up to ``most``, of a lookup that knows one support."""
    terms, tail, _, _, _, _, _ = lookup
    plain = np.empty(most + 1, dtype=np.int64)
    for count in range(most + 1):
        plain[count] = terms[count + (tail if count >= HEAD else whole(0))]
    return plain


class Speaking(NamedTuple):
    """The rows of those strata in which the target has several levels, and with them in groups and
    strata numbered anew: elsewhere no candidate can say anything about it."""

    which: Pairs
    groups: Pairs
    strata: Pairs
    ends: Pairs
    """Where the groups of each stratum begin."""


@inner
def speaking_rows(strata: Pairs, rows: Grouped) -> Speaking:
    """Those of a context. Where nearly all speak, the others stay: going over all rows in turn
    takes less time. They are in one last group, which is a stratum of its own."""
    n, n_strata = strata.shape[0], rows.totals.shape[0]
    which = np.empty(n, dtype=np.int32)
    groups = np.empty(n, dtype=np.int32)
    new_strata = np.empty(n, dtype=np.int32)
    ends = np.zeros(n_strata + 1, dtype=np.int32)
    skipped = np.empty(n_strata, dtype=np.int32)
    place = np.empty(n_strata, dtype=np.int32)
    n_kept = n_rows = n_silent = whole(0)
    for s in range(n_strata):
        n_groups = rows.strata_from[s + 1] - rows.strata_from[s]
        skipped[s] = rows.strata_from[s] - ends[n_kept]
        place[s] = n_kept if n_groups > 1 else whole(-1)
        if n_groups > 1:
            ends[n_kept + 1] = ends[n_kept] + n_groups
            n_kept += 1
        else:
            n_silent += rows.totals[s]
    stay = MOSTLY * n_silent < n
    for i in range(n):
        s = strata[i]
        silent = place[s] < 0
        which[n_rows] = i
        groups[n_rows] = ends[n_kept] if silent else rows.groups[i] - skipped[s]
        new_strata[n_rows] = n_kept if silent else place[s]
        n_rows += int(stay or not silent)
    return Speaking(which[:n_rows], groups[:n_rows], new_strata[:n_rows], ends[: n_kept + 1])


@inner
def fold_cells(
    levels: Codes, width: int, speaking: Speaking, plain: Ints, table: Pairs, here: Pairs
) -> np.int64:
    """f summed over the cells of (S, X_l) less that over those of (S, X_k, X_l), from a table that
    is laid out. The scratch, ``table`` and ``here``, is left empty as it was."""
    groups, ends = speaking.groups, speaking.ends
    n_strata, n_levels = ends.shape[0] - 1, np.uint64(width)
    for i in range(groups.shape[0]):
        # Numbers without a sign need not be looked at for places counted from the end.
        table[np.uint64(groups[i]) * n_levels + np.uint64(levels[i])] += 1
    total, e = np.int64(0), np.uint64(0)
    for s in range(n_strata):
        for _ in range(ends[s], ends[s + 1]):
            for y in range(n_levels):
                count = table[e]
                here[y] += count
                total -= plain[np.uint64(count)]
                e += np.uint64(1)
        for y in range(n_levels):
            total += plain[np.uint64(here[y])]
            here[y] = 0
    for cell in range((ends[n_strata] + 1) * width):
        table[cell] = 0
    return total


@inner
def fold_steps(
    levels: Codes, width: int, speaking: Speaking, plain: Ints, table: Pairs, here: Pairs
) -> np.int64:
    """``fold_cells`` for tables with many more cells than rows: f is added up step by step while
    rows are counted, so that nobody looks at empty cells."""
    groups, strata = speaking.groups, speaking.strata
    total = np.int64(0)
    for i in range(groups.shape[0]):
        e, b = np.uint64(groups[i] * width + levels[i]), np.uint64(strata[i] * width + levels[i])
        both, beside = np.uint64(table[e]), np.uint64(here[b])
        table[e] += 1
        here[b] += 1
        total += plain[beside + np.uint64(1)] - plain[beside]
        total -= plain[both + np.uint64(1)] - plain[both]
    for i in range(groups.shape[0]):
        table[np.uint64(groups[i] * width + levels[i])] = 0
        here[np.uint64(strata[i] * width + levels[i])] = 0
    return total


@inner
def knows_one_support(lookup: Tables) -> bool:
    """Whether f does not depend on the table, and sums of it are entropies but for a constant."""
    _, _, supports, nothing, _, observed, clips = lookup
    return supports.shape[0] == 1 and nothing[0] == 0 and not observed and not clips


@inner
def judge_plainly(
    codes: Codes,
    lines: Ints,
    columns: Columns,
    most: int,
    n_cells: int,
    variables: Ints,
    begins: int,
    ends: int,
    candidates: Ints,
    start: int,
    stop: int,
    strata: Pairs,
    rows: Grouped,
    entropy: np.int64,
    plain: Ints,
    empty: int,
    gains: Floats,
) -> None:
    """The cmi of those candidates of a context whose tables can be laid out, given its entropy."""
    _, _, _, first, arities, _, _, _, _ = columns
    n, n_groups = strata.shape[0], rows.sizes.shape[0]
    speaking = speaking_rows(strata, rows)
    n_rows, n_strata = speaking.which.shape[0], speaking.ends.shape[0]
    spoken = np.empty_like(codes[0])
    widest = whole(1)
    for c in range(start, stop):
        width = arities[candidates[c]]
        if width > widest and n_groups * width <= empty * n:
            widest = width
    table = np.zeros((n_groups + 1) * widest, dtype=np.int32)
    here = np.zeros(n_strata * widest, dtype=np.int32)
    for c in range(start, stop):
        k = candidates[c]
        width = arities[k]
        if n_groups * width > empty * n or candidate_in_planes(first, arities, most, n_cells, k):
            continue
        column = codes[lines[k]]
        if is_among(k, variables, begins, ends) or (
            rows.totals.shape[0] == 1 and is_constant(column)
        ):
            gains[c] = 0.0
            continue
        levels = column
        if n_rows < n:
            levels = spoken
            for i in range(n_rows):
                spoken[i] = column[np.uint64(speaking.which[i])]
        if n_groups * width <= FOLDED * n_rows:
            total = fold_cells(levels, width, speaking, plain, table, here)
        else:
            total = fold_steps(levels, width, speaking, plain, table, here)
        gains[c] = (entropy + total) / SCALE


@inner
def is_constant(column: Codes) -> bool:
    """Whether all rows have the same level: most columns show soon that they do not."""
    for i in range(column.shape[0]):  # noqa: SIM110 - the compiler knows no generators
        if column[i] != column[0]:
            return False
    return True


@inner
def judge_candidate(
    levels: Pairs,
    width: int,
    weights: Pairs,
    rows: Grouped,
    h_s: np.int64,
    h_sk: np.int64,
    beside_row: int,
    both_row: int,
    lookup: Tables,
    plain: Ints,
    empty: int,
    c: int,
    gains: Floats,
    stats: Floats,
) -> None:
    """Fold, and where asked test, the table of a context and a candidate whose level each row has;
    the supports' rows are for (S, X_l) and (S, X_k, X_l).

    Scratch is made anew for each: the compiler knows then that nothing else is written with it.
    """
    terms, tail, supports, nothing, constant, observed, clips = lookup
    groups, order, begins, sizes, strata_from, totals, row_inverses = rows
    n, n_groups = levels.shape[0], sizes.shape[0]
    wants_test = stats.shape[0] > 0
    is_laid_out = n_groups * width <= empty * n
    table = lay_out(levels, width, weights, groups, n_groups * width if is_laid_out else whole(0))
    here = np.zeros(width, dtype=np.int64)
    inverses = np.empty(width, dtype=np.float64)
    cells = np.empty((2, n + width), dtype=np.int64)  # levels of the candidate, and counts
    columns = np.empty((2, width + 1), dtype=np.int64)
    ends = np.empty(n_groups, dtype=np.int64)
    n_beside = n_both = whole(0)
    for _attempt in range(2 if observed else 1):
        # Where the support is what occurs, it is known after the first attempt.
        if observed:
            beside_row, both_row = n_beside, n_both
        beside_head, both_head = beside_row * HEAD, both_row * HEAD
        beside = both = gain = np.int64(0)
        n_beside = n_both = whole(0)
        df = pearson = mean = variance = 0.0
        for s in range(totals.shape[0]):
            N = totals[s]
            if N == 1:
                n_beside += 1
                n_both += 1
                beside += terms[1 + beside_head]
                both += terms[1 + both_head]
                continue
            first, last = strata_from[s], strata_from[s + 1]
            n_cells = whole(0)
            for g in range(first, last):
                if is_laid_out:
                    for y in range(width):
                        count = table[g * width + y]
                        cells[0, n_cells] = y
                        cells[1, n_cells] = count
                        n_cells += int(count > 0)
                else:
                    n_cells = count_group(
                        levels, order, weights, begins[g], begins[g + 1], here, cells, n_cells
                    )
                ends[g - first] = n_cells
            n_both += n_cells
            if last == first + 1:  # what the target's only level has is all there is
                n_beside += n_cells
                for e in range(n_cells):
                    count = cells[1, e]
                    both += terms[count + (tail if count >= HEAD else both_head)]
                    beside += terms[count + (tail if count >= HEAD else beside_head)]
                continue
            for e in range(n_cells):
                count = cells[1, e]
                both += terms[count + (tail if count >= HEAD else both_head)]
            n_columns = sum_columns(cells, n_cells, width, is_laid_out, here, columns)
            n_beside += n_columns
            for j in range(n_columns):
                count = columns[1, j]
                beside += terms[count + (tail if count >= HEAD else beside_head)]
            if n_columns < 2 or not wants_test:
                continue
            inverse_b = squares = 0.0
            for j in range(n_columns):
                inverses[columns[0, j]] = 1.0 / columns[1, j]
                inverse_b += 1.0 / columns[1, j]
                gain += plain[columns[1, j]]
            e = whole(0)
            for g in range(first, last):
                weighted = 0.0
                while e < ends[g - first]:
                    count = cells[1, e]
                    weighted += float(count) * float(count) * inverses[cells[0, e]]
                    gain -= plain[count]
                    e += 1
                squares += weighted / sizes[g]
                gain += plain[sizes[g]]
            gain -= plain[N]
            r, q = float(last - first), float(n_columns)
            df += (r - 1.0) * (q - 1.0)
            null_mean, null_variance = null_moments(float(N), r, q, row_inverses[s], inverse_b)
            if null_variance > ROUNDING * null_mean:
                # Exact independence may round to less than nothing.
                if squares > 1.0:
                    pearson += N * (squares - 1.0)
                mean += null_mean
                variance += null_variance
    h_sl = finish(beside, n_beside, beside_row, supports, nothing, constant, clips)
    h_skl = finish(both, n_both, both_row, supports, nothing, constant, clips)
    gains[c] = (h_sk + h_sl - h_s - h_skl) / SCALE
    if wants_test:
        write_test(stats, c, gain, df, pearson, mean, variance)


@compiled
def judge_rows(
    columns: Columns,
    rows: Rows,
    most: int,
    asked: Asked,
    begin: int,
    end: int,
    lookup: Tables,
    entropies: Floats,
    gains: Floats,
    stats: Floats,
) -> None:
    """``judge_planes`` for the contexts and the candidates that it leaves out, row by row."""
    _, _, _, first, arities, classes, plain, _, _ = columns
    codes, lines, weights, ranges, empty = rows
    variables, variables_start, candidates, candidates_start, parts, base_heads, heads = asked
    largest = whole(0)
    for b in range(ranges.shape[0]):
        if ranges[b, 1] - ranges[b, 0] > largest:
            largest = ranges[b, 1] - ranges[b, 0]
    number = np.empty((empty + 1) * largest, dtype=np.int32)
    # Where nothing is tested rows stand for themselves; f is the same for all tables then.
    is_plain = stats.shape[0] == 0 and knows_one_support(lookup)
    plain_f = plain_terms(lookup, largest if is_plain else whole(0))
    for b in range(entropies.shape[0]):
        begins, ends = variables_start[b], variables_start[b + 1]
        n_cells = cells_in_planes(first, arities, most, variables, begins, ends)
        start, stop = candidates_start[b], candidates_start[b + 1]
        wanted = start == stop and n_cells > most
        start, stop = (start if start > begin else begin), (stop if stop < end else end)
        for c in range(start, stop):
            if not candidate_in_planes(first, arities, most, n_cells, candidates[c]):
                wanted = True
        if not wanted:
            continue
        own = b if ranges.shape[0] > 1 else whole(0)
        at, n = ranges[own, 0], ranges[own, 1] - ranges[own, 0]
        worth = weights[at : at + n]
        strata = np.empty(n, dtype=np.int32)
        groups = np.empty(n, dtype=np.int32)
        levels = np.empty(n, dtype=np.int32)
        n_strata = joint_states(
            codes, lines, at, arities, variables, begins, ends - 1, strata, number, empty
        )
        for i in range(n):
            groups[i] = strata[i]
        target = variables[ends - 1]
        n_groups = append_column(
            codes, at, lines[target], arities[target], groups, n_strata, number, empty
        )
        n_groups = renumber(groups, n_groups, number)
        grouped = put_in_groups(strata, groups, n_strata, n_groups, worth)
        own = b if heads.shape[0] > 1 else whole(0)
        h_s = fold_counts(grouped.totals, base_heads[own, 0], lookup)
        h_sk = fold_counts(grouped.sizes, base_heads[own, 1], lookup)
        entropies[b] = (h_sk - h_s) / SCALE
        if is_plain:
            judge_plainly(
                codes, lines, columns, most, n_cells, variables, begins, ends, candidates, start,
                stop, strata, grouped, h_sk - h_s, plain_f, empty, gains,
            )  # fmt: skip
        for c in range(start, stop):
            kind = whole(0)
            if parts.shape[0]:
                width = joint_states(
                    codes, lines, at, arities, candidates, parts[c], parts[c + 1], levels, number,
                    empty,
                )  # fmt: skip
            else:
                k = candidates[c]
                if candidate_in_planes(first, arities, most, n_cells, k):
                    continue
                if is_among(k, variables, begins, ends):
                    nothing_gained(c, gains, stats)
                    continue
                kind, width = head_of(k, classes, heads), arities[k]
                # Of a table with far more cells than rows it is better to list those that occur.
                if is_plain and n_groups * width <= empty * n:
                    continue
                column = codes[lines[k], at : at + n]
                for i in range(n):
                    levels[i] = column[i]
            beside, both = heads[own, kind, 0], heads[own, kind, 1]
            judge_candidate(
                levels, width, worth, grouped, h_s, h_sk, beside, both,
                lookup, plain, empty, c, gains, stats,
            )  # fmt: skip


@compiled
def count_sets(
    columns: Columns,
    rows: Rows,
    most: int,
    variables: Ints,
    variables_start: Ints,
    products: Floats,
    found: States,
    sums: Floats,
) -> None:
    """The rows of every joint state of sets of columns that occurs, in their order.

    Sets of up to ``most`` cells are counted in planes. If there is room for them, ``sums`` receives
    the products, read at the counts, added up over all states, and over those of all columns but
    the last.
    """
    words, ones, _, first, arities, _, _, n_rows, _ = columns
    codes, code_lines, _, _, empty = rows
    levels, lines, counts, starts = found
    states = np.empty(0, dtype=np.int32)
    number = np.empty(0, dtype=np.int32)
    for b in range(starts.shape[0] - 1):
        begin, end, at = variables_start[b], variables_start[b + 1], starts[b]
        n_cells = cells_in_planes(first, arities, most, variables, begin, end)
        own = np.empty(end - begin, dtype=np.int64)
        for v in range(begin, end):
            own[v - begin] = lines[variables[v]]
        n = whole(0)
        if n_cells <= most:
            where = np.empty(n_cells, dtype=np.int64)
            margin = np.empty(n_cells, dtype=np.int64)
            context_margin(
                words, ones, first, arities, n_rows, variables, begin, end, where, margin
            )
            for e in range(n_cells):
                if margin[e] == 0:
                    continue
                counts[at + n] = margin[e]
                rest = whole(e)
                for v in range(end - 1, begin - 1 if levels.shape[0] else end - 1, -1):
                    arity = arities[variables[v]]
                    levels[own[v - begin], at + n] = rest % arity
                    rest //= arity
                n += 1
        else:
            if states.shape[0] == 0:
                states = np.empty(n_rows, dtype=np.int32)
                number = np.empty((empty + 1) * n_rows, dtype=np.int32)
            n = joint_states(
                codes, code_lines, whole(0), arities, variables, begin, end, states, number, empty
            )
            for e in range(n):
                counts[at + e] = 0
            for i in range(n_rows):
                counts[at + states[i]] += 1
                number[states[i]] = i  # a row that has the state
            for v in range(begin, end if levels.shape[0] else begin):
                line, column = own[v - begin], codes[code_lines[variables[v]]]
                for e in range(n):
                    levels[line, at + e] = column[number[e]]
        starts[b + 1] = at + n
        if sums.shape[0]:
            add_products(own, levels, counts, at, at + n, products, b, sums)


@inner
def add_products(
    lines: Ints,
    levels: Codes,
    counts: Pairs,
    start: int,
    stop: int,
    products: Floats,
    b: int,
    sums: Floats,
) -> None:
    """Add up the products at counts, and at the sums of those that have the levels of all of these
    lines but the last in common and follow each other. These sums are exact (``n_log_n``)."""
    sums[b, 0] = 0.0
    sums[b, 1] = 0.0
    total = np.int64(0)
    for e in range(start, stop):
        sums[b, 0] += products[counts[e]]
        total += counts[e]
        is_last = e == stop - 1
        for v in range(whole(0) if is_last else lines.shape[0] - 1):
            if levels[lines[v], e] != levels[lines[v], e + 1]:
                is_last = True
        if is_last:
            sums[b, 1] += products[total]
            total = np.int64(0)
