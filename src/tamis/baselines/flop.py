"""FLOP (Wienöbst et al., 2025) by the package flopsearch: linear Gaussian models, searched by
orders from many starts."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import ClassVar

import numpy as np

from tamis.baselines.interface import Learned
from tamis.tables import Table


@dataclass(frozen=True)
class FLOP:
    """The class that scores best by BIC with ``penalty`` times its penalty, 2 as its authors
    advise, after ``restarts`` new starts."""

    name: str = "flop"
    penalty: float = 2.0
    restarts: int = 20

    extra: ClassVar[str] = "baselines"
    modules: ClassVar[tuple[str, ...]] = ("flopsearch",)
    packages: ClassVar[tuple[str, ...]] = ("flopsearch", "numpy")
    takes_numbers: ClassVar[bool] = True
    needs_numbers: ClassVar[bool] = True

    def learn(self, table: Table, seed: int | None) -> Learned:
        """The CPDAG that FLOP finds: 1 for an arrow, 2 at both ends of an undirected edge."""
        rows = np.column_stack([table.numbers(k) for k in range(table.n_variables)])
        found = import_module("flopsearch").flop(
            np.ascontiguousarray(rows, dtype=np.float64), self.penalty, restarts=self.restarts
        )
        return Learned((np.asarray(found) != 0).astype(np.int8))
