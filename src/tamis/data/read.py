"""The one way in: whatever holds a table is recognised here and handed to its reader."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tamis.data.arrays import read_array
from tamis.data.containers import read_mapping, read_rows
from tamis.data.files import read_file
from tamis.data.frames import is_frame, is_series, read_frame
from tamis.data.measured import require_levels
from tamis.data.refusals import listed, shown
from tamis.data.table import Table
from tamis.errors import DataError, TamisWarning


def read_table(data: object, *, measured: bool = False) -> Table:
    """Read anything that holds a table; warn about columns that never vary.

    Accepted are eager data frames of pandas, polars, pyarrow and what else narwhals knows;
    two-dimensional or structured numpy arrays; mappings from names to sequences; lists of
    rows; and paths to CSV (.csv, .tsv, .txt) or Parquet (.parquet, .pq) files. Lazy frames
    are refused, because running a query is the user's decision. ``data`` is never modified
    and the table shares no memory with it.

    Levels are strings, integers (also as floats) or booleans, sorted unless an ordered
    categorical says otherwise. CSV cells become integers if that loses nothing and are
    strings otherwise.

    With ``measured``, a column of numbers that are not all integers is kept as a measured
    column, however few its values, and so is one of integers with too many levels. Decimals
    and fractions are then taken as floats, and cells of a CSV file if each reads as a number.
    Without it such columns are refused.

    Raises ``DataError`` or ``FileFormatError`` with the name of the column, what was seen and
    what to do. A column with more than two levels must have at most half as many levels as
    rows.
    """
    if isinstance(data, Table):
        if not measured:
            require_levels(data)
        return data
    table = _read(data, measured=measured)
    for note in table_notes(table):
        # The caller of the caller: tamis.TAM.fit and its like stand in between.
        warnings.warn(TamisWarning(note), stacklevel=3)
    return table


def table_notes(table: Table) -> tuple[str, ...]:
    """What the analyst should know about a table that can be learned from."""
    constant = [
        name
        for k, (name, levels) in enumerate(zip(table.names, table.levels, strict=True))
        if len(levels) == 1 or (not levels and _never_varies(table.numbers(k)))
    ]
    if not constant:
        return ()
    return (
        f"Constant columns say nothing about the others: {listed(map(shown, constant))}. "
        "Consider dropping them.",
    )


def _never_varies(numbers: NDArray[np.float64]) -> bool:
    return bool((numbers == numbers[0]).all())


def _read(data: object, *, measured: bool) -> Table:
    if isinstance(data, str | os.PathLike):
        return read_file(data, measured=measured)
    if is_frame(data):
        return read_frame(data, measured=measured)
    if isinstance(data, np.ndarray):
        return read_array(data, measured=measured)
    if isinstance(data, Mapping):
        return read_mapping(data, measured=measured)
    if isinstance(data, list | tuple):
        return read_rows(data, measured=measured)
    raise DataError(
        f"{_what(data)} Accepted are data frames, arrays, mappings, lists of rows and paths."
    )


def _what(data: object) -> str:
    kind = type(data).__name__
    if is_series(data):
        return f"A {kind} is one column, not a table: pass a data frame of several columns."
    if isinstance(nw.from_native(data, pass_through=True), nw.LazyFrame):
        return f"A {kind} holds a query, not rows: call its collect (or compute) method first."
    if type(data).__module__.startswith("scipy.sparse"):
        return f"A {kind} is sparse: pass data.toarray()."
    return f"A value of type {kind} is not a table."
