"""The bytes a run will hold at once, from the sizes of its arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tamis.constants import constants
from tamis.counting.counts import PAIR_TABLE_BYTES
from tamis.counting.elsewhere import BlockTable, MomentTable
from tamis.counting.independence import STATS
from tamis.counting.interactions import affordable
from tamis.counting.memory import EMPTY
from tamis.information.wrappers import MOST_BYTES
from tamis.search.cmi_rows import FEW_SLOTS, MOST_SLOTS
from tamis.tables import Table
from tamis.tables.moments import BLOCK_CELLS
from tamis.tables.planes import CHUNK, MAX_PLANE_LEVELS
from tamis.tables.table import AnyTable

FLOAT = 8
PLACE = 2
"""A variable of a row that the refinement keeps, in the order of gains."""
SLOT = FLOAT + 4 + 4
"""What was found out about a variable at a row: its score, whose it is, and which row follows."""
CHANGE = 4 + 4
"""An entropy that changed in a round: whose, and what it is now."""
ROW = 5 * 4 + 2 * FLOAT
"""A row of a context that is counted row by row: its stratum, group, level, weight and place, and a
cell."""
PAIR_OF_PLANES = 5 * FLOAT
"""A pair of planes while sets are screened: who they are, two words, a mean."""
DECISION = 500
"""A test that is kept with its reasons, as the search and as the result hold it."""


@dataclass(frozen=True)
class Planes:
    """The bit planes of a table of levels."""

    n_planes: int
    n_words: int
    n_interacting: int
    """The planes among which interactions are looked for."""

    @classmethod
    def of(cls, table: AnyTable) -> Planes:
        """What ``build_planes`` will make."""
        sizes = table.arities
        planed = sizes[(sizes <= MAX_PLANE_LEVELS) & (sizes > 1)]
        few = planed[planed <= constants.set_levels]
        # Of more than two levels the last one takes part too.
        interacting = int(np.where(few > 2, few, 1).sum())
        return cls(int((planed - 1).sum()), (table.n_rows + 63) // 64, interacting)

    @property
    def counted(self) -> int:
        """The largest number of candidates whose sets are all counted."""
        return affordable(self.n_interacting, self.n_words)

    def sets(self, largest: int) -> int:
        """The sets of planes counted to look at up to ``largest`` candidates together."""
        if largest < 2:
            return 0
        return sum(math.comb(self.n_interacting, size) for size in range(largest + 2))


@dataclass(frozen=True)
class Asked:
    """How much of the table a reading asks for: the forecast of `work`."""

    contexts: float
    path: float
    """The rows that a node's path has, on average."""
    remembers: bool
    """Whether the rows are kept for other searches and the refinement, as "auto" does."""
    masks: bool
    tests_come_along: bool
    """Whether whole rows of tests are kept with the gains."""


def of_table(table: Table) -> dict[str, int]:
    """The table itself: as it was read, and arranged by the names of its columns."""
    measured = sum(numbers.nbytes for numbers in table.continuous.values())
    gaps = sum(absent.nbytes for absent in table.missing.values())
    return {"codes": 2 * table.codes.nbytes + measured + gaps}


def of_blocks(table: BlockTable) -> dict[str, int]:
    """A table that is counted in blocks: what its limit leaves beside the program."""
    return {"blocks and their counts": table.working_bytes}


def of_moments(table: MomentTable) -> dict[str, int]:
    """A table of which the moments were taken: a batch of its rows, and the correlations."""
    d = table.n_variables
    return {
        "blocks of numbers": 5 * FLOAT * min(d * table.n_rows, BLOCK_CELLS),
        "correlations": 6 * FLOAT * d * d,
    }


def of_counts(table: Table, look_ahead: int) -> dict[str, int]:
    """Counting: planes, pairs, the estimator's terms, the rows of a context that is
    counted row by row, and the counts of all sets."""
    planes, n = Planes.of(table), table.n_rows
    words = 8 * planes.n_planes * planes.n_words
    pairs = 4 * planes.n_planes**2
    sets = planes.sets(min(look_ahead, planes.counted))
    screened = look_ahead > planes.counted
    packing = min(table.n_variables * n, CHUNK) * (1 + table.codes.itemsize)
    return {
        "bit planes": words + packing,
        "pair counts": pairs if pairs <= PAIR_TABLE_BYTES and n < 2**31 else 0,
        "values of f": 2 * FLOAT * (n + 1),
        "states of rows": (4 * (EMPTY + 1) + ROW) * n,
        # The counts of all sets, and the planes twice more; all pairs of planes.
        "looking ahead": 4 * sets
        + (16 * planes.n_interacting * planes.n_words if look_ahead > 1 else 0)
        + (PAIR_OF_PLANES * planes.n_interacting**2 // 2 if screened else 0),
    }


def of_numbers(table: Table) -> dict[str, int]:
    """Moments: the rows in an order of their own, a block of numbers, the correlations."""
    d, n = table.n_variables, table.n_rows
    copy = table.codes.nbytes + sum(numbers.nbytes for numbers in table.continuous.values())
    return {
        "rows in canonical order": copy + 4 * FLOAT * n,
        "blocks of numbers": 3 * FLOAT * min(d * n, BLOCK_CELLS),
        "correlations": 4 * FLOAT * d * d,
    }


def of_search(d: int, asked: Asked) -> dict[str, int]:
    """The store of rows, what "auto" remembers of them, and the record of the decisions."""
    row = FLOAT * d * (1 + STATS if asked.tests_come_along else 1)
    stored = d * (1 + asked.path)
    if stored > 2 * d:  # The store grows by a quarter at a time.
        stored *= 1.25
    searches = 3 if asked.remembers else 1
    record = searches * CHANGE * round(d * (2 + asked.path))
    if asked.masks or asked.remembers:
        record += DECISION * d * max(round(d**0.5), 1)
    slots = SLOT * (d if d <= MOST_SLOTS else FEW_SLOTS)
    kept = min(MOST_BYTES, asked.contexts * row) + asked.contexts * (PLACE * d + slots)
    return {
        "store of rows": round(stored * (row + slots)),
        "remembered rows": round(kept) if asked.remembers else 0,
        "record": record,
    }


def total(parts: Mapping[str, int]) -> int:
    """All parts together: few of them are let go before the end."""
    return sum(parts.values())
