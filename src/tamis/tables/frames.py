"""Data frames of pandas, polars, pyarrow and their kin become tables, through narwhals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
from narwhals.dependencies import (
    is_into_dataframe,
    is_into_series,
    is_pandas_like_dataframe,
    is_pyarrow_table,
)
from numpy.typing import NDArray

from tamis.errors import DataError
from tamis.tables.arrays import columns_of, encode_array
from tamis.tables.assemble import Encoding, build_table, check_names
from tamis.tables.cells import encode_cells, plain_labels
from tamis.tables.columns import Column, encode_labels
from tamis.tables.reading import Reading
from tamis.tables.refusals import ColumnRefused, Problem, missing, shown
from tamis.tables.table import Table

NativeFrame: TypeAlias = Any
NativeSeries: TypeAlias = Any
"""Typed loosely, because the library they come from may not be installed."""

_ARROW_IN_PANDAS = (
    "pandas.arrays.ArrowExtensionArray",
    "pandas.core.arrays.arrow.array.ArrowExtensionArray",
)


def is_frame(data: object) -> bool:
    """Whether this is a data frame that holds its rows."""
    return is_into_dataframe(data)


def is_series(data: object) -> bool:
    """Whether this is a column of some data frame library."""
    return is_into_series(data) or _is_categorical(data)


def is_arrow_array(values: object) -> bool:
    """Whether this is an array of arrow, bare or in the hands of pandas, but no series."""
    # Known by name because pyarrow may not be installed.
    names = {f"{base.__module__}.{base.__name__}" for base in type(values).__mro__}
    return not names.isdisjoint({"pyarrow.lib.Array", *_ARROW_IN_PANDAS})


def series_of_arrow(values: NativeSeries) -> NativeSeries:
    """The same values in a series: numpy cannot take all of arrow's types over."""
    import pyarrow as pa

    array = values if isinstance(values, pa.Array) else values.__arrow_array__()
    return pa.chunked_array([array]) if isinstance(array, pa.Array) else array


def read_frame(data: NativeFrame, how: Reading) -> Table:
    """An eager data frame, with the names it gives its columns."""
    native = nw.to_native(data, pass_through=True)
    if is_pandas_like_dataframe(native):
        # narwhals refuses repeated names with a message of its own, and costs pandas
        # more time a column than counting the levels does.
        columns = _pandas_columns(native)
        return build_table(native.columns, len(native), columns, _SERIES, how)
    # Checked before narwhals sees them, for the same reason.
    names = check_names(_arrow_names(native) if is_pyarrow_table(native) else native.columns)
    frame = nw.from_native(native, eager_only=True)
    return build_table(names, len(frame), frame.iter_columns(), _SERIES, how)


def encode_series(series: NativeSeries) -> Column:
    """Levels from a series of any library, wrapped or not, or from an array."""
    try:
        return _encode(series)
    except UnicodeDecodeError as error:
        # Arrow takes the bytes of its strings on trust until they are asked for.
        raise ColumnRefused(
            Problem.NOT_UTF8, f"holds text that is not UTF-8 ({shown(error.object)})"
        ) from error
    except NotImplementedError as error:
        # Arrow has types that it can hold but not hand over.
        kind = getattr(series, "dtype", getattr(series, "type", type(series).__name__))
        raise ColumnRefused(Problem.UNSUPPORTED, f"holds values of type {kind}") from error


def take_series(series: NativeSeries, rows: NDArray[np.bool_]) -> NativeSeries:
    """The values of these rows."""
    native = nw.to_native(series, pass_through=True)
    if isinstance(native, np.ndarray) or not is_into_series(native):
        # An array, or a categorical of pandas that is in no series.
        return native[rows]
    return nw.from_native(native, series_only=True).filter(rows.tolist())


_SERIES = Encoding(encode_series, take_series)


def _encode(series: NativeSeries) -> Column:
    native = nw.to_native(series, pass_through=True)
    if isinstance(native, np.ndarray):
        return encode_array(native)
    if isinstance(getattr(native, "dtype", None), np.dtype):
        return encode_array(native.to_numpy())
    if _is_categorical(native):
        return _encode_categorical(getattr(native, "cat", native))
    return _encode_wrapped(nw.from_native(native, series_only=True))


