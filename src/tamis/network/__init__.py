"""Bayesian networks with tables: BIF in and out, sampling, fitting, likelihood, examples."""

from __future__ import annotations

from tamis.network.model import BayesianNetwork

__all__ = ["BayesianNetwork"]
