"""The algebra of conditional Gaussians in compiled loops: moments of cells, and what follows.

A set of measurements is eliminated one member after the other, as in ``elimination``, in each cell
for itself. Every variance has ``RIDGE`` added, so that no pivot can be less in exact arithmetic.
"""

from __future__ import annotations

import math

import numpy as np

from tamis.counting.compiled import Floats, Ints, compiled, inner, wide_loop

RIDGE = 1e-9
"""Added to every variance, as a share of the column's own: a column that its cell determines has
no density, and counts as one that is known to nine digits."""
RUN = 256
"""Rows that are worked on at a time, which stay in the processor's nearest memory."""
LOG_2_PI_E = math.log(2 * math.pi * math.e)


@compiled
def number_cells(fine: Ints, n_cells: int) -> tuple[Ints, Ints]:
    """Cells numbered without those that no row is in, in place, and the rows of each."""
    counts = np.zeros(n_cells, dtype=np.int64)
    for row in range(fine.shape[0]):
        counts[fine[row]] += 1
    number = np.empty(n_cells, dtype=np.int64)
    n_occupied = 0
    for cell in range(n_cells):
        number[cell] = n_occupied
        if counts[cell] > 0:
            counts[n_occupied] = counts[cell]
            n_occupied += 1
    for row in range(fine.shape[0]):
        fine[row] = number[fine[row]]
    return fine, counts[:n_occupied].copy()


