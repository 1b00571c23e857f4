"""Random graphs follow their definitions, and their names say nothing."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise, product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from simulated_fits import even

from tamis.errors import SettingError
from tamis.simulate.graphs import (
    GRAPHS,
    Graph,
    attached,
    chain,
    decoded,
    each_with,
    er,
    layered,
    pairs_at,
    polyforest,
    sf,
    tree,
)
from tamis.simulate.streams import Purpose, Stream

sizes = st.integers(1, 12)
shares = st.floats(0, 1)
OPTIONS = {
    "tree": st.fixed_dictionaries({"d": sizes}),
    "er": sizes.flatmap(
        lambda d: st.fixed_dictionaries({"d": st.just(d), "edges": st.floats(0, d * (d - 1) / 2)})
    ),
    "sf": st.fixed_dictionaries({"d": sizes, "m": st.integers(1, 5), "new_to_old": st.booleans()}),
    "chain": st.fixed_dictionaries({"d": sizes}),
    "layered": st.fixed_dictionaries(
        {"widths": st.lists(st.integers(1, 4), min_size=1, max_size=4), "extra": shares}
    ),
    "polyforest": st.fixed_dictionaries({"d": sizes, "drop": shares}),
}


def undirected(graph):
    return frozenset(frozenset(edge) for edge in graph.edges)


@pytest.mark.parametrize("family", GRAPHS)
@given(data=st.data(), seed=st.integers(0, 2**70))
def test_every_graph_is_a_dag_over_names_that_sort(family, data, seed):
    options = data.draw(OPTIONS[family])
    graph = GRAPHS[family](**options, seed=seed)
    assert nx.is_directed_acyclic_graph(graph.to_networkx())
    assert len(graph.names) == options.get("d", sum(options.get("widths", [])))
    assert list(graph.names) == sorted(graph.names)
    place = {k: i for i, k in enumerate(graph.order)}
    assert all(place[p] < place[k] for k, given in enumerate(graph.parents) for p in given)
    assert graph == GRAPHS[family](**options, seed=seed)


def test_every_sequence_stands_for_a_tree_of_its_own():
    trees = {frozenset(map(frozenset, decoded(list(s)))) for s in product(range(5), repeat=3)}
    assert len(trees) == 5**3
    assert all(nx.is_tree(nx.Graph([tuple(edge) for edge in edges])) for edges in trees)


def test_a_decoded_sequence_is_what_networkx_makes_of_it():
    rng = np.random.default_rng(1)
    for d in range(2, 30):
        sequence = rng.integers(0, d, d - 2).tolist()
        expected = {frozenset(edge) for edge in nx.from_prufer_sequence(sequence).edges}
        assert set(map(frozenset, decoded(sequence))) == expected


def test_all_trees_on_four_nodes_and_all_directions_are_equally_likely():
    graphs = [tree(4, seed=seed) for seed in range(6400)]
    assert even(Counter(map(undirected, graphs)), 16)
    assert even(Counter(frozenset(graph.edges) for graph in graphs), 16 * 2**3)


def test_each_pair_is_taken_independently():
    chance, counts, tries = Stream(1, Purpose.GRAPH), Counter(), 4000
    for _ in range(tries):
        counts[tuple(each_with(0.3, 4, chance).tolist())] += 1
    sets = [one for size in range(5) for one in combinations(range(4), size)]
    expected = [tries * 0.3 ** len(one) * 0.7 ** (4 - len(one)) for one in sets]
    assert stats.chisquare([counts[one] for one in sets], expected).pvalue > 0.001


def test_places_are_numbered_pair_by_pair():
    pairs = [(i, j) for j in range(100) for i in range(j)]
    assert pairs_at(np.arange(len(pairs))).tolist() == list(map(list, pairs))
    # Where the square root is rounded: the first and the last place of a far column.
    for j in (10**4, 94906267, 10**8):
        first = j * (j - 1) // 2
        assert pairs_at(np.array([first - 1, first])).tolist() == [[j - 2, j - 1], [0, j]]


def test_the_number_of_edges_is_the_expected_one_on_average():
    numbers = [er(6, edges=6, seed=seed).n_edges for seed in range(2000)]
    observed = np.bincount(numbers, minlength=16)
    expected = 2000 * stats.binom(15, 6 / 15).pmf(np.arange(16))
    many = expected >= 5
    pooled = [*observed[many], observed[~many].sum()], [*expected[many], expected[~many].sum()]
    assert stats.chisquare(*pooled).pvalue > 0.001


def test_all_orders_of_a_full_graph_are_equally_likely():
    assert even(Counter(er(4, edges=6, seed=seed).order for seed in range(2400)), 24)


def test_a_new_node_prefers_those_with_many_edges():
    chance, counts = Stream(1, Purpose.GRAPH), Counter()
    for _ in range(3000):
        (_, first), (_, second), (_, third) = attached(4, 1, chance)
        assert first == 0
        counts[second, third] += 1
    # The node that the third was joined to has half of all ends, the two others a quarter.
    chances = {(a, b): 0.5 * (0.5 if a == b else 0.25) for a in (0, 1) for b in (0, 1, 2)}
    expected = [3000 * one for one in chances.values()]
    assert stats.chisquare([counts[one] for one in chances], expected).pvalue > 0.001


def test_of_equal_nodes_all_pairs_are_equally_likely():
    chance = Stream(2, Purpose.GRAPH)
    last = (frozenset(old for new, old in attached(4, 2, chance) if new == 3) for _ in range(1500))
    assert even(Counter(last), 3)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_old_nodes_collect_parents_or_children(m):
    graph = sf(300, m=m, seed=4).to_networkx()
    turned = sf(300, m=m, new_to_old=False, seed=4).to_networkx()
    assert set(graph.reverse().edges) == set(turned.edges)
    assert graph.number_of_edges() == m * 300 - m * (m + 1) // 2
    ins, outs = dict(graph.in_degree()), dict(graph.out_degree())
    # All but the first m nodes are joined to m older ones.
    assert sorted(outs.values())[: m + 1] == [*range(m), m]
    assert max(outs.values()) == m
    assert max(ins.values()) > 10 * m


def test_neither_name_nor_position_says_anything_about_the_order():
    assert even(Counter(chain(4, seed=seed).order for seed in range(2400)), 24)


def test_a_chain_is_one_path():
    graph = chain(30, seed=1)
    path = [graph.names[k] for k in graph.order]
    assert set(graph.edges) == set(pairwise(path))


@pytest.mark.parametrize(("extra", "edges"), [(0, 9), (1, 3 * 4 + 4 * 3 + 3 * 2)])
def test_layers_have_the_widths_that_were_asked_for(extra, edges):
    for seed in range(20):
        graph = layered(widths=[3, 4, 3, 2], extra=extra, seed=seed)
        layers = list(nx.topological_generations(graph.to_networkx()))
        assert [len(layer) for layer in layers] == [3, 4, 3, 2]
        layer_of = {name: i for i, layer in enumerate(layers) for name in layer}
        assert all(layer_of[end] == layer_of[start] + 1 for start, end in graph.edges)
        assert graph.n_edges == edges


def test_extra_parents_come_with_their_probability():
    numbers = [layered(widths=[5, 6], extra=0.3, seed=seed).n_edges for seed in range(400)]
    assert abs(np.mean(numbers) - (6 + 24 * 0.3)) < 4 * np.sqrt(24 * 0.21 / 400)


@pytest.mark.parametrize("components", [1, 4, 20])
def test_a_forest_has_as_many_trees_as_asked_for(components):
    forest = polyforest(20, components=components, seed=2).to_networkx().to_undirected()
    assert nx.is_forest(forest)
    assert nx.number_connected_components(forest) == components


def test_the_edges_of_a_forest_are_dropped_independently():
    kept = np.array([polyforest(11, drop=0.3, seed=seed).n_edges for seed in range(1000)])
    assert abs(kept.mean() - 7) < 4 * np.sqrt(10 * 0.21 / 1000)
    assert abs(kept.var() - 2.1) < 4 * 2.1 * np.sqrt(2 / 1000)


def test_all_forests_of_two_trees_on_three_nodes_are_equally_likely():
    graphs = [polyforest(3, components=2, seed=seed) for seed in range(1200)]
    assert even(Counter(graph.edges for graph in graphs), 6)


def test_a_graph_is_a_graph_of_networkx_and_back():
    graph = er(9, edges=12, seed=3)
    assert Graph.from_networkx(graph.to_networkx()).edges == graph.edges
    assert Graph.from_dict(graph.to_dict()) == graph
    assert repr(graph) == f"<Graph: 9 nodes, {graph.n_edges} edges>"


@pytest.mark.parametrize(
    ("family", "options", "message"),
    [
        ("tree", {"d": 0}, "d must be a whole number from 1 on, not 0"),
        ("tree", {"d": True}, "d must be a whole number from 1 on, not True"),
        ("chain", {"d": 2.5}, "d must be a whole number from 1 on, not 2.5"),
        ("er", {"d": 5, "edges": 11}, "edges must be a number from 0 to 10, not 11"),
        ("er", {"d": 5, "edges": float("nan")}, "edges must be a number from 0 to 10, not nan"),
        ("er", {"d": 5, "edges": "4"}, "edges must be a number from 0 to 10, not '4'"),
        ("sf", {"d": 5, "m": 0}, "m must be a whole number from 1 on, not 0"),
        ("sf", {"d": 5, "new_to_old": 1}, "new_to_old must be True or False, not 1"),
        ("layered", {"widths": []}, "widths must be a list of whole numbers from 1 on"),
        ("layered", {"widths": [3, 0]}, "every number in widths must be a whole number from 1"),
        ("layered", {"widths": [3], "extra": 2}, "extra must be a number from 0 to 1, not 2"),
        ("polyforest", {"d": 5}, "either components or drop, and not both"),
        ("polyforest", {"d": 5, "components": 2, "drop": 0.1}, "either components or drop"),
        ("polyforest", {"d": 5, "components": 6}, "components must be at most d, which is 5"),
        ("polyforest", {"d": 5, "drop": -0.1}, "drop must be a number from 0 to 1, not -0.1"),
        ("tree", {"d": 5, "seed": -1}, "seed must be a whole number from 0 on"),
    ],
)
def test_options_that_make_no_graph_are_refused(family, options, message):
    with pytest.raises(SettingError, match=message):
        GRAPHS[family](**{"seed": 1, **options})
