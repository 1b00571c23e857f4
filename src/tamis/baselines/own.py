"""tamis's own searches in the form of a baseline, so that all methods are run alike."""

from __future__ import annotations

import math
import warnings
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tamis.baselines.interface import Adjacency, Learned
from tamis.counting.compiled import uncompiled
from tamis.defaults import Search
from tamis.errors import TamisError
from tamis.learning import learn
from tamis.settings import Settings
from tamis.tables import Table
from tamis.tables.assemble import Missing

ROWS, COLUMNS = 800, 24
"""The part of a table that asks for the same compiled loops as the whole."""


@dataclass(frozen=True)
class OwnSearch:
    """The DAG that ``tamis.TAM(search)`` learns, with one thread. ``information`` and
    ``look_ahead`` are as in ``tamis.TAM``; None is its default."""

    name: str = "tamis"
    search: Search = "auto"
    missing: Missing = "error"
    information: str | None = None
    look_ahead: int | None = None

    extra: ClassVar[str] = ""
    modules: ClassVar[tuple[str, ...]] = ()
    packages: ClassVar[tuple[str, ...]] = ("tamis", "numba")
    takes_numbers: ClassVar[bool] = True
    takes_missing: ClassVar[bool] = True

    def prepare(self, table: Table) -> None:
        """Have the compiled loops at hand, which takes no part in the time of learning."""
        before, uncompiled.spent = uncompiled.spent, math.inf
        try:
            # What is to be said about the table is said about the whole of it.
            with warnings.catch_warnings(), suppress(TamisError):
                warnings.simplefilter("ignore")
                self.learn(part_of(table), None)
        finally:
            uncompiled.spent = before

    def learn(self, table: Table, seed: int | None) -> Learned:
        """The DAG; nothing is random."""
        wanted = {"information": self.information, "look_ahead": self.look_ahead}
        given = {name: value for name, value in wanted.items() if value is not None}
        settings = Settings(self.search, missing=self.missing, n_jobs=1, **given)  # type: ignore[arg-type]
        found = learn(table, settings)
        place = {name: k for k, name in enumerate(table.names)}
        adjacency: Adjacency = np.zeros((len(place), len(place)), dtype=np.int8)
        warrants = {}
        for edge in found.edges:
            adjacency[place[edge.parent], place[edge.child]] = 1
            warrants[place[edge.parent], place[edge.child]] = edge.warrant
        return Learned(adjacency, warrants)


def part_of(table: Table) -> Table:
    """Some rows and columns of a table, of every kind of columns that it has."""
    kinds = _kinds(table)
    share = max(COLUMNS // len(set(kinds)), 2)
    chosen = [k for k, kind in enumerate(kinds) if kinds[:k].count(kind) < share]
    rows = np.arange(min(table.n_rows, ROWS), dtype=np.int64)
    return table.select(chosen).arrange(rows)


def _kinds(table: Table) -> list[tuple[str, bool]]:
    """The kind of each column, and whether it is continuous."""
    return [(kind, not own) for kind, own in zip(table.kinds, table.levels, strict=True)]
