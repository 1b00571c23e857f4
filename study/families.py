"""Random tables with known graphs: levels, numbers, both, and independent columns of odd shapes.

Everything is drawn by numpy alone, so that a seed gives the same table whatever becomes of tamis.
A family turns a DAG over 0, 1, ... into the columns of its nodes; a node turns the values of its
parents (one row each) into its own.
"""

from __future__ import annotations

import string
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from numpy.typing import NDArray

Rng = np.random.Generator
Values = NDArray[Any]
Dag = nx.DiGraph
Node = Callable[..., Values]
Family = Callable[..., list[Values]]


@dataclass(frozen=True)
class Drawn:
    """A table, and the true DAG over its columns, or None where it is not known."""

    frame: pd.DataFrame
    graph: nx.DiGraph | None


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
    **options: Any,
) -> Drawn:
    """Draw a table of a family; ``m`` is that of scale-free graphs, options are the family's own.

    ``unfaithful`` has four nodes and a graph of its own, families called odd-... have no edges.
    A share ``missing`` of the cells is hidden completely at random.
    """
    check("family", family, FAMILIES)
    check("graph", graph, GRAPHS)
    what = (family, graph, nodes, rows)
    rng = stream(seed, *what)
    if family == "unfaithful":
        dag = UNFAITHFUL
    elif family.startswith("odd-"):
        dag = directed(nodes, [])
    else:
        dag = directed(nodes, GRAPHS[graph](nodes, edges_per_node, m, rng))
    drawn = anonymous(FAMILIES[family](dag, rows, rng, **options), dag, rng)
    if missing:
        return Drawn(with_gaps(drawn.frame, missing, stream(seed, "gaps", *what)), drawn.graph)
    return drawn


def check(what: str, name: str, known: Sequence[str] | dict[str, Any]) -> None:
    """Refuse a name that is not known, and list those that are."""
    if name not in known:
        raise ValueError(f"there is no {what} {name!r}; there are {', '.join(known)}")


def stream(seed: int, *what: object) -> Rng:
    """Random numbers that depend on the seed and on what they are for, on any machine."""
    return np.random.default_rng([seed, zlib.crc32(" ".join(map(str, what)).encode())])


def anonymous(columns: Sequence[Values], dag: Dag, rng: Rng) -> Drawn:
    """The columns in random order, and named by it."""
    width = max(2, len(str(len(columns) - 1)))
    order = rng.permutation(len(columns)).tolist()
    names = {k: f"v{place:0{width}d}" for place, k in enumerate(order)}
    # With its dtype given, pandas leaves text as Python strings, in which None is what is missing.
    series = {names[k]: pd.Series(columns[k], dtype=columns[k].dtype) for k in order}
    graph = nx.DiGraph()
    graph.add_nodes_from(series)
    graph.add_edges_from((names[parent], names[child]) for parent, child in dag.edges)
    return Drawn(pd.DataFrame(series), graph)


def with_gaps(frame: pd.DataFrame, share: float, rng: Rng) -> pd.DataFrame:
    """The table without this share of its cells; every column keeps one at least."""
    found = {}
    for name, column in frame.items():
        gone = rng.random(len(column)) < share
        gone[rng.integers(len(column))] = False
        if column.dtype.kind == "i":
            column = column.astype("Int64")  # whole numbers stay whole
        empty = {"O": None, "f": np.nan}.get(column.dtype.kind, pd.NA)
        found[name] = column.copy()
        found[name][gone] = empty
    return pd.DataFrame(found)


# --- graphs: nodes, edges per node, the m of scale-free graphs, chance ----------------------------

Edges = list[tuple[int, int]]


def directed(nodes: int, edges: Edges) -> Dag:
    """The graph over 0 to ``nodes`` - 1 with these arrows, parent first."""
    dag = nx.DiGraph()
    dag.add_nodes_from(range(nodes))
    dag.add_edges_from(edges)
    return dag


def er(nodes: int, edges_per_node: float, _m: int, rng: Rng) -> Edges:
    """Each pair is joined independently, along an order that ``anonymous`` makes random."""
    chosen = rng.random((nodes, nodes)) < 2 * edges_per_node / max(nodes - 1, 1)
    return [(i, j) for i, j in np.argwhere(np.triu(chosen, k=1)).tolist()]


def tree(nodes: int, _edges_per_node: float, _m: int, rng: Rng, *, coins: bool = True) -> Edges:
    """A uniform labelled tree, by its Pruefer sequence; each edge is directed by a coin.

    Without coins edges go from the larger label to the smaller, as in the authors' program.
    """
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

