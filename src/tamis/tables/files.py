"""A path becomes a table: CSV by tamis itself, Parquet by pyarrow or polars."""

from __future__ import annotations

import os
from typing import Any

from tamis.errors import DataError, FileFormatError
from tamis.tables.csv_file import header_of, read_csv
from tamis.tables.frames import NativeFrame, read_frame
from tamis.tables.reading import Reading
from tamis.tables.refusals import shown, shown_path
from tamis.tables.table import Table

_TEXT_ENDINGS = (".csv", ".tsv", ".txt")
_PARQUET_ENDINGS = (".parquet", ".pq")
_SUPPORTED = ", ".join(_TEXT_ENDINGS + _PARQUET_ENDINGS)


def read_file(source: str | os.PathLike[Any], how: Reading) -> Table:
    """The table in the file at this path; the file's ending says how it is read."""
    path = os.fsdecode(source)
    ending = os.path.splitext(path)[1].lower()
    _check_path(path, ending)
    try:
        if ending in _TEXT_ENDINGS:
            return read_csv(path, how)
        return read_frame(_read_parquet(path), how)
    except OSError as error:
        raise _unreadable(path, error) from error


def names_in(source: str | os.PathLike[Any]) -> tuple[str, ...]:
    """The names of the columns in the file at this path, as cheaply as its format allows."""
    path = os.fsdecode(source)
    ending = os.path.splitext(path)[1].lower()
    _check_path(path, ending)
    try:
        if ending in _TEXT_ENDINGS:
            return header_of(path)
        return _parquet_names(path)
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: str, error: OSError) -> FileFormatError:
    return FileFormatError(
        f"The file {shown_path(path)} cannot be read: {error.strerror or error}. "
        "Check that it is a file and that you may read it."
    )


def _check_path(path: str, ending: str) -> None:
    if not path.strip() or "\n" in path or "\0" in path:
        raise DataError(
            f"A string is taken for the path of a file, but {shown_path(path)} cannot be one. "
            "Pass a path, a data frame, an array, or a mapping from names to columns."
        )
    if os.path.isdir(path):
        raise FileFormatError(
            f"{shown_path(path)} is a directory. Pass the path of one file ({_SUPPORTED})."
        )
    known = ending in _TEXT_ENDINGS + _PARQUET_ENDINGS
    if not known and not ending and not os.path.exists(path):
        raise DataError(
            f"A string is taken for the path of a file, but there is no file {shown_path(path)}. "
            f"Pass a path that ends in one of {_SUPPORTED}, or the table itself."
        )
    if not known:
        raise FileFormatError(
            f"The file {shown_path(path)} has the ending {shown(ending)}, which is not read. "
            f"Save the table in a file that ends in one of {_SUPPORTED}."
        )
    if not os.path.exists(path):
        raise FileFormatError(f"There is no file {shown_path(path)}. Check the path.")
    if os.path.isfile(path) and os.path.getsize(path) == 0:
        raise FileFormatError(f"The file {shown_path(path)} is empty. Save the table again.")


def _read_parquet(path: str) -> NativeFrame:
    """pyarrow first: some damaged files make polars abort the whole process."""
    try:
        return _read_with_pyarrow(path)
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("pyarrow"):
            raise
    try:
        return _read_with_polars(path)
    except ModuleNotFoundError as error:
        if error.name != "polars":
            raise
        raise FileFormatError(
            f"Reading {shown_path(path)} needs pyarrow or polars, and neither is installed. "
            "Install one with: pip install 'tamis[parquet]'"
        ) from error


def _parquet_names(path: str) -> tuple[str, ...]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        return tuple(_read_with_polars(path).columns)
    try:
        return tuple(pq.read_schema(path).names)
    except pa.ArrowException as error:
        raise _damaged(path, error) from error


def _read_with_polars(path: str) -> NativeFrame:
    import polars as pl

    with open(path, "rb") as file:
        try:
            # From an open file: a path may be taken for a pattern or a partitioned folder.
            return pl.read_parquet(file)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise _damaged(path, error) from error


def _read_with_pyarrow(path: str) -> NativeFrame:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with open(path, "rb") as file:
        try:
            return pq.ParquetFile(file).read()
        except (pa.ArrowException, OSError) as error:
            # pyarrow also calls damage inside the file an OSError.
            raise _damaged(path, error) from error


def _damaged(path: str, error: BaseException) -> FileFormatError:
    reason = (str(error).splitlines() or ["unknown"])[0]
    return FileFormatError(
        f"The file {shown_path(path)} is damaged or not Parquet ({shown(reason)}). "
        "Write it again, or rename it if it is in another format."
    )
