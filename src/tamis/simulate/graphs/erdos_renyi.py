"""Erdős-Rényi graphs with a given expected number of edges (app. I of the paper)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis.portable import log
from tamis.simulate.graphs.graph import Arrows, Graph, labelled
from tamis.simulate.options import number, whole
from tamis.simulate.streams import Purpose, Seed, Stream

_BATCH = 1024


def er(d: int, *, edges: float, seed: Seed) -> Graph:
    """Each of the d (d - 1) / 2 pairs is joined independently, along a random order.

    ``edges`` is the *expected* number of edges, as in the paper, which does not say which number
    it takes; its authors' program draws exactly that many. The order is that of the construction,
    whose nodes are named at random.
    """
    d = whole("d", d, 1)
    pairs = d * (d - 1) // 2
    share = number("edges", edges, 0, pairs) / max(pairs, 1)
    joined = each_with(share, pairs, Stream(seed, Purpose.GRAPH))
    return labelled(d, pairs_at(joined), seed)


def each_with(share: float, total: int, chance: Stream) -> NDArray[np.int64]:
    """Numbers below ``total``, each taken independently with probability ``share``.

    Drawn by the gaps between them, which are geometric: the work grows with those taken and
    not with ``total``, which is 5e7 for 10 000 nodes.
    """
    if share == 1.0:
        return np.arange(total)
    if 1.0 - share == 1.0:
        return np.arange(0)
    rate = log(np.array([1.0 - share]))[0]
    taken, last = [np.arange(0)], -1
    while last < total:
        gaps = np.floor(log(chance.inner_uniforms(_BATCH)) / rate)
        steps = np.minimum(gaps, total).astype(np.int64) + 1
        taken.append(last + np.cumsum(steps))
        last = int(taken[-1][-1])
    found = np.concatenate(taken)
    return found[found < total]


def pairs_at(places: NDArray[np.int64]) -> Arrows:
    """The pairs (i, j) with i < j at these places of the list 01, 02, 12, 03, 13, 23, 04, ..."""
    j = np.floor((1.0 + np.sqrt(1.0 + 8.0 * places)) / 2.0).astype(np.int64)
    # Near a whole number the root may be rounded to the wrong side.
    j -= j * (j - 1) // 2 > places
    j += j * (j + 1) // 2 <= places
    return np.stack([places - j * (j - 1) // 2, j], axis=1)
