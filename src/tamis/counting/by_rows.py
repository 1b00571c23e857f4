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
from tamis.counting.in_planes import (
    candidate_in_planes,
    cells_in_planes,
    context_margin,
    is_among,
    nothing_gained,
    rows_of_own_supports,
    rows_of_supports,
)
from tamis.counting.independence import HEAD, ROUNDING, SCALE, finish, null_moments, write_test


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
    rows: Rows, at: int, k: int, arity: int, states: Pairs, size: int, number: Pairs
) -> int:
    """Append a column to the joint states, all below ``size``, of the rows from ``at`` on; the new
    size.

    Where there would be too many times as many states as rows they are renumbered, and sorted where
    even those that occur would make too many.
    """
    codes, lines, _, _, empty = rows
    column, room = codes[lines[k], at : at + states.shape[0]], empty * states.shape[0]
    if size * arity > room:
        size = renumber(states, size, number)
        if size * arity > room:
            return append_by_sorting(column, arity, states, size)
    for i in range(states.shape[0]):
        states[i] = states[i] * arity + np.int64(column[i])
    return size * arity


@inner
def append_by_sorting(column: Codes, arity: int, states: Pairs, size: int) -> int:
    """Append a column by sorting rows by the column and then by the states: no gaps are left."""
    n = states.shape[0]
    levels = np.empty(n, dtype=np.int32)
    for j in range(n):
        levels[j] = column[j]
    by_level = np.empty(n, dtype=np.int32)
    order = np.empty(n, dtype=np.int32)
    put_in_order_of(levels, arity, by_level[:0], by_level)
    put_in_order_of(states, size, by_level, order)
    total, state, level = whole(-1), np.int64(-1), np.int64(-1)
    for j in range(n):
        i = order[j]
        if states[i] != state or levels[i] != level:
            state, level = np.int64(states[i]), np.int64(levels[i])
            total += 1
        states[i] = total
    return total + 1


@inner
def put_in_order_of(keys: Pairs, size: int, before: Pairs, order: Pairs) -> Pairs:
    """The rows in order of their keys, all below ``size``, and else as they are, or as they are in
    an order from before; where those of each key begin."""
    begins = np.zeros(size + 2, dtype=np.int32)
    for key in keys:
        begins[key + 2] += 1
    for key in range(2, size + 2):
        begins[key] += begins[key - 1]
    for j in range(keys.shape[0]):
        i = np.int64(before[j]) if before.shape[0] else j
        place = begins[keys[i] + 1]
        begins[keys[i] + 1] = place + 1
        order[place] = i
    return begins


@inner
def joint_states(
    rows: Rows, at: int, arities: Ints, members: Ints, states: Pairs, number: Pairs
) -> int:
    """The joint states of some columns in the rows from ``at`` on, numbered without gaps in order
    of their value; how many there are."""
    size = whole(1)
    for i in range(states.shape[0]):
        states[i] = 0
    for k in members:
        size = append_column(rows, at, k, arities[k], states, size, number)
    return renumber(states, size, number)


@inner
def put_in_groups(strata: Pairs, groups: Pairs, sizes: Ints, weights: Pairs) -> Grouped:
    """The rows of a context, given the stratum and the group of each, and room for the groups'
    sizes."""
    n, n_groups = groups.shape[0], sizes.shape[0]
    order = np.empty(n, dtype=np.int32)
    begins = put_in_order_of(groups, n_groups, order[:0], order)
    n_strata = strata[order[n - 1]] + 1
    strata_from = np.zeros(n_strata + 1, dtype=np.int32)
    totals = np.zeros(n_strata, dtype=np.int64)
    inverses = np.zeros(n_strata, dtype=np.float64)
    for i in range(n):
        sizes[groups[i]] += weights[i]
    for g in range(n_groups):
        s = strata[order[begins[g]]]
        strata_from[s + 1] = g + 1
        totals[s] += sizes[g]
        inverses[s] += 1.0 / sizes[g]
    return Grouped(groups, order, begins, sizes, strata_from, totals, inverses)


