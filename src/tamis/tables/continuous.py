"""Measured columns where levels are needed: refused in the words of a table that has none."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis.tables.columns import encode_floats
from tamis.tables.levels import check_levels
from tamis.tables.refusals import ColumnRefused, Problem, refusal
from tamis.tables.table import Table


def require_levels(table: Table) -> None:
    """Raise ``DataError`` if any column of the table is continuous, naming all that are."""
    if table.continuous:
        raise refusal(
            [
                (table.names[k], _why(table.numbers(k)[table.present(k)]))
                for k in sorted(table.continuous)
            ]
        )


def _why(numbers: NDArray[np.float64]) -> ColumnRefused:
    try:
        # As if the column were read anew, so that the refusal is the one for its values.
        check_levels(encode_floats(numbers), len(numbers))
    except ColumnRefused as why:
        return why
    # Numbers that fell together when they became floats, or a table made by hand.
    return ColumnRefused(Problem.CONTINUOUS, f"holds continuous numbers, such as {numbers[0]}")
