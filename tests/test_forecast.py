"""The forecast of a run: the memory that it takes and the weakest dependence that it sees."""

from __future__ import annotations

import gc
import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import chi2, entropy, ncx2
from typer.testing import CliRunner

from tables import table_of
from tamis import TAM
from tamis.cli import app
from tamis.core import Table
from tamis.counting.opening import open_blocks
from tamis.errors import SettingError
from tamis.forecast import POWER, Weakest, forecast, visible
from tamis.information.counted import CountedInformation
from tamis.information.gaussian import GaussianInformation
from tamis.information.interface import Query
from tamis.learning import learn
from tamis.rules import BIC, ChiSquared, FTest, LocalPermutation, Permutation
from tamis.settings import Settings
from tamis.tables import read_table
from tamis.tables.packed_file import pack


def coins(d: int = 6, n: int = 400, levels: int = 2) -> np.ndarray:
    """Columns of which each is a noisy copy of an earlier one."""
    rng = np.random.default_rng(1)
    rows = rng.integers(0, levels, (n, d))
    for k in range(1, d):
        copied = rng.random(n) < 0.6
        rows[:, k] = np.where(copied, rows[:, rng.integers(0, k)], rows[:, k])
    return rows


def labels(d: int, n: int, levels: int) -> dict[str, np.ndarray]:
    words = np.array([f"level {i}" for i in range(levels)])
    return {f"x{k}": words[column] for k, column in enumerate(coins(d, n, levels).T)}


def numbers(d: int = 5, n: int = 200) -> dict[str, np.ndarray]:
    """Columns of which each depends on an earlier one."""
    rng = np.random.default_rng(1)
    columns = rng.normal(size=(d, n))
    for k in range(1, d):
        columns[k] += 0.8 * columns[rng.integers(0, k)]
    return {f"x{k}": column for k, column in enumerate(columns)}


# What can be seen.


def share_found(rule, information, n_tests: int) -> float:
    """How many of the other columns the first one is found to depend on, as one of such tests."""
    others = np.arange(1, information.n_variables)
    evidence = information.tests([Query(0, (), others)])
    return float((rule.strengths(evidence) > rule.threshold_for(n_tests)).mean())


@pytest.mark.parametrize(
    ("rule", "n"), [(Permutation(0.02), 300), (Permutation(0.02), 3000), (ChiSquared(0.001), 1000)]
)
def test_the_weakest_difference_of_shares_is_found_as_often_as_promised(rule, n):
    n_tests, bound = 19, rule.bind(n, 20)
    told = Weakest((2, 2), visible(n, bound.alpha / n_tests, 1))
    low = brentq(lambda p: entropy([p, 1 - p]) - math.log(2) + told.gain, 0.0, 0.5)
    assert f"shares of {low:.0%} and {1 - low:.0%}" in str(told)
    rng = np.random.default_rng(7)
    x = rng.integers(0, 2, n)
    found = []
    for share in (low, 0.5 - (0.5 - low) / 2):
        drawn = rng.random((n, 400)) < np.where(x == 1, 1 - share, share)[:, None]
        table = table_of(np.column_stack([x, drawn]).astype(int))
        found.append(share_found(bound, CountedInformation(table), n_tests))
    assert abs(found[0] - POWER) < 0.06  # the standard error is .015
    assert found[1] < 0.5


def test_the_weakest_correlation_is_found_as_often_as_promised():
    n, n_tests = 500, 19
    rule = FTest(0.02, whole_graph=True).bind(n, 20)
    told = Weakest(None, visible(n, rule.alpha / n_tests, 1))
    effect = math.sqrt(1 - math.exp(-2 * told.gain))
    assert f"a correlation of {effect:.2f}" in str(told)
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(n, 401))
    rows[:, 1:] *= math.sqrt(1 - effect**2)
    rows[:, 1:] += effect * rows[:, :1]
    names = tuple(f"x{k}" for k in range(401))
    seen = share_found(rule, GaussianInformation(names, np.cov(rows.T), n), n_tests)
    assert abs(seen - POWER) < 0.06


