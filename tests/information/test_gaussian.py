"""Information from moments: against regressions, against scipy, and as the searches use it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import tamis
from tamis.data import read_table
from tamis.decisions.f_test import FTest
from tamis.errors import DataError, SettingError
from tamis.information import gaussian
from tamis.information.gaussian import GaussianInformation
from tamis.information.interface import Context, Group, Query
from tamis.metrics import shd
from tamis.simulate import draw


def numbers(seed: int, n: int = 60, d: int = 5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=d) * 10


def source(rows: np.ndarray, **options) -> GaussianInformation:
    return GaussianInformation.from_table(read_table(rows, measured=True), **options)


def unexplained(rows: np.ndarray, k: int, given: tuple[int, ...]) -> float:
    """The variance that a regression leaves, by least squares."""
    design = np.column_stack([np.ones(len(rows)), rows[:, list(given)]])
    residual = rows[:, k] - design @ np.linalg.lstsq(design, rows[:, k], rcond=None)[0]
    return float(np.mean(residual**2))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(0, 4), size=st.integers(0, 3))
def test_entropies_and_gains_are_those_of_regressions(seed, k, size):
    rows = numbers(seed)
    others = [v for v in range(5) if v != k]
    s, candidate = tuple(others[:size]), others[-1]
    information = source(rows)
    before = unexplained(rows, k, s)
    after = unexplained(rows, k, (*s, candidate))
    context = Context(k, s)
    assert information.entropies([context])[0] == pytest.approx(
        0.5 * np.log(2 * np.pi * np.e * before), abs=1e-8
    )
    gain = 0.5 * np.log(before / after)
    assert information.gains([context])[0, candidate] == pytest.approx(gain, abs=1e-8)
    asked = information.evidence([Query(k, s, np.array([candidate]))])
    assert asked.gain[0] == pytest.approx(gain, abs=1e-8)
    both = tuple(v for v in others if v not in s)
    together = information.joint_evidence([Group(k, s, both)]).gain[0]
    left = unexplained(rows, k, tuple(others))
    assert together == pytest.approx(0.5 * np.log(before / left), abs=1e-8)


def test_what_is_given_and_the_target_gain_nothing():
    gains = source(numbers(1)).gains([Context(0, (2, 3)), Context(4, ())])
    assert gains[[0, 0, 0, 1], [0, 2, 3, 4]].tolist() == [0.0] * 4
    assert (gains[[0, 0, 1], [1, 4, 0]] > 0).all()


def test_batches_of_any_size_give_the_same_rows(monkeypatch):
    information = source(numbers(2))
    contexts = [Context(k, tuple(v for v in range(5) if v not in (k, 0))[:size])
                for k in (1, 2, 3) for size in (0, 1, 2)]  # fmt: skip
    whole = information.rows(contexts)
    monkeypatch.setattr(gaussian, "BATCH_CELLS", 1)
    split = information.rows(contexts)
    assert np.array_equal(whole.gains, split.gains)
    assert np.array_equal(whole.entropies, split.entropies)


@pytest.mark.parametrize("size", [0, 1, 3])
def test_the_f_test_is_the_t_test_of_the_coefficient(size):
    rows = numbers(3, n=30)
    given = tuple(range(1, 1 + size))
    design = np.column_stack([np.ones(30), rows[:, list(given)], rows[:, 4]])
    beta, *_ = np.linalg.lstsq(design, rows[:, 0], rcond=None)
    residual = rows[:, 0] - design @ beta
    freedom = 30 - design.shape[1]
    variance = residual @ residual / freedom * np.linalg.inv(design.T @ design)[-1, -1]
    expected = 2 * stats.t.sf(abs(beta[-1]) / np.sqrt(variance), freedom)
    evidence = source(rows).evidence([Query(0, given, np.array([4]))])
    assert FTest().p_values(evidence)[0] == pytest.approx(expected, rel=1e-8)


def test_under_independence_the_p_values_are_uniform():
    rng = np.random.default_rng(4)
    found = []
    for _ in range(400):
        rows = rng.normal(size=(25, 3))
        rows[:, 1] += rows[:, 0]
        rows[:, 2] += rows[:, 0]
        evidence = source(rows).evidence([Query(1, (0,), np.array([2]))])
        found.append(FTest().p_values(evidence)[0])
    assert stats.kstest(found, "uniform").pvalue > 0.01


def test_a_linear_function_of_other_columns_is_refused_by_name():
    rows = numbers(5)
    table = pd.DataFrame(rows, columns=list("abcde"))
    table["f"] = 2 * table["a"] - table["c"] + 1
    with pytest.raises(DataError, match="'f' is a linear function of 'a', 'c'"):
        tamis.TAM("sequential", information="gaussian").fit(table)


def test_shrinkage_lets_collinear_columns_pass_and_keeps_variances():
    rows = np.column_stack([numbers(6), numbers(6)[:, 0]])
    information = source(rows, shrinkage=0.1)
    assert information.entropies([Context(0, ())]) == source(rows[:, :5]).entropies(
        [Context(0, ())]
    )
    with pytest.raises(SettingError, match="shrinkage"):
        source(rows, shrinkage=1.5)


def test_a_constant_column_informs_nobody():
    rows = numbers(7)
    rows[:, 2] = 0.1
    with pytest.warns(tamis.TamisWarning, match="Constant"):
        information = source(rows)
    assert not information.varies(2)
    assert (
        information.gains([Context(0, ())])[0, 2],
        information.entropies([Context(2, ())])[0],
    ) == (
        0.0,
        0.0,
    )


@pytest.mark.parametrize("search", ["node", "layer", "sieve"])
def test_the_unfaithful_example_of_the_paper_is_recovered(search):
    data = draw(model="unfaithful", n=4000, seed=3)
    model = tamis.TAM(search, information="gaussian").fit(data.data)
    assert shd(model, data.graph) == 0


@pytest.mark.parametrize("graph", ["tree", "chain"])
def test_the_sequential_search_is_the_equal_variance_ordering(graph):
    data = draw(graph, "gaussian", d=10, n=2000, seed=11, variances=1.0)
    model = tamis.TAM("sequential", information="gaussian").fit(data.data)
    assert shd(model, data.graph) == 0
    from tamis.baselines.equal_variance import _order

    ranked = sorted(data.data)
    covariance = np.cov(np.array([data.data[name] for name in ranked]), bias=True)
    variances = {name: k for k, name in enumerate(ranked)}
    order = [variances[name] for name in model.order_]
    assert order == _order(covariance)


def test_integers_can_be_read_as_numbers_and_solve_the_additive_model():
    data = draw("er", "add", d=10, edges=20, n=2000, seed=5)
    model = tamis.TAM("sequential", information="gaussian").fit(data.data)
    assert shd(model, data.graph) == 0


def test_a_result_from_numbers_survives_saving(tmp_path):
    data = draw(model="unfaithful", n=500, seed=3)
    model = tamis.TAM("node", information="gaussian").fit(data.data)
    model.save(tmp_path / "run.json")
    assert tamis.load(tmp_path / "run.json") == model.result_
    assert "W" in model.explain("X")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"search": "reference"}, "does not go with"),
        ({"entropy": "plugin"}, "entropy="),
        ({"boundary_rule": tamis.rules.Permutation()}, "Permutation tests levels"),
        ({"information": "magic"}, "information must be one of"),
    ],
)
def test_settings_that_do_not_fit_numbers_are_refused(wrong, message):
    rows = numbers(8)
    with pytest.raises(SettingError, match=message):
        tamis.TAM(**{"search": "node", "information": "gaussian", **wrong}).fit(rows)


def test_labels_are_no_numbers():
    table = pd.DataFrame({"a": ["x", "y"] * 20, "b": np.arange(40) % 3})
    with pytest.raises(DataError, match="'a' holds labels such as 'x'"):
        tamis.TAM(information="gaussian").fit(table)


def test_counting_refuses_measurements_and_names_the_way_out():
    with pytest.raises(DataError, match="information='gaussian'"):
        tamis.TAM(information="counts").fit(numbers(9))
    with pytest.raises(SettingError, match="FTest tests numbers"):
        tamis.TAM(boundary_rule=FTest()).fit(np.random.default_rng(0).integers(0, 2, (50, 3)))


def test_wide_tables_of_numbers_are_learned_too():
    data = draw("tree", "gaussian", d=150, n=1000, seed=2, variances=1.0)
    model = tamis.TAM("sequential", information="gaussian").fit(data.data)
    assert shd(model, data.graph) <= 15
