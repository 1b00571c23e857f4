"""Offering newcomers one batch after another is PPS from nothing after each batch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twin import grown, or_equal, strictly

from tables import rows, table_of
from tamis.information.counted import CountedInformation
from tamis.information.interface import Interaction
from tamis.knowledge import Constraints, as_bits
from tamis.rules import BIC, ChiSquared, Fixed, Permutation
from tamis.search.boundaries import GrownBoundaries
from tamis.search.pps import PPS
from tamis.search.selection import Selector

RULES = [Fixed(0.0), Fixed(0.02), ChiSquared(0.2), Permutation(0.3), BIC()]


def batches_of(data: st.DataObject, d: int) -> list[list[int]]:
    """All columns in some order, offered some at a time."""
    order = data.draw(st.permutations(range(d)))
    cuts = sorted(data.draw(st.lists(st.integers(1, d - 1), max_size=d)))
    return [order[a:b] for a, b in zip([0, *cuts], [*cuts, d], strict=True)]


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("first_come", [False, True], ids=["by position", "first come"])
@settings(max_examples=10)
@given(data=st.data(), table=rows(columns=(4, 7), length=(20, 150), levels=3))
def test_offered_newcomers_are_taken_as_pps_takes_them_from_nothing(rule, first_come, data, table):
    information = CountedInformation(table_of(table))
    room = data.draw(st.sampled_from([None, 0, 1, 2]))
    pps = PPS(information, rule, max_boundary=room, inclusive=first_come)
    growing = GrownBoundaries(information, pps, first_come=first_come)
    admitted: list[int] = []
    for batch in batches_of(data, table.shape[1]):
        candidates = admitted if first_come else sorted(admitted)
        passes = or_equal if first_come else strictly
        for k in batch:
            expected = grown(information, k, candidates, rule, passes=passes, max_boundary=room)
            assert growing.given(k) == tuple(sorted(expected.members))
            assert growing.close([k]) == [expected]
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
@given(data=st.data(), table=rows(columns=(5, 8), length=(20, 150), levels=3))
def test_offered_newcomers_are_tried_in_sets_as_pps_tries_them_from_nothing(rule, data, table):
    d = table.shape[1]
    information = CountedInformation(table_of(table))
    room = data.draw(st.sampled_from([None, 0, 1, 2, 3]))
    sets = data.draw(made_interactions(d))
    growing = GrownBoundaries(information, PPS(information, rule, sets, max_boundary=room))
    admitted: list[int] = []
    for batch in batches_of(data, d):
        for k in batch:
            expected = grown(
                information, k, sorted(admitted), rule, max_boundary=room, interactions=sets[k]
            )
            assert growing.given(k) == tuple(sorted(expected.members))
            assert growing.close([k]) == [expected]
        growing.offer(batch)
        admitted += batch


@pytest.mark.parametrize("rule", RULES, ids=repr)
@given(data=st.data(), table=rows(columns=(5, 8), length=(20, 150), levels=3))
def test_required_and_blocked_candidates_are_what_pps_begins_with_and_leaves_out(rule, data, table):
    d = table.shape[1]
    information = CountedInformation(table_of(table))
    some = st.frozensets(st.integers(0, d - 1), max_size=3)
    blocked = [data.draw(some) for _ in range(d)]
    required = {
        k: tuple(sorted(parents))
        for k in range(d)
        if (parents := data.draw(some) - blocked[k] - {k}) and data.draw(st.booleans())
    }
    sets = data.draw(st.none() | made_interactions(d))
    bits = tuple(as_bits(one) for one in blocked)
    constraints = Constraints(required, bits, (0,) * d)
    growing = GrownBoundaries(information, PPS(information, rule, sets, constraints=constraints))
    admitted: list[int] = []
    for batch in batches_of(data, d):
        for k in batch:
            expected = grown(
                information,
                k,
                sorted(admitted),
                rule,
                interactions=() if sets is None else sets[k],
                required=required.get(k, ()),
                blocked=blocked[k],
            )
            assert growing.close([k]) == [expected]
        growing.offer(batch)
        admitted += batch


def test_a_newcomer_may_displace_what_was_taken_before_it():
    # x0 -> x1 -> x2: offered x0 first, x2 takes it; once x1 comes, x0 has nothing to add.
    rng = np.random.default_rng(3)
    x0 = rng.random(4000) < 0.5
    x1 = x0 ^ (rng.random(4000) < 0.1)
    x2 = x1 ^ (rng.random(4000) < 0.1)
    information = CountedInformation(table_of(np.stack([x0, x1, x2], axis=1).astype(int)))
    growing = GrownBoundaries(information, PPS(information, Permutation(0.001)))
    growing.close([0])
    growing.offer([0])
    assert growing.given(2) == (0,)
    growing.close([1])
    growing.offer([1])
    assert growing.given(2) == (1,)


def test_entropies_follow_the_boundaries():
    rng = np.random.default_rng(4)
    x = rng.integers(0, 2, 1000)
    y = np.where(rng.random(1000) < 0.2, 1 - x, x)
    information = CountedInformation(table_of(np.stack([x, y], axis=1)), "plugin")
    growing = GrownBoundaries(information, PPS(information, Fixed(0.01)))
    alone = growing.entropies[1]
    growing.close([0])
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
    everyone = [0, 1, 2]
    alone = Selector(PPS(information, rule)).boundary(3, everyone)
    ahead = Selector(PPS(information, rule, information.interactions(2))).boundary(3, everyone)
    assert alone.members == ()
    assert ahead.members == (0, 1)
    assert ahead.taken[0].others == (0, 1)
    assert ahead.entropy < alone.entropy


def test_the_pair_is_judged_as_the_best_of_all_pairs():
    information = parity()
    selector = Selector(PPS(information, Permutation(0.03), information.interactions(2)))
    found = selector.boundary(3, [0, 1, 2])
    assert np.exp(-found.taken[0].threshold) == pytest.approx(0.03 / 3)


def test_a_pair_displaces_a_pair_and_gives_way_to_a_single_candidate():
    rng = np.random.default_rng(6)
    a, b = rng.integers(0, 2, (2, 3000))
    noisy = (a + (rng.random(3000) < 0.2)) % 2
    y = (a + b + (rng.random(3000) < 0.1)) % 2
    direct = (y + (rng.random(3000) < 0.05)) % 2
    information = CountedInformation(table_of(np.column_stack([noisy, b, a, direct, y])))
    pps = PPS(information, Permutation(0.001), information.interactions(2))
    growing = GrownBoundaries(information, pps)
    for newcomer, expected in ((0, ()), (1, (0, 1)), (2, (1, 2)), (3, (1, 2, 3))):
        growing.close([newcomer])
        growing.offer([newcomer])
        assert growing.given(4) == expected
    (closed,) = growing.close([4])
    assert closed.taken[0].others == (3,)
