"""Whole numbers read as numbers: their exact moments, and how likely they are if linear.

A density and a probability cannot be compared. On whole numbers they need not be: a linear model
can give every number a probability, like those of a contingency table, and the two readings of the
same columns compete on equal terms. Two laws are tried for each node: its errors are those of a
normal law, each number having the mass of the unit interval around it; or the number is the
rounded prediction plus a whole number of any law.

Sums of whole numbers are exact, and of the residuals no more than a histogram is needed, which adds
over rows: neither the order of the rows nor where they are makes a difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, xlogy

from tamis.counting.compiled import Codes, Ints
from tamis.counting.elsewhere import BlockTable, in_blocks
from tamis.counting.passes import Group, KeyRows, Pass, Sums, View, key_counts
from tamis.errors import DataError, SettingError
from tamis.information.gaussian import (
    GaussianInformation,
    checked_or_auto,
)
from tamis.information.regret import price
from tamis.tables.moments import BLOCK_CELLS, Moments
from tamis.tables.table import AnyTable, Label, Table, with_rows

Floats = NDArray[np.float64]

RESOLUTION = 256
"""Residuals are kept to this part of a unit."""
SPAN = 2 * RESOLUTION
"""More than there are residuals around one whole number."""
SMALLEST = 1e-300


def lattice_likelihood(table: AnyTable, parents: Mapping[int, Collection[int]]) -> float:
    """The penalised log-likelihood of a linear DAG over columns of whole numbers."""
    families = [(*sorted(own), k) for k, own in parents.items() if not table.never_varies(k)]
    found = _in_blocks(table, families) if in_blocks(table) else _here(with_rows(table), families)
    return math.fsum(
        _score(keys, rows, len(family))
        for family, (keys, rows) in zip(families, found, strict=True)
    )


def in_steps(table: Table) -> Table:
    """Columns of whole numbers, each counted from its least in steps of its own: in dozens or in
    single eggs, the table is the same."""
    return replace(table, levels=tuple(map(steps, table.levels)))


def steps(levels: Sequence[Label]) -> tuple[int, ...]:
    """Whole numbers, counted from the least of them in the largest step that leads to all."""
    numbers = from_least(levels)
    step = math.gcd(*numbers) or 1
    return tuple(number // step for number in numbers)


def from_least(levels: Sequence[Label]) -> tuple[int, ...]:
    """Whole numbers, counted from the least of them."""
    least = min(map(int, levels))
    return tuple(int(level) - least for level in levels)


class Residuals(KeyRows):
    """How many rows are how far from their prediction: the last column of a family given the
    others.

    ``numbers`` are those of each column by level, and ``gram`` the sums over rows of products of
    two of them, where a column of ones comes first.
    """

    def __init__(
        self, family: tuple[int, ...], numbers: Sequence[Floats], gram: Floats, most_bytes: int = 0
    ) -> None:
        super().__init__(most_bytes)
        *parents, self._target = family
        self._numbers = numbers[-1]
        fitted, *_ = np.linalg.lstsq(gram[:-1, :-1], gram[:-1, -1], rcond=None)
        self._constant, *slopes = fitted.tolist()
        self._terms = [(k, b * own) for k, b, own in zip(parents, slopes, numbers, strict=False)]

    def keys_of(self, group: Group) -> Ints:
        """The key of each row."""
        return self.keys(group.codes)

    def keys(self, codes: Callable[[int], Codes]) -> Ints:
        """Of rows with these levels: the whole number from the rounded prediction to the number,
        and what the residual is apart from it, in one key."""
        number = self._numbers[codes(self._target)]
        prediction = np.full(len(number), self._constant)
        for k, term in self._terms:
            prediction += term[codes(k)]
        error = number - np.round(prediction)
        rest = np.round((number - prediction - error) * RESOLUTION)
        keys: Ints = (error * SPAN + rest + RESOLUTION).astype(np.int64)
        return keys


def _here(table: Table, families: Sequence[tuple[int, ...]]) -> Iterator[Sums]:
    """The residuals of each family of a table in memory."""
    numbers = [np.array(steps(levels), dtype=np.float64) for levels in table.levels]
    for family in families:
        lines = np.array([numbers[k][table.codes[k]] for k in family])
        middle = np.round(lines.mean(axis=1))
        design = np.vstack([np.ones(table.n_rows), lines - middle[:, None]])
        centred = [numbers[k] - m for k, m in zip(family, middle, strict=True)]
        residuals = Residuals(family, centred, design @ design.T)
        yield key_counts(residuals.keys(table.codes.__getitem__))


def _in_blocks(table: BlockTable, families: Sequence[tuple[int, ...]]) -> Sequence[Sums]:
    """The residuals of each family, in one round for all of them."""
    numbers = [np.array(steps(levels), dtype=np.int64) for levels in table.levels]
    middle, gram = whole_products(table, numbers)
    centred = [(own - m).astype(np.float64) for own, m in zip(numbers, middle, strict=True)]
    asked = []
    for family in families:
        places = [0, *(k + 1 for k in family)]
        of_family = gram[np.ix_(places, places)].astype(np.float64)
        own = [centred[k] for k in family]
        asked.append(Residuals(family, own, of_family, table.working_bytes // 8))
    return table.total(asked, 1)


def _score(keys: Ints, rows: Ints, n_fitted: int) -> float:
    """Of a node whose family has this number of columns."""
    errors, rest = np.divmod(keys, SPAN)
    n = int(rows.sum())
    residuals = _histogram(errors * RESOLUTION + rest - RESOLUTION, rows)
    coefficients_paid = 0.5 * math.log(n) * n_fitted
    either = math.log(2)  # which of the two laws it is has to be told
    return (
        max(_normal(*residuals), _any_law(*_histogram(errors, rows))) - coefficients_paid - either
    )


def _histogram(values: Ints, rows: Ints) -> Sums:
    """The values that occur, in order, and their rows."""
    found, place = np.unique(values, return_inverse=True)
    return found, np.bincount(place, weights=rows).astype(np.int64)


def _any_law(errors: Ints, rows: Ints) -> float:
    """Whole numbers around the rounded prediction, by how often each came; a level is paid for
    each number between the least and the largest."""
    n, span = int(rows.sum()), int(errors[-1] - errors[0]) + 1
    return float(xlogy(rows, rows / n).sum()) - price(span, 1, n)


def _normal(residuals: Ints, rows: Ints) -> float:
    """Errors of a normal law, from the residuals in parts of a unit."""
    from scipy.optimize import minimize_scalar  # takes a moment to load, and few need it

    values, n = residuals / RESOLUTION, int(rows.sum())
    variance = float(rows @ (values - rows @ values / n) ** 2) / n
    spread = math.log(max(math.sqrt(variance), 1 / RESOLUTION))

    def loss(log_spread: float) -> float:
        return -_likelihood(values, rows, math.exp(log_spread))

    # Summed over cells, the most likely spread is narrower than that of the residuals.
    best = minimize_scalar(loss, bounds=(spread - 2.5, spread + 0.5), method="bounded")
    return -float(best.fun) - 0.5 * math.log(n)


def _likelihood(values: Floats, rows: Ints, spread: float) -> float:
    """Of residuals that came so often, with the law's cells half a unit to either side."""
    above = np.abs(values)  # the left tail has the digits that the right one loses
    mass = ndtr((0.5 - above) / spread) - ndtr((-0.5 - above) / spread)
    return float(rows @ np.log(np.maximum(mass, SMALLEST)))


