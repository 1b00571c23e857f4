"""Continuous rows have the moments of their models."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tamis.errors import SettingError
from tamis.simulate.graphs import er
from tamis.simulate.models import gaussian, nonlinear, unfaithful
from tamis.simulate.models.numbers import Curve

GRAPH = er(9, edges=14, seed=3)
N = 100_000


def rows_of(model, n=N, seed=5):
    return np.array(list(model.sample(n, seed=seed).values()))


def agrees(found, expected, n):
    """Each covariance within 4.5 of its standard errors."""
    spread = np.diag(expected)
    error = np.sqrt((np.outer(spread, spread) + expected**2) / n)
    return bool((np.abs(found - expected) < 4.5 * error).all())


@pytest.mark.parametrize("variances", [1.0, (0.3, 2.0)])
def test_the_covariance_is_the_closed_form(variances):
    model = gaussian(GRAPH, variances=variances, seed=4)
    weights = np.zeros((9, 9))
    for k, given in enumerate(GRAPH.parents):
        weights[k, list(given)] = model.beta[k]
    spread = np.linalg.inv(np.eye(9) - weights)
    expected = spread @ np.diag(model.variances) @ spread.T
    np.testing.assert_allclose(model.covariance(), expected, rtol=1e-10, atol=1e-12)
    rows = rows_of(model)
    assert agrees(np.cov(rows), expected, N)
    assert not agrees(np.cov(rows), 1.05 * expected, N)
    assert (np.abs(rows.mean(axis=1)) < 4.5 * np.sqrt(np.diag(expected) / N)).all()


def test_the_residuals_are_normal_and_independent_of_the_parents():
    model = gaussian(GRAPH, seed=4)
    rows = rows_of(model, 20_000)
    for k, given in enumerate(GRAPH.parents):
        rest = rows[k] - np.asarray(model.beta[k]) @ rows[list(given)]
        assert stats.kstest(rest, "norm").pvalue > 0.001
        assert all(stats.pearsonr(rest, rows[p]).pvalue > 0.001 for p in given)


def test_coefficients_and_variances_are_in_their_ranges():
    model = gaussian(GRAPH, coefficients=(0.5, 1.5), variances=(2, 3), seed=1)
    betas = [beta for given in model.beta for beta in given]
    assert all(0.5 <= abs(beta) <= 1.5 for beta in betas)
    assert {beta > 0 for beta in betas} == {True, False}
    assert all(2 <= variance <= 3 for variance in model.variances)
    assert set(gaussian(GRAPH, variances=2, seed=1).variances) == {2.0}


def test_the_unfaithful_example_has_the_numbers_of_the_paper():
    model = unfaithful()
    assert model.graph.edges == (("W", "X"), ("Z", "X"), ("Z", "Y"), ("X", "Y"))
    w, z, x, y = range(4)
    covariance = model.covariance()
    assert np.diag(covariance).tolist() == [0.5, 1.0, 1.25, 2.0]
    assert covariance[y, z] == 0
    assert (covariance[x, w], covariance[x, z], covariance[w, z]) == (0.5, 0.5, 0)
    assert agrees(np.cov(rows_of(model)), covariance, N)


def test_curves_are_what_they_say():
    curve = Curve((1.0, -0.5), (2.0, 1.0), (0.0, 1.0))
    x = np.linspace(-3, 3, 13)
    expected = 2 * x / np.sqrt(1 + 4 * x**2) - 0.5 * (x - 1) / np.sqrt(1 + (x - 1) ** 2)
    np.testing.assert_allclose(curve(x), expected, rtol=1e-14)


def test_what_the_curves_leave_is_normal_noise():
    model = nonlinear(GRAPH, terms=4, variances=(0.5, 2.0), seed=4)
    rows = rows_of(model, 20_000)
    for k, given in enumerate(GRAPH.parents):
        rest = rows[k] - sum(
            curve(rows[p]) for curve, p in zip(model.curves[k], given, strict=True)
        )
        assert stats.kstest(rest / np.sqrt(model.variances[k]), "norm").pvalue > 0.001


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (gaussian, {"coefficients": -1}, "coefficients must be a number above 0, or two"),
        (gaussian, {"variances": 0}, "variances must be a number above 0, or two of them"),
        (gaussian, {"variances": (2, 1)}, r"with the smaller first, not \(2, 1\)"),
        (nonlinear, {"terms": 0}, "terms must be a whole number from 1 on, not 0"),
        (nonlinear, {"weights": None}, "weights must be a number above 0, or two of them"),
        (nonlinear, {"variances": float("inf")}, "variances must be a number above 0"),
    ],
)
def test_options_that_make_no_model_are_refused(make, options, message):
    with pytest.raises(SettingError, match=message):
        make(GRAPH, **options, seed=1)
