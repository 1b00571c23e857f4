"""Refinement: it repairs what the entropies got wrong, and only that."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from tables import table_of
from tamis.information.counted import CountedInformation
from tamis.information.remembered import RememberedInformation
from tamis.rules import Permutation
from tamis.search.auto import ROUNDING
from tamis.search.refine import refine, select_along
from tamis.search.selection import Selector, total


def selector_of(values: np.ndarray) -> Selector:
    information = RememberedInformation(CountedInformation(table_of(values)))
    return Selector(information, Permutation(0.01))


@pytest.fixture
def by_tucks(monkeypatch):
    """As if there were too many nodes to try all orders."""
    monkeypatch.setattr("tamis.search.refine.FEW", 0)


def collider(n: int = 5000, seed: int = 0) -> np.ndarray:
    """Two coins and a rare alarm that needs either: the alarm is the least uncertain."""
    rng = np.random.default_rng(seed)
    coins = rng.integers(0, 2, (2, n))
    return np.vstack([coins, rng.random(n) < np.where(coins.sum(0) == 2, 0.2, 0.01)]).T.astype(int)


def test_the_child_of_two_coins_goes_behind_them():
    found = refine(selector_of(collider()), [2, 0, 1], 0.0)
    assert found.order[2] == 2
    assert {k: set(one.members) for k, one in found.selected.items()} == {
        0: set(),
        1: set(),
        2: {0, 1},
    }
    assert all(move.rise > 0 for move in found.moves)
    assert found.moves[0].before == 2


def test_a_right_order_is_left_alone():
    found = refine(selector_of(collider()), [0, 1, 2], 0.0)
    assert found.order == [0, 1, 2]
    assert found.moves == []


def test_equivalent_orders_are_left_alone():
    rng = np.random.default_rng(1)
    a = rng.random(3000) < 0.3
    b = a ^ (rng.random(3000) < 0.2)
    c = b ^ (rng.random(3000) < 0.2)
    selector = selector_of(np.column_stack([a, b, c]).astype(int))
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        assert refine(selector, order, ROUNDING).moves == []


def test_a_high_bar_keeps_the_order():
    assert refine(selector_of(collider()), [2, 0, 1], 1e9).moves == []


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


@pytest.mark.parametrize("seed", range(8))
def test_it_climbs_and_stays_within_reach_of_all_orders(seed, by_tucks):
    values, start = random_values(seed)
    d = len(start)
    selector = selector_of(values)
    found = refine(selector, start, 0.0)
    scores = {
        order: total(list(select_along(selector, order).values()))
        for order in permutations(range(d))
    }
    assert found.score == pytest.approx(scores[tuple(found.order)])
    assert found.score >= scores[tuple(start)]
    climbed = found.score - scores[tuple(start)]
    assert climbed == pytest.approx(sum(move.rise for move in found.moves))
    assert found.score >= max(scores.values()) - 10
    place = {k: i for i, k in enumerate(found.order)}
    assert all(place[p] < place[k] for k, one in found.selected.items() for p in one.members)


def test_paths_of_tucks_go_on_where_single_ones_end(by_tucks, monkeypatch):
    rises = []
    for seed in range(20, 40):
        values, start = random_values(seed)
        deep = refine(selector_of(values), start, ROUNDING)
        with monkeypatch.context() as patch:
            patch.setattr("tamis.search.refine.DEEPEST", 1)
            shallow = refine(selector_of(values), start, ROUNDING)
        rises.append(deep.score - shallow.score)
        assert deep.moves[: len(shallow.moves)] == shallow.moves
        place = {k: i for i, k in enumerate(deep.order)}
        assert all(place[p] < place[k] for k, one in deep.selected.items() for p in one.members)
    assert min(rises) == 0
    assert max(rises) > 1


@pytest.mark.parametrize(("few", "way"), [(0, "_look_deeper"), (8, "_try_all_orders")])
def test_nothing_else_is_tried_before_the_rise_is_clear(few, way, monkeypatch):
    def refuse(*args: object) -> bool:
        raise AssertionError("looked deeper")

    monkeypatch.setattr("tamis.search.refine.FEW", few)
    monkeypatch.setattr(f"tamis.search.refine.{way}", refuse)
    assert refine(selector_of(collider()), [2, 0, 1], ROUNDING, 1e9).moves
    with pytest.raises(AssertionError, match="looked deeper"):
        refine(selector_of(collider()), [2, 0, 1], ROUNDING)