# --- how families are built ----------------------------------------------------------------------


def by_node(node: Node, kind: type = float, tries: int = 1) -> Family:
    """A family whose nodes are all drawn in one way, from the values of their parents.

    Of several tries at the parameters of a node, the first counts in which no level has more than
    95% of the rows.
    """

    def family(dag: Dag, rows: int, rng: Rng, **options: Any) -> list[Values]:
        table = np.zeros((rows, len(dag)), dtype=kind)
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

    def changed(dag: Dag, rows: int, rng: Rng, **options: Any) -> list[Values]:
        return [change(column, rng) for column in family(dag, rows, rng, **options)]

    return changed


LETTERS = np.array(list(string.ascii_letters), dtype=object)


def text(column: Values, _rng: Rng | None = None) -> Values:
    """Values as letters, which nothing reads as numbers; numbers as they are."""
    return np.asarray(LETTERS[column]) if column.dtype.kind == "i" else column


def categories(node: Node) -> Family:
    """A family of text, from nodes whose values are codes."""
    return afterwards(by_node(node, int, tries=50), text)


def picked(tables: Values, rng: Rng) -> Values:
    """One code a row, from the distribution in that row."""
    drawn = (rng.random(len(tables))[:, None] > tables.cumsum(axis=1)).sum(axis=1)
    return np.minimum(drawn, tables.shape[1] - 1)


def states(columns: Values) -> Values:
    """The number of each row's joint state among those that occur."""
    return np.unique(columns, axis=0, return_inverse=True)[1].reshape(-1)


def signed(rng: Rng, low: float, high: float, size: Any) -> Values:
    """Sizes drawn evenly, signs by a coin."""
    return rng.choice([-1, 1], size) * rng.uniform(low, high, size)


def standard(column: Values, _rng: Rng | None = None) -> Values:
    """Mean 0 and variance 1."""
    return np.asarray((column - column.mean(axis=0)) / column.std(axis=0))


def cut(column: Values, rng: Rng, least: int = 3, most: int = 6) -> Values:
    """Whole numbers: the column cut at random quantiles into ``least`` to ``most`` levels."""
    shares = rng.dirichlet(np.full(rng.integers(least, most + 1), 4.0))
    return np.searchsorted(np.quantile(column, shares.cumsum()[:-1]), column)


# --- categories ----------------------------------------------------------------------------------


def logistic(parents: Values, rng: Rng) -> Values:
    """Two levels whose log odds add up over the parents."""
    drive = rng.normal(0, 0.7) + (2 * parents - 1) @ rng.normal(0, 1.5, parents.shape[1])
    return (rng.random(len(parents)) < 1 / (1 + np.exp(-drive))).astype(int)


def noisy_or(parents: Values, rng: Rng) -> Values:
    """Two levels: each parent that is 1 may cause a 1, and so may chance, all independently."""
    strengths = rng.uniform(0.4, 0.9, parents.shape[1])
    silent = (1 - rng.uniform(0.05, 0.4)) * np.prod(1 - strengths * parents, axis=1)
    return (rng.random(len(parents)) > silent).astype(int)


def own_tables(*, skewed: bool) -> Node:
    """A distribution of its own for every state of the parents.

    Two to four levels; or three to five, each half as common as the one before on average.
    """

    def node(parents: Values, rng: Rng) -> Values:
        evenness = np.full(rng.integers(2, 5), 0.7 if parents.shape[1] else 2.0)
        if skewed:
            evenness = rng.uniform(1.5, 3.0) * 0.5 ** np.arange(rng.integers(3, 6))
        state = states(parents)
        return picked(rng.dirichlet(evenness, state.max() + 1)[state], rng)

    return node


def threshold(parents: Values, rng: Rng) -> Values:
    """Two levels: a weighted vote of the parents, flipped with a probability of .05 to .2."""
    if not parents.shape[1]:
        return (rng.random(len(parents)) < rng.uniform(0.3, 0.7)).astype(int)
    vote = (2 * parents - 1) @ signed(rng, 0.7, 2.0, parents.shape[1]) > 0
    return (vote ^ (rng.random(len(parents)) < rng.uniform(0.05, 0.2))).astype(int)


