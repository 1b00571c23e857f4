"""The learned graph as a picture: layers from left to right."""

from __future__ import annotations

from tamis.drawing.layout import Layout, lay_out
from tamis.drawing.looks import Confidence

__all__ = ["Confidence", "Layout", "lay_out"]
