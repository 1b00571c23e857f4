"""The order search: it finds the orders that score best, and keeps to knowledge."""

from __future__ import annotations

import math
from bisect import bisect_left
from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tables import table_of
from tamis.constants import constants
from tamis.counting.compiled import uncompiled
from tamis.information.counted import CountedInformation
from tamis.information.wrappers import RememberedInformation
from tamis.knowledge import Constraints, as_bits
from tamis.rules import Permutation
from tamis.search import order_loops as loops
from tamis.search import tam
from tamis.search.orders import (
    End,
    Ordering,
    best_of_all,
    best_ordering,
    by_entropy,
    climb,
    losses_beside,
    losses_without,
    shuffled,
    tuck,
)
from tamis.search.parents import ParentSelector, falling
from tamis.search.pps import PPS
from tamis.search.selection import Selector
from tamis.search.tam import run
from tamis.settings import Settings


def selector_of(values: np.ndarray, constraints: Constraints | None = None) -> ParentSelector:
    information = RememberedInformation(CountedInformation(table_of(values)))
    return ParentSelector(Selector(PPS(information, Permutation(0.01), constraints=constraints)))


def collider(n: int = 5000, seed: int = 0) -> np.ndarray:
    """Two coins and a rare alarm that needs both: the alarm is the least uncertain."""
    rng = np.random.default_rng(seed)
    coins = rng.integers(0, 2, (2, n))
    return np.vstack([coins, rng.random(n) < np.where(coins.sum(0) == 2, 0.2, 0.01)]).T.astype(int)


def random_values(seed: int, n: int = 1500, d: int = 5) -> tuple[np.ndarray, list[int]]:
    """Rows of a random network of coins, and a random order of its columns."""
    rng = np.random.default_rng(seed)
    values = np.zeros((n, d), dtype=int)
    for k in range(d):
        parents = [j for j in range(k) if rng.random() < 0.5]
        weights = rng.normal(size=len(parents)) * 2
        chance = 1 / (1 + np.exp(-(values[:, parents] @ weights - weights.sum() / 2)))
        values[:, k] = rng.random(n) < chance
    return values, rng.permutation(d).tolist()


def is_consistent(found: Ordering) -> bool:
    """Whether parents stand before their children."""
    return all(found.place(p) < found.place(k) for k, own in found.parents.items() for p in own)


def test_the_child_of_two_coins_goes_behind_them():
    selector = selector_of(collider())
    found = Ordering.along(selector, [2, 0, 1])
    before = found.score
    climb(selector, [found])
    assert found.order[2] == 2
    assert found.parents == {0: frozenset(), 1: frozenset(), 2: frozenset({0, 1})}
    assert found.score > before


def test_orders_of_equivalent_graphs_are_left_alone():
    rng = np.random.default_rng(1)
    a = rng.random(3000) < 0.3
    b = a ^ (rng.random(3000) < 0.2)
    c = b ^ (rng.random(3000) < 0.2)
    selector = selector_of(np.column_stack([a, b, c]).astype(int))
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        found = Ordering.along(selector, order)
        climb(selector, [found])
        assert found.order == order


@pytest.mark.parametrize("all_orders", [0, 6])
@pytest.mark.parametrize("seed", range(10))
def test_the_best_of_all_orders_is_found(seed, all_orders, monkeypatch):
    monkeypatch.setattr(constants, "all_orders", all_orders)
    values, start = random_values(seed)
    selector = selector_of(values)
    found = best_ordering(selector, [start, start[::-1]], first_may_do=False)
    scores = [Ordering.along(selector, one).score for one in permutations(range(len(start)))]
    assert is_consistent(found)
    assert found.score >= Ordering.along(selector, start).score
    assert found.score >= max(scores) - 1e-6
    first = best_ordering(selector, [start, start[::-1]], first_may_do=True)
    assert first.score >= Ordering.along(selector, start).score


@given(
    seed=st.integers(0, 10**6),
    d=st.integers(2, 8),
    look_ahead=st.sampled_from([1, 3]),
    knows=st.booleans(),
    direct=st.booleans(),
)
def test_nodes_are_admitted_in_the_order_of_the_sequential_search(
    seed, d, look_ahead, knows, direct
):
    rng = np.random.default_rng(seed)
    values, _ = random_values(seed, n=int(rng.integers(20, 600)), d=d)
    if d > 3:
        values[:, 3] = values[:, 0] ^ values[:, 1]  # several parents are taken together
    knowledge = None
    if knows:
        tiers = [[f"x{k}" for k in range(d) if rng.random() < 0.5]]
        tiers.append([f"x{k}" for k in range(d) if f"x{k}" not in tiers[0]])
        required = [(tiers[0][0], tiers[1][-1])] if all(tiers) else []
        knowledge = {"tiers": [one for one in tiers if one], "required": required}
    source = RememberedInformation(CountedInformation(table_of(values)))
    asked = Settings(
        search="sequential", boundary_rule=Permutation(0.05), look_ahead=look_ahead,
        knowledge=knowledge,
    ).bound(source)  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uncompiled, "spent", math.inf if direct else 0.0)
        patch.setattr(tam, "_in_loops", lambda *_: None)
        outcome = run(source, asked)
    selector = ParentSelector(Selector.of(source, asked))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uncompiled, "spent", math.inf if direct else 0.0)
        heard = []
        varying = [k for k in range(d) if source.varies(k)]
        order, by_set, _ = by_entropy(selector, varying, heard.append)
        found = Ordering.along(selector, order)
        if direct and varying:
            assert tam._in_loops(selector.selector, asked) is not None
            again = run(CountedInformation(table_of(values)), asked)
            assert again.known == outcome.found
            assert told(again) == told(outcome)
    assert order == [k for layer in outcome.layers for k in layer if source.varies(k)]
    assert found.parents == {k: frozenset(outcome.boundaries[k].members) for k in order}
    assert heard[-1:] == [len(order)][: len(varying)]
    assert by_set == [
        k for k in order if any(len(one.others) > 1 for one in outcome.boundaries[k].taken)
    ]


