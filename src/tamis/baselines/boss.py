"""BOSS (Andrews et al., 2023) by causal-learn, with the BDeu score."""

from __future__ import annotations

import random
from dataclasses import dataclass
from importlib import import_module
from typing import ClassVar

from tamis.baselines.causal_learn import (
    from_endpoints,
    grouping_quietly,
    require_prior,
    rows_of,
)
from tamis.baselines.interface import Learned
from tamis.tables import Table

_BOSS = "causallearn.search.PermutationBased.BOSS"


@dataclass(frozen=True)
class BOSS:
    """Best order score search."""

    name: str = "boss"

    extra: ClassVar[str] = "baselines"
    modules: ClassVar[tuple[str, ...]] = (_BOSS,)
    packages: ClassVar[tuple[str, ...]] = ("causal-learn", "numpy")

    def learn(self, table: Table, seed: int | None) -> Learned:
        """The CPDAG that BOSS finds; it visits the columns in an order that ``seed`` draws."""
        require_prior(table)
        before = random.getstate()
        random.seed(0 if seed is None else seed)
        try:
            with grouping_quietly():
                found = import_module(_BOSS).boss(
                    rows_of(table), score_func="local_score_BDeu", verbose=False
                )
        finally:
            random.setstate(before)
        return from_endpoints(found.graph)
