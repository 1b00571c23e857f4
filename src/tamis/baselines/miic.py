"""MIIC (Verny et al. 2017) by pyAgrum: constraints found by mutual information."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tamis.baselines.agrum import MODULES, PACKAGES, adjacency_of, learner_on
from tamis.baselines.interface import Learned
from tamis.tables import Table


@dataclass(frozen=True)
class MIIC:
    """With the MDL correction, pyAgrum's default: the penalty of BIC on each information."""

    name: str = "miic"

    extra: ClassVar[str] = "baselines"
    modules: ClassVar[tuple[str, ...]] = MODULES
    packages: ClassVar[tuple[str, ...]] = PACKAGES

    def learn(self, table: Table, seed: int | None) -> Learned:
        """The partly directed graph that MIIC finds; nothing is random."""
        with learner_on(table) as learner:
            learner.useMIIC()
            learner.useMDLCorrection()
            found = learner.learnPDAG()
            return Learned(adjacency_of(learner, found.arcs(), found.edges()))