def context(parents: Values, rng: Rng) -> Values:
    """Two to four levels: a random decision tree over the parents picks the distribution."""
    evenness = np.full(rng.integers(2, 5), 0.7 if parents.shape[1] else 2.0)
    tables = np.zeros((len(parents), len(evenness)))
    order = rng.permutation(parents.shape[1]).tolist()

    def grow(here: NDArray[np.bool_], left: list[int]) -> None:
        if not left:
            tables[here] = rng.dirichlet(evenness)
            return
        asked, levels = parents[:, left[0]], np.unique(parents[here, left[0]])
        # One branch goes on to all other parents, so that each of them matters somewhere.
        deep = rng.choice(levels)
        for level in levels:
            goes_on = level == deep or rng.random() < 0.5
            grow(here & (asked == level), left[1:] if goes_on else [])

    grow(np.full(len(parents), True), order)
    return picked(tables, rng)


def mod(parents: Values, rng: Rng, p: float = 0.2) -> Values:
    """The paper's MOD: the parity of the parents with probability p, else the other one."""
    return parents.sum(axis=1) % 2 ^ (rng.random(len(parents)) >= p)


def add(parents: Values, rng: Rng, p: float = 0.2) -> Values:
    """The paper's ADD: the sum of the parents, and one more with probability p."""
    return parents.sum(axis=1) + (rng.random(len(parents)) < p)


def ordinal(parents: Values, rng: Rng) -> Values:
    """Values from 0 to 3 or 4: a linear score of the parents' codes and noise, cut."""
    score = standard(parents) @ signed(rng, 0.5, 1.5, parents.shape[1])
    return cut(score + rng.normal(size=len(parents)), rng, 4, 5)


# --- numbers -------------------------------------------------------------------------------------


def linear(noise: str = "normal", low: float = 0.5, high: float = 2.0) -> Node:
    """Weights of .5 to 2 and either sign; the standard deviation of the noise is drawn too."""

    def node(parents: Values, rng: Rng) -> Values:
        drive = parents @ signed(rng, 0.5, 2.0, parents.shape[1])
        return np.asarray(drive + rng.uniform(low, high) * NOISES[noise](rng, len(parents)))

    return node


NOISES: dict[str, Callable[[Rng, int], Values]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "uniform": lambda rng, n: rng.uniform(-(3**0.5), 3**0.5, n),
    "laplace": lambda rng, n: rng.laplace(0, 0.5**0.5, n),
    "t": lambda rng, n: rng.standard_t(3, n) / 3**0.5,
    "lognormal": lambda rng, n: (rng.lognormal(size=n) - np.e**0.5) / (np.e**2 - np.e) ** 0.5,
}
"""Laws with mean 0 and variance 1."""


def curved(curve: Callable[[Values], Values]) -> Node:
    """Weights as in ``linear``, of a curve of each parent taken in standard units."""

    def node(parents: Values, rng: Rng) -> Values:
        drive = curve(standard(parents)) @ signed(rng, 0.5, 2.0, parents.shape[1])
        return np.asarray(drive + rng.uniform(0.5, 1.0) * rng.normal(size=len(parents)))

    return node


def bowl(z: Values) -> Values:
    """A square, level beyond three: squares of squares would leave one row that decides all."""
    return np.asarray((np.clip(z, -3, 3) ** 2 - 1) / 2**0.5)


UNFAITHFUL = directed(4, [(0, 2), (1, 2), (1, 3), (2, 3)])
"""W, Z, X and Y of app. C.7."""


def unfaithful(_dag: Dag, rows: int, rng: Rng) -> list[Values]:
    """App. C.7: W ~ N(0, 1/2), Z ~ N(0, 1), X = W + Z/2 + N(0, 1/2), Y = X - Z/2 + N(0, 1).

    The second number is the variance. Z is a parent of Y, and independent of it.
    """
    w, z, x, y = rng.normal(size=(4, rows)) * np.sqrt([[0.5], [1.0], [0.5], [1.0]])
    x += w + z / 2
    return [w, z, x, x - z / 2 + y]


# --- numbers beside categories -------------------------------------------------------------------


def mixed(*noises: str, zeros: bool = False, cells: bool = False) -> Family:
    """Half of the nodes are numbers, the others categories of two to four levels, in one DAG.

    A number has one score, a category one for each level but the first. Each parent adds to them;
    with ``cells`` means and slopes are drawn for every joint state of the categories among the
    parents. With ``zeros`` half to nine tenths of a number's values are cut off at zero.
    """

    def family(dag: Dag, rows: int, rng: Rng) -> list[Values]:
        numbers = rng.permutation(len(dag)) < (len(dag) + 1) // 2
        columns = [np.zeros(0)] * len(dag)
        for k in nx.topological_sort(dag):
            parents = [columns[p] for p in sorted(dag.predecessors(k))]
            scores = 1 if numbers[k] else int(rng.integers(1, 4))
            drive = rng.normal(0, 0.5, scores) + effects(parents, scores, cells, rng, rows)
            if numbers[k]:
                noise = NOISES[str(rng.choice(noises))](rng, rows)
                columns[k] = drive[:, 0] + rng.uniform(0.5, 1.5) * noise
            else:
                drive = np.column_stack([np.zeros(rows), drive])
                columns[k] = (drive + rng.gumbel(size=drive.shape)).argmax(axis=1)
            if numbers[k] and zeros:
                columns[k] = cut_off(columns[k], rng.uniform(0.5, 0.9))
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


