"""Brute force for comparisons of small graphs; imports nothing from tamis.

A graph is a dictionary from a pair in alphabetical order to ">", "<" or "-".
"""

from __future__ import annotations

from itertools import combinations, product


def orientations(graph):
    """All ways to direct the undirected edges of a graph."""
    loose = [pair for pair, kind in graph.items() if kind == "-"]
    for kinds in product("<>", repeat=len(loose)):
        yield {**graph, **dict(zip(loose, kinds, strict=True))}


def arrows(graph):
    return {pair if kind == ">" else pair[::-1] for pair, kind in graph.items() if kind != "-"}


def is_acyclic(graph, names):
    left, edges = set(names), arrows(graph)
    while left:
        free = {name for name in left if not any(a in left and b == name for a, b in edges)}
        if not free:
            return False
        left -= free
    return True


def colliders(graph, names):
    """The pairs of parents without an edge between them, each with its child."""
    edges = arrows(graph)
    return {
        (a, child, b)
        for child in names
        for a, b in combinations(sorted(names), 2)
        if (a, child) in edges and (b, child) in edges and (a, b) not in graph
    }


def cpdag(graph, names):
    """What all DAGs with the same skeleton and the same colliders share."""
    if "-" in graph.values() or not is_acyclic(graph, names):
        return graph
    wanted = colliders(graph, names)
    alike = [
        one
        for one in orientations(dict.fromkeys(graph, "-"))
        if is_acyclic(one, names) and colliders(one, names) == wanted
    ]
    return {pair: alike[0][pair] if len({o[pair] for o in alike}) == 1 else "-" for pair in graph}


def distance(one, other):
    """The pairs whose edge differs in any way."""
    return sum(one.get(pair) != other.get(pair) for pair in {*one, *other})


def within(graph, names):
    return {pair: kind for pair, kind in graph.items() if {*pair} <= {*names}}
