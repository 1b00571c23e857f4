"""Known networks for the tests of exact inference, as names, parents and tables."""

from __future__ import annotations

import numpy as np


def names(d):
    return [f"x{k}" for k in range(d)]


def network(parents, arities, seed=0, zeros=0.0):
    """Random tables for a graph; a share of ``zeros`` of their cells is 0."""
    rng = np.random.default_rng(seed)
    tables = []
    for k, sources in enumerate(parents):
        shape = (*(arities[p] for p in sources), arities[k])
        weights = rng.exponential(size=shape) * (rng.random(shape) >= zeros)
        weights[..., 0] += weights.sum(axis=-1) == 0
        tables.append(weights / weights.sum(axis=-1, keepdims=True))
    return names(len(parents)), parents, tables


def random_network(seed, d=7, arities=(1, 2, 3, 4), zeros=(0.0, 0.5)):
    """Parents among earlier variables of a shuffled order, sometimes with zeros in the tables."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(d).tolist()
    density = rng.choice([0.2, 0.4, 0.7])
    parents = [()] * d
    for i, k in enumerate(order):
        chosen = [p for p in order[:i] if rng.random() < density]
        parents[k] = tuple(rng.permutation(chosen)[:3].astype(int).tolist())
    levels = rng.choice(arities, size=d).tolist()
    return network(parents, levels, seed, zeros=rng.choice(zeros))


def chain(d, levels=2):
    return network([(k - 1,) if k else () for k in range(d)], [levels] * d)


def grid(side, levels=2):
    """Every node has the node above and the node to the left as parents."""
    parents = [
        tuple(p for p, inside in ((k - side, k >= side), (k - 1, k % side > 0)) if inside)
        for k in range(side * side)
    ]
    return network(parents, [levels] * (side * side))
