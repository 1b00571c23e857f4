"""Columns of arrow become codes and levels, or continuous numbers."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tamis.tables.arrays import encode_array
from tamis.tables.cells import encode_cells, plain_labels, take_cells
from tamis.tables.columns import Column, encode_labels, encode_texts
from tamis.tables.refusals import ColumnRefused, Problem, missing, shown

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
