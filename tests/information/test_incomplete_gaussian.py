"""Moments of rows with missing values: maximum likelihood, and tests that count what is present."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import tamis
from tamis.errors import SettingError, TamisWarning
from tamis.information.gaussian import GaussianInformation
from tamis.information.incomplete import (
    IncompleteGaussian,
    enough_present,
    fit_moments,
    patterns_of,
)
from tamis.information.interface import Context, Group, Query
from tamis.tables import read_table
from tamis.tables.table import in_canonical_order


def drawn(seed: int, d: int = 4, n: int = 200, share: float = 0.2):
    """Dependent columns, and which of their values are present."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(d, d)) @ rng.normal(size=(d, n)) + rng.normal(size=(d, 1)) * 5
    present = rng.random((d, n)) >= share
    return values, present


def table_of(values, present, names=None, **more):
    names = names or [f"v{k}" for k in range(len(values))]
    data = dict(zip(names, np.where(present, values, np.nan), strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TamisWarning)
        return read_table(data, continuous=True, missing="pairwise", **more)


def source_of(values, present, **more):
    return IncompleteGaussian.from_table(in_canonical_order(table_of(values, present, **more)))


def log_likelihood(values, present, mean, covariance):
    """Row by row, of what is present."""
    total = 0.0
    for row, has in zip(values.T, present.T, strict=True):
        if has.any():
            apart = row[has] - mean[has]
            inside = covariance[np.ix_(has, has)]
            total -= 0.5 * np.linalg.slogdet(2 * np.pi * inside)[1]
            total -= 0.5 * apart @ np.linalg.solve(inside, apart)
    return total


def naive_em(values, present, steps):
    """Row by row, with the covariances of what is present."""
    d, n = values.shape
    mean = np.array([values[k, present[k]].mean() for k in range(d)])
    covariance = np.diag([values[k, present[k]].var() for k in range(d)])
    for _ in range(steps):
        filled, spread = np.empty((n, d)), np.zeros((d, d))
        for i, (row, has) in enumerate(zip(values.T, present.T, strict=True)):
            inside, across = covariance[np.ix_(has, has)], covariance[np.ix_(~has, has)]
            weights = np.linalg.solve(inside, across.T).T
            filled[i, has] = row[has]
            filled[i, ~has] = mean[~has] + weights @ (row[has] - mean[has])
            spread[np.ix_(~has, ~has)] += covariance[np.ix_(~has, ~has)] - weights @ across.T
        mean = filled.mean(axis=0)
        covariance = np.cov(filled.T, bias=True) + spread / n
    return mean, covariance


@pytest.mark.parametrize("seed", range(4))
def test_the_moments_are_the_most_likely_ones(seed):
    values, present = drawn(seed, d=3, n=60, share=0.3)
    found = fit_moments(values, present)
    lower = np.tril_indices(3)

    def unlikely(parameters):
        factor = np.zeros((3, 3))
        factor[lower] = parameters[3:]
        return -log_likelihood(values, present, parameters[:3], factor @ factor.T)

    start = np.concatenate([found.mean, np.linalg.cholesky(found.covariance)[lower]])
    best = minimize(unlikely, start + 0.05, method="BFGS", options={"gtol": 1e-7})
    assert unlikely(start) <= best.fun + 1e-8
    factor = np.zeros((3, 3))
    factor[lower] = best.x[3:]
    np.testing.assert_allclose(found.covariance, factor @ factor.T, atol=1e-3)
    np.testing.assert_allclose(found.mean, best.x[:3], atol=1e-3)


@settings(max_examples=8)
@given(seed=st.integers(0, 2**32 - 1), d=st.integers(2, 5), share=st.floats(0.05, 0.5))
def test_steps_by_pattern_are_those_by_row(seed, d, share):
    values, present = drawn(seed, d, 80, share)
    with warnings.catch_warnings():
        # Where columns are rarely seen together it may stop before it is there.
        warnings.simplefilter("ignore", TamisWarning)
        found = fit_moments(values, present)
    mean, covariance = naive_em(values, present, found.n_steps)
    scale = np.sqrt(np.outer(covariance.diagonal(), covariance.diagonal()))
    np.testing.assert_allclose(found.covariance / scale, covariance / scale, atol=1e-5)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-5, atol=1e-4)


