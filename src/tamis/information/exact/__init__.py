"""Exact information from a known Bayesian network, by inference instead of a joint table."""

from __future__ import annotations

from tamis.information.exact.limits import TooLarge
from tamis.information.exact.source import ExactInformation

__all__ = ["ExactInformation", "TooLarge"]
