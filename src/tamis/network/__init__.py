"""Networks with the law of each variable given its parents: tables, linear and conditional
Gaussians; BIF in and out, sampling, fitting, likelihood, examples."""

from __future__ import annotations

from tamis.network.gaussian import GaussianNetwork
from tamis.network.interface import FittedEdge, Network
from tamis.network.laws import Coefficient
from tamis.network.model import BayesianNetwork

__all__ = ["BayesianNetwork", "Coefficient", "FittedEdge", "GaussianNetwork", "Network"]
