"""Levels take the place of numbers, in the kind of table that the numbers came in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_pandas_like_dataframe, is_pyarrow_table

from tamis.tables.columns import smallest_unsigned
from tamis.tables.discretize.gaps import Ints
from tamis.tables.frames import NativeFrame
from tamis.tables.table import Label, Table

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
