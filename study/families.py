"""Random tables with known graphs: levels, numbers, both, and independent columns of odd shapes.

Everything is drawn by numpy alone, so that a seed gives the same table whatever becomes of tamis.
A family turns a DAG into columns; a node turns the values of its parents, row by row, into its own.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import networkx as nx
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from study import check, stream

Rng = np.random.Generator
Values = NDArray[Any]
Dag: TypeAlias = "nx.DiGraph[Any]"
Edges = list[tuple[int, int]]
Node = Callable[..., Values]
Family = Callable[..., list[Values]]


@dataclass(frozen=True)
class Drawn:
    """A table, and the true DAG over its columns, or None where it is not known."""

    frame: pd.DataFrame
    graph: Dag | None


def draw(
    family: str,
    *,
    nodes: int,
    rows: int,
    seed: int,
    graph: str = "er",
    edges_per_node: float = 1.5,
    missing: float = 0.0,
    m: int = 1,
    **options: float,
) -> Drawn:
    """Draw a table; ``m`` is that of scale-free graphs, ``options`` are the family's own.

    ``unfaithful`` has four nodes and a graph of its own, families called odd-... have no edges. A
    share ``missing`` of the cells is hidden completely at random.
    """
    check("family", family, FAMILIES)
    check("graph", graph, GRAPHS)
    what = (family, graph, nodes, rows)
    rng = stream(seed, *what)
    dag = nx.empty_graph(4 if family == "unfaithful" else nodes, create_using=nx.DiGraph)
    if family == "unfaithful":
        dag.add_edges_from([(0, 2), (1, 2), (1, 3), (2, 3)])
    elif not family.startswith("odd-"):
        dag.add_edges_from(GRAPHS[graph](nodes, edges_per_node, m, rng))
    drawn = anonymous(FAMILIES[family](dag, rows, rng, **options), dag, rng)
    gaps = stream(seed, "gaps", *what)
    return replace(drawn, frame=with_gaps(drawn.frame, missing, gaps)) if missing else drawn


def anonymous(columns: Sequence[Values], dag: Dag, rng: Rng) -> Drawn:
    """The columns in random order, and named by it."""
    width = max(2, len(str(len(columns) - 1)))
    order = rng.permutation(len(columns)).tolist()
    names = {k: f"v{place:0{width}d}" for place, k in enumerate(order)}
    # With its dtype given, pandas leaves text as Python strings, in which None is what is missing.
    series = {names[k]: pd.Series(columns[k], dtype=columns[k].dtype) for k in order}
    graph: Dag = nx.DiGraph()
    graph.add_nodes_from(series)
    graph.add_edges_from((names[parent], names[child]) for parent, child in dag.edges)
    return Drawn(pd.DataFrame(series), graph)


def with_gaps(frame: pd.DataFrame, share: float, rng: Rng) -> pd.DataFrame:
    """The table without this share of its cells; every column keeps one at least."""
    found = {}
    for name, column in frame.items():
        gone = rng.random(len(column)) < share
        gone[rng.integers(len(column))] = False
        # Whole numbers stay whole; pandas turns None into what is missing for the other types.
        found[name] = column.astype("Int64") if column.dtype.kind == "i" else column.copy()
        found[name][gone] = None
    return pd.DataFrame(found)


def er(nodes: int, edges_per_node: float, _m: int, rng: Rng) -> Edges:
    """Each pair is joined independently, so many edges a node in the mean; from low to high."""
    chosen = rng.random((nodes, nodes)) < 2 * edges_per_node / max(nodes - 1, 1)
    return [(i, j) for i, j in np.argwhere(np.triu(chosen, k=1)).tolist()]


def tree(nodes: int, _edges_per_node: float, _m: int, rng: Rng, *, coins: bool = True) -> Edges:
    """A uniform labelled tree; edges point by coins, or as the authors' to the smaller label."""
    if nodes < 2:
        return []
    joined = nx.from_prufer_sequence(rng.integers(nodes, size=nodes - 2).tolist()).edges
    edges = sorted((max(pair), min(pair)) for pair in joined)
    turned = rng.random(len(edges)) < (0.5 if coins else 0.0)
    return [edge[::-1] if turn else edge for edge, turn in zip(edges, turned, strict=True)]


def sf(nodes: int, _edges_per_node: float, m: int, rng: Rng, *, total: bool = True) -> Edges:
    """Barabasi-Albert: each new node points to ``m`` old ones, likelier those with many edges.

    The first nodes point to all before them. If it is not the ``total`` degree that attracts, it
    is the in-degree + 1: igraph's default, which the authors' program uses.
    """
    edges, attraction = [], np.zeros(nodes)
    for new in range(nodes):
        olds = np.arange(new)
        if new > m:
            olds = rng.choice(new, m, False, attraction[:new] / attraction[:new].sum())
        attraction[olds] += 1
        attraction[new] = len(olds) if total else 1
        edges += [(new, old) for old in olds.tolist()]
    return edges


