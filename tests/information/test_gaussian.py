"""Information from moments: against regressions, against scipy, and as the searches use it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import tamis
from tamis.decisions.p_values import FTest
from tamis.errors import DataError, SettingError
from tamis.information import gaussian
from tamis.information.gaussian import GaussianInformation
from tamis.information.interface import Context, Group, Query
from tamis.metrics import shd
from tamis.simulate import draw
from tamis.tables import read_table


def numbers(seed: int, n: int = 60, d: int = 5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=d) * 10


def source(rows: np.ndarray, **options) -> GaussianInformation:
    return GaussianInformation.from_table(read_table(rows, continuous=True), **options)


def unexplained(rows: np.ndarray, k: int, given: tuple[int, ...]) -> float:
    """The variance that a regression leaves, by least squares."""
    design = np.column_stack([np.ones(len(rows)), rows[:, list(given)]])
    residual = rows[:, k] - design @ np.linalg.lstsq(design, rows[:, k], rcond=None)[0]
    return float(np.mean(residual**2))


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
    assert information.cmi([context])[0, candidate] == pytest.approx(gain, abs=1e-8)
    asked = information.tests([Query(k, s, np.array([candidate]))])
    assert asked.cmi[0] == pytest.approx(gain, abs=1e-8)
    both = tuple(v for v in others if v not in s)
    together = information.joint_tests([Group(k, s, both)]).cmi[0]
    left = unexplained(rows, k, tuple(others))
    assert together == pytest.approx(0.5 * np.log(before / left), abs=1e-8)


def test_scale_free_is_what_standardised_columns_would_tell():
    rows = numbers(3)
    information = source(rows)
    free = information.scale_free()
    contexts = [Context(k, given) for k in range(5) for given in ((), ((k + 1) % 5,))]
    standard = source((rows - rows.mean(axis=0)) / rows.std(axis=0))
    np.testing.assert_allclose(
        free.entropies(contexts), standard.entropies(contexts), rtol=1e-9, atol=1e-9
    )
    assert not np.allclose(information.entropies(contexts), free.entropies(contexts))
    np.testing.assert_allclose(free.cmi(contexts), information.cmi(contexts), atol=1e-12)


def test_entropies_of_standardised_columns_are_compared_with_nothing():
    rows = numbers(4)
    assert source(rows).entropy_kinds() == ["numbers"] * 5
    assert source(rows / rows.std(axis=0)).entropy_kinds() == [None] * 5
    almost = rows / rows.std(axis=0) * [1, 1.005, 0.998, 1, 1]
    assert source(almost).entropy_kinds() == [None] * 5


def test_what_is_given_and_the_target_gain_nothing():
    gains = source(numbers(1)).cmi([Context(0, (2, 3)), Context(4, ())])
    assert gains[[0, 0, 0, 1], [0, 2, 3, 4]].tolist() == [0.0] * 4
    assert (gains[[0, 0, 1], [1, 4, 0]] > 0).all()


def test_a_context_has_the_same_answer_in_any_batch():
    information = source(numbers(2))
    contexts = [Context(k, tuple(v for v in range(5) if v not in (k, 0))[:size])
                for k in (1, 2, 3) for size in (0, 1, 2)]  # fmt: skip
    contexts += [Context(4, (1, 2)), Context(3, (1, 2)), Context(0, (1, 2))]
    whole = information.profiles(contexts)
    single = [information.profiles([context]) for context in contexts]
    assert np.array_equal(whole.cmi, np.concatenate([one.cmi for one in single]))
    assert np.array_equal(whole.entropies, np.concatenate([one.entropies for one in single]))
    assert np.array_equal(whole.entropies, information.entropies(contexts))


def test_single_tests_and_whole_rows_agree_to_the_last_digit():
    information = source(numbers(2, d=9))
    contexts = [Context(0, ()), Context(3, (0, 5, 7)), Context(4, (0, 5, 7)), Context(8, (1,))]
    everyone = np.arange(9)
    asked = information.tests([Query(*context, everyone) for context in contexts])
    rows = information.profiles(contexts)
    assert np.array_equal(asked.cmi.reshape(4, 9), rows.cmi)
    assert np.array_equal(asked.residual.reshape(4, 9), rows.stats[:, :, 2])


def test_tests_given_large_sets_are_those_of_single_regressions(monkeypatch):
    rows = numbers(3, n=120, d=34)
    information = source(rows)
    members = range(2, 32)
    queries = [Query(0, tuple(v for v in members if v != k), np.array([k, 0])) for k in members]
    found = information.tests(queries).cmi.reshape(-1, 2)
    assert (found[:, 1] == 0.0).all()
    after = unexplained(rows, 0, tuple(members))
    for (target, s, _), gain in zip(queries, found[:, 0], strict=True):
        before = unexplained(rows, target, s)
        assert gain == pytest.approx(0.5 * np.log(before / after), abs=1e-8)
    monkeypatch.setattr(gaussian, "SHARED", 1000)
    single = information.tests(queries).cmi.reshape(-1, 2)
    assert single == pytest.approx(found, abs=1e-12)
    assert not np.array_equal(single, found)  # the two ways differ in rounding, so both were taken


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
    evidence = source(rows).tests([Query(0, given, np.array([4]))])
    assert FTest().p_values(evidence)[0] == pytest.approx(expected, rel=1e-8)


def test_under_independence_the_p_values_are_uniform():
    rng = np.random.default_rng(4)
    found = []
    for _ in range(400):
        rows = rng.normal(size=(25, 3))
        rows[:, 1] += rows[:, 0]
        rows[:, 2] += rows[:, 0]
        evidence = source(rows).tests([Query(1, (0,), np.array([2]))])
        found.append(FTest().p_values(evidence)[0])
    assert stats.kstest(found, "uniform").pvalue > 0.01


def test_a_linear_function_of_other_columns_is_refused_by_name():
    rows = numbers(5)
    table = pd.DataFrame(rows, columns=list("abcde"))
    table["f"] = 2 * table["a"] - table["c"] + 1
    with pytest.raises(DataError, match="'f' is a linear function of 'a', 'c'") as refused:
        tamis.TAM("sequential", information="gaussian").fit(table)
    assert "source={'shrinkage': 0.1}" in str(refused.value)
    assert "--source shrinkage=0.1" in str(refused.value)
    shrunk = tamis.TAM("sequential", information="gaussian", source={"shrinkage": 0.1}).fit(table)
    assert shrunk.result_.settings["source"] == {"shrinkage": 0.1}
    assert "f" in {name for edge in shrunk.graph_.edges for name in edge}


def test_with_more_columns_than_rows_only_the_sets_that_come_up_matter():
    rows = numbers(5, n=6, d=9)
    information = source(rows)
    assert np.isfinite(information.profiles([Context(0, (1, 2, 3))]).cmi).all()
    for ask in (information.profiles, information.entropies):
        with pytest.raises(DataError, match="'x6' is a linear function of 'x1', 'x2'"):
            ask([Context(0, (1, 2)), Context(0, (1, 2, 3, 4, 5, 6))])


def test_the_rows_can_choose_the_shrinkage_and_the_record_says_so(tmp_path):
    rows = numbers(5, n=8, d=12)
    model = tamis.TAM(information="gaussian", source={"shrinkage": "auto"}).fit(rows)
    assert model.result_.settings["source"] == {"shrinkage": "auto"}
    model.save(tmp_path / "run.json")
    assert tamis.load(tmp_path / "run.json") == model.result_
    plain = tamis.TAM(information="gaussian", source={"shrinkage": 0}).fit(numbers(5))
    assert plain.result_.settings["source"] is None


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
        information.cmi([Context(0, ())])[0, 2],
        information.entropies([Context(2, ())])[0],
    ) == (
        0.0,
        0.0,
    )


@pytest.mark.parametrize("search", ["node", "layer"])
def test_the_unfaithful_example_of_the_paper_is_recovered(search):
    data = draw(model="unfaithful", n=4000, seed=3)
    model = tamis.TAM(search, information="gaussian").fit(data.data)
    assert shd(model, data.graph) == 0


def top_down(rows: np.ndarray) -> list[int]:
    """Chen, Drton and Wang (2019), algorithm 1: the next node is the one of least variance given
    all before it, by least squares on the rows."""
    order: list[int] = []
    while len(order) < rows.shape[1]:
        left = {k: unexplained(rows, k, tuple(order)) for k in range(rows.shape[1])}
        order.append(min((k for k in left if k not in order), key=left.__getitem__))
    return order


@given(seed=st.integers(0, 10**6), d=st.integers(2, 7), n=st.integers(20, 80))
def test_without_boundaries_the_sequential_search_is_the_equal_variance_ordering(seed, d, n):
    rows = numbers(seed, n, d)
    model = tamis.TAM("sequential", information="gaussian", boundary="none").fit(rows)
    assert [int(name[1:]) for name in model.order_] == top_down(rows)


@given(seed=st.integers(0, 10**6), graph=st.sampled_from(["tree", "chain", "er"]))
def test_with_boundaries_it_is_so_where_the_rows_tell_the_parents(seed, graph):
    options = {"edges": 10} if graph == "er" else {}
    data = draw(graph, "gaussian", d=8, n=4000, seed=seed, variances=1.0, **options)
    names = sorted(data.data)
    rows = np.column_stack([data.data[name] for name in names])
    model = tamis.TAM("sequential", information="gaussian").fit(data.data)
    ranks = {name: i for i, name in enumerate(names[k] for k in top_down(rows))}
    # Nodes without a path between them may swap: their variances are as good as equal.
    place = {name: i for i, name in enumerate(model.order_)}
    for a, b in data.graph.edges:
        assert (place[a] < place[b]) == (ranks[a] < ranks[b])


def test_integers_can_be_read_as_numbers_and_solve_the_additive_model():
    data = draw("er", "add", d=10, edges=20, n=2000, seed=5)
    model = tamis.TAM("sequential", information="gaussian").fit(data.data)
    assert shd(model, data.graph) == 0
