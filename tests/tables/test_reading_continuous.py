"""Columns of continuous numbers: read whole and bit for bit where asked for, refused elsewhere."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from table_containers import CONTINUOUS, NAMED, UNNAMED, read_quietly

from tamis.errors import DataError
from tamis.tables import read_table

GOOD = [0, 1, 0, 1, 0, 1]
HEIGHTS = [1.5, -2000.0, 0.1, 1.5, 5e-324, 1e300]
MIXED = {
    "x0": ["rain", "sun", "rain", "fog", "sun", "rain"],
    "x1": HEIGHTS,
    "x2": [3, -1, 3, 10, -1, 3],
    "x3": [2.0, 0.0, 2.0, 0.0, 2.0, 0.0],
}
COLUMN_TYPES = {
    "list": list,
    "objects": lambda values: np.array(values, dtype=object),
    "array": np.array,
    "every other cell": lambda values: np.repeat(values, 2)[::2],
    "reversed": lambda values: np.array(values[::-1])[::-1],
    "big-endian": lambda values: np.array(values, dtype=">f8"),
    "pandas": pd.Series,
    "nullable": lambda values: pd.Series(values, dtype="Float64"),
    "arrow in pandas": lambda values: pd.Series(values, dtype="double[pyarrow]"),
    "sparse": lambda values: pd.Series(pd.arrays.SparseArray(values)),
    "index": pd.Index,
    "polars": pl.Series,
    "arrow": pa.array,
    "arrow in chunks": lambda values: pa.chunked_array([values[:2], values[2:]]),
}


def refused(data: object, *, continuous: bool = True) -> str:
    with pytest.raises(DataError) as caught:
        read_table(data, continuous=continuous)
    return str(caught.value)


def bits(values: object) -> list[int]:
    """Numbers that are equal only if no bit was lost, not even the sign of zero."""
    return np.array(values, dtype=np.float64).view(np.uint64).tolist()


@pytest.mark.parametrize("engine", CONTINUOUS)
def test_every_container_gives_the_same_mixed_table(engine, tmp_path):
    table = read_table(CONTINUOUS[engine](MIXED, tmp_path), continuous=True)
    assert table.names == ("x0", "x1", "x2", "x3")
    assert table.levels == (("fog", "rain", "sun"), (), (-1, 3, 10), (0, 2))
    assert table.codes.tolist() == [
        [1, 2, 1, 0, 2, 1],
        [0, 0, 0, 0, 0, 0],
        [1, 0, 1, 2, 0, 1],
        [1, 0, 1, 0, 1, 0],
    ]
    assert list(table.continuous) == [1]
    assert bits(table.numbers(1)) == bits(HEIGHTS)


@pytest.mark.parametrize("engine", CONTINUOUS)
def test_every_container_refuses_the_same_column_unless_asked(engine, tmp_path):
    message = refused(CONTINUOUS[engine](MIXED, tmp_path), continuous=False)
    assert message == (
        "Column 'x1' holds numbers that are not integers, such as 1.5. Continuous columns need a "
        "continuous information source, such as information='gaussian': choose that, or "
        "discretise them first, with tamis.discretize."
    )


@pytest.mark.parametrize("engine", CONTINUOUS)
def test_the_order_of_columns_does_not_matter(engine, tmp_path):
    columns = {"a": HEIGHTS, "b": list("xyxyxy"), "c": [0.5, 1.5] * 3, "d": GOOD}
    names = ["c", "d", "a", "b"]
    shuffled = {f"x{k}": columns[name] for k, name in enumerate(names)}
    table = read_table(CONTINUOUS[engine](shuffled, tmp_path), continuous=True)
    assert sorted(table.continuous) == [0, 2]
    assert bits(table.numbers(0)) == bits(columns["c"])
    assert bits(table.numbers(2)) == bits(columns["a"])


@pytest.mark.parametrize("make", COLUMN_TYPES.values(), ids=COLUMN_TYPES)
def test_every_kind_of_column_is_measured(make):
    table = read_table({"height": make(HEIGHTS), "good": GOOD}, continuous=True)
    assert bits(table.numbers(0)) == bits(HEIGHTS)
    assert table.numbers(0).flags.c_contiguous
    assert table.numbers(0).dtype.isnative


@pytest.mark.parametrize("dtype", ["f2", "f4"])
def test_smaller_floats_are_widened_without_loss(dtype):
    values = np.array([0.1, 1.5, 0.1, 7], dtype=dtype)
    for data in (values, pl.Series(values) if dtype == "f4" else pa.array(values)):
        numbers = read_table({"x": data, "y": [0, 1] * 2}, continuous=True).numbers(0)
        assert bits(numbers) == bits(values.astype(float))


def test_two_values_with_a_fraction_are_measured_all_the_same():
    table = read_table({"half": [0.5, 1.5] * 3, "good": GOOD}, continuous=True)
    assert table.is_continuous(0)
    assert not table.is_continuous(1)


@pytest.mark.parametrize("column", [[1, 0.5, 2, 1, 2, 1], [np.float32(0.5), 1, 2.0, 1, 2, 1]])
def test_integers_among_fractions_are_measured_with_them(column):
    table = read_table({"x": column, "y": GOOD}, continuous=True)
    assert table.numbers(0).tolist() == [float(cell) for cell in column]


fixed = settings(
    deadline=None,
    derandomize=True,
    max_examples=30,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize("engine", CONTINUOUS)
@fixed
@given(rows=st.lists(st.tuples(FLOATS, FLOATS), min_size=1, max_size=8))
def test_every_measured_number_survives_bit_for_bit(engine, rows, tmp_path):
    # One fraction each: whole floats may be levels, and some containers make integers of them.
    columns = {f"x{k}": [0.5, *values] for k, values in enumerate(zip(*rows, strict=True))}
    table = read_quietly(CONTINUOUS[engine](columns, tmp_path), continuous=True)
    assert [bits(table.numbers(k)) for k in range(2)] == [bits(v) for v in columns.values()]


@settings(fixed, max_examples=100)
@given(values=st.lists(FLOATS.map(np.trunc), min_size=2, max_size=8))
def test_whole_floats_keep_their_value_and_every_bit_if_measured(values):
    table = read_quietly({"x": np.array(values), "y": np.arange(len(values)) % 2}, continuous=True)
    assert table.numbers(0).tolist() == values
    if table.is_continuous(0):
        assert bits(table.numbers(0)) == bits(values)


@pytest.mark.parametrize("engine", CONTINUOUS)
def test_numbers_with_too_many_levels_are_measured(engine, tmp_path):
    columns = {
        "x0": [10, 20, 30, 40, 50, -60],
        "x1": [1.0, 2.0, 3.0, 4.0, 5.0, -0.0],
        "x2": GOOD,
    }
    data = CONTINUOUS[engine](columns, tmp_path)
    table = read_table(data, continuous=True)
    assert [table.numbers(k).tolist() for k in range(3)] == list(columns.values())
    assert sorted(table.continuous) == [0, 1]
    assert "Column 'x0' has 6 levels in 6 rows; column 'x1' has 6" in refused(
        data, continuous=False
    )


@pytest.mark.parametrize(
    "values",
    [
        np.array([0, 2**64 - 1, 2**63, 5], dtype=np.uint64),
        np.array([-128, 127, 0, 5], dtype=np.int8),
        [-1, 2**63 - 1, 7, 5],
        [0, 2**64 - 1, 2**63, 5],
        pl.Series([1, 2, 3, 4], dtype=pl.Int128),
        pd.Series([1, 2, 3, 4], dtype="Int64"),
    ],
)
def test_integers_of_every_width_can_be_measured(values):
    table = read_table({"x": values, "y": [0, 1] * 2}, continuous=True)
    assert table.numbers(0).tolist() == [float(value) for value in values]


@pytest.mark.parametrize("engine", NAMED | UNNAMED)
def test_labels_with_too_many_levels_stay_refused(engine, tmp_path):
    columns = {"x0": ["10", "20", "30", "40"], "x1": [1, 2, 1, 2]}
    message = refused((NAMED | UNNAMED)[engine](columns, tmp_path))
    assert "Column 'x0' has 4 levels in 4 rows" in message
    assert "looks like an identifier" in message


def test_numbers_that_were_called_categories_are_not_measured():
    codes = pd.Categorical([1, 2, 3, 4])
    assert "Column 'code' has 4 levels" in refused({"code": codes, "good": [0, 1] * 2})
    halves = pd.Categorical([0.5, 1.5] * 2)
    table = read_table({"half": halves, "good": [0, 1] * 2}, continuous=True)
    assert table.levels[0] == ("0.5", "1.5")


def test_floats_beyond_64_bits_are_measured_and_such_integers_are_not():
    masses = [1.5e30, 2e30] * 3
    for column in (masses, np.array(masses), [1.5e30, 2, *masses[2:]]):
        table = read_table({"mass": column, "good": GOOD}, continuous=True)
        assert table.numbers(0).tolist() == list(column)
    message = refused({"big": [2**64, 1] * 3, "good": GOOD})
    assert "Column 'big' holds an integer that does not fit in 64 bits" in message


@pytest.mark.parametrize(
    "column",
    [
        [0.5, np.inf, 2.5, 1],
        [0.5, -np.inf, 2, 1],
        np.array([0.5, np.inf, 2.5, 1]),
        pl.Series([0.5, np.inf, 2.5, 1]),
        [0.5, 10**400, 2, 1],
        np.array([0.5, "1e4000", 2, 1], dtype=np.longdouble),
        [Decimal("0.5"), Decimal("1e999"), Decimal("-Infinity"), 1],
        [Fraction(1, 2), Fraction(10**400), 2, 1],
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_infinite_values_stay_refused(column):
    message = refused({"ratio": column, "good": [0, 1] * 2})
    assert "Column 'ratio' holds an infinite value (at row 1, counting from 0)" in message


@pytest.mark.parametrize(
    "column",
    [
        [0.5, None, 2.5, np.nan],
        np.array([0.5, np.nan, 2.5, np.nan]),
        np.ma.masked_array([0.5, 1.5, 2.5, 3.5], mask=[0, 1, 0, 1]),
        pd.Series([0.5, None, 2.5, None]),
        pd.Series([0.5, None, 2.5, None], dtype="Float64"),
        pd.Series([0.5, None, 2.5, None], dtype="double[pyarrow]"),
        pl.Series([0.5, None, 2.5, None]),
        pa.array([0.5, None, 2.5, None]),
        [Decimal("0.5"), None, Decimal("2.5"), Decimal("NaN")],
        [Decimal("0.5"), Decimal("sNaN"), Decimal("2.5"), pd.NA],
    ],
)
def test_missing_values_stay_refused(column):
    message = refused({"gap": column, "good": [0, 1] * 2})
    assert "Column 'gap' is missing in 2 of 4 rows (first at row 1, counting from 0)" in message


PRICES = [Decimal("1.10"), Decimal("2"), Decimal("1.10"), Decimal("-3.75")]


@pytest.mark.parametrize(
    "column",
    [
        PRICES,
        np.array(PRICES),
        pd.Series(PRICES),
        pd.Series(PRICES, dtype=pd.ArrowDtype(pa.decimal128(9, 2))),
        pl.Series(PRICES),
        pa.array(PRICES),
        [Decimal("1.10"), 2, 1.1, Fraction(-15, 4)],
    ],
)
def test_decimals_and_fractions_are_measured_as_floats(column):
    data = {"price": column, "good": [0, 1] * 2}
    assert read_table(data, continuous=True).numbers(0).tolist() == [1.1, 2.0, 1.1, -3.75]
    assert "Column 'price' holds values of type Decimal" in refused(data, continuous=False)


def test_whole_decimals_are_refused_as_levels_and_measured_if_many():
    few = {"price": [Decimal(1), Decimal(2)] * 2, "good": [0, 1] * 2}
    many = {"price": [Decimal(k) for k in range(4)], "good": [0, 1] * 2}
    assert "Column 'price' holds values of type Decimal" in refused(few)
    assert read_table(many, continuous=True).numbers(0).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("odd", ["1.5", True, 1.5j, b"1.5"])
def test_decimals_among_other_things_stay_refused(odd):
    assert "Column 'price' holds" in refused({"price": [Decimal("1.5"), odd] * 2, "y": [0, 1] * 2})


def test_all_bad_columns_are_named_at_once_and_good_ones_are_not():
    message = refused(
        {"gap": [0.5, None], "height": [0.5, 1.5], "ratio": [0.5, np.inf], "good": [0, 1]}
    )
    assert "Column 'gap' is missing" in message
    assert "Column 'ratio' holds an infinite value" in message
    assert "height" not in message


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
def test_later_changes_to_the_input_do_not_reach_the_table(dtype):
    def halves() -> np.ndarray:
        return (np.arange(8).reshape(4, 2) / (1 if dtype == "i8" else 2)).astype(dtype)

    for make in (
        lambda values: values,
        lambda values: np.asfortranarray(values),
        lambda values: {"a": values[:, 0], "b": values[:, 1]},
        lambda values: values.view([("a", dtype), ("b", dtype)]).ravel(),
    ):
        values = halves()
        data = make(values)
        table = read_table(data, continuous=True)
        for memory in (values, data if isinstance(data, np.ndarray) else values):
            assert not any(np.shares_memory(n, memory) for n in table.continuous.values())
            memory[...] = np.zeros((), dtype=memory.dtype)
        assert [table.numbers(k).tolist() for k in range(2)] == halves().T.tolist()


def test_later_changes_to_a_frame_do_not_reach_the_table():
    frame = pd.DataFrame({"a": [0.5, 1.5, 2.5], "b": [0.1, 0.2, 0.3], "c": list("xyx")})
    for data in (frame, frame[["a", "b"]].copy()):
        table = read_table(data, continuous=True)
        data.loc[:, "a"] = 7.0
        assert table.numbers(0).tolist() == [0.5, 1.5, 2.5]
        frame["a"] = [0.5, 1.5, 2.5]
