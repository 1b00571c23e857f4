"""What is read from whatever holds a table, and what is refused by name: one contract.

Properties over generated tables are in test_reading_everywhere.py and test_reading_properties.py.
"""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from table_containers import ALL, CONTINUOUS, NAMED, UNNAMED, decode, read_quietly, typed

from tamis.errors import DataError, TamisError, TamisWarning
from tamis.tables import Table, read_table

GOOD = [0, 1, 0, 1]
HEIGHTS = [1.5, -2000.0, 0.1, 1.5, 5e-324, 1e300]
TYPED = NAMED | UNNAMED
DAY = datetime.date(2024, 1, 1)


def bits(values: object) -> list[int]:
    """Numbers that are equal only if no bit was lost, not even the sign of zero."""
    return np.array(values, dtype=np.float64).view(np.uint64).tolist()


def refused(data: object, **how: object) -> str:
    with pytest.raises(DataError) as caught:
        read_table(data, **how)
    return str(caught.value)


# Columns that are read: in every container with the same levels, or with the same bits.

LEVELS = {
    "text": (["rain", "sun", "rain", "fog", "sun", "rain"], ("fog", "rain", "sun")),
    "text of digits": (["01", "1", "01", "Été", "1", "01"], ("01", "1", "Été")),
    "whole numbers": ([3, -1, 3, 10, -1, 3], (-1, 3, 10)),
    "floats that are whole": ([2.0, 0.0, 2.0, 0.0, 2.0, -3.0], (-3, 0, 2)),
    "extremes": ([-(2**63), 2**63 - 1] * 3, (-(2**63), 2**63 - 1)),
}
NUMBERS = {
    "fractions": HEIGHTS,
    "two fractions": [0.5, 1.5] * 3,
    "many whole numbers": [10, 20, 30, 40, 50, -60],
    "many whole floats": [1.0, 2.0, 3.0, 4.0, 5.0, -0.5],
}


@pytest.mark.parametrize("engine", ALL)
def test_every_container_gives_the_same_levels(engine, tmp_path):
    columns = {f"x{k}": values for k, (values, _) in enumerate(LEVELS.values())}
    table = read_table(ALL[engine](columns, tmp_path))
    assert table.names == tuple(columns)
    assert table.levels == tuple(levels for _, levels in LEVELS.values())
    whole = {name: [int(v) if type(v) is float else v for v in c] for name, c in columns.items()}
    assert typed(decode(table)) == typed(whole)


@pytest.mark.parametrize("engine", CONTINUOUS)
def test_every_container_gives_the_same_numbers_beside_levels(engine, tmp_path):
    columns = {f"x{k}": values for k, values in enumerate([*NUMBERS.values(), list("xyxyzz")])}
    data = CONTINUOUS[engine](columns, tmp_path)
    table = read_table(data, continuous=True)
    assert sorted(table.continuous) == [0, 1, 2, 3]
    for k, values in enumerate(NUMBERS.values()):
        assert bits(table.numbers(k)) == bits(values)
    assert table.levels[4] == ("x", "y", "z")
    message = refused(data)
    assert "Column 'x0' holds numbers that are not integers, such as 1.5" in message
    assert "tamis.discretize" in message
    assert "Column 'x2' has 6 levels in 6 rows" in message


@pytest.mark.parametrize("engine", TYPED)
def test_booleans_are_levels_with_false_first(engine, tmp_path):
    columns = {"x0": [True, False, True], "x1": [True, True, False]}
    table = read_table(TYPED[engine](columns, tmp_path))
    assert typed(decode(table)) == typed(columns)
    assert table.levels == ((False, True), (False, True))


COLUMN_TYPES = {
    "objects": lambda values: np.array(values, dtype=object),
    "every other cell": lambda values: np.repeat(values, 2)[::2],
    "reversed": lambda values: np.array(values[::-1])[::-1],
    "big-endian": lambda values: np.array(values, dtype=">f8"),
    "nullable": lambda values: pd.Series(values, dtype="Float64"),
    "arrow in pandas": lambda values: pd.Series(values, dtype="double[pyarrow]"),
    "sparse": lambda values: pd.Series(pd.arrays.SparseArray(values)),
    "index": pd.Index,
    "arrow in chunks": lambda values: pa.chunked_array([values[:2], values[2:]]),
    "decimals": lambda values: [Decimal(value) for value in values],
}


