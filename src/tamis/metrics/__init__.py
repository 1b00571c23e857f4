"""How far a learned graph is from the true one.

Every function takes the learned graph first and the true one second. Each may be

- an adjacency matrix, ``A[i, j] = 1`` for i → j, both entries for an undirected edge of a CPDAG,
- a ``networkx.DiGraph``, both directions for an undirected edge, or a ``networkx.Graph``, all of
  whose edges are undirected,
- a mapping from each node to its parents,
- anything that carries such a graph: a fitted ``tamis.TAM``, a ``tamis.Result``, a
  ``tamis.BayesianNetwork``.

Nodes are matched by name, names being compared as text; the nodes of a matrix have no names and
are matched by position.
"""

from __future__ import annotations

from tamis.metrics.distances import (
    Edge,
    PrecisionRecall,
    Scores,
    edge_distance,
    edge_scores,
    orientation_scores,
    scores,
    shd,
    sid,
    skeleton_scores,
)
from tamis.metrics.equivalence import to_cpdag
from tamis.metrics.ordering import layer_errors, layer_inversions, order_errors, varsortability

__all__ = [
    "Edge",
    "PrecisionRecall",
    "Scores",
    "edge_distance",
    "edge_scores",
    "layer_errors",
    "layer_inversions",
    "order_errors",
    "orientation_scores",
    "scores",
    "shd",
    "sid",
    "skeleton_scores",
    "to_cpdag",
    "varsortability",
]
