"""Whatever holds the same columns gives the same table, missing values and all, or one refusal."""

from __future__ import annotations

import gzip
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from table_containers import ArrowStream

from tamis.errors import DataError, TamisError, TamisWarning
from tamis.tables import Table, read_table
from tamis.tables.first_pass import look_at_parts, open_stream

fuzzed = settings(
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)

WORDS = ["a", "b", "Ü", "x y", 'q"', "l\nm", "n/a,", "\N{SNOWMAN}"]
KINDS = {
    pl.Int8: st.integers(-3, 3),
    pl.Int32: st.integers(-(2**31), 2**31 - 1),
    pl.Int64: st.integers(-(2**63), 2**63 - 1),
    pl.UInt64: st.sampled_from([0, 1, 2**64 - 1]),
    pl.Float32: st.floats(width=32, allow_nan=False),
    pl.Float64: st.one_of(st.floats(allow_nan=False), st.sampled_from([0.5, 1.0, -0.0, 7.0])),
    pl.String: st.sampled_from(WORDS),
    pl.Boolean: st.booleans(),
    pl.Categorical: st.sampled_from(WORDS),
    pl.Enum(WORDS): st.sampled_from(WORDS),
    pl.Date: st.dates(),
    pl.Decimal(9, 2): st.decimals(-99, 99, places=2),
}


@st.composite
def frames(draw) -> pl.DataFrame:
    """Any kinds of columns, a few or many rows, with and without missing values."""
    n_rows = draw(st.sampled_from([2, 5, 30, 70]))
    columns = {}
    for k in range(draw(st.integers(2, 5))):
        kind = draw(st.sampled_from(list(KINDS)))
        few = draw(st.lists(KINDS[kind], min_size=1, max_size=draw(st.sampled_from([2, 9, 60]))))
        cells = draw(st.lists(st.sampled_from(few), min_size=n_rows, max_size=n_rows))
        if draw(st.integers(0, 3)) == 0:
            gaps = draw(st.sets(st.integers(0, n_rows - 1), max_size=4))
            cells = [None if i in gaps else cell for i, cell in enumerate(cells)]
        columns[f"c{k}"] = pl.Series(cells, dtype=kind)
    return pl.DataFrame(columns)


HOLDERS = {
    "lazy frame": lambda frame, _: frame.lazy(),
    "pyarrow": lambda frame, _: frame.to_arrow(),
    "chunks of pyarrow": lambda frame, _: pa.concat_tables(
        [frame[:1].to_arrow(), frame[1:].to_arrow()]
    ),
    "stream": lambda frame, _: ArrowStream(frame.to_arrow()),
    "pandas of arrow": lambda frame, _: frame.to_arrow().to_pandas(types_mapper=pd.ArrowDtype),
    "mapping": lambda frame, _: {name: frame[name] for name in frame.columns},
    "parquet": lambda frame, folder: written(frame, folder / "t.parquet", "write_parquet"),
    "feather": lambda frame, folder: written(frame, folder / "t.feather", "write_ipc"),
    "folder": lambda frame, folder: in_parts(frame, folder),
}


def written(frame, path, how):
    getattr(frame, how)(path)
    return path


def in_parts(frame, folder, how="write_parquet", ending="parquet"):
    (folder / "parts").mkdir()
    for k, (a, b) in enumerate(pairwise([0, 1, len(frame) // 2, len(frame)])):
        written(frame[a:b], folder / "parts" / f"{k}.{ending}", how)
    return folder / "parts"


def outcome(data: object, **how: object) -> Table | str:
    """A table, or why there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TamisWarning)
        try:
            return read_table(data, **how)
        except TamisError as error:
            return str(error)


def same(found: Table | str, expected: Table | str) -> None:
    if isinstance(expected, str) or isinstance(found, str):
        assert found == expected
        return
    assert found.names == expected.names
    assert found.levels == expected.levels
    assert [list(map(type, one)) for one in found.levels] == [
        list(map(type, one)) for one in expected.levels
    ]
    assert found.kinds == expected.kinds
    np.testing.assert_array_equal(found.codes, expected.codes)
    assert found.continuous.keys() == expected.continuous.keys()
    for k, numbers in expected.continuous.items():
        np.testing.assert_array_equal(found.continuous[k], numbers)
    assert found.missing.keys() == expected.missing.keys()
    for k, absent in expected.missing.items():
        np.testing.assert_array_equal(found.missing[k], absent)


@pytest.mark.parametrize("missing", ["error", "drop", "level", "pairwise"])
@fuzzed
@given(frame=frames())
def test_every_holder_gives_the_same_table_or_refusal(tmp_path_factory, missing, frame):
    expected = outcome(frame, continuous=True, missing=missing)
    for holder, make in HOLDERS.items():
        data = make(frame, tmp_path_factory.mktemp("t"))
        found = outcome(data, continuous=True, missing=missing)
        try:
            same(found, expected)
        except AssertionError as error:
            raise AssertionError(holder) from error


@pytest.mark.parametrize("missing", ["error", "drop", "level", "pairwise"])
@fuzzed
@given(frame=frames())
def test_text_is_the_same_compressed_and_in_parts(tmp_path_factory, missing, frame):
    folder = tmp_path_factory.mktemp("t")
    path = written(frame, folder / "t.csv", "write_csv")
    expected = outcome(path, continuous=True, missing=missing)
    packed = folder / "t.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    same(outcome(packed, continuous=True, missing=missing), expected)
    parts = outcome(in_parts(frame, folder, "write_csv", "csv"), continuous=True, missing=missing)
    if isinstance(expected, Table):
        same(parts, expected)
    else:
        assert isinstance(parts, str)


@pytest.mark.parametrize("how", [("write_parquet", "parquet"), ("write_csv", "csv")])
@fuzzed
@given(frame=frames(), told=st.sampled_from(["category", "ordinal", "number", None]))
def test_columns_whose_rows_pass_by_are_what_they_are_in_memory(tmp_path_factory, how, frame, told):
    folder = in_parts(frame, tmp_path_factory.mktemp("t"), *how)
    types = {} if told is None else {"c0": told}
    expected = outcome(folder, continuous=True, types=types)
    stream = open_stream(str(folder), types)
    seen = look_at_parts(stream)
    if isinstance(expected, str):
        with pytest.raises(DataError):
            seen.settle(stream.chosen, types, continuous=True)
        return
    columns = seen.settle(stream.chosen, types, continuous=True)
    assert tuple(column.levels for column in columns.values()) == expected.levels
    assert tuple(column.kind for column in columns.values()) == expected.kinds
    for k, name in enumerate(stream.chosen):
        if expected.levels[k]:
            encode = seen.column(name).encode
            codes = [code for batch in stream.batches() for code in encode(batch.columns[k])]
            assert codes == expected.codes[k].tolist()
