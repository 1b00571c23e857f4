"""What the fuzzer found, each once: an answer or a refusal in tamis's own words, nothing else."""

from __future__ import annotations

import signal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import tamis
from tamis.cli import app
from tamis.counting import compiled
from tamis.errors import DataError, FileFormatError, SettingError
from tamis.formats.files import load_graph

ROWS = {"a": [0, 1] * 20, "b": [0, 1, 1, 1] * 10}
SPAN = np.timedelta64(1, "s")
"""To numpy an integer."""
NO_LIST = np.array(2)
"""Iterable by its type, and yet it cannot be gone through."""


# Arguments


@pytest.mark.parametrize(
    "call",
    [
        lambda: tamis.rules.Rate(SPAN),
        lambda: tamis.TAM("node").fit(ROWS).result_.closest_directions(SPAN),
        lambda: tamis.TAM("node", n_jobs=SPAN).fit(ROWS),
        lambda: tamis.TAM("node", memory=SPAN).fit(ROWS),
        lambda: tamis.TAM("node", information="gaussian", source={"shrinkage": SPAN}).fit(ROWS),
        lambda: tamis.discretize(ROWS, bins=SPAN),
    ],
)
def test_a_span_of_time_is_no_number(call):
    with pytest.raises(SettingError):
        call()


@pytest.mark.parametrize("names", [NO_LIST, 3, float("nan"), int, [["m"]], "abc"])
def test_an_order_of_variables_is_a_list_of_names(names):
    with pytest.raises(SettingError, match="names must be those of the network, each once"):
        tamis.BayesianNetwork.example("diamond").in_order(names)


@pytest.mark.parametrize("name", [[], {}, {"a"}, pd.Series([1]), 3])
def test_what_is_no_name_is_no_variable(name):
    with pytest.raises(SettingError, match="the network has no variable"):
        tamis.BayesianNetwork.example("diamond").parents_of(name)


@pytest.mark.parametrize("n", [10**400, 2**63, 10**12 + 1])
def test_a_number_of_rows_that_no_machine_holds_is_refused(n):
    with pytest.raises(SettingError, match="must be a whole number from 1 to 1,000,000,000,000"):
        tamis.BayesianNetwork.example("diamond").sample(n, 1)


def test_an_array_without_a_dimension_is_no_list():
    result = tamis.TAM("node").fit(ROWS).result_
    with pytest.raises(SettingError, match="add must be a list of pairs"):
        result.with_edges(ROWS, add=NO_LIST)
    for call in (tamis.entropy, tamis.markov_boundary):
        with pytest.raises(SettingError, match="there is no column '2'"):
            call(ROWS, NO_LIST)


# Tables


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"a": np.zeros(0), "b": np.zeros(0)}),
        pd.DataFrame({"a": [], "b": []}, dtype="Int64"),
        pd.DataFrame({"a": [], "b": []}, dtype="category"),
        pl.DataFrame({"a": [], "b": []}, schema={"a": pl.Int8, "b": pl.String}),
        np.zeros((0, 2)),
        {"a": [], "b": []},
    ],
)
def test_a_table_without_rows_is_inspected(table):
    plan = tamis.inspect(table)
    assert {column.kind for column in plan} == {"ignore"}
    assert "A table needs at least 2 rows, and this one has none." in str(plan)


def test_a_name_that_an_arrow_table_has_twice_is_refused():
    rows = pa.Table.from_arrays([pa.array([0, 1] * 5)] * 3, names=["a", "b", "a"])
    for call in (tamis.discretize, tamis.inspect, tamis.TAM("node").fit):
        with pytest.raises(DataError, match="'a'"):
            call(rows)


def test_a_csv_file_that_is_all_header_is_inspected(tmp_path):
    path = tmp_path / "header.csv"
    path.write_bytes(b"Z")
    assert "this one has none" in str(tamis.inspect(path))


def test_names_of_polars_may_hold_what_ends_a_string_elsewhere():
    rows = pl.DataFrame({"a\0": ROWS["a"], "\0": ROWS["b"]})
    assert tamis.TAM("node").fit(rows).result_.names == ("a\0", "\0")


def test_numbers_whose_sum_no_float_holds_are_refused_by_name():
    rng = np.random.default_rng(1)
    rows = {"x": 5e307 * (1 + rng.random(40)), "level": ["u", "v"] * 20}
    with pytest.raises(DataError, match="Column 'x' holds numbers of the size"):
        tamis.TAM("node", information="conditional-gaussian").fit(rows)


def test_numbers_whose_squares_no_float_holds_are_no_ranks():
    rows = {"x": [1e200] + [1e190, 0.0] * 20, "level": ["u", *["v", "u"] * 20]}
    with pytest.raises(DataError, match="Column 'x' holds numbers of the size"):
        tamis.TAM("node", information="conditional-gaussian").fit(rows)


def test_numbers_whose_squares_no_float_holds_are_inspected():
    rng = np.random.default_rng(1)
    far = {"x": [1e308, -1e308] * 20, "y": [0, 1] * 20}
    assert "x" in str(tamis.inspect(far))
    plan = tamis.inspect({"x": 1e200 * rng.normal(size=40), "y": rng.normal(size=40)})
    assert [column.kind for column in plan] == ["number", "number"]


