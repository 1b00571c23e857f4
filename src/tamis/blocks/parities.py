"""Sets of columns that say something together, counted block by block."""

from __future__ import annotations

import numpy as np

from tamis.blocks.view import View
from tamis.constants import constants
from tamis.counts.compiled import Ints, Words
from tamis.counts.interactions import Parities


class SummedParities(Parities):
    """The odd rows of all sets of planes, summed over blocks."""

    def __init__(self, n_planes: int, column: Ints, n_rows: int, largest: int) -> None:
        super().__init__(np.zeros((n_planes, 0), dtype=np.uint64), column, n_rows, largest)
        self.total = np.zeros(len(self._odd), dtype=np.int64)

    def take(self, words: Words) -> None:
        """Count these planes from now on."""
        self._words = words

    def keep(self) -> None:
        """Add what was counted to the sums."""
        self.total += self._odd

    def finish(self, total: Ints) -> None:
        """Let these sums be the counts."""
        kind = np.int32 if self.n_rows < 2**31 else np.int64
        self._odd = total.astype(kind)


class Interacting:
    """The planes among which interactions are looked for: those of columns of few levels.

    With more than two levels the last one has a plane here too: what it is called must not
    matter.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._levels = few_levels(view.arities)
        self.column = interacting_columns(view.arities)

    def words(self, block: int) -> Words:
        """These planes of one block, column after column."""
        store = self._view.store
        planes = store.words(block, block + 1)[0]
        found: Words = np.empty((len(self.column), planes.shape[1]), dtype=np.uint64)
        everyone = _rows(planes.shape[1], store.rows_in(block, block + 1))
        at = 0
        for k, n in self._levels:
            own = planes[self._view.first[k] : self._view.first[k] + n - 1]
            found[at : at + n - 1] = own
            at += n - 1
            if n > 2:
                found[at] = everyone & ~np.bitwise_or.reduce(own, axis=0)
                at += 1
        return found


def few_levels(arities: Ints) -> list[tuple[int, int]]:
    """The columns that take part, with their numbers of levels."""
    return [(k, n) for k, n in enumerate(arities.tolist()) if n <= constants.set_levels]


def interacting_columns(arities: Ints) -> Ints:
    """The column of each plane that takes part."""
    columns = [k for k, n in few_levels(arities) for _ in range(n if n > 2 else n - 1)]
    return np.array(columns, dtype=np.int64)


def _rows(n_words: int, n_rows: int) -> Words:
    """A plane with a one for each of so many rows."""
    octets = np.zeros(n_words * 8, dtype=np.uint8)
    ones = np.packbits(np.ones(n_rows, dtype=np.bool_), bitorder="little")
    octets[: len(ones)] = ones
    return octets.view("<u8")
