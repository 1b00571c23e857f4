"""Cut into levels, a Gaussian table has a known joint distribution: the exact source and the
counted one must agree on it, and neither can know more than the uncut columns do."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

import tamis
from tamis.information.counted import CountedInformation
from tamis.information.exact import JointInformation
from tamis.information.gaussian import GaussianInformation
from tamis.information.interface import Context
from tamis.tables import read_table

COVARIANCE = np.array([[1.0, 0.6, 0.3], [0.6, 1.0, 0.5], [0.3, 0.5, 1.0]])
CONTEXTS = [Context(0, ()), Context(1, ()), Context(2, (1,)), Context(0, (1,))]


def cut_joint(covariance: np.ndarray, bins: int) -> np.ndarray:
    """The probabilities of the cells between the quantiles, by inclusion and exclusion."""
    edges = np.clip(norm.ppf(np.linspace(0, 1, bins + 1)), -8, 8)
    d = len(covariance)
    below = np.zeros((bins + 1,) * d)
    for corner in product(range(1, bins + 1), repeat=d):
        below[corner] = multivariate_normal.cdf(
            edges[list(corner)], cov=covariance, abseps=1e-5, releps=1e-5
        )
    for axis in range(d):
        below = np.diff(below, axis=axis)
    return np.maximum(below, 0.0)


def test_counts_of_cut_columns_agree_with_their_exact_distribution():
    exact = JointInformation("abc", cut_joint(COVARIANCE, 3))
    rng = np.random.default_rng(0)
    rows = rng.multivariate_normal(np.zeros(3), COVARIANCE, 60_000)
    levels, record = tamis.discretize(dict(zip("abc", rows.T, strict=True)), bins=3)
    assert all(len(set(column)) == 3 for column in levels.values())
    counted = CountedInformation(read_table(levels))
    assert counted.entropies(CONTEXTS) == pytest.approx(exact.entropies(CONTEXTS), abs=0.01)
    assert counted.cmi(CONTEXTS) == pytest.approx(exact.cmi(CONTEXTS), abs=0.006)
    assert record is not None


def test_cutting_loses_information_and_less_the_finer_it_is():
    whole = GaussianInformation("ab", COVARIANCE[:2, :2], 1000).cmi([Context(0, ())])[0, 1]
    cut = [
        JointInformation("ab", cut_joint(COVARIANCE[:2, :2], bins)).cmi([Context(0, ())])[0, 1]
        for bins in (2, 3, 5, 9)
    ]
    assert cut == sorted(cut)
    assert cut[0] < 0.7 * whole
    assert 0.85 * whole < cut[-1] < whole


def test_the_same_graph_comes_from_exact_counted_and_gaussian_information():
    """A chain whose noise grows: the order is in the entropies, cut or not."""
    rng = np.random.default_rng(1)
    a = rng.normal(size=20_000)
    b = a + 1.2 * rng.normal(size=20_000)
    c = b + 1.5 * rng.normal(size=20_000)
    columns = {"a": a, "b": b, "c": c}
    whole = tamis.TAM("sequential", information="gaussian").fit(columns)
    assert set(whole.graph_.edges) == {("a", "b"), ("b", "c")}
    # Equal bins for all columns, so that a wider column falls into more of them.
    step = {name: np.round(column).astype(int).clip(-6, 6) for name, column in columns.items()}
    counted = tamis.TAM("sequential", information="counts").fit(step)
    assert set(counted.graph_.edges) == {("a", "b"), ("b", "c")}