@pytest.mark.parametrize("make", COLUMN_TYPES.values(), ids=COLUMN_TYPES)
def test_every_kind_of_column_is_measured(make):
    table = read_table({"height": make(HEIGHTS), "good": [0, 1] * 3}, continuous=True)
    assert bits(table.numbers(0)) == bits(HEIGHTS)
    assert table.numbers(0).flags.c_contiguous
    assert table.numbers(0).dtype.isnative


@pytest.mark.parametrize(
    "dtype", ["i1", "u1", ">i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "O"]
)
def test_every_numeric_type_gives_the_same_codes(dtype):
    table = read_table(np.array([[5, 1], [9, 1], [5, 0], [9, 0]], dtype=dtype))
    assert table.levels == ((5, 9), (0, 1))
    assert table.codes.tolist() == [[0, 1, 0, 1], [1, 1, 0, 0]]


SIZES = ["small", "large", "small", "large"]
ORDER = ["small", "medium", "large"]


@pytest.mark.parametrize(
    ("sizes", "levels"),
    [
        (pd.Categorical(SIZES, ORDER, ordered=True), ("small", "large")),
        (pd.Categorical(SIZES, ORDER), ("large", "small")),
        (pl.Series(SIZES, dtype=pl.Enum(ORDER)), ("small", "large")),
        (pl.Series(SIZES, dtype=pl.Categorical), ("large", "small")),
        (pa.DictionaryArray.from_arrays([0, 2, 0, 2], ORDER, ordered=True), ("small", "large")),
        (pa.DictionaryArray.from_arrays([0, 2, 0, 2], ORDER), ("large", "small")),
    ],
)
def test_only_ordered_categories_keep_their_order(sizes, levels):
    table = read_table({"size": sizes, "n": GOOD})
    assert table.levels[0] == levels
    assert decode(table)["size"] == SIZES


def test_other_types_of_text_and_numbers_are_read():
    text = ["b", "a", "b", "a"]
    first, second = pa.array(text[:2]), pa.array(["a", "b"])
    chunks = pa.chunked_array([first.dictionary_encode(), second.dictionary_encode()])
    for column, values in (
        (pa.array(text, pa.large_string()), text),
        (pa.array(text, pa.string_view()), text),
        (pd.Series(text, dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))), text),
        (chunks, ["b", "a", "a", "b"]),
        (pl.Series(GOOD).cast(pl.Int128), GOOD),
        (pd.Series(pd.arrays.SparseArray(GOOD)), GOOD),
        ([np.int8(1), np.uint64(2), 1, 2.0], [1, 2, 1, 2]),
        ([np.bool_(True), False, True, False], [True, False, True, False]),
        (pd.cut(pd.Series([0.5, 2, 0.5, 2]), [0, 1, 5]), ["(0, 1]", "(1, 5]"] * 2),
    ):
        assert typed(decode(read_quietly({"x": column, "y": GOOD}))) == typed(
            {"x": values, "y": GOOD}
        )


def test_rows_streams_and_tables_are_read():
    assert read_table([(1, 0), (2, 1)]).levels == ((1, 2), (0, 1))
    reader = pa.table({"a": GOOD, "b": GOOD}).to_reader(max_chunksize=2)
    table = read_table(reader)
    assert decode(table) == {"a": GOOD, "b": GOOD}
    assert read_table(table) is table
    assert "A stream is read once" in refused(reader)


def test_names_become_text_and_an_index_is_no_column():
    assert read_table(pd.DataFrame([[1, 2], [2, 1]], index=["p", "q"])).names == ("0", "1")
    assert read_table({1: [0, 1], "a\n\x1b": [1, 0]}).names == ("1", "a\n\x1b")


@pytest.mark.parametrize(
    ("n_levels", "dtype"), [(256, "u1"), (257, "u2"), (65536, "u2"), (65537, "u4")]
)
def test_codes_take_the_smallest_type_that_fits_all_columns(n_levels, dtype):
    values = np.arange(2 * n_levels) % n_levels
    table = read_table({"many": values, "few": values % 2})
    assert table.codes.dtype == dtype
    assert table.codes.flags.c_contiguous
    assert np.array_equal(table.codes[0], values)


