"""The Gaussian copula: monotone dependence in any units."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tamis.decisions.p_values import FTest
from tamis.errors import TamisWarning
from tamis.information.continuous import column_entropy
from tamis.information.gaussian import GaussianInformation
from tamis.information.interface import Context, Query
from tamis.information.ranked import CopulaInformation
from tamis.tables import read_table


def numbers(seed: int, n: int = 300, d: int = 4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d))


def source(rows: object, **options) -> CopulaInformation:
    return CopulaInformation.from_table(read_table(rows, continuous=True), **options)


@given(st.integers(0, 10**6), st.integers(0, 2))
def test_gains_are_those_of_the_moments_of_normal_scores(seed, size):
    rows = numbers(seed, n=50)
    scores = stats.norm.ppf((stats.rankdata(rows, axis=0) - 0.5) / len(rows))
    plain = GaussianInformation.from_table(read_table(scores, continuous=True))
    context = [Context(0, (1, 2)[:size])]
    assert source(rows).cmi(context) == pytest.approx(plain.cmi(context), abs=1e-10)


def test_monotone_transforms_change_no_gain_and_no_test():
    rows = numbers(1)
    bent = np.column_stack([np.exp(rows[:, 0]), rows[:, 1] ** 3, -rows[:, 2], rows[:, 3]])
    contexts = [Context(0, ()), Context(1, (2, 3))]
    one, other = source(rows), source(bent)
    assert one.cmi(contexts) == pytest.approx(other.cmi(contexts), abs=1e-10)
    query = [Query(0, (2,), np.array([1, 3]))]
    assert FTest().p_values(one.tests(query)) == pytest.approx(
        FTest().p_values(other.tests(query)), rel=1e-6
    )


@pytest.mark.parametrize("given", [(), (1,), (1, 3)])
def test_an_entropy_is_that_of_the_column_less_what_the_copula_tells(given):
    rows = np.exp(numbers(2))
    information = source(rows)
    told = sum(
        information.cmi([Context(0, given[:i])])[0, member] for i, member in enumerate(given)
    )
    own = column_entropy(rows[:, 0])
    assert information.entropies([Context(0, given)])[0] == pytest.approx(own - told, abs=1e-9)
    in_thousandths = source(rows * [1000, 1, 1, 1]).entropies([Context(0, given)])[0]
    assert in_thousandths == pytest.approx(own - told + math.log(1000), abs=1e-9)


def test_the_order_of_entropies_is_that_of_the_columns_and_not_of_their_scores():
    rng = np.random.default_rng(3)
    rows = np.column_stack(
        [rng.uniform(0, 2, 2000), rng.normal(size=2000), rng.exponential(size=2000)]
    )
    expected = [math.log(2), 0.5 * math.log(2 * math.pi * math.e), 1.0]
    found = source(rows).entropies([Context(k, ()) for k in range(3)])
    assert found == pytest.approx(expected, abs=0.08)


def test_for_gaussian_columns_it_agrees_with_their_moments():
    rows = numbers(4, n=4000)
    contexts = [Context(0, ()), Context(0, (1,)), Context(2, (0, 3))]
    plain = GaussianInformation.from_table(read_table(rows, continuous=True))
    # Ranks cost a little: strong correlations are seen a little smaller.
    assert source(rows).cmi(contexts) == pytest.approx(plain.cmi(contexts), rel=0.1, abs=0.02)
    assert source(rows).entropies(contexts) == pytest.approx(plain.entropies(contexts), abs=0.15)


def test_symmetric_dependence_is_not_seen():
    rows = np.random.default_rng(5).normal(size=(2000, 2))
    rows[:, 1] += rows[:, 0] ** 2
    assert source(rows).cmi([Context(0, ())])[0, 1] < 0.01


def test_tied_values_share_a_rank_and_are_announced():
    table = pd.DataFrame(numbers(6), columns=list("abcd"))
    table["b"] = table["b"].round()
    with pytest.warns(TamisWarning, match=r"share their values: 'b' \(\d+%\)"):
        one = source(table)
    swapped = table.iloc[np.random.default_rng(0).permutation(len(table))]
    with pytest.warns(TamisWarning, match="'b'"):
        other = source(swapped)
    context = [Context(0, (2,))]
    assert one.cmi(context) == pytest.approx(other.cmi(context), abs=1e-10)
