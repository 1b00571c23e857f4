"""Data frames of pandas, polars, pyarrow and their kin, and columns of arrow, become tables."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tamis.errors import DataError
from tamis.tables.assemble import Reading, build_table, check_different
from tamis.tables.columns import (
    Column,
    columns_of,
    encode_array,
    encode_cells,
    encode_labels,
    encode_texts,
    plain_labels,
    take_cells,
)
from tamis.tables.refusals import ColumnRefused, Problem, first_line, missing, shown
from tamis.tables.sources import Encoding
from tamis.tables.table import Label, Table

ArrowColumn: TypeAlias = Any
"""An array of arrow, chunked or not; pyarrow has no types."""

_NAMES = {
    "Date": pa.types.is_date,
    "Datetime": pa.types.is_timestamp,
    "Time": pa.types.is_time,
    "Duration": pa.types.is_duration,
    "Struct": pa.types.is_struct,
    "Map": pa.types.is_map,
    "List": pa.types.is_nested,
    "Binary": lambda kind: pa.types.is_binary(kind) or pa.types.is_large_binary(kind),
    "Interval": pa.types.is_interval,
}
"""What has no levels, by the name that most libraries call it."""
_DATES = ("Date", "Datetime", "Time")


def encode_arrow(array: ArrowColumn) -> Column:
    """Levels from an array of arrow of any type."""
    try:
        return _encode(array)
    except UnicodeDecodeError as error:
        # Arrow takes the bytes of its strings on trust until they are asked for.
        raise ColumnRefused(
            Problem.NOT_UTF8, f"holds text that is not UTF-8 ({shown(error.object)})"
        ) from error
    except NotImplementedError as error:
        # Arrow has types that it can hold but not hand over.
        raise ColumnRefused(Problem.UNSUPPORTED, f"holds values of type {array.type}") from error


def take_arrow(array: ArrowColumn, rows: NDArray[np.bool_]) -> ArrowColumn:
    """The values of these rows."""
    try:
        return _without_views(array).filter(pa.array(rows))
    except NotImplementedError:
        # What arrow cannot pick from has no levels either.
        return pa.array(take_cells(array.to_pylist(), rows), array.type)


def whole_numbers(array: ArrowColumn) -> ArrowColumn:
    """Decimals without a place after the point, as databases give sums, as integers if they fit."""
    if not pa.types.is_decimal(array.type) or array.type.scale != 0:
        return array
    try:
        return array.cast(pa.int64())
    except pa.ArrowInvalid:
        return array


def is_number(kind: Any) -> bool:  # noqa: ANN401 - a type of arrow
    """Whether values of this type are integers or floats of the machine."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _encode(array: ArrowColumn) -> Column:
    array = whole_numbers(_without_views(array))
    kind = array.type
    # First, because most columns are text, and each question to arrow takes its time.
    if (pa.types.is_string(kind) or pa.types.is_large_string(kind)) and not array.null_count:
        numbered = _whole(array.dictionary_encode())
        return encode_texts(numbered.indices.to_numpy(), numbered.dictionary.to_pylist())
    if pa.types.is_union(kind):
        return encode_cells(array.to_pylist())
    for name, is_so in _NAMES.items():
        if is_so(kind):
            cells = _dates(array) if name in _DATES else None
            raise ColumnRefused(Problem.UNSUPPORTED, f"holds values of type {name}", cells=cells)
    if pa.types.is_decimal(kind):
        # No levels, but what they measure is told from the objects.
        return encode_cells(array.to_pylist())
    if array.null_count:
        # A NaN is missing too, but is not counted among the nulls.
        raise missing(_flags(array.is_null(nan_is_null=pa.types.is_floating(kind))))
    if is_number(kind):
        return encode_array(numpy_of(array))
    if pa.types.is_boolean(kind):
        return encode_array(_flags(array))
    if pa.types.is_dictionary(kind):
        return _encode_dictionary(array)
    return encode_cells(array.to_pylist())


def _dates(array: ArrowColumn) -> list[Any]:
    kind = array.type
    if pa.types.is_timestamp(kind):
        array = array.cast(pa.timestamp("us", kind.tz), safe=False)
    elif pa.types.is_time64(kind):
        array = array.cast(pa.time64("us"), safe=False)
    cells: list[Any] = array.to_pylist()
    return cells


