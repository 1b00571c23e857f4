"""One table in the hands of the methods: as columns, as a discrete table, and its true graph."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cached_property

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from tamis.errors import TamisWarning
from tamis.experiments.cells import Draw
from tamis.simulate import draw
from tamis.simulate.models.model import Column
from tamis.tables import Table, read_table


class Dataset:
    """Drawn once, learned from by every method."""

    def __init__(self, drawn: Draw) -> None:
        self.draw = drawn
        self._simulated = draw(**drawn.arguments())

    @property
    def columns(self) -> Mapping[str, Column]:
        """The numbers, by name."""
        return self._simulated.data

    @property
    def graph(self) -> nx.DiGraph[str]:
        """The true DAG."""
        return self._simulated.graph

    @cached_property
    def table(self) -> Table:
        """The rows as a discrete table; ``DataError`` if the columns are continuous."""
        return self._read(continuous=False)

    @cached_property
    def continuous(self) -> Table:
        """The rows as a table in which columns may be continuous."""
        return self._read(continuous=True)

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """The numbers, a row a case."""
        return np.column_stack([np.asarray(one, dtype=np.float64) for one in self.columns.values()])

    def _read(self, *, continuous: bool) -> Table:
        with warnings.catch_warnings():
            # A column of a random model may happen not to vary; nobody is there to drop it.
            warnings.simplefilter("ignore", TamisWarning)
            return read_table(self.columns, continuous=continuous)
