"""Logistic regression on indicators of cells and on numbers, in compiled loops.

Rows are sorted by cell, so that each run of rows shares its constants, and all that is done to a
run is done in wide registers: what takes the time is single precision, and runs are added up in
double. That will do for what Newton's method corrects.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tamis.counting.compiled import Floats, Ints, compiled, inner, wide_loop

Singles = NDArray[np.float32]
Codes = NDArray[np.int32]

STEPS = 30
ROUNDING = 1e-7
"""Losses that differ by a smaller share are the same."""
SMALL = 5.0
"""Where a step promises so many nats, second derivatives are about the same after it."""
RUN = 512
"""Rows that are worked on at a time, which stay in the processor's nearest memory."""
MULTIPLIED = 32
"""Logarithms are taken of products of so many sums, none of which can be that large."""
LOWEST = -87.0
"""Where exp is 0 in single precision."""


@wide_loop
def _exp(values: Singles, powers: Codes) -> None:
    """exp of values up to 0, in place. Compilers know no wide one: 2**k by its bits, and the rest,
    which is small, by its series."""
    for r in range(values.shape[0]):
        x = max(values[r], np.float32(LOWEST))
        k = math.floor(x * np.float32(1.4426950408889634) + np.float32(0.5))
        # ln 2 in two parts, the first of few digits, so that k times it is exact.
        y = x - k * np.float32(0.693359375) + k * np.float32(2.1219444005469058e-4)
        series = np.float32(1 / 720) * y + np.float32(1 / 120)
        series = series * y + np.float32(1 / 24)
        series = series * y + np.float32(1 / 6)
        series = series * y + np.float32(0.5)
        values[r] = (series * y + np.float32(1)) * y + np.float32(1)
        powers[r] = (np.int32(k) + np.int32(127)) << np.int32(23)
    scale = powers.view(np.float32)
    for r in range(values.shape[0]):
        values[r] *= scale[r]


@wide_loop
def _total(values: Singles) -> float:
    total = np.float32(0)
    for r in range(values.shape[0]):
        total += values[r]
    return float(total)


@wide_loop
def _dot(left: Singles, right: Singles) -> float:
    total = np.float32(0)
    for r in range(left.shape[0]):
        total += left[r] * right[r]
    return float(total)


@wide_loop
def _add_scaled(values: Singles, weight: float, more: Singles) -> None:
    single = np.float32(weight)
    for r in range(values.shape[0]):
        values[r] += single * more[r]


@wide_loop
def _rise(top: Singles, values: Singles) -> None:
    """The larger of two, in place of the first."""
    for r in range(values.shape[0]):
        top[r] = max(top[r], values[r])


@wide_loop
def _total_at(values: Singles, codes: Codes, code: int) -> float:
    """The total where a code is this one; without a branch, which would be taken at random."""
    total = np.float32(0)
    for r in range(values.shape[0]):
        total += values[r] if codes[r] == code else np.float32(0)
    return float(total)


@wide_loop
def _residuals(p: Singles, codes: Codes, code: int, left: Singles) -> None:
    for r in range(left.shape[0]):
        left[r] = (np.float32(1) if codes[r] == code else np.float32(0)) - p[r]


@wide_loop
def _exp_below(values: Singles, top: Singles, powers: Codes, total: Singles) -> None:
    """exp of values less their top, in place, and added to the total."""
    for r in range(values.shape[0]):
        values[r] -= top[r]
    _exp(values, powers)
    for r in range(values.shape[0]):
        total[r] += values[r]


@wide_loop
def _invert(values: Singles) -> float:
    """1 / values, in place; ln of the values, added up."""
    logs = 0.0
    for first in range(0, values.shape[0], MULTIPLIED):
        product = 1.0
        for r in range(first, min(first + MULTIPLIED, values.shape[0])):
            product *= values[r]
        logs += math.log(product)
    for r in range(values.shape[0]):
        values[r] = np.float32(1) / values[r]
    return logs


@wide_loop
def _scale(values: Singles, by: Singles) -> None:
    for r in range(values.shape[0]):
        values[r] *= by[r]


@inner
def _predict(
    p: Singles, codes: Codes, numbers: Singles, start: int, weights: Floats, cell: int,
    n_cells: int, buffers: Singles, powers: Codes,
) -> float:  # fmt: skip
    """The probabilities of levels in a run of rows of one cell; minus ln of those of the levels
    that there are, added up."""
    size = codes.shape[0]
    top, total = buffers[0, :size], buffers[1, :size]
    top[:] = 0
    loss = 0.0
    for level in range(p.shape[0]):
        own = p[level, :size]
        own[:] = np.float32(weights[level, cell])
        for j in range(numbers.shape[0]):
            _add_scaled(own, weights[level, n_cells + j], numbers[j, start : start + size])
        _rise(top, own)
        loss -= _total_at(own, codes, level + 1)
    loss += _total(top)
    for r in range(size):
        total[r] = -top[r]
    _exp(total, powers)
    for level in range(p.shape[0]):
        _exp_below(p[level, :size], top, powers, total)
    loss += _invert(total)
    for level in range(p.shape[0]):
        _scale(p[level, :size], total)
    return loss


