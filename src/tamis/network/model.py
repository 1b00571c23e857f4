"""A Bayesian network with its tables: frozen, checked when made."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import networkx as nx
from numpy.typing import NDArray

from tamis.errors import SettingError
from tamis.network import conversions
from tamis.network.checks import checked_levels, checked_names, checked_parents
from tamis.network.examples import descriptions, example_parts
from tamis.network.files import read_parts, write_network
from tamis.network.fitting import fit_tables
from tamis.network.interface import FittedEdge, Network
from tamis.network.likelihood import log_likelihood
from tamis.network.parts import Floats
from tamis.network.rows import Rows, require_known_levels, rows_of
from tamis.network.sampling import Codes, Seed, labelled, sample_codes
from tamis.network.tables import checked_tables
from tamis.tables import Label, read_table


@dataclass(frozen=True, eq=False, repr=False)
class BayesianNetwork(Network):
    """A DAG over discrete variables and the probabilities of each given its parents.

    ``parents[k]`` holds positions in ``names``. ``tables[k]`` has one axis for each parent of
    variable k, in that order, and the last axis is k itself; the arrays are read-only. Levels
    are strings, integers or booleans, of one type within a variable.

    Contents that make no network raise ``DataError``. A row of a table may miss a sum of 1 by
    1e-6; it is then divided by its sum.
    """

    names: tuple[str, ...]
    levels: tuple[tuple[Label, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[Floats, ...]

    def __post_init__(self) -> None:
        names = checked_names(self.names)
        levels = checked_levels(names, self.levels)
        parents = checked_parents(names, self.parents)
        tables = checked_tables(names, levels, parents, self.tables)
        checked = {"names": names, "levels": levels, "parents": parents, "tables": tables}
        for field, value in checked.items():
            object.__setattr__(self, field, value)

    def __eq__(self, other: object) -> bool:
        """Whether all four fields agree: the order of variables counts, and so does every bit."""
        if not isinstance(other, BayesianNetwork):
            return NotImplemented
        return self._structure == other._structure and all(
            mine.tobytes() == its.tobytes()
            for mine, its in zip(self.tables, other.tables, strict=True)
        )

    def __hash__(self) -> int:
        return hash(self._structure)

    def __repr__(self) -> str:
        n_edges = sum(map(len, self.parents))
        return (
            f"<BayesianNetwork: {self.n_variables} variables, {n_edges} edges, "
            f"{self.n_parameters} parameters>"
        )

    @cached_property
    def _structure(self) -> tuple[object, ...]:
        # With the type of the labels, because 1 and True are equal.
        kinds = tuple(type(labels[0]) for labels in self.levels)
        return self.names, self.levels, kinds, self.parents

    @property
    def n_parameters(self) -> int:
        """The number of free probabilities: in every row of every table all but one."""
        return sum(table.size - table.size // table.shape[-1] for table in self.tables)

    def in_order(self, names: Sequence[str]) -> Self:
        """The same network, its variables listed in this order."""
        if sorted(names) != sorted(self.names):
            raise SettingError("names must be those of the network, each once")
        order = [self._place[name] for name in names]
        place = {k: i for i, k in enumerate(order)}
        return type(self)(
            tuple(names),
            tuple(self.levels[k] for k in order),
            tuple(tuple(place[p] for p in self.parents[k]) for k in order),
            tuple(self.tables[k] for k in order),
        )

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a network from a BIF file, plain (``.bif``) or compressed (``.bif.gz``).

        Levels come as strings: BIF knows no other. Rows that miss a sum of 1 by up to 0.02,
        as rounded files do, are divided by their sums; past 1e-6 a ``TamisWarning`` says so.
        Anything that is not such a file raises ``FileFormatError`` with the line, what was
        expected and what was found.
        """
        return cls(*read_parts(path))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the network as BIF, ``.bif`` or ``.bif.gz``; the file appears whole or not at all.

        Probabilities keep every digit: ``read`` gives the same network, with levels as
        strings. Names and labels that are no plain words are quoted; one with a quotation
        mark or a line break, which BIF cannot hold, raises ``SettingError``.
        """
        write_network(self, path)

    @classmethod
    def example(cls, name: str) -> Self:
        """One of the networks that come with tamis; ``examples`` lists them."""
        return cls(*example_parts(name))

    @staticmethod
    def examples() -> dict[str, str]:
        """The names of the networks that come with tamis, and what each of them shows."""
        return descriptions()

    def sample(self, n: int, seed: Seed) -> dict[str, NDArray[Any]]:
        """Draw ``n`` independent rows: for every variable, in order, an array of labels.

        The mapping goes as it is into ``tamis.TAM().fit``, ``pandas.DataFrame`` or
        ``polars.DataFrame``. The same seed gives the same rows on every machine, in whatever
        order the variables and their parents are listed; see ``tamis.network.sampling``.
        """
        columns = labelled(self.sample_codes(n, seed), self.levels)
        return dict(zip(self.names, columns, strict=True))

    def sample_codes(self, n: int, seed: Seed) -> Codes:
        """The same rows as positions in ``levels``: shape (d, n), smallest unsigned type."""
        return sample_codes(self, n, seed)

    @classmethod
    def fit(
        cls,
        graph: nx.DiGraph[Any] | Mapping[str, Iterable[str]],
        data: object,
        *,
        prior: float = 0.0,
        equivalent_sample_size: float | None = None,
    ) -> Self:
        """Count the tables of a graph from data of any kind that ``tamis.TAM().fit`` takes.

        ``graph`` is a ``networkx.DiGraph`` over names of columns, or a mapping from each name
        to its parents. The network has the nodes of the graph, in the order of the columns;
        its levels are those that occur.

        With neither prior the tables are the maximum-likelihood ones; a configuration of the
        parents that never occurs gets the uniform row. ``prior`` is a pseudo-count added to
        every cell (1 is Laplace's rule). ``equivalent_sample_size`` is spread evenly over the
        cells of each table instead, as in the BDeu score.
        """
        return cls(*fit_tables(graph, read_table(data), prior, equivalent_sample_size))

    @property
    def edges(self) -> tuple[FittedEdge, ...]:
        """The edges, child by child; what they do stands in ``tables``."""
        return tuple(
            FittedEdge(parent, name) for name in self.names for parent in self.parents_of(name)
        )

    def log_likelihood_of(self, rows: Rows, unseen: float | None = None) -> float:
        """The log-likelihood of rows that have been matched to the network."""
        return log_likelihood(self, rows, unseen)

    def bic(self, data: object) -> float:
        """The log-likelihood less half of ln n for each free probability; higher is better."""
        rows = rows_of(self.names, self.levels, data)
        require_known_levels(rows, self.names, self.levels)
        penalty = 0.5 * self.n_parameters * math.log(rows.n)
        return log_likelihood(self, rows) - penalty

    def to_networkx(self) -> nx.DiGraph[str]:
        """The DAG; nodes carry ``levels``, ``table`` and ``parents``, in the order of axes."""
        return conversions.to_networkx(self)

    @classmethod
    def from_networkx(cls, graph: nx.DiGraph[Any]) -> Self:
        """The network in a graph such as ``to_networkx`` gives."""
        return cls(*conversions.from_networkx(graph))

    def to_pgmpy(self) -> Any:  # noqa: ANN401 - a class of a library that may be absent
        """A ``pgmpy.models.DiscreteBayesianNetwork`` with the same states in the same order."""
        return conversions.to_pgmpy(self)

    @classmethod
    def from_pgmpy(cls, model: Any) -> Self:  # noqa: ANN401 - as above
        """The network in a ``pgmpy.models.DiscreteBayesianNetwork`` whose nodes all have tables.

        Names become strings. Rows may miss a sum of 1 by 0.02 and are then rescaled.
        """
        return cls(*conversions.from_pgmpy(model))

    def to_pyagrum(self) -> Any:  # noqa: ANN401 - as above
        """A ``pyagrum.BayesNet`` with the same tables; labels become their text.

        Unlike a BIF file it holds any name and label.
        """
        return conversions.to_pyagrum(self)

    @classmethod
    def from_pyagrum(cls, model: Any) -> Self:  # noqa: ANN401 - as above
        """The network in a ``pyagrum.BayesNet``; its labels are strings.

        Rows may miss a sum of 1 by 0.02 and are then rescaled.
        """
        return cls(*conversions.from_pyagrum(model))
