"""Greedy hill climbing over DAGs by pyAgrum, with the BIC score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tamis.baselines.agrum import MODULES, PACKAGES, adjacency_of, learner_on
from tamis.baselines.interface import Learned
from tamis.metrics import to_cpdag
from tamis.tables import Table


@dataclass(frozen=True)
class HillClimbing:
    """Adding, removing and turning one arc at a time, from the empty graph."""

    name: str = "hill-climbing"

    extra: ClassVar[str] = "baselines"
    modules: ClassVar[tuple[str, ...]] = MODULES
    packages: ClassVar[tuple[str, ...]] = PACKAGES

    def learn(self, table: Table, seed: int | None) -> Learned:
        """The CPDAG of the DAG found: BIC is the same for the whole class. Nothing is random."""
        with learner_on(table) as learner:
            learner.useGreedyHillClimbing()
            learner.useScoreBIC()
            learner.useNoPrior()
            return Learned(to_cpdag(adjacency_of(learner, learner.learnDAG().arcs())))
