"""Brute-force twins of the metrics, on dictionaries and sets; nothing is imported from tamis."""

from __future__ import annotations

from itertools import combinations, permutations, product

import networkx as nx


def edge_between(graph, i, j):
    """None, "→", "←" or "-": the edge of a networkx.DiGraph as seen from i."""
    forth, back = graph.has_edge(i, j), graph.has_edge(j, i)
    return {(0, 0): None, (1, 0): "→", (0, 1): "←", (1, 1): "-"}[forth, back]


def pairs(graph):
    return combinations(sorted(graph), 2)


def shd(learned, true, undirected):
    distance = 0
    for i, j in pairs(true):
        ours, theirs = edge_between(learned, i, j), edge_between(true, i, j)
        if ours == theirs:
            continue
        both = ours is not None and theirs is not None
        if undirected == "favourable" and both and "-" in (ours, theirs):
            continue
        distance += 1
    return distance


def counts(learned, true, undirected):
    """(right, learned, true) of edges with their directions."""
    right = 0
    for i, j in pairs(true):
        ours, theirs = edge_between(learned, i, j), edge_between(true, i, j)
        if ours is None or theirs is None:
            continue
        loose = undirected == "favourable" and "-" in (ours, theirs)
        right += ours == theirs or loose
    return right, n_edges(learned), n_edges(true)


def n_edges(graph):
    return sum(edge_between(graph, i, j) is not None for i, j in pairs(graph))


def orientation(learned, true):
    """(right, learned, true) of directions where both have an edge."""
    shared = [
        (edge_between(learned, i, j), edge_between(true, i, j))
        for i, j in pairs(true)
        if edge_between(learned, i, j) and edge_between(true, i, j)
    ]
    right = sum(a == b and a != "-" for a, b in shared)
    return right, sum(a != "-" for a, _ in shared), sum(b != "-" for _, b in shared)


def all_dags(n):
    """Every DAG over n nodes."""
    places = list(combinations(range(n), 2))
    for kinds in product((0, 1, 2), repeat=len(places)):
        graph = nx.DiGraph()
        graph.add_nodes_from(range(n))
        for (i, j), kind in zip(places, kinds, strict=True):
            if kind:
                graph.add_edge(*((i, j) if kind == 1 else (j, i)))
        if nx.is_directed_acyclic_graph(graph):
            yield graph


def v_structures(dag):
    found = set()
    for child in dag:
        for a, b in combinations(sorted(dag.predecessors(child)), 2):
            if not dag.has_edge(a, b) and not dag.has_edge(b, a):
                found.add((a, child, b))
    return frozenset(found)


def skeleton(dag):
    return frozenset(frozenset(edge) for edge in dag.edges)


def separations(dag):
    """Every d-separation of two nodes by a set."""
    found = set()
    for i, j in pairs(dag):
        rest = [k for k in dag if k not in (i, j)]
        for size in range(len(rest) + 1):
            for given in combinations(rest, size):
                if nx.is_d_separator(dag, {i}, {j}, set(given)):
                    found.add((i, j, given))
    return frozenset(found)


def sid(learned, true):
    """The pairs whose effect comes out wrong when the learned parents are adjusted for."""
    return sum(not _effect_is_right(learned, true, i, j) for i, j in permutations(true, 2))


def _effect_is_right(learned, true, i, j):
    adjusted = set(learned.predecessors(i))
    if j in adjusted:
        # The learned graph says that i does nothing to j.
        return j not in nx.descendants(true, i)
    on_the_way = (nx.descendants(true, i) & nx.ancestors(true, j)) | {j}
    on_the_way &= nx.descendants(true, i)
    spoiled = set(on_the_way).union(*(nx.descendants(true, k) for k in on_the_way))
    if adjusted & spoiled:
        return False
    backdoor = true.copy()
    backdoor.remove_edges_from([(i, k) for k in list(true.successors(i)) if k in on_the_way])
    return nx.is_d_separator(backdoor, {i}, {j}, adjusted)
