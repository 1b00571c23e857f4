"""The price of a table: against all tables, and the same for equivalent graphs."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import xlogy

from tables import rows, table_of
from tamis.counting.counts import n_log_n
from tamis.information.counted import CountedInformation
from tamis.information.interface import Context
from tamis.information.regret import MOST_LEVELS, _limit, _regrets, log_regret, price


def tables_of(n: int, r: int) -> list[tuple[int, ...]]:
    """All ways to spread n rows over r levels."""
    return [counts for counts in product(range(n + 1), repeat=r) if sum(counts) == n]


@pytest.mark.parametrize(("n", "r"), [(1, 2), (4, 2), (7, 2), (5, 3), (3, 4), (6, 4), (2, 5)])
def test_the_regret_adds_the_largest_likelihood_of_every_table(n, r):
    total = 0.0
    for counts in tables_of(n, r):
        ways = math.factorial(n) / math.prod(math.factorial(c) for c in counts)
        total += ways * math.prod((c / n) ** c for c in counts)
    assert log_regret(r, n) == pytest.approx(math.log(total), rel=1e-12)


def test_one_level_costs_nothing_and_no_state_is_free():
    assert log_regret(1, 100) == 0.0
    assert price(1, 5, 100) == 0.0
    assert 0 < price(2, 1, 100) < price(2, 2, 100) < price(2, 4, 100)


def test_the_expansions_meet_the_exact_values():
    # Past 1000 rows C(2, n) is an expansion; past 2^16 levels C(r, n) is its limit.
    assert log_regret(2, 1001) == pytest.approx(
        log_regret(2, 1000) + 0.5 * math.log(1.001), abs=1e-4
    )
    for n in (100, 4000):
        exact = _regrets(n, MOST_LEVELS)[MOST_LEVELS]
        assert _limit(MOST_LEVELS, n) == pytest.approx(exact, rel=2e-6 if n == 4000 else 1e-5)


def test_the_price_never_exceeds_what_the_rows_could_tell():
    for n in (50, 4000):
        for states in (1e3, 1e6, 1e12):
            assert price(3, states, n) <= n * math.log(3) + 1e-6 * n


@given(table=rows(columns=(3, 3), length=(5, 80), levels=3))
def test_equivalent_graphs_have_the_same_score(table):
    information = CountedInformation(table_of(table))

    def score(*contexts: tuple[int, tuple[int, ...]]) -> float:
        return float(information.penalised_likelihoods([Context(*c) for c in contexts]).sum())

    forth = score((0, ()), (1, (0,)), (2, (1,)))
    back = score((2, ()), (1, (2,)), (0, (1,)))
    fork = score((1, ()), (0, (1,)), (2, (1,)))
    assert forth == pytest.approx(back) == pytest.approx(fork)


@given(table=rows(columns=(3, 5), length=(20, 200)), turned=st.permutations(range(5)))
def test_the_score_is_the_same_to_the_bit_whatever_the_order_of_levels(table, turned):
    contexts = [Context(0, ()), Context(0, (1,)), Context(2, (0, 1)), Context(1, (0, 2))]
    source = CountedInformation(table_of(table), n_jobs=1)
    other = CountedInformation(table_of(np.array([*turned, *range(5, 99)])[table]), n_jobs=1)
    found = (one.penalised_likelihoods(contexts) for one in (source, other))
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("n", [0, 1, 2, 5000, 50_000_000])
def test_n_log_n_is_rounded_so_finely_that_nobody_sees_it(n):
    counts = np.unique(np.geomspace(1, n, 99).astype(int)) if n else np.zeros(1, dtype=int)
    assert np.abs(n_log_n(counts, n) - xlogy(counts, counts)).max() < 2e-7


def test_the_likelihood_is_that_of_the_counts():
    values = np.array([[0, 0], [0, 1], [0, 1], [1, 0], [1, 0], [1, 0]])
    information = CountedInformation(table_of(values))
    found = information.penalised_likelihoods([Context(1, (0,))])[0]
    expected = math.log(1 / 3) + 2 * math.log(2 / 3)  # the second stratum is certain
    assert found == pytest.approx(expected - price(2, 2, 6))


def test_the_price_of_countless_states_is_that_of_telling_every_row():
    for states in (2.0**58, 2.0**100, 1e200):
        assert price(2, states, 100) == pytest.approx(100 * math.log(2), rel=1e-3)
