"""Two graphs over the same nodes: matched by name or by position, compared pair by pair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from tamis.errors import SettingError
from tamis.metrics.graphs import Matrix, Mixed, read_graph
from tamis.tables.refusals import listed, shown


@dataclass(frozen=True)
class Pair:
    """Two graphs over the same nodes in the same order, looked at pair by pair.

    The matrices of the properties are filled above the diagonal only: one entry a pair.
    """

    learned: Mixed
    true: Mixed

    @property
    def adjacent_in_learned(self) -> Matrix:
        """The pairs with any edge in the learned graph."""
        return _pairs(self.learned.matrix | self.learned.matrix.T)

    @property
    def adjacent_in_true(self) -> Matrix:
        """The pairs with any edge in the true graph."""
        return _pairs(self.true.matrix | self.true.matrix.T)

    @property
    def adjacent_in_both(self) -> Matrix:
        """The pairs with an edge in each graph, of whatever kind."""
        return self.adjacent_in_learned & self.adjacent_in_true

    def agreeing(self, *, favourable: bool) -> Matrix:
        """The pairs with the same edge in both graphs.

        Favourably, an undirected edge is the same as any edge between its nodes.
        """
        learned, true = self.learned.matrix, self.true.matrix
        same: Matrix = (learned == true) & (learned == true).T
        if favourable:
            same = same | (learned & learned.T) | (true & true.T)
        return self.adjacent_in_both & same


def _pairs(symmetric: Matrix) -> Matrix:
    pairs: Matrix = np.triu(symmetric, 1)
    return pairs


def matched(learned: object, true: object) -> Pair:
    """Both graphs with the nodes of the learned one put in the order of the true one."""
    left, right = read_graph(learned, "learned"), read_graph(true, "true")
    names, wanted = left.names, right.names
    if names is None or wanted is None:
        require_same_size(left, right)
        return Pair(left, right)
    place = positions_of(wanted, "true")
    require_same_names(positions_of(names, "learned"), place)
    order = np.argsort([place[name] for name in names])
    return Pair(Mixed(right.nodes, left.matrix[np.ix_(order, order)]), right)


def positions_of(names: Iterable[str], role: str) -> dict[str, int]:
    """Where each name stands; refused if one stands twice."""
    place: dict[str, int] = {}
    for i, name in enumerate(names):
        if place.setdefault(name, i) != i:
            raise SettingError(
                f"two nodes of the {role} graph are called {shown(name)}; names are compared as "
                "text, so give them different ones"
            )
    return place


def require_same_names(learned: Mapping[str, int], true: Mapping[str, int]) -> None:
    """Refuse graphs over different nodes, and say which."""
    missing = [shown(name) for name in true if name not in learned]
    added = [shown(name) for name in learned if name not in true]
    seen = [f"{listed(added)} only in the learned"] if added else []
    seen += [f"{listed(missing)} only in the true"] if missing else []
    if seen:
        raise SettingError(
            f"the two graphs have different nodes: {'; '.join(seen)}. Rename, add or remove "
            "nodes until both have the same"
        )


def require_same_size(learned: Mixed, true: Mixed) -> None:
    """Refuse graphs of different sizes where positions are all there is to go by."""
    if learned.size != true.size:
        raise SettingError(
            f"the learned graph has {learned.size} nodes and the true one {true.size}; without "
            "names on both they are matched by position, so the numbers must agree"
        )
