"""The algebra of conditional Gaussians in compiled loops: moments of cells, and what follows.

A set of measurements is eliminated one member after the other, as in ``elimination``, in each cell
for itself. Every variance has ``RIDGE`` added, so that no pivot can be less in exact arithmetic.
"""

from __future__ import annotations

import math

import numpy as np

from tamis.counting.compiled import Floats, Ints, compiled, inner, whole, wide_loop

RIDGE = 1e-9
"""Added to every variance, as a share of the column's own: a column that its cell determines has
no density, and counts as one that is known to nine digits."""
RUN = 256
"""Rows that are worked on at a time, which stay in the processor's nearest memory."""
LOG_2_PI_E = math.log(2 * math.pi * math.e)


@compiled
def sorted_rows(cell: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """The rows, those of each cell side by side and in their order, and where each cell starts."""
    starts, following = np.empty(counts.shape[0] + 1, np.int64), np.empty(counts.shape[0], np.int64)
    starts[0] = 0
    for c in range(counts.shape[0]):
        following[c] = starts[c]
        starts[c + 1] = starts[c] + counts[c]
    order = np.empty(cell.shape[0], np.int64)
    for row in range(cell.shape[0]):
        order[following[cell[row]]] = row
        following[cell[row]] += 1
    return order, starts


@compiled
def refined(cell: Ints, codes: Ints, arity: int, n_cells: int) -> tuple[Ints, Ints]:
    """The occupied cells that a column of levels makes of others, in their order: that of each row,
    and how many rows each has."""
    place, fine = np.zeros(n_cells * arity, np.int64), np.empty(cell.shape[0], np.int64)
    for row in range(cell.shape[0]):
        fine[row] = cell[row] * arity + codes[row]
        place[fine[row]] += 1
    n_fine = 0
    for i in range(place.shape[0]):
        if place[i] > 0:
            n_fine += 1
    counts, following = np.empty(n_fine, np.int64), 0
    for i in range(place.shape[0]):
        if place[i] > 0:
            counts[following] = place[i]
            place[i] = following
            following += 1
    for row in range(fine.shape[0]):
        fine[row] = place[fine[row]]
    return fine, counts


@compiled
def by_stratum(cell: Ints, full: Ints, coarse: Ints, n_cells: int) -> tuple[Ints, Ints]:
    """The places of some cells, those that are parts of the same coarse cell side by side, and
    where those of each coarse cell start."""
    stratum, sizes = np.empty(n_cells, np.int64), np.zeros(n_cells + 1, np.int64)
    for row in range(cell.shape[0]):
        stratum[cell[row]] = coarse[row]
    for c in full:
        sizes[stratum[c]] += 1
    n_strata = 0
    for s in range(sizes.shape[0]):
        if sizes[s] > 0:
            n_strata += 1
    starts, following, n_strata = np.empty(n_strata + 1, np.int64), 0, 0
    for s in range(sizes.shape[0]):
        if sizes[s] > 0:
            starts[n_strata] = following
            following += sizes[s]
            sizes[s] = starts[n_strata]
            n_strata += 1
    starts[n_strata] = following
    order = np.empty(full.shape[0], np.int64)
    for i in range(full.shape[0]):
        s = stratum[full[i]]
        order[sizes[s]] = i
        sizes[s] += 1
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
    for i in range(mean.shape[0]):
        mean[i] = 0.0
    for row in rows:
        for i in range(mean.shape[0]):
            mean[i] += values[row, i]
    for i in range(mean.shape[0]):
        mean[i] /= rows.shape[0]


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
            for i in range(m):
                means[place[c], i] = mean[i]
        total = scatter[place[c]] if place[c] >= 0 else rest
        for start in range(starts[c], starts[c + 1], RUN):
            size = starts[c + 1] - start if starts[c + 1] - start < RUN else RUN
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
def _pivot(left: float) -> float:
    """What is left of a variance, and no less than was added to it."""
    return left if left > RIDGE else RIDGE


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
        root = math.sqrt(_pivot(left[i]))
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


@compiled
def partial_gains(
    counts: Ints, scatter: Floats, columns: Ints, starts: Ints, sizes: Ints, thin: int,
    n_rows: int, halves: Floats, gains: Floats, expected: Floats, df: Floats,
) -> None:  # fmt: skip
    """Of each stretch of columns the gains of the last about the one at q, its size in ``sizes``,
    given the q before it, in all cells that have rows enough; their mean under independence, and
    how many cells there are. The gains of all stretches stand end to end, and are 0 before."""
    first = 0
    for i in range(sizes.shape[0]):
        own, q = columns[starts[i] : starts[i + 1]], sizes[i]
        width = own.shape[0]
        shares, left = np.empty((q + 1, width)), np.empty(width)
        for c in range(counts.shape[0]):
            count = counts[c]
            if count < thin or count < q + 6:
                continue
            df[i] += 1
            _covariances(scatter[c], count, own, q + 1, shares, left)
            _eliminate(shares, left, q + 1)
            weight = 0.5 * count / n_rows
            for x in range(q + 1, width):
                before = left[x] + shares[q, x] * shares[q, x]
                gains[first + x - q - 1] += weight * math.log(_pivot(before) / _pivot(left[x]))
            expected[i] += weight * (halves[count - 1 - q] - halves[count - 2 - q])
        first += width - q - 1


@inner
def _bias(count: int, q: int, halves: Floats) -> float:
    """By how much ln of a variance, fitted on q others, is off in the mean."""
    found: float = halves[count - 1 - q] - math.log(count / 2)
    return found


@compiled
def compared_gains(
    counts: Ints, means: Floats, scatter: Floats, order: Ints, strata: Ints, columns: Ints,
    starts: Ints, sizes: Ints, thin: int, n_rows: int, halves: Floats, gains: Floats,
    expected: Floats, df: Floats,
) -> None:  # fmt: skip
    """Of each stretch of columns: one regression on the first q, its size in ``sizes``, for all
    cells of a stratum against one for each, for every other column: gains; their mean under
    independence, and the degrees of freedom. The gains of all stretches stand end to end, and are 0
    before.

    The cells of a stratum stand side by side in ``order``. Those with too few rows are left out on
    both sides, and a stratum with one cell left has nothing to compare.
    """
    first = 0
    for i in range(sizes.shape[0]):
        own, q = columns[starts[i] : starts[i + 1]], sizes[i]
        width = own.shape[0]
        needed = thin if thin > q + 5 else q + 5
        shares, left = np.empty((q, width)), np.empty(width)
        mean, total, squares = np.empty(width), np.empty((q, width)), np.empty(width)
        for s in range(strata.shape[0] - 1):
            n_kept, rows = 0, whole(0)
            for at in range(strata[s], strata[s + 1]):
                if counts[order[at]] >= needed:
                    n_kept += 1
                    rows += counts[order[at]]
            if n_kept < 2:
                continue
            df[i] += (n_kept - 1) * (q + 2)
            for x in range(width):
                mean[x] = squares[x] = 0.0
                for y in range(q):
                    total[y, x] = 0.0
            # The cells, one after the other, and at last all of them together.
            for at in range(strata[s], strata[s + 1] + 1):
                together = at == strata[s + 1]
                count = rows if together else counts[order[at]]
                if together:
                    _merge(rows, mean, total, squares, q, shares, left)
                elif count < needed:
                    continue
                else:
                    c = order[at]
                    _add_cell(count, means[c], scatter[c], own, q, mean, total, squares)
                    _covariances(scatter[c], count, own, q, shares, left)
                _eliminate(shares, left, q)
                weight = (0.5 if together else -0.5) * count / n_rows
                for x in range(q, width):
                    gains[first + x - q] += weight * math.log(_pivot(left[x]))
                expected[i] += weight * _bias(count, q, halves)
        first += width - q


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
        for i in range(q if q <= x else x + 1):
            total[i, x] += scatter[columns[i], k] + count * centre[columns[i]] * centre[k]


@inner
def _merge(
    rows: int, mean: Floats, total: Floats, squares: Floats, q: int, shares: Floats, left: Floats
) -> None:
    """The covariances of a stratum from its sums."""
    for x in range(mean.shape[0]):
        left[x] = (squares[x] - mean[x] * mean[x] / rows) / rows + RIDGE
        for i in range(q if q <= x else x + 1):
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
    shared = np.zeros(full.shape[0], dtype=np.int64)
    for at in sharing:
        shared[at] = 1
        _add(together, scatter[at])
    logs, bias, n_groups = 0.0, 0.0, 0
    for at in range(full.shape[0]):
        if shared[at]:
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
def _add(total: Floats, more: Floats) -> None:
    for i in range(total.shape[0]):
        for j in range(total.shape[1]):
            total[i, j] += more[i, j]


@inner
def _determinant(
    shares: Floats, left: Floats, q: int, free: int, rows: int, halves: Floats
) -> tuple[float, float]:
    """ln of a determinant with its constant, and by how much it is off in the mean."""
    _eliminate(shares, left, q)
    log, bias = q * LOG_2_PI_E, q * math.log(2 / rows)
    for i in range(q):
        log += math.log(_pivot(left[i]))
        bias += halves[free - i]
    return log, bias


@inner
def _factorise(block: Floats) -> float:
    """Cholesky's lower factor of a covariance, in place, and ln of its determinant."""
    log = 0.0
    for i in range(block.shape[0]):
        for j in range(i + 1):
            left = block[i, j] - _dot(block[i, :j], block[j, :j])
            block[i, j] = math.sqrt(_pivot(left)) if i == j else left / block[j, j]
        log += 2 * math.log(block[i, i])
    return log


@compiled
def factors_of(left: Floats, sizes: Ints) -> tuple[Floats, Floats]:
    """Of the covariances of columns of levels, whose indicators stand side by side, the factors,
    each a square after the other, and ln of their determinants."""
    length = whole(0)
    for size in sizes:
        length += size * size
    factors, logs = np.empty(length), np.empty(sizes.shape[0])
    first, place = whole(0), whole(0)
    for k in range(sizes.shape[0]):
        size = sizes[k]
        block = factors[place : place + size * size].reshape((size, size))
        for i in range(size):
            for j in range(size):
                block[i, j] = left[first + i, first + j]
        logs[k] = _factorise(block)
        first += size
        place += size * size
    return factors, logs


@compiled
def joined_gains(
    left: Floats, factors: Floats, logs: Floats, sizes: Ints, own: int, others: Ints, n_rows: int
) -> Floats:
    """By how much ln of a determinant is smaller than that of two columns' parts, half of it and
    less its mean under independence; of the larger column the factor is known."""
    firsts, places = np.empty(sizes.shape[0], np.int64), np.empty(sizes.shape[0], np.int64)
    first, place = whole(0), whole(0)
    for k in range(sizes.shape[0]):
        firsts[k], places[k] = first, place
        first += sizes[k]
        place += sizes[k] * sizes[k]
    found = np.empty(others.shape[0])
    for at in range(others.shape[0]):
        other = others[at]
        large, small = other, own
        if sizes[own] > sizes[other] or (sizes[own] == sizes[other] and own > other):
            large, small = own, other
        m, q = sizes[large], sizes[small]
        factor = factors[places[large] : places[large] + m * m].reshape((m, m))
        told, rest = np.empty((q, m)), np.empty((q, q))
        for x in range(q):
            for i in range(m):
                shared = left[firsts[small] + x, firsts[large] + i]
                told[x, i] = (shared - _dot(factor[i, :i], told[x, :i])) / factor[i, i]
            for y in range(x + 1):
                rest[x, y] = left[firsts[small] + x, firsts[small] + y] - _dot(told[x], told[y])
        bias = m * q / n_rows
        found[at] = 0.5 * (logs[small] - _factorise(rest) - bias)
    return found
