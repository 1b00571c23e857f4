"""A path becomes a table: one file, those of a folder, or those that a pattern finds."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from tamis.errors import DataError, FileFormatError
from tamis.tables.arrow import encode_arrow, take_arrow
from tamis.tables.assemble import Encoding, build_table
from tamis.tables.frames import NativeFrame, read_frame
from tamis.tables.paths import (
    EXCEL_ENDINGS,
    STREAMED_ENDINGS,
    SUPPORTED,
    ending_of,
    find_parts,
    is_several,
)
from tamis.tables.reading import Reading
from tamis.tables.refusals import shown, shown_path
from tamis.tables.streams import Stream, stream_of, unreachable
from tamis.tables.table import Table
from tamis.tables.text import TextColumn, TextReader, encode_text, take_text


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
            "Install them with: pip install pandas openpyxl (for .xls, xlrd), or save the table "
            "as CSV."
        ) from error
    except OSError:
        raise
    # The libraries that read these files have errors of every kind for damaged ones.
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise FileFormatError(
            f"The file {shown_path(path)} is damaged or not Excel ({shown(reason)}). Save it "
            "again, or as CSV."
        ) from error
