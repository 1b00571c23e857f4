"""Which directions of a learned DAG have support.

Graphs that imply the same independences fit any rows alike; what they disagree on no likelihood
can decide. The method decides it by uncertainty that grows along the arrows. So the direction of
an edge has support if all equivalent graphs share it, or if its parent was less uncertain than its
child beyond noise, and the likelihood did not overrule the entropies elsewhere in the graph.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tamis.information.interface import Information
from tamis.metrics.equivalence import compelled_edges
from tamis.search.outcome import Outcome

ERRORS = 2.0
"""A lead is beyond noise from so many standard errors on."""

Edge = tuple[int, int]


def supported_edges(
    information: Information, outcome: Outcome, leads: Mapping[Edge, float]
) -> set[Edge]:
    """The edges (parent, child) whose direction has support."""
    order = [k for layer in outcome.layers for k in layer]
    parents = {k: boundary.members for k, boundary in outcome.boundaries.items()}
    compelled = compelled_edges(order, parents)
    if outcome.moves:
        return compelled
    open_edges = sorted(leads.keys() - compelled)
    if not open_edges:
        return compelled
    given = [tuple(sorted(outcome.boundaries[parent].members)) for parent, _ in open_edges]
    errors = information.lead_errors(given, np.array(open_edges, dtype=np.int64))
    bars = (ERRORS * errors).tolist()
    return compelled | {
        edge for edge, bar in zip(open_edges, bars, strict=True) if leads[edge] > bar
    }
