"""Graphs side by side: what they agree on, how far apart they are, and what changed."""

from __future__ import annotations

from tamis.comparison.graphs import Compared, compared
from tamis.comparison.model import Agreement, Changes, Comparison, Distance, compare_graphs

__all__ = [
    "Agreement",
    "Changes",
    "Compared",
    "Comparison",
    "Distance",
    "compare_graphs",
    "compared",
]
