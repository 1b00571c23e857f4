"""What pictures and reports ask of a bootstrap, whoever made it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from tamis.errors import SettingError
from tamis.result import Result


@runtime_checkable
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


def require_of(result: Result, confidence: object) -> None:
    """Refuse what is no confidence, or that of a graph with other columns."""
    if not isinstance(confidence, Confidence):
        raise SettingError(
            "confidence must be what bootstrap() returns, not a value of type "
            f"{type(confidence).__name__}"
        )
    named = {*confidence.layers, *(name for pair in confidence.edges for name in pair)}
    if not named <= set(result.names):
        raise SettingError(
            "the confidence is not of this result: their columns differ; call bootstrap() of the "
            "same model"
        )
