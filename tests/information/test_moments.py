"""Moments by blocks of rows are those of all rows; the shrinkage that rows suggest."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tamis import TAM
from tamis.errors import DataError, SettingError
from tamis.information.gaussian import GaussianInformation
from tamis.information.interface import Context
from tamis.tables import moments as moments_file
from tamis.tables import read_table
from tamis.tables.moments import Moments


def correlated(seed: int, d: int, n: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(d, d)) @ rng.normal(size=(d, n))


def close(found: np.ndarray, expected: np.ndarray, tolerance: float = 1e-12) -> bool:
    """Relative to the product of the two spreads, as covariances are."""
    scale = np.sqrt(expected.diagonal())
    return bool((np.abs(found - expected) <= tolerance * np.outer(scale, scale)).all())


@given(
    seed=st.integers(0, 10**6),
    d=st.integers(1, 4),
    n=st.integers(2, 60),
    cuts=st.lists(st.integers(0, 60), max_size=8),
    offset=st.sampled_from([0.0, 1.0, -1e4, 1e8]),
    unit=st.sampled_from([1.0, 1e-3, 1e5]),
)
def test_any_split_into_blocks_gives_the_covariance_of_all_rows(seed, d, n, cuts, offset, unit):
    values = unit * correlated(seed, d, n) + offset
    edges = [0, *sorted(min(cut, n) for cut in cuts), n]
    found = Moments.of(values[:, :0])
    for start, stop in pairwise(edges):
        found = found.merge(Moments.of(values[:, start:stop]))
    # A span of a few floats counts as rounding.
    assume(bool(found.varies.all()))
    # Far from 0 numpy's own mean is rounded; the first row taken off, it is not.
    expected = np.atleast_2d(np.cov(values - values[:, :1], bias=True))
    assert found.count == n
    assert close(found.covariance, expected)
    assert found.mean == pytest.approx(values.mean(axis=1), rel=1e-12)
    assert np.array_equal(found.low, values.min(axis=1))
    assert np.array_equal(found.high, values.max(axis=1))


def test_merging_does_not_depend_on_the_grouping_beyond_rounding():
    values = correlated(1, 3, 90) + 1e8
    a, b, c = (Moments.of(part) for part in np.split(values, 3, axis=1))
    assert close(a.merge(b).merge(c).covariance, a.merge(b.merge(c)).covariance)
    assert close(c.merge(a).merge(b).covariance, Moments.of(values).covariance)


def test_a_table_is_read_in_blocks(monkeypatch):
    rows = correlated(3, 4, 97).T
    table = read_table(np.column_stack([rows, np.arange(97) % 3]), continuous=True)
    whole = GaussianInformation.from_table(table, shrinkage="auto")
    monkeypatch.setattr(moments_file, "BLOCK_CELLS", 50)
    assert [block.shape for block in moments_file.blocks(table)][:2] == [(5, 10), (5, 10)]
    parts = GaussianInformation.from_table(table, shrinkage="auto")
    contexts = [Context(0, (1, 2)), Context(4, ())]
    assert parts.entropies(contexts) == pytest.approx(whole.entropies(contexts), rel=1e-12)
    assert parts.shrinkage == pytest.approx(whole.shrinkage, rel=1e-12)


def test_moments_are_enough_for_a_source():
    rows = correlated(4, 3, 200).T
    table = read_table(rows, continuous=True)
    one = GaussianInformation.from_table(table, shrinkage=0.2)
    other = GaussianInformation.from_moments(table.names, Moments.of(rows.T), shrinkage=0.2)
    contexts = [Context(0, (1,)), Context(2, (0, 1))]
    assert np.array_equal(one.entropies(contexts), other.entropies(contexts))
    assert (other.n_rows, other.shrinkage) == (200.0, 0.2)
    with pytest.raises(SettingError, match="number from 0 to 1, not 'auto'"):
        GaussianInformation.from_moments(table.names, Moments.of(rows.T), shrinkage="auto")


@pytest.mark.parametrize("value", [0.1, 1e8 + 0.1, -3.0, 0.0])
def test_what_rounding_leaves_of_a_constant_is_no_variance(value):
    values = np.full((2, 30), value)
    values[1] = np.random.default_rng(5).normal(size=30)
    values[0, ::3] = np.nextafter(value, 10) if value else 0.0
    found = Moments.of(values[:, :10]).merge(Moments.of(values[:, 10:]))
    assert found.varies.tolist() == [False, True]
    assert found.covariance[0].tolist() == [0.0, 0.0]


# Shrinkage


def naive_shrinkage(rows: np.ndarray) -> float:
    """Schäfer and Strimmer (2005), the formula for correlations, pair by pair."""
    n, d = rows.shape
    z = (rows - rows.mean(axis=0)) / rows.std(axis=0, ddof=1)
    variances = squares = 0.0
    for i in range(d):
        for j in range(d):
            if i != j:
                w = z[:, i] * z[:, j]
                variances += n / (n - 1) ** 3 * ((w - w.mean()) ** 2).sum()
                squares += (n / (n - 1) * w.mean()) ** 2
    return min(1.0, variances / squares)


@given(seed=st.integers(0, 10**6), d=st.integers(2, 6), n=st.integers(5, 60))
def test_the_rows_choose_the_shrinkage_of_the_article(seed, d, n):
    rows = correlated(seed, d, n).T * 3 + 100
    found = GaussianInformation.from_table(read_table(rows, continuous=True), shrinkage="auto")
    assert found.shrinkage == pytest.approx(naive_shrinkage(rows), rel=1e-9)


def test_chance_correlations_are_shrunk_more_than_true_ones():
    rng = np.random.default_rng(6)
    chance = rng.normal(size=(30, 10))
    one = np.repeat(rng.normal(size=(30, 1)), 10, axis=1) + 0.3 * rng.normal(size=(30, 10))
    weak, strong = (
        GaussianInformation.from_table(
            read_table(rows, continuous=True), shrinkage="auto"
        ).shrinkage
        for rows in (chance, one)
    )
    assert weak > 0.5
    assert strong < 0.1


def far_from_zero(offset):
    rng = np.random.default_rng(11)
    a = rng.normal(size=600)
    return {"a": offset + a, "b": offset + a + rng.normal(size=600)}


@pytest.mark.parametrize("offset", [1e9, 1e13, -1e14])
@pytest.mark.parametrize("information", ["auto", "gaussian", "conditional-gaussian"])
def test_dependence_far_from_zero_is_found_where_floats_still_hold_it(information, offset):
    model = TAM(information=information)
    near, far = model.fit(far_from_zero(0.0)).result_, model.fit(far_from_zero(offset)).result_
    assert far.parents == near.parents != {"a": (), "b": ()}
    assert list(far.entropies.values()) == pytest.approx(list(near.entropies.values()), abs=1e-3)


@pytest.mark.parametrize("information", ["auto", "gaussian", "copula", "neighbours", "mixed"])
def test_a_column_of_which_floats_hold_little_but_rounding_is_refused_by_name(information):
    with pytest.raises(DataError, match=r"Column 'a' goes from .* where floats are 0.12 apart"):
        TAM(information=information).fit(far_from_zero(1e15))


def test_whole_numbers_that_are_one_float_are_not_taken_for_a_constant():
    x = np.arange(200) % 4
    table = {"x": 10**17 + x, "y": (x + np.arange(200) % 3) % 4}
    with pytest.raises(
        DataError, match="Column 'x' holds whole numbers such as 100000000000000000"
    ):
        TAM(information="copula").fit(table)
    assert TAM().fit(table).result_.entropies["x"] > 0


def test_the_slope_on_a_column_far_from_zero_is_fitted():
    rng = np.random.default_rng(12)
    a = rng.normal(size=500)
    table = {"a": 1e13 + a, "b": 2 * a + rng.normal(size=500)}
    (edge,) = (
        TAM(information="gaussian", knowledge={"tiers": [["a"], ["b"]]}).fit(table).network_.edges
    )
    assert edge.coefficients[0].value == pytest.approx(2.0, abs=0.2)