@inner
def fold_counts(counts: Ints, choice: int, lookup: Tables) -> np.int64:
    """The entropy of a table from the counts that are not 0."""
    terms, tail, _, _, _, observed, _ = lookup
    row = counts.shape[0] if observed else choice
    total = np.int64(0)
    for count in counts:
        total += terms[count + (tail if count >= HEAD else row * HEAD)]
    return finish(total, counts.shape[0], row, lookup)


@inner
def lay_out(levels: Pairs, width: int, weights: Pairs, groups: Pairs, n_cells: int) -> Pairs:
    """The table of a candidate, by groups of rows and its levels."""
    table = np.zeros(n_cells, dtype=np.int32)
    for i in range(levels.shape[0] if n_cells > 0 else 0):
        # Numbers without a sign need not be looked at for places counted from the end.
        table[np.uint64(groups[i] * width + levels[i])] += weights[i]
    return table


@inner
def count_group(
    levels: Pairs, rows: Grouped, weights: Pairs, g: int, here: Ints, cells: Ints, first: int
) -> int:
    """List the cells of one group that occur, by the candidate's level; where the next begin."""
    end = first
    for j in range(rows.begins[g], rows.begins[g + 1]):
        i = rows.order[j]
        y = levels[i]
        if here[y] == 0:
            cells[0, end] = y
            end += 1
        here[y] += weights[i]
    put_in_order(cells, first, end)
    for e in range(first, end):
        cells[1, e] = here[cells[0, e]]
        here[cells[0, e]] = 0
    return end


@inner
def sum_columns(cells: Ints, n_cells: int, is_laid_out: bool, here: Ints, columns: Ints) -> int:
    """Add up the cells of a stratum for each level of the candidate; how many levels occur."""
    n = whole(0)
    for e in range(n_cells):
        y = cells[0, e]
        if not is_laid_out and here[y] == 0:
            columns[0, n] = y
            n += 1
        here[y] += cells[1, e]
    if is_laid_out:
        for y in range(here.shape[0]):
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
def plain_terms(lookup: Tables, most: int) -> Ints:
    """f by the count, up to ``most``, of a lookup that knows one support."""
    terms, tail, _, _, _, _, _ = lookup
    plain = np.empty(most + 1, dtype=np.int64)
    for count in range(most + 1):
        plain[count] = terms[count + (tail if count >= HEAD else whole(0))]
    return plain


@inner
def fold_cells(
    levels: Codes, width: int, rows: Grouped, plain: Ints, table: Pairs, here: Pairs
) -> np.int64:
    """f summed over the cells of (S, X_l) less that over those of (S, X_k, X_l), from a table that
    is laid out. Strata in which the target has a single level are passed over: no candidate can say
    anything there. The scratch is left empty as it was."""
    groups, _, _, _, strata_from, _, _ = rows
    total, e, n_levels = np.int64(0), np.uint64(0), np.uint64(width)
    for i in range(groups.shape[0]):
        # Numbers without a sign need not be looked at for places counted from the end.
        table[np.uint64(groups[i]) * n_levels + np.uint64(levels[i])] += 1
    for s in range(strata_from.shape[0] - 1):
        n_groups = strata_from[s + 1] - strata_from[s]
        if n_groups == 1:
            e += n_levels
            continue
        for _ in range(n_groups):
            for y in range(n_levels):
                count = table[e]
                here[y] += count
                total -= plain[np.uint64(count)]
                e += np.uint64(1)
        for y in range(n_levels):
            total += plain[np.uint64(here[y])]
            here[y] = 0
    for cell in range(e):
        table[cell] = 0
    return total


@inner
def knows_one_support(lookup: Tables) -> bool:
    """Whether f does not depend on the table, and sums of it are entropies but for a constant."""
    _, _, supports, nothing, _, observed, clips = lookup
    return supports.shape[0] == 1 and nothing[0] == 0 and not observed and not clips