def _encode_dictionary(array: ArrowColumn) -> Column:
    if pa.types.is_nested(array.type.value_type):
        raise ColumnRefused(Problem.UNSUPPORTED, f"holds values of type {array.type.value_type}")
    array = _whole(array)
    labels = array.dictionary.to_pylist()
    if any(label is None or label != label for label in labels):
        # A null or a NaN may hide in the dictionary, where the array does not count it.
        return encode_cells(array.to_pylist())
    ordered = bool(array.type.ordered)
    return encode_labels(array.indices.to_numpy(), plain_labels(labels), ordered=ordered)


def _whole(numbered: ArrowColumn) -> ArrowColumn:
    """A dictionary array in one piece."""
    if isinstance(numbered, pa.ChunkedArray):
        return numbered.unify_dictionaries().combine_chunks()
    return numbered


def _without_views(array: ArrowColumn) -> ArrowColumn:
    """The column with strings in a form that arrow can number and pick from."""
    kind = array.type
    if str(kind) == "string_view":
        return array.cast(pa.large_string())
    if not pa.types.is_dictionary(kind) or str(kind.value_type) != "string_view":
        return array
    if isinstance(array, pa.ChunkedArray):
        return pa.chunked_array(map(_without_views, array.chunks))
    labels = array.dictionary.cast(pa.large_string())
    return pa.DictionaryArray.from_arrays(array.indices, labels, ordered=kind.ordered)


def _flags(array: ArrowColumn) -> NDArray[np.bool_]:
    return np.asarray(numpy_of(array), dtype=np.bool_)


def numpy_of(array: ArrowColumn) -> NDArray[Any]:
    """The values of an array without nulls as numpy holds them, or nan for nulls."""
    found: NDArray[Any] = (
        array.to_numpy()
        if isinstance(array, pa.ChunkedArray)
        else array.to_numpy(zero_copy_only=False)
    )
    return found


NativeFrame: TypeAlias = Any
NativeSeries: TypeAlias = Any
"""Typed loosely, because the library they come from may not be installed."""


def is_frame(data: object) -> bool:
    """Whether this is a data frame that holds its rows."""
    # Here and below: files are read without it, and it takes its time to import.
    from narwhals.dependencies import is_into_dataframe

    return is_into_dataframe(data)


def is_series(data: object) -> bool:
    """Whether this is a column of some data frame library."""
    from narwhals.dependencies import is_into_series

    return is_into_series(data) or _is_categorical(data)


def is_stream(data: object) -> bool:
    """Whether this hands out a table of arrow, such as a query of DuckDB, or is a lazy frame."""
    if isinstance(data, type):
        return False
    return hasattr(data, "__arrow_c_stream__") or _is_lazy(data) or _is_dataset(data)


def read_frame(data: NativeFrame, how: Reading) -> Table:
    """An eager data frame, with the names it gives its columns."""
    from narwhals.dependencies import is_pandas_like_dataframe

    native = native_of(data)
    if is_pandas_like_dataframe(native):
        columns = _pandas_columns(native)
        return build_table(native.columns, len(native), columns, _SERIES, how)
    if isinstance(native, pa.Table):
        return _read_arrow(native, how)
    columns = (native.get_column(name) for name in native.columns)
    return build_table(native.columns, len(native), columns, _SERIES, how)


def native_of(data: object) -> NativeFrame:
    """The data frame or series itself, if narwhals has wrapped it."""
    if not type(data).__module__.startswith("narwhals"):
        return data
    import narwhals as nw

    return nw.to_native(data, pass_through=True)


def read_stream(data: NativeFrame, how: Reading) -> Table:
    """What comes out of a query or a stream of batches, which is run for it once."""
    frame = _run(data)
    if isinstance(data, pa.RecordBatchReader) and not len(frame):
        raise DataError(
            "The RecordBatchReader gave no rows. A stream is read once: if this one has been, make "
            "it again."
        )
    return read_frame(frame, how)


def _run(data: NativeFrame) -> NativeFrame:
    try:
        if _is_lazy(data):
            return data.collect(engine="streaming")
        return data.to_table() if _is_dataset(data) else pa.table(data)
    # Whoever holds the query has errors of its own kinds.
    except Exception as error:
        raise DataError(
            f"The {type(data).__name__} gave no table ({first_line(error)}). Run it by itself to "
            "see what is wrong, and pass what comes out."
        ) from error


