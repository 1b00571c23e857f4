"""The paper's source for continuous data: differential entropy after Han et al. (2020)."""

from __future__ import annotations

from tamis.information.lipschitz.smoothing import Smoothing
from tamis.information.lipschitz.source import LipschitzInformation

__all__ = ["LipschitzInformation", "Smoothing"]