def _arrow_names(table: NativeFrame) -> Iterable[str]:
    try:
        return list(table.column_names)
    except UnicodeDecodeError as error:
        raise DataError(
            f"The column name {shown(error.object)} is not UTF-8. Rename the column."
        ) from error


def _pandas_columns(frame: NativeFrame) -> Iterable[NativeSeries]:
    types = set(frame.dtypes)
    if len(types) == 1 and isinstance(next(iter(types)), np.dtype):
        # One type means one block of memory: no series need be made.
        return columns_of(frame.to_numpy())
    return (series for _, series in frame.items())


def _encode_wrapped(series: nw.Series[Any]) -> Column:
    dtype = series.dtype
    if isinstance(dtype, nw.Decimal):
        # No levels, but what they measure is told from the objects.
        return encode_cells(series.to_list())
    labelled = isinstance(dtype, nw.String | nw.Categorical | nw.Enum)
    opaque = isinstance(dtype, nw.Object | nw.Unknown)
    if not (dtype.is_integer() or dtype.is_float() or dtype == nw.Boolean or labelled or opaque):
        raise ColumnRefused(Problem.UNSUPPORTED, f"holds values of type {type(dtype).__name__}")
    _refuse_null(series)
    if labelled:
        return _encode_labelled(series)
    if opaque or isinstance(dtype, nw.Int128 | nw.UInt128):
        return encode_cells(series.to_list())
    return encode_array(series.to_numpy())


def _refuse_null(series: nw.Series[Any]) -> None:
    if series.null_count():
        raise missing(np.asarray(series.is_null().to_numpy(), dtype=np.bool_))


def _encode_labelled(series: nw.Series[Any]) -> Column:
    # Each library numbers distinct strings faster than Python can, in its own way.
    native: Any = series.to_native()
    if series.implementation.is_polars():
        return _encode_polars(native)
    if series.implementation.is_pyarrow():
        return _encode_pyarrow(native)
    if series.implementation.is_pandas_like() and isinstance(series.dtype, nw.String):
        return _encode_pandas(native)
    # Among these an arrow dictionary inside pandas.
    return encode_cells(series.to_list())


def _encode_polars(series: NativeSeries) -> Column:
    import polars as pl

    ordered = isinstance(series.dtype, pl.Enum)
    if not ordered:
        # Also a Categorical, whose own numbers are shared by the whole process.
        texts = series.cast(pl.String)
        series = texts.cast(pl.Enum(texts.unique().sort()))
    labels = series.dtype.categories.to_list()
    return encode_labels(series.to_physical().to_numpy(), labels, ordered=ordered)


def _encode_pyarrow(array: NativeSeries) -> Column:
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        if pa.types.is_nested(array.type.value_type):
            raise ColumnRefused(
                Problem.UNSUPPORTED, f"holds values of type {array.type.value_type}"
            )
    else:
        # The newer views have no dictionary form yet.
        array = array.cast(pa.large_string()).dictionary_encode()
    ordered = bool(array.type.ordered)
    chunk = array.unify_dictionaries().combine_chunks()
    labels = chunk.dictionary.to_pylist()
    if any(label is None or label != label for label in labels):
        # A null or a NaN may hide in the dictionary, where the array does not count it.
        return encode_cells(chunk.to_pylist())
    labels = plain_labels(labels)
    return encode_labels(chunk.indices.to_numpy(), labels, ordered=ordered)


def _encode_pandas(series: NativeSeries) -> Column:
    codes, labels = series.factorize()
    return encode_labels(codes, labels.tolist())


def _is_categorical(values: object) -> bool:
    # Of pandas, in a series or bare; known by name because pandas may not be installed.
    return type(getattr(values, "dtype", None)).__name__ == "CategoricalDtype"


def _encode_categorical(categorical: NativeSeries) -> Column:
    codes = np.asarray(categorical.codes)
    absent = codes < 0
    if absent.any():
        raise missing(absent)
    labels = plain_labels(categorical.categories.tolist())
    return encode_labels(codes, labels, ordered=bool(categorical.ordered))
