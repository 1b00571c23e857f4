"""PC and GES for linear Gaussian columns, by causal-learn: the peers of the paper's app. C.7."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis.baselines.causal_learn import from_endpoints
from tamis.baselines.interface import Learned
from tamis.tables import Table

_PC = "causallearn.search.ConstraintBased.PC"
_GES = "causallearn.search.ScoreBased.GES"


@dataclass(frozen=True)
class FisherZPC:
    """PC; Fisher's z-test of a partial correlation finds independence above ``alpha``."""

    name: str = "pc-fisher-z"
    alpha: float = 0.05

    extra: ClassVar[str] = "baselines"
    modules: ClassVar[tuple[str, ...]] = (_PC,)
    packages: ClassVar[tuple[str, ...]] = ("causal-learn", "numpy")
    takes_numbers: ClassVar[bool] = True
    needs_numbers: ClassVar[bool] = True

    def learn(self, table: Table, seed: int | None) -> Learned:
        """The CPDAG; nothing is random."""
        found = import_module(_PC).pc(
            _matrix(table), alpha=self.alpha, indep_test="fisherz", show_progress=False
        )
        return from_endpoints(found.G.graph)


@dataclass(frozen=True)
class GaussianGES:
    """GES with the BIC of linear Gaussian regressions."""

    name: str = "ges-gaussian"

    extra: ClassVar[str] = "baselines"
    modules: ClassVar[tuple[str, ...]] = (_GES,)
    packages: ClassVar[tuple[str, ...]] = ("causal-learn", "numpy")
    takes_numbers: ClassVar[bool] = True
    needs_numbers: ClassVar[bool] = True

    def learn(self, table: Table, seed: int | None) -> Learned:
        """The CPDAG; nothing is random."""
        rows = _matrix(table)
        found = import_module(_GES).ges(
            score_func="local_score_BIC_from_cov",
            cov=np.cov(rows, rowvar=False, bias=True),
            n=len(rows),
        )
        return from_endpoints(found["G"].graph)


def _matrix(table: Table) -> NDArray[np.float64]:
    columns = [table.numbers(k) for k in range(table.n_variables)]
    return np.ascontiguousarray(np.column_stack(columns), dtype=np.float64)