GRAPHS: dict[str, Callable[[int, float, int, Rng], Edges]] = {
    "er": er,
    "tree": tree,
    "tree-by-label": partial(tree, coins=False),
    "sf": sf,
    "sf-igraph": partial(sf, total=False),
}


def by_node(node: Node, kind: type = float, tries: int = 1) -> Family:
    """All nodes are drawn in one way; they are tried again while one level has 95% of the rows."""

    def family(dag: Dag, rows: int, rng: Rng, **options: float) -> list[Values]:
        table: Values = np.zeros((rows, len(dag)), dtype=kind)
        for k in nx.topological_sort(dag):
            parents = table[:, sorted(dag.predecessors(k))]
            for _ in range(tries):
                table[:, k] = node(parents, rng, **options)
                if tries == 1 or np.bincount(table[:, k]).max() <= 0.95 * rows:
                    break
        return list(table.T)

    return family


def afterwards(family: Family, change: Callable[[Values, Rng], Values]) -> Family:
    """A family whose columns are changed, one by one, when all of them are drawn."""

    def changed(dag: Dag, rows: int, rng: Rng, **options: float) -> list[Values]:
        return [change(column, rng) for column in family(dag, rows, rng, **options)]

    return changed


LETTERS = np.array(list(string.ascii_letters), dtype=object)


def text(column: Values, _rng: Rng | None = None) -> Values:
    """Codes as letters, which nothing reads as numbers; numbers as they are."""
    return np.asarray(LETTERS[column]) if column.dtype.kind == "i" else column


def labels(node: Node) -> Family:
    """A family of text, from nodes whose values are codes."""
    return afterwards(by_node(node, int, tries=50), text)


def picked(evenness: Values, state: Values, rng: Rng) -> Values:
    """Codes from a Dirichlet distribution of its own for every state."""
    below = rng.dirichlet(evenness, state.max() + 1).cumsum(axis=1)[state, :-1]
    return np.asarray((rng.random((len(state), 1)) > below).sum(axis=1))


def states(columns: Values) -> Values:
    """The number of each row's joint state among those that occur."""
    return np.unique(columns, axis=0, return_inverse=True)[1].reshape(-1)


def signed(rng: Rng, low: float, high: float, size: int | tuple[int, int]) -> Values:
    """Sizes drawn evenly, signs by a coin."""
    return np.asarray(rng.choice([-1, 1], size) * rng.uniform(low, high, size))


def standard(column: Values, _rng: Rng | None = None) -> Values:
    """Mean 0 and variance 1."""
    return np.asarray((column - column.mean(axis=0)) / column.std(axis=0))


def cut(column: Values, rng: Rng, least: int = 3, most: int = 6) -> Values:
    """Whole numbers: the column cut at random quantiles into ``least`` to ``most`` levels."""
    shares = rng.dirichlet(np.full(rng.integers(least, most + 1), 4.0))
    return np.searchsorted(np.quantile(column, shares.cumsum()[:-1]), column)


def logistic(parents: Values, rng: Rng) -> Values:
    """Two levels whose log odds add up over the parents."""
    drive = rng.normal(0, 0.7) + (2 * parents - 1) @ rng.normal(0, 1.5, parents.shape[1])
    return (rng.random(len(parents)) < 1 / (1 + np.exp(-drive))).astype(int)


def noisy_or(parents: Values, rng: Rng) -> Values:
    """Two levels: each parent that is 1 may cause a 1, and so may chance, all independently."""
    strengths = rng.uniform(0.4, 0.9, parents.shape[1])
    silent = (1 - rng.uniform(0.05, 0.4)) * np.prod(1 - strengths * parents, axis=1)
    return np.asarray(rng.random(len(parents)) > silent)


def own_table(parents: Values, rng: Rng, skewed: bool = False) -> Values:
    """Two to four levels, or three to five uneven ones; a table for every state of the parents."""
    evenness = np.full(rng.integers(2, 5), 0.7 if parents.shape[1] else 2.0)
    if skewed:
        evenness = rng.uniform(1.5, 3.0) * 0.5 ** np.arange(rng.integers(3, 6))
    return picked(evenness, states(parents), rng)


