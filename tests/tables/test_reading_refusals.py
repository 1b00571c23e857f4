"""Every refusal names the column, says what was seen and what to do."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from tamis.errors import DataError, TamisError
from tamis.tables import read_table

GOOD = [0, 1, 0, 1]


def refused(data: object) -> str:
    with pytest.raises(DataError) as caught:
        read_table(data)
    return str(caught.value)


@pytest.mark.parametrize(
    "data",
    [
        {"bad": ["x", None, "y", None], "good": GOOD},
        {"bad": [1, float("nan"), 2, pd.NA], "good": GOOD},
        {"bad": ["x", pd.NaT, "y", np.nan], "good": GOOD},
        {"bad": np.array([1.0, np.nan, 2.0, np.nan]), "good": GOOD},
        {"bad": np.ma.masked_array([1, 2, 3, 4], mask=[0, 1, 0, 1]), "good": GOOD},
        {"bad": pa.array([1, None, 2, None]), "good": GOOD},
        {"bad": pd.Categorical(["x", None, "y", None]), "good": GOOD},
        pd.DataFrame({"bad": [1, None, 2, None], "good": GOOD}),
        pd.DataFrame({"bad": ["x", None, "y", None], "good": GOOD}),
        pd.DataFrame({"bad": pd.array([1, None, 2, None], "Int64"), "good": GOOD}),
        pd.DataFrame({"bad": pd.array([True, None, False, None], "boolean"), "good": GOOD}),
        pd.DataFrame({"bad": pd.Categorical(["x", None, "y", None]), "good": GOOD}),
        pd.DataFrame({"bad": np.array(["x", None, "y", np.nan], object), "good": GOOD}),
        pl.DataFrame({"bad": [1, None, 2, None], "good": GOOD}),
        pl.DataFrame({"bad": ["x", None, "y", None], "good": GOOD}),
        pl.DataFrame({"bad": [1.0, float("nan"), 2.0, float("nan")], "good": GOOD}),
        pl.DataFrame({"bad": [1.0, float("nan"), 2.0, None], "good": GOOD}),
        pa.table({"bad": [1, None, 2, None], "good": GOOD}),
        pa.table({"bad": [1.5, None, 2.5, float("nan")], "good": GOOD}),
        pa.table({"bad": pa.array(["x", None, "y", None]).dictionary_encode(), "good": GOOD}),
        pa.table({"bad": pa.DictionaryArray.from_arrays([0, 1, 0, 1], ["x", None]), "good": GOOD}),
        pa.table({"bad": pa.DictionaryArray.from_arrays([0, 1, 0, 1], [1, np.nan]), "good": GOOD}),
    ],
)
def test_missing_values_are_counted_and_placed(data):
    message = refused(data)
    assert "Column 'bad' is missing in 2 of 4 rows (first at row 1, counting from 0)" in message
    assert "fill them in" in message


def test_columns_of_nothing_but_missing_values_are_refused():
    for data in (
        {"bad": [None] * 4, "good": GOOD},
        pd.DataFrame({"bad": [None] * 4, "good": GOOD}),
        pl.DataFrame({"bad": [None] * 4, "good": GOOD}),
        pa.table({"bad": pa.nulls(4), "good": GOOD}),
    ):
        message = refused(data)
        assert message.startswith("Column 'bad' is missing in all 4 rows. What is empty says")
        # The ways to learn with missing values would refuse it too.
        assert "pairwise" not in message
        assert "leave it out with types={'bad': 'ignore'} (--drop bad)" in message


def test_masked_arrays_and_records_name_the_masked_column():
    table = np.ma.masked_array([[1, 2], [2, 1]], mask=[[0, 0], [0, 1]])
    assert "Column 'x1' is missing in 1 of 2 rows" in refused(table)
    records = np.ma.masked_array([(1, 2), (2, 1)], dtype=[("a", int), ("b", int)])
    records["b"][0] = np.ma.masked
    assert "Column 'b' is missing in 1 of 2 rows" in refused(records)


@pytest.mark.parametrize(
    "column",
    [
        [0.5, 1.0, 2.0, 1.0],
        [0.5, 1, 2, 1],
        np.array([0.5, 1, 2, 1], dtype=np.float32),
        pl.Series([0.5, 1, 2, 1]),
        pd.Series([0.5, 1, 2, 1], dtype="Float64"),
    ],
)
def test_continuous_columns_are_refused_with_the_way_out(column):
    message = refused({"height": column, "good": GOOD})
    assert "Column 'height' holds numbers that are not integers, such as 0.5." in message
    assert "continuous information source" in message
    assert "discretise" in message


@pytest.mark.parametrize(
    "column", [[1.0, np.inf, 2.0, 1.0], [1, -np.inf, 2, 1], np.array([1, np.inf, 2, 1])]
)
def test_infinite_values_are_refused(column):
    message = refused({"ratio": column, "good": GOOD})
    assert "Column 'ratio' holds an infinite value (at row 1, counting from 0)" in message
    assert "Replace infinite values" in message


@pytest.mark.parametrize(
    ("column", "examples"),
    [
        ([1, "a", 1, "a"], "int (1) and str ('a')"),
        ([True, 2, True, 2], "bool (True) and int (2)"),
        (["a", 1.0, "a", 1.0], "str ('a') and float (1.0)"),
        (np.array([1, "a", 1, "a"], dtype=object), "int (1) and str ('a')"),
        (pd.Series(["a"] * 200 + [1]), "str ('a') and int (1)"),
        (pd.Categorical([1, "a", 1, "a"]), "int (1) and str ('a')"),
        (pd.Series(pd.Categorical([1, "a", 1, "a"])), "int (1) and str ('a')"),
    ],
)
def test_mixed_types_are_refused_with_an_example_of_each(column, examples):
    message = refused({"odd": column, "good": np.arange(len(column)) % 2})
    assert f"Column 'odd' mixes {examples}" in message
    assert "one type" in message


DAY = datetime.date(2024, 1, 1)


@pytest.mark.parametrize(
    ("column", "type_"),
    [
        ([[1], [2]] * 2, "list"),
        ([{}, {}] * 2, "dict"),
        ([1j, 2j] * 2, "complex"),
        ([b"a", b"b"] * 2, "bytes"),
        ([DAY, DAY] * 2, "date"),
        ([decimal.Decimal(1), decimal.Decimal(2)] * 2, "Decimal"),
        ([object(), object()] * 2, "object"),
        ([np.timedelta64(1, "s")] * 4, "timedelta64"),
        (np.array([1j, 2j] * 2), "complex128"),
        (np.array([b"a", b"b"] * 2), "bytes8"),
        (np.array(["2024", "2025"] * 2, dtype="M8[D]"), "datetime64[D]"),
        (pd.Series([DAY, DAY] * 2), "date"),
        (pd.Series(pd.to_datetime([DAY, DAY] * 2)), "datetime64"),
        (pd.Series(pd.period_range("2024", periods=4)), "Period"),
        (pd.Series(pd.to_datetime([DAY, DAY] * 2).tz_localize("UTC")), "Datetime"),
        (pl.Series([DAY, DAY] * 2), "Date"),
        (pl.Series([[1], [2]] * 2), "List"),
        (pl.Series([{"a": 1}, {"a": 2}] * 2), "Struct"),
        (pl.Series([b"a", b"b"] * 2), "Binary"),
        (pl.Series([1, 2] * 2).cast(pl.Decimal(9, 2)), "Decimal"),
        (pl.Series([datetime.time(1), datetime.time(2)] * 2), "Time"),
        (pl.Series([datetime.timedelta(1)] * 4), "Duration"),
        (pl.Series([object(), object()] * 2, dtype=pl.Object), "object"),
        (pa.chunked_array([[b"a", b"b"] * 2], pa.binary(1)), "bytes"),
        (pa.chunked_array([[[1], [2]] * 2]), "List"),
    ],
)
def test_other_types_are_refused_by_name(column, type_):
    message = refused({"odd": column, "good": GOOD})
    assert f"Column 'odd' holds values of type {type_}" in message
    of_time = type_.lower().startswith(("date", "time", "period", "duration"))
    cure = (
        "types={'odd': 'ignore'} (--drop odd)" if of_time else "convert to a string or a category"
    )
    assert cure in message


@pytest.mark.parametrize(
    "labels",
    [
        ["x", " x", "x", " x"],
        np.array(["x", "x\t", "x", "x\t"]),
        pd.Series(["x", "x ", "x", "x "]),
        pd.Categorical(["x", "x\n", "x", "x\n"]),
        pl.Series(["x", "\u00a0x", "x", "x"]),
        pa.array(["x", " x ", "x", "x"]),
    ],
)
def test_levels_that_differ_only_by_blanks_are_refused_with_both(labels):
    message = refused({"bad": labels, "good": GOOD})
    pair = set(map(str, labels))
    assert "Column 'bad' has levels that differ only by the blanks around them" in message
    assert all(repr(label) in message for label in pair)
    assert "Trim the labels" in message


def test_the_number_of_levels_does_not_hide_blanks():
    assert "'x ' and" not in refused({"bad": ["x", "y", "z", "w"], "good": GOOD})
    assert "'x' and 'x '" in refused({"bad": ["x", "x ", "z", "w"], "good": GOOD})


NOT_UTF8 = pa.Array.from_buffers(pa.string(), 4, pa.array([b"x", b"\xff", b"x", b"\xff"]).buffers())


@pytest.mark.parametrize(
    "column",
    [
        NOT_UTF8,
        pa.chunked_array([NOT_UTF8]),
        pa.DictionaryArray.from_arrays(GOOD, NOT_UTF8.slice(0, 2)),
        pd.array(NOT_UTF8, dtype=pd.ArrowDtype(pa.string())),
        pd.Series(NOT_UTF8, dtype=pd.ArrowDtype(pa.string())),
    ],
)
def test_text_of_arrow_that_is_not_utf8_is_refused(column):
    message = refused({"bad": column, "good": GOOD})
    assert r"Column 'bad' holds text that is not UTF-8 (b'\xff')" in message


def test_names_of_arrow_that_are_not_utf8_are_refused():
    fields = [pa.field(b"\xff", pa.int64()), pa.field("good", pa.int64())]
    table = pa.table([pa.array(GOOD)] * 2, schema=pa.schema(fields))
    assert r"The column name b'\xff' is not UTF-8" in refused(table)


def test_what_arrow_cannot_hand_over_is_refused():
    union = pa.UnionArray.from_sparse(
        pa.array(GOOD, pa.int8()), [pa.array([1, 2, 3, 4]), pa.array(list("abcd"))]
    )
    nested = pa.DictionaryArray.from_arrays(GOOD, pa.array([[1], [2]]))
    for column in (union, pd.array(union, dtype=pd.ArrowDtype(union.type))):
        assert "Column 'bad' mixes int (1) and str ('b')" in refused({"bad": column, "good": GOOD})
    for data in ({"bad": nested, "good": GOOD}, pa.table({"bad": nested, "good": GOOD})):
        assert "Column 'bad' holds values of type list<item: int64>" in refused(data)


def test_columns_of_arrays_are_refused():
    message = refused({"odd": np.zeros((4, 2)), "good": GOOD})
    assert "Column 'odd' holds arrays of shape (2,)" in message


@pytest.mark.parametrize(
    "number",
    [2**64, -(2**63) - 1, 10**5000, 1e300, -1e300],
    ids=["above", "below", "unprintable", "float above", "float below"],
)
def test_integers_beyond_64_bits_are_refused(number):
    message = refused({"big": [number, 1] * 2, "good": GOOD})
    assert "Column 'big' holds an integer that does not fit in 64 bits" in message
    assert "strings" in message


def test_floats_beyond_64_bits_are_refused():
    assert "Column 'x0' holds an integer that does not" in refused(np.array([[1e300, 0], [0, 1]]))


def test_lone_surrogates_are_refused_in_names_and_labels():
    assert r"'\ud800' holds a lone surrogate" in refused({"\ud800": GOOD, "good": GOOD})
    message = refused({"bad": ["a", "\ud800"] * 2, "good": GOOD})
    assert r"Column 'bad' holds a lone surrogate, in '\ud800'" in message


@pytest.mark.parametrize("name", ["", " \t", None])
def test_empty_names_are_refused(name):
    message = refused({"a": GOOD, name: GOOD})
    assert "The name of column 2 of 2 is empty" in message
    assert "Give every column a name" in message


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame([[0, 1, 2], [1, 0, 2]], columns=["a", "b", "a"]),
        pa.table([GOOD, GOOD, GOOD], names=["a", "b", "a"]),
    ],
)
def test_repeated_names_are_refused(data):
    message = refused(data)
    assert "Several columns share the name 'a'" in message
    assert "Rename" in message


def test_names_that_become_equal_as_strings_are_refused():
    assert "share the name '1'" in refused(pd.DataFrame([[0, 1], [1, 0]], columns=[1, "1"]))
    assert "share the name '1'" in refused({1: GOOD, "1": GOOD})


@pytest.mark.parametrize(
    "data",
    [
        {},
        [],
        {"only": GOOD},
        [[1], [2]],
        np.zeros((4, 1)),
        np.zeros((4, 0)),
        pd.DataFrame(),
        pl.DataFrame({"only": GOOD}),
        pa.table({"only": GOOD}),
    ],
)
def test_fewer_than_two_columns_are_refused(data):
    assert "needs at least 2 columns" in refused(data)


@pytest.mark.parametrize(
    "data",
    [
        {"a": [], "b": []},
        {"a": [1], "b": [2]},
        [[1, 2]],
        np.zeros((0, 2)),
        pd.DataFrame({"a": [], "b": []}),
        pl.DataFrame({"a": [1], "b": [2]}),
        pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.string())}),
    ],
)
def test_fewer_than_two_rows_are_refused(data):
    assert "needs at least 2 rows" in refused(data)


def test_columns_of_different_length_are_refused():
    message = refused({"a": GOOD, "b": GOOD, "short": [1, 2]})
    assert "most have 4 rows, but column 'short' has 2" in message


def test_rows_of_different_length_are_refused():
    assert "Row 2, counting from 0, has 1 values where row 0 has 2" in refused(
        [[1, 2], [1, 2], [1]]
    )


@pytest.mark.parametrize("rows", [["ab", "cd"], [{"a": 1}, {"a": 2}], [1, 2], [None]])
def test_lists_of_anything_but_rows_are_refused(rows):
    message = refused(rows)
    assert f"Row 0, counting from 0, is of type {type(rows[0]).__name__}" in message
    assert "Pass a list of row lists" in message


@pytest.mark.parametrize("values", ["abcd", b"abcd", 7, None, {0, 1}, {0: 1}, iter(GOOD)])
def test_columns_that_are_no_sequences_are_refused(values):
    message = refused({"odd": values, "good": GOOD})
    assert f"Column 'odd' is of type {type(values).__name__}" in message
    assert "Pass a list, an array or a series" in message


@pytest.mark.parametrize(
    ("data", "advice"),
    [
        (np.arange(4), "two-dimensional"),
        (np.zeros((2, 2, 2)), "two-dimensional"),
        (np.array(3), "two-dimensional"),
        (np.zeros((2, 2), dtype=[("a", int), ("b", int)]), "two-dimensional"),
        (pd.Series(GOOD), "pass a data frame"),
        (pl.Series(GOOD), "pass a data frame"),
        (scipy.sparse.csr_matrix(np.eye(3)), "toarray"),
        (scipy.sparse.eye_array(3), "toarray"),
        ((row for row in [[1, 2]]), "generator"),
        (None, "NoneType"),
        (3.5, "float"),
        ({1, 2}, "set"),
        (b"a,b", "bytes"),
        (object(), "object"),
        (pd.DataFrame, "type"),
    ],
)
def test_what_is_no_table_is_refused_with_the_way_out(data, advice):
    assert advice in refused(data)


def test_a_query_that_fails_says_why():
    lazy = pl.LazyFrame({"a": GOOD, "b": GOOD}).select("a", "absent")
    message = refused(lazy)
    assert "The LazyFrame gave no table" in message
    assert "absent" in message


@pytest.mark.parametrize("missing", ["drop", "pairwise"])
def test_other_types_are_refused_beside_missing_values_too(missing):
    days = pd.to_datetime([DAY, DAY] * 2)
    for odd in (
        pd.Series(days.tz_localize("UTC")),
        pd.Series(pd.period_range("2024", periods=4)),
        pl.Series([[1], [2]] * 2),
        pl.Series([object(), object()] * 2, dtype=pl.Object),
        pa.chunked_array([[b"a", b"b"] * 2], pa.binary_view()),
        pa.chunked_array([[[1], [2]] * 2], pa.list_view(pa.int64())),
    ):
        with pytest.raises(DataError, match="Column 'odd' holds values of type"):
            read_table({"gap": ["x", None, "x", "y"], "odd": odd, "good": GOOD}, missing=missing)


def test_structured_arrays_need_plain_fields():
    records = np.zeros(4, dtype=[("a", int), ("odd", int, (2,))])
    assert "Column 'odd' holds arrays of shape (2,)" in refused(records)


def test_all_bad_columns_are_named_at_once():
    message = refused(
        {
            "gap": [1, None, 1, 2],
            "hole": ["x", None, None, "x"],
            "height": [0.5, 1.5, 0.5, 1.5],
            "id": ["p", "q", "r", "s"],
            "good": GOOD,
        }
    )
    assert "Column 'gap' is missing in 1 of 4 rows" in message
    assert "; column 'hole' is missing in 2 of 4 rows" in message
    assert "Column 'height' holds" in message
    assert "Column 'id' has 4 levels in 4 rows" in message
    assert "good" not in message
    assert message.count("fill them in") == 1


def test_long_lists_of_bad_columns_are_cut():
    message = refused({f"c{k}": [None] * 4 for k in range(8)})
    assert "column 'c4'" in message
    assert "'c5'" not in message
    assert "and 3 more" in message


def test_long_names_and_values_are_cut():
    assert len(refused({"n" * 10_000: ["v" * 10_000, 1] * 2, "good": GOOD})) < 400


def test_refusals_can_be_caught_as_one_family_or_as_value_errors():
    assert issubclass(DataError, TamisError)
    assert issubclass(DataError, ValueError)


class _Raising:
    def __array__(self, dtype: object = None, copy: object = None) -> object:
        raise RuntimeError("still on the device\nat 0x0")


def test_an_array_that_cannot_be_had_is_refused_with_its_reason():
    assert "The _Raising gave no array ('still on the device'). Pass" in refused(_Raising())


def test_a_class_is_no_table():
    assert "A value of type type is not a table" in refused(pd.DataFrame)


def test_a_stream_that_has_been_read_is_refused_as_such():
    reader = pa.table({"a": GOOD, "b": GOOD}).to_reader()
    assert read_table(reader).n_rows == 4
    assert "gave no rows. A stream is read once: if this one has been, make" in refused(reader)
