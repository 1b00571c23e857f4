"""tamis's own searches in the form of a baseline, so that all methods are run alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tamis.baselines.interface import Adjacency, Learned
from tamis.learning import learn
from tamis.settings import Settings
from tamis.tables import Table


@dataclass(frozen=True)
class OwnSearch:
    """The DAG that ``tamis.TAM(search)`` learns, with one thread."""

    name: str = "tamis"
    search: str = "auto"
    missing: str = "error"

    extra: ClassVar[str] = ""
    modules: ClassVar[tuple[str, ...]] = ()
    packages: ClassVar[tuple[str, ...]] = ("tamis", "numba")
    takes_numbers: ClassVar[bool] = True
    takes_missing: ClassVar[bool] = True

    def learn(self, table: Table, seed: int | None) -> Learned:
        """The DAG; nothing is random."""
        settings = Settings(self.search, missing=self.missing, n_jobs=1)  # type: ignore[arg-type]
        found = learn(table, settings)
        place = {name: k for k, name in enumerate(table.names)}
        adjacency: Adjacency = np.zeros((len(place), len(place)), dtype=np.int8)
        for edge in found.edges:
            adjacency[place[edge.parent], place[edge.child]] = 1
        return Learned(adjacency)
