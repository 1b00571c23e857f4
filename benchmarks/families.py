"""Random tables that are not the paper's: what the default is measured on beside its models."""

from __future__ import annotations

from collections.abc import Callable

import networkx as nx
import numpy as np
import pandas as pd
from numpy.typing import NDArray

Made = tuple[pd.DataFrame, "nx.DiGraph[str]"]
Node = Callable[[NDArray[np.int64], np.random.Generator], NDArray[np.int64]]


def random_dag(rng: np.random.Generator, d: int, edges: float) -> nx.DiGraph[int]:
    """A DAG on d nodes in random order with about so many edges."""
    order = rng.permutation(d).tolist()
    pairs = [(order[i], order[j]) for j in range(d) for i in range(j)]
    chosen = rng.choice(len(pairs), min(rng.poisson(edges), len(pairs)), replace=False)
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(d))
    graph.add_edges_from(pairs[i] for i in chosen)
    return graph


def logistic(parents: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    slopes = rng.normal(0, 1.5, parents.shape[1])
    drive = rng.normal(0, 0.7) + (2 * parents - 1) @ slopes
    return (rng.random(len(parents)) < 1 / (1 + np.exp(-drive))).astype(np.int64)


def noisy_or(parents: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    strengths = rng.uniform(0.4, 0.9, parents.shape[1])
    silent = (1 - rng.uniform(0.05, 0.4)) * np.prod(1 - strengths * parents, axis=1)
    return (rng.random(len(parents)) < 1 - silent).astype(np.int64)


def dirichlet(parents: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Two to four levels, a table of its own for every state of the parents."""
    levels = int(rng.integers(2, 5))
    _, state = np.unique(parents, axis=0, return_inverse=True)
    tables = rng.dirichlet(np.full(levels, 0.7 if parents.shape[1] else 2.0), state.max() + 1)
    drawn = (rng.random(len(parents))[:, None] > tables[state.ravel()].cumsum(axis=1)).sum(axis=1)
    return np.minimum(drawn, levels - 1)


def threshold(low: float, high: float) -> Node:
    """A weighted vote of the parents, flipped with a probability drawn for each node."""

    def node(parents: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        weights = rng.choice([-1, 1], parents.shape[1]) * rng.uniform(0.7, 2.0, parents.shape[1])
        vote = (2 * parents - 1) @ weights > 0
        return (vote ^ (rng.random(len(parents)) < rng.uniform(low, high))).astype(np.int64)

    return node


def parity(parents: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """The paper's MOD."""
    return parents.sum(axis=1) % 2 ^ (rng.random(len(parents)) < 0.2).astype(np.int64)


def addition(parents: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """The paper's ADD."""
    return parents.sum(axis=1) + (rng.random(len(parents)) < 0.2)


FAMILIES: dict[str, Node] = {
    "MOD": parity,
    "ADD as labels": addition,
    "votes, equal noise": threshold(0.15, 0.15),
    "votes, noise 0.08 to 0.2": threshold(0.08, 0.2),
    "votes, noise 0.05 to 0.35": threshold(0.05, 0.35),
    "Dirichlet, 2 to 4 levels": dirichlet,
    "logistic": logistic,
    "noisy-or": noisy_or,
}


def labels(family: str, seed: int, d: int = 14, n: int = 3000, degree: float = 1.5) -> Made:
    """A table of labels, with about ``degree`` edges a node."""
    rng = np.random.default_rng([sum(map(ord, family)), seed, d])
    graph = random_dag(rng, d, degree * d)
    rows = np.zeros((n, d), dtype=np.int64)
    for k in nx.topological_sort(graph):
        rows[:, k] = FAMILIES[family](rows[:, sorted(graph.predecessors(k))], rng)
    return _named(pd.DataFrame(rows).astype(str), graph)


NOISE = ("equal noise", "unequal noise", "standardised", "random units")


def gaussian(kind: str, seed: int, d: int, edges: float, n: int) -> Made:
    """A linear Gaussian table; noise is unequal except where it is said to be equal."""
    rng = np.random.default_rng([sum(map(ord, kind)), seed, d, round(edges)])
    graph = random_dag(rng, d, edges)
    rows = np.zeros((n, d))
    for k in nx.topological_sort(graph):
        parents = sorted(graph.predecessors(k))
        weights = rng.choice([-1, 1], len(parents)) * rng.uniform(0.5, 2.0, len(parents))
        scale = 1.0 if kind == "equal noise" else rng.uniform(0.5, 2.0)
        rows[:, k] = rows[:, parents] @ weights + scale * rng.normal(size=n)
    if kind == "standardised":
        rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    if kind == "random units":
        rows *= 10 ** rng.uniform(-3, 3, d)
    return _named(pd.DataFrame(rows), graph)


def _named(frame: pd.DataFrame, graph: nx.DiGraph[int]) -> Made:
    names = {k: f"x{k:02d}" for k in graph}
    return frame.rename(columns=names), nx.relabel_nodes(graph, names)
