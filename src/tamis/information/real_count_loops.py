"""Counting and judging rows that have weights, and of which only those are asked that have all
columns of a question.

A missing value has a code of its own, the number of levels of its column. Weights are whole numbers
of parts of a row (``unit``), so that sums do not depend on the order of rows; without weights a
part is a row, and all is as in ``counts.independence``, to the bit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis.counting.compiled import Floats, Ints, compiled, inner
from tamis.counting.independence import ROUNDING, SCALE, null_moments

Codes = NDArray[np.uint32]
Runs = tuple[Ints, Ints, Ints]
"""The rows of a context, sorted by stratum and by level of the target: which they are, their
weights and squares; where each run of rows of one stratum and level begins; and where each stratum
does among the runs. The ends come last."""
Stratum = tuple[Ints, Ints, Ints]
"""The table of a stratum. ``line`` counts a run of rows and is empty before and after; ``places``
says where each occupied cell is, its line and the candidate's level; ``amounts[0]`` has the weights
and ``amounts[1]`` the squares of: the stratum, its lines, the candidate's levels, the cells."""
Terms = tuple[Ints, Ints, bool, float, int, int]
"""f and -p ln p of whole counts, in fixed point, with p the share of ``n_reference`` rows; whether
f goes straight from one whole number to the next, and else by how much it exceeds -p ln p; what is
added to each entropy; ``n_reference``."""
WHOLE, LINES, LEVELS, CELLS = range(4)


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
    rows = np.empty((3, begins[n_states + 1]), dtype=np.int64)
    for i in range(states.shape[0]):
        if states[i] >= 0:
            place = begins[states[i] + 1]
            begins[states[i] + 1] += 1
            rows[0, place] = i
            rows[1, place] = weights[i]
            rows[2, place] = squares[i]
    starts = np.empty(n_states + 1, dtype=np.int64)
    n_strata = 0
    before = np.int64(-1)
    for run in range(n_states):
        stratum = strata[rows[0, begins[run]]]
        if stratum != before:
            starts[n_strata] = run
            n_strata += 1
        before = stratum
    starts[n_strata] = n_states
    return rows, begins[: n_states + 1], starts[: n_strata + 1]


@inner
def kish_share(runs: Runs, codes: Codes, k: int, arity: int) -> float:
    """sum w / sum w^2 of the rows that have candidate ``k``: with weights times this they add up to
    Kish's number of rows."""
    rows = runs[0]
    weight = square = np.int64(0)
    for i in range(rows.shape[1]):
        is_there = np.int64(codes[k, rows[0, i]] < arity)
        weight += is_there * rows[1, i]
        square += is_there * rows[2, i]
    return weight / square if square > 0 else 0.0


@inner
def fill(
    runs: Runs, stratum: int, codes: Codes, k: int, arity: int, kinds: int, table: Stratum
) -> tuple[int, int]:
    """Fill the table of a stratum, with squares if there are two ``kinds`` of amounts; return its
    number of lines and of cells.

    A run takes missing values as one more level: to ask each row would take longer than to count
    it.
    """
    rows, begins, strata = runs
    line, places, amounts = table
    n_lines = n_cells = 0
    for j in range(kinds):
        amounts[j, WHOLE, 0] = 0
        for y in range(arity):
            amounts[j, LEVELS, y] = 0
    for run in range(strata[stratum], strata[stratum + 1]):
        first, last = begins[run], begins[run + 1]
        for j in range(kinds):
            amounts[j, LINES, n_lines] = 0
            for i in range(first, last):
                line[j, codes[k, rows[0, i]]] += rows[1 + j, i]
        # All levels are looked through, or those of the rows if these are fewer.
        n_places = min(arity, last - first)
        for place in range(n_places):
            level = np.int64(place if n_places == arity else codes[k, rows[0, first + place]])
            if level < arity and line[0, level] > 0:
                places[0, n_cells], places[1, n_cells] = n_lines, level
                for j in range(kinds):
                    amounts[j, CELLS, n_cells] = line[j, level]
                    amounts[j, LEVELS, level] += line[j, level]
                    amounts[j, LINES, n_lines] += line[j, level]
                    line[j, level] = 0
                n_cells += 1
        for j in range(kinds):
            amounts[j, WHOLE, 0] += amounts[j, LINES, n_lines]
            line[j, arity] = 0
        n_lines += int(amounts[0, LINES, n_lines] > 0)
    return n_lines, n_cells


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
    amounts: Ints, j: int, size: int, a_part: float, terms: Terms, sums: Ints, c: int
) -> tuple[int, np.int64, float]:
    """Add f over some of the counts of a stratum to ``sums[c, j]``; return how many there are,
    without zeros, the sum of their -p ln p and that of their reciprocals."""
    known, plain, straight, beyond, _, n_reference = terms
    of_plain = np.int64(0)
    occupied = 0
    inverse = 0.0
    for i in range(size):
        if amounts[0, j, i] > 0:
            count = amounts[0, j, i] * a_part
            sums[c, j] += term(count, known, straight, beyond, n_reference)
            of_plain += term(count, plain, False, 0.0, n_reference)
            occupied += 1
            inverse += 1.0 / count
    return occupied, of_plain, inverse


