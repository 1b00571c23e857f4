"""Each method on samples whose CPDAG is known."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import permutations

import networkx as nx
import numpy as np
import pytest
from baseline_samples import CHAIN, COLLIDER, N_ROWS, additive

import tamis
from tamis.baselines import available, run
from tamis.baselines.ges import GES
from tamis.baselines.linear import FLOP
from tamis.baselines.pc import PC
from tamis.baselines.running import BASELINES, missing_modules
from tamis.metrics import scores, shd, to_cpdag

NAMES = ["pc", "pc-g2", "ges", "ges-bic", "hill-climbing", "tabu", "miic", "boss", "flop"]


@pytest.fixture(autouse=True)
def _installed(request):
    name = request.node.callspec.params.get("name") if hasattr(request.node, "callspec") else None
    if isinstance(name, str) and not available()[name]:
        pytest.skip(f"the library of {name} is not installed")


def learned(name, data):
    found = run(name, data)
    assert found.failure is None
    assert not found.timed_out
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_chain_has_no_directions(name):
    found = learned(name, CHAIN.sample(N_ROWS, seed=1))
    ref = {(a, b) for a, b in CHAIN.graph.edges} | {(b, a) for a, b in CHAIN.graph.edges}
    assert set(found.graph.edges) == ref


# Not BOSS: from its one start it ends, by the order in which it visits columns, in another graph.
@pytest.mark.parametrize("name", [name for name in NAMES if name != "boss"])
def test_a_collider_has_all_directions_and_odd_names_survive(name):
    found = learned(name, COLLIDER.sample(N_ROWS, seed=1))
    assert set(found.graph.edges) == set(COLLIDER.graph.edges)
    assert list(found.graph) == list(COLLIDER.names)
    assert scores(found, COLLIDER).shd_strict == 0


@pytest.mark.parametrize("name", [*NAMES, "equal-variance"])
def test_levels_may_be_many_and_the_result_repeats(name):
    # Sums of two, three and four levels.
    tree = nx.DiGraph([("u", "v"), ("v", "w")])
    tree.add_node("x")
    data = additive(tree, N_ROWS, seed=3)
    found = learned(name, data)
    assert shd(found, tree) == 0
    assert set(learned(name, data).graph.edges) == set(found.graph.edges)


@pytest.mark.parametrize("name", [*NAMES, "equal-variance"])
def test_constant_columns_get_no_edges(name):
    tree = nx.DiGraph([("u", "v"), ("v", "w")])
    data = additive(tree, N_ROWS, seed=3)
    with pytest.warns(tamis.TamisWarning, match="Constant columns"):
        found = run(name, {"same": np.zeros(N_ROWS, dtype=int), **data})
    assert found.failure is None
    assert list(found.graph) == ["same", "u", "v", "w"]
    assert found.graph.degree("same") == 0
    assert nx.utils.graphs_equal(
        nx.DiGraph(found.graph.subgraph(["u", "v", "w"])), nx.DiGraph(learned(name, data).graph)
    )


@pytest.mark.parametrize("name", [*NAMES, "equal-variance"])
def test_two_columns_and_columns_without_relation(name):
    rng = np.random.default_rng(7)
    alone = {f"v{k}": rng.integers(0, 3, N_ROWS) for k in range(4)}
    assert learned(name, alone).graph.number_of_edges() == 0
    pair = run(name, additive(nx.DiGraph([("u", "v")]), N_ROWS, seed=1))
    if name in ("ges", "boss"):
        assert "not defined for two columns" in pair.failure
    else:
        assert pair.graph.has_edge("u", "v")


@pytest.mark.parametrize("time_limit", [None, 60])
@pytest.mark.parametrize("name", ["flop", GES(score="gaussian")])
def test_measured_columns_are_taken_as_they_are(name, time_limit):
    rng = np.random.default_rng(5)
    a, b, c, d = rng.normal(size=(4, 1000))
    c += a + b
    d += c
    found = run(name, {"a": a, "b": b, "c": c, "d": d}, time_limit=time_limit)
    assert found.failure is None
    assert set(found.graph.edges) == {("a", "c"), ("b", "c"), ("c", "d")}
    same = np.full(1000, 0.5)
    with pytest.warns(tamis.TamisWarning, match="Constant columns"):
        found = run(name, {"c": c, "same": same, "d": d}, time_limit=time_limit)
    assert set(found.graph.edges) == {("c", "d"), ("d", "c")}


@pytest.mark.parametrize(
    "name", [name for name, one in BASELINES.items() if not getattr(one, "takes_numbers", False)]
)
def test_measured_columns_are_refused_where_levels_are_needed(name):
    x = np.random.default_rng(5).normal(size=(2, 100))
    with pytest.raises(tamis.DataError, match="not integers"):
        run(name, {"a": x[0], "b": x[1]})


def test_equal_variance_takes_measured_columns():
    rng = np.random.default_rng(6)
    a = rng.normal(size=500)
    b = a + rng.normal(size=500)
    found = run("equal-variance", {"b": b, "a": a, "c": b + rng.normal(size=500)})
    assert set(found.graph.edges) == {("a", "b"), ("b", "c")}


def test_a_larger_penalty_gives_a_sparser_graph():
    data = COLLIDER.sample(N_ROWS, seed=1)
    for method in (PC(), GES(score="bic"), GES(score="gaussian"), FLOP()):
        if not missing_modules(method):
            found = run(replace(method, penalty=200.0), data)
            assert found.graph.number_of_edges() < run(method, data).graph.number_of_edges()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["hill-climbing"])
def test_hill_climbing_ends_where_no_change_of_one_arc_improves_bic(name, seed):
    # With the columns in this order it may well end in a triangle, which is such a place.
    drawn = COLLIDER.sample(N_ROWS, seed=seed)
    data = {column: drawn[column] for column in sorted(drawn)}
    cpdag = learned(name, data).graph
    assert any(_is_local_optimum(dag, data) for dag in _members(cpdag))


def _members(cpdag):
    """The DAGs whose CPDAG this is."""
    arrows = [(a, b) for a, b in cpdag.edges if not cpdag.has_edge(b, a)]
    lines = [(a, b) for a, b in cpdag.edges if cpdag.has_edge(b, a) and a < b]
    for turned in np.ndindex(*(2 for _ in lines)):
        dag = nx.DiGraph()
        dag.add_nodes_from(cpdag)
        dag.add_edges_from(arrows)
        dag.add_edges_from(
            line[::-1] if turn else line for line, turn in zip(lines, turned, strict=True)
        )
        if nx.is_directed_acyclic_graph(dag) and set(to_cpdag(dag).edges) == set(cpdag.edges):
            yield dag


def _is_local_optimum(dag, data):
    def bic(graph):
        return tamis.BayesianNetwork.fit(graph, data).bic(data)

    return all(bic(changed) <= bic(dag) + 1e-6 for changed in _neighbours(dag))


def _neighbours(dag):
    """The DAGs with one arc added, removed or turned."""
    for a, b in permutations(dag, 2):
        changed = dag.copy()
        if dag.has_edge(a, b):
            changed.remove_edge(a, b)
            yield changed.copy()
            changed.add_edge(b, a)
        elif not dag.has_edge(b, a):
            changed.add_edge(a, b)
        if nx.is_directed_acyclic_graph(changed):
            yield changed


def test_boss_repeats_itself_and_leaves_the_random_numbers_of_others_alone():
    rows = COLLIDER.sample(N_ROWS, seed=1)
    random.seed(5)
    wanted = random.random()
    random.seed(5)
    first, second = (learned("boss", rows) for _ in range(2))
    assert random.random() == wanted
    assert set(first.graph.edges) == set(second.graph.edges)
    assert list(first.graph) == list(COLLIDER.names)