def told(outcome):
    """All that a search has left behind."""
    uncertainties = [one.tolist() for one in outcome.rounds.uncertainties]
    return outcome.layers, outcome.boundaries, outcome.rounds.admissions, uncertainties


@pytest.mark.parametrize("seed", range(6))
def test_the_rise_of_a_move_is_what_it_changes(seed):
    values, start = random_values(seed, d=6)
    selector = selector_of(values)
    found = Ordering.along(selector, start)
    for k in start:
        for parent in found.parents[k]:
            rise = tuck(selector, found, parent, k)
            moved = loops_order(found, parent, k)
            other = Ordering.along(selector, moved)
            assert other.score - found.score == pytest.approx(rise)
            assert is_consistent(other)
            assert other.place(k) < other.place(parent)


def loops_order(found: Ordering, parent: int, child: int) -> list[int]:
    """The order after a tuck: the child and its ancestors go before the parent."""
    order = found.order
    start, stop = found.place(parent), found.place(child) + 1
    ancestors = set(found.parents[child])
    moved, passed = [child], []
    for k in reversed(order[start : stop - 1]):
        if k in ancestors and k != parent:
            ancestors |= found.parents[k]
            moved.insert(0, k)
        else:
            passed.insert(0, k)
    return [*order[:start], *moved, *passed, *order[stop:]]


@pytest.mark.parametrize("seed", range(6))
def test_no_tuck_leads_higher_than_a_climb(seed):
    values, start = random_values(seed, d=6)
    selector = selector_of(values)
    found = Ordering.along(selector, start)
    climb(selector, [found])
    for k, parents in found.parents.items():
        for parent in parents:
            other = Ordering.along(selector, loops_order(found, parent, k))
            assert other.score <= found.score + 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_loops_find_the_same_compiled_and_interpreted(seed, monkeypatch):
    values, start = random_values(seed, n=300, d=9)
    monkeypatch.setattr(uncompiled, "allows", lambda loop, seconds=0.0: False)
    compiled = best_ordering(selector_of(values), [start], first_may_do=False)
    monkeypatch.setattr(uncompiled, "allows", lambda loop, seconds=0.0: True)
    interpreted = best_ordering(selector_of(values), [start], first_may_do=False)
    assert interpreted.order == compiled.order
    assert interpreted.score == compiled.score
    assert interpreted.parents == compiled.parents


@pytest.mark.parametrize("seed", range(4))
def test_a_table_asked_one_question_at_a_time_leads_where_batches_do(seed, monkeypatch):
    monkeypatch.setattr("tamis.counting.compiled.uncompiled.spent", math.inf)
    values, start = random_values(seed, n=300, d=9)
    direct = best_ordering(selector_of(values), [start], first_may_do=False)
    monkeypatch.setattr(CountedInformation, "direct", lambda self, test: None)
    batches = best_ordering(selector_of(values), [start], first_may_do=False)
    assert direct.order == batches.order
    assert direct.parents == batches.parents
    assert direct.score == batches.score


def test_orders_climb_side_by_side_as_they_do_alone():
    values, start = random_values(5, d=9)
    selector = selector_of(values)
    starts = [start, start[::-1], sorted(start)]
    together = [Ordering.of(selector, one) for one in starts]
    climb(selector, together)
    for one, order in zip(together, starts, strict=True):
        alone = Ordering.of(selector_of(values), order)
        climb(alone.selector, [alone])
        assert alone.order == one.order


def test_memory_grows_as_orders_ask_for_more(monkeypatch):
    values, start = random_values(3, n=400, d=9)
    expected = best_ordering(selector_of(values), [start], first_may_do=False)
    monkeypatch.setattr("tamis.search.parents.ENTRIES", 8)
    monkeypatch.setattr("tamis.search.parents.MOST_MISSING", 24)
    monkeypatch.setattr("tamis.search.parents.SHORT", 1)
    monkeypatch.setattr("tamis.counting.compiled.uncompiled.spent", math.inf)
    found = best_ordering(selector_of(values), [start], first_may_do=False)
    assert found.order == expected.order
    memory = found.selector._memory
    assert memory[loops.USED] <= len(memory)
    assert memory[loops.JUDGED] <= len(found.selector._families)