def test_the_weakest_of_the_score_is_found_as_often_as_promised():
    rng = np.random.default_rng(3)
    x = rng.integers(0, 2, 1000)
    told = TAM().forecast({"x": x, "y": rng.integers(0, 2, 1000)}).weakest[0]
    low = brentq(lambda p: entropy([p, 1 - p]) - math.log(2) + told.gain, 0.0, 0.5)
    drawn = rng.random((1000, 400)) < np.where(x == 1, 1 - low, low)[:, None]
    columns = [x.astype(np.uint8), *drawn.T.astype(np.uint8).copy()]
    judge = Table(columns, [2] * 401, None, math.log(2))
    rises = judge.scores_with(0, [], range(1, 401)) - judge.family(0, [])[0]
    assert abs((rises > 0).mean() - POWER) < 0.06


@given(st.integers(1, 400), st.floats(1e-12, 0.2), st.integers(5, 10**6))
@settings(max_examples=40, deadline=None)
def test_the_weakest_gain_has_the_power_of_the_noncentral_law(df, alpha, n):
    noncentrality = 2 * n * visible(n, alpha, df)
    assert ncx2.sf(chi2.isf(alpha, df), df, noncentrality) == pytest.approx(POWER, abs=1e-5)


def test_more_rows_and_fewer_tests_show_weaker_dependence():
    gains = [visible(n, 0.001, 1) for n in (100, 1000, 10_000)]
    assert gains == sorted(gains, reverse=True)
    assert visible(100, 0.01, 1) < gains[0] < visible(100, 0.001, 25)


@pytest.mark.parametrize(
    ("rule", "kind"), [(LocalPermutation(0.01), "neighbours"), (BIC(), "counts"), (0.01, "counts")]
)
def test_what_nobody_knows_beforehand_is_not_told(rule, kind):
    data = numbers(4, 60) if kind == "neighbours" else coins(4, 60)
    told = TAM("node", information=kind, boundary_rule=rule).forecast(data)
    assert (told.alpha, told.weakest) == (None, ())
    assert "not known beforehand" in str(told)


def test_alpha_is_shared_among_nodes_and_candidates():
    rule = Permutation(0.02, whole_graph=True)
    told = forecast(table_of(coins(10)), Settings("node", boundary_rule=rule))
    assert told.alpha == pytest.approx(0.02 / 90)


def test_labels_beside_numbers_are_told_both():
    rng = np.random.default_rng(1)
    labels = {"b": ["x", "y", "z"] * 30, "c": ["u", "v"] * 45}
    told = TAM().forecast({"a": rng.normal(size=90), "d": rng.normal(size=90), **labels})
    assert [one.levels for one in told.weakest] == [(2, 3), None]


def test_the_fewest_and_the_most_levels_are_told():
    rows = np.random.default_rng(1).integers(0, [2, 3, 2, 5, 4], (300, 5))
    told = forecast(table_of(rows), Settings(search="node"))
    assert [one.levels for one in told.weakest] == [(2, 2), (4, 5)]


def test_too_few_rows_see_nothing():
    told = forecast(table_of(coins(5, 6)), Settings(search="node"))
    assert "more than two such columns can have" in str(told)


def test_gaps_and_weights_leave_fewer_rows_to_see_with():
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 2, (200, 3)).astype(object)
    data = {f"x{k}": rows[:, k] for k in range(3)}
    whole = TAM("node").forecast(data).weakest[0].gain
    weighted = TAM("node").forecast(data, sample_weight=rng.random(200) + 0.1).weakest[0].gain
    rows[:50, 0] = None
    rows[40:90, 1] = None
    told = TAM("node", missing="pairwise").forecast({f"x{k}": rows[:, k] for k in range(3)})
    assert told.weakest[0].gain == pytest.approx(whole * 200 / 110)
    assert weighted > whole


