"""Whole numbers under a linear model: probabilities, and fair ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tables import table_of
from tamis.information.lattice import (
    RESOLUTION,
    _any_law,
    _likelihood,
    _normal,
    lattice_likelihood,
)


def sums(n: int = 1000, seed: int = 0) -> np.ndarray:
    """c is a plus b plus a coin."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 6, (2, n))
    return np.column_stack([a, b, a + b + (rng.random(n) < 0.2)])


def test_the_masses_of_the_normal_law_add_up_to_one():
    for spread in (0.1, 0.7, 3.0):
        for shift in (0.0, 0.3, 0.5):
            values = np.arange(-60, 61) + shift
            masses = [math.exp(_likelihood(np.array([v]), np.array([1]), spread)) for v in values]
            assert sum(masses) == pytest.approx(1, abs=1e-9)


def test_where_the_numbers_begin_makes_no_difference():
    parents = {0: (), 1: (), 2: (0, 1)}
    values = sums()
    shifted = values + np.array([5, -3, 1000])
    assert lattice_likelihood(table_of(shifted), parents) == pytest.approx(
        lattice_likelihood(table_of(values), parents)
    )


def test_the_true_parents_are_likelier_than_fewer():
    table = table_of(sums())
    true = lattice_likelihood(table, {0: (), 1: (), 2: (0, 1)})
    assert true > lattice_likelihood(table, {0: (), 1: (), 2: (0,)}) + 100
    assert true > lattice_likelihood(table, {0: (), 1: (), 2: ()}) + 100


def test_a_coin_around_a_rounded_prediction_is_found_out():
    rng = np.random.default_rng(1)
    heads = int((rng.random(4000) < 0.2).sum())
    share, rows = heads / 4000, np.array([4000 - heads, heads])
    residuals = np.round(np.array([-share, 1 - share]) * RESOLUTION).astype(int)
    entropy = -4000 * sum(p * math.log(p) for p in (share, 1 - share))
    any_law = _any_law(np.array([0, 1]), rows)
    assert any_law > _normal(residuals, rows)
    assert any_law == pytest.approx(-entropy, abs=10)


def test_a_constant_column_costs_nothing():
    values = sums()
    values[:, 1] = 7
    table = table_of(values)
    with_it = lattice_likelihood(table, {0: (), 1: (), 2: (0,)})
    assert with_it == pytest.approx(lattice_likelihood(table, {0: (), 2: (0,)}))
