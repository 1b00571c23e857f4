"""Counting and judging rows that have weights, and of which only those are asked that have all
columns of a question.

A missing value has a code of its own, the number of levels of its column. Weights are whole numbers
of parts of a row (``unit``), so that sums do not depend on the order of rows; without weights a
part is a row, and all is as in ``counts.independence``, to the bit.
"""

from __future__ import annotations

import numpy as np

from tamis.counts.compiled import Codes, Floats, Ints, compiled, inner
from tamis.counts.independence import ROUNDING, SCALE, null_moments

Runs = tuple[Ints, Ints, Ints, Ints, Ints]
"""The rows of a context, sorted by stratum and by level of the target: which they are, their
weights and squares; where each run of rows of one stratum and level begins, and where each stratum
does among the runs. Of the last two the end too."""
Stratum = tuple[Ints, Ints, Ints, Ints, Ints]
"""The table of a stratum: the counts of one line of it, empty between uses; for each occupied cell
its line, the candidate's level, its weight and square; weights and squares of its lines, of the
candidate's levels, and of all."""
Terms = tuple[Ints, Ints, bool, float, int, int]
"""f and -p ln p of whole counts, in fixed point, with p the share of ``n_reference`` rows; whether
f goes straight from one whole number to the next, and else by how much it exceeds -p ln p; what is
added to each entropy; ``n_reference``."""


@compiled
def extended(states: Ints, codes: Codes, column: int, arity: int) -> Ints:
    """Mixed-radix states with one more column appended; -1 where it or what was before is
    missing."""
    longer = np.empty(states.shape[0], dtype=np.int64)
    for i in range(states.shape[0]):
        code = np.int64(codes[column, i])
        longer[i] = -1 if states[i] < 0 or code >= arity else states[i] * arity + code
    return longer


@compiled
def renumber(states: Ints, size: int) -> int:
    """Number the states that occur 0, 1, ... in order of their value; return how many."""
    number = np.zeros(size, dtype=np.int64)
    for state in states:
        if state >= 0:
            number[state] = 1
    total = 0
    for state in range(size):
        if number[state]:
            number[state] = total
            total += 1
    for i in range(states.shape[0]):
        if states[i] >= 0:
            states[i] = number[states[i]]
    return total


@compiled
def sorted_rows(states: Ints, n_states: int, strata: Ints, weights: Ints, squares: Ints) -> Runs:
    """The rows in order of their state, which goes by stratum first, without those that have none.
    Every state occurs."""
    begins = np.zeros(n_states + 2, dtype=np.int64)
    for state in states:
        if state >= 0:
            begins[state + 2] += 1
    for state in range(n_states):
        begins[state + 2] += begins[state + 1]
    sorted_by = np.empty((3, begins[n_states + 1]), dtype=np.int64)
    for i in range(states.shape[0]):
        if states[i] >= 0:
            place = begins[states[i] + 1]
            begins[states[i] + 1] += 1
            sorted_by[0, place] = i
            sorted_by[1, place] = weights[i]
            sorted_by[2, place] = squares[i]
    starts = np.empty(n_states + 1, dtype=np.int64)
    n_strata = 0
    before = np.int64(-1)
    for run in range(n_states if sorted_by.shape[1] > 0 else 0):
        stratum = strata[sorted_by[0, begins[run]]]
        if stratum != before:
            starts[n_strata] = run
            n_strata += 1
        before = stratum
    starts[n_strata] = n_states
    return sorted_by[0], sorted_by[1], sorted_by[2], begins[: n_states + 1], starts[: n_strata + 1]


@inner
def kish_share(runs: Runs, codes: Codes, k: int, arity: int) -> float:
    """sum w / sum w^2 of the rows that have candidate ``k``: with weights times this they add up to
    Kish's number of rows."""
    order, weights, squares, _, _ = runs
    weight = square = np.int64(0)
    for i in range(order.shape[0]):
        is_there = np.int64(codes[k, order[i]] < arity)
        weight += is_there * weights[i]
        square += is_there * squares[i]
    return weight / square if square > 0 else 0.0