def test_who_waits_for_another_stays_behind_it():
    """The alarm is said to come first: it does, though the likelihood minds."""
    constraints = Constraints({}, (0, 0, 0), (0b100, 0b100, 0))
    selector = selector_of(collider(), constraints)
    found = best_ordering(selector, [[2, 0, 1], [2, 1, 0]], first_may_do=False)
    assert found.order[0] == 2


@given(seed=st.integers(0, 10**6), d=st.integers(1, 5))
def test_of_few_columns_the_best_order_that_knowledge_allows_is_found(seed, d):
    values, start = random_values(seed, n=200, d=d)
    rng = np.random.default_rng(seed)
    waits = [0] * d
    for place, k in enumerate(start):
        waits[k] = sum(1 << j for j in start[:place] if rng.random() < 0.3)
    selector = selector_of(values, Constraints({}, (0,) * d, tuple(waits)))
    allowed = [
        order
        for order in permutations(range(d))
        if all(waits[k] & ~as_bits(order[:place]) == 0 for place, k in enumerate(order))
    ]
    found = Ordering.along(selector, best_of_all(selector, start))
    assert tuple(found.order) in allowed
    scores = [Ordering.along(selector, one).score for one in allowed]
    assert found.score == pytest.approx(max(scores), abs=1e-9)


def test_what_a_direction_is_worth():
    """Turning an arrow of a collider costs; turning the arrow of a pair does not."""
    rng = np.random.default_rng(3)
    values = collider()
    pair = rng.integers(0, 2, len(values))
    copy = pair ^ (rng.random(len(values)) < 0.2)
    selector = selector_of(np.column_stack([values, pair, copy]))
    found = best_ordering(selector, [[0, 1, 2, 3, 4]], first_may_do=False)
    turned, same = losses_without(selector, found, [(0, 2), (3, 4)], climbs=True)
    assert turned > 2
    assert same == pytest.approx(0, abs=1e-6)


def test_the_same_search_gives_the_same_order():
    values, start = random_values(11, d=8)
    found = [
        best_ordering(selector_of(values), [start], first_may_do=False).order for _ in range(2)
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize("seed", range(3))
def test_in_wide_tables_one_move_says_what_a_direction_is_worth_at_most(seed, monkeypatch):
    values, start = random_values(seed)
    selector = selector_of(values)
    found = best_ordering(selector, [start, start[::-1]], first_may_do=False)
    edges = [(parent, child) for child, own in found.parents.items() for parent in own]
    searched = losses_without(selector, found, edges, climbs=True)
    monkeypatch.setattr(constants, "wide", 4)
    moved = losses_without(selector, found, edges, climbs=True)
    assert all(0 <= one <= other + 1e-6 for one, other in zip(searched, moved, strict=True))


def test_orders_that_new_starts_come_to_speak_about_directions():
    selector = selector_of(collider())
    found = Ordering.along(selector, [0, 1, 2])
    score, edges = found.score, [(0, 2), (1, 2), (0, 1)]
    assert losses_beside(found, edges) == [math.inf] * 3
    found.beside = [
        End(score - 3.0, np.array([2, 1, 0])),  # 2, 1, 0
        End(score - 1.0, np.array([1, 0, 2])),  # 1, 0, 2
        End(score + 1.0, np.array([0, 2, 1])),  # 0, 2, 1
    ]
    assert losses_beside(found, edges) == pytest.approx([3.0, 0.0, 1.0])


@pytest.mark.parametrize(("n", "most"), [(3, 2), (12, 4), (60, 8), (300, 8)])
def test_a_new_start_moves_few_columns_but_some(n, most):
    """What is left in its order is what was not moved."""
    chance = Random(1)
    selector = selector_of(collider(50))
    moved = []
    for _ in range(60):
        fresh = shuffled(selector, range(n), chance)
        assert sorted(fresh) == list(range(n))
        moved.append(n - longest_rise(fresh))
    assert 0 < max(moved) <= most


def longest_rise(values: list[int]) -> int:
    """The length of the longest rising part, in its order."""
    ends: list[int] = []
    for one in values:
        place = bisect_left(ends, one)
        ends[place : place + 1] = [one]
    return len(ends)


@given(
    arrays(np.float64, (4, 24), elements=st.sampled_from([0.0, 0.1, 0.5, 2.0, -np.inf])),
    st.integers(0, 7),
)
def test_the_largest_of_a_row_are_listed_the_first_of_equals_first(cmi, n):
    for row, found in zip(cmi, falling(cmi, n), strict=True):
        listed = [k for k in sorted(range(24), key=lambda k: (-row[k], k)) if row[k] > -np.inf][:n]
        assert found[: len(listed)].tolist() == listed