@pytest.mark.parametrize("dtype", ["u1", "i8", "f4", "f8"])
def test_later_changes_to_the_input_do_not_reach_the_table(dtype):
    cells = np.arange(8).reshape(4, 2) % 3 / (2 if dtype.startswith("f") else 1)
    for make in (
        lambda values: values,
        np.asfortranarray,
        lambda values: {"a": values[:, 0], "b": values[:, 1]},
        lambda values: pd.DataFrame(values, columns=["a", "b"], copy=False),
    ):
        values = cells.astype(dtype)
        table = read_quietly(make(values), continuous=True)
        before = [table.numbers(k).tolist() for k in range(2)]
        values[...] = 7
        assert [table.numbers(k).tolist() for k in range(2)] == before == cells.T.tolist()


def test_constant_columns_are_named_in_one_warning():
    with pytest.warns(TamisWarning, match="'c1'.*'c5' and 2 more") as caught:
        table = read_table({"a": [0, 1]} | {f"c{k}": [7, 7] for k in range(1, 8)})
    assert len(caught) == 1
    assert isinstance(table, Table)


# Columns that are refused: the message names the column, what was seen, and the cure.

NOT_UTF8 = pa.Array.from_buffers(pa.string(), 4, pa.array([b"x", b"\xff", b"x", b"\xff"]).buffers())
MISSING = r"'bad' is missing in 2 of 4 rows \(first at row 1, counting from 0\).*fill them in"
UNKNOWN = "'bad' holds values of type {}.*convert to a string or a category"
OF_TIME = r"'bad' holds .*types=\{'bad': 'ignore'\} \(--drop bad\)"
INFINITE = r"'bad' holds an infinite value \(at row 1.*Replace infinite values"
BLANKS = "'bad' has levels that differ only by the blanks around them.*Trim the labels"
BAD = [
    (["x", None, "y", None], MISSING),
    ([1, float("nan"), 2, pd.NA], MISSING),
    (["x", pd.NaT, "y", np.nan], MISSING),
    (np.ma.masked_array([1, 2, 3, 4], mask=[0, 1, 0, 1]), MISSING),
    (pd.array([True, None, False, None], "boolean"), MISSING),
    (pd.Categorical(["x", None, "y", None]), MISSING),
    (pl.Series([1.0, float("nan"), 2.0, None]), MISSING),
    (pa.DictionaryArray.from_arrays([0, 1, 0, 1], [1, np.nan]), MISSING),
    ([None] * 4, r"'bad' is missing in all 4 rows.*\(--drop bad\)"),
    ([1.0, np.inf, 2.0, 1.0], INFINITE),
    ([1, "a", 1, "a"], r"'bad' mixes int \(1\) and str \('a'\).*one type"),
    ([True, 2, True, 2], r"'bad' mixes bool \(True\) and int \(2\)"),
    (pd.Categorical([1, "a", 1, "a"]), r"'bad' mixes int \(1\) and str \('a'\)"),
    ([[1], [2]] * 2, UNKNOWN.format("list")),
    ([1j, 2j] * 2, UNKNOWN.format("complex")),
    ([b"a", b"b"] * 2, UNKNOWN.format("bytes")),
    ([object(), object()] * 2, UNKNOWN.format("object")),
    (pl.Series([{"a": 1}, {"a": 2}] * 2), UNKNOWN.format("Struct")),
    (pa.chunked_array([[[1], [2]] * 2]), UNKNOWN.format("List")),
    ([DAY, DAY] * 2, OF_TIME),
    (np.array(["2024", "2025"] * 2, dtype="M8[D]"), OF_TIME),
    (pd.Series(pd.period_range("2024", periods=4)), OF_TIME),
    (pl.Series([datetime.timedelta(1)] * 4), OF_TIME),
    (["x", " x", "x", " x"], BLANKS),
    (pl.Series(["x", "\u00a0x", "x", "x"]), BLANKS),
    (NOT_UTF8, r"'bad' holds text that is not UTF-8 \(b'\\xff'\)"),
    (pa.DictionaryArray.from_arrays(GOOD, NOT_UTF8.slice(0, 2)), "'bad' holds text that is not"),
    (["a", "\ud800"] * 2, r"'bad' holds a lone surrogate, in '\\ud800'"),
    ([2**64, 1] * 2, "'bad' holds an integer that does not fit in 64 bits.*strings"),
    (np.zeros((4, 2)), r"'bad' holds arrays of shape \(2,\)"),
    (list("pqrs"), "'bad' has 4 levels in 4 rows.*identifier"),
    ("abcd", "'bad' is of type str.*Pass a list, an array or a series"),
    ({0: 1}, "'bad' is of type dict"),
    ([1, 2], "most have 4 rows, but column 'bad' has 2"),
]


