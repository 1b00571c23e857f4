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
LEAST = 1e-9
"""Pivots are at least so large a share of what they were: single precision may make them less."""
MULTIPLIED = 32
"""Logarithms are taken of products of so many sums, none of which can be that large."""
LOWEST = -87.0
"""Where exp is 0 in single precision."""


@wide_loop
def _exp(values: Singles, powers: Codes) -> None:
    """exp of values up to 0, in place. Compilers know no wide one: 2**k by its bits, and the rest,
    which is small, by its series."""
    for r in range(values.shape[0]):
        x = values[r] if values[r] > np.float32(LOWEST) else np.float32(LOWEST)
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
def _fill(values: Singles, value: float) -> None:
    single = np.float32(value)
    for r in range(values.shape[0]):
        values[r] = single


@wide_loop
def _add_scaled(values: Singles, weight: float, more: Singles) -> None:
    single = np.float32(weight)
    for r in range(values.shape[0]):
        values[r] += single * more[r]


@wide_loop
def _rise(top: Singles, values: Singles) -> None:
    """The larger of two, in place of the first."""
    for r in range(values.shape[0]):
        top[r] = values[r] if values[r] > top[r] else top[r]


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
        last = first + MULTIPLIED
        for r in range(first, last if last < values.shape[0] else values.shape[0]):
            product *= values[r]
        logs += math.log(product)
    for r in range(values.shape[0]):
        values[r] = np.float32(1) / values[r]
    return logs


@wide_loop
def _scale(values: Singles, by: Singles, found: Singles) -> None:
    for r in range(values.shape[0]):
        found[r] = values[r] * by[r]


@inner
def _predict(
    p: Singles, codes: Codes, numbers: Singles, start: int, weights: Floats, cell: int,
    n_cells: int, buffers: Singles, powers: Codes,
) -> float:  # fmt: skip
    """The probabilities of levels in a run of rows of one cell; minus ln of those of the levels
    that there are, added up."""
    size = codes.shape[0]
    top, total = buffers[0, :size], buffers[1, :size]
    _fill(top, 0.0)
    loss = 0.0
    for level in range(p.shape[0]):
        own = p[level, :size]
        _fill(own, weights[level, cell])
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
        _scale(p[level, :size], total, p[level, :size])
    return loss


@inner
def _add_slope(
    left: Singles, numbers: Singles, start: int, stop: int, cell: int, n_cells: int, slope: Floats
) -> None:
    width = n_cells + numbers.shape[0]
    for level in range(left.shape[0]):
        own = left[level, start:stop]
        slope[level * width + cell] += _total(own)
        for j in range(numbers.shape[0]):
            slope[level * width + n_cells + j] += _dot(own, numbers[j, start:stop])


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
                _scale(weight, numbers[j, start:stop], part)
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
            here, there = a * width, b * width
            for i in range(width):
                for j in range(i):
                    curvature[here + j, there + i] = curvature[here + i, there + j]
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
    loss = 0.0
    for level in range(n_levels):
        for i in range(weights.shape[1]):
            slope[level * weights.shape[1] + i] = -penalty * weights[level, i]
            loss += 0.5 * penalty * weights[level, i] * weights[level, i]
    for i in range(curvature.shape[0]):
        for j in range(curvature.shape[0]):
            curvature[i, j] = 0.0
    for cell in range(n_cells):
        for start in range(starts[cell], starts[cell + 1], RUN):
            stop = starts[cell + 1] if starts[cell + 1] < start + RUN else start + RUN
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


@wide_loop
def _dot_rows(matrix: Floats, i: int, j: int, size: int) -> float:
    """The product of the beginnings of two rows."""
    total = 0.0
    for x in range(size):
        total += matrix[i, x] * matrix[j, x]
    return total


@inner
def _factorise(matrix: Floats) -> None:
    """Cholesky's lower factor, in place; the rest is left as it was."""
    for i in range(matrix.shape[0]):
        for j in range(i):
            matrix[i, j] = (matrix[i, j] - _dot_rows(matrix, i, j, j)) / matrix[j, j]
        left = matrix[i, i] - _dot_rows(matrix, i, i, i)
        matrix[i, i] = math.sqrt(left if left > LEAST * matrix[i, i] else LEAST * matrix[i, i])


@inner
def _solve(factor: Floats, right: Floats, found: Floats) -> float:
    """The solution, from the lower factor; its product with the right side."""
    for i in range(right.shape[0]):
        left = right[i]
        for j in range(i):
            left -= factor[i, j] * found[j]
        found[i] = left / factor[i, i]
    promise = 0.0
    for i in range(right.shape[0] - 1, -1, -1):
        value = found[i] / factor[i, i]
        found[i] = value
        promise += value * right[i]
        for j in range(i):
            found[j] -= factor[i, j] * value
    return promise


@compiled
def fitted(
    codes: Codes, starts: Ints, numbers: Singles, weights: Floats, penalty: float, close: float,
    factor: Floats, left: Singles, most: int,
) -> tuple[float, Floats]:  # fmt: skip
    """The coefficients of least loss, in place, by Newton's method, until a further step would
    change the loss by less than ``close``; second derivatives are worked out anew unless steps
    promise little, and quickly less. Those of some of the rows, as a ``factor``, which may be
    empty, do for all rows as long as steps get smaller quickly. After ``most`` steps, or if no
    step makes the loss less, it ends as well. The loss and the last factor are returned, or without
    steps the second derivatives, of which the lower halves are filled in; ``left`` gets the
    residuals."""
    width = weights.shape[1]
    size = weights.shape[0] * width
    slope, next_slope, step = np.empty(size), np.empty(size), np.zeros(size)
    fresh = np.empty((weights.shape[0], width))
    nothing = np.empty((0, 0))
    curvature = nothing if factor.shape[0] > 0 else np.empty((size, size))
    loss, promise, promised, share, small = np.inf, np.inf, np.inf, 0.5, np.inf
    length, n_steps, ends, known = 1.0, 0, False, False
    # One place that looks at the loss: each would be compiled, which takes long.
    while True:
        for level in range(weights.shape[0]):
            for i in range(width):
                fresh[level, i] = weights[level, i] + length * step[level * width + i]
        found = _look(codes, starts, numbers, fresh, penalty, left, next_slope, curvature)
        if not known and found > loss * (1 + ROUNDING):
            if length < 1e-4:
                break
            length, curvature = length / 2, nothing
            continue
        for level in range(weights.shape[0]):
            for i in range(width):
                weights[level, i] = fresh[level, i]
                step[level * width + i] = 0.0
        if length < 1 and not known:
            # A shorter step than was promised asks for second derivatives where it has led.
            known, curvature = True, np.empty((size, size))
            continue
        slope, next_slope = next_slope, slope
        loss, promised = found, promise
        if n_steps == most or (ends and length == 1):
            break
        if curvature.shape[0] > 0:
            _factorise(curvature)
            factor = curvature
            share, small = 0.2, SMALL
        promise = 0.5 * _solve(factor, slope, step)
        known, length, n_steps = False, 1.0, n_steps + 1
        ends = promise * (promise / promised if promise < promised < np.inf else 1.0) < close
        limit = share * promised
        again = not ends and promise > (limit if limit < small else small)
        curvature = np.empty((size, size)) if again else nothing
    return loss, curvature if most == 0 else factor