@inner
def judge_plainly(
    columns: Columns, rows: Rows, most: int, n_cells: int, members: Ints, candidates: Ints,
    grouped: Grouped, entropy: np.int64, plain: Ints, gains: Floats,
) -> None:  # fmt: skip
    """The cmi of those candidates of a context whose tables are not far larger than the rows are
    many, given its entropy."""
    _, _, _, _, arities, _, _, _, _ = columns
    codes, lines, _, _, empty = rows
    n, n_groups, widest = codes.shape[1], grouped.sizes.shape[0], whole(1)
    for k in candidates:
        if arities[k] > widest and n_groups * arities[k] <= empty * n:
            widest = arities[k]
    table = np.zeros(n_groups * widest, dtype=np.int32)
    here = np.zeros(widest, dtype=np.int32)
    for c in range(candidates.shape[0]):
        k = candidates[c]
        if n_groups * arities[k] > empty * n or candidate_in_planes(columns, most, n_cells, k):
            continue
        column = codes[lines[k]]
        if is_among(k, members) or (grouped.totals.shape[0] == 1 and is_constant(column)):
            gains[c] = 0.0
            continue
        total = fold_cells(column, arities[k], grouped, plain, table, here)
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
    levels: Pairs, width: int, weights: Pairs, grouped: Grouped, own: tuple[np.int64, np.int64],
    rows: tuple[int, int], lookup: Tables, plain: Ints, empty: int, c: int, gains: Floats,
    stats: Floats,
) -> None:  # fmt: skip
    """Fold, and where asked test, the table of a context and a candidate whose level each row has.
    ``own`` are H(S) and H(S, X_k), ``rows`` those of the supports of (S, X_l) and (S, X_k, X_l).

    Scratch is made anew for each: the compiler knows then that nothing else is written with it.
    """
    terms, tail, _, _, _, observed, _ = lookup
    groups, _, _, sizes, strata_from, totals, row_inverses = grouped
    beside_row, both_row = rows
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
                    n_cells = count_group(levels, grouped, weights, g, here, cells, n_cells)
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
            n_columns = sum_columns(cells, n_cells, is_laid_out, here, columns)
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
    h_sl = finish(beside, n_beside, beside_row, lookup)
    h_skl = finish(both, n_both, both_row, lookup)
    gains[c] = (own[1] + h_sl - own[0] - h_skl) / SCALE
    if wants_test:
        write_test(stats, c, gain, df, pearson, mean, variance)


@compiled
def judge_rows(
    columns: Columns, rows: Rows, most: int, asked: Asked, begin: int, end: int, lookup: Tables,
    entropies: Floats, gains: Floats, stats: Floats,
) -> None:  # fmt: skip
    """``judge_planes`` for the contexts and the candidates that it leaves out, row by row."""
    _, _, _, _, arities, classes, plain, _, _ = columns
    codes, lines, weights, ranges, empty = rows
    variables, variables_start, candidates, candidates_start, parts, _, _ = asked
    largest = whole(0)
    for b in range(ranges.shape[0]):
        if ranges[b, 1] - ranges[b, 0] > largest:
            largest = ranges[b, 1] - ranges[b, 0]
    number = np.empty((empty + 1) * largest, dtype=np.int32)
    # Where nothing is tested rows stand for themselves; f is the same for all tables then.
    is_plain = stats.shape[0] == 0 and knows_one_support(lookup)
    plain_f = plain_terms(lookup, largest if is_plain else whole(0))
    for b in range(entropies.shape[0]):
        members = variables[variables_start[b] : variables_start[b + 1]]
        n_cells = cells_in_planes(columns, most, members)
        start, stop = candidates_start[b], candidates_start[b + 1]
        wanted = start == stop and n_cells > most
        start, stop = (start if start > begin else begin), (stop if stop < end else end)
        for c in range(start, stop):
            if not candidate_in_planes(columns, most, n_cells, candidates[c]):
                wanted = True
        if not wanted:
            continue
        own = b if ranges.shape[0] > 1 else whole(0)
        at, n = ranges[own, 0], ranges[own, 1] - ranges[own, 0]
        worth = weights[at : at + n]
        strata = np.empty(n, dtype=np.int32)
        groups = np.empty(n, dtype=np.int32)
        levels = np.empty(n, dtype=np.int32)
        n_given = members.shape[0] - 1
        n_strata = joint_states(rows, at, arities, members[:n_given], strata, number)
        for i in range(n):
            groups[i] = strata[i]
        target = members[n_given]
        n_groups = append_column(rows, at, target, arities[target], groups, n_strata, number)
        sizes = np.zeros(renumber(groups, n_groups, number), dtype=np.int64)
        grouped = put_in_groups(strata, groups, sizes, worth)
        of_s, of_sk = rows_of_own_supports(asked, b)
        h_s, h_sk = fold_counts(grouped.totals, of_s, lookup), fold_counts(sizes, of_sk, lookup)
        entropies[b] = (h_sk - h_s) / SCALE
        if is_plain:
            judge_plainly(
                columns, rows, most, n_cells, members, candidates[start:stop], grouped,
                h_sk - h_s, plain_f, gains[start:stop],
            )  # fmt: skip
        for c in range(start, stop):
            kind = whole(0)
            if parts.shape[0]:
                others = candidates[parts[c] : parts[c + 1]]
                width = joint_states(rows, at, arities, others, levels, number)
            else:
                k = candidates[c]
                if candidate_in_planes(columns, most, n_cells, k):
                    continue
                if is_among(k, members):
                    nothing_gained(c, gains, stats)
                    continue
                kind, width = classes[k], arities[k]
                # Of a table with far more cells than rows it is better to list those that occur.
                if is_plain and sizes.shape[0] * width <= empty * n:
                    continue
                column = codes[lines[k], at : at + n]
                for i in range(n):
                    levels[i] = column[i]
            judge_candidate(
                levels, width, worth, grouped, (h_s, h_sk), rows_of_supports(asked, b, kind),
                lookup, plain, empty, c, gains, stats,
            )  # fmt: skip


