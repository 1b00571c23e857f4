"""Which DAG of a class: by listing all of them, in closed form, and where the paper's C3 holds."""

from __future__ import annotations

import math
from itertools import product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

import tamis
from tables import table_of
from tamis.constants import constants
from tamis.information.counted import CountedInformation
from tamis.information.exact import ExactInformation
from tamis.information.gaussian import GaussianInformation
from tamis.information.interface import Context
from tamis.knowledge import Constraints
from tamis.metrics import to_cpdag
from tamis.search.directions import directions
from tamis.search.members import Component
from tamis.search.noise import comparable, evenness
from tamis.simulate import draw


def members_by_hand(parents: dict[int, frozenset[int]]) -> list[dict[int, frozenset[int]]]:
    """All DAGs with the skeleton of this one and the same CPDAG, by trying all orientations."""
    d = len(parents)
    wanted = to_cpdag(matrix(parents))
    edges = [(p, k) for k in parents for p in parents[k]]
    found = []
    for turns in product((False, True), repeat=len(edges)):
        own: dict[int, set[int]] = {k: set() for k in range(d)}
        for (p, k), turn in zip(edges, turns, strict=True):
            own[p if turn else k].add(k if turn else p)
        graph = nx.DiGraph([(p, k) for k in own for p in own[k]])
        if nx.is_directed_acyclic_graph(graph):
            one = {k: frozenset(v) for k, v in own.items()}
            if (to_cpdag(matrix(one)) == wanted).all():
                found.append(one)
    return found


def matrix(parents: dict[int, frozenset[int]]) -> np.ndarray:
    found = np.zeros((len(parents), len(parents)), dtype=np.int8)
    for k, own in parents.items():
        for p in own:
            found[p, k] = 1
    return found


def random_dag(rng: np.random.Generator, d: int, share: float) -> dict[int, frozenset[int]]:
    order = rng.permutation(d).tolist()
    return {k: frozenset(j for j in order[:i] if rng.random() < share) for i, k in enumerate(order)}


def table_for(parents: dict[int, frozenset[int]], rng: np.random.Generator, n: int) -> np.ndarray:
    graph = nx.DiGraph()
    graph.add_nodes_from(parents)
    graph.add_edges_from((p, k) for k in parents for p in parents[k])
    values = np.zeros((n, len(parents)), dtype=int)
    for k in nx.topological_sort(graph):
        told = values[:, sorted(parents[k])].sum(axis=1) % 2
        values[:, k] = told ^ (rng.random(n) < rng.uniform(0.1, 0.3))
    values[:2] = [[0] * len(parents), [1] * len(parents)]  # nobody is constant
    return values


@given(st.integers(0, 10**6), st.integers(2, 5), st.floats(0.2, 0.9))
def test_probabilities_are_the_weights_of_all_members(seed, d, share):
    """The weight of a member is SS^(-(d - 1) / 2); the integral over the precision gives that. What
    the entropies alone would not claim stays below 0.9."""
    rng = np.random.default_rng(seed)
    parents = random_dag(rng, d, share)
    information = CountedInformation(table_of(table_for(parents, rng, 400)), "plugin")
    found = directions(information, parents)
    members = members_by_hand(parents)
    logs = np.array([evenness(information, one) for one in members])
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    arrows = {(p, k) for one in members for k in one for p in one[k]}
    for p, k in arrows:
        having = np.array([p in one[k] for one in members])
        wanted, before = weights[having].sum(), having.mean()
        if before < 1:
            even = wanted * (1 - before) / (wanted * (1 - before) + (1 - wanted) * before)
            if max(even, 1 - even) < 0.9:
                wanted = min(max(wanted, 0.11), 0.89)
            elif abs(max(even, 1 - even) - 0.9) < 5e-3:
                continue  # too close to call
        assert found.of(p, k) == pytest.approx(wanted, abs=2e-3)
    best = max(range(len(members)), key=lambda i: logs[i])
    assert evenness(information, found.parents) == pytest.approx(logs[best], abs=1e-6)


