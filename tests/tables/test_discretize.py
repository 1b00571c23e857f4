"""Measured columns become levels: by every method, in every container, whatever the order."""

from __future__ import annotations

import json
import math
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tamis
from tamis.errors import DataError, SettingError, TamisWarning
from tamis.tables import read_table
from tamis.tables.cuts import (
    best_partition,
    cut_between,
    interval_labels,
    outer_edges,
    place,
)
from tamis.tables.discretize import Discretization, discretize

METHODS = ("quantile", "kmeans", "equal_width")


def bumps(n: int = 600, seed: int = 0) -> np.ndarray:
    """Two well separated bumps, half of the rows each."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=n) + np.where(np.arange(n) % 2, 6.0, -6.0)


def frame(n: int = 600, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "length": bumps(n, seed),
            "weight": rng.exponential(size=n),
            "count": rng.integers(0, 3, n),
            "name": np.where(np.arange(n) % 3, "a", "b"),
        }
    )


@pytest.mark.parametrize("method", METHODS)
def test_every_row_falls_into_the_interval_its_label_names(method):
    data = frame()
    cut, record = discretize(data, method)
    for column in ("length", "weight"):
        for value, label in zip(data[column], cut[column], strict=True):
            low, high = map(float, label[1:-1].split(", "))
            assert low <= value < high or (label.endswith("]") and value == high)
        assert list(cut[column].cat.categories) == list(record.labels(column))
        assert cut[column].cat.ordered


@pytest.mark.parametrize("method", METHODS)
def test_other_columns_and_the_input_stay_as_they_were(method):
    data = frame()
    before = data.copy(deep=True)
    data.index = before.index = pd.Index(np.arange(len(data))[::-1] + 5)
    cut, record = discretize(data, method)
    pd.testing.assert_frame_equal(data, before)
    pd.testing.assert_frame_equal(cut[["count", "name"]], before[["count", "name"]])
    assert list(cut.columns) == list(data.columns)
    assert cut.index.equals(data.index)
    assert set(record.edges) == {"length", "weight"}


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), method=st.sampled_from(METHODS))
def test_the_order_of_rows_and_columns_changes_nothing(seed, method):
    data = frame(200, seed)
    shuffled = data.sample(frac=1.0, random_state=seed)[["name", "weight", "length", "count"]]
    cut, record = discretize(data, method)
    again, other = discretize(shuffled, method)
    assert dict(record.edges) == dict(other.edges)
    pd.testing.assert_frame_equal(again.sort_index()[list(data.columns)], cut)


def test_quantiles_hold_equally_many_rows():
    cut, _ = discretize(frame(), "quantile", bins=5)
    assert cut["weight"].value_counts().tolist() == [120] * 5


@settings(max_examples=40, deadline=None)
@given(
    values=st.lists(st.integers(-20, 20).map(lambda i: i / 4), min_size=8, max_size=60),
    bins=st.integers(2, 4),
)
@pytest.mark.filterwarnings("ignore::tamis.errors.TamisWarning")
def test_ties_are_never_torn_apart(values, bins):
    if len(set(values)) < bins:
        return
    data = pd.DataFrame({"a": np.array(values) + 0.1, "b": 1})
    for method in METHODS:
        cut, record = discretize(data, method, bins=bins, columns=["a"])
        assert cut.groupby(data["a"])["a"].nunique().max() == 1
        if method in ("kmeans", "equal_width"):
            assert len(record.edges["a"]) == bins + 1
        if method != "equal_width":
            assert cut["a"].nunique() == len(record.edges["a"]) - 1


def test_ties_that_leave_fewer_bins_are_told():
    data = pd.DataFrame({"a": [0.0] * 50 + list(np.linspace(1, 1.9, 9)), "b": range(59)})
    with pytest.warns(TamisWarning, match=r"'a' has 2 bins, because of ties, not 4"):
        _, record = discretize(data, columns=["a"])
    assert 0 < record.edges["a"][1] < 1


def test_equal_widths_are_equal_but_for_rounding():
    _, record = discretize(frame(), "equal_width", bins=6)
    widths = np.diff(record.edges["length"])
    assert widths.max() < 1.25 * widths.min()


@settings(max_examples=40, deadline=None)
@given(
    distinct=st.lists(
        st.integers(-40, 40).map(lambda i: i / 8), min_size=4, max_size=6, unique=True
    ),
    repeats=st.lists(st.integers(1, 4), min_size=6, max_size=6),
    bins=st.integers(2, 4),
)
def test_kmeans_is_the_best_partition_of_all(distinct, repeats, bins):
    values = np.sort(np.repeat(distinct, repeats[: len(distinct)]))
    data = pd.DataFrame({"a": values, "b": 1})
    cut, _ = discretize(data, "kmeans", bins=bins, columns=["a"])

    def loss(parts):
        return sum(((part - part.mean()) ** 2).sum() for part in parts)

    every = (np.split(values, cuts) for cuts in combinations(range(1, len(values)), bins - 1))
    codes = cut["a"].cat.codes.to_numpy()
    assert loss([values[codes == k] for k in range(bins)]) == pytest.approx(
        min(map(loss, every)), abs=1e-9
    )


def test_the_best_partitions_are_those_of_brute_force():
    rng = np.random.default_rng(2)
    costs = rng.random((7, 7))
    for k in range(1, 7):
        cost, cuts = best_partition(costs, k)
        tried = {
            inner: sum(costs[i, j] for i, j in zip((0, *inner), (*inner, 6), strict=True))
            for inner in combinations(range(1, 6), k - 1)
        }
        assert cost == pytest.approx(min(tried.values()))
        assert tried[cuts] == pytest.approx(cost)
    assert best_partition(costs, 10) == best_partition(costs, 6)


def test_a_value_on_a_cut_belongs_to_the_upper_interval():
    values = np.array([-1.0, 0.0, 2.4, 2.5, 10.0])
    assert place(values, (0.0, 2.5, 10.0)).tolist() == [0, 0, 0, 1, 1]


def test_frames_come_back_as_what_they_were():
    data = frame(60)
    expected, record = discretize(data, "kmeans")
    levels = [str(label) for label in expected["length"]]
    polars, of_polars = discretize(pl.from_pandas(data), "kmeans")
    arrow, of_arrow = discretize(pa.Table.from_pandas(data), "kmeans")
    assert polars["length"].to_list() == levels
    assert polars["length"].dtype == pl.Enum(record.labels("length"))
    assert isinstance(arrow, pa.Table)
    assert arrow["length"].to_pylist() == levels
    assert arrow.schema.field("length").type.ordered
    mapping, of_mapping = discretize(data.to_dict("list"), "kmeans")
    assert mapping["length"] == levels
    assert mapping["count"] == data["count"].tolist()
    table, of_table = discretize(read_table(data, continuous=True), "kmeans")
    assert [table.levels[0][code] for code in table.codes[0]] == levels
    assert not table.continuous
    records = (of_polars, of_arrow, of_mapping, of_table)
    assert all(each.to_dict() == record.to_dict() for each in records)


def test_a_discretised_frame_keeps_the_order_of_its_intervals_when_read():
    data = frame()
    data["weight"] = 5 * data["weight"] + 8
    cut, record = discretize(data, "equal_width", bins=3)
    for kind in (
        cut,
        discretize(pl.from_pandas(data), "equal_width", 3)[0],
        discretize(pa.Table.from_pandas(data), "equal_width", 3)[0],
    ):
        table = read_table(kind)
        assert table.levels[1] == record.labels("weight")
    assert sorted(record.labels("weight")) != list(record.labels("weight"))


def test_arrays_and_columns_named_by_numbers_are_cut_too():
    rows = np.random.default_rng(3).normal(size=(40, 2))
    mapping, record = discretize(rows, bins=2)
    assert list(mapping) == ["x0", "x1"] == list(record.edges)
    cut, record = discretize(pd.DataFrame(rows), bins={"1": 3})
    assert [len(edges) for edges in record.edges.values()] == [5, 4]
    assert list(cut.columns) == [0, 1]


def test_columns_named_by_numbers_can_be_named_so():
    rows = np.random.default_rng(3).normal(size=(60, 2))
    data = pd.DataFrame(rows).assign(**{"2": np.arange(60) % 2}).rename(columns={"2": 2})
    _, record = discretize(data, bins={1: 3}, columns=np.array([0, 1]))
    assert [len(edges) for edges in record.edges.values()] == [5, 4]


def test_the_record_can_be_written():
    _, record = discretize(frame(), "kmeans", bins=4)
    written = json.loads(json.dumps(record.to_dict()))
    assert written["method"] == "kmeans"
    assert tuple(written["edges"]["length"]) == record.edges["length"]
    assert Discretization("quantile", {"a": (0.0, 2.5, 10.0)}).labels("a") == (
        "[0, 2.5)",
        "[2.5, 10]",
    )


def with_value(value: float) -> pd.DataFrame:
    data = frame(50)
    data.loc[7, "weight"] = value
    return data


@pytest.mark.parametrize(
    ("data", "options", "error", "message"),
    [
        (frame(50).assign(weight=np.nan), {}, DataError, "'weight' is missing in all 50 rows"),
        (with_value(np.inf), {}, DataError, "'weight' holds an infinite value"),
        (frame(50), {"columns": ["name"]}, DataError, "'name' holds labels such as 'a'"),
        (frame(50)[["count", "name"]], {}, DataError, "No column is of the kind 'number'"),
        (frame(50).assign(flat=0.5), {}, DataError, "'flat' takes one value, 0.5"),
        (frame(50), {"columns": ["count"]}, DataError, "3 values, fewer than the 4 bins"),
        (frame(50), {"columns": ["size"]}, SettingError, "no column 'size'"),
        (frame(50), {"columns": "weight"}, SettingError, "list of names"),
        (frame(50), {"columns": []}, SettingError, "empty"),
        (frame(50), {"columns": np.array([])}, SettingError, "empty"),
        (frame(50), {"columns": 5}, SettingError, "columns must be a list of names, not 5"),
        (frame(50), {"columns": np.array(5)}, SettingError, "columns must be a list of names"),
        (frame(50), {"columns": b"weight"}, SettingError, "columns must be a list of names"),
        (frame(50), {"columns": True}, SettingError, "columns must be a list of names"),
        (frame(50), {"method": np.array(["kmeans"] * 2)}, SettingError, "method must be one of"),
        (frame(50), {"method": ["kmeans"]}, SettingError, "method must be one of"),
        (frame(50), {"bins": 1}, SettingError, "from 2 on, not 1"),
        (frame(50), {"bins": {"weight": True}}, SettingError, "bins of 'weight'"),
        (frame(50), {"bins": {"size": 3}}, SettingError, "no column 'size'"),
        (frame(50), {"method": "magic"}, SettingError, "method must be one of 'quantile'"),
        (frame(50), {"method": "mdl"}, SettingError, "not 'mdl'"),
        (frame(0), {}, DataError, "no rows"),
    ],
)
def test_what_cannot_be_cut_is_refused_by_name(data, options, error, message):
    with pytest.raises(error, match=message):
        discretize(data, **options)


@pytest.mark.parametrize("container", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_columns_are_cut_that_inspect_calls_numbers(container):
    rng = np.random.default_rng(4)
    columns = {
        "mass": rng.integers(2700, 6300, 300),
        "age": rng.integers(20, 60, 300),
        "grade": rng.integers(0, 4, 300),
        "flag": rng.random(300) < 0.5,
    }
    _, record = discretize(container(columns))
    assert set(record.edges) == set(tamis.inspect(columns).of_kind("number")) == {"mass", "age"}
    told = read_table(columns, types={"age": "category", "grade": "number"}, continuous=True)
    assert set(discretize(told, bins=3)[1].edges) == {"mass", "grade"}


def test_columns_that_are_no_numbers_are_no_hindrance():
    data = frame(50)
    data["when"] = pd.date_range("2020-01-01", periods=50)
    data["id"] = [f"row {i}" for i in range(50)]
    cut, record = discretize(data)
    assert set(record.edges) == {"length", "weight"}
    assert cut["when"].equals(data["when"])


@settings(max_examples=300, deadline=None)
@example(below=0.0, above=5e-324)
@example(below=-5e-324, above=0.0)
@example(below=-1.7e308, above=1.7e308)
@example(below=1.0, above=math.nextafter(1.0, 2.0))
@given(
    below=st.floats(allow_nan=False, allow_infinity=False),
    above=st.floats(allow_nan=False, allow_infinity=False),
)
def test_a_cut_separates_its_neighbours_and_outer_edges_hold_all(below, above):
    if above <= below:
        return
    assert below < cut_between(below, above) <= above
    low, high = outer_edges(below, above)
    assert low <= below
    assert above <= high


def test_edges_are_written_with_few_digits():
    assert cut_between(0.123456, 0.987654) == 0.7
    assert cut_between(1234.56, 1240.1) == 1238.0
    assert outer_edges(0.0123, 98.7) == (0.0, 99.0)
    assert interval_labels((-1.0, 0.25, 1e20)) == ("[-1, 0.25)", "[0.25, 1e+20]")


def test_values_too_close_for_so_many_bins_are_refused():
    one = 1e16
    data = pd.DataFrame({"a": [one, one + 2, one + 4] * 10, "b": 1})
    with pytest.raises(DataError, match="too coarse"):
        discretize(data, "equal_width", bins=3, columns=["a"])


def with_missing(n: int = 200) -> dict[str, list[object]]:
    data = frame(n)
    columns: dict[str, list[object]] = {name: data[name].tolist() for name in data}
    for name, every in (("length", 7), ("name", 5), ("count", 11)):
        columns[name] = [None if i % every == 0 else v for i, v in enumerate(columns[name])]
    return columns


CONTAINERS = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars with nan": lambda data: pl.DataFrame(
        data | {"length": [math.nan if v is None else v for v in data["length"]]}
    ),
    "pyarrow": pa.table,
    "mapping": dict,
    "table": lambda data: read_table(data, continuous=True, missing="pairwise"),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("method", METHODS)
def test_missing_values_stay_missing_and_cuts_go_by_the_others(container, method):
    data = with_missing()
    present = [v is not None for v in data["length"]]
    alone = {"length": [v for v in data["length"] if v is not None]}
    alone["pad"] = [i % 2 for i in range(len(alone["length"]))]
    _, wanted = discretize(pd.DataFrame(alone), method, bins=3)
    cut, record = discretize(CONTAINERS[container](data), method, bins=3)
    assert record.edges["length"] == wanted.edges["length"]
    read = read_table(cut, missing="pairwise", continuous=True)
    place = read.names.index("length")
    assert read.kinds[place] == "ordinal" or container == "mapping"
    assert (~read.missing[place]).tolist() == present
    assert sorted(read.missing) == sorted(map(read.names.index, ("length", "name", "count")))
    labels = [read.levels[place][code] for code in read.codes[place].tolist()]
    for label, number in zip(labels, data["length"], strict=True):
        if number is not None:
            low, high = map(float, label[1:-1].split(", "))
            assert low <= number <= high