@compiled
def count_sets(
    columns: Columns, rows: Rows, most: int, variables: Ints, variables_start: Ints,
    products: Floats, found: States, sums: Floats,
) -> None:  # fmt: skip
    """The rows of every joint state of sets of columns that occurs, in their order.

    Sets of up to ``most`` cells are counted in planes. If there is room for them, ``sums`` receives
    the products, read at the counts, added up over all states, and over those of all columns but
    the last.
    """
    _, _, _, _, arities, _, _, n_rows, _ = columns
    codes, code_lines, _, _, empty = rows
    levels, lines, counts, starts = found
    states = np.empty(0, dtype=np.int32)
    number = np.empty(0, dtype=np.int32)
    for b in range(starts.shape[0] - 1):
        members, at = variables[variables_start[b] : variables_start[b + 1]], starts[b]
        n_cells = cells_in_planes(columns, most, members)
        own = np.empty(members.shape[0], dtype=np.int64)
        for v in range(members.shape[0]):
            own[v] = lines[members[v]]
        n = whole(0)
        if n_cells <= most:
            where = np.empty(n_cells, dtype=np.int64)
            margin = np.empty(n_cells, dtype=np.int64)
            context_margin(columns, members, where, margin)
            for e in range(n_cells):
                if margin[e] == 0:
                    continue
                counts[at + n] = margin[e]
                rest = whole(e)
                for v in range(members.shape[0] - 1, -1 if levels.shape[0] else own.shape[0], -1):
                    arity = arities[members[v]]
                    levels[own[v], at + n] = rest % arity
                    rest //= arity
                n += 1
        else:
            if states.shape[0] == 0:
                states = np.empty(n_rows, dtype=np.int32)
                number = np.empty((empty + 1) * n_rows, dtype=np.int32)
            n = joint_states(rows, whole(0), arities, members, states, number)
            for e in range(n):
                counts[at + e] = 0
            for i in range(n_rows):
                counts[at + states[i]] += 1
                number[states[i]] = i  # a row that has the state
            for v in range(own.shape[0] if levels.shape[0] else whole(0)):
                line, column = own[v], codes[code_lines[members[v]]]
                for e in range(n):
                    levels[line, at + e] = column[number[e]]
        starts[b + 1] = at + n
        if sums.shape[0]:
            add_products(own, levels, counts, (at, at + n), products, b, sums)


@inner
def add_products(
    lines: Ints, levels: Codes, counts: Pairs, span: tuple[int, int], products: Floats, b: int,
    sums: Floats,
) -> None:  # fmt: skip
    """Add up the products at counts, and at the sums of those that have the levels of all of these
    lines but the last in common and follow each other. These sums are exact (``n_log_n``)."""
    start, stop = span
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
