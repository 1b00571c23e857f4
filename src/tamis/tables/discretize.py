"""``tamis.discretize``: columns of numbers in, levels and a record of the cuts out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, Literal, NamedTuple, get_args

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_pandas_like_dataframe, is_pyarrow_table
from numpy.typing import NDArray

from tamis.errors import DataError, SettingError, TamisWarning
from tamis.plugins import is_whole
from tamis.tables.assemble import check_names
from tamis.tables.columns import Column, measure, smallest_unsigned
from tamis.tables.cuts import (
    Discretization,
    Floats,
    Gaps,
    Ints,
    equal_width_cuts,
    gaps_of,
    kmeans_cuts,
    outer_edges,
    place,
    quantile_cuts,
)
from tamis.tables.frames import NativeFrame, NativeSeries, encode_series, is_frame, take_series
from tamis.tables.kinds import kind_of
from tamis.tables.read import read_table
from tamis.tables.refusals import ColumnRefused, Problem, listed, missing, refusal, shown
from tamis.tables.sources import where_present
from tamis.tables.table import Label, Table


def discretize(
    data: Any,  # noqa: ANN401 - whatever holds a table
    method: Method = "quantile",
    bins: int | Mapping[str, int] | None = None,
    columns: Sequence[str] | None = None,
) -> tuple[Any, Discretization]:
    """Turn columns of numbers into levels such as "[0.1, 2.5)"; leave all others as they are.

    The same values give the same edges, whatever the order of rows and columns. Missing values stay
    missing, and do not influence the cuts.

    Parameters
    ----------
    data : data frame, array, mapping or path
        Any table that ``tamis.TAM`` reads; it is never changed.
    method : {"quantile", "equal_width", "kmeans"}
        "quantile": the same number of rows in each bin, as far as ties allow. "equal_width": bins
        of one width; some may be empty. "kmeans": the bins whose means are nearest to the rows,
        found exactly.
    bins : int, mapping or None
        The number of bins, for all columns or by name. None is 4.
    columns : sequence of str or None
        The columns to cut. None is all of the kind "number" (see `tamis.inspect`): numbers with
        fractions, and whole numbers with many values.

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
    A ``TamisWarning`` says where ties left fewer bins than asked for.

    Examples
    --------
    >>> import tamis
    >>> rows = {"x": [0.5, 1.5, 2.5, 3.5], "y": ["a", "b", "a", "b"]}
    >>> table, record = tamis.discretize(rows, bins=2)
    >>> table["x"]
    ['[0.5, 2)', '[0.5, 2)', '[2, 3.5]', '[2, 3.5]']
    """
    request = Request(method, _by_name(bins), _names(columns))
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


def _cut(request: Request, numbers: Mapping[str, Floats]) -> tuple[Levels, Discretization]:
    cuts = {name: request.cut(name, values) for name, values in numbers.items()}
    record = Discretization(request.method, {name: cut.edges for name, cut in cuts.items()})
    notes = [cut.note for cut in cuts.values() if cut.note is not None]
    if notes:
        # The caller of tamis.discretize.
        warnings.warn(TamisWarning(f"{listed(notes, separator='; ')}."), stacklevel=3)
    levels = {
        name: (place(values, record.edges[name]), record.labels(name))
        for name, values in numbers.items()
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


def _frame_columns(frame: NativeFrame) -> tuple[dict[str, Encode], Callable[[str], bool]]:
    """How to read each column of a data frame, and whether its type is one of numbers."""
    # Names before narwhals sees them: its messages are of its own.
    names = check_names(frame.column_names if is_pyarrow_table(frame) else frame.columns)
    if is_pandas_like_dataframe(frame):
        series: list[NativeSeries] = [column for _, column in frame.items()]
    else:
        wrapped = nw.from_native(frame, eager_only=True)
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


Method = Literal["quantile", "kmeans", "equal_width"]

DEFAULT_BINS = 4

_CUTTERS: dict[str, Callable[[Gaps, int], tuple[float, ...]]] = {
    "quantile": quantile_cuts,
    "kmeans": kmeans_cuts,
    "equal_width": equal_width_cuts,
}


class Cut(NamedTuple):
    """The edges of a column's intervals, and what is to be said about them."""

    edges: tuple[float, ...]
    note: str | None


