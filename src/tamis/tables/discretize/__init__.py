"""Measured columns become levels, and the cuts are kept on record."""

from __future__ import annotations

from tamis.tables.discretize.front import discretize
from tamis.tables.discretize.record import Discretization

__all__ = ["Discretization", "discretize"]
