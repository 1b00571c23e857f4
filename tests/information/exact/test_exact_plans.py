"""How answers are planned: orders against naive twins, the best plan, what is made and kept."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.information import inference as plans
from tamis.information.inference import Inference, Made, Planner
from tamis.information.separation import (
    Dag,
    Splitter,
    fewest_links,
    members,
    node_set,
    smallest_table,
)

seeds = st.integers(0, 2**32 - 1)


def sparse(seed, d):
    """Two parents a node, and levels that differ."""
    rng = np.random.default_rng(seed)
    parents = [tuple(rng.choice(k, size=min(k, 2), replace=False).tolist()) for k in range(d)]
    return Dag(parents), rng.choice([2, 3, 6], size=d).tolist()


def naive_order(graph, nodes, cost):
    """Eliminate the cheapest node, the first of equals, all costs computed anew each time."""
    graph = {k: set(members(around)) for k, around in graph.items()}
    turns = []
    left = set(members(nodes))
    while left:
        k = min(left, key=lambda one: (cost(graph, one), one))
        around = graph.pop(k)
        turns.append((k, node_set(around)))
        for other in around:
            graph[other] = (graph[other] | around) - {k, other}
        left.remove(k)
    return turns


@given(seeds)
def test_orders_are_greedy(seed):
    dag, levels = sparse(seed, 14)
    graph = dag.moral(2**14 - 1)
    hidden = 2**14 - 1 - 0b10010000000001

    def cells(graph, k):
        return math.prod(levels[other] for other in {k, *graph[k]})

    def links(graph, k):
        around = graph[k]
        return sum(levels[a] * levels[b] for a in around for b in around - graph[a] - {a})

    assert smallest_table(graph, hidden, levels) == naive_order(graph, hidden, cells)
    assert fewest_links(graph, hidden, levels) == naive_order(graph, hidden, links)


def test_the_better_of_two_orders_is_taken(monkeypatch):
    monkeypatch.setattr(plans, "LIGHT", 0)
    winners = set()
    for seed in range(30):
        dag, levels = sparse(seed, 40)
        planner = Planner(dag, levels)
        wanted = 0b11 << 38
        graph = dag.moral(dag.ancestral(wanted))
        by_size = planner._by(smallest_table, graph, wanted).cells
        by_links = planner._by(fewest_links, graph, wanted).cells
        assert planner.plan(wanted).cells == min(by_size, by_links)
        winners.add(by_size < by_links)
    assert winners == {True, False}


@given(seeds)
def test_a_plan_uses_every_table_once_and_sums_as_early_as_it_can(seed):
    dag, levels = sparse(seed, 12)
    wanted = 1 << 11 | 1 << 5
    found = Planner(dag, levels).plan(wanted)
    conditionals = [Made(1 << k, dag.parents[k] | 1 << k) for k in members(dag.ancestral(wanted))]
    used = [operand for step in found.steps for operand in step.operands]
    made = [step.result for step in found.steps]
    assert sorted([*used, found.result]) == sorted([*conditionals, *made])
    assert found.result.scope == wanted
    left = list(conditionals)
    for step in found.steps:
        # Only what the network gave is ever summed by itself; the rest in the making.
        assert len(step.operands) == 2 or step.operands[0] in conditionals
        for operand in step.operands:
            left.remove(operand)
        gone = step.scope & ~step.result.scope
        assert not gone & (wanted | node_set(k for t in left for k in members(t.scope)))
        left.append(step.result)


@given(seeds)
def test_only_what_matters_is_in_a_conditional_entropy(seed):
    dag, levels = sparse(seed, 14)
    splitter = Splitter(dag, levels)
    k, *rest = np.random.default_rng(seed).permutation(14).tolist()
    inside = node_set(rest[:9])
    relevant = dag.reached(1 << k, inside) & inside
    assert all(not part & ~(relevant | 1 << k) for part in splitter.conditional(1 << k, inside))


@given(seeds)
def test_pieces_are_sets_that_touch_each_other_and_never_more_than_the_whole(seed):
    dag, levels = sparse(seed, 14)
    whole = node_set(np.random.default_rng(seed).permutation(14)[:9].tolist())
    terms = Splitter(dag, levels).joint(whole)
    for part in terms:
        assert part
        assert not part & ~whole
        assert all(around | 1 << k == part for k, around in dag.marginal(part).items())
    assert node_set(k for part in terms for k in members(part)) == whole


def test_a_difference_is_judged_by_the_size_of_what_it_is_made_of():
    inference = Inference(["a", "b"], [(), ()], [np.full(2, 0.5), np.full(2, 0.5)], 2**20)
    inference._entropies = {1: 1000.0, 2: 1000.0 - 5e-12, 3: 1.0, 4: 1.0 - 5e-12}
    large, small, negative = inference.values([{1: 1, 2: -1}, {3: 1, 4: -1}, {4: 1, 3: -1}])
    assert large == 0.0
    assert small == pytest.approx(5e-12, rel=1e-3)
    assert negative == 0.0