@inner
def equal_rows(table: Stratum, n_lines: int, n_cells: int, arity: int, free: float) -> float:
    """The rows N, in parts, that a stratum is worth to the test: so many equal rows give X2 the
    mean that it has, to first order, under independence (after Rao and Scott, 1984).

    That mean is N / W sum over x, y of m_xy (1 - p_x) (1 - p_y), with W the weight of the stratum
    and m_xy the mean weight in the cell, averaged by weight; in empty cells, where nobody knows
    it, m_x m_y / m. For weights that depend on neither x nor y this is Kish's number.
    """
    _, places, amounts = table
    total = amounts[0, WHOLE, 0]
    mean = amounts[1, WHOLE, 0] / total
    spread = 1.0 / mean
    for j, size in ((LINES, n_lines), (LEVELS, arity)):
        of_margin = 0.0
        for i in range(size):
            if amounts[0, j, i] > 0:
                left = 1.0 - amounts[0, j, i] / total
                of_margin += amounts[1, j, i] / amounts[0, j, i] * left
        spread *= of_margin
    for e in range(n_cells):
        apart, left = 1.0 / mean, 1.0
        for j in range(2):
            place = places[j, e]
            apart *= amounts[1, LINES + j, place] / amounts[0, LINES + j, place]
            left *= 1.0 - amounts[0, LINES + j, place] / total
        spread += (amounts[1, CELLS, e] / amounts[0, CELLS, e] - apart) * left
    return total * free / spread if spread > 0.0 else 0.0


@inner
def pearson_share(table: Stratum, n_cells: int) -> float:
    """Pearson's X2 of a stratum for each of its rows."""
    _, places, amounts = table
    share = of_line = 0.0
    for e in range(n_cells):
        count = float(amounts[0, CELLS, e])
        of_line += count * count * (1.0 / amounts[0, LEVELS, places[1, e]])
        if e + 1 == n_cells or places[0, e + 1] != places[0, e]:
            share += of_line / amounts[0, LINES, places[0, e]]
            of_line = 0.0
    # Exact independence may round to less than nothing.
    return max(share - 1.0, 0.0)


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
    kinds = 1 if unit == 1.0 else 2
    widest, longest = 1, runs[0].shape[1]
    for k in candidates:
        widest = max(widest, arities[k])
    line = np.zeros((2, widest + 1), dtype=np.int64)
    places = np.empty((2, longest), dtype=np.int64)
    amounts = np.empty((2, 4, max(widest, longest)), dtype=np.int64)
    table = line, places, amounts
    seen = np.empty(4, dtype=np.int64)
    plain = np.empty(4, dtype=np.int64)
    inverses = np.empty(4, dtype=np.float64)
    for c in range(candidates.shape[0]):
        k = candidates[c]
        arity = arities[k]
        a_part = unit * (kish_share(runs, codes, k, arity) if kinds > 1 else 1.0)
        n_seen = np.zeros(4, dtype=np.int64)
        for s in range(runs[2].shape[0] - 1):
            n_lines, n_cells = fill(runs, s, codes, k, arity, kinds, table)
            for j, size in ((WHOLE, 1), (LINES, n_lines), (LEVELS, arity), (CELLS, n_cells)):
                seen[j], plain[j], inverses[j] = fold(amounts, j, size, a_part, terms, sums, c)
                n_seen[j] += seen[j]
            used[c] += amounts[0, WHOLE, 0]
            r, q = float(seen[LINES]), float(seen[LEVELS])
            if r < 2 or q < 2:
                continue
            free = (r - 1.0) * (q - 1.0)
            count = worth = amounts[0, WHOLE, 0] * a_part
            if kinds > 1:
                worth = unit * equal_rows(table, n_lines, n_cells, arity, free)
            share = worth / count
            # Rounded, so that whole numbers are added up.
            gain = plain[LINES] + plain[LEVELS] - plain[WHOLE] - plain[CELLS]
            stats[c, 0] += np.rint(gain * share)
            stats[c, 1] += free
            mean, variance = null_moments(
                worth, r, q, inverses[LINES] / share, inverses[LEVELS] / share
            )
            if variance > ROUNDING * mean:
                stats[c, 2] += worth * pearson_share(table, n_cells)
                stats[c, 3] += mean
                stats[c, 4] += variance
        used[c] *= a_part
        stats[c, 0] /= SCALE
        for j in range(4):
            # All rows in one cell are certain, whatever f says.
            sums[c, j] = sums[c, j] + terms[4] if n_seen[j] > 1 else 0