@inner
def _add_slope(
    left: Singles, numbers: Singles, start: int, stop: int, cell: int, n_cells: int, slope: Floats
) -> None:
    for level in range(left.shape[0]):
        own = left[level, start:stop]
        slope[level, cell] += _total(own)
        for j in range(numbers.shape[0]):
            slope[level, n_cells + j] += _dot(own, numbers[j, start:stop])


@wide_loop
def _spread(one: Singles, other: Singles, same: bool, found: Singles) -> None:
    """The covariance of the indicators of two levels with these probabilities."""
    whole = np.float32(1 if same else 0)
    for r in range(found.shape[0]):
        found[r] = one[r] * (whole - other[r])


@inner
def _add_curvature(
    p: Singles, numbers: Singles, start: int, stop: int, cell: int, n_cells: int,
    buffers: Singles, curvature: Floats,
) -> None:  # fmt: skip
    """Of a run: the lower half of each level with those up to it, of lower numbers."""
    size, width = stop - start, n_cells + numbers.shape[0]
    weight, part = buffers[0, :size], buffers[1, :size]
    for a in range(p.shape[0]):
        for b in range(a + 1):
            _spread(p[a, :size], p[b, :size], a == b, weight)
            here, there = a * width, b * width
            curvature[here + cell, there + cell] += _total(weight)
            for j in range(numbers.shape[0]):
                part[:] = weight
                _scale(part, numbers[j, start:stop])
                row = here + n_cells + j
                curvature[row, there + cell] += _total(part)
                for i in range(j + 1):
                    found = _dot(part, numbers[i, start:stop])
                    curvature[row, there + n_cells + i] += found


@inner
def _mirror(curvature: Floats, n_levels: int, width: int, penalty: float) -> None:
    """The upper halves of blocks, as they are symmetric; and the penalty."""
    for a in range(n_levels):
        for b in range(a):
            block = curvature[a * width : (a + 1) * width, b * width : (b + 1) * width]
            for i in range(width):
                for j in range(i):
                    block[j, i] = block[i, j]
    for i in range(n_levels * width):
        curvature[i, i] += penalty


@inner
def _look(
    codes: Codes, starts: Ints, numbers: Singles, weights: Floats, penalty: float, left: Singles,
    slope: Floats, curvature: Floats,
) -> float:  # fmt: skip
    """The penalised loss in nats; indicators of levels less their probabilities, the slope of the
    loss downwards, and, where there is room for it, its curvature."""
    n_levels, n_cells = weights.shape[0], starts.shape[0] - 1
    buffers, powers = np.empty((2, RUN), np.float32), np.empty(RUN, np.int32)
    p = np.empty((n_levels, RUN), np.float32)
    slope[:] = -penalty * weights
    curvature[:] = 0
    loss = 0.5 * penalty * (weights**2).sum()
    for cell in range(n_cells):
        for start in range(starts[cell], starts[cell + 1], RUN):
            stop = min(start + RUN, starts[cell + 1])
            here = codes[start:stop]
            loss += _predict(p, here, numbers, start, weights, cell, n_cells, buffers, powers)
            for level in range(n_levels):
                _residuals(p[level], here, level + 1, left[level, start:stop])
            _add_slope(left, numbers, start, stop, cell, n_cells, slope)
            if curvature.shape[0] > 0:
                _add_curvature(p, numbers, start, stop, cell, n_cells, buffers, curvature)
    if curvature.shape[0] > 0:
        _mirror(curvature, n_levels, weights.shape[1], penalty)
    return float(loss)


@inner
def _solved(factor: Floats, right: Floats) -> Floats:
    """The solution, from the lower factor of Cholesky's."""
    found = right.copy()
    n = len(found)
    for i in range(n):
        for j in range(i):
            found[i] -= factor[i, j] * found[j]
        found[i] /= factor[i, i]
    for i in range(n - 1, -1, -1):
        found[i] /= factor[i, i]
        for j in range(i):
            found[j] -= factor[i, j] * found[i]
    return found