@dataclass(frozen=True)
class Request:
    """The request, with nothing in it that has no meaning."""

    method: str
    bins: int | Mapping[str, int] | None
    columns: tuple[str, ...] | None

    def __post_init__(self) -> None:
        if not isinstance(self.method, str) or self.method not in get_args(Method):
            choices = ", ".join(map(repr, get_args(Method)))
            raise SettingError(f"method must be one of {choices}, not {self.method!r}")
        for name, bins in self._asked():
            _require_bins(name, bins)

    def check_names(self, known: Sequence[str]) -> None:
        """Refuse names that the table does not have."""
        asked = list(self.columns or ())
        if isinstance(self.bins, Mapping):
            asked += list(self.bins)
        unknown = [name for name in asked if name not in known]
        if unknown:
            raise SettingError(
                f"there is no column {listed(map(shown, unknown))}; the table has "
                f"{listed(map(shown, known))}"
            )

    def cut(self, name: str, values: Floats) -> Cut:
        """The edges for one column, from the rows in which it is not missing."""
        gaps = gaps_of(values[~np.isnan(values)])
        bins = self._bins(name)
        if len(gaps.values) < 2:
            raise DataError(
                f"Column {shown(name)} takes one value, {float(gaps.values[0])!r}, and cannot be "
                "cut. Leave it out of columns, or drop it."
            )
        if len(gaps.values) < bins:
            raise DataError(
                f"Column {shown(name)} takes {len(gaps.values)} values, fewer than the {bins} bins "
                "asked for. Ask for fewer bins, or leave it out of columns."
            )
        cuts = _CUTTERS[self.method](gaps, bins)
        low, high = outer_edges(float(gaps.values[0]), float(gaps.values[-1]))
        edges = (low, *cuts, high)
        if any(b <= a for a, b in pairwise(edges)):
            raise DataError(
                f"Column {shown(name)} spans {low!r} to {high!r}: floats are too coarse there for "
                f"{bins} bins. Subtract a constant from it, or ask for fewer bins."
            )
        found = len(cuts) + 1
        fewer = f"column {shown(name)} has {found} bins, because of ties, not {bins}"
        return Cut(edges, fewer if found < bins else None)

    def _bins(self, name: str) -> int:
        if isinstance(self.bins, Mapping):
            return self.bins.get(name, DEFAULT_BINS)
        return DEFAULT_BINS if self.bins is None else self.bins

    def _asked(self) -> list[tuple[str | None, int]]:
        if isinstance(self.bins, Mapping):
            return list(self.bins.items())
        return [] if self.bins is None else [(None, self.bins)]


def _require_bins(name: str | None, bins: object) -> None:
    if not is_whole(bins) or bins < 2:
        of = "" if name is None else f" of {shown(name)}"
        raise SettingError(f"bins{of} must be a whole number from 2 on, not {bins!r}")


Flags = NDArray[np.bool_]
Encode = Callable[[Flags | None], Column]
"""Reads one column in these rows, None for all, or raises ``ColumnRefused``."""


class _Labelled(Exception):  # noqa: N818 - a message between functions, never seen by users
    """A column that was asked for by name holds labels."""


def choose(
    request: Request, columns: Mapping[str, Encode], numeric: Callable[[str], bool]
) -> dict[str, Floats]:
    """The columns the request names, or all of numbers, nan where they are missing; all bad ones
    are refused at once.

    ``numeric`` tells whether a column that cannot be read was meant to hold numbers; one that was
    not is none of our business.
    """
    request.check_names(list(columns))
    numbers: dict[str, Floats] = {}
    refused: list[tuple[str, ColumnRefused]] = []
    for name in columns if request.columns is None else request.columns:
        try:
            found = _numbers(columns[name], explicit=request.columns is not None)
        except _Labelled as why:
            raise DataError(
                f"Column {shown(name)} {why}; only numbers can be cut. Leave it out of columns."
            ) from None
        except ColumnRefused as why:
            if request.columns is not None or numeric(name):
                refused.append((name, why))
            continue
        if found is not None:
            numbers[name] = found
    if refused:
        raise refusal(refused)
    if not numbers:
        raise DataError(
            "No column is of the kind 'number', so there is nothing to cut. Name the columns that "
            "are to be cut all the same, with columns=[...]."
        )
    return numbers


