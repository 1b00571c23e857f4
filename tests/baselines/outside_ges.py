"""GES by causal-learn and by the package ges, random tables, and all DAGs of a few columns."""

from __future__ import annotations

import math
from itertools import combinations, product

import networkx as nx
import numpy as np

from tamis.baselines.ges import GraphScore
from tamis.baselines.pc import from_endpoints, grouping_quietly


class NaiveBIC:
    """Discrete BIC, by numbering the states of columns, in the form that ges takes."""

    def __init__(self, codes):
        self.codes, (self.p, self.n) = codes, codes.shape
        self.arities = [len(set(column)) for column in codes.tolist()]
        self.kept = {}

    def local_score(self, x, pa):
        key = int(x), tuple(sorted(map(int, pa)))
        if key not in self.kept:
            x, parents = key
            free = math.prod(self.arities[p] for p in parents) * (self.arities[x] - 1)
            likelihood = self.n_log_n((*parents, x)) - self.n_log_n(parents)
            self.kept[key] = likelihood - free * math.log(self.n) / 2
        return self.kept[key]

    def n_log_n(self, columns):
        states = np.zeros(self.n, dtype=np.int64)
        for k in columns:
            states = np.unique(states * self.arities[k] + self.codes[k], return_inverse=True)[1]
        counts = np.bincount(states)
        return float((counts * np.log(counts)).sum())

    def full_score(self, adjacency):
        return sum(self.local_score(x, np.flatnonzero(adjacency[:, x])) for x in range(self.p))


class RandomScore(GraphScore):
    """A function of sets drawn at random, which likes edges: the graphs are dense and odd. It has
    the form that ges takes too."""

    def __init__(self, d, seed):
        super().__init__(d)
        self.p, self.values = d, np.random.default_rng(seed).normal(size=2**d)

    def joint(self, sets):
        return np.array([self.values[sum(1 << k for k in one)] + len(one) ** 2 for one in sets])

    def local_score(self, x, pa):
        family, parents = self.joint([(*map(int, pa), int(x)), tuple(map(int, pa))])
        return family - parents

    def full_score(self, adjacency):
        return self.of_dag(adjacency)


def by_ges(score):
    """The CPDAG by the package ges, and its score."""
    import ges

    found, total = ges.fit(score, phases=["forward", "backward"])
    return (np.asarray(found) != 0).astype(np.int8), total


def by_causal_learn(rows, score_func):
    """The CPDAG by causal-learn; ``rows`` has a row a case."""
    from causallearn.search.ScoreBased.GES import ges

    with grouping_quietly():
        return from_endpoints(ges(rows, score_func=score_func)["G"].graph).adjacency


def member_of(cpdag):
    """A DAG of the class, by the package ges."""
    from ges.utils import pdag_to_dag

    return (pdag_to_dag(cpdag.astype(int)) != 0).astype(np.int8)


def discrete_codes(seed, d=None, n_rows=None):
    """A table of 3 to 7 columns of two or three levels from a random network, sparse or dense."""
    rng = np.random.default_rng(seed)
    d = d or int(rng.integers(3, 8))
    n_rows = n_rows or int(rng.choice([60, 200, 1000, 3000]))
    edges = np.triu(rng.random((d, d)) < rng.uniform(0.2, 0.9), 1)
    arities = rng.integers(2, 4, d)
    codes = np.zeros((d, n_rows), dtype=np.int64)
    for k in range(d):
        states = np.unique(codes[:k][edges[:k, k]], axis=1, return_inverse=True)[1].ravel()
        tables = rng.dirichlet(np.full(arities[k], 0.6), states.max() + 1)
        above = rng.random(n_rows)[:, None] > tables.cumsum(axis=1)[states]
        codes[k] = np.minimum(above.sum(axis=1), arities[k] - 1)
        codes[k, : arities[k]] = np.arange(arities[k])  # No column is constant.
    return codes[rng.permutation(d)]


def gaussian_rows(seed):
    """A table of 3 to 7 columns from a random linear Gaussian model, a row a case."""
    rng = np.random.default_rng(seed)
    d, n_rows = int(rng.integers(3, 8)), int(rng.choice([60, 200, 1000]))
    weights = np.triu(rng.normal(size=(d, d)) * (rng.random((d, d)) < 0.5), 1)
    rows = rng.normal(size=(n_rows, d)) @ np.linalg.inv(np.eye(d) - weights)
    return rows[:, rng.permutation(d)]


def all_dags(d):
    """The adjacency matrices of all DAGs over d columns."""
    pairs = list(combinations(range(d), 2))
    for marks in product((None, 0, 1), repeat=len(pairs)):
        dag = np.zeros((d, d), dtype=np.int8)
        for (i, j), mark in zip(pairs, marks, strict=True):
            if mark is not None:
                dag[(i, j) if mark else (j, i)] = 1
        if nx.is_directed_acyclic_graph(nx.from_numpy_array(dag, create_using=nx.DiGraph)):
            yield dag
