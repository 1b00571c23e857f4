"""Graphs and models of the paper and beyond: tables whose true DAG is known.

``draw`` is the front door. ``graphs`` and ``models`` hold its parts, to be combined freely:
``mod(tree(20, seed=1), p=0.2, seed=1).sample(1000, seed=1)``.
"""

from __future__ import annotations

from tamis.simulate.drawing import Simulated, draw
from tamis.simulate.graphs import GRAPHS, Graph
from tamis.simulate.models import EXAMPLES, MODELS, Model

__all__ = ["EXAMPLES", "GRAPHS", "MODELS", "Graph", "Model", "Simulated", "draw"]
