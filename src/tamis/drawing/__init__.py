"""The learned graph as a picture: layers from left to right."""

from __future__ import annotations

from tamis.drawing.confidence import Confidence
from tamis.drawing.layout import Layout, lay_out

__all__ = ["Confidence", "Layout", "lay_out"]
