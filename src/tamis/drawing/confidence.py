"""What pictures and reports ask of a bootstrap, whoever made it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Confidence(Protocol):
    """How often parts of a graph came back from resampled rows."""

    @property
    def n(self) -> int:
        """The number of resamples."""

    @property
    def edges(self) -> Mapping[tuple[str, str], float]:
        """The share of resamples with parent → child; what never came is absent or 0."""

    @property
    def layers(self) -> Mapping[str, Mapping[int, float]]:
        """For each column, the share of resamples that put it in each layer, from 1."""

    def skeleton(self, a: str, b: str) -> float:
        """The share of resamples with an edge between the two, either way."""