def test_columns_that_never_vary_may_be_missing_in_some_rows():
    rows = {"a": [1.5] * 8, "b": [0] * 8, "c": [0.1, None] * 4}
    model = tamis.TAM("layer", missing="level", information="conditional-gaussian")
    with pytest.warns(tamis.TamisWarning, match="Constant columns say nothing"):
        model.fit(rows)
    assert not model.result_.edges


# Comparisons and clusters


def test_a_comparison_without_graphs_draws_nothing():
    levels = {"a": ["x", "y"] * 20, "b": ["u", "v"] * 20}
    found = tamis.compare(levels, methods=["flop"])
    with pytest.raises(SettingError, match="there is no graph to draw, as no method gave one"):
        found.plot()


def test_an_address_without_a_scheduler_leaves_no_client_behind():
    pytest.importorskip("distributed")
    from distributed import default_client

    from tamis.counting.dask.opening import connected

    with pytest.raises(SettingError, match="no scheduler answers there"), connected(""):
        pass
    with pytest.raises(ValueError, match="No clients found"):
        default_client()


@pytest.mark.parametrize("part", ["required", "forbidden", "tiers", "sources", "sinks"])
def test_knowledge_as_an_array_without_a_dimension_is_refused_by_its_part(part):
    with pytest.raises(tamis.SettingError, match=f"{part} must be a list, not array"):
        tamis.Knowledge(**{part: np.array(2)})


def test_a_graph_in_an_encoding_that_nobody_knows_is_refused_by_its_file(tmp_path):
    (tmp_path / "g.graphml").write_bytes(b"<?xml version='1.0' encoding='etf-8'?><graphml/>")
    with pytest.raises(FileFormatError, match=r"g\.graphml' is not a graph .*unknown encoding"):
        load_graph(tmp_path / "g.graphml")


def test_numbers_whose_squares_a_float_cannot_hold_make_no_gaussian_network():
    rows = {"a": [1e200, -1e200, 5e199, 0.5], "b": [0.5, 1.5, 2.5, 3.5]}
    with pytest.raises(DataError, match="'a' holds numbers of the size 1e\\+200"):
        tamis.GaussianNetwork.fit({"a": [], "b": ["a"]}, rows)


def test_frequencies_count_the_room_that_numbers_take():
    rows = {"a": [0.5, 1.5, 2.5, 3.5], "b": [0.1, 1.2, 2.3, 3.4]}
    with pytest.raises(DataError, match="more than the 67108864 that 2 columns of this kind"):
        tamis.TAM().fit(rows, sample_weight=[20_000_000] * 4)


# Interrupts


@pytest.fixture
def heeds_interrupts():
    """As on a terminal; what a shell has put into the background ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeds_interrupts")
def test_an_interrupt_waits_until_a_loop_is_compiled(monkeypatch, tmp_path):
    # What an earlier run of this test has kept would be loaded, and nothing compiled.
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    loop = compiled.compiled(_twice)
    with (
        pytest.raises(KeyboardInterrupt),
        compiled.hearing(lambda: signal.raise_signal(signal.SIGINT)),
    ):
        loop(3)
    assert loop.n_versions == 1
    assert loop(3) == 6
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def _twice(number):
    return 2 * number


def test_a_compiler_that_is_turned_off_is_told_with_the_cure(monkeypatch):
    monkeypatch.setattr("numba.config.DISABLE_JIT", 1)
    with pytest.raises(tamis.TamisError, match=r"NUMBA_DISABLE_JIT is set.*unset it"):
        compiled.compiled(_twice)(3)


def test_a_compiler_that_cannot_be_loaded_is_told_with_the_cure(monkeypatch):
    def unloaded():
        raise OSError("Could not find/load shared object file 'libllvmlite.so'")

    monkeypatch.setattr(compiled, "_numba_with_popcount", unloaded)
    with pytest.raises(tamis.TamisError, match="If memory is limited, as by ulimit -v, allow 1 GB"):
        compiled.compiled(_twice)(3)


def test_what_are_no_names_of_numbers_is_refused():
    with pytest.raises(SettingError, match=r"numbers must be the names of columns.*not 5"):
        tamis.GaussianNetwork.fit({"b": ["a"]}, {"a": [0, 1] * 9, "b": [1, 0] * 9}, numbers=5)


def test_an_output_that_the_pattern_of_the_table_covers_is_refused(tmp_path):
    for k in range(2):
        (tmp_path / f"{k}.csv").write_text("a,b\n" + "x,y\nu,v\n" * 20)
    pattern = str(tmp_path / "*.csv")
    for name in (pattern, str(tmp_path / "run.csv")):
        shown = CliRunner().invoke(app, ["learn", pattern, "--out", name])
        assert shown.exit_code == 2
        assert "would become a part of the table" in " ".join(shown.output.split())
    assert len(list(tmp_path.iterdir())) == 2
