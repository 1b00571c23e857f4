"""Hill climbing, tabu search and MIIC by pyAgrum, the first two with the BIC score."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np

from tamis.baselines.interface import Adjacency, Learned
from tamis.metrics import to_cpdag
from tamis.tables import Table

MODULES = ("pyagrum",)
PACKAGES = ("pyagrum", "numpy")

_LETTERS = 26


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


@dataclass(frozen=True)
class MIIC:
    """MIIC (Verny et al. 2017): constraints found by mutual information. With the MDL correction,
    pyAgrum's default: the penalty of BIC on each information."""

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


@contextmanager
def learner_on(table: Table) -> Iterator[Any]:
    """A ``BNLearner`` of one thread.

    It reads files only. Given a data frame it writes one itself and leaves it behind, so the file
    is written here, in a folder that goes away.
    """
    with TemporaryDirectory(prefix="tamis-") as folder:
        path = Path(folder) / "table.csv"
        path.write_bytes(_csv(table))
        # No missing values, and labels as they are: letters, never taken for numbers.
        learner = import_module("pyagrum").BNLearner(str(path), ["?"], False)
        learner.setNumberOfThreads(1)
        yield learner


def _csv(table: Table) -> bytes:
    """Columns named c0, c1, …; a level is as many letters as the largest number needs."""
    width, codes = 1, table.codes.T.astype(np.int64)
    while _LETTERS**width < int(table.arities.max()):
        width += 1
    cells = np.full((*codes.shape, width + 1), ord(","), dtype=np.uint8)
    for k in range(width):
        cells[:, :, k] = ord("a") + codes // _LETTERS**k % _LETTERS
    cells[:, -1, -1] = ord("\n")
    header = ",".join(f"c{k}" for k in range(table.n_variables))
    return f"{header}\n".encode() + cells.tobytes()


def adjacency_of(
    learner: Any,  # noqa: ANN401 - pyAgrum has no types
    arcs: Iterable[tuple[int, int]],
    edges: Iterable[tuple[int, int]] = (),
) -> Adjacency:
    """Arcs and undirected edges over pyAgrum's node numbers, as a matrix over columns."""
    n_columns = len(learner.names())
    column = [int(learner.nameFromId(k).removeprefix("c")) for k in range(n_columns)]
    adjacency: Adjacency = np.zeros((n_columns, n_columns), dtype=np.int8)
    for tail, head in arcs:
        adjacency[column[tail], column[head]] = 1
    for one, other in edges:
        adjacency[column[one], column[other]] = adjacency[column[other], column[one]] = 1
    return adjacency
