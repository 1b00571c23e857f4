"""Rows in a random order that leaves what is given nearly as it was: the local permutation.

Runge (2018): the rows are visited in a random order, and each takes the place of one of its
nearest neighbours in S, one not taken yet where there is one. So a shuffled column keeps its
dependence on S, but for a blur as wide as those neighbours are apart, and loses all other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from tamis.counting.compiled import compiled
from tamis.information.interface import Floats, Ints
from tamis.information.neighbours.chance import Words

CLOSE = 5
"""Rows, the row itself among them, that may stand in for one: Runge's choice."""


def anywhere(chance: Words) -> Ints:
    """Rows in any order, all orders equally likely: one for each line of random words."""
    return np.argsort(chance, axis=1, kind="stable").astype(np.int64)


def within_strata(strata: Ints, chance: Words) -> Ints:
    """Rows shuffled among those of their own stratum."""
    home = np.argsort(strata, kind="stable")
    shuffled = np.empty(chance.shape, dtype=np.int64)
    for line, row_words in zip(shuffled, chance, strict=True):
        line[home] = np.lexsort((row_words, strata))
    return shuffled


def nearby(points: Floats, chance: Words, order_words: Words) -> Ints:
    """Local permutations in the space of these points, one a line, under the maximum norm."""
    close = min(CLOSE, len(points))
    _, neighbours = cKDTree(points).query(points, k=close, p=np.inf)
    neighbours = np.asarray(neighbours, dtype=np.int64).reshape(len(points), close)
    return choose(neighbours, anywhere(order_words), chance)


@compiled
def choose(neighbours: Ints, orders: Ints, chance: NDArray[np.uint64]) -> Ints:
    """For each order, the row that every row takes its value from."""
    n, close = neighbours.shape
    chosen = np.empty(orders.shape, dtype=np.int64)
    options = np.empty(close, dtype=np.int64)
    for b in range(orders.shape[0]):
        free = np.ones(n, dtype=np.bool_)
        for i in orders[b]:
            bits = chance[b, i]
            for v in range(close):
                options[v] = neighbours[i, v]
            for v in range(close - 1, 0, -1):
                # Twelve bits a step: five steps fit a word, and the bias is below 1 in 500.
                other = np.int64(bits & np.uint64(4095)) % (v + 1)
                bits >>= np.uint64(12)
                options[v], options[other] = options[other], options[v]
            pick = 0
            while pick < close - 1 and not free[options[pick]]:
                pick += 1
            chosen[b, i] = options[pick]
            free[options[pick]] = False
    return chosen