def test_weights_of_rows_are_repetitions():
    values, present = drawn(5, n=50)
    often = np.random.default_rng(6).integers(1, 4, 50)
    repeated = fit_moments(np.repeat(values, often, 1), np.repeat(present, often, 1))
    weighted = fit_moments(values, present, often.astype(float))
    np.testing.assert_allclose(weighted.covariance, repeated.covariance, rtol=1e-9)


def test_complete_columns_have_their_own_moments():
    values, present = drawn(7)
    present[:2] = True
    found = fit_moments(values, present)
    np.testing.assert_allclose(found.covariance[:2, :2], np.cov(values[:2], bias=True), rtol=1e-6)


def test_patterns_put_rows_together():
    _, present = drawn(8, share=0.5)
    found = patterns_of(present)
    assert sorted(found.order.tolist()) == list(range(200))
    for p, own in enumerate(found.present):
        rows = found.order[found.starts[p] : found.starts[p + 1]]
        assert np.array_equal(present[:, rows].T, np.repeat(own[None], len(rows), 0))
    assert len({tuple(own) for own in found.present.tolist()}) == len(found.present)


def test_what_is_missing_at_random_does_not_bias():
    """Values are missing where another column is large: rows without missing values are biased."""
    rng = np.random.default_rng(9)
    a = rng.normal(size=20000)
    b = a + rng.normal(size=20000)
    present = np.array([np.ones(20000, dtype=bool), (a < 0) | (rng.random(20000) < 0.1)])
    found = fit_moments(np.array([a, b]), present)
    np.testing.assert_allclose(found.mean, [0, 0], atol=0.05)
    np.testing.assert_allclose(found.covariance, [[1, 1], [1, 2]], atol=0.1)
    whole = present.all(axis=0)
    assert abs(b[whole].mean()) > 0.4, "rows that have everything"


@given(seed=st.integers(0, 2**32 - 1))
def test_where_next_to_nothing_is_missing_it_is_the_source_of_complete_rows(seed):
    """A row without any value is no row to the moments, and takes part in no test."""
    values, present = drawn(seed, share=0.0)
    whole = GaussianInformation.from_table(table_of(values, present))
    more = np.concatenate([values, values[:, :1]], axis=1)
    flags = np.concatenate([present, np.zeros((4, 1), dtype=bool)], axis=1)
    source = source_of(more, flags)
    asked = [Context(0, ()), Context(1, (0,)), Context(2, (0, 1, 3))]
    # Of columns that nearly follow from others next to no variance is left, and few of its digits.
    left, expected = (np.exp(2.0 * one.entropies(asked)) for one in (source, whole))
    np.testing.assert_allclose(left, expected, rtol=2e-6, atol=1e-9)
    queries = [Query(0, (1,), np.array([2, 3])), Query(3, (), np.array([0, 1, 2]))]
    one, other = source.tests(queries), whole.tests(queries)
    np.testing.assert_allclose(one.cmi, other.cmi, atol=1e-6)
    np.testing.assert_allclose(one.n_rows, 200, rtol=1e-6)
    np.testing.assert_allclose(one.log_p, other.log_p, rtol=1e-4, atol=1e-4)


def test_profiles_tests_and_groups_agree():
    source = source_of(*drawn(11, d=5))
    profile = source.profiles([Context(0, (2, 4))])
    rows = source.as_tests(profile.cmi[0], profile.stats[0]).at(np.array([1, 3]))
    tests = source.tests([Query(0, (2, 4), np.array([1, 3]))])
    groups = source.joint_tests([Group(0, (2, 4), (1,)), Group(0, (2, 4), (3,))])
    for other in (rows, groups):
        np.testing.assert_allclose(tests.log_p, other.log_p, rtol=1e-9)
        np.testing.assert_allclose(tests.n_rows, other.n_rows)
        np.testing.assert_allclose(tests.penalised(), other.penalised(), rtol=1e-9)
    assert source.rows_behind(Group(0, (2, 4), (1,))) == round(tests.n_rows[0])
    assert (tests.n_rows < 200).all()


