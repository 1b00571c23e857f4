"""What the counts of a table say: entropies, sums of f over its cells in fixed point, and tests of
independence within strata.

Nothing here knows an estimator; ``lookup.py`` says what f is and why the sums are integers.
"""

from __future__ import annotations

import numpy as np

from tamis.counting.compiled import Floats, Ints, Scratch, Tables, inner, whole

HEAD = 64
"""Counts below this have an f of their own for each size of the support."""
SCALE = float(2**48)
"""One nat in fixed point: sums up to 32 000 nats fit, and a step is 4e-15 nats."""
STATS = 5
"""Plug-in gain, degrees of freedom, Pearson's X2, its null mean and variance."""
SMALLEST_P = 1e-300
"""Smaller p-values count as this one, so that their logarithm is finite; such tests tie."""
ROUNDING = 1e-12
"""A variance below this share of the mean is 0 but for rounding."""


@inner
def finish(total: np.int64, occupied: int, row: int, lookup: Tables) -> np.int64:
    """Add what the unseen cells and the estimator's constant contribute.

    All rows in one cell: the columns are constant, and that is certain, whatever f says.
    """
    _, _, supports, nothing, constant, _, clips = lookup
    if occupied <= 1:
        return np.int64(0)
    total += constant + (supports[row] - occupied) * nothing[row]
    if clips and total < 0:
        return np.int64(0)
    return total


@inner
def occupied_cells(cells: Ints, n_cells: int, n_levels: int, width: int) -> tuple[int, int]:
    """How many cells of (S, X_l) and of (S, X_k, X_l) occur."""
    beside = both = 0
    for s in range(0, n_cells, n_levels):
        for y in range(width):
            here = 0
            for x in range(n_levels):
                here += cells[(s + x) * width + y] > 0
            both += here
            beside += here > 0
    return beside, both


@inner
def fold_table(
    cells: Ints, n_cells: int, n_levels: int, width: int, rows: tuple[int, int], lookup: Tables
) -> tuple[np.int64, np.int64]:
    """H(S, X_l) and H(S, X_k, X_l) of a table ``cells[(s, x), y]``; with a single y, H(S) and
    H(S, X_k). ``rows`` are those of their supports."""
    terms, tail, _, _, _, observed, _ = lookup
    beside_row, both_row = rows
    if observed:
        beside_row, both_row = occupied_cells(cells, n_cells, n_levels, width)
    beside_head = beside_row * HEAD
    both_head = both_row * HEAD
    beside = np.int64(0)
    both = np.int64(0)
    n_beside = n_both = whole(0)
    # f is read without a call, which would cost more than the sums.
    for s in range(0, n_cells, n_levels):
        for y in range(width):
            total = np.int64(0)
            for x in range(n_levels):
                count = cells[(s + x) * width + y]
                both += terms[count + (tail if count >= HEAD else both_head)]
                n_both += int(count > 0)
                total += count
            beside += terms[total + (tail if total >= HEAD else beside_head)]
            n_beside += int(total > 0)
    return finish(beside, n_beside, beside_row, lookup), finish(both, n_both, both_row, lookup)


@inner
def fold_two_levels(
    counts: Ints, margin: Ints, n_planes: int, rows: tuple[int, int], lookup: Tables, sums: Ints
) -> None:
    """H(S, X_l) and H(S, X_k, X_l) before they are finished, for many X_l at once where all have
    two levels: most tables are such, and loops over two levels cost more than what they add.

    ``counts[(s, x), l]`` are the rows of X_l's first level, ``margin[(s, x)]`` all rows.
    ``sums[:, l]`` receives the two sums, and how many cells of the two tables occur.
    """
    terms, tail, _, _, _, _, _ = lookup
    beside_row, both_row = rows
    beside_head = beside_row * HEAD
    both_head = both_row * HEAD
    for j in range(n_planes):
        for i in range(4):
            sums[i, j] = 0
    for s in range(0, margin.shape[0], 2):
        for j in range(n_planes):
            a = counts[s, j]
            b = counts[s + 1, j]
            c = margin[s] - a
            d = margin[s + 1] - b
            sums[1, j] += terms[a + (tail if a >= HEAD else both_head)]
            sums[1, j] += terms[b + (tail if b >= HEAD else both_head)]
            sums[1, j] += terms[c + (tail if c >= HEAD else both_head)]
            sums[1, j] += terms[d + (tail if d >= HEAD else both_head)]
            sums[3, j] += int(a > 0) + int(b > 0) + int(c > 0) + int(d > 0)
            a += b
            c += d
            sums[0, j] += terms[a + (tail if a >= HEAD else beside_head)]
            sums[0, j] += terms[c + (tail if c >= HEAD else beside_head)]
            sums[2, j] += int(a > 0) + int(c > 0)


