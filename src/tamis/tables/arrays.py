"""numpy arrays become tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.errors import DataError
from tamis.tables.assemble import Encoding, build_table
from tamis.tables.cells import encode_cells
from tamis.tables.columns import Column, encode_booleans, encode_floats, encode_integers
from tamis.tables.reading import Reading
from tamis.tables.refusals import ColumnRefused, Problem, missing
from tamis.tables.table import Table

_BLOCK = 64
"""How many columns are gathered at once: a row-major array is read by cache lines, not cells,
and a whole transposed copy would double the memory."""


def read_array(values: NDArray[Any], how: Reading) -> Table:
    """A two-dimensional array, with names x0, x1, …, or an array of records with named fields."""
    if values.dtype.names is not None and values.ndim == 1:
        names = values.dtype.names
        fields = (values[name] for name in names)
        return build_table(names, len(values), fields, Encoding(encode_array, _take), how)
    if values.ndim != 2 or values.dtype.names is not None:
        raise DataError(
            f"A table is a two-dimensional array, rows by columns, but this one has shape "
            f"{values.shape} and type {values.dtype}. Reshape it, or stack its columns with "
            "numpy.column_stack."
        )
    n_rows, n_columns = values.shape
    names = tuple(f"x{k}" for k in range(n_columns))
    return build_table(names, n_rows, columns_of(values), Encoding(encode_array, _take), how)


def _take(values: NDArray[Any], rows: NDArray[np.bool_]) -> NDArray[Any]:
    return values[rows]


def columns_of(values: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """The columns of a two-dimensional array, each contiguous."""
    if isinstance(values, np.ma.MaskedArray):
        yield from values.T
        return
    # np.asarray strips np.matrix, whose rows are matrices again.
    transposed = np.asarray(values).T
    for start in range(0, len(transposed), _BLOCK):
        yield from np.ascontiguousarray(transposed[start : start + _BLOCK])


def encode_array(values: NDArray[Any]) -> Column:
    """Levels from a one-dimensional array of any type."""
    if values.ndim != 1:
        raise ColumnRefused(Problem.UNSUPPORTED, f"holds arrays of shape {values.shape[1:]}")
    if isinstance(values, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(values)
        if masked.any():
            raise missing(masked)
        values = values.data
    match values.dtype.kind:
        case "i" | "u":
            return encode_integers(values)
        case "b":
            return encode_booleans(values)
        case "f":
            return encode_floats(values)
        case "O" | "U" | "T":
            return encode_cells(values.tolist())
    cells = values.astype("datetime64[us]").tolist() if values.dtype.kind == "M" else None
    seen = f"holds values of type {values.dtype.name}"
    raise ColumnRefused(Problem.UNSUPPORTED, seen, cells=cells)
