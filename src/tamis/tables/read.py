"""The one way in: whatever holds a table is recognised here and handed to its reader."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.errors import DataError, TamisWarning
from tamis.tables.arrays import read_array
from tamis.tables.containers import read_mapping, read_rows
from tamis.tables.continuous import require_levels
from tamis.tables.files import read_file
from tamis.tables.frames import is_frame, is_series, is_stream, read_frame, read_stream
from tamis.tables.kinds import IGNORE, checked_types
from tamis.tables.missing import require_complete
from tamis.tables.reading import Reading, require_missing
from tamis.tables.refusals import listed, shown
from tamis.tables.row_names import grave_notes
from tamis.tables.sources import Sources
from tamis.tables.table import AnyTable, Table


def read_table(
    data: object,
    *,
    continuous: bool = False,
    missing: str = "error",
    weights: object = None,
    types: object = None,
    stacklevel: int = 3,
) -> Table:
    """Read anything that holds a table; warn about columns that never vary.

    Accepted are data frames of pandas, polars (lazy ones too) and pyarrow; whatever hands out
    a stream of Arrow, such as a relation of DuckDB; two-dimensional or structured numpy arrays;
    mappings from names to sequences; lists of rows; and paths to CSV (.csv, .tsv, .txt, also
    compressed: .csv.gz, .csv.zst, .csv.bz2), Parquet (.parquet, .pq), Feather (.feather, .arrow,
    .ipc) and, with pandas, Excel files (.xlsx, .xls). ``data`` is never modified and the table
    shares no memory with it.

    Levels are strings, integers (also as floats) or booleans, sorted unless an ordered
    categorical says otherwise. CSV cells become integers if that loses nothing and are
    strings otherwise.

    With ``continuous``, a column of numbers that are not all integers is kept as a continuous
    column, however few its values, and so is one of integers with too many levels. Decimals
    and fractions are then taken as floats, and cells of a CSV file if each reads as a number.
    Without it such columns are refused.

    ``missing`` says what is done about missing values: "error" refuses them; "drop" leaves out
    the rows that have any, unless that is more than half of them, and "drop-anyway" also then;
    "pairwise" keeps them as the table's ``missing``; "level" makes those of categories a level of
    their own and keeps those of numbers. ``weights`` is the name of a column,
    which is taken out, or a sequence with a number a row: whole numbers repeat the rows, others
    are survey weights, which the table keeps; rows of weight 0 are left out. ``types`` names the
    kinds of columns where the user knows better (``kinds``), or "ignore" for those to leave out.
    ``stacklevel`` says whose line warnings name: that of the caller of the caller, because
    tamis.TAM.fit and its like stand in between.

    Raises ``DataError`` or ``FileFormatError`` with the name of the column, what was seen and
    what to do. A column with more than two levels must have at most half as many levels as
    rows.
    """
    require_missing(missing)
    how = Reading(continuous, missing, weights, checked_types(types))
    if isinstance(data, Table):
        return _as_it_is(data, how)
    table = _read(data, how)
    for note in (*table.losses, *_constant(table), *grave_notes(table)):
        warnings.warn(TamisWarning(note), stacklevel=stacklevel)
    return table


def columns_before_typing(data: object) -> Sources[Any]:
    """The columns of anything that holds a table, as its reader has them."""
    seen: list[Sources[Any]] = []
    _read(data, Reading(continuous=True, look=seen.append))
    return seen[0]


def table_notes(table: AnyTable) -> tuple[str, ...]:
    """What the analyst should know about a table that can be learned from."""
    return (*table.losses, *table.notes, *_constant(table), *grave_notes(table))


def _constant(table: AnyTable) -> tuple[str, ...]:
    constant = [name for k, name in enumerate(table.names) if table.never_varies(k)]
    if not constant:
        return ()
    return (
        f"Constant columns say nothing about the others: {listed(map(shown, constant))}. "
        "Consider dropping them.",
    )


def _as_it_is(table: Table, how: Reading) -> Table:
    """A table that has been read before, if it is what is wanted now."""
    kept = [k for k, name in enumerate(table.names) if how.types.get(name) != IGNORE]
    if len(kept) < table.n_variables:
        table = table.select(kept)
    if not how.continuous:
        require_levels(table)
    numbers_only = all(table.kinds[k] == "number" for k in table.missing)
    if how.missing != "pairwise" and not (how.missing == "level" and numbers_only):
        require_complete(table)
    if table.weights is not None or how.weights is not None:
        raise DataError(
            "Weights belong to rows while they are read: pass the rows themselves, with their "
            "weights, and not a table that has been read before."
        )
    return table


def _read(data: object, how: Reading) -> Table:
    if isinstance(data, str | os.PathLike):
        return read_file(data, how)
    if is_frame(data):
        return read_frame(data, how)
    if isinstance(data, np.ndarray):
        return read_array(data, how)
    if isinstance(data, Mapping):
        return read_mapping(data, how)
    if isinstance(data, list | tuple):
        return read_rows(data, how)
    if is_stream(data) and not is_series(data):
        return read_stream(data, how)
    if _is_array_like(data):
        return read_array(_array_of(data), how)
    raise DataError(
        f"{_what(data)} Accepted are data frames, arrays, mappings, lists of rows and paths."
    )


def _is_array_like(data: object) -> bool:
    """Whether this is an array in all but name, as tensors are."""
    if isinstance(data, type) or is_series(data) or _is_lazy(data):
        return False
    return hasattr(data, "__array__")


def _array_of(data: object) -> NDArray[Any]:
    try:
        return np.asarray(data)
    # Whoever holds the values has errors of its own kinds.
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(
            f"The {type(data).__name__} gave no array ({shown(reason)}). Pass numpy.asarray of it, "
            "once that works."
        ) from error


def _is_lazy(data: object) -> bool:
    """Whether this is a collection of Dask: bringing its rows here is the user's decision."""
    return type(data).__module__.split(".")[0] in ("dask", "dask_expr")


def _what(data: object) -> str:
    kind = type(data).__name__
    if _is_lazy(data):
        return (
            f"A {kind} of Dask holds tasks, not rows: call its compute method first. TAM().fit "
            "takes Dask data frames as they are."
        )
    if kind == "DuckDBPyConnection":
        return (
            f"A {kind} is a connection, not a table: pass a relation, as its method sql gives it."
        )
    if is_series(data):
        return f"A {kind} is one column, not a table: pass a data frame of several columns."
    if type(data).__module__.startswith("scipy.sparse"):
        return f"A {kind} is sparse: pass data.toarray()."
    return f"A value of type {kind} is not a table."
