"""Layered graphs: the layers of the paper with given widths, each fed by the one before."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from tamis.simulate.graphs.graph import Arrows, Graph, labelled
from tamis.simulate.options import number, wholes
from tamis.simulate.streams import Purpose, Seed, Stream


def layered(*, widths: Sequence[int], extra: float = 0.2, seed: Seed) -> Graph:
    """``widths`` says how many nodes each layer has, sources first.

    Every later node has one parent in the layer before, all equally likely; every other node
    there is a parent too with probability ``extra``. So the layers are exactly as asked.
    """
    widths, extra = wholes("widths", widths, 1), number("extra", extra, 0, 1)
    chance, first, arrows = Stream(seed, Purpose.GRAPH), 0, [np.empty((0, 2), dtype=np.int64)]
    for before, width in pairwise(widths):
        arrows.append(_between(before, width, extra, chance) + np.array([first, first + before]))
        first += before
    return labelled(sum(widths), np.concatenate(arrows), seed)


def _between(before: int, width: int, extra: float, chance: Stream) -> Arrows:
    joined = chance.coins(extra, before * width).reshape(before, width)
    joined[chance.below(before, width), np.arange(width)] = True
    return np.argwhere(joined)