def test_two_columns_are_worth_the_rows_that_have_both():
    values, present = drawn(12, d=2, n=4000)
    values[1] = np.random.default_rng(0).normal(size=4000)
    source = source_of(values, present)
    both = int(present.all(axis=0).sum())
    assert source.rows_behind(Group(0, (), (1,))) == pytest.approx(both, rel=0.01)


def test_equivalent_graphs_score_alike():
    source = source_of(*drawn(13))
    chain = [Context(0, ()), Context(1, (0,)), Context(2, (1,))]
    turned = [Context(2, ()), Context(1, (2,)), Context(0, (1,))]
    fork = [Context(1, ()), Context(0, (1,)), Context(2, (1,))]
    scores = [source.penalised_likelihoods(dag).sum() for dag in (chain, turned, fork)]
    assert np.ptp(scores) < 1e-6


@pytest.mark.parametrize("law", ["at random", "by another column"])
def test_alpha_is_kept_to(law):
    """Two columns that are independent given a third."""
    rng = np.random.default_rng(14)
    below = 0
    for _ in range(400):
        s = rng.normal(size=300)
        values = np.array([s, s + rng.normal(size=300), s + rng.normal(size=300)])
        present = rng.random((3, 300)) >= (0.2 if law == "at random" else 0.4 * (s > 0))
        present[0] |= law != "at random"
        test = source_of(values, present).tests([Query(1, (0,), np.array([2]))])
        below += bool(test.log_p[0] < np.log(0.05))
    assert 0.025 <= below / 400 <= 0.085


def test_columns_that_are_hardly_ever_present_are_judged_by_their_own_rows():
    values, present = drawn(17)
    assert enough_present(table_of(values, present))
    present[0, 8:] = False
    assert not enough_present(table_of(values, present))
    result = fitted(values, present)
    assert result.settings["information"] == "gaussian"


def fitted(values, present, names=None, **options):
    names = names or [f"v{k}" for k in range(len(values))]
    data = dict(zip(names, np.where(present, values, np.nan), strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TamisWarning)
        return tamis.TAM(missing="pairwise", **options).fit(data).result_


def chain(seed: int, n: int = 400, share: float = 0.2):
    rng = np.random.default_rng(seed)
    values = np.empty((4, n))
    for k in range(4):
        values[k] = rng.normal(size=n) + (values[k - 1] if k else 0)
    return values * np.array([[2.0], [1.0], [0.3], [5.0]]), rng.random((4, n)) >= share


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=8)
def test_the_order_of_rows_and_columns_plays_no_part(seed):
    values, present = chain(seed, 150)
    names = ["a", "b", "c", "d"]
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(150), rng.permutation(4)
    one = fitted(values, present, names)
    other = fitted(values[columns][:, rows], present[columns][:, rows], [names[k] for k in columns])
    assert {name: set(one.parents[name]) for name in names} == {
        name: set(other.parents[name]) for name in names
    }
    assert {e.child: e.gain for e in one.edges} == {e.child: e.gain for e in other.edges}


@given(seed=st.integers(0, 2**32 - 1), mixed=st.booleans())
@settings(max_examples=8)
def test_without_missing_values_pairwise_is_the_plain_result(seed, mixed):
    values, _ = chain(seed, 150, share=0.0)
    data = dict(zip("abcd", values, strict=True))
    if mixed:
        data["b"] = np.where(values[1] > 0, "yes", "no")
    found = []
    for missing in ("error", "pairwise", "level"):
        result = tamis.TAM(missing=missing).fit(data).result_
        found.append((result.edges, result.entropies, result.trace, result.warnings))
    assert found[0] == found[1] == found[2]


def test_weights_and_missing_values_go_together():
    values, present = chain(18, 500)
    data = dict(zip("abcd", np.where(present, values, np.nan), strict=True))
    weights = np.random.default_rng(1).uniform(0.5, 1.5, 500)
    model = tamis.TAM(missing="pairwise").fit(data, sample_weight=weights)
    pairs = {frozenset((e.parent, e.child)) for e in model.result_.edges}
    assert pairs == {frozenset("ab"), frozenset("bc"), frozenset("cd")}
    assert all(v.n_rows <= 500 for v in model.result_.trace.verdicts())
    data["b"] = np.where(values[1] > 0, "yes", "no")
    with pytest.raises(SettingError, match="survey weights"):
        tamis.TAM(missing="pairwise").fit(data, sample_weight=weights)
