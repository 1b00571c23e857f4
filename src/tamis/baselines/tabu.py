"""Local search with a tabu list by pyAgrum, with the BIC score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tamis.baselines.agrum import MODULES, PACKAGES, adjacency_of, learner_on
from tamis.baselines.interface import Learned
from tamis.metrics import to_cpdag
from tamis.tables import Table


@dataclass(frozen=True)
class Tabu:
    """Hill climbing that may go down ``decreases`` times in a row, never back to the last
    ``size`` changes; the defaults are pyAgrum's."""

    name: str = "tabu"
    size: int = 100
    decreases: int = 2

    extra: ClassVar[str] = "baselines"
    modules: ClassVar[tuple[str, ...]] = MODULES
    packages: ClassVar[tuple[str, ...]] = PACKAGES

    def learn(self, table: Table, seed: int | None) -> Learned:
        """The CPDAG of the DAG found: BIC is the same for the whole class. Nothing is random."""
        with learner_on(table) as learner:
            learner.useLocalSearchWithTabuList(self.size, self.decreases)
            learner.useScoreBIC()
            learner.useNoPrior()
            return Learned(to_cpdag(adjacency_of(learner, learner.learnDAG().arcs())))