@compiled
def sorted_rows(cell: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """The rows, those of each cell side by side and in their order, and where each cell starts."""
    starts = np.zeros(counts.shape[0] + 1, np.int64)
    starts[1:] = np.cumsum(counts)
    if counts.shape[0] == 1:
        return np.arange(cell.shape[0]), starts
    following = starts[:-1].copy()
    order = np.empty(cell.shape[0], np.int64)
    for row in range(cell.shape[0]):
        order[following[cell[row]]] = row
        following[cell[row]] += 1
    return order, starts


@wide_loop
def _dot(left: Floats, right: Floats) -> float:
    total = 0.0
    for r in range(left.shape[0]):
        total += left[r] * right[r]
    return total


@inner
def _centre(values: Floats, rows: Ints, mean: Floats) -> None:
    """The mean of some rows."""
    mean[:] = 0
    for row in rows:
        for i in range(values.shape[1]):
            mean[i] += values[row, i]
    mean /= rows.shape[0]


@compiled
def scatters(
    values: Floats, cell: Ints, counts: Ints, place: Ints,
    means: Floats, scatter: Floats, rest: Floats,
) -> None:  # fmt: skip
    """Means and sums of products about them: of the cells that have a place, and of all others
    together. Runs of rows are turned around first, so that their sums use wide registers."""
    m = values.shape[1]
    order, starts = sorted_rows(cell, counts)
    mean, lines = np.empty(m), np.empty((m, RUN))
    for c in range(counts.shape[0]):
        _centre(values, order[starts[c] : starts[c + 1]], mean)
        if place[c] >= 0:
            means[place[c]] = mean
        total = scatter[place[c]] if place[c] >= 0 else rest
        for start in range(starts[c], starts[c + 1], RUN):
            size = min(RUN, starts[c + 1] - start)
            for r in range(size):
                for i in range(m):
                    lines[i, r] = values[order[start + r], i] - mean[i]
            for i in range(m):
                for j in range(i + 1):
                    total[i, j] += _dot(lines[i, :size], lines[j, :size])
    for p in range(scatter.shape[0]):
        _mirror(scatter[p])
    _mirror(rest)


@inner
def _mirror(lower: Floats) -> None:
    for i in range(lower.shape[0]):
        for j in range(i):
            lower[j, i] = lower[i, j]


@inner
def _eliminate(shares: Floats, left: Floats, q: int) -> None:
    """Take what the first q columns tell from all. ``shares`` has the covariances of each of them
    with every column, and then the coefficients on what is new in it; ``left`` the variances, and
    then what is left of them."""
    width = left.shape[0]
    for i in range(q):
        for j in range(i):
            weight = shares[j, i]
            for x in range(i, width):
                shares[i, x] -= weight * shares[j, x]
        root = math.sqrt(max(left[i], RIDGE))
        for x in range(i, width):
            shares[i, x] /= root
        for x in range(i + 1, width):
            left[x] -= shares[i, x] * shares[i, x]


@inner
def _covariances(
    scatter: Floats, rows: float, columns: Ints, q: int, shares: Floats, left: Floats
) -> None:
    """Those of the first q of some columns with all of them, and all variances."""
    for x in range(columns.shape[0]):
        left[x] = scatter[columns[x], columns[x]] / rows + RIDGE
    for i in range(q):
        for x in range(i, columns.shape[0]):
            shares[i, x] = scatter[columns[i], columns[x]] / rows


@inner
def _partial_gains(
    counts: Ints, scatter: Floats, columns: Ints, q: int, needed: int,
    n_rows: int, halves: Floats, gains: Floats,
) -> tuple[float, int]:  # fmt: skip
    width = columns.shape[0]
    shares, left = np.empty((q + 1, width)), np.empty(width)
    expected, used = 0.0, 0
    for c in range(counts.shape[0]):
        count = counts[c]
        if count < needed:
            continue
        used += 1
        _covariances(scatter[c], count, columns, q + 1, shares, left)
        _eliminate(shares, left, q + 1)
        weight = 0.5 * count / n_rows
        for x in range(q + 1, width):
            before = left[x] + shares[q, x] * shares[q, x]
            gains[x - q - 1] += weight * math.log(max(before, RIDGE) / max(left[x], RIDGE))
        expected += weight * (halves[count - 1 - q] - halves[count - 2 - q])
    return expected, used


@compiled
def partial_gains(
    counts: Ints, scatter: Floats, columns: Ints, q: int, needed: int,
    n_rows: int, halves: Floats, gains: Floats,
) -> tuple[float, int]:  # fmt: skip
    """The gains of columns about the one at q, given the q before it, in all cells that have rows
    enough; their mean under independence, and how many cells there are."""
    return _partial_gains(counts, scatter, columns, q, needed, n_rows, halves, gains)


@compiled
def partial_pairs(
    counts: Ints, scatter: Floats, columns: Ints, starts: Ints, thin: int,
    n_rows: int, halves: Floats, gains: Floats, expected: Floats, df: Floats,
) -> None:  # fmt: skip
    """The same for many tests, each of the last of its stretch of columns with the last but one,
    given those before them."""
    for i in range(gains.shape[0]):
        own = columns[starts[i] : starts[i + 1]]
        q = own.shape[0] - 2
        expected[i], df[i] = _partial_gains(
            counts, scatter, own, q, max(thin, q + 6), n_rows, halves, gains[i : i + 1]
        )


@inner
def _bias(count: int, q: int, halves: Floats) -> float:
    """By how much ln of a variance, fitted on q others, is off in the mean."""
    found: float = halves[count - 1 - q] - math.log(count / 2)
    return found


@inner
def _compared_gains(
    counts: Ints, means: Floats, scatter: Floats, order: Ints, starts: Ints, columns: Ints, q: int,
    needed: int, n_rows: int, halves: Floats, gains: Floats,
) -> tuple[float, int]:  # fmt: skip
    width = columns.shape[0]
    shares, left = np.empty((q, width)), np.empty(width)
    mean, total, squares = np.empty(width), np.empty((q, width)), np.empty(width)
    expected, df = 0.0, 0
    for s in range(starts.shape[0] - 1):
        n_kept, rows = 0, 0
        for at in range(starts[s], starts[s + 1]):
            if counts[order[at]] >= needed:
                n_kept += 1
                rows += counts[order[at]]
        if n_kept < 2:
            continue
        df += (n_kept - 1) * (q + 2)
        mean[:], total[:], squares[:] = 0.0, 0.0, 0.0
        for at in range(starts[s], starts[s + 1]):
            c = order[at]
            count = counts[c]
            if count < needed:
                continue
            _add_cell(count, means[c], scatter[c], columns, q, mean, total, squares)
            _covariances(scatter[c], count, columns, q, shares, left)
            _eliminate(shares, left, q)
            weight = 0.5 * count / n_rows
            for x in range(q, width):
                gains[x - q] -= weight * math.log(max(left[x], RIDGE))
            expected -= weight * _bias(count, q, halves)
        _merge(rows, mean, total, squares, q, shares, left)
        _eliminate(shares, left, q)
        weight = 0.5 * rows / n_rows
        for x in range(q, width):
            gains[x - q] += weight * math.log(max(left[x], RIDGE))
        expected += weight * _bias(rows, q, halves)
    return expected, df


@compiled
def compared_gains(
    counts: Ints, means: Floats, scatter: Floats, order: Ints, starts: Ints, columns: Ints, q: int,
    needed: int, n_rows: int, halves: Floats, gains: Floats,
) -> tuple[float, int]:  # fmt: skip
    """One regression on the first q columns for all cells of a stratum against one for each, for
    every other column: gains; their mean under independence, and the degrees of freedom.

    The cells of a stratum stand side by side in ``order``. Those with too few rows are left out on
    both sides, and a stratum with one cell left has nothing to compare.
    """
    return _compared_gains(
        counts, means, scatter, order, starts, columns, q, needed, n_rows, halves, gains
    )


@compiled
def compared_pairs(
    counts: Ints, means: Floats, scatter: Floats, order: Ints, strata: Ints, columns: Ints,
    starts: Ints, thin: int, n_rows: int, halves: Floats, gains: Floats, expected: Floats,
    df: Floats,
) -> None:  # fmt: skip
    """The same for many tests, each of the last of its stretch of columns given those before."""
    for i in range(gains.shape[0]):
        own = columns[starts[i] : starts[i + 1]]
        q = own.shape[0] - 1
        expected[i], df[i] = _compared_gains(
            counts, means, scatter, order, strata, own, q, max(thin, q + 5), n_rows, halves,
            gains[i : i + 1],
        )  # fmt: skip


@inner
def _add_cell(
    count: int, centre: Floats, scatter: Floats, columns: Ints, q: int,
    mean: Floats, total: Floats, squares: Floats,
) -> None:  # fmt: skip
    """Add the sums of a cell, and of its squares and products, to those of its stratum."""
    for x in range(columns.shape[0]):
        k = columns[x]
        mean[x] += count * centre[k]
        squares[x] += scatter[k, k] + count * centre[k] * centre[k]
        for i in range(min(q, x + 1)):
            total[i, x] += scatter[columns[i], k] + count * centre[columns[i]] * centre[k]


@inner
def _merge(
    rows: int, mean: Floats, total: Floats, squares: Floats, q: int, shares: Floats, left: Floats
) -> None:
    """The covariances of a stratum from its sums."""
    for x in range(mean.shape[0]):
        left[x] = (squares[x] - mean[x] * mean[x] / rows) / rows + RIDGE
        for i in range(min(q, x + 1)):
            shares[i, x] = (total[i, x] - mean[i] * mean[x] / rows) / rows


@compiled
def group_terms(
    counts: Ints, full: Ints, scatter: Floats, rest: Floats, some_share: bool, sharing: Ints,
    columns: Ints, halves: Floats,
) -> tuple[float, float, int]:  # fmt: skip
    """ln of the determinants of fitted covariances, as a mean over the rows, with the constant of
    the normal density; the mean of their biases (Wishart), and how many covariances there are.

    ``sharing`` are the places among the full cells of those that share a covariance with all cells
    that are not full.
    """
    q = columns.shape[0]
    shares, left = np.empty((q, q)), np.empty(q)
    together = rest.copy()
    n_rows, own_rows, own_cells = 0, 0, 0
    for c in range(counts.shape[0]):
        n_rows += counts[c]
    apart = np.ones(full.shape[0], dtype=np.bool_)
    for at in sharing:
        apart[at] = False
        together += scatter[at]
    logs, bias, n_groups = 0.0, 0.0, 0
    for at in range(full.shape[0]):
        if not apart[at]:
            continue
        count = counts[full[at]]
        own_rows += count
        own_cells += 1
        _covariances(scatter[at], count, columns, q, shares, left)
        found = _determinant(shares, left, q, count - 1, count, halves)
        logs += count * found[0]
        bias += count * found[1]
        n_groups += 1
    if some_share:
        rows = n_rows - own_rows
        free = rows - (counts.shape[0] - own_cells)
        _covariances(together, rows, columns, q, shares, left)
        found = _determinant(shares, left, q, free, rows, halves)
        logs += rows * found[0]
        bias += rows * found[1]
        n_groups += 1
    return logs / n_rows, bias / n_rows, n_groups


@inner
def _determinant(
    shares: Floats, left: Floats, q: int, free: int, rows: int, halves: Floats
) -> tuple[float, float]:
    """ln of a determinant with its constant, and by how much it is off in the mean."""
    _eliminate(shares, left, q)
    log, bias = q * LOG_2_PI_E, q * math.log(2 / rows)
    for i in range(q):
        log += math.log(max(left[i], RIDGE))
        bias += halves[free - i]
    return log, bias


@inner
def _log_det(matrix: Floats, places: Ints) -> float:
    """ln of the determinant of a part of a covariance."""
    k = places.shape[0]
    factor, log = np.empty((k, k)), 0.0
    for i in range(k):
        for j in range(i + 1):
            left = matrix[places[i], places[j]]
            for x in range(j):
                left -= factor[i, x] * factor[j, x]
            factor[i, j] = math.sqrt(max(left, RIDGE)) if i == j else left / factor[j, j]
        log += 2 * math.log(factor[i, i])
    return log


@compiled
def joined_gains(left: Floats, own: Ints, places: Ints, starts: Ints, n_rows: int) -> Floats:
    """By how much ln of a determinant is smaller than that of two parts, own and each stretch of
    places, half of it and less its mean under independence."""
    found = np.empty(starts.shape[0] - 1)
    alone = _log_det(left, own)
    for i in range(found.shape[0]):
        other = places[starts[i] : starts[i + 1]]
        both = _log_det(left, np.concatenate((own, other)))
        bias = own.shape[0] * other.shape[0] / n_rows
        found[i] = 0.5 * (alone + _log_det(left, other) - both - bias)
    return found