def _over_all(values: Floats, absent: Flags | None) -> Floats:
    """The values of the rows that have them, and nan for the others."""
    if absent is None:
        return values
    found = np.full(len(absent), np.nan)
    found[~absent] = values
    return found


def _numbers(encode: Encode, *, explicit: bool) -> Floats | None:
    """The numbers of a column, or None if it holds levels and was not asked for by name."""
    column, absent = where_present(encode)
    if isinstance(column, ColumnRefused):
        if column.numbers is None:
            raise column
        return _over_all(measure(column.numbers), absent)
    found = _numbers_of(column, explicit=explicit)
    return None if found is None else _over_all(found, absent)


def _numbers_of(column: Column, *, explicit: bool) -> Floats | None:
    if column.kind != "number" and not explicit:
        return None
    for label in column.levels:
        if isinstance(label, str):
            raise _Labelled(f"holds labels such as {shown(label)}")
    levels: Floats = np.array(column.levels, dtype=np.float64)
    return levels[column.codes]


Levels = Mapping[str, tuple[Ints, tuple[str, ...]]]
"""For each column that was cut the interval of each row, -1 where it is missing, and the labels of
the intervals."""


def replaced_in_frame(frame: NativeFrame, levels: Levels) -> NativeFrame:
    """A new frame; the labels are ordered, in the way of the frame's library."""
    if is_pyarrow_table(frame):
        return _in_arrow(frame, levels)
    if is_pandas_like_dataframe(frame):
        return _in_pandas(frame, levels)
    wrapped = nw.from_native(frame, eager_only=True)
    series = [
        nw.new_series(
            name,
            [None if code < 0 else labels[code] for code in codes.tolist()],
            dtype=nw.Enum(labels),
            backend=wrapped.implementation,
        )
        for name, (codes, labels) in levels.items()
    ]
    return wrapped.with_columns(*series).to_native()


def _in_pandas(frame: NativeFrame, levels: Levels) -> NativeFrame:
    import pandas as pd

    # By position of the name's text: pandas names may be numbers.
    by_text = {str(name): name for name in frame.columns}
    new = {
        by_text[name]: pd.Categorical.from_codes(codes, list(labels), ordered=True)
        for name, (codes, labels) in levels.items()
    }
    copy = frame.copy()
    for name, categorical in new.items():
        copy[name] = categorical
    return copy


def _in_arrow(table: NativeFrame, levels: Levels) -> NativeFrame:
    import pyarrow as pa

    for name, (codes, labels) in levels.items():
        column = pa.DictionaryArray.from_arrays(
            pa.array(codes, pa.int32(), mask=codes < 0), pa.array(labels), ordered=True
        )
        table = table.set_column(table.column_names.index(name), name, column)
    return table


def replaced_in_table(table: Table, levels: Levels) -> Table:
    """A new table of tamis; of the labels only those that occur are levels, in their order."""
    new_levels: list[tuple[Label, ...]] = list(table.levels)
    kinds, missing = list(table.kinds), dict(table.missing)
    ranks: dict[int, Ints] = {}
    for name, (codes, labels) in levels.items():
        k = table.names.index(name)
        present = codes >= 0
        occurring, found = np.unique(codes[present], return_inverse=True)
        ranks[k] = np.zeros_like(codes)
        ranks[k][present] = found
        new_levels[k], kinds[k] = tuple(labels[i] for i in occurring), "ordinal"
        if not present.all():
            missing[k] = ~present
    most = max(len(each) for each in new_levels)
    codes_of_all = table.codes.astype(np.promote_types(table.codes.dtype, smallest_unsigned(most)))
    for k, own in ranks.items():
        codes_of_all[k] = own
    return replace(
        table,
        levels=tuple(new_levels),
        codes=codes_of_all,
        continuous={k: numbers for k, numbers in table.continuous.items() if k not in ranks},
        missing=missing,
        kinds=tuple(kinds),
    )


def table_as_mapping(table: Table) -> dict[str, list[Any]]:
    """The columns by name, as lists of labels or of numbers, None where they are missing."""
    columns: dict[str, list[Any]] = {}
    for k, name in enumerate(table.names):
        values: list[Any]
        if table.is_continuous(k):
            values = table.numbers(k).tolist()
        else:
            values = [table.levels[k][code] for code in table.codes[k].tolist()]
        for row in np.flatnonzero(~table.present(k)).tolist():
            values[row] = None
        columns[name] = values
    return columns
