"""The best of all orders, against trying each of them."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from test_refine import random_values, selector_of

import tamis
from tables import table_of
from tamis.information.counted import CountedInformation
from tamis.rules import Permutation
from tamis.search.all_orders import best_order
from tamis.search.constraints import Constraints
from tamis.search.refine import FEW, Refined, _try_all_orders, refine, select_along
from tamis.search.selection import Selector, total


def score(selector: Selector, order) -> float:
    return total(list(select_along(selector, order).values()))


@pytest.mark.parametrize("seed", range(8))
def test_no_order_scores_better(seed):
    values, start = random_values(seed, n=400)
    selector = selector_of(values)
    best = best_order(selector, start, 1e-9)
    expected = max(score(selector, order) for order in permutations(start))
    assert sorted(best) == sorted(start)
    assert score(selector, best) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_those_that_must_come_before_do(seed):
    values, start = random_values(seed, n=400)
    waits = [0, 0, 0, 0, 0]
    waits[start[0]] = 1 << start[3] | 1 << start[4]
    waits[start[2]] = 1 << start[0]
    constraints = Constraints({}, (0,) * 5, tuple(waits))
    information = CountedInformation(table_of(values))
    selector = Selector(information, Permutation(0.01), constraints=constraints)
    place = {k: i for i, k in enumerate(best_order(selector, start, 1e-9))}
    allowed = [
        order
        for order in permutations(start)
        if order.index(start[0]) > max(order.index(start[3]), order.index(start[4]))
        and order.index(start[2]) > order.index(start[0])
    ]
    assert tuple(sorted(place, key=place.__getitem__)) in allowed
    expected = max(score(selector, order) for order in allowed)
    assert score(selector, sorted(place, key=place.__getitem__)) == pytest.approx(
        expected, abs=1e-9
    )


def test_equals_leave_the_order_alone():
    rng = np.random.default_rng(1)
    a = rng.random(3000) < 0.3
    b = a ^ (rng.random(3000) < 0.2)
    lonely = rng.random(3000) < 0.4
    selector = selector_of(np.column_stack([a, b, lonely]).astype(int))
    for order in permutations(range(3)):
        assert best_order(selector, order, 1e-6) == list(order)


def refined(seed: int):
    """From a random order, with the score of that."""
    values, start = random_values(seed, n=400)
    assert len(start) <= FEW
    selector = selector_of(values)
    return selector, start, refine(selector, start, 1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_refinement_that_moves_a_few_nodes_ends_at_the_best_order(seed):
    selector, start, found = refined(seed)
    assert found.score == pytest.approx(score(selector, found.order), abs=1e-9)
    assert found.rise == pytest.approx(found.score - score(selector, start), abs=1e-9)
    assert all(move.rise >= 0 for move in found.moves)
    if found.moves:
        expected = max(score(selector, order) for order in permutations(start))
        assert found.score == pytest.approx(expected, abs=1e-9)


def test_the_moves_lead_from_the_old_order_to_the_new():
    jumped = 0
    for seed in range(20):
        values, start = random_values(seed, n=400)
        found = Refined(list(start), select_along(selector_of(values), start), [])
        if not _try_all_orders(selector_of(values), found, 1e-9):
            continue
        now = list(start)
        for move in found.moves:
            now.remove(move.node)
            now.insert(now.index(move.before), move.node)
        assert now == found.order
        assert [move.rise > 0 for move in found.moves] == [False] * (len(found.moves) - 1) + [True]
        jumped += 1
    assert jumped > 5


def test_results_of_all_orders_are_saved_and_loaded(tmp_path):
    saved = 0
    for seed in range(30):
        values, _ = random_values(seed, n=800, d=6)
        model = tamis.TAM().fit({f"c{k}": column for k, column in enumerate(values.T.tolist())})
        if any(move.rise == 0 for move in model.trace_.moves):
            model.save(tmp_path / "run.json")
            assert tamis.load(tmp_path / "run.json") == model.result_
            assert "rose with a move after this one" in "".join(
                model.explain(name) for name in model.parents_
            )
            saved += 1
    assert saved


def test_a_column_that_never_varies_is_no_obstacle_to_knowledge():
    rng = np.random.default_rng(1)
    values, _ = random_values(3, n=800)
    columns = {f"c{k}": column for k, column in enumerate(values.T.tolist())}
    columns["still"] = ["same"] * 800
    names = rng.permutation([f"c{k}" for k in range(5)]).tolist()
    tiers = [names[:2], ["still"], names[2:]]
    with pytest.warns(tamis.TamisWarning, match="Constant columns"):
        model = tamis.TAM(knowledge={"tiers": tiers}).fit(columns)
    assert not any(a in names[2:] and b in names[:2] for a, b in model.graph_.edges)
    place = model.order_.index
    assert max(map(place, names[:2])) < min(map(place, names[2:]))