def test_two_nodes_have_a_closed_form():
    rng = np.random.default_rng(5)
    x = rng.random(3000) < 0.3
    y = x ^ (rng.random(3000) < 0.1)
    information = CountedInformation(table_of(np.column_stack([x, y]).astype(int)), "plugin")
    e = {
        (p, k): information.entropies([Context(p, ()), Context(k, (p,))])
        for p, k in ((0, 1), (1, 0))
    }
    spread = {edge: (own[0] - own[1]) ** 2 / 2 + 2 * 1.0 / 3000 for edge, own in e.items()}
    wanted = spread[0, 1] ** -0.5 / (spread[0, 1] ** -0.5 + spread[1, 0] ** -0.5)
    found = directions(information, {0: frozenset(), 1: frozenset({0})})
    assert found.of(0, 1) == pytest.approx(wanted, rel=1e-3)
    assert found.of(0, 1) + found.of(1, 0) == pytest.approx(1)


@pytest.mark.parametrize("seed", range(6))
def test_on_a_known_network_with_equal_noise_the_true_dag_is_certain(seed):
    made = draw("tree", "tables", d=7, n=10, seed=seed, entropy=0.3)
    network = made.network
    information = ExactInformation(network.names, network.parents, network.tables)
    place = {name: k for k, name in enumerate(information.names)}
    true = {place[k]: frozenset(place[p] for p in made.graph.predecessors(k)) for k in made.graph}
    for start in members_by_hand(true)[:3]:
        found = directions(information, start)
        assert found.parents == true
        assert all(found.of(p, k) > 1 - 1e-6 for k in true for p in true[k])


def test_a_component_that_is_no_tree_is_listed_as_far_as_there_is_room(monkeypatch):
    """A complete graph of four nodes has 24 members."""
    rng = np.random.default_rng(2)
    parents = {k: frozenset(range(k)) for k in range(4)}
    information = CountedInformation(table_of(table_for(parents, rng, 2000)))
    whole = directions(information, parents)
    assert whole.of(0, 1) + whole.of(1, 0) == pytest.approx(1)
    monkeypatch.setattr(constants, "most_members", 12)
    part = directions(information, parents)
    for p, k in ((0, 1), (1, 2), (2, 3)):
        assert part.probabilities.get((p, k), 0) == pytest.approx(whole.of(p, k), abs=0.25)


def test_members_that_knowledge_allows_are_listed_before_there_is_no_room(monkeypatch):
    """A source above two chains: 9 members of many have it at the top."""
    rng = np.random.default_rng(4)
    parents = {0: frozenset(), 1: frozenset({0}), 2: frozenset({0, 1}), 3: frozenset({0, 2})}
    parents |= {4: frozenset({0}), 5: frozenset({0, 4}), 6: frozenset({0, 5})}
    information = CountedInformation(table_of(table_for(parents, rng, 400)))
    constraints = Constraints({}, (0b1111110, *(0,) * 6), (0,) * 7)
    whole = directions(information, parents, constraints)
    monkeypatch.setattr(constants, "most_members", 9)
    cut = directions(information, parents, constraints)
    assert cut.probabilities == pytest.approx(whole.probabilities)
    assert 0.01 < cut.of(1, 2) < 0.99


def test_knowledge_rules_members_out():
    rng = np.random.default_rng(7)
    parents = {0: frozenset(), 1: frozenset({0}), 2: frozenset({1})}
    information = CountedInformation(table_of(table_for(parents, rng, 1000)))
    constraints = Constraints({}, (0b110, 0, 0), (0, 0, 0))  # nobody is a parent of 0
    found = directions(information, parents, constraints)
    assert found.parents == parents
    assert {(0, 1), (1, 2)} <= found.compelled


@pytest.mark.parametrize(("spread", "size"), [(0.01, 4), (0.8, 3), (5.0, 8), (60.0, 12), (0.3, 2)])
def test_whether_units_can_be_compared_is_the_odds_of_two_laws(spread, size):
    """A scale that may be anything up to arbitrary ones, against the arbitrary one itself."""

    def likelihood(scale: float) -> float:
        return scale ** (1 - size) * math.exp(-spread / (2 * scale**2))

    finest, widest = constants.finest_spread, constants.arbitrary_spread
    within, _ = quad(lambda u: likelihood(math.exp(u)), math.log(finest), math.log(widest))
    within /= math.log(widest / finest)
    wanted = within / (within + likelihood(widest))
    assert comparable(spread, size) == pytest.approx(wanted, abs=0.01)


def test_units_that_are_said_to_be_the_same_are_not_doubted():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2, 500))
    x[1] += x[0]
    information = GaussianInformation(["a", "b"], np.cov(x * [[1.0], [3.0]]), 500)
    parents = {0: frozenset[int](), 1: frozenset({0})}
    doubted = directions(information, parents).of(0, 1)
    said = directions(information, parents, same_units=True).of(0, 1)
    assert abs(said - 0.5) > abs(doubted - 0.5)