@inner
def listed(
    runs: Runs, stratum: int, is_weighted: bool, codes: Codes, k: int, arity: int, table: Stratum
) -> tuple[int, int]:
    """Fill the table of a stratum; return its number of cells and of lines.

    ``line`` takes missing values as one more level: to ask each row would take longer than to
    count it.
    """
    order, weights, squares, begins, strata = runs
    line, cells, rows, columns, whole = table
    whole[0, 0] = whole[1, 0] = 0
    for y in range(arity):
        columns[0, y] = columns[1, y] = 0
    n_cells = n_lines = 0
    for run in range(strata[stratum], strata[stratum + 1]):
        first, last = begins[run], begins[run + 1]
        for i in range(first, last):
            line[0, codes[k, order[i]]] += weights[i]
        if is_weighted:
            for i in range(first, last):
                line[1, codes[k, order[i]]] += squares[i]
        rows[0, n_lines] = rows[1, n_lines] = 0
        # All levels are looked through, or those of the rows if these are fewer.
        n_places = min(arity, last - first)
        for place in range(n_places):
            level = np.int64(place if n_places == arity else codes[k, order[first + place]])
            if level < arity and line[0, level] > 0:
                cells[0, n_cells], cells[1, n_cells] = n_lines, level
                for j in range(2):
                    amount = line[j if is_weighted else 0, level]
                    cells[2 + j, n_cells] = amount
                    rows[j, n_lines] += amount
                    columns[j, level] += amount
                    whole[j, 0] += amount
                line[0, level] = line[1, level] = 0
                n_cells += 1
        line[0, arity] = line[1, arity] = 0
        n_lines += int(rows[0, n_lines] > 0)
    return n_cells, n_lines


@inner
def term(count: float, known: Ints, straight: bool, beyond: float, n_reference: int) -> np.int64:
    """f of a cell, in fixed point."""
    below = np.int64(count)
    share = count - below
    if share == 0.0:
        return np.int64(known[below])
    if straight:
        return np.int64(np.rint((1.0 - share) * known[below] + share * known[below + 1]))
    p = count / n_reference
    return np.int64(np.rint((beyond - p * np.log(p)) * SCALE))


@inner
def fold(
    amounts: Ints, size: int, a_part: float, terms: Terms, j: int, sums: Ints, seen: Ints
) -> tuple[np.int64, int, float]:
    """Add f over some counts to ``sums[j]`` and their number, without zeros, to ``seen[j]``; return
    the sum of their -p ln p, their number and the sum of their reciprocals."""
    known, plain, straight, beyond, _, n_reference = terms
    of_plain = np.int64(0)
    occupied = 0
    inverse = 0.0
    for i in range(size):
        if amounts[i] > 0:
            count = amounts[i] * a_part
            sums[j] += term(count, known, straight, beyond, n_reference)
            of_plain += term(count, plain, False, 0.0, n_reference)
            occupied += 1
            inverse += 1.0 / count
    seen[j] += occupied
    return of_plain, occupied, inverse


@inner
def equal_rows(table: Stratum, n_cells: int, n_lines: int, arity: int, free: float) -> float:
    """The rows N, in parts, that a stratum is worth to the test: so many equal rows give X2 the
    mean that it has, to first order, under independence (after Rao and Scott, 1984).

    That mean is N / W sum over x, y of m_xy (1 - p_x) (1 - p_y), with W the weight of the stratum
    and m_xy the mean weight in the cell, averaged by weight; in empty cells, where nobody knows
    it, m_x m_y / m. For weights that depend on neither x nor y this is Kish's number.
    """
    _, cells, rows, columns, whole = table
    total = whole[0, 0]
    mean = whole[1, 0] / total
    of_rows = of_columns = spread = 0.0
    for x in range(n_lines):
        of_rows += rows[1, x] / rows[0, x] * (1.0 - rows[0, x] / total)
    for y in range(arity):
        if columns[0, y] > 0:
            of_columns += columns[1, y] / columns[0, y] * (1.0 - columns[0, y] / total)
    for e in range(n_cells):
        x, y = cells[0, e], cells[1, e]
        apart = rows[1, x] / rows[0, x] * (columns[1, y] / columns[0, y]) / mean
        left = (1.0 - rows[0, x] / total) * (1.0 - columns[0, y] / total)
        spread += (cells[3, e] / cells[2, e] - apart) * left
    spread += of_rows * of_columns / mean
    return total * free / spread if spread > 0.0 else 0.0


