"""Columns are brought to the unit cube, where the article's densities live."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tamis.errors import DataError
from tamis.information.interface import Floats
from tamis.tables.refusals import listed, shown

ATOM = 0.1
"""A value that takes more than this share of the rows is an atom: there is no density."""
FEWEST_ROWS = 20
"""With fewer rows no bandwidth makes sense, and one repeated value would be an atom."""


@dataclass(frozen=True, eq=False)
class Cube:
    """Every column scaled to [0, 1]; ``log_side``, the side's length, takes an entropy back.

    The side is the range seen, widened by 2/(n-1): the support of a uniform column, estimated
    without bias. So a wall is never at a row, and no cell that holds a row is thin.
    A constant column spans no side of the cube: it is all 0 and ``varies`` says so.
    """

    names: tuple[str, ...]
    scaled: Floats
    log_side: Floats
    varies: NDArray[np.bool_]

    @property
    def n_rows(self) -> int:
        """The paper's n."""
        return int(self.scaled.shape[1])


def to_cube(names: Sequence[str], columns: Floats) -> Cube:
    """Scale the columns, or say which of them have no density."""
    columns = np.asarray(columns, dtype=np.float64)
    _check_shape(names, columns)
    low, high = columns.min(axis=1), columns.max(axis=1)
    # Halved before they are subtracted, because the range of two finite floats may be none.
    half_range = high / 2 - low / 2
    varies = half_range > 0
    _check_atoms(names, columns, varies)
    n_rows = columns.shape[1]
    half_side = np.where(varies, half_range * ((n_rows + 1) / (n_rows - 1)), 1.0)
    scaled = (columns / 2 - low[:, None] / 2) / half_side[:, None] + 1 / (n_rows + 1)
    log_side = np.where(varies, np.log(half_side) + np.log(2.0), 0.0)
    return Cube(tuple(names), scaled, log_side, varies)


def _check_shape(names: Sequence[str], columns: Floats) -> None:
    if columns.ndim != 2 or len(columns) != len(names):
        raise DataError(
            f"{len(names)} names for an array of shape {columns.shape}; pass one row of the array "
            "for each name."
        )
    n_rows = columns.shape[1]
    if n_rows < FEWEST_ROWS:
        raise DataError(
            f"The columns have {n_rows} rows; an estimate of differential entropy needs at least "
            f"{FEWEST_ROWS}. Add rows."
        )
    bad = [name for name, column in zip(names, columns, strict=True) if _not_finite(column)]
    if bad:
        raise DataError(
            f"Column {listed(map(shown, bad))} holds missing or infinite values. "
            "Drop those rows or fill them in."
        )


def _not_finite(column: Floats) -> bool:
    return not bool(np.isfinite(column).all())


def _check_atoms(names: Sequence[str], columns: Floats, varies: NDArray[np.bool_]) -> None:
    seen = []
    for name, column in zip(np.array(names)[varies], columns[varies], strict=True):
        values, counts = np.unique(column, return_counts=True)
        most = int(counts.argmax())
        if counts[most] > ATOM * len(column):
            seen.append(
                f"column {shown(str(name))} is {float(values[most])!r} in {counts[most]} of "
                f"{len(column)} rows"
            )
    if seen:
        raise DataError(
            f"A column with atoms has no density: {listed(seen, separator='; ')}. Use "
            "information='counts' after tamis.discretize, or leave the column out."
        )
