"""The compiled scores, selections and orders against brute force, and how a search is ended."""

from __future__ import annotations

import math
import os
import signal
import threading
from collections.abc import Sequence
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import tables
from tamis.core import Asked, Dag, Judge, Moments, OrderSearch, Table

small = tables.rows(columns=(2, 5), length=(5, 80), levels=4)


def judge_of(rows: np.ndarray, price: float = 0.0) -> tuple[Table, naive.Score]:
    """The compiled judge of a table, and its twin."""
    levels = [int(n) + 1 for n in rows.max(axis=0)]
    columns = [np.ascontiguousarray(column, dtype=np.uint8) for column in rows.T]
    return Table(columns, levels, edge_price=price), naive.two_part_score(rows, levels, price)


def dependent(seed: int, d: int, n: int) -> np.ndarray:
    """A table in which each column hangs on up to two others, in an order of no meaning."""
    rng = np.random.default_rng(seed)
    columns: list[np.ndarray] = []
    for k in range(d):
        r, parents = int(rng.integers(2, 4)), rng.permutation(k)[: rng.integers(0, 3)]
        states = sum((columns[p] * 3**i for i, p in enumerate(parents)), np.zeros(n, dtype=int))
        columns.append((rng.dirichlet(np.ones(r), 9).cumsum(1)[states] < rng.random((n, 1))).sum(1))
    return np.stack(columns, axis=1)[:, rng.permutation(d)].astype(int)


def total(judge: Judge, parents: list[list[int]]) -> float:
    return math.fsum(judge.family(k, own)[0] for k, own in enumerate(parents))


# --- scores ----------------------------------------------------------------------------------


@given(rows=small, price=st.sampled_from([0.0, 1.5]), data=st.data())
def test_scores_of_families_are_those_of_the_twin(rows, price, data):
    judge, score = judge_of(rows, price)
    H, _ = naive.from_rows(rows)
    d = rows.shape[1]
    k = data.draw(st.integers(0, d - 1))
    others = [other for other in range(d) if other != k]
    given = tuple(sorted(data.draw(st.sets(st.sampled_from(others)))))
    found, noise = judge.family(k, given)
    assert found == pytest.approx(score(k, given), rel=1e-9, abs=1e-9)
    assert noise == pytest.approx(H(k, given), abs=1e-9)
    left = [other for other in others if other not in given]
    wanted = [score(k, naive.ordered(given, [other])) for other in left]
    np.testing.assert_allclose(judge.scores_with(k, given, left), wanted, rtol=1e-9, atol=1e-9)


