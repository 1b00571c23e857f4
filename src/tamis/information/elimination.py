"""What given variables leave of correlations: Gaussian elimination, many sets in one call.

A set is eliminated one member after the other, in the order of its positions; what is left of a
member's own variance is the pivot. Consecutive contexts with the same set share the work, and a
context has the same bits in whatever batch it comes.

A compiled search asks one question at a time (``counting/direct``), and has it answered by
``answer_of_moments``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tamis.counting.compiled import Floats, Ints, address_of, compiled, inner, whole
from tamis.counting.direct import ANSWER_LOOP, GROUP, ROW, STRENGTH
from tamis.counting.independence import SMALLEST_P

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


ORDER, CORRELATIONS, LOG_SCALES, VARIES, NUMBERS, BETA = (whole(one) for one in range(6))
"""The places in ``E``: the number of columns, addresses of arrays, of ``NUMBERS`` and of scipy's
incomplete beta function. ``ANSWER_LOOP`` is where every search looks for it."""
ROWS, PRICE, FLOOR = whole(0), whole(1), whole(2)
"""The numbers: of rows, what a coefficient costs, and the least share of a variance."""
MOST_GIVEN = 24
"""Larger sets are not for here: others invert them as a whole."""

array_at: Any = None
beta_at: Any = None
"""What loops call to read arrays, and scipy's I(a, b, x): of numba, and so not there before a loop
is made."""


def signature() -> Any:  # noqa: ANN401 - numba has no types
    """That of ``answer_of_moments``, which can be compiled from now on."""
    global array_at, beta_at
    from tamis.counting import pointers

    array_at, beta_at = pointers.array_at, pointers.beta_at
    return pointers.ANSWER


@inner
def _strength_of(gain: float, residual: float, beta: int) -> float:
    """-ln p of an F test of one candidate (``null_laws.MomentTests``)."""
    p = 1.0
    if residual > 0:
        whole_residual = residual if residual > 1.0 else 1.0
        unexplained = math.exp(-2.0 * (gain if gain > 0.0 else 0.0))
        p = beta_at(beta, whole_residual / 2, 0.5, unexplained)
    strength: float = 0.0 - math.log(p if p > SMALLEST_P else SMALLEST_P)
    return strength


@inner
def _entropy_of(left: float, target: int, log_scales: Floats, varies: Ints, floor: float) -> float:
    """H of a target of whose variance so much is left."""
    if varies[target] == 0:
        return 0.0
    variance = left if left > floor else floor
    entropy: float = 0.5 * math.log(2 * math.pi * math.e * variance) + log_scales[target]
    return entropy


@compiled
def answer_of_moments(E: Ints, what: int, X: Ints, at: int, n: int, A: Floats, to: int) -> int:
    """``direct.answer`` from moments: a question about the context ``X[at : at + n]``, its target
    last. 1 if there is an answer, which goes to ``A`` from ``to`` on; 0 if the question is not for
    here, being about several candidates, a large set, or one that cannot be eliminated."""
    d, size = E[ORDER], n - 1
    if size > MOST_GIVEN or what == GROUP:
        return whole(0)
    R = array_at(E[CORRELATIONS], (d, d), np.float64)
    log_scales = array_at(E[LOG_SCALES], d, np.float64)
    varies = array_at(E[VARIES], d, np.int64)
    numbers = array_at(E[NUMBERS], 3, np.float64)
    n_rows, floor, target = numbers[ROWS], numbers[FLOOR], X[at + size]
    if what == ROW:
        explained = np.empty((size, d), dtype=np.float64)
        left = np.empty(d, dtype=np.float64)
        gains = np.empty((1, d), dtype=np.float64)
        if not _eliminate_all(R, X, at, at + size, floor, explained, left):
            return whole(0)
        _gains_given(R, target, X, at, at + size, floor, explained, left, gains, whole(0))
        for x in range(d):
            A[to + x] = gains[0, x]
        A[to + d] = _entropy_of(left[target], target, log_scales, varies, floor)
        return whole(1)
    factor = np.empty((size, size), dtype=np.float64)
    found = np.empty(size, dtype=np.float64)
    of_other = np.empty(size, dtype=np.float64)
    if not _eliminate_members(R, X, at, at + size, floor, factor, found):
        return whole(0)
    if what == STRENGTH:
        _, gain = _pair(R, X, at, size, target, X[at + n], floor, factor, found, of_other)
        A[to] = _strength_of(gain, n_rows - 2 - size, E[BETA])
        return whole(1)
    left_of_target = _on_members(R, X, at, size, target, factor, found)
    entropy = _entropy_of(left_of_target, target, log_scales, varies, floor)
    A[to] = -n_rows * entropy - numbers[PRICE] * (size + 2)
    rest = np.empty(size, dtype=np.int64)
    for i in range(size):
        for j in range(size - 1):
            rest[j] = X[at + (j if j < i else j + 1)]
        last, place = size - 1, to + 1 + 3 * i
        if not _eliminate_members(R, rest, whole(0), last, floor, factor, found):
            return whole(0)
        _, gain = _pair(R, rest, whole(0), last, target, X[at + i], floor, factor, found, of_other)
        A[place] = X[at + i]
        A[place + 1] = gain
        A[place + 2] = _strength_of(gain, n_rows - 1 - size, E[BETA])
    return whole(1)


class DirectMoments:
    """Moments as ``answer_of_moments`` reads them; they live as long as their arrays, which are
    kept here."""

    def __init__(
        self, correlations: Floats, log_scales: Floats, varies: Ints, numbers: Floats
    ) -> None:
        answer = address_of(answer_of_moments, signature())
        from tamis.counting import pointers

        arrays = (correlations, log_scales, varies, numbers)
        self._kept = [np.ascontiguousarray(one) for one in arrays]
        self.numbers = np.zeros(int(ANSWER_LOOP) + 1, dtype=np.int64)
        places = [one.ctypes.data for one in self._kept]
        self.numbers[: int(BETA) + 1] = len(varies), *places, pointers.beta_address()
        self.numbers[ANSWER_LOOP] = answer

    def price_up_to(self, n_cells: int) -> None:
        """Nothing: a coefficient costs what it costs."""
