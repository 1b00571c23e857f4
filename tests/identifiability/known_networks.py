"""Networks for the tests of the conditions: random ones, and one for each way to fail."""

from __future__ import annotations

import numpy as np

import naive
from tamis.network import BayesianNetwork


def network_of(parents: naive.Parents, tables: dict[int, np.ndarray]) -> BayesianNetwork:
    d = len(parents)
    return BayesianNetwork(
        tuple(f"x{k}" for k in range(d)),
        tuple(tuple(f"l{v}" for v in range(tables[k].shape[-1])) for k in range(d)),
        tuple(tuple(parents[k]) for k in range(d)),
        tuple(tables[k] for k in range(d)),
    )


def random_network(
    seed: int, d: int, **options
) -> tuple[BayesianNetwork, naive.Parents, np.ndarray]:
    parents, tables, joint = naive.random_network(np.random.default_rng(seed), d, **options)
    return network_of(parents, tables), parents, joint


def binary(p: float) -> list[float]:
    return [1 - p, p]


def parity_polytree() -> BayesianNetwork:
    """A polytree, every cell positive and every edge needed, in which no single parent of the
    last node informs about it: it is the noisy parity of two fair coins."""
    parents = {0: (), 1: (), 2: (1,), 3: (0,), 4: (0, 2)}
    tables = {
        0: np.array(binary(0.5)),
        1: np.array(binary(0.5)),
        2: np.array([binary(0.3), binary(0.7)]),
        3: np.array([binary(0.2), binary(0.8)]),
        4: np.array([[binary(0.2), binary(0.8)], [binary(0.8), binary(0.2)]]),
    }
    return network_of(parents, tables)


def two_arrows() -> BayesianNetwork:
    """Two arrows side by side, all nodes equally uncertain given their parents (C3)."""
    turn = np.array([binary(0.2), binary(0.8)])
    tables = {0: np.array(binary(0.2)), 1: turn, 2: np.array(binary(0.2)), 3: turn}
    return network_of({0: (), 1: (0,), 2: (), 3: (2,)}, tables)


def superfluous_edge(chained: bool) -> BayesianNetwork:
    """x0 -> x2 <- x1, with x0 -> x1 or without, where x0 -> x2 makes no difference."""
    turn = np.array([binary(0.2), binary(0.7)])
    tables = {0: np.array(binary(0.3)), 1: np.array(binary(0.4)), 2: np.stack([turn, turn])}
    if chained:
        tables[1] = turn
    return network_of({0: (), 1: (0,) if chained else (), 2: (0, 1)}, tables)