def moments(seed: int, n: int = 60) -> np.ndarray:
    """Numbers of which the third is a sum, the fourth a copy and the last constant."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 6)) @ np.triu(rng.normal(size=(6, 6)))
    rows[:, 2], rows[:, 3], rows[:, 5] = rows[:, 0] + rows[:, 1], 2 * rows[:, 1], 1.0
    return rows - rows.mean(axis=0)


@pytest.mark.parametrize("seed", range(5))
def test_moments_are_those_of_regressions(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(80, 6)) @ np.triu(rng.normal(size=(6, 6)))
    rows -= rows.mean(axis=0)
    judge = Moments(rows.T @ rows / 80, 80, price=2.5)
    for k in range(6):
        for own in naive.subsets(set(range(6)) - {k}):
            fitted = np.linalg.lstsq(rows[:, own], rows[:, k], rcond=None)[0] if own else []
            noise = 0.5 * math.log(((rows[:, k] - rows[:, own] @ fitted) ** 2).mean())
            wanted = -80 * noise - 2.5 * len(own)
            assert judge.family(k, own) == pytest.approx((wanted, noise), rel=1e-9, abs=1e-9)
            left = [other for other in range(6) if other not in (k, *own)]
            alone = [judge.family(k, [*own, other])[0] for other in left]
            np.testing.assert_allclose(judge.scores_with(k, own, left), alone, rtol=1e-9)


def test_a_search_on_sums_copies_and_constants_ends_with_numbers():
    for seed in range(5):
        rows = moments(seed)
        judge = Moments(np.cov(rows.T, bias=True), 60, price=3.0)
        search = OrderSearch(judge)
        for dag in (search.first(), search.best()):
            assert not np.isnan([*dag.scores, *dag.noise]).any()
            assert sorted(dag.order) == list(range(6))


@given(seed=st.integers(0, 10**6), of=st.sampled_from(["levels", "numbers"]))
def test_equivalent_dags_have_equal_totals(seed, of):
    """A covered arrow, whose ends have the same other parents, turns within the class."""
    rng = np.random.default_rng(seed)
    rows = dependent(seed, 5, 60)
    judge = (
        judge_of(rows, 1.0)[0]
        if of == "levels"
        else Moments(np.cov(rng.normal(size=(5, 9))), 9, 1.0)
    )
    d, order = 5, rng.permutation(5)
    parents: list[list[int]] = [[] for _ in range(d)]
    for i, k in enumerate(order):
        parents[k] = [int(p) for p in order[:i] if rng.random() < 0.6]
    before = total(judge, parents)
    covered = [
        (p, k) for k in range(d) for p in parents[k] if set(parents[k]) - {p} == set(parents[p])
    ]
    for p, k in covered:
        turned = list(parents)
        turned[k], turned[p] = parents[p], [*parents[p], k]
        assert total(judge, turned) == pytest.approx(before, rel=1e-9, abs=1e-9)


# --- selections and orders -------------------------------------------------------------------


def least_uncertain_next(rows: np.ndarray, score: naive.Score) -> list[int]:
    """The order of the paper's cond:uneq1, each node's parents being chosen anew each time."""
    H, _ = naive.from_rows(rows)
    order: list[int] = []
    while left := sorted(set(range(rows.shape[1])) - {*order}):
        h = {k: H(k, naive.greedy_parents(score, k, order)) for k in left}
        order.append(min(left, key=lambda k: round(h[k], 9)))
    return order


@pytest.mark.parametrize("d", [2, 3, 5, 7])
def test_each_node_chooses_its_parents_as_the_twin_does(d):
    for seed in range(12):
        rows = dependent(seed, d, (40, 200)[seed % 2])
        judge, score = judge_of(rows, math.log(d))
        search = OrderSearch(judge)
        first, best = search.first(), search.best()
        assert first.order == least_uncertain_next(rows, score)
        for dag in (first, best):
            for i, k in enumerate(dag.order):
                assert tuple(dag.parents[k]) == naive.greedy_parents(score, k, dag.order[:i])
            assert total(judge, dag.parents) == pytest.approx(sum(dag.scores))
        assert sum(best.scores) >= sum(first.scores) - 1e-6


@pytest.mark.parametrize("seed", [0, 2, 3, 4])
def test_a_proxy_that_came_first_leaves_when_the_true_parents_are_there(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 4, (2, 1000))
    proxy = np.where(rng.random(1000) < 0.2, rng.integers(0, 7, 1000), a + b)
    child = np.where(rng.random(1000) < 0.1, 0, a + b >= 3)
    coin = rng.integers(0, 2, 1000)
    judge, score = judge_of(np.stack([a, b, proxy, child, coin], axis=1), math.log(5))
    assert judge.scores_with(3, [], [0, 1, 2]).argmax() == 2
    assert naive.greedy_parents(score, 3, [0, 1, 2]) == (0, 1)
    # What is required puts the proxy before the coin, and that before the child.
    required, forbidden = [[], [], [], [4], [2]], np.ones((5, 5), dtype=int)
    forbidden[3], forbidden[4, 2] = 0, 0
    found = OrderSearch(judge, required, forbidden.tolist()).best()
    assert found.parents == [[], [], [], [0, 1, 4], [2]]


def test_no_order_is_better_than_the_best_and_hardly_any_dag():
    missed = 0
    for seed in range(200):
        d = 3 + seed % 3
        judge, score = judge_of(dependent(seed, d, (60, 400)[seed % 2]), math.log(d))
        found = sum(OrderSearch(judge, seed=seed).best().scores)
        greedy = naive.best_total(score, d, naive.greedy_parents)
        assert found == pytest.approx(greedy, abs=1e-6)
        most = naive.best_total(score, d)
        assert found <= most + 1e-6
        missed += found < most - 1e-6  # parents that speak only together
    assert missed <= 10


def test_what_a_direction_is_worth_is_what_orders_without_it_score_less():
    exact = asked = 0
    for seed in range(60):
        d = 3 + seed % 3
        judge, score = judge_of(dependent(seed, d, 150), math.log(d))
        search = OrderSearch(judge, seed=seed)
        best = search.best()
        for p, k in [(p, k) for k, own in enumerate(best.parents) for p in own]:
            loss = search.loss_without(p, k)
            without = partial(turned, p, k)
            assert loss >= 0
            assert sum(best.scores) - loss <= naive.best_total(score, d, may_follow=without) + 1e-6
            most = naive.best_total(score, d, naive.greedy_parents, without)
            exact += abs(sum(best.scores) - loss - most) < 1e-6
            asked += 1
            assert search.loss_without(k, p) == 0  # the best order has it the other way round
    assert asked > 100
    assert exact >= 0.95 * asked  # one climb each


def turned(parent: int, child: int, order: Sequence[int]) -> bool:
    return order.index(child) < order.index(parent)


# --- knowledge -------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**6))
def test_required_parents_are_always_there_and_forbidden_ones_never(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(3, 7))
    rows, order = dependent(seed, d, 100), rng.permutation(d).tolist()
    required: list[list[int]] = [[] for _ in range(d)]
    forbidden = (rng.random((d, d)) < 0.3).astype(int)
    for i, k in enumerate(order):
        required[k] = sorted(p for p in order[:i] if rng.random() < 0.2)
        forbidden[k, required[k]] = 0
    judge, _ = judge_of(rows, math.log(d))
    search = OrderSearch(judge, required, forbidden.tolist(), judge.interactions(), seed)
    for dag in (search.first(), search.best()):
        place = {k: i for i, k in enumerate(dag.order)}
        for k, own in enumerate(dag.parents):
            assert {*required[k]} <= {*own}
            assert not forbidden[k, own].any()
            assert all(place[p] < place[k] for p in own)
        assert min(dag.scores) > -1e9  # no price is left for what is required and not there


# --- looking ahead ---------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 3])
def test_looking_ahead_finds_exclusive_ors(size):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        rows = rng.integers(0, 2, (1000, 8))
        rows[:, 7] = rows[:, :size].sum(axis=1) % 2 ^ (rng.random(1000) < 0.15)
        judge, _ = judge_of(rows, math.log(8))
        found = judge.interactions()
        family = {*range(size), 7}
        for k in range(8):
            assert [{*one} for one in found[k]] == ([family - {k}] if k in family else [])
        alone, ahead = OrderSearch(judge).best(), OrderSearch(judge, interactions=found).best()
        assert sum(map(len, alone.parents)) == 0
        assert [{k, *own} for k, own in enumerate(ahead.parents) if own] == [family]


# --- how a search ends -----------------------------------------------------------------------


def by_table(judge: Table, after: int = 10**9, error: BaseException | None = None) -> Asked:
    """The same judge asked through Python; it fails after so many questions."""
    asked = []

    def ask(target: int, given: list[int], candidates: list[int] | None):
        asked.append(target)
        if len(asked) > after:
            raise error
        one = judge.family(target, given) if candidates is None else None
        return one or judge.scores_with(target, given, candidates)

    return Asked(6, 200, ask)


def test_a_judge_in_python_finds_what_the_compiled_one_finds():
    for seed in range(5):
        judge, _ = judge_of(dependent(seed, 6, 200), math.log(6))
        found: list[Dag] = [OrderSearch(one).best() for one in (judge, by_table(judge))]
        assert found[0] == found[1]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ZeroDivisionError("by nothing")])
@pytest.mark.parametrize("after", [0, 1, 7, 20])
def test_what_a_judge_raises_ends_the_search_as_it_is(error, after):
    judge, _ = judge_of(dependent(3, 6, 200))
    with pytest.raises(type(error)) as raised:
        OrderSearch(by_table(judge, after, error)).best()
    assert raised.value is error


@pytest.mark.parametrize("answer", [[], [1.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]])
def test_more_or_fewer_numbers_than_were_asked_for_are_refused(answer):
    with pytest.raises(ValueError, match="2 numbers were asked for"):
        OrderSearch(Asked(4, 10, lambda *_: np.array(answer))).best()


@pytest.mark.parametrize("share", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("nothing", [math.nan, -math.inf, math.inf])
def test_scores_that_are_no_numbers_do_not_keep_the_search_going(share, nothing):
    judge, _ = judge_of(dependent(4, 6, 200))

    def ask(target: int, given: list[int], candidates: list[int] | None):
        found = judge.scores_with(target, given, candidates) if candidates is not None else None
        found = np.array(judge.family(target, given)) if found is None else found
        sets = [given] if candidates is None else [sorted([*given, c]) for c in candidates]
        for i, own in enumerate(sets):
            if np.random.default_rng([target, *own]).random() < share:
                found[i] = nothing
        return found

    search = OrderSearch(Asked(6, 200, ask))
    dag = search.best()
    place = {k: i for i, k in enumerate(dag.order)}
    assert all(place[p] < place[k] for k, own in enumerate(dag.parents) for p in own)
    for k, own in enumerate(dag.parents):
        assert all(search.loss_without(p, k) >= 0 for p in own)


def test_a_signal_ends_a_search_that_has_long_to_go():
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 4, (20_000, 60))
    rows[:, 1:] = np.where(rng.random((20_000, 59)) < 0.5, rows[:, 1:], rows[:, :-1])
    search = OrderSearch(judge_of(rows)[0])
    thread = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        search.best()
    thread.join()
    assert search.first().order  # and it can be asked again