def encode_series(series: NativeSeries) -> Column:
    """Levels from a series of any library, wrapped or not, or from an array."""
    native = native_of(series)
    if isinstance(native, np.ndarray):
        return encode_array(native)
    if isinstance(getattr(native, "dtype", None), np.dtype):
        return encode_array(native.to_numpy())
    if _is_categorical(native):
        return _encode_categorical(getattr(native, "cat", native))
    array = arrow_of(native)
    if array is not None:
        return encode_arrow(array)
    if getattr(getattr(native, "dtype", None), "kind", "") == "M":
        seen = "holds values of type Datetime"
        raise ColumnRefused(Problem.UNSUPPORTED, seen, cells=_cells(native))
    return encode_cells(_cells(native))


def take_series(series: NativeSeries, rows: NDArray[np.bool_]) -> NativeSeries:
    """The values of these rows."""
    native = native_of(series)
    if isinstance(native, np.ndarray) or _is_categorical(native):
        return native[rows]
    array = arrow_of(native)
    if array is not None:
        return take_arrow(array, rows)
    # One more than there are, or numpy would make a table of cells that are sequences.
    return np.array([*take_cells(_cells(native), rows), None], dtype=object)[:-1]


_SERIES = Encoding(encode_series, take_series)


def arrow_of(values: NativeSeries) -> ArrowColumn | None:
    """The values as arrow holds them, None where it would not hold them as they are."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return whole_numbers(values)
    kind = type(getattr(values, "dtype", None)).__name__
    if kind in _IN_ARROW_FOR_PANDAS:
        # Of a series its array, which need not be asked what it is.
        return pa.array(getattr(values, "array", values))
    if hasattr(values, "to_arrow") and kind != "Object":
        if "\0" in values.name:
            # A letter that polars' names may hold and those of its arrow arrays not.
            values = values.alias("")
        try:
            return values.to_arrow()
        except pa.ArrowException:
            # Integers of 128 bits, for example.
            return None
    return None


_IN_ARROW_FOR_PANDAS = {"ArrowDtype", "StringDtype", "BooleanDtype", "Float32Dtype", "Float64Dtype"}
_IN_ARROW_FOR_PANDAS |= {f"{sign}Int{n}Dtype" for sign in ("", "U") for n in (8, 16, 32, 64)}
"""Types of pandas that are arrow's in all but name."""


def numbers_of(series: NativeSeries) -> NDArray[Any] | None:
    """The values of a column of numbers, nan where they are missing; None for any other."""
    kind = getattr(series, "dtype", None)
    if isinstance(kind, np.dtype):
        return series.to_numpy() if kind.kind in "iuf" else None
    array = None if _is_categorical(series) else arrow_of(series)
    if array is None or not (is_number(array.type) or pa.types.is_decimal(array.type)):
        return None
    if array.null_count or not is_number(array.type):
        array = array.cast(pa.float64(), safe=False)
    return numpy_of(array)


def order_of(series: NativeSeries) -> tuple[Label, ...] | None:
    """The order of the categories of a column, if they have one."""
    if _is_categorical(series):
        ordered = series.dtype.ordered
        categories = series.dtype.categories.tolist()
    else:
        array = arrow_of(series)
        if array is None or not pa.types.is_dictionary(array.type):
            return None
        ordered = array.type.ordered
        categories = array.dictionary.to_pylist()
    return tuple(dict.fromkeys(plain_labels(categories))) if ordered else None


def _cells(native: NativeSeries) -> list[Any]:
    return list(native.to_list() if hasattr(native, "to_list") else native.tolist())


def _read_arrow(table: pa.Table, how: Reading) -> Table:
    names = check_different(tuple(_arrow_names(table)))
    return build_table(names, len(table), table.columns, Encoding(encode_arrow, take_arrow), how)


def _arrow_names(table: pa.Table) -> Iterable[str]:
    try:
        return list(table.column_names)
    except UnicodeDecodeError as error:
        raise DataError(
            f"The column name {shown(error.object)} is not UTF-8. Rename the column."
        ) from error


def _pandas_columns(frame: NativeFrame) -> Iterable[NativeSeries]:
    columns = (series for _, series in frame.items())
    first = next(columns, None)
    # The first is asked, because it takes its time to ask all.
    if isinstance(getattr(first, "dtype", None), np.dtype) and len(set(frame.dtypes)) == 1:
        # One type means one block of memory: no series need be made.
        return columns_of(frame.to_numpy())
    return columns if first is None else chain((first,), columns)


def _is_lazy(data: object) -> bool:
    return type(data).__name__ == "LazyFrame" and hasattr(data, "collect")


def _is_dataset(data: object) -> bool:
    return type(data).__module__ == "pyarrow._dataset" and hasattr(data, "to_table")


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
