"""Markov chains: every node has the one before it as its only parent."""

from __future__ import annotations

import numpy as np

from tamis.simulate.graphs.graph import Graph, labelled
from tamis.simulate.options import whole
from tamis.simulate.streams import Seed


def chain(d: int, *, seed: Seed) -> Graph:
    """One directed path through all nodes; only the names are drawn."""
    places = np.arange(whole("d", d, 1))
    return labelled(len(places), np.stack([places[:-1], places[1:]], axis=1), seed)
