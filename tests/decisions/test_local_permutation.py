"""The rule that judges a gain by its shuffled twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from tamis.decisions.p_values import LocalPermutation
from tamis.information.interface import Query
from tamis.information.neighbours import NeighbourInformation
from tamis.information.null_laws import ShuffleTests
from tamis.tables import read_table

QUERY = [Query(0, (2,), np.array([1]))]


def evidence(gain: list[float], mean: float, variance: float, shuffles: int) -> ShuffleTests:
    stats = np.tile([mean, variance, shuffles - 1.0], (len(gain), 1))
    return ShuffleTests(np.array(gain), stats=stats, n_rows=100.0)


@pytest.mark.parametrize("shuffles", [2, 20, 200])
def test_the_p_value_is_that_of_one_more_draw_beside_the_shuffles(shuffles):
    rng = np.random.default_rng(1)
    null, gain = rng.normal(0.01, 0.02, shuffles), 0.05
    found = LocalPermutation().p_values(evidence([gain], null.mean(), null.var(ddof=1), shuffles))[
        0
    ]
    # The two-sample t test with a sample of one is the same statement.
    spread = null.std(ddof=1) * math.sqrt(1 + 1 / shuffles)
    assert found == pytest.approx(stats.t.sf((gain - null.mean()) / spread, shuffles - 1))


def test_gaussian_gains_that_are_only_noise_give_uniform_p_values():
    rng = np.random.default_rng(2)
    p = []
    for _ in range(2000):
        null = rng.normal(size=8)
        p.append(
            LocalPermutation().p_values(evidence([rng.normal()], null.mean(), null.var(ddof=1), 8))[
                0
            ]
        )
    assert stats.kstest(p, "uniform").pvalue > 0.01


def test_larger_gains_speak_louder_and_fewer_shuffles_less_loudly():
    rule = LocalPermutation()
    scores = rule.strengths(evidence([-0.1, 0.0, 0.1, 5.0], 0.0, 0.01, 20))
    assert (np.diff(scores) > 0).all()
    assert np.isfinite(scores).all()
    assert rule.strengths(evidence([0.5], 0.0, 0.01, 10)) < rule.strengths(
        evidence([0.5], 0.0, 0.01, 50)
    )


def test_where_no_shuffle_changes_anything_nothing_is_said():
    assert LocalPermutation().p_values(evidence([0.0, 1.0], 0.0, 0.0, 1)).tolist() == [1.0, 1.0]


def numbers(seed: int, n: int = 120) -> np.ndarray:
    rng = np.random.default_rng(seed)
    s = rng.normal(size=n)
    return np.column_stack([np.sin(2 * s), s**2, s]) + rng.normal(size=(n, 3)) * [1, 1, 0]


def shares(dependent: float, level: float, n: int = 120, reps: int = 150) -> float:
    found = []
    for seed in range(reps):
        rows = numbers(seed, n)
        rows[:, 1] += dependent * (rows[:, 0] - np.sin(2 * rows[:, 2]))
        information = NeighbourInformation.from_table(
            read_table(rows, continuous=True), k=10, shuffles=15, seed=seed, n_jobs=1
        )
        found.append(LocalPermutation().p_values(information.tests(QUERY))[0])
    return float(np.mean(np.array(found) < level))


def test_confounded_columns_are_called_independent_at_about_the_level_promised():
    # 150 tests at .1: four standard errors are .1, and none found would be a failure too.
    assert 0.02 < shares(0.0, 0.1) < 0.2


def test_dependence_beyond_the_confounder_is_found():
    assert shares(1.5, 0.05, reps=30) > 0.8
