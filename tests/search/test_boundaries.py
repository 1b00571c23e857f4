"""Offering newcomers one batch after another is PPS from nothing after each batch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tables import rows, table_of
from tamis.information.counted import CountedInformation
from tamis.information.interface import Interaction
from tamis.rules import BIC, ChiSquared, Fixed, Permutation
from tamis.search.greedy import GreedyBoundaries
from tamis.search.look_ahead import InteractingBoundaries
from tamis.search.pps import possible_parents

RULES = [Fixed(0.0), Fixed(0.02), ChiSquared(0.2), Permutation(0.3), BIC()]


def batches_of(data: st.DataObject, d: int) -> list[list[int]]:
    """All columns in some order, offered some at a time."""
    order = data.draw(st.permutations(range(d)))
    cuts = sorted(data.draw(st.lists(st.integers(1, d - 1), max_size=d)))
    return [order[a:b] for a, b in zip([0, *cuts], [*cuts, d], strict=True)]


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("first_come", [False, True], ids=["by position", "first come"])
@settings(max_examples=10, deadline=None)
@given(data=st.data(), table=rows(columns=(4, 7), length=(20, 150), levels=3))
def test_incremental_search_equals_pps_from_nothing(rule, first_come, data, table):
    information = CountedInformation(table_of(table))
    max_boundary = data.draw(st.sampled_from([None, 0, 1, 2]))
    growing = GreedyBoundaries(
        information, rule, inclusive=first_come, max_boundary=max_boundary, first_come=first_come
    )
    admitted: list[int] = []
    for batch in batches_of(data, table.shape[1]):
        for k in batch:
            expected = possible_parents(
                information,
                k,
                admitted if first_come else sorted(admitted),
                rule,
                inclusive=first_come,
                max_boundary=max_boundary,
            )
            assert growing.given(k) == tuple(sorted(expected.members))
            assert growing.close(k) == expected
        growing.offer(batch)
        admitted += batch


@st.composite
def made_interactions(draw: st.DrawFn, d: int) -> list[list[Interaction]]:
    """Sets of two to four others for each column, strongest first, whatever the data say."""
    listed = []
    for k in range(d):
        others = [j for j in range(d) if j != k]
        sets = st.sets(st.sampled_from(others), min_size=2, max_size=4).map(sorted).map(tuple)
        chosen = draw(st.lists(sets, max_size=8, unique=True))
        listed.append([Interaction(9.0 - i, members) for i, members in enumerate(chosen)])
    return listed


@pytest.mark.parametrize("rule", RULES, ids=repr)
@settings(max_examples=15, deadline=None)
@given(data=st.data(), table=rows(columns=(5, 8), length=(20, 150), levels=3))
def test_incremental_look_ahead_equals_pps_from_nothing(rule, data, table):
    d = table.shape[1]
    information = CountedInformation(table_of(table))
    max_boundary = data.draw(st.sampled_from([None, 0, 1, 2, 3]))
    interactions = data.draw(made_interactions(d))
    growing = InteractingBoundaries(information, rule, interactions, max_boundary=max_boundary)
    admitted: list[int] = []
    for batch in batches_of(data, d):
        for k in batch:
            expected = possible_parents(
                information,
                k,
                sorted(admitted),
                rule,
                max_boundary=max_boundary,
                interactions=interactions[k],
            )
            assert growing.given(k) == tuple(sorted(expected.members))
            assert growing.close(k) == expected
        growing.offer(batch)
        admitted += batch


def test_a_newcomer_may_displace_what_was_taken_before_it():
    # x0 -> x1 -> x2: offered x0 first, x2 takes it; once x1 comes, x0 has nothing to add.
    rng = np.random.default_rng(3)
    x0 = rng.random(4000) < 0.5
    x1 = x0 ^ (rng.random(4000) < 0.1)
    x2 = x1 ^ (rng.random(4000) < 0.1)
    information = CountedInformation(table_of(np.stack([x0, x1, x2], axis=1).astype(int)))
    growing = GreedyBoundaries(information, Permutation(0.001))
    growing.close(0)
    growing.offer([0])
    assert growing.given(2) == (0,)
    growing.close(1)
    growing.offer([1])
    assert growing.given(2) == (1,)


def test_entropies_follow_the_boundaries():
    rng = np.random.default_rng(4)
    x = rng.integers(0, 2, 1000)
    y = np.where(rng.random(1000) < 0.2, 1 - x, x)
    information = CountedInformation(table_of(np.stack([x, y], axis=1)), "plugin")
    growing = GreedyBoundaries(information, Fixed(0.01))
    alone = growing.entropies[1]
    growing.close(0)
    growing.offer([0])
    assert np.isinf(growing.entropies[0])
    assert growing.entropies[1] < alone


def parity(n: int = 2000) -> CountedInformation:
    """x0, x1 and x2 are coins; x3 is mostly the parity of the first two."""
    rng = np.random.default_rng(5)
    coins = rng.integers(0, 2, (n, 3))
    x3 = (coins[:, 0] + coins[:, 1] + (rng.random(n) < 0.1)) % 2
    return CountedInformation(table_of(np.column_stack([coins, x3])))


def test_a_pair_is_found_where_no_single_parent_shows():
    rule, information = Permutation(0.001), parity()
    alone = possible_parents(information, 3, [0, 1, 2], rule)
    sets = information.interactions(2)[3]
    ahead = possible_parents(information, 3, [0, 1, 2], rule, interactions=sets)
    assert alone.members == ()
    assert ahead.members == (0, 1)
    assert ahead.taken[0].others == (0, 1)
    assert ahead.entropy < alone.entropy


def test_the_pair_is_judged_as_the_best_of_all_pairs():
    information = parity()
    found = possible_parents(
        information, 3, [0, 1, 2], Permutation(0.03), interactions=information.interactions(2)[3]
    )
    assert np.exp(-found.taken[0].bar) == pytest.approx(0.03 / 3)


def test_a_pair_displaces_a_pair_and_gives_way_to_a_single_candidate():
    rng = np.random.default_rng(6)
    a, b = rng.integers(0, 2, (2, 3000))
    noisy = (a + (rng.random(3000) < 0.2)) % 2
    y = (a + b + (rng.random(3000) < 0.1)) % 2
    direct = (y + (rng.random(3000) < 0.05)) % 2
    information = CountedInformation(table_of(np.column_stack([noisy, b, a, direct, y])))
    growing = InteractingBoundaries(information, Permutation(0.001), information.interactions(2))
    for newcomer, expected in ((0, ()), (1, (0, 1)), (2, (1, 2)), (3, (1, 2, 3))):
        growing.close(newcomer)
        growing.offer([newcomer])
        assert growing.given(4) == expected
    closed = growing.close(4)
    assert closed.taken[0].others == (3,)
