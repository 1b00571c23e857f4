"""The columns as coordinates, and I(X ; Y | S) among them for many Y at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import digamma

from tamis.information.interface import Floats, Ints
from tamis.information.neighbours.chance import words
from tamis.information.neighbours.loops import neighbour_counts
from tamis.information.neighbours.shuffles import anywhere, nearby, within_strata


class Space:
    """Columns with distances: a measured one by its values, one of levels 0 or 1.

    ``columns`` has shape (d, n); ``is_levels`` says which of them hold codes. Two rows are as far
    apart as in the column that sets them apart most.
    """

    def __init__(self, names: Sequence[str], columns: Floats, is_levels: Sequence[bool]) -> None:
        self.names = tuple(names)
        self.columns = np.ascontiguousarray(columns)
        self.is_levels = tuple(is_levels)
        self.ties = any(is_levels)
        self.caps = np.where(self.is_levels, 1.0, np.inf)
        self._psi = np.concatenate([[0.0], digamma(np.arange(1, self.n_rows + 1))])

    @property
    def n_rows(self) -> int:
        """The paper's n."""
        return int(self.columns.shape[1])

    def gains(self, target: int, given: Sequence[int], candidates: Sequence[int], k: int) -> Floats:
        """I(target ; l | given) for single columns l, raw: an estimate may be below 0."""
        chosen = np.array(candidates, dtype=np.int64)
        return self._estimates(
            target, given, self.columns[chosen][:, None, :], self.caps[chosen][:, None], k
        )

    def shuffled_gains(
        self, target: int, given: Sequence[int], members: Sequence[int], rows: Ints, k: int
    ) -> Floats:
        """I(target ; members | given) of the columns as they are, then in other orders of rows."""
        block = self.columns[list(members)]
        blocks = np.concatenate([block[None], block[:, rows].swapaxes(0, 1)])
        caps = np.broadcast_to(self.caps[list(members)], blocks.shape[:2])
        return self._estimates(target, given, blocks, np.ascontiguousarray(caps), k)

    def orders(self, key: Sequence[int], given: Sequence[int], number: int, seed: int) -> Ints:
        """Orders of the rows that keep what is given; ``key`` names the columns of the test."""
        given = sorted(given, key=self.names.__getitem__)
        names = [[self.names[v] for v in key], [self.names[v] for v in given]]
        size = (number, self.n_rows)
        chance = words(seed, [["shuffle"], *names], number * self.n_rows).reshape(size)
        if not given:
            return anywhere(chance)
        measured = [v for v in given if not self.is_levels[v]]
        levels = [v for v in given if self.is_levels[v]]
        if not measured:
            return within_strata(self._strata(levels), chance)
        more = words(seed, [["visits"], *names], number * self.n_rows).reshape(size)
        points = np.column_stack([*self.columns[measured], *self._indicators(levels)])
        return nearby(points, chance, more)

    def _strata(self, levels: Sequence[int]) -> Ints:
        _, strata = np.unique(self.columns[levels], axis=1, return_inverse=True)
        return np.asarray(strata, dtype=np.int64).ravel()

    def _indicators(self, levels: Sequence[int]) -> list[Floats]:
        """A 0/1 column for every level: under the maximum norm, two levels are 1 apart."""
        return [
            (self.columns[v] == code).astype(np.float64)
            for v in levels
            for code in np.unique(self.columns[v])
        ]

    def _estimates(
        self, target: int, given: Sequence[int], blocks: Floats, caps: Floats, k: int
    ) -> Floats:
        window = self._window(target, given)
        order = np.argsort(window, kind="stable")
        inside = np.array(given, dtype=np.int64)
        tally = neighbour_counts(
            window[order],
            np.ascontiguousarray(self.columns[inside][:, order]),
            self.caps[inside],
            self.columns[target : target + 1, order],
            self.caps[target : target + 1],
            np.ascontiguousarray(blocks[:, :, order]),
            caps,
            k,
            self.ties,
        )
        # Row by row: a matrix product rounds by the number of candidates in company.
        found: Floats = (tally * self._psi).sum(axis=1) / self.n_rows
        return found

    def _window(self, target: int, given: Sequence[int]) -> Floats:
        """A coordinate that the distances bound; levels have no order, and bound nothing."""
        for v in given or [target]:
            if not self.is_levels[v]:
                return np.asarray(self.columns[v])
        return np.zeros(self.n_rows)
