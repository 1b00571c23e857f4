"""What given variables leave of correlations: Gaussian elimination, many sets in one call.

A set is eliminated one member after the other, in the order of its positions; what is left of a
member's own variance is the pivot. Consecutive contexts with the same set share the work, and a
context has the same bits in whatever batch it comes.
"""

from __future__ import annotations

import math

import numpy as np

from tamis.counting.compiled import Floats, Ints, compiled, inner

CLOSEST = 1 - 1e-15
"""Squared correlations nearer to 1 than this count as this one, so that a gain is finite."""


@inner
def _same(members: Ints, start: int, stop: int, other: int, other_stop: int) -> bool:
    """Whether two stretches of ``members`` hold the same set."""
    if stop - start != other_stop - other:
        return False
    for i in range(stop - start):  # noqa: SIM110 - numba knows no generators
        if members[start + i] != members[other + i]:
            return False
    return True


@inner
def _eliminate_all(
    R: Floats, members: Ints, start: int, stop: int, floor: float, explained: Floats, left: Floats
) -> bool:
    """Eliminate a set from all variables; False if a member follows from those before it.

    ``explained[i, x]`` is the coefficient of x on what is new in the i-th member, ``left[x]`` what
    all of them leave of the variance of x.
    """
    d = R.shape[0]
    for x in range(d):
        left[x] = R[x, x]
    for i in range(stop - start):
        member = members[start + i]
        if left[member] < floor:
            return False
        root = math.sqrt(left[member])
        for x in range(d):
            explained[i, x] = R[member, x]
        for j in range(i):
            weight = explained[j, member]
            for x in range(d):
                explained[i, x] -= weight * explained[j, x]
        for x in range(d):
            explained[i, x] /= root
            left[x] -= explained[i, x] * explained[i, x]
    return True


@inner
def _gain(shared: float, left: float, of_target: float, floor: float) -> float:
    """-ln(1 - r^2) / 2 of the partial correlation."""
    squared = shared * shared / (max(left, floor) * max(of_target, floor))
    return -0.5 * math.log1p(-min(squared, CLOSEST))


@inner
def _gains_given(
    R: Floats, target: int, members: Ints, start: int, stop: int, floor: float, explained: Floats,
    left: Floats, gains: Floats, i: int,
) -> None:  # fmt: skip
    """The gain of every variable about a target, from what the set explains and leaves of it."""
    for x in range(R.shape[0]):
        gains[i, x] = R[target, x]
    for j in range(stop - start):
        weight = explained[j, target]
        for x in range(R.shape[0]):
            gains[i, x] -= weight * explained[j, x]
    for x in range(R.shape[0]):
        gains[i, x] = _gain(gains[i, x], left[x], left[target], floor)
    gains[i, target] = 0.0
    for m in range(start, stop):
        gains[i, members[m]] = 0.0


@compiled
def gains_of_all(
    R: Floats,
    targets: Ints,
    members: Ints,
    starts: Ints,
    floor: float,
    of_targets: Floats,
    gains: Floats,
) -> int:
    """The gain of every variable about every target, into ``gains``, and what each set leaves of
    its target, into ``of_targets``; the first context whose set cannot be eliminated, or -1.

    Context i conditions on ``members[starts[i] : starts[i + 1]]``.
    """
    d = R.shape[0]
    most = 0
    for i in range(targets.shape[0]):
        most = max(most, starts[i + 1] - starts[i])
    explained = np.empty((most, d))
    left = np.empty(d)
    for i in range(targets.shape[0]):
        start, stop, target = starts[i], starts[i + 1], targets[i]
        known = i > 0 and _same(members, start, stop, starts[i - 1], start)
        if not known and not _eliminate_all(R, members, start, stop, floor, explained, left):
            return i
        of_targets[i] = left[target]
        _gains_given(R, target, members, start, stop, floor, explained, left, gains, i)
    return -1


@inner
def _on_members(
    R: Floats, members: Ints, start: int, size: int, x: int, factor: Floats, found: Floats
) -> float:
    """The coefficients of x on what is new in each member, and what they leave of its variance.

    ``factor[i]`` has those of the i-th member itself and, on the diagonal, the root of its pivot.
    """
    left: float = R[x, x]
    for i in range(size):
        value = R[members[start + i], x]
        for j in range(i):
            value -= factor[i, j] * found[j]
        found[i] = value / factor[i, i]
        left -= found[i] * found[i]
    return left


@inner
def _eliminate_members(
    R: Floats, members: Ints, start: int, stop: int, floor: float, factor: Floats, found: Floats
) -> bool:
    """Eliminate a set from its own members only; False if one follows from those before it."""
    for i in range(stop - start):
        left = _on_members(R, members, start, i, members[start + i], factor, found)
        if left < floor:
            return False
        for j in range(i):
            factor[i, j] = found[j]
        factor[i, i] = math.sqrt(left)
    return True


@inner
def _pair(
    R: Floats, members: Ints, start: int, size: int, target: int, other: int, floor: float,
    factor: Floats, found: Floats, of_other: Floats,
) -> tuple[float, float]:  # fmt: skip
    """What an eliminated set leaves of a target, and the gain of another variable about that."""
    of_target = _on_members(R, members, start, size, target, factor, found)
    left = _on_members(R, members, start, size, other, factor, of_other)
    shared = R[target, other]
    for j in range(size):
        shared -= found[j] * of_other[j]
    return of_target, _gain(shared, left, of_target, floor)


@compiled
def gains_of_pairs(
    R: Floats,
    targets: Ints,
    others: Ints,
    members: Ints,
    starts: Ints,
    floor: float,
    of_targets: Floats,
    gains: Floats,
) -> int:
    """The case of one other variable for each context: the same numbers with less work."""
    most = 0
    for i in range(targets.shape[0]):
        most = max(most, starts[i + 1] - starts[i])
    factor = np.empty((most, most))
    found = np.empty(most)
    of_other = np.empty(most)
    for i in range(targets.shape[0]):
        start, stop, target, other = starts[i], starts[i + 1], targets[i], others[i]
        size = stop - start
        known = i > 0 and _same(members, start, stop, starts[i - 1], start)
        if not known and not _eliminate_members(R, members, start, stop, floor, factor, found):
            return i
        of_targets[i], gains[i] = _pair(
            R, members, start, size, target, other, floor, factor, found, of_other
        )
        if other == target:
            gains[i] = 0.0
        for m in range(start, stop):
            if members[m] == other:
                gains[i] = 0.0
    return -1