@inner
def pearson_share(table: Stratum, n_cells: int) -> float:
    """Pearson's X2 of a stratum for each of its rows."""
    _, cells, rows, columns, _ = table
    share = of_line = 0.0
    for e in range(n_cells):
        of_line += float(cells[2, e]) * float(cells[2, e]) * (1.0 / columns[0, cells[1, e]])
        if e + 1 == n_cells or cells[0, e + 1] != cells[0, e]:
            share += of_line / rows[0, cells[0, e]]
            of_line = 0.0
    # Exact independence may round to less than nothing.
    return max(share - 1.0, 0.0)


@inner
def room(runs: Runs, arities: Ints, candidates: Ints) -> Stratum:
    """Room for the largest table of these candidates in any stratum."""
    begins, strata = runs[3], runs[4]
    widest = longest = most_lines = 1
    for k in candidates:
        widest = max(widest, arities[k])
    for s in range(strata.shape[0] - 1):
        longest = max(longest, begins[strata[s + 1]] - begins[strata[s]])
        most_lines = max(most_lines, strata[s + 1] - strata[s])
    return (
        np.zeros((2, widest + 1), dtype=np.int64),
        np.empty((4, longest), dtype=np.int64),
        np.empty((2, most_lines), dtype=np.int64),
        np.empty((2, widest), dtype=np.int64),
        np.empty((2, 1), dtype=np.int64),
    )


@compiled
def judge_rows(
    runs: Runs,
    unit: float,
    codes: Codes,
    arities: Ints,
    candidates: Ints,
    terms: Terms,
    used: Floats,
    sums: Ints,
    stats: Floats,
) -> None:
    """Judge the candidates of one context, each on the rows that have it and the context.

    ``used`` receives what those rows are worth, which their counts add up to; ``sums`` f added over
    the tables of S, (S, X_k), (S, X_l) and (S, X_k, X_l), with the f of ``n_reference`` rows;
    ``stats`` the tests, with the plug-in cmi in shares of so many rows too. All are 0 before.
    """
    is_weighted = unit != 1.0
    table = room(runs, arities, candidates)
    _, cells, rows, columns, whole = table
    seen = np.empty(4, dtype=np.int64)
    for c in range(candidates.shape[0]):
        k = candidates[c]
        arity = arities[k]
        a_part = unit * (kish_share(runs, codes, k, arity) if is_weighted else 1.0)
        for j in range(4):
            seen[j] = 0
        for s in range(runs[4].shape[0] - 1):
            n_cells, n_lines = listed(runs, s, is_weighted, codes, k, arity, table)
            used[c] += whole[0, 0]
            plain_s, _, _ = fold(whole[0], 1, a_part, terms, 0, sums[c], seen)
            plain_x, r, inverse_x = fold(rows[0], n_lines, a_part, terms, 1, sums[c], seen)
            plain_y, q, inverse_y = fold(columns[0], arity, a_part, terms, 2, sums[c], seen)
            plain_xy, _, _ = fold(cells[2], n_cells, a_part, terms, 3, sums[c], seen)
            if r < 2 or q < 2:
                continue
            free = (r - 1.0) * (q - 1.0)
            count = worth = whole[0, 0] * a_part
            if is_weighted:
                worth = unit * equal_rows(table, n_cells, n_lines, arity, free)
            share = worth / count
            # Rounded, so that whole numbers are added up.
            stats[c, 0] += np.rint((plain_x + plain_y - plain_s - plain_xy) * share)
            stats[c, 1] += free
            mean, variance = null_moments(
                worth, float(r), float(q), inverse_x / share, inverse_y / share
            )
            if variance > ROUNDING * mean:
                stats[c, 2] += worth * pearson_share(table, n_cells)
                stats[c, 3] += mean
                stats[c, 4] += variance
        used[c] *= a_part
        stats[c, 0] /= SCALE
        for j in range(4):
            # All rows in one cell are certain, whatever f says.
            sums[c, j] = sums[c, j] + terms[4] if seen[j] > 1 else 0
