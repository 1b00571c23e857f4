"""The one way in: whatever holds a table is recognised here and read."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tamis.errors import DataError, FileFormatError, TamisWarning
from tamis.tables.assemble import Reading, build_table, require_missing
from tamis.tables.columns import Column, columns_of, encode_array, encode_cells, take_cells
from tamis.tables.frames import (
    NativeFrame,
    NativeSeries,
    arrow_of,
    encode_arrow,
    encode_series,
    is_frame,
    is_series,
    is_stream,
    read_frame,
    read_stream,
    take_arrow,
    take_series,
)
from tamis.tables.kinds import IGNORE, checked_types, grave_notes, require_levels
from tamis.tables.paths import (
    EXCEL_ENDINGS,
    STREAMED_ENDINGS,
    SUPPORTED,
    ending_of,
    find_parts,
    is_several,
)
from tamis.tables.refusals import first_line, listed, shown, shown_path
from tamis.tables.sources import Encoding, Sources, require_complete
from tamis.tables.streams import Stream, stream_of, unreachable
from tamis.tables.table import AnyTable, Table
from tamis.tables.text import TextColumn, TextReader, encode_text, take_text


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
    .ipc) and, with pandas, Excel files (.xlsx). ``data`` is never modified and the table
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
        raise DataError(
            f"The {type(data).__name__} gave no array ({first_line(error)}). Pass numpy.asarray of "
            "it, once that works."
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


def read_file(source: str | os.PathLike[Any], how: Reading) -> Table:
    """The table in the files at this path; their ending says how they are read."""
    path = os.fsdecode(source)
    _check_path(path)
    if is_several(path):
        return _read_stream(stream_of(find_parts(path)), how)
    try:
        if ending_of(path) in EXCEL_ENDINGS:
            return read_frame(_read_excel(path), how)
        return _read_stream(stream_of([path]), how)
    except OSError as error:
        raise unreachable(path, error) from error


def names_in(source: str | os.PathLike[Any]) -> tuple[str, ...]:
    """The names of the columns in the files at this path, as cheaply as their format allows."""
    path = os.fsdecode(source)
    _check_path(path)
    try:
        if ending_of(path) in EXCEL_ENDINGS:
            return tuple(map(str, _read_excel(path).columns))
        return stream_of(find_parts(path)).names
    except OSError as error:
        raise unreachable(path, error) from error


def _read_stream(stream: Stream, how: Reading) -> Table:
    """All rows of a stream, in memory."""
    if stream.is_text:
        return _read_text(stream, how)
    chunks: list[list[Any]] = [[] for _ in stream.names]
    n_rows = 0
    for batch in stream.batches():
        n_rows += batch.n_rows
        for column, cells in zip(chunks, batch.columns, strict=True):
            column.append(cells)
    columns: Iterator[Any] = map(_joined, stream.names, chunks)
    return build_table(stream.names, n_rows, columns, Encoding(encode_arrow, take_arrow), how)


def _read_text(stream: Stream, how: Reading) -> Table:
    columns = [TextReader() for _ in stream.names]
    n_rows = 0
    for batch in stream.batches():
        n_rows += batch.n_rows
        for column, cells in zip(columns, batch.columns, strict=True):
            column.add(cells)
    sources: Iterator[TextColumn] = (column.column(stream.place) for column in columns)
    return build_table(stream.names, n_rows, sources, Encoding(encode_text, take_text), how)


def _joined(name: str, chunks: Sequence[Any]) -> Any:  # noqa: ANN401 - of arrow
    """The chunks as one column, whose type may differ from file to file if one can hold all."""
    if _differ_in_order(chunks):
        raise DataError(
            f"Column {shown(name)} has ordered categories that are not the same in all its files. "
            "Give it the same categories in the same order in all of them."
        )
    if len({chunk.type for chunk in chunks}) == 1:
        return pa.chunked_array(chunks)
    chunks = [_plain(chunk) for chunk in chunks]
    try:
        tables = [pa.table({"x": chunk}) for chunk in chunks]
        return pa.concat_tables(tables, promote_options="permissive").column(0)
    except pa.ArrowException as error:
        types = sorted({str(chunk.type) for chunk in chunks})
        raise DataError(
            f"Column {shown(name)} has values of several types between its files, "
            f"{' and '.join(types[:2])}. Give it one type in all of them."
        ) from error


def _differ_in_order(chunks: Sequence[Any]) -> bool:
    """Whether some categories are ordered, and not all in the same way."""
    filled = [chunk for chunk in chunks if chunk.null_count < len(chunk)]
    orders = [chunk.dictionary for chunk in filled if getattr(chunk.type, "ordered", False)]
    return bool(orders) and (
        len(orders) < len(filled) or not all(one.equals(orders[0]) for one in orders)
    )


def _plain(chunk: Any) -> Any:  # noqa: ANN401 - of arrow
    """Categories as the values that they stand for."""
    return chunk.dictionary_decode() if pa.types.is_dictionary(chunk.type) else chunk


def _check_path(path: str) -> None:
    if not path.strip() or "\n" in path or "\0" in path:
        raise DataError(
            f"A string is taken for the path of a file, but {shown_path(path)} cannot be one. "
            "Pass a path, a data frame, an array, or a mapping from names to columns."
        )
    if is_several(path):
        return
    ending = ending_of(path)
    known = ending in STREAMED_ENDINGS + EXCEL_ENDINGS
    if not known and not ending and not os.path.exists(path):
        raise DataError(
            f"A string is taken for the path of a file, but there is no file {shown_path(path)}. "
            f"Pass a path that ends in one of {SUPPORTED}, or the table itself."
        )
    if not known:
        raise FileFormatError(
            f"The file {shown_path(path)} has the ending {shown(ending)}, which is not read. "
            f"Save the table in a file that ends in one of {SUPPORTED}."
        )
    if not os.path.exists(path):
        raise FileFormatError(f"There is no file {shown_path(path)}. Check the path.")
    if os.path.isfile(path) and os.path.getsize(path) == 0:
        raise FileFormatError(f"The file {shown_path(path)} is empty. Save the table again.")


def _read_excel(path: str) -> NativeFrame:
    """The first sheet, by pandas and what pandas reads it with."""
    try:
        import pandas as pd

        return pd.read_excel(path)
    except ImportError as error:
        raise FileFormatError(
            f"Reading {shown_path(path)} needs pandas and its reader of Excel files ({error}). "
            "Install them with: pip install pandas openpyxl, or save the table as CSV."
        ) from error
    except OSError:
        raise
    # The libraries that read these files have errors of every kind for damaged ones.
    except Exception as error:
        raise FileFormatError(
            f"The file {shown_path(path)} is damaged or not Excel ({first_line(error)}). Save it "
            "again, or as CSV."
        ) from error


Values: TypeAlias = list[Any] | NDArray[Any] | NativeSeries


def read_array(values: NDArray[Any], how: Reading) -> Table:
    """A two-dimensional array, with names x0, x1, …, or an array of records with named fields."""
    if values.dtype.names is not None and values.ndim == 1:
        names = values.dtype.names
        fields = (values[name] for name in names)
        return build_table(names, len(values), fields, Encoding(encode_array, take_series), how)
    if values.ndim != 2 or values.dtype.names is not None:
        raise DataError(
            f"A table is a two-dimensional array, rows by columns, but this one has shape "
            f"{values.shape} and type {values.dtype}. Reshape it, or stack its columns with "
            "numpy.column_stack."
        )
    n_rows, n_columns = values.shape
    names = tuple(f"x{k}" for k in range(n_columns))
    return build_table(names, n_rows, columns_of(values), Encoding(encode_array, take_series), how)


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
