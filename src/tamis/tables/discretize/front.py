"""``tamis.discretize``: columns of numbers in, levels and a record of the cuts out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_pandas_like_dataframe

from tamis.errors import DataError, SettingError, TamisWarning
from tamis.plugins import is_whole
from tamis.tables.assemble import check_names
from tamis.tables.columns import Column
from tamis.tables.discretize.columns import Chosen, Encode, Flags, choose
from tamis.tables.discretize.output import (
    Levels,
    replaced_in_frame,
    replaced_in_table,
    table_as_mapping,
)
from tamis.tables.discretize.record import Discretization, place
from tamis.tables.discretize.request import Method, Request
from tamis.tables.frames import NativeFrame, NativeSeries, encode_series, is_frame, take_series
from tamis.tables.kinds import kind_of
from tamis.tables.read import read_table
from tamis.tables.refusals import ColumnRefused, Problem, listed, missing
from tamis.tables.table import Table


def discretize(
    data: Any,  # noqa: ANN401 - whatever holds a table
    method: Method = "quantile",
    bins: int | Mapping[str, int] | None = None,
    columns: Sequence[str] | None = None,
    target: str | None = None,
) -> tuple[Any, Discretization]:
    """Turn columns of numbers into levels such as "[0.1, 2.5)"; leave all others as they are.

    The same values give the same edges, whatever the order of rows and columns. Missing values stay
    missing, and do not influence the cuts.

    Parameters
    ----------
    data : data frame, array, mapping or path
        Any table that ``tamis.TAM`` reads; it is never changed.
    method : {"quantile", "equal_width", "kmeans", "mdl"}
        "quantile": the same number of rows in each bin, as far as ties allow. "equal_width": bins
        of one width; some may be empty. "kmeans": the bins whose means are nearest to the rows,
        found exactly. "mdl": as many bins as describe the column best (Kontkanen and Myllymaki,
        2007), or, with a ``target``, as many as say enough about its levels (Fayyad and Irani,
        1993); a column without a worthwhile cut is cut at the median.
    bins : int, mapping or None
        The number of bins, for all columns or by name; for "mdl" the largest number. None is 4, and
        12 for "mdl".
    columns : sequence of str or None
        The columns to cut. None is all of the kind "number" (see `tamis.inspect`): numbers with
        fractions, and whole numbers with many values.
    target : str or None
        The column of levels that guides "mdl".

    Returns
    -------
    table
        A data frame of pandas, polars or pyarrow comes back as the same kind, with ordered
        categories; anything else as a mapping from names to lists.
    Discretization
        The method and the edges.

    Raises
    ------
    DataError
        For infinite values, constant columns, and fewer values than bins.

    Notes
    -----
    A ``TamisWarning`` says where ties left fewer bins than asked for, and which columns were cut at
    the median because no cut was worthwhile.

    Examples
    --------
    >>> import tamis
    >>> rows = {"x": [0.5, 1.5, 2.5, 3.5], "y": ["a", "b", "a", "b"]}
    >>> table, record = tamis.discretize(rows, bins=2)
    >>> table["x"]
    ['[0.5, 2)', '[0.5, 2)', '[2, 3.5]', '[2, 3.5]']
    """
    request = Request(method, _by_name(bins), _names(columns), _target(target))
    if is_frame(data):
        native = nw.to_native(data, pass_through=True)
        encoders, numeric = _frame_columns(native)
        levels, record = _cut(request, choose(request, encoders, numeric))
        return replaced_in_frame(native, levels), record
    table = read_table(data, continuous=True, missing="pairwise")
    readers: dict[str, Encode] = {
        name: partial(_table_column, table, k) for k, name in enumerate(table.names)
    }
    levels, record = _cut(request, choose(request, readers, lambda _: True))
    cut = replaced_in_table(table, levels)
    return (cut if isinstance(data, Table) else table_as_mapping(cut)), record


def _cut(request: Request, chosen: Chosen) -> tuple[Levels, Discretization]:
    cuts = {
        name: request.cut(name, values, chosen.target) for name, values in chosen.numbers.items()
    }
    record = Discretization(
        request.method,
        {name: cut.edges for name, cut in cuts.items()},
        tuple(sorted(name for name, cut in cuts.items() if cut.flat)),
        request.target,
    )
    notes = [cut.note for cut in cuts.values() if cut.note is not None]
    if notes:
        # The caller of tamis.discretize.
        warnings.warn(TamisWarning(f"{listed(notes, separator='; ')}."), stacklevel=3)
    levels = {
        name: (place(values, record.edges[name]), record.labels(name))
        for name, values in chosen.numbers.items()
    }
    return levels, record


def _names(columns: object) -> tuple[str, ...] | None:
    if columns is None:
        return None
    if isinstance(columns, str):
        raise SettingError(f"columns must be a list of names, such as [{columns!r}]")
    # An array without dimensions is iterable by its type, and yet is not.
    single = isinstance(columns, np.ndarray) and columns.ndim == 0
    if single or isinstance(columns, bytes) or not isinstance(columns, Iterable):
        raise SettingError(f"columns must be a list of names, not {columns!r}")
    names = tuple(dict.fromkeys(map(str, columns)))
    if not names:
        raise SettingError("columns is empty: name the columns to cut, or leave it out")
    return names


def _by_name(bins: int | Mapping[str, int] | None) -> int | Mapping[str, int] | None:
    # The names of pandas may be numbers; they are known here by their text.
    return {str(name): n for name, n in bins.items()} if isinstance(bins, Mapping) else bins


def _target(target: object) -> str | None:
    if target is None or isinstance(target, str):
        return target
    if is_whole(target):
        return str(target)
    raise SettingError(f"target must be the name of a column, not {target!r}")


def _frame_columns(frame: NativeFrame) -> tuple[dict[str, Encode], Callable[[str], bool]]:
    """How to read each column of a data frame, and whether its type is one of numbers."""
    if is_pandas_like_dataframe(frame):
        # Names before narwhals sees them: its messages are of its own.
        names = check_names(frame.columns)
        series: list[NativeSeries] = [column for _, column in frame.items()]
    else:
        wrapped = nw.from_native(frame, eager_only=True)
        names = check_names(wrapped.columns)
        series = [column.to_native() for column in wrapped.iter_columns()]
    by_name = dict(zip(names, series, strict=True))
    if len(frame) == 0:
        raise DataError(f"The table with columns {listed(map(repr, names))} has no rows. Add rows.")

    def numeric(name: str) -> bool:
        return bool(nw.from_native(by_name[name], series_only=True).dtype.is_numeric())

    return {name: partial(_series, column) for name, column in by_name.items()}, numeric


def _series(series: NativeSeries, rows: Flags | None) -> Column:
    column = encode_series(series if rows is None else take_series(series, rows))
    return column._replace(kind=kind_of(column, len(column.codes)))


def _table_column(table: Table, k: int, rows: Flags | None) -> Column:
    if rows is None and k in table.missing:
        raise missing(table.missing[k])
    kept = slice(None) if rows is None else rows
    if table.is_continuous(k):
        raise ColumnRefused(Problem.CONTINUOUS, "holds continuous numbers", table.numbers(k)[kept])
    return Column(table.levels[k], table.codes[k][kept], None, table.kinds[k])