@inner
def null_moments(
    N: float, r: float, s: float, inverse_a: float, inverse_b: float
) -> tuple[float, float]:
    """Mean and variance of Pearson's X2 of a table with these margins, rows permuted.

    N rows, r and s non-empty levels, and the sums of the margins' reciprocals.
    """
    if N < 2:
        return 0.0, 0.0
    per_one_less = 1.0 / (N - 1.0)  # divisions are most of the cost of a small table
    mean = N * (r - 1.0) * (s - 1.0) * per_one_less
    if N < 3:
        return mean, 0.0
    per_two_less = 1.0 / (N - 2.0)
    w_r = (N * inverse_a - r * r) * per_two_less
    w_s = (N * inverse_b - s * s) * per_two_less
    variance = N * N * per_one_less * w_r * w_s
    if N >= 4:  # weighted rows may be worth 3.1 of them, of which this would make too much
        v_r = (N - r) * (r - 1.0) * per_one_less
        v_s = (N - s) * (s - 1.0) * per_one_less
        variance += 2.0 * N / (N - 3.0) * (v_r - w_r) * (v_s - w_s)
    return mean, variance


@inner
def write_test(
    stats: Floats, c: int, gain: np.int64, df: float, pearson: float, mean: float, variance: float
) -> None:
    """The line of a candidate (``STATS``)."""
    stats[c, 0] = gain / SCALE
    stats[c, 1] = df
    stats[c, 2] = pearson
    stats[c, 3] = mean
    stats[c, 4] = variance


@inner
def margins_of_stratum(
    cells: Ints, start: int, n_levels: int, width: int, scratch: Scratch
) -> tuple[int, int, int, float, float]:
    """The row and column sums of one stratum, the number of those that are not 0, and the sums
    of their reciprocals; ``scratch`` receives the sums and the columns' reciprocals."""
    rows, columns, inverses = scratch
    for y in range(width):
        columns[y] = 0
    N = r = s = 0
    inverse_a = inverse_b = 0.0
    for x in range(n_levels):
        rows[x] = 0
        for y in range(width):
            count = cells[start + x * width + y]
            rows[x] += count
            columns[y] += count
        if rows[x] > 0:
            N += rows[x]
            r += 1
            inverse_a += 1.0 / rows[x]
    for y in range(width):
        inverses[y] = 0.0
        if columns[y] > 0:
            s += 1
            inverses[y] = 1.0 / columns[y]
            inverse_b += inverses[y]
    return N, r, s, inverse_a, inverse_b


@inner
def test_table(
    cells: Ints, n_cells: int, n_levels: int, width: int, plain: Ints, scratch: Scratch, c: int,
    stats: Floats,
) -> None:  # fmt: skip
    """Independence of target and candidate within strata.

    ``plain[count]`` is -p ln p, in fixed point, with p the count's share of rows; the ``scratch``
    is as long as the variables have levels.
    ``stats[c]`` receives the plug-in gain, the degrees of freedom, and over the strata in
    which a permutation can change anything Pearson's X2 and its null mean and variance.
    """
    rows, columns, inverses = scratch
    gain = np.int64(0)
    df = pearson = mean = variance = 0.0
    for start in range(0, n_cells * width, n_levels * width):
        N, r, s, inverse_a, inverse_b = margins_of_stratum(cells, start, n_levels, width, scratch)
        if r < 2 or s < 2:
            continue
        squares = 0.0
        for x in range(n_levels):
            if rows[x] == 0:
                continue
            weighted = 0.0
            for y in range(width):
                count = cells[start + x * width + y]
                weighted += float(count) * float(count) * inverses[y]
                gain -= plain[count]
            squares += weighted / rows[x]
            gain += plain[rows[x]]
        for y in range(width):
            gain += plain[columns[y]]
        gain -= plain[N]
        df += (r - 1.0) * (s - 1.0)
        null_mean, null_variance = null_moments(float(N), float(r), float(s), inverse_a, inverse_b)
        if null_variance > ROUNDING * null_mean:
            # Exact independence may round to less than nothing.
            if squares > 1.0:
                pearson += N * (squares - 1.0)
            mean += null_mean
            variance += null_variance
    write_test(stats, c, gain, df, pearson, mean, variance)


@inner
def test_two_levels(
    counts: Ints, margin: Ints, plane: int, plain: Ints, c: int, stats: Floats
) -> None:
    """``test_table`` where target and candidate have two levels, in the same steps.

    ``counts[(s, x), plane]`` are the rows of the candidate's first level, ``margin[(s, x)]`` all.
    """
    gain = np.int64(0)
    df = pearson = mean = variance = 0.0
    for start in range(0, margin.shape[0], 2):
        first, second = margin[start], margin[start + 1]
        a = counts[start, plane]
        b = counts[start + 1, plane]
        left, right = a + b, first + second - a - b
        if first == 0 or second == 0 or left == 0 or right == 0:
            continue
        N = first + second
        gain += plain[first] + plain[second] + plain[left] + plain[right] - plain[N]
        gain -= plain[a] + plain[b] + plain[first - a] + plain[second - b]
        per_left, per_right = 1.0 / left, 1.0 / right
        c1 = float(first - a)
        c2 = float(second - b)
        squares = (float(a) * float(a) * per_left + c1 * c1 * per_right) / first
        squares += (float(b) * float(b) * per_left + c2 * c2 * per_right) / second
        df += 1.0
        null_mean, null_variance = null_moments(
            float(N), 2.0, 2.0, 1.0 / first + 1.0 / second, per_left + per_right
        )
        if null_variance > ROUNDING * null_mean:
            if squares > 1.0:
                pearson += N * (squares - 1.0)
            mean += null_mean
            variance += null_variance
    write_test(stats, c, gain, df, pearson, mean, variance)