@pytest.mark.parametrize("kind", ["numbers", "labels"])
def test_that_most_members_have_an_arrow_says_nothing_for_it(kind):
    """Of a star with 14 leaves 14 of 15 members point at any one leaf, the true root among them."""
    rng = np.random.default_rng(0)
    if kind == "numbers":
        root = rng.normal(size=1000)
        hub = 0.9 * root + rng.normal(size=1000)
        columns = {"root": root, "hub": hub}
        columns |= {f"leaf{j}": 0.9 * hub + rng.normal(size=1000) for j in range(13)}
        columns = {name: x * 10 ** rng.uniform(-3, 3) for name, x in columns.items()}
    else:
        root = rng.random(3000) < 0.5
        hub = root ^ (rng.random(3000) < 0.05)
        columns = {"root": root.astype(str), "hub": hub.astype(str)}
        for j in range(13):
            flipped = rng.random(3000) < rng.uniform(0.1, 0.4)
            columns[f"leaf{j}"] = (hub ^ flipped).astype(str)
    model = tamis.TAM().fit(columns)
    reversible = [e for e in model.result_.edges if model.cpdag_.has_edge(e.child, e.parent)]
    assert len(reversible) > 10
    claimed = [edge for edge in reversible if edge.is_claimed]
    assert not any(edge.parent == "hub" and edge.child == "root" for edge in claimed)
    if kind == "numbers":
        assert not claimed


@pytest.mark.parametrize("seed", range(20))
def test_arbitrary_units_leave_directions_open(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(6, 1000))
    for k in range(1, 6):
        x[k] += 0.8 * x[k - 1]
    parents = {0: frozenset(), **{k: frozenset({k - 1}) for k in range(1, 6)}}

    def probability(scales: np.ndarray) -> list[float]:
        covariance = np.cov(x * scales[:, None])
        information = GaussianInformation([f"x{k}" for k in range(6)], covariance, 1000)
        found = directions(information, parents)
        return [max(found.of(k - 1, k), found.of(k, k - 1)) for k in range(1, 6)]

    assert min(probability(np.ones(6))) > 0.9
    assert max(probability(np.exp(rng.normal(0, 3, 6)))) < 0.9
    assert probability(1 / x.std(axis=1, ddof=1)) == pytest.approx(
        [max(k, 6 - k) / 6 for k in range(1, 6)]
    )  # standardised: every root is as likely


def test_groups_are_compared_apart():
    """Numbers of a table with levels have their own law: their scale does not touch the levels."""
    rng = np.random.default_rng(3)
    n = 800
    a = rng.random(n) < 0.2
    b = a ^ (rng.random(n) < 0.2)
    u = rng.normal(size=n)
    v = u + rng.normal(size=n)
    frames = [
        {"a": a.astype(str), "b": b.astype(str), "u": u * scale, "v": v * scale}
        for scale in (1.0, 1e6)
    ]
    found = [
        {(e.parent, e.child): e.direction_probability for e in tamis.TAM().fit(f).result_.edges}
        for f in frames
    ]
    assert found[0].keys() == found[1].keys()
    assert all(found[0][edge] == pytest.approx(found[1][edge], abs=1e-6) for edge in found[0])
    assert all(math.isfinite(p) for p in found[0].values())


class Two(Component):
    """A component of two nodes, of which all listed members have the same arrow."""

    def __init__(self, n_listed, *, is_cut):
        self.nodes, self.is_cut = [0, 1], is_cut
        self.allowed = np.ones(n_listed, dtype=bool)

    def parents(self, member):
        return {0: frozenset(), 1: frozenset({0})}

    def sums(self, weights):
        return {(0, 1): float(weights.sum()), (1, 0): 0.0}


@pytest.mark.parametrize(
    ("is_cut", "falls", "stated"), [(False, 0.0, 1.0), (True, 0.0, 0.89), (True, 0.1, 1.0)]
)
def test_what_all_of_a_cut_list_have_is_claimed_only_if_weights_have_fallen(is_cut, falls, stated):
    one = Two(1000, is_cut=is_cut)
    share = np.exp(-falls * np.arange(1000))
    found = one.probabilities(share / share.sum())
    assert found[0, 1] == pytest.approx(stated)
    assert found[1, 0] == pytest.approx(1 - stated)