@pytest.mark.parametrize(("column", "words"), BAD)
def test_a_bad_column_is_named_with_what_was_seen_and_the_cure(column, words):
    data = {"good": GOOD, "bad": column, "fine": GOOD}
    with pytest.raises(DataError, match=f"(?s){words}") as caught:
        read_table(data)
    assert "'good'" not in str(caught.value)
    assert isinstance(caught.value, TamisError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("engine", NAMED)
def test_every_container_refuses_missing_values_by_name(engine, tmp_path):
    data = NAMED[engine]({"gap": ["x", None, "y", None], "good": GOOD}, tmp_path)
    assert "Column 'gap' is missing in 2 of 4 rows" in refused(data)


class Raising:
    def __array__(self, dtype: object = None, copy: object = None) -> object:
        raise RuntimeError("still on the device\nat 0x0")


BAD_TABLES = [
    ({}, "needs at least 2 columns"),
    ([[1], [2]], "needs at least 2 columns"),
    (pa.table({"only": GOOD}), "needs at least 2 columns"),
    ({"a": [1], "b": [2]}, "needs at least 2 rows"),
    (pd.DataFrame({"a": [], "b": []}), "needs at least 2 rows"),
    ({"a": GOOD, " \t": GOOD}, "The name of column 2 of 2 is empty.*Give every column a name"),
    ({"\ud800": GOOD, "good": GOOD}, r"'\\ud800' holds a lone surrogate"),
    (pa.table([GOOD] * 3, names=["a", "b", "a"]), "share the name 'a'.*Rename"),
    ({1: GOOD, "1": GOOD}, "share the name '1'"),
    ([[1, 2], [1, 2], [1]], "Row 2, counting from 0, has 1 values where row 0 has 2"),
    ([{"a": 1}, {"a": 2}], "Row 0, counting from 0, is of type dict.*Pass a list of row lists"),
    (np.arange(4), "two-dimensional"),
    (pd.Series(GOOD), "pass a data frame"),
    (scipy.sparse.csr_matrix(np.eye(3)), "toarray"),
    ((row for row in [[1, 2]]), "generator"),
    (None, "NoneType"),
    (b"a,b", "bytes"),
    (pd.DataFrame, "type is not a table"),
    (pl.LazyFrame({"a": GOOD, "b": GOOD}).select("a", "absent"), "gave no table.*absent"),
    (Raising(), r"Raising gave no array \('still on the device'\)\. Pass"),
]


@pytest.mark.parametrize(("data", "words"), BAD_TABLES)
def test_what_is_no_table_is_refused_with_the_way_out(data, words):
    with pytest.raises(DataError, match=f"(?s){words}"):
        read_table(data)


def test_all_bad_columns_are_named_at_once_up_to_a_length():
    gaps = {"gap": [1, None, 1, 2], "height": [0.5, 1.5, 0.5, 1.5], "id": list("pqrs")}
    message = refused({**gaps, "good": GOOD})
    assert all(f"'{name}'" in message for name in gaps)
    assert "'good'" not in message
    many = refused({f"c{k}": [None] * 4 for k in range(8)})
    assert "'c4'" in many
    assert "'c5'" not in many
    assert "and 3 more" in many
    assert len(refused({"n" * 10_000: ["v" * 10_000, 1] * 2, "good": GOOD})) < 400
