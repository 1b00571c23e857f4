"""Weights of rows: whole numbers repeat a row, other numbers say how much of a population it
stands for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.errors import DataError
from tamis.tables.refusals import at_row, shown
from tamis.tables.table import Table

MOST_CELLS = 2**30
"""Frequencies may repeat the rows of a table up to this number of cells, a byte or more each; a
number with a fraction takes the room of eight."""

LARGEST = 1e150
"""Weights beyond this have sums and squares that a float may not hold."""

Floats = NDArray[np.float64]


def read_weights(values: object, n_rows: int) -> Floats:
    """A sequence of numbers as weights, one a row: finite, not negative, and not all 0."""
    weights = _numbers(values)
    if weights.shape != (n_rows,):
        raise DataError(
            f"The weights have shape {weights.shape}, but the table has {n_rows} rows. Give one "
            "weight a row."
        )
    return check_weights(weights, "The weights")


def check_weights(weights: Floats, what: str) -> Floats:
    """Check that the weights mean something, and return them; ``what`` begins the message."""
    for wrong, seen in ((np.isnan(weights), "missing"), (np.isinf(weights), "infinite")):
        if wrong.any():
            raise DataError(
                f"{what} are {seen} in {int(wrong.sum())} of {len(weights)} rows (first "
                f"{at_row(int(wrong.argmax()))}). Give every row a weight, 0 to leave it out."
            )
    if (weights < 0).any():
        row = int((weights < 0).argmax())
        raise DataError(
            f"{what} hold {weights[row]:g} {at_row(row)}. A weight is 0, which leaves its row "
            "out, or more."
        )
    if weights.max(initial=0.0) > LARGEST:
        raise DataError(
            f"{what} go up to {weights.max():g}, whose sum a float may not hold. Divide them all "
            "by the same number."
        )
    if not (weights > 0).any():
        raise DataError(f"{what} are zero in every row. Give at least two rows a weight above 0.")
    return weights


def are_frequencies(weights: Floats) -> bool:
    """Whether all are whole numbers, and so say how often a row occurs."""
    return bool((np.trunc(weights) == weights).all())


def effective_rows(weights: Floats) -> float:
    """Kish's effective number of rows, (sum w)^2 / sum w^2 (Kish, 1965)."""
    scaled = weights / weights.max()
    return float(scaled.sum() ** 2 / (scaled**2).sum())


def with_weights(table: Table, weights: Floats | None) -> Table:
    """The table with its rows repeated by frequencies, or with survey weights beside them."""
    if weights is None:
        return table
    if (weights == weights[0]).all() and not are_frequencies(weights):
        # Rows that all stand for the same share of a population are plain rows.
        return table
    if are_frequencies(weights):
        return _repeated(table, weights)
    effective = effective_rows(weights)
    if effective < 2:
        raise DataError(
            f"By the weights {table.n_rows} rows are worth {effective:.1f} (Kish's effective "
            "number), and 2 are needed: one row outweighs all others. Check the weights."
        )
    note = (
        f"Rows have survey weights: {table.n_rows} rows are worth {effective:.0f} (Kish's "
        "effective number). Clusters and strata of the survey are not known to tamis."
    )
    return replace(table, weights=weights / weights.mean(), notes=(*table.notes, note))


def _repeated(table: Table, weights: Floats) -> Table:
    total = float(weights.sum())
    most = MOST_CELLS // (table.n_variables + 7 * len(table.continuous))
    if total > most:
        raise DataError(
            f"Whole weights are frequencies, and these make {total:.4g} rows of {table.n_rows}, "
            f"more than the {most} that {table.n_variables} columns of this kind "
            "may have. If they say how many people a row stands for, divide them by their mean: "
            "then they are survey weights."
        )
    if (weights == 1).all():
        return table
    note = (
        f"Whole weights are frequencies: {table.n_rows} rows count as {int(total)}. If they are "
        "survey weights instead, divide them by their mean."
    )
    rows = np.repeat(np.arange(table.n_rows), weights.astype(np.int64))
    return replace(table.arrange(rows), notes=(*table.notes, note))


def _numbers(values: object) -> Floats:
    try:
        array = _array(values)
        if array.dtype.kind == "O":
            # Missing values of any library read as nan, and are refused as such.
            array = np.array([_number(value) for value in array.ravel()]).reshape(array.shape)
        if array.dtype.kind not in "iufb":
            raise ValueError(f"values of type {array.dtype}")
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f"The weights must be a sequence of numbers, one a row, not {shown(values)} ({error})."
        ) from None


def _array(values: Any) -> NDArray[Any]:  # noqa: ANN401 - whatever holds weights
    try:
        return np.asarray(values)
    except BaseException as error:  # of the library that holds them, as polars' of 128 bits
        # In some versions of polars that is a panic, which is no Exception.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        if not isinstance(values, Iterable):
            raise TypeError(f"a {type(values).__name__} is no array") from None
        return np.array(list(values), dtype=object)


def _number(value: Any) -> float:  # noqa: ANN401 - whatever stands in the sequence
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return float("nan")
    return float(value)
