"""Weights of rows: frequencies repeat rows, survey weights share them out."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from tamis.decisions.p_values import ChiSquared, Permutation
from tamis.decisions.rule import BIC
from tamis.errors import DataError, SettingError, TamisWarning
from tamis.information.gaussian import GaussianInformation, weighted_gaussian
from tamis.information.interface import Context, Group, Query
from tamis.information.real_counts import RealCountInformation
from tamis.tables import read_table
from tamis.tables.sources import effective_rows
from tamis.tables.table import Table

FIELDS = ["cmi", "plugin", "df", "pearson", "null_mean", "null_variance", "n_rows"]


def quietly(data, **how) -> Table:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TamisWarning)
        return read_table(data, **how)


def fitted(data, sample_weight=None, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TamisWarning)
        return tamis.TAM(**how).fit(data, sample_weight=sample_weight).result_


def columns(n: int, seed: int, levels: int = 2) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, levels, n)
    b = np.where(rng.random(n) < 0.7, a, rng.integers(0, levels, n))
    c = np.where(rng.random(n) < 0.6, b, rng.integers(0, levels, n))
    return {"a": a, "b": b, "c": c}


def same_result(one, other) -> bool:
    fields = ("names", "levels", "n_rows", "settings", "layers", "order", "parents", "entropies")
    return all(getattr(one, f) == getattr(other, f) for f in (*fields, "edges", "trace", "ranking"))


# Frequencies.


@settings(max_examples=4)
@given(seed=st.integers(0, 2**32 - 1), search=st.sampled_from(["auto", "node", "reference"]))
def test_whole_weights_are_the_same_as_repeated_rows(seed, search):
    data = columns(30, seed)
    weights = np.random.default_rng([seed, 1]).integers(0, 6, 30)
    weights[:2] = 3
    rows = np.repeat(np.arange(30), weights)
    repeated = {name: values[rows] for name, values in data.items()}
    wanted = fitted(repeated, search=search)
    assert same_result(fitted(data, weights, search=search), wanted)
    assert same_result(fitted(data, weights.astype(float).tolist(), search=search), wanted)
    in_table = pd.DataFrame(data | {"how often": weights})
    assert same_result(fitted(in_table, "how often", search=search), wanted)


def test_frequencies_repeat_measurements_too():
    rng = np.random.default_rng(4)
    x = rng.normal(size=40)
    data = {"x": x, "y": x + rng.normal(size=40), "z": rng.normal(size=40)}
    weights = rng.integers(1, 4, 40)
    repeated = {name: np.repeat(values, weights) for name, values in data.items()}
    for information in ("gaussian", "copula", "lipschitz"):
        wanted = fitted(repeated, information=information)
        assert same_result(fitted(data, weights, information=information), wanted)


def test_levels_are_counted_against_repeated_rows():
    data = {"a": ["x", "y", "z", "x"], "b": [0, 1, 1, 1]}
    assert quietly(data, weights=[9, 9, 9, 9]).n_rows == 36
    with pytest.raises(DataError, match="identifier"):
        quietly(data, weights=[1, 1, 1, 1])
    assert (
        quietly({"a": [1, 2, 3], "b": [0, 1, 1]}, weights=[5, 5, 5], continuous=True).continuous
        == {}
    )


def test_rows_without_weight_are_not_there():
    data = {"a": ["x", "y", None, "x", "y"], "b": [0, 1, 5, 1, 0]}
    table = quietly(data, weights=[1, 2, 0, 1, 2])
    assert table.levels == (("x", "y"), (0, 1))
    assert table.n_rows == 6


def test_frequencies_say_so_and_what_else_they_might_be():
    data = {"a": [0, 1, 0, 1, 1], "b": [0, 1, 1, 0, 1]}
    result = tamis.TAM().fit(data, sample_weight=[2, 2, 2, 2, 2]).result_
    assert len(result.warnings) == 1
    assert "5 rows count as 10" in result.warnings[0]
    assert "divide them by their mean" in result.warnings[0]
    assert quietly(columns(9, 1), weights=[1.0] * 9).notes == ()


def test_weights_follow_their_rows_when_rows_are_left_out():
    data = {"a": [0, None, 1, 1, 0, 1], "b": [1, 1, 0, None, 0, 1]}
    table = quietly(data, weights=[1, 7, 2, 7, 3, 1], missing="drop")
    assert table.codes.tolist() == [[0, 1, 1, 0, 0, 0, 1], [1, 0, 0, 0, 0, 0, 1]]
    survey = quietly(data, weights=[1.5, 7, 2, 7, 3, 1], missing="drop")
    assert (survey.weights / survey.weights[0]).tolist() == pytest.approx([1, 4 / 3, 2, 2 / 3])


# What is refused.


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        ([1, 2, 3], "shape .3,., but the table has 4 rows"),
        ([1, -1, 1, 1], "hold -1 at row 1"),
        ([1, math.nan, 1, 1], "missing in 1 of 4 rows .first at row 1"),
        ([1, None, 1, 1], "missing in 1 of 4 rows"),
        ([1, math.inf, 1, 1], "infinite in 1 of 4"),
        ([0, 0, 0, 0], "zero in every row"),
        (["x", "y", "x", "y"], "sequence of numbers"),
        ([[1, 1, 1, 1]], "shape"),
        (3.0, "shape"),
        ([0.1, 1e9, 0.1, 0.1], "outweighs"),
        ([1, 0, 0, 0], "at least 2 rows, but has 1"),
        ("nowhere", "no column 'nowhere'"),
        ("s", "cannot hold the weights"),
        ("gap", "'gap' are missing in 1 of 4 rows"),
    ],
)
def test_weights_without_meaning_are_refused(weights, told):
    data = {"a": [0, 1, 0, 1], "b": [0, 1, 1, 0], "s": list("uvuv"), "gap": [1.5, None, 1, 1]}
    if weights != "gap":
        del data["gap"]
    with pytest.raises(DataError, match=told):
        quietly(data, weights=weights)


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"entropy": "minimax"}, "needs whole counts"),
        ({"entropy": "jackknife"}, "needs whole counts"),
        ({"look_ahead": 2}, "look_ahead=1"),
        ({"information": "neighbours"}, "survey weights"),
        ({"information": "copula"}, "survey weights"),
        ({"information": "lipschitz"}, "survey weights"),
        ({"information": "gaussian", "source": {"shrinkage": "auto"}}, "shrinkage='auto'"),
    ],
)
def test_what_does_not_go_with_survey_weights_is_refused(how, told):
    with pytest.raises(SettingError, match=told):
        fitted(columns(50, 3, levels=5), np.arange(1, 51) / 7, **how)


# Survey weights.


def weighted(seed: int, n: int = 60, *, missing: bool = False, equal: bool = False) -> Table:
    rng = np.random.default_rng(seed)
    codes = np.array([*columns(n, seed, 3).values(), rng.integers(0, 2, n)])
    absent = {0: rng.random(n) < 0.2, 3: rng.random(n) < 0.3} if missing else {}
    for k, flags in absent.items():
        codes[k, flags] = 0
    levels = ((0, 1, 2), (0, 1, 2), (0, 1, 2), (0, 1))
    weights = np.ones(n) if equal else rng.lognormal(size=n)
    return Table(tuple("abcd"), levels, codes.astype(np.uint8), missing=absent, weights=weights)


@settings(max_examples=8)
@given(
    seed=st.integers(0, 2**32 - 1),
    name=st.sampled_from(["grassberger", "plugin", "miller-madow"]),
    missing=st.booleans(),
)
def test_equal_weights_are_plain_rows(seed, name, missing):
    table = weighted(seed, missing=missing, equal=True)
    plain = Table(table.names, table.levels, table.codes, missing=table.missing)
    comp, ref = RealCountInformation(table, name), RealCountInformation(plain, name)
    contexts = [Context(0, ()), Context(1, (0,)), Context(2, (0, 3)), Context(3, (1, 2))]
    np.testing.assert_allclose(comp.entropies(contexts), ref.entropies(contexts), atol=1e-10)
    np.testing.assert_allclose(comp.cmi(contexts), ref.cmi(contexts), atol=1e-10)
    scores = comp.penalised_likelihoods(contexts), ref.penalised_likelihoods(contexts)
    np.testing.assert_allclose(*scores, rtol=1e-8, atol=1e-6)
    assert comp.rows_behind(Group(0, (1,), (3,))) == ref.rows_behind(Group(0, (1,), (3,)))
    queries = [Query(0, (), np.array([1, 2, 3])), Query(1, (3,), np.array([0, 2]))]
    groups = [Group(0, (1,), (2, 3)), Group(2, (), (0, 1))]
    for ask in (lambda one: one.tests(queries), lambda one: one.joint_tests(groups)):
        for field in FIELDS:
            found, wanted = (getattr(ask(one), field) for one in (comp, ref))
            np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8)


@settings(max_examples=5)
@given(seed=st.integers(0, 2**32 - 1), factor=st.sampled_from([1e-6, 0.5, 3.0, 1e6]))
def test_only_the_proportions_of_weights_matter(seed, factor):
    data = columns(80, seed)
    weights = np.random.default_rng([seed, 1]).lognormal(size=80)
    one, other = fitted(data, weights), fitted(data, weights * factor)
    assert one.order == other.order
    assert [(e.parent, e.child) for e in one.edges] == [(e.parent, e.child) for e in other.edges]
    for name, value in one.entropies.items():
        assert other.entropies[name] == pytest.approx(value, abs=1e-5)


def test_the_order_of_rows_and_columns_plays_no_part():
    data = columns(200, 6)
    weights = np.random.default_rng(7).lognormal(size=200)
    turn = np.random.default_rng(8).permutation(200)
    turned = {name: data[name][turn] for name in reversed(list(data))}
    one, other = fitted(data, weights), fitted(turned, weights[turn])
    assert one.order == other.order
    assert set(one.edges) == set(other.edges)
    assert one.entropies == {name: other.entropies[name] for name in one.entropies}


def test_the_plugin_entropy_is_that_of_the_shares_of_weight():
    table = weighted(9)
    shares = np.bincount(table.codes[0], table.weights) / table.weights.sum()
    found = RealCountInformation(table, "plugin").entropies([Context(0, ())])[0]
    # Weights are kept to a part in a million of a row.
    assert found == pytest.approx(-(shares * np.log(shares)).sum(), abs=1e-5)
    assert RealCountInformation(table).n_rows == pytest.approx(
        table.weights.sum() ** 2 / (table.weights**2).sum()
    )


def test_kish_counts_equal_rows_as_rows():
    assert effective_rows(np.full(7, 1e300)) == pytest.approx(7)
    assert effective_rows(np.array([1.0, 1.0, 2.0])) == pytest.approx(16 / 6)


def false_positives(law, n: int, draws: int) -> dict[str, float]:
    """Shares of p-values below .05 where x and y are independent and selection is not."""
    found: dict[str, list[bool]] = {"permutation": [], "chi-squared": [], "bic": []}
    for draw in range(draws):
        rng = np.random.default_rng([draw, n])
        x, y = rng.random((2, 12 * n)) < np.array([[0.3], [0.4]])
        chance = law(x, y, rng)
        kept = np.flatnonzero(rng.random(12 * n) < chance)[:n]
        codes = np.array([x[kept], y[kept]]).astype(np.uint8)
        weights = 1 / chance[kept]
        table = Table(("x", "y"), ((0, 1), (0, 1)), codes, weights=weights / weights.mean())
        evidence = RealCountInformation(table).tests([Query(0, (), np.array([1]))])
        for rule in (Permutation(), ChiSquared()):
            found[rule.name].append(bool(rule.p_values(evidence)[0] < 0.05))
        found["bic"].append(bool(BIC().strengths(evidence)[0] > 0))
    return {name: float(np.mean(values)) for name, values in found.items()}


@pytest.mark.parametrize(
    "law",
    [
        lambda x, y, rng: np.clip(rng.lognormal(-1.5, 0.8, len(x)), 0, 1),
        lambda x, y, rng: np.where(x, 0.2, 0.9),
        lambda x, y, rng: np.where(x ^ y, 0.9, 0.25),
    ],
    ids=["by chance", "by x", "by x and y together"],
)
def test_selection_by_the_columns_themselves_is_no_dependence(law):
    rates = false_positives(law, 600, 120)
    # 120 draws at .05: 3 standard errors are .06.
    assert rates["permutation"] < 0.11
    assert rates["chi-squared"] < 0.11
    assert rates["bic"] < 0.05


def test_weights_undo_selection():
    """Where rows were selected by x and y, unweighted rows relate them; the population does not."""
    rng = np.random.default_rng(12)
    x, y = rng.random((2, 20000)) < np.array([[0.3], [0.4]])
    chance = np.where(x ^ y, 0.9, 0.25)
    kept = rng.random(20000) < chance
    data = {"x": x[kept], "y": y[kept], "z": rng.random(int(kept.sum())) < 0.5}
    assert len(fitted(data).edges) == 1
    assert len(fitted(data, 1 / chance[kept]).edges) == 0


# Moments.


def test_weighted_moments_are_numpys():
    rng = np.random.default_rng(13)
    numbers = rng.normal(size=(3, 50)) + np.array([[1e6], [0], [5]])
    weights = rng.lognormal(size=50)
    table = quietly({name: numbers[k] for k, name in enumerate("xyz")}, continuous=True)
    source = weighted_gaussian(table, weights)
    wanted = GaussianInformation(
        "xyz", np.cov(numbers, aweights=weights, ddof=0), effective_rows(weights)
    )
    contexts = [Context(0, ()), Context(1, (0, 2))]
    np.testing.assert_allclose(source.entropies(contexts), wanted.entropies(contexts), rtol=1e-9)
    assert source.n_rows == wanted.n_rows


def test_measurements_with_survey_weights_are_learned_from_their_moments():
    rng = np.random.default_rng(14)
    x = rng.normal(size=800)
    data = {"x": x, "y": 2 * x + rng.normal(size=800), "z": rng.normal(size=800)}
    weights = rng.lognormal(sigma=0.5, size=800)
    result = fitted(data, weights)
    assert result.settings["information"] == "gaussian"
    assert {frozenset((e.parent, e.child)) for e in result.edges} == {frozenset("xy")}
    turn = rng.permutation(800)
    other = fitted({name: data[name][turn] for name in data}, weights[turn])
    assert other.entropies == result.entropies
