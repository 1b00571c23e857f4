"""GES (Chickering 2002) by causal-learn, with the BDeu score.

The paper ran Tetrad's GES (FGES) with its discrete BIC score. causal-learn has one discrete score,
BDeu with an equivalent sample size of 1 and one expected parent, and takes no other; its BIC is
for linear Gaussian data. ``ges_bic.py`` has the paper's score in another library. FGES also
leaves out, by default, pairs of columns that are independent by themselves ("faithfulness
assumed"); causal-learn tries them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import ClassVar

from tamis.baselines.causal_learn import from_endpoints, require_prior, rows_of
from tamis.baselines.interface import Learned
from tamis.tables import Table

_GES = "causallearn.search.ScoreBased.GES"


@dataclass(frozen=True)
class GES:
    """Greedy equivalence search, forward and backward."""

    name: str = "ges"

    extra: ClassVar[str] = "baselines"
    modules: ClassVar[tuple[str, ...]] = (_GES,)
    packages: ClassVar[tuple[str, ...]] = ("causal-learn", "numpy", "pandas")

    def learn(self, table: Table, seed: int | None) -> Learned:
        """The CPDAG that GES finds; nothing is random."""
        require_prior(table)
        found = import_module(_GES).ges(rows_of(table), score_func="local_score_BDeu")
        return from_endpoints(found["G"].graph)
