"""The same columns in every container that tamis reads."""

from __future__ import annotations

import csv
import gzip
import warnings
from collections.abc import Callable
from pathlib import Path

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from pyarrow import dataset

from tamis.errors import TamisWarning
from tamis.tables import Label, Table, read_table

Columns = dict[str, list[Label]]


def rows_of(columns: Columns) -> list[list[Label]]:
    return [list(row) for row in zip(*columns.values(), strict=True)]


def write_csv(columns: Columns, path: Path, delimiter: str = ",") -> Path:
    # A comma outside quotes in the header says that commas separate.
    quoting = csv.QUOTE_MINIMAL if delimiter == "," else csv.QUOTE_ALL
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=quoting)
        writer.writerow(columns)
        writer.writerows(rows_of(columns))
    return path


def structured(columns: Columns, _: Path) -> object:
    fields = [(name, np.array(values).dtype) for name, values in columns.items()]
    return np.array([tuple(row) for row in rows_of(columns)], dtype=fields)


def parquet(columns: Columns, folder: Path) -> object:
    path = folder / "table.parquet"
    pl.DataFrame(columns).write_parquet(path)
    return path


def feather(columns: Columns, folder: Path) -> object:
    path = folder / "table.feather"
    pl.DataFrame(columns).write_ipc(path)
    return path


class ArrowStream:
    """What DuckDB, ibis and their like hand out, and nothing more."""

    def __init__(self, columns: Columns) -> None:
        self._table = pa.table(columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def gzipped(columns: Columns, folder: Path) -> object:
    path = folder / "table.csv.gz"
    path.write_bytes(gzip.compress(write_csv(columns, folder / "table.csv").read_bytes()))
    return path


def converted(columns: Columns, backend: str) -> object:
    # pandas 2 tries whether floats are whole by a cast, of which numpy warns where they are large.
    with np.errstate(invalid="ignore"):
        return pd.DataFrame(columns).convert_dtypes(dtype_backend=backend)


# Containers that carry names and types: they must give back exactly what went in.
NAMED: dict[str, Callable[[Columns, Path], object]] = {
    "mapping": lambda columns, _: columns,
    "mapping of arrays": lambda columns, _: {k: np.array(v) for k, v in columns.items()},
    "mapping of pandas series": lambda columns, _: {k: pd.Series(v) for k, v in columns.items()},
    "mapping of polars series": lambda columns, _: {k: pl.Series(v) for k, v in columns.items()},
    "pandas": lambda columns, _: pd.DataFrame(columns),
    "pandas of objects": lambda columns, _: pd.DataFrame(columns, dtype=object),
    "pandas of categories": lambda columns, _: pd.DataFrame(columns).astype("category"),
    "pandas of nullable types": lambda columns, _: converted(columns, "numpy_nullable"),
    "pandas backed by arrow": lambda columns, _: converted(columns, "pyarrow"),
    "polars": lambda columns, _: pl.DataFrame(columns),
    "pyarrow": lambda columns, _: pa.table(columns),
    "narwhals": lambda columns, _: nw.from_native(pl.DataFrame(columns)),
    "polars lazily": lambda columns, _: pl.LazyFrame(columns),
    "stream of arrow": lambda columns, _: ArrowStream(columns),
    "dataset of arrow": lambda columns, _: dataset.dataset(pa.table(columns)),
    "parquet": parquet,
    "feather": feather,
    "structured array": structured,
}

# Containers without names: the columns are called x0, x1, …
UNNAMED: dict[str, Callable[[Columns, Path], object]] = {
    "array of objects": lambda columns, _: np.array(rows_of(columns), dtype=object),
    "list of rows": lambda columns, _: rows_of(columns),
}

# Text files, in which a boolean is a word.
TEXT: dict[str, Callable[[Columns, Path], object]] = {
    "csv": lambda columns, folder: write_csv(columns, folder / "table.csv"),
    "csv with semicolons": lambda columns, folder: write_csv(columns, folder / "semi.csv", ";"),
    "txt with tabs": lambda columns, folder: write_csv(columns, folder / "table.txt", "\t"),
    "csv, compressed": gzipped,
    "tsv": lambda columns, folder: str(write_csv(columns, folder / "table.tsv", "\t")),
}

ALL = NAMED | UNNAMED | TEXT
# Calling floats categories makes levels of them.
CONTINUOUS = {name: make for name, make in ALL.items() if name != "pandas of categories"}


def read_quietly(data: object, *, continuous: bool = False) -> Table:
    """Read a table that may well hold constant columns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TamisWarning)
        return read_table(data, continuous=continuous)


def decode(table: Table) -> Columns:
    """Turn the codes back into what stood in the user's table."""
    return {
        name: [levels[code] for code in codes]
        for name, levels, codes in zip(table.names, table.levels, table.codes.tolist(), strict=True)
    }


def typed(columns: Columns) -> dict[str, list[tuple[type, Label]]]:
    """Columns that are equal only if 1, 1.0 and True are told apart."""
    return {name: [(type(value), value) for value in values] for name, values in columns.items()}
