"""Information from the moments of a table whose rows are not in memory: they were taken when its
rows were read, or are taken in blocks of levels that are whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.counting.compiled import Ints
from tamis.counting.elsewhere import BlockTable, MomentTable
from tamis.counting.passes import Pass, Sums, View
from tamis.errors import DataError, SettingError
from tamis.information.gaussian import GaussianInformation, correlation_of
from tamis.information.shrinkage import checked_or_auto, suggested
from tamis.tables.growing import changed
from tamis.tables.moments import BLOCK_CELLS, Moments, require_moments

LIMB = 15
"""Bits of a whole number that are multiplied at once: so the products of 2^20 rows are exact as
floats, and those of 2^32 rows as 64-bit integers."""
COLUMN_BYTES = 2**17
"""What a column takes while the products of a block are added up."""


def open_moments(
    table: MomentTable, information: str, settings: dict[str, Any] | None
) -> GaussianInformation:
    """What the moments tell; other information would need the rows."""
    if information != "gaussian":
        raise SettingError(
            f"information={information!r} needs the rows in memory, and of numbers in blocks only "
            "the moments are taken: use information='gaussian', or read the table itself, or a "
            "sample of its rows"
        )
    moments = table.moments
    for k, name in enumerate(table.names):
        require_moments(name, np.array([moments.low[k], moments.high[k]]))
    wanted = checked_or_auto((settings or {}).get("shrinkage", 0.0))
    if isinstance(wanted, str):
        if table.again is None:
            raise SettingError(
                "shrinkage='auto' needs another pass over the rows, which are not at hand any "
                "more: give a number from 0 to 1"
            )
        n_rows, of_products = table.again(table.names, moments)
        if n_rows != moments.count:
            raise changed()
        wanted = suggested(n_rows, of_products, correlation_of(moments.covariance))
    return GaussianInformation.from_moments(table.names, moments, shrinkage=wanted)


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