def cut_off(column: Values, share: float) -> Values:
    """What exceeds a quantile, and zero elsewhere."""
    return np.maximum(column - np.quantile(column, share), 0.0)


# --- independent columns of odd shapes -----------------------------------------------------------


def independent(*shapes: Callable[[int, Rng], Values]) -> Family:
    """Columns that do not depend on each other, of these shapes in turn."""
    return lambda dag, rows, rng: [shapes[k % len(shapes)](rows, rng) for k in range(len(dag))]


def category(rows: int, rng: Rng, least: int = 2, most: int = 4, evenness: float = 4.0) -> Values:
    """Text of ``least`` to ``most`` levels."""
    shares = rng.dirichlet(np.full(rng.integers(least, most + 1), evenness))
    return text(rng.choice(len(shares), rows, p=shares))


def many_levels(rows: int, rng: Rng) -> Values:
    """Text of 10 to 40 levels, some common and some rare."""
    return category(rows, rng, 10, 40, 1.0)


def rare_levels(rows: int, rng: Rng) -> Values:
    """Text of two to four levels, and one to three rows each with a level of its own."""
    column = category(rows, rng)
    alone = rng.choice(rows, rng.integers(1, 4), replace=False)
    column[alone] = LETTERS[20 + np.arange(len(alone))]
    return column


def mostly_zero(rows: int, rng: Rng) -> Values:
    """80 to 98% zeros, the rest lognormal."""
    return rng.lognormal(size=rows) * (rng.random(rows) > rng.uniform(0.8, 0.98))


def rounded(rows: int, rng: Rng) -> Values:
    """Normal values, rounded so that five to some thirty are left."""
    return np.round(rng.normal(size=rows) * rng.uniform(0.7, 5.0))


def few_values(rows: int, rng: Rng) -> Values:
    """Three to five different numbers with decimals."""
    shares = rng.dirichlet(np.full(rng.integers(3, 6), 4.0))
    return rng.choice(np.round(rng.normal(size=len(shares)), 3), rows, p=shares)


GAUSSIAN = by_node(linear())

FAMILIES: dict[str, Family] = {
    "logistic": categories(logistic),
    "noisy-or": categories(noisy_or),
    "dirichlet": categories(own_tables(skewed=False)),
    "skewed-dirichlet": categories(own_tables(skewed=True)),
    "threshold": categories(threshold),
    "context": categories(context),
    "mod": by_node(mod, int),
    "add": by_node(add, int),
    "ordinal-nodes": by_node(ordinal, int),
    "ordinal-gaussian": afterwards(GAUSSIAN, cut),
    "gaussian": GAUSSIAN,
    "standardised": afterwards(GAUSSIAN, standard),
    "random-units": afterwards(GAUSSIAN, lambda column, rng: column * 10 ** rng.uniform(-3, 3)),
    "equal-noise": by_node(linear(low=1.0, high=1.0)),
    "uniform": by_node(linear("uniform")),
    "laplace": by_node(linear("laplace")),
    "tanh": by_node(curved(lambda z: np.tanh(2 * z))),
    "quadratic": by_node(curved(bowl)),
    "unfaithful": unfaithful,
    "mixed": mixed("normal"),
    "mixed-heavy": mixed("t", "lognormal"),
    "mixed-zeros": mixed("normal", zeros=True),
    "mixed-cells": mixed("normal", cells=True),
    "odd-levels": independent(many_levels, lambda n, rng: rng.normal(size=n), category, category),
    "odd-rare": independent(rare_levels, rare_levels, category),
    "odd-zeros": independent(mostly_zero, mostly_zero, category),
    "odd-cauchy": independent(
        lambda n, rng: rng.standard_cauchy(n),
        lambda n, rng: rng.lognormal(size=n),
        lambda n, rng: rng.gamma(3.0, size=n),
        lambda n, rng: rng.laplace(size=n),
        category,
    ),
    "odd-rounded": independent(rounded, lambda n, rng: rng.poisson(0.3, n), few_values, category),
}
