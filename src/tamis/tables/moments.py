"""The first two moments of numbers, block by block of rows.

Blocks are merged by the update of Chan, Golub and LeVeque (1983). Means are kept as distances from
a row of the data, so that numbers far from 0 lose no digits of their spread.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tamis.errors import DataError
from tamis.tables.refusals import shown
from tamis.tables.table import Table

Floats = NDArray[np.float64]

BLOCK_CELLS = 2**22
"""Numbers that are copied out of a table at a time."""
LARGEST = 1e150
"""Numbers beyond this, or below its inverse, have no variance that a float can hold."""
RESOLVED = 128
"""A column must span this many floats of its size: below, rounding to the nearest float makes up
more than some thousandths of its spread, and may be all of it."""


@dataclass(frozen=True, eq=False)
class Moments:
    """How many rows there are, and for d columns their means and centred cross-products."""

    count: int
    origin: Floats
    """A point near the rows: their first."""
    offset: Floats
    """The means, less ``origin``."""
    products: Floats
    """Sums over rows of the products of two columns' distances from their means, (d, d)."""
    low: Floats
    high: Floats
    """The least and the largest number of each column."""

    @classmethod
    def of(cls, values: Floats) -> Moments:
        """Of an array with a column of the table in each of its d rows; there may be no rows of
        the table, as long as d is known."""
        values = np.asarray(values, dtype=np.float64)
        if values.ndim != 2:
            raise DataError(
                "Moments are those of an array (columns, rows), and this one has the shape "
                f"{values.shape}. Give one column a line."
            )
        d, count = values.shape
        if count == 0:
            nothing = np.zeros(d)
            return cls(0, nothing, nothing, np.zeros((d, d)), nothing + np.inf, nothing - np.inf)
        origin = values[:, 0].copy()
        distances = values - origin[:, None]
        offset = distances.mean(axis=1)
        distances -= offset[:, None]
        # What rounding the mean has left: of the order of its last digit, and worth one more pass.
        rest = distances.mean(axis=1)
        distances -= rest[:, None]
        products = distances @ distances.T
        return cls(
            count, origin, offset + rest, products, values.min(axis=1), values.max(axis=1)
        )  # fmt: skip

    @classmethod
    def of_table(cls, table: Table) -> Moments:
        """Of a table of numbers, copying a block of its rows at a time."""
        for k, name in enumerate(table.names):
            require_moments(name, table.numbers(k))
        found = cls.of(np.zeros((table.n_variables, 0)))
        for block in blocks(table):
            found = found.merge(cls.of(block))
        return found

    def merge(self, other: Moments) -> Moments:
        """The moments of the rows of both."""
        if len(self.origin) != len(other.origin):
            raise DataError(
                f"Moments of {len(self.origin)} and of {len(other.origin)} columns cannot be "
                "merged: take both from the same columns."
            )
        if not self.count or not other.count:
            return self if self.count else other
        count = self.count + other.count
        # Between the origins first: two numbers far from 0 and close together differ exactly.
        apart = (other.origin - self.origin) + (other.offset - self.offset)
        share = other.count / count
        products = self.products + other.products
        products += np.outer(apart, apart) * (self.count * share)
        return Moments(
            count,
            self.origin,
            self.offset + apart * share,
            products,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    def select(self, positions: Sequence[int]) -> Moments:
        """A table of these rows with the columns at these positions, in this order."""
        kept = np.array(positions, dtype=np.int64)
        return Moments(
            self.count,
            self.origin[kept],
            self.offset[kept],
            self.products[np.ix_(kept, kept)],
            self.low[kept],
            self.high[kept],
        )

    def standardised(self, blocks: Iterable[Floats]) -> Iterator[Floats]:
        """The rows, a block at a time, with mean 0 and variance 1; constant columns are all 0.

        The blocks are changed in place."""
        variances = self.covariance.diagonal()
        varies = variances > 0
        weights = np.where(varies, 1 / np.sqrt(np.where(varies, variances, 1.0)), 0.0)
        for block in blocks:
            block -= self.origin[:, None]
            block -= self.offset[:, None]
            block *= weights[:, None]
            yield block

    @property
    def mean(self) -> Floats:
        """The mean of each column."""
        return self.origin + self.offset

    @property
    def varies(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Whether each column varies by more than rounding."""
        return is_resolved(self.low, self.high)

    @property
    def covariance(self) -> Floats:
        """Of the columns, with n as the divisor; 0 for columns that vary by rounding only."""
        if not self.count:
            raise DataError("Without rows there is no covariance. Add rows.")
        kept = self.varies
        found: Floats = np.where(np.outer(kept, kept), self.products / self.count, 0.0)
        return found


def blocks(table: Table) -> Iterator[Floats]:
    """The numbers of a table, a column in each line, some rows at a time."""
    d = table.n_variables
    step = max(BLOCK_CELLS // max(d, 1), 1)
    for start in range(0, table.n_rows, step):
        rows = slice(start, start + step)
        yield np.array([table.numbers(k, rows) for k in range(d)])


def is_resolved(low: Floats, high: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether columns from ``low`` to ``high`` vary by more than the rounding of floats."""
    size = np.maximum(np.abs(low), np.abs(high))
    found: np.ndarray[tuple[int], np.dtype[np.bool_]]
    found = high / 2 - low / 2 >= RESOLVED / 2 * np.spacing(size)
    return found


def varies(name: str, numbers: Floats) -> bool:
    """Whether a column holds more than one number; refuses one whose numbers differ by little more
    than the rounding of floats."""
    there = numbers[~np.isnan(numbers)]
    low, high = float(there.min(initial=np.inf)), float(there.max(initial=-np.inf))
    if low >= high:
        return False
    if not is_resolved(np.array(low), np.array(high)):
        raise DataError(
            f"Column {shown(name)} goes from {low!r} to {high!r}, where floats are "
            f"{np.spacing(max(-low, high)):.2g} apart: its numbers differ by little more than "
            "their rounding. Subtract what they have in common before they are stored as floats, "
            "or leave the column out."
        )
    return True


def require_moments(name: str, numbers: Floats) -> bool:
    """Whether a column varies; refuses one whose variance floats do not hold: squares of numbers
    beyond 1e150 are not finite, and those below 1e-150 are 0."""
    size = float(np.abs(numbers).max(initial=0.0))
    if size > LARGEST or 0 < size < 1 / LARGEST:
        raise DataError(
            f"Column {shown(name)} holds numbers of the size {size:.2g}, whose squares a float "
            "cannot hold: give the column another unit."
        )
    return varies(name, numbers)


def spread_of_products(blocks: Iterable[Floats]) -> tuple[int, float]:
    """How many rows there are, and the sum over rows and over pairs of columns of their squared
    products: what `shrinkage.suggested` needs of the rows, and what adds over parts of them."""
    n, of_products = 0, 0.0
    for block in blocks:
        n += block.shape[1]
        of_row = (block**2).sum(axis=0)
        of_products += float((of_row**2).sum() - (block**4).sum())
    return n, of_products
