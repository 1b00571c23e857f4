"""PC and GES for linear Gaussian columns, by causal-learn: the peers of app. C.7.

The baselines take discrete tables; these two take numbers. Both give CPDAGs.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from tamis.baselines import Learned
from tamis.baselines.causal_learn import from_endpoints

Matrix = NDArray[np.float64]

_PC = "causallearn.search.ConstraintBased.PC"
_GES = "causallearn.search.ScoreBased.GES"


class GaussianPeer(Protocol):
    """A method on a matrix of numbers, a row a case."""

    packages: ClassVar[tuple[str, ...]]

    def missing(self) -> list[str]:
        """Libraries that are not installed."""

    def prepare(self) -> None:
        """Import them."""

    def learn(self, matrix: Matrix) -> Learned:
        """The CPDAG."""


class _CausalLearn:
    """What both have in common: where they come from."""

    module: ClassVar[str]
    packages: ClassVar[tuple[str, ...]] = ("causal-learn",)

    def missing(self) -> list[str]:
        """causal-learn or nothing."""
        return [] if find_spec("causallearn") else ["causallearn"]

    def prepare(self) -> None:
        """Import causal-learn, whatever it warns of itself."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import_module(self.module)


@dataclass(frozen=True)
class FisherZPC(_CausalLearn):
    """PC; Fisher's z-test of a partial correlation finds independence above ``alpha``."""

    alpha: float = 0.05

    module: ClassVar[str] = _PC

    def learn(self, matrix: Matrix) -> Learned:
        """The CPDAG; nothing is random."""
        found = import_module(_PC).pc(
            matrix, alpha=self.alpha, indep_test="fisherz", show_progress=False
        )
        return from_endpoints(found.G.graph)


@dataclass(frozen=True)
class GaussianGES(_CausalLearn):
    """GES with the BIC of linear Gaussian regressions."""

    module: ClassVar[str] = _GES

    def learn(self, matrix: Matrix) -> Learned:
        """The CPDAG; nothing is random."""
        covariance = np.cov(matrix, rowvar=False, bias=True)
        found = import_module(_GES).ges(
            score_func="local_score_BIC_from_cov", cov=covariance, n=len(matrix)
        )
        return from_endpoints(found["G"].graph)


PEERS: Mapping[str, GaussianPeer] = {"pc-fisher-z": FisherZPC(), "ges-gaussian": GaussianGES()}
