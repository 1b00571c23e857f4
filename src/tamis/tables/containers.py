"""Mappings of columns and lists of rows become tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tamis.errors import DataError
from tamis.tables.arrays import encode_array
from tamis.tables.assemble import Encoding, build_table
from tamis.tables.cells import encode_cells, take_cells
from tamis.tables.columns import Column
from tamis.tables.frames import NativeSeries, arrow_of, encode_series, is_series, take_series
from tamis.tables.reading import Reading
from tamis.tables.refusals import listed, shown
from tamis.tables.table import Table

Values: TypeAlias = list[Any] | NDArray[Any] | NativeSeries


def read_mapping(data: Mapping[Any, object], how: Reading) -> Table:
    """A mapping from names to sequences of equal length."""
    columns = {name: _sequence(name, values) for name, values in data.items()}
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        usual = Counter(lengths.values()).most_common(1)[0][0]
        odd = (f"{shown(name)} has {n}" for name, n in lengths.items() if n != usual)
        raise DataError(
            f"Columns differ in length: most have {usual} rows, but column {listed(odd)}. "
            "Give every column one value a row."
        )
    n_rows = next(iter(lengths.values()), 0)
    return build_table(columns, n_rows, columns.values(), Encoding(_encode, _take), how)


def read_rows(data: Sequence[object], how: Reading) -> Table:
    """A list of rows of equal length, with names x0, x1, … as for an array."""
    rows = [_row(k, row) for k, row in enumerate(data)]
    width = len(rows[0]) if rows else 0
    for k, row in enumerate(rows):
        if len(row) != width:
            raise DataError(
                f"Row {k}, counting from 0, has {len(row)} values where row 0 has {width}. "
                "Give every row one value a column."
            )
    names = (f"x{k}" for k in range(width))
    columns: Iterable[Sequence[Any]] = zip(*rows, strict=True)
    return build_table(names, len(rows), columns, Encoding(encode_cells, take_cells), how)


def _sequence(name: object, values: object) -> Values:
    if type(values) is np.ndarray:
        return np.atleast_1d(values)
    if is_series(values) or arrow_of(values) is not None:
        return values
    if isinstance(values, Sequence) and not isinstance(values, str | bytes | bytearray):
        return list(values)
    if hasattr(values, "__array__"):
        # Indexes and extension arrays are arrays in all but name.
        return np.atleast_1d(np.asanyarray(values))
    raise DataError(
        f"Column {shown(name)} is of type {type(values).__name__}, not a sequence of values. "
        "Pass a list, an array or a series."
    )


def _encode(values: Values) -> Column:
    if isinstance(values, np.ndarray):
        return encode_array(values)
    return encode_cells(values) if isinstance(values, list) else encode_series(values)


def _take(values: Values, rows: NDArray[np.bool_]) -> Values:
    return take_cells(values, rows) if isinstance(values, list) else take_series(values, rows)


def _row(k: int, row: object) -> Sequence[object]:
    if isinstance(row, np.ndarray) and row.ndim == 1:
        return list(row)
    if isinstance(row, list | tuple):
        return row
    raise DataError(
        f"Row {k}, counting from 0, is of type {type(row).__name__}, not a list of values. "
        "Pass a list of row lists, a mapping from names to columns, or a data frame."
    )