def test_a_column_without_values_in_common_leaves_nothing_to_see():
    half = [0, 1] * 10
    gap = [None] * 20
    data = {"a": half + gap, "b": gap + half, "c": [0, 1] * 20}
    assert TAM("node", missing="pairwise").forecast(data).weakest == ()


def test_constant_and_single_columns_can_be_forecast():
    for rows in (np.zeros((30, 3), dtype=int), np.array([[0], [1], [0]])):
        told = forecast(table_of(rows), Settings())
        assert told.weakest == ()
        assert told.n_columns == rows.shape[1]


# What it takes.


@pytest.mark.parametrize(
    ("data", "search"),
    [
        (labels(15, 20_000, 3), "auto"),
        (labels(30, 100_000, 3), "auto"),
        (labels(30, 100_000, 3), "node"),
        (coins(30, 100_000, 3), "node"),
        (numbers(60, 10_000), "auto"),
        (numbers(20, 100_000), "node"),
    ],
)
def test_the_memory_of_a_run_is_forecast_within_a_factor_of_two(data, search):
    wanted = Settings(search, n_jobs=1)

    def run():
        result = learn(read_table(data, continuous=True), wanted)
        return result.names

    run()  # so that what is imported and compiled is there
    told = forecast(read_table(data, continuous=True), wanted).bytes
    gc.collect()
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert told / 2 < peak < 2 * told


def test_two_readings_take_more():
    steps = table_of(np.random.default_rng(2).integers(0, 6, (3000, 6)).cumsum(axis=1))
    both, counted = (forecast(steps, Settings(information=one)).bytes for one in ("auto", "counts"))
    assert both > counted


def test_a_table_in_blocks_takes_what_its_limit_leaves(tmp_path):
    path = tmp_path / "t.csv"
    rows = coins(6, 300).tolist()
    path.write_text("\n".join(["a,b,c,d,e,f", *(",".join(map(str, row)) for row in rows)]))
    pack(path, tmp_path / "t.tamis")
    packed = open_blocks(tmp_path / "t.tamis")
    told, plain = (forecast(table, Settings()) for table in (packed, read_table(path)))
    assert told.bytes > packed.working_bytes > plain.bytes
    assert told.weakest == plain.weakest


def test_what_is_from_outside_is_not_forecast():
    with pytest.raises(SettingError, match="is not known"):
        TAM(information=lambda table: None).forecast(coins())


# The command.


def run(*arguments):
    return CliRunner().invoke(app, ["learn", *map(str, arguments)])


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "t.csv"
    rows = np.random.default_rng(1).integers(0, 2, (200, 5)).tolist()
    path.write_text("\n".join(["a,b,c,d,e", *(",".join(map(str, row)) for row in rows)]))
    return path


def test_a_dry_run_shows_the_forecast_and_writes_nothing(csv, tmp_path):
    done = run(csv, "--dry-run", "--out", tmp_path / "r.json", "--report", tmp_path / "r.html")
    assert done.exit_code == 0, done.output
    for title in ("table", "memory", "weakest"):
        assert f" {title} " in done.stdout
    assert "200 rows, 5 columns" in done.stdout
    assert "Nothing was learned or written" in done.stdout
    assert "second" not in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv"]


def test_a_dry_run_refuses_what_a_run_would_refuse(csv):
    assert "leave one out" in run(csv, "--dry-run", "--quiet").output
    for wrong in (("--out", "r.nonsense"), ("--explain", "nobody"), ("--search", "nonsense")):
        assert run(csv, "--dry-run", *wrong).exit_code != 0


def test_names_of_any_kind_do_no_harm(tmp_path):
    path = tmp_path / "<script>alert(1)</script>.csv".replace("/", "_")
    path.write_text('"<b>","a\nb","[red]"\n' + "0,1,0\n1,0,1\n" * 30)
    done = run(path, "--dry-run")
    assert done.exit_code == 0, done.output
    assert "3 columns" in done.stdout