def threshold(parents: Values, rng: Rng) -> Values:
    """Two levels: a weighted vote of the parents, flipped with a probability of .05 to .2."""
    size = parents.shape[1]
    low, high = (0.05, 0.2) if size else (0.3, 0.7)
    # Of two parents the weightier would decide alone: an even number of them needs one more vote.
    chair = 0 if size % 2 else rng.choice([-1, 1])
    vote = (2 * parents - 1) @ signed(rng, 0.8, 1.2, size) + chair > 0
    return (vote ^ (rng.random(len(parents)) < rng.uniform(low, high))).astype(int)


def context(parents: Values, rng: Rng) -> Values:
    """Two to four levels: a random decision tree over the parents picks the distribution.

    Half of the branches end at each parent; one at least goes on, so that all parents matter.
    """
    leaf, grows = np.zeros(len(parents), dtype=int), np.full(len(parents), True)
    for parent in rng.permutation(parents.T):
        leaf = states(np.column_stack([leaf, np.where(grows, parent, -1)]))
        goes_on = rng.random(leaf.max() + 1) < 0.5
        goes_on[rng.choice(leaf[grows])] = True
        grows &= goes_on[leaf]
    return picked(np.full(rng.integers(2, 5), 0.7 if parents.shape[1] else 2.0), leaf, rng)


def mod(parents: Values, rng: Rng, p: float = 0.2) -> Values:
    """The paper's MOD: the parity of the parents with probability p, else the other one."""
    return np.asarray(parents.sum(axis=1) % 2 ^ (rng.random(len(parents)) >= p))


def add(parents: Values, rng: Rng, p: float = 0.2) -> Values:
    """The paper's ADD: the sum of the parents, and one more with probability p."""
    return np.asarray(parents.sum(axis=1) + (rng.random(len(parents)) < p))


def ordinal(parents: Values, rng: Rng) -> Values:
    """Codes from 0 to 3 or 4: a linear score of the parents' codes and noise, cut."""
    score = standard(parents) @ signed(rng, 0.5, 1.5, parents.shape[1])
    return cut(score + rng.normal(size=len(parents)), rng, 4, 5)


def additive(
    noise: str = "normal", low: float = 0.5, high: float = 2.0, curve: Node | None = None
) -> Node:
    """Weights of .5 to 2 and either sign; a ``curve`` is of the parents in standard units."""

    def node(parents: Values, rng: Rng) -> Values:
        terms = curve(standard(parents)) if curve else parents
        drive = terms @ signed(rng, 0.5, 2.0, parents.shape[1])
        return np.asarray(drive + rng.uniform(low, high) * SHAPES[noise](len(parents), rng))

    return node


def unfaithful(_dag: Dag, rows: int, rng: Rng) -> list[Values]:
    """App. C.7: W = N(0, 1/2), Z = N(0, 1), X = W + Z/2 + N(0, 1/2), Y = X - Z/2 + N(0, 1).

    The second number is the variance; Z and Y are independent.
    """
    w, z, x, y = rng.normal(size=(4, rows)) * np.sqrt([[0.5], [1.0], [0.5], [1.0]])
    x += w + z / 2
    return [w, z, x, x - z / 2 + y]


def mixed(*noises: str, zeros: bool = False, cells: bool = False) -> Family:
    """Half of the nodes are numbers, the others categories of two to four levels, in one DAG.

    A number has one score, a category one for each level but the first, to which parents add; with
    ``cells`` by means and slopes for every joint state of the categories among them. With ``zeros``
    half to nine tenths of a number's values are cut off at zero.
    """

    def family(dag: Dag, rows: int, rng: Rng) -> list[Values]:
        numbers = rng.permutation(len(dag)) < (len(dag) + 1) // 2
        columns = [np.zeros(0)] * len(dag)
        for k in nx.topological_sort(dag):
            parents = [columns[p] for p in sorted(dag.predecessors(k))]
            scores = 1 if numbers[k] else int(rng.integers(1, 4))
            drive = rng.normal(0, 0.5, scores) + effects(parents, scores, cells, rng, rows)
            if numbers[k]:
                noise = SHAPES[str(rng.choice(noises))](rows, rng)
                columns[k] = drive[:, 0] + rng.uniform(0.5, 1.5) * noise
                if zeros:
                    limit = np.quantile(columns[k], rng.uniform(0.5, 0.9))
                    columns[k] = np.maximum(columns[k] - limit, 0.0)
            else:
                drive = np.column_stack([np.zeros(rows), drive])
                columns[k] = (drive + rng.gumbel(size=drive.shape)).argmax(axis=1)
        return [text(column) for column in columns]

    return family


