"""GES (Chickering 2002) by the package ges, with the discrete BIC score.

The score is the paper's; the search is Chickering's, forward and backward. Tetrad's GES (FGES)
differs in a penalty discount and a prior on the number of parents (see ``pc.py``) and in leaving
out, by default, pairs of columns that are independent by themselves. The package lists all
semi-directed paths for every candidate: with 50 columns a run takes minutes, and dense graphs
take much longer.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import ClassVar

import numpy as np

from tamis.baselines.discrete_bic import DiscreteBIC
from tamis.baselines.interface import Learned
from tamis.tables import Table


@dataclass(frozen=True)
class BICGES:
    """Greedy equivalence search with ``penalty`` times the penalty of BIC."""

    name: str = "ges-bic"
    penalty: float = 1.0

    extra: ClassVar[str] = "baselines"
    modules: ClassVar[tuple[str, ...]] = ("ges",)
    packages: ClassVar[tuple[str, ...]] = ("ges", "numpy")

    def learn(self, table: Table, seed: int | None) -> Learned:
        """The CPDAG that GES finds; nothing is random."""
        score = DiscreteBIC(table.codes, self.penalty)
        # Without the third phase, turning, which neither Chickering nor Tetrad has.
        found, _ = import_module("ges").fit(score, phases=["forward", "backward"])
        return Learned((np.asarray(found) != 0).astype(np.int8))
