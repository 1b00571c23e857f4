"""The same table gives the same names, levels and codes, whatever holds it."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from table_containers import ALL, NAMED, UNNAMED, decode, read_quietly, typed

from tamis.errors import DataError, TamisWarning
from tamis.tables import Table, read_table

COLUMNS = {
    "x0": ["rain", "sun", "rain", "fog", "sun", "rain"],
    "x1": [3, -1, 3, 10, -1, 3],
    "x2": ["01", "1", "01", "Été", "1", "01"],
}
BOOLEANS = {"x0": [True, False, True], "x1": [True, True, False]}


@pytest.mark.parametrize("engine", ALL)
def test_every_container_gives_the_same_table(engine, tmp_path):
    table = read_table(ALL[engine](COLUMNS, tmp_path))
    assert table.names == ("x0", "x1", "x2")
    assert table.levels == (("fog", "rain", "sun"), (-1, 3, 10), ("01", "1", "Été"))
    assert table.codes.tolist() == [[1, 2, 1, 0, 2, 1], [1, 0, 1, 2, 0, 1], [0, 1, 0, 2, 1, 0]]
    assert typed(decode(table)) == typed(COLUMNS)


def test_batches_of_arrow_are_read_once():
    table = read_table(pa.table(COLUMNS).to_reader(max_chunksize=2))
    assert typed(decode(table)) == typed(COLUMNS)


@pytest.mark.parametrize("engine", NAMED | UNNAMED)
def test_booleans_are_levels_with_false_first(engine, tmp_path):
    table = read_table((NAMED | UNNAMED)[engine](BOOLEANS, tmp_path))
    assert typed(decode(table)) == typed(BOOLEANS)
    assert table.levels == ((False, True), (False, True))


def test_booleans_in_a_csv_file_are_words(tmp_path):
    table = read_table(ALL["csv"](BOOLEANS, tmp_path))
    assert table.levels == (("False", "True"), ("False", "True"))


@pytest.mark.parametrize("engine", ALL)
def test_integer_valued_floats_are_integer_levels(engine, tmp_path):
    table = read_table(ALL[engine]({"x0": [2.0, 0.0, 2.0], "x1": [1.0, -3.0, 1.0]}, tmp_path))
    assert typed(decode(table)) == typed({"x0": [2, 0, 2], "x1": [1, -3, 1]})


def test_integers_and_integer_valued_floats_share_levels():
    table = read_table({"a": [1, 2.0, 1.0, 2], "b": [2**60 + 1, 0.0, 2**60 + 1, 0]})
    assert typed(decode(table)) == typed({"a": [1, 2, 1, 2], "b": [2**60 + 1, 0, 2**60 + 1, 0]})


def test_levels_missing_from_small_ranges_are_not_levels():
    table = read_table(np.array([[7, 0], [3, 1], [7, 0], [3, 1]]))
    assert table.levels == ((3, 7), (0, 1))
    assert table.codes.tolist() == [[1, 0, 1, 0], [0, 1, 0, 1]]


@pytest.mark.parametrize(
    "dtype", ["i1", "u1", ">i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "O"]
)
def test_every_numeric_type_gives_the_same_codes(dtype):
    values = np.array([[5, 1], [9, 1], [5, 0], [9, 0]], dtype=dtype)
    table = read_table(values)
    assert table.levels == ((5, 9), (0, 1))
    assert table.codes.tolist() == [[0, 1, 0, 1], [1, 1, 0, 0]]


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u8"])
def test_the_extremes_of_integer_types_do_not_overflow(dtype):
    limits = np.iinfo(dtype)
    values = np.array([[limits.min, 0], [limits.max, 1]] * 3, dtype=dtype)
    assert read_table(values).levels == ((limits.min, limits.max), (0, 1))
    assert read_table(values.tolist()).levels == ((limits.min, limits.max), (0, 1))


def test_large_floats_keep_their_exact_value():
    table = read_table(np.array([[2.0**63, 0], [0, 1], [2.0**63, 0]]))
    assert table.levels[0] == (0, 2**63)


@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_layout_does_not_matter(order):
    values = np.random.default_rng(1).integers(0, 5, (40, 130))
    laid_out = np.array(values, order=order)
    assert np.array_equal(read_table(laid_out).codes, values.T)
    assert np.array_equal(read_table(laid_out[::2, ::-3]).codes, values[::2, ::-3].T)


def test_subclasses_of_arrays_are_arrays():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        matrix = np.matrix([[1, 0], [2, 1], [1, 0]])
    masked = np.ma.masked_array([[1, 0], [2, 1], [1, 0]], mask=False)
    for values in (matrix, masked):
        assert read_table(values).codes.tolist() == [[0, 1, 0], [0, 1, 0]]


def test_rows_may_be_tuples_or_arrays():
    for row in (list, tuple, np.array):
        assert read_table([row([1, 0]), row([2, 1])]).levels == ((1, 2), (0, 1))


def test_scalars_of_numpy_become_plain_labels():
    cells = {
        "integer": [np.int8(1), np.uint64(2), 1, 2],
        "string": [np.str_("a"), "b", np.str_("a"), "b"],
        "boolean": [np.bool_(True), False, True, False],
        "float": [np.float32(1), 2.0, np.float64(1), 2.0],
    }
    expected = {
        "integer": [1, 2, 1, 2],
        "string": ["a", "b", "a", "b"],
        "boolean": [True, False, True, False],
        "float": [1, 2, 1, 2],
    }
    assert typed(decode(read_table(cells))) == typed(expected)


@pytest.mark.parametrize(
    ("n_levels", "dtype"), [(256, "u1"), (257, "u2"), (65536, "u2"), (65537, "u4")]
)
def test_codes_take_the_smallest_type_that_fits_all_columns(n_levels, dtype):
    values = np.arange(2 * n_levels) % n_levels
    table = read_table({"many": values, "few": values % 2})
    assert table.codes.dtype == dtype
    assert table.codes.flags.c_contiguous
    assert table.codes.shape == (2, 2 * n_levels)
    assert np.array_equal(table.codes[0], values)


@pytest.mark.parametrize("ordered", [True, False])
def test_only_ordered_categories_of_pandas_keep_their_order(ordered):
    sizes = pd.Categorical(
        ["small", "large", "small", "large"],
        categories=["small", "medium", "large"],
        ordered=ordered,
    )
    columns = {"size": sizes, "n": [1, 2, 1, 2]}
    for data in (pd.DataFrame(columns), columns, pd.DataFrame(columns).to_dict("series")):
        table = read_table(data)
        assert table.levels[0] == (("small", "large") if ordered else ("large", "small"))
        assert decode(table)["size"] == list(sizes)


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["small", "medium", "large"])])
def test_only_enumerations_of_polars_keep_their_order(dtype):
    sizes = pl.Series(["small", "large", "small", "large"], dtype=dtype)
    table = read_table(pl.DataFrame({"size": sizes, "n": [1, 2, 1, 2]}))
    assert table.levels[0] == (
        ("large", "small") if dtype == pl.Categorical else ("small", "large")
    )
    assert decode(table)["size"] == sizes.to_list()


@pytest.mark.parametrize("ordered", [True, False])
def test_only_ordered_dictionaries_of_arrow_keep_their_order(ordered):
    sizes = pa.DictionaryArray.from_arrays([0, 2, 0, 2], ["s", "m", "l"], ordered=ordered)
    table = read_table(pa.table({"size": sizes, "n": [1, 2, 1, 2]}))
    assert table.levels[0] == (("s", "l") if ordered else ("l", "s"))
    assert decode(table)["size"] == ["s", "l", "s", "l"]


def test_dictionaries_of_arrow_may_differ_between_chunks():
    first, second = pa.array(["b", "a"]), pa.array(["c", "b"])
    column = pa.chunked_array([first.dictionary_encode(), second.dictionary_encode()] * 2)
    table = read_table(pa.table({"x": column, "y": [1, 2] * 4}))
    assert decode(table)["x"] == ["b", "a", "c", "b"] * 2


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_every_string_type_of_arrow_is_read(kind):
    column = pa.array(["b", "a", "b", "a"], kind)
    assert decode(read_table(pa.table({"x": column, "y": column})))["x"] == ["b", "a", "b", "a"]


def test_dictionaries_of_arrow_inside_pandas_are_read():
    kind = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    column = pd.Series(["b", "a", "b", "a"], dtype=kind)
    assert decode(read_table(pd.DataFrame({"x": column, "y": column})))["x"] == list("baba")


def test_wide_integers_of_polars_are_read():
    frame = pl.DataFrame({"x": [1, 2, 1, 2], "y": [0, 1, 1, 0]}).cast(pl.Int128)
    assert read_table(frame).levels == ((1, 2), (0, 1))


def test_discretised_columns_of_pandas_are_read_with_their_intervals():
    binned = pd.cut(pd.Series([0.1, 2.5, 9.7, 0.2, 2.6, 9.8]), [0, 1, 5, 10])
    table = read_table(pd.DataFrame({"x": binned, "y": [0, 1] * 3}))
    assert table.levels[0] == ("(0, 1]", "(1, 5]", "(5, 10]")


def test_dates_are_levels_once_they_are_categories():
    days = pd.Series(pd.to_datetime(["2024-01-02", "2024-01-01"] * 2)).astype("category")
    table = read_table(pd.DataFrame({"day": days, "y": [0, 1] * 2}))
    assert table.levels[0] == ("2024-01-01 00:00:00", "2024-01-02 00:00:00")


def test_sparse_columns_of_pandas_are_read():
    column = pd.arrays.SparseArray([0, 1, 0, 1])
    assert read_table(pd.DataFrame({"x": column, "y": column})).levels == ((0, 1), (0, 1))


def test_integer_column_names_become_strings():
    assert read_table(pd.DataFrame([[1, 2], [2, 1]])).names == ("0", "1")
    assert read_table({1: [0, 1], 2.5: [1, 0]}).names == ("1", "2.5")


def test_names_with_control_characters_are_kept():
    assert read_table({"a\n\t\x1b": [0, 1], " b ": [1, 0]}).names == ("a\n\t\x1b", " b ")


def test_the_index_of_a_pandas_frame_is_not_a_column():
    frame = pd.DataFrame({"a": [0, 1], "b": [1, 0]}, index=["p", "q"])
    assert read_table(frame.iloc[::-1]).codes.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    "values",
    [
        np.array([[0, 1], [1, 0]], dtype=np.uint8),
        np.array([[False, True], [True, False]]),
    ],
)
def test_the_table_shares_no_memory_with_the_input(values):
    table = read_table(values)
    assert not np.shares_memory(table.codes, values)
    frame = pd.DataFrame(values, columns=["a", "b"])
    assert not np.shares_memory(read_table(frame).codes, frame.to_numpy())


@pytest.mark.parametrize(
    "engine", ["pandas", "pandas of categories", "mapping", "mapping of arrays"]
)
def test_the_input_is_left_as_it_was(engine, tmp_path):
    data, twin = (NAMED[engine](COLUMNS, tmp_path) for _ in range(2))
    read_table(data)
    assert str(data) == str(twin)
    assert list(data) == list(twin)


def test_a_table_passes_through_unchanged():
    table = read_table({"a": [0, 1], "b": [1, 0]})
    assert isinstance(table, Table)
    assert read_table(table) is table


def test_constant_columns_are_named_in_one_warning():
    with pytest.warns(TamisWarning, match="'c1'.*'c5' and 2 more") as caught:
        table = read_table({"a": [0, 1]} | {f"c{k}": [7, 7] for k in range(1, 8)})
    assert len(caught) == 1
    assert table.levels[1] == (7,)


def test_two_levels_are_allowed_in_any_number_of_rows():
    assert read_table({"a": ["x", "y"], "b": [0, 1]}).n_rows == 2


def test_as_many_levels_as_half_the_rows_are_allowed_but_not_more():
    binary = [0, 1] * 4
    assert read_table({"a": [0, 1, 2, 3] * 2, "b": binary}).arities.tolist() == [4, 2]
    with pytest.raises(DataError, match=r"Column 'a' has 5 levels in 8 rows.*identifier"):
        read_quietly({"b": binary, "a": [0, 1, 2, 3, 4, 0, 0, 0]})
