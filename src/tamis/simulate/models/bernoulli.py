"""The noise of MOD and ADD: a coin a node, and the authors' way of turning some of them."""

from __future__ import annotations

import numpy as np

from tamis.simulate.graphs.graph import Graph
from tamis.simulate.options import flag, probability
from tamis.simulate.streams import Purpose, Seed, Stream


def noise_of(graph: Graph, p: float, flip: bool, seed: Seed) -> tuple[float, ...]:
    """P(Z = 1) for every node: p, or with ``flip`` p or 1 - p, equally likely."""
    p = probability("p", p)
    turned = np.zeros(len(graph.names), dtype=np.bool_)
    if flag("flip", flip):
        turned = Stream(seed, Purpose.PARAMETERS).coins(0.5, len(turned))
    return tuple(np.where(turned, 1.0 - p, p).tolist())
