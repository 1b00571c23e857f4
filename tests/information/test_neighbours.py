"""Nearest-neighbour information: against brute force, closed forms, and as the searches use it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma

from tamis.decisions.p_values import FTest, LocalPermutation, PValue
from tamis.errors import TamisWarning
from tamis.information.continuous import column_entropy, untied, words
from tamis.information.gaussian import GaussianInformation
from tamis.information.interface import Context, Group, Query, Source
from tamis.information.neighbour_space import Space, anywhere, choose, within_strata
from tamis.information.neighbours import NeighbourInformation
from tamis.learning import search
from tamis.settings import Settings
from tamis.tables import read_table


def source(rows: np.ndarray, names: str = "abcdefgh", **options) -> NeighbourInformation:
    columns = dict(zip(names, rows.T, strict=False))
    return NeighbourInformation.from_table(read_table(columns, continuous=True), **options)


def confounded(seed: int, n: int = 150) -> np.ndarray:
    """Two children of two sources, and a bystander."""
    rng = np.random.default_rng(seed)
    s = rng.normal(size=(n, 2))
    one, other = s[:, 0] ** 2 + rng.normal(size=n), s.sum(axis=1) + rng.normal(size=n)
    return np.column_stack([one, other, s, rng.normal(size=n)])


def far_apart(columns: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """All distances between rows, by the definition."""
    apart = np.abs(columns[:, :, None] - columns[:, None, :])
    apart[levels] = apart[levels] > 0
    return apart.max(axis=0, initial=0.0)


def brute_force(space: Space, x: int, y: tuple[int, ...], s: tuple[int, ...], k: int) -> float:
    """The two estimators as their articles state them, one row at a time."""
    levels = np.array(space.is_levels)

    def distances(chosen: tuple[int, ...]) -> np.ndarray:
        chosen = np.array(chosen, dtype=int)
        return far_apart(space.columns[chosen], levels[chosen])

    given, target, others = distances(s), distances((x, *s)), distances((*y, *s))
    joint = np.maximum(target, others)
    total = 0.0
    for i in range(space.n_rows):
        rest = np.arange(space.n_rows) != i
        radius = np.sort(joint[i, rest])[k - 1]
        if space.ties:
            counts = [(far[i, rest] <= radius).sum() for far in (joint, given, target, others)]
        else:
            counts = [k] + [(far[i, rest] < radius).sum() + 1 for far in (given, target, others)]
            counts[1] = counts[1] if s else space.n_rows
        total += digamma(counts) @ [1, 1, -1, -1]
    return total / space.n_rows


def random_space(seed: int, is_levels: list[bool], n: int = 60) -> Space:
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(len(is_levels), n))
    columns[1] += columns[0]
    columns[is_levels] = np.floor(2 * columns[is_levels])
    return Space("abcde", columns, is_levels)


kinds = st.lists(st.booleans(), min_size=5, max_size=5)


@given(st.integers(0, 10**6), kinds, st.integers(0, 3), st.integers(1, 12))
def test_gains_are_those_of_brute_force(seed, is_levels, size, k):
    space = random_space(seed, is_levels)
    s = (2, 3, 4)[:size]
    free = [v for v in (1, 2, 3, 4) if v not in s]
    expected = [brute_force(space, 0, (v,), s, k) for v in free]
    assert space.gains(0, s, free, k) == pytest.approx(expected, abs=1e-10)


@given(st.integers(0, 10**6), kinds, st.integers(0, 2))
def test_blocks_and_their_shuffles_are_those_of_brute_force(seed, is_levels, size):
    space = random_space(seed, is_levels)
    s = (3, 4)[:size]
    order = np.random.default_rng(seed).permutation(space.n_rows)
    moved = Space(space.names, space.columns.copy(), is_levels)
    moved.columns[[1, 2]] = moved.columns[[1, 2]][:, order]
    expected = [brute_force(one, 0, (1, 2), s, 4) for one in (space, moved)]
    found = space.shuffled_gains(0, s, (1, 2), order[None], 4)
    assert found == pytest.approx(expected, abs=1e-10)


def test_rows_of_many_lone_strata_are_no_endless_search():
    codes = np.repeat(np.arange(30.0), 8)
    space = Space("ab", np.array([codes, codes[::-1]]), (True, True))
    assert space.gains(0, (), [1], 5) == pytest.approx(brute_force(space, 0, (1,), (), 5))


@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 9))
def test_the_entropy_of_a_column_is_that_of_its_kth_distances(seed, n, k):
    values = np.random.default_rng(seed).normal(size=n)
    k = min(k, n - 1)
    radius = np.sort(np.abs(values[:, None] - values), axis=1)[:, k]
    expected = digamma(n) - digamma(k) + np.log(2 * radius).mean()
    assert column_entropy(values, k) == pytest.approx(expected, abs=1e-10)


def test_entropies_of_known_laws_are_found_in_their_units():
    rng = np.random.default_rng(1)
    gauss, flat, waiting = rng.normal(size=4000), rng.uniform(size=4000), rng.exponential(size=4000)
    assert column_entropy(gauss) == pytest.approx(0.5 * math.log(2 * math.pi * math.e), abs=0.05)
    assert column_entropy(flat) == pytest.approx(0.0, abs=0.05)
    assert column_entropy(waiting) == pytest.approx(1.0, abs=0.06)
    assert column_entropy(100 * gauss) == pytest.approx(column_entropy(gauss) + math.log(100))


@pytest.mark.parametrize("size", [0, 1, 2])
def test_gaussian_gains_and_entropies_come_close_to_the_closed_form(size):
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(1500, 4))
    rows[:, 1] += rows[:, 0]
    rows[:, 0] += rows[:, 2:].sum(axis=1) * 0.5
    s = (2, 3)[:size]
    near, exact = source(rows), GaussianInformation.from_table(read_table(rows, continuous=True))
    context = [Context(0, s)]
    # Neighbours of a strong dependence are too far apart to see all of it: a bias, and downward.
    assert -0.07 < near.cmi(context)[0, 1] - exact.cmi(context)[0, 1] < 0.03
    assert near.entropies(context) == pytest.approx(exact.entropies(context), abs=0.06)


def test_a_gain_is_the_same_both_ways_and_asked_alone_or_in_company():
    rows = confounded(4)
    whole = source(rows).cmi([Context(k, (2, 4)) for k in (0, 1)])
    assert whole[0, 1] == whole[1, 0] == source(rows).cmi([Context(1, (2, 4))])[0, 0]
    evidence = source(rows).tests([Query(0, (2, 4), np.array([1]))])
    assert evidence.cmi[0] == whole[0, 1]
    assert whole[[0, 0, 0, 1], [0, 2, 4, 1]].tolist() == [0.0] * 4


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.permutations(range(5)))
def test_the_order_of_columns_and_monotone_transforms_leave_no_trace(seed, order):
    rows = confounded(seed, n=60)
    rows[:, 4] = np.round(rows[:, 4])
    with pytest.warns(TamisWarning, match=r"share their values: 'e'"):
        plain = source(rows, k=5, shuffles=5)
    rows[:, 1] = np.exp(rows[:, 1])
    moved_names = "".join("abcde"[v] for v in order)
    with pytest.warns(TamisWarning, match="share"):
        moved = source(rows[:, order], moved_names, k=5, shuffles=5)
    place = {v: i for i, v in enumerate(order)}
    for s in ((), (2,), (2, 4)):
        there = tuple(sorted(place[v] for v in s))
        one = plain.tests([Query(0, s, np.array([1, 3]))])
        other = moved.tests([Query(place[0], there, np.array([place[1], place[3]]))])
        assert one.cmi.tolist() == other.cmi.tolist()
        assert one.null_variance.tolist() == other.null_variance.tolist()
        here, elsewhere = (
            plain.entropies([Context(0, s)]),
            moved.entropies([Context(place[0], there)]),
        )
        assert here == pytest.approx(elsewhere, abs=1e-12)


def test_threads_change_nothing():
    rows = confounded(5)
    contexts = [Context(k, s) for k in (0, 1) for s in ((), (2,), (2, 3))]
    groups = [Group(0, (2,), (1, 3)), Group(1, (3,), (0,)), Group(4, (), (0, 1))]
    one, two = source(rows, n_jobs=1, shuffles=5), source(rows, n_jobs=2, shuffles=5)
    assert np.array_equal(one.profiles(contexts).cmi, two.profiles(contexts).cmi)
    assert np.array_equal(one.entropies(contexts), two.entropies(contexts))
    first, second = one.joint_tests(groups), two.joint_tests(groups)
    assert np.array_equal(first.null_mean, second.null_mean)
    assert np.array_equal(first.cmi, second.cmi)


def test_only_tests_shuffle_and_none_is_made_twice(monkeypatch):
    information = source(confounded(6), shuffles=4)
    calls = []
    plain = Space.orders
    monkeypatch.setattr(Space, "orders", lambda *args: calls.append(args[2]) or plain(*args))
    information.profiles([Context(0, ()), Context(1, (2, 3))])
    assert not calls
    query = Query(0, (2,), np.array([1, 4]))
    first = information.tests([query])
    assert len(calls) == 2
    again = information.tests([query])
    assert len(calls) == 2
    assert first.null_mean.tolist() == again.null_mean.tolist()


def test_a_seed_decides_the_shuffles_and_nothing_else():
    rows = confounded(9)
    query = Query(0, (2,), np.array([1]))
    one, other = (source(rows, seed=seed, shuffles=5).tests([query]) for seed in (0, 1))
    assert one.cmi[0] == other.cmi[0]
    assert one.null_mean[0] != other.null_mean[0]


def test_a_group_is_tested_as_one():
    rng = np.random.default_rng(10)
    signs = rng.normal(size=(600, 2))
    parity = np.abs(rng.normal(size=600)) * np.sign(signs.prod(axis=1))
    information = source(np.column_stack([parity, signs]), k=5)
    single = information.cmi([Context(0, ())])[0]
    together = information.joint_tests([Group(0, (), (1, 2))])
    assert together.cmi[0] > 0.4 > 0.1 > single.max()
    assert together.null_mean[0] < 0.1


def test_what_cannot_inform_is_told_apart_from_what_does_not():
    rows = confounded(11)
    rows[:, 4] = 7.0
    with pytest.warns(TamisWarning, match="Constant"):
        information = source(rows, shuffles=4)
    assert [information.varies(k) for k in (3, 4)] == [True, False]
    assert information.entropies([Context(4, (0,))])[0] == 0.0
    assert not information.cmi([Context(4, ())]).any()
    plain, padded = information.cmi([Context(0, (2,)), Context(0, (2, 4))])
    assert np.array_equal(plain, padded)
    evidence = information.tests([Query(0, (2,), np.array([4, 2, 0]))])
    assert not np.any([evidence.cmi, evidence.null_variance, evidence.df])


def test_rounded_values_keep_their_gains_and_count_on_their_grid():
    rng = np.random.default_rng(12)
    x = rng.normal(size=2000)
    rows = np.column_stack([x, x + rng.normal(size=2000)])
    with pytest.warns(TamisWarning, match="taken as rounded"):
        rounded = source(np.round(rows, 1))
    plain, context = source(rows), [Context(0, ())]
    assert rounded.cmi(context)[0, 1] == pytest.approx(plain.cmi(context)[0, 1], abs=0.02)
    assert rounded.entropies(context)[0] == pytest.approx(plain.entropies(context)[0], abs=0.03)


def test_the_entropy_of_whole_numbers_is_their_shannon_entropy():
    values = np.random.default_rng(13).poisson(3.0, 3000).astype(float)
    p = np.bincount(values.astype(int)) / 3000
    shannon = -sum(q * math.log(q) for q in p if q > 0)
    for step in (1.0, 0.25):
        spread = untied("counts", step * values, seed=0)
        assert np.array_equal(np.round(spread / step)[np.abs(values) < 9], values[values < 9])
        assert column_entropy(spread) == pytest.approx(shannon + math.log(step), abs=0.04)


@given(st.integers(0, 10**6), st.integers(2, 30))
def test_shuffles_stay_where_they_belong(seed, n):
    rng = np.random.default_rng(seed)
    chance = words(seed, [["test"]], 3 * n).reshape(3, n)
    assert (np.sort(anywhere(chance)) == np.arange(n)).all()
    strata = rng.integers(0, 3, n)
    inside = within_strata(strata, chance)
    assert (np.sort(inside) == np.arange(n)).all()
    assert (strata[inside] == strata).all()
    neighbours = np.argsort(rng.normal(size=(n, n)), axis=1)[:, : min(n, 5)]
    chosen = choose(neighbours, anywhere(chance), chance)
    assert all(row in neighbours[i] for line in chosen for i, row in enumerate(line))


def test_strata_are_shuffled_evenly():
    chance = words(1, [["even"]], 3 * 6000).reshape(6000, 3)
    orders, counts = np.unique(
        within_strata(np.zeros(3, dtype=int), chance), axis=0, return_counts=True
    )
    assert len(orders) == 6
    assert np.abs(counts - 1000).max() < 130
    close = np.tile(np.arange(3), (3, 1))
    first = choose(close, np.tile(np.arange(3), (6000, 1)), chance)[:, 0]
    assert np.abs(np.bincount(first) - 2000).max() < 150


def edges_found(information: Source, rule: PValue) -> set[tuple[str, str]]:
    found = search(information, Settings("sequential", rule, rule)).boundaries
    names = information.names
    return {(names[p], names[k]) for k, boundary in found.items() for p in boundary.members}


def test_a_search_recovers_curves_that_moments_do_not_see():
    rng = np.random.default_rng(16)
    a, b, c, d = rng.normal(size=(4, 400))
    b += a**2
    c += 2 * np.sin(2 * a)
    d += 2 * np.sin(2 * c)
    rows = np.column_stack([a, b, c, d])
    truth = {("a", "b"), ("a", "c"), ("c", "d")}
    assert edges_found(source(rows, shuffles=20), LocalPermutation(0.001)) == truth
    moments = GaussianInformation.from_table(
        read_table(dict(zip("abcd", rows.T, strict=True)), continuous=True)
    )
    assert edges_found(moments, FTest(0.001)) != truth