def effects(parents: list[Values], scores: int, cells: bool, rng: Rng, rows: int) -> Values:
    """What the parents add to each score of a node, one row each."""
    levels = [column for column in parents if column.dtype.kind == "i"]
    cell = states(np.column_stack(levels)) if cells and levels else np.zeros(rows, dtype=int)
    found = np.zeros((rows, scores))
    for state in [cell] if cells else levels:
        size = int(state.max()) + 1
        steps = np.column_stack([rng.permutation(np.linspace(-1, 1, size)) for _ in range(scores)])
        found += rng.uniform(1, 2, scores) * steps[state]
    for column in parents:
        if column.dtype.kind == "f":
            slopes = signed(rng, 0.5, 1.5, (int(cell.max()) + 1, scores))
            found += slopes[cell] * standard(column)[:, None]
    return found


def category(rows: int, rng: Rng, least: int = 2, most: int = 4, evenness: float = 4.0) -> Values:
    """Text of ``least`` to ``most`` levels."""
    shares = rng.dirichlet(np.full(rng.integers(least, most + 1), evenness))
    return text(rng.choice(len(shares), rows, p=shares))


def with_rare(rows: int, rng: Rng) -> Values:
    """A category, but for one to three rows each with a level of its own."""
    column = category(rows, rng)
    alone = rng.choice(rows, rng.integers(1, 4), replace=False)
    column[alone] = LETTERS[20 + np.arange(len(alone))]
    return column


SHAPES: dict[str, Callable[[int, Rng], Values]] = {
    "normal": lambda n, rng: rng.normal(size=n),
    "uniform": lambda n, rng: rng.uniform(-(3**0.5), 3**0.5, n),
    "laplace": lambda n, rng: rng.laplace(0, 0.5**0.5, n),
    "t": lambda n, rng: rng.standard_t(3, n) / 3**0.5,
    "lognormal": lambda n, rng: (rng.lognormal(size=n) - np.e**0.5) / (np.e**2 - np.e) ** 0.5,
    "cauchy": lambda n, rng: rng.standard_cauchy(n),
    "gamma": lambda n, rng: rng.gamma(3.0, size=n),
    "poisson": lambda n, rng: rng.poisson(0.3, n),
    "rounded": lambda n, rng: np.round(rng.normal(size=n) * rng.uniform(0.7, 5.0)),
    "few": lambda n, rng: rng.choice(rng.normal(size=rng.integers(3, 6)).round(3), n),
    "zeros": lambda n, rng: rng.lognormal(size=n) * (rng.permutation(n) < n / rng.uniform(5, 50)),
    "category": category,
    "many": lambda n, rng: category(n, rng, 10, 40, 1.0),
    "rare": with_rare,
}


def independent(*shapes: str) -> Family:
    """Columns that do not depend on each other, of these shapes in turn."""
    return lambda dag, rows, rng: [SHAPES[shapes[k % len(shapes)]](rows, rng) for k in dag]


GAUSSIAN = by_node(additive())
# Level beyond three: squares of squares would leave one row that decides all.
BOWL = additive(high=1.0, curve=lambda z: (np.clip(z, -3, 3) ** 2 - 1) / 2**0.5)

FAMILIES: dict[str, Family] = {
    "logistic": labels(logistic),
    "noisy-or": labels(noisy_or),
    "dirichlet": labels(own_table),
    "skewed-dirichlet": labels(partial(own_table, skewed=True)),
    "threshold": labels(threshold),
    "context": labels(context),
    "mod": by_node(mod, int),
    "add": by_node(add, int),
    "ordinal-nodes": by_node(ordinal, int),
    "ordinal-gaussian": afterwards(GAUSSIAN, cut),
    "gaussian": GAUSSIAN,
    "standardised": afterwards(GAUSSIAN, standard),
    "random-units": afterwards(GAUSSIAN, lambda column, rng: column * 10 ** rng.uniform(-3, 3)),
    "equal-noise": by_node(additive(low=1.0, high=1.0)),
    "uniform": by_node(additive("uniform")),
    "laplace": by_node(additive("laplace")),
    "tanh": by_node(additive(high=1.0, curve=lambda z: np.tanh(2 * z))),
    "quadratic": by_node(BOWL),
    "unfaithful": unfaithful,
    "mixed": mixed("normal"),
    "mixed-heavy": mixed("t", "lognormal"),
    "mixed-zeros": mixed("normal", zeros=True),
    "mixed-cells": mixed("normal", cells=True),
    "odd-levels": independent("many", "normal", "category", "category"),
    "odd-rare": independent("rare", "rare", "category"),
    "odd-zeros": independent("zeros", "zeros", "category"),
    "odd-cauchy": independent("cauchy", "lognormal", "gamma", "laplace", "category"),
    "odd-rounded": independent("rounded", "poisson", "few", "category"),
}