LIMB = 15
"""Bits of a whole number that are multiplied at once: so the products of 2^20 rows are exact as
floats, and those of 2^32 rows as 64-bit integers."""
COLUMN_BYTES = 2**17
"""What a column takes while the products of a block are added up."""


def open_whole_numbers(
    table: BlockTable, numbers: Sequence[Ints], settings: dict[str, Any] | None
) -> GaussianInformation:
    """What the moments of levels tell that stand for these numbers, from 0 on."""
    shrinkage = checked_or_auto((settings or {}).get("shrinkage", 0.0))
    if isinstance(shrinkage, str):
        raise SettingError(
            "shrinkage='auto' needs the rows in memory, and these are counted in blocks: give a "
            "number from 0 to 1"
        )
    middle, gram = whole_products(table, numbers)
    offset = gram[0, 1:].astype(np.float64) / table.n_rows
    products = gram[1:, 1:].astype(np.float64) - np.outer(offset, offset) * table.n_rows
    high = np.array([own.max() for own in numbers], dtype=np.float64)
    origin, low = middle.astype(np.float64), np.zeros(len(numbers))
    moments = Moments(table.n_rows, origin, offset, products, low, high)
    found = GaussianInformation.from_moments(table.names, moments, shrinkage=shrinkage)
    found.has_units = False
    return found


def whole_products(table: BlockTable, numbers: Sequence[Ints]) -> tuple[Ints, Ints]:
    """A whole number near the mean of each column, and the sums over rows of the products of two
    columns' distances from theirs, a column of ones coming first: exact, as integers of Python
    where they need to be."""
    needed = COLUMN_BYTES * len(numbers)
    if needed > table.working_bytes // 2:
        raise DataError(
            f"The moments of {len(numbers)} columns need {needed / 10**9:.2g}GB beside the rest: "
            "raise the limit of memory, or leave columns out."
        )
    ((sums,),) = table.total([Products(numbers)], 1)
    n, largest = table.n_rows, max(int(own.max()) for own in numbers)
    kind = np.dtype(np.int64 if largest**2 * n < 2**62 else object)
    weights = np.array([1, *(1 << LIMB * i for own in numbers for i in range(_n_limbs(own)))], kind)
    first = np.cumsum([0, 1, *map(_n_limbs, numbers)])[:-1]
    weighted = sums.astype(kind) * weights * weights[:, None]
    total = np.add.reduceat(np.add.reduceat(weighted, first, axis=0), first, axis=1)
    middle = (2 * total[0] + n) // (2 * n)
    middle[0] = 0
    # Rows and columns less the middle times that of ones; 64 bits may run over, and come back.
    total = total - np.outer(middle, total[0])
    return middle[1:], total - np.outer(total[:, 0], middle)


def _n_limbs(numbers: Ints) -> int:
    return max(1, -(-int(numbers.max()).bit_length() // LIMB))


class Products(Pass):
    """The sums over rows of the products of two columns' limbs, a column of ones coming first."""

    def __init__(self, numbers: Sequence[Ints]) -> None:
        self._numbers = list(numbers)

    def over(self, view: View) -> Sums:
        """The sums over the rows of this view."""
        limbs = [
            [(own >> LIMB * i & 2**LIMB - 1).astype(np.float64) for i in range(_n_limbs(own))]
            for own in self._numbers
        ]
        size = 1 + sum(map(len, limbs))
        total = np.zeros((size, size), dtype=np.int64)
        step = max(BLOCK_CELLS // size, 64)
        for group in view.groups(1):
            codes = [group.codes(k) for k in range(len(limbs))]
            for start in range(0, group.n_rows, step):
                rows = slice(start, start + step)
                lines: list[NDArray[np.float64]] = [np.ones(len(codes[0][rows]))]
                lines += [
                    limb[c[rows]] for own, c in zip(limbs, codes, strict=True) for limb in own
                ]
                block = np.array(lines)
                total += (block @ block.T).astype(np.int64)
        return (total,)