@compiled
def sorted_lines(lines: Floats, order: Ints, n_multiplied: int) -> Singles:
    """Lines of numbers with the rows in this order; then the products of any two of the last of
    them, each with itself too."""
    k, n = lines.shape
    found = np.empty((k + n_multiplied * (n_multiplied + 1) // 2, n), np.float32)
    for i in range(k):
        for row in range(n):
            found[i, row] = lines[i, order[row]]
    following = k
    for i in range(k - n_multiplied, k):
        for j in range(i, k):
            for row in range(n):
                found[following, row] = found[i, row] * found[j, row]
            following += 1
    return found


@compiled
def sorted_codes(codes: Ints, order: Ints) -> Codes:
    """The levels of a column with the rows in this order."""
    found = np.empty(order.shape[0], np.int32)
    for row in range(order.shape[0]):
        found[row] = codes[order[row]]
    return found


@compiled
def look(
    codes: Codes, starts: Ints, numbers: Singles, weights: Floats, penalty: float, left: Singles
) -> tuple[float, Floats]:
    """The penalised loss in nats and its curvature; ``left`` gets the residuals."""
    size = weights.size
    curvature = np.empty((size, size))
    slope = np.empty_like(weights)
    loss = _look(codes, starts, numbers, weights, penalty, left, slope, curvature)
    return loss, curvature


@compiled
def thinned(
    codes: Codes, starts: Ints, numbers: Singles, every: int
) -> tuple[Codes, Ints, Singles]:
    """Every so manieth row of each cell."""
    fewer = np.zeros_like(starts)
    for cell in range(starts.shape[0] - 1):
        fewer[cell + 1] = fewer[cell] - (starts[cell] - starts[cell + 1]) // every
    chosen = np.empty((numbers.shape[0], fewer[-1]), np.float32)
    own = np.empty(fewer[-1], np.int32)
    for cell in range(starts.shape[0] - 1):
        for i in range(fewer[cell + 1] - fewer[cell]):
            row = starts[cell] + i * every
            own[fewer[cell] + i] = codes[row]
            for j in range(numbers.shape[0]):
                chosen[j, fewer[cell] + i] = numbers[j, row]
    return own, fewer, chosen


@compiled
def fitted(
    codes: Codes, starts: Ints, numbers: Singles, weights: Floats, penalty: float, close: float,
    factor: Floats, left: Singles,
) -> Floats:  # fmt: skip
    """The coefficients of least loss, in place, by Newton's method, until a further step would
    change the loss by less than ``close``; second derivatives are worked out anew unless steps
    promise little, and quickly less. Those of some of the rows, as a ``factor``, which may be
    empty, do for all rows as long as steps get smaller quickly. The last factor is returned, and
    ``left`` gets the residuals."""
    size = weights.size
    slope, next_slope = np.empty_like(weights), np.empty_like(weights)
    curvature, nothing = np.empty((0, 0)), np.empty((0, 0))
    if factor.shape[0] == 0:
        curvature = np.empty((size, size))
    loss = _look(codes, starts, numbers, weights, penalty, left, slope, curvature)
    promised, share, small = np.inf, 0.5, np.inf
    for _ in range(STEPS):
        if curvature.shape[0] > 0:
            factor = np.linalg.cholesky(curvature).astype(np.float64)
            share, small = 0.2, SMALL
        step = _solved(factor, slope.ravel()).reshape(weights.shape)
        promise = 0.5 * (slope * step).sum()
        ends = promise * min(1.0, promise / promised if promised < np.inf else 1.0) < close
        again = not ends and promise > min(share * promised, small)
        curvature = np.empty((size, size)) if again else nothing
        length, fresh = 1.0, weights + step
        new_loss = _look(codes, starts, numbers, fresh, penalty, left, next_slope, curvature)
        while new_loss > loss * (1 + ROUNDING) and length >= 1e-4:
            length /= 2
            fresh = weights + length * step
            new_loss = _look(codes, starts, numbers, fresh, penalty, left, next_slope, nothing)
        if new_loss > loss * (1 + ROUNDING):
            break
        weights[:] = fresh
        if length < 1:
            curvature = np.empty((size, size))
            _look(codes, starts, numbers, weights, penalty, left, next_slope, curvature)
        slope, next_slope = next_slope, slope
        loss, promised = new_loss, promise
        if ends and length == 1:
            break
    return factor


@compiled
def products_of(left: Singles, right: Singles) -> tuple[Floats, Floats]:
    """The products of any line of one with any of the other, added up over the rows; and the
    products of any two of these, of which the lower half is filled in."""
    n_products = left.shape[0] * right.shape[0]
    sums, squares = np.zeros(n_products), np.zeros((n_products, n_products))
    products = np.empty((n_products, RUN), np.float32)
    for start in range(0, left.shape[1], RUN):
        size = min(RUN, left.shape[1] - start)
        for i in range(n_products):
            one, other = left[i // right.shape[0]], right[i % right.shape[0]]
            for r in range(size):
                products[i, r] = one[start + r] * other[start + r]
            sums[i] += _total(products[i, :size])
            for j in range(i + 1):
                squares[i, j] += _dot(products[i, :size], products[j, :size])
    return sums, squares
