"""Tables with levels and measurements, drawn from known graphs and from known independences."""

from __future__ import annotations

import math
from collections.abc import Sequence

import networkx as nx
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Column = NDArray[np.int64] | Floats
Rng = np.random.Generator

LAWS = ("levels first", "logistic", "curves")
"""Levels without measured parents, where conditional Gaussians are exact; levels that depend on
measurements through logits; and the latter with curves in place of lines."""


def graph(kind: str, d: int, rng: Rng) -> list[list[int]]:
    """The parents of each node, all of them before it: a random tree, or d edges in the mean."""
    if kind == "tree":
        return [[] if k == 0 else [int(rng.integers(k))] for k in range(d)]
    share = 2 / (d - 1)
    return [[p for p in range(k) if rng.random() < share] for k in range(d)]


def drawn(
    kind: str, law: str, d: int, n: int, seed: int
) -> tuple[dict[str, object], nx.DiGraph[str]]:
    """A table with half of its columns measured, and the graph it was drawn from."""
    rng = np.random.default_rng((seed, d, ("tree", "er").index(kind), LAWS.index(law)))
    parents = graph(kind, d, rng)
    levels = np.arange(d) < d // 2
    if law != "levels first":
        rng.shuffle(levels)
    columns: list[Column] = []
    for k in range(d):
        above = [columns[p] for p in parents[k]]
        columns.append(_level(above, n, law, rng) if levels[k] else _number(above, n, law, rng))
    names = [f"{'L' if levels[k] else 'M'}{k}" for k in range(d)]
    true: nx.DiGraph[str] = nx.DiGraph()
    true.add_nodes_from(names)
    true.add_edges_from((names[p], names[k]) for k in range(d) for p in parents[k])
    return {names[k]: labelled(columns[k]) for k in range(d)}, true


def labelled(column: Column) -> object:
    """Levels as labels; measurements as they are."""
    return column if column.dtype == np.float64 else [f"v{code}" for code in column]


def _level(above: Sequence[Column], n: int, law: str, rng: Rng) -> Column:
    """Two or three levels, whose logits the parents add to."""
    r = int(rng.integers(2, 4))
    logits = np.tile(rng.normal(0, 0.3, r), (n, 1))
    for column in above:
        if column.dtype == np.float64:
            told = _curve(_standard(column), law, rng)
            logits += np.outer(told, 2 * np.linspace(-1, 1, r) * rng.choice([-1, 1]))
        else:
            effect = 1.5 * np.array([rng.permutation(np.linspace(-1, 1, r)) for _ in range(3)])
            logits += effect[column]
    return np.asarray((logits + rng.gumbel(size=(n, r))).argmax(axis=1))


def _number(above: Sequence[Column], n: int, law: str, rng: Rng) -> Column:
    """A sum over the parents and a noise; a level sets a constant, and the coefficients."""
    levels = [column for column in above if column.dtype != np.float64]
    found = rng.normal(size=n) * (1.0 if not levels else rng.uniform(0.7, 1.3, 3)[levels[0]])
    for column in above:
        if column.dtype == np.float64:
            slope = rng.uniform(0.6, 1.2) * rng.choice([-1, 1])
            bends = rng.uniform(0.7, 1.3, 3)[levels[0]] if levels else 1.0
            found = found + slope * bends * _curve(_standard(column), law, rng)
        else:
            found = found + rng.permutation([-1.0, 0.0, 1.0])[column]
    return np.asarray(found)


def _standard(column: Column) -> Floats:
    return np.asarray((column - column.mean()) / column.std())


def _curve(values: Floats, law: str, rng: Rng) -> Floats:
    if law != "curves":
        return values
    curves = (np.sin(2 * values) * 1.4, (values**2 - 1) / math.sqrt(2), np.tanh(3 * values))
    return np.asarray(curves[int(rng.integers(3))])


def independent(
    kinds: str, n_levels: int, n_measured: int, n: int, rng: Rng, *, rare: bool = False
) -> dict[str, object]:
    """X and Y, of the ``kinds`` "m" or a number of levels, which S tells and nothing else: S sets
    the means, the slopes and the spread of a measurement, and the logits of levels."""
    levels = [_given(i, n, rng, rare) for i in range(n_levels)]
    first = levels[0] if levels else np.zeros(n)
    measured: list[Floats] = []
    for _ in range(n_measured):
        before = 0.5 * measured[-1] if measured else 0.0
        measured.append(rng.normal(size=n) * (1 + 0.5 * first) + first + before)
    line = sum(measured, np.zeros(n)) / math.sqrt(max(n_measured, 1))
    steps = 0.7 * sum(levels, np.zeros(n))

    def told(kind: str) -> Column:
        if kind == "m":
            return np.asarray((1 + 0.5 * first) * (line + rng.normal(size=n)) + steps)
        weights = np.linspace(0, 1, int(kind))
        logits = np.outer(1.5 * line + steps, weights) + rng.gumbel(size=(n, len(weights)))
        return np.asarray(logits.argmax(axis=1))

    table: dict[str, object] = {"x": labelled(told(kinds[0])), "y": labelled(told(kinds[1]))}
    table |= {f"d{i}": labelled(column) for i, column in enumerate(levels)}
    return table | {f"m{i}": column for i, column in enumerate(measured)}


def _given(i: int, n: int, rng: Rng, rare: bool) -> Column:
    """Two levels and three in turn, even or with rare ones."""
    shares = ([0.5, 0.5], [1 / 3] * 3) if not rare else ([0.85, 0.15], [0.7, 0.25, 0.05])
    return np.asarray(rng.choice(len(shares[i % 2]), size=n, p=shares[i % 2]))
