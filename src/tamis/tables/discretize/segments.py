"""The best way to cut a sequence into consecutive parts, by dynamic programming.

Fisher, "On grouping for maximum homogeneity" (1958): if the cost of a partition is the sum of the
costs of its parts, the best partition into k parts is the best one into k - 1 parts of what lies
before the last.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis.tables.discretize.gaps import Floats


def best_partitions(costs: Floats, most: int) -> list[tuple[float, tuple[int, ...]]]:
    """The least cost, and the cuts, for 1 to ``most`` parts.

    ``costs[i, j]`` is the cost of a part from cut i to cut j > i, with cut 0 the start and the last
    cut the end. Ties go to the earliest cut.
    """
    size = len(costs)
    usable = np.where(np.triu(np.ones((size, size), dtype=bool), 1), costs, np.inf)
    best = usable[0].copy()
    steps: list[NDArray[np.intp]] = []
    partitions: list[tuple[float, tuple[int, ...]]] = [(float(best[-1]), ())]
    for _ in range(2, min(most, size - 1) + 1):
        totals = best[:, None] + usable
        step = totals.argmin(axis=0)
        best = totals[step, np.arange(size)]
        steps.append(step)
        partitions.append((float(best[-1]), _traced(steps, size - 1)))
    return partitions


def _traced(steps: list[NDArray[np.intp]], end: int) -> tuple[int, ...]:
    cuts: list[int] = []
    for step in reversed(steps):
        end = int(step[end])
        cuts.append(end)
    return tuple(reversed(cuts))
