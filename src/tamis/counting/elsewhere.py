"""Tables whose rows are not in memory as they were read: in blocks, or gone but for their moments.

What counts the blocks of a table asks it for the sums of passes and for nothing else. So a packed
file, the planes of a long table and the parts that workers hold are counted by one engine.
"""

from __future__ import annotations

import os
import re
from abc import abstractmethod
from collections.abc import Callable, Container, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Self, TypeGuard

import numpy as np
from numpy.typing import NDArray

from tamis.counting.interactions import MOST_BYTES
from tamis.counting.passes import Pass, Sums, View
from tamis.counting.sharing import usable_jobs
from tamis.errors import SettingError
from tamis.plugins import is_whole
from tamis.tables.columns import many_values
from tamis.tables.moments import Moments
from tamis.tables.packed_file import PackedFile
from tamis.tables.planes import Blocks, Layout
from tamis.tables.table import AnyTable, ColumnKind, Label, Table

DEFAULT_MEMORY = 2 * 10**9
PROGRAM_BYTES = 5 * 10**8
"""What Python, its libraries and the compiled loops take, and what a search remembers."""
LEAST_MEMORY = 6 * 10**8
LONG = 2**17
ROWS_A_COLUMN = 3000
"""With so many rows, and so many for each column, blocks win; with fewer, folding the tables of a
block apart from counting them costs more than the cache gains. Measured for
version 0.2."""

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


@dataclass
class Counted:
    """What goes over the rows, in how many parts, how often it did so, and how many bytes came
    along with it."""

    engine: str
    partitions: int
    rounds: int = 0
    bytes_moved: int = 0
    heard: Callable[[int, int], None] | None = field(default=None, repr=False)
    """Called after each round with both."""

    def begin(self) -> None:
        """Count anew."""
        self.rounds = self.bytes_moved = 0

    def note(self, moved: int) -> None:
        """One more round."""
        self.rounds += 1
        self.bytes_moved += moved
        if self.heard is not None:
            self.heard(self.rounds, self.bytes_moved)


class TableElsewhere(AnyTable):
    """A table whose rows are not in memory as they were read; none is missing, all count alike."""

    def __init__(
        self,
        names: Sequence[str],
        levels: Sequence[Sequence[Label]],
        kinds: Sequence[ColumnKind],
        counted: Counted,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.names = tuple(names)
        self.levels = tuple(map(tuple, levels))
        self.kinds = tuple(kinds)
        self.counted = counted
        self.notes = notes
        self.told, self.losses = frozenset(), ()
        self.missing, self.weights = {}, None

    def select(self, positions: list[int]) -> Self:
        """A table of these rows with the columns at these positions, in this order."""
        chosen = copy(self)
        chosen.__dict__.pop("arities", None)
        chosen.names = tuple(self.names[k] for k in positions)
        chosen.levels = tuple(self.levels[k] for k in positions)
        chosen.kinds = tuple(self.kinds[k] for k in positions)
        chosen.told = frozenset(new for new, k in enumerate(positions) if k in self.told)
        return chosen


class BlockTable(TableElsewhere):
    """A table of levels whose rows are in blocks that only passes go over.

    ``where`` says in words where they are; ``working_bytes`` is what there is for tables and, where
    blocks are counted here, for blocks; ``set_bytes`` is what the counts of all sets of planes may
    take when candidates are looked ahead.
    """

    rows: ClassVar[Literal["blocks"]] = "blocks"
    is_here: ClassVar[bool] = True
    """Whether this process goes over the rows itself."""

    def __init__(
        self,
        names: Sequence[str],
        levels: Sequence[Sequence[Label]],
        layout: Layout,
        counted: Counted,
        where: str,
        notes: tuple[str, ...] = (),
        # What is counted, and how far ahead is looked, must not depend on where the rows are.
        working_bytes: int = DEFAULT_MEMORY - PROGRAM_BYTES,
        set_bytes: int | None = None,
    ) -> None:
        super().__init__(names, levels, _kinds_of(levels, layout.rows), counted, notes)
        self.layout = layout
        """Of the blocks, those of columns that are not among these included."""
        self.positions = tuple(range(len(names)))
        """Which columns of the layout these are."""
        self.where = where
        self.working_bytes = working_bytes
        self.set_bytes = working_bytes // 2 if set_bytes is None else set_bytes

    def select(self, positions: list[int]) -> Self:
        """A table of these rows with the columns at these positions, in this order."""
        chosen = super().select(positions)
        chosen.positions = tuple(self.positions[k] for k in positions)
        return chosen

    def as_told(self, types: Container[str]) -> Self:
        """A copy in which the user has named the kinds of these columns: they are categories, or
        else they would not be in blocks."""
        chosen = copy(self)
        chosen.told = frozenset(k for k, name in enumerate(self.names) if name in types)
        if chosen.told:
            chosen.kinds = tuple[ColumnKind, ...](["category"] * len(self.names))
        return chosen

    @property
    def whereabouts(self) -> str:
        """Where the rows are, as a sentence without its full stop."""
        return f"The rows of {self.where} are counted in blocks"

    @abstractmethod
    def total(self, passes: Sequence[Pass], n_jobs: int) -> list[Sums]:
        """What each pass finds over all rows."""

    @property
    def n_rows(self) -> int:
        """The paper's n."""
        return self.layout.rows

    @property
    def planed(self) -> NDArray[np.bool_]:
        """Which columns have planes."""
        return self.layout.planed[list(self.positions)]

    @property
    def first(self) -> NDArray[np.int64]:
        """The first plane of each column."""
        return self.layout.first[list(self.positions)]

    def threads(self, n_jobs: int | None) -> int:
        """How many threads count in this process; on a cluster none but the one that asks."""
        return usable_jobs(n_jobs) if self.is_here else 1

    def never_varies(self, k: int) -> bool:
        """Whether column ``k`` has the same value in all rows."""
        return len(self.levels[k]) == 1


class PackedTable(BlockTable):
    """The columns of a packed file.

    ``memory`` is how many bytes the whole process may take while it counts.
    """

    def __init__(
        self,
        file: PackedFile,
        memory: int | None = None,
        *,
        notes: tuple[str, ...] = (),
        owned: object = None,
        called: str | None = None,
    ) -> None:
        self.file = file
        self.memory = checked_limit(memory)
        # What must live as long as the table, such as the folder of a temporary file.
        self._owned = owned
        # What the user gave, if that was not the file itself.
        where = repr(called or os.path.basename(file.path))
        counted = Counted("blocks", file.layout.n_blocks)
        super().__init__(
            file.header.names, file.header.levels, file.layout, counted, where, notes,
            self.memory - PROGRAM_BYTES,
        )  # fmt: skip

    def total(self, passes: Sequence[Pass], n_jobs: int) -> list[Sums]:
        """What each pass finds over all rows."""
        view = View(self.file, self.positions, self.working_bytes, n_jobs)
        found = [one.over(view) for one in passes]
        self.counted.note(len(passes) * self.layout.n_blocks * self.layout.block_bytes)
        return found


class LongTable(BlockTable):
    """The planes of a long table of levels in memory, in blocks: all of them do not fit the
    processor's cache."""

    def __init__(self, table: Table) -> None:
        codes = [list(table.codes)]
        self._blocks = Blocks.of(table.n_rows, tuple(table.arities.tolist()), codes)
        # No limit of its own: how far ahead is looked must not depend on the way of counting.
        super().__init__(
            table.names, table.levels, self._blocks.layout, Counted("memory", 1), "this table",
            set_bytes=24 * MOST_BYTES,
        )  # fmt: skip

    def total(self, passes: Sequence[Pass], n_jobs: int) -> list[Sums]:
        """What each pass finds over all rows."""
        view = View(self._blocks, self.positions, self.working_bytes, n_jobs)
        return [one.over(view) for one in passes]


Again = Callable[[tuple[str, ...], Moments], tuple[int, float]]
"""Another pass over all rows: `products_in` of every part, added up in their order."""


class MomentTable(TableElsewhere):
    """Names, levels where a column of whole numbers has them, and moments; no rows.

    ``again`` takes another pass over the rows, for the shrinkage that they suggest; None where
    they cannot be read twice.
    """

    rows: ClassVar[Literal["moments"]] = "moments"

    def __init__(
        self,
        names: Sequence[str],
        levels: Sequence[Sequence[Label]],
        moments: Moments,
        *,
        memory: int = DEFAULT_MEMORY,
        again: Again | None = None,
        notes: tuple[str, ...] = (),
        counted: Counted | None = None,
    ) -> None:
        kinds = tuple[ColumnKind, ...](["number"] * len(names))
        super().__init__(names, levels, kinds, counted or Counted("blocks", 1), notes)
        self.moments = moments
        self.memory = memory
        self.again = again

    @property
    def whereabouts(self) -> str:
        """Where the rows are, as a sentence without its full stop."""
        return "The moments of the rows are taken in blocks"

    @property
    def n_rows(self) -> int:
        """The paper's n."""
        return self.moments.count

    def never_varies(self, k: int) -> bool:
        """Whether column ``k`` has the same value in all rows."""
        return bool(self.moments.low[k] == self.moments.high[k])

    def select(self, positions: list[int]) -> Self:
        """A table of these rows with the columns at these positions, in this order."""
        chosen = super().select(positions)
        chosen.moments = self.moments.select(positions)
        return chosen


def _kinds_of(levels: Sequence[Sequence[Label]], n_rows: int) -> list[ColumnKind]:
    """Those that a table in memory would have if it held nothing but whole numbers; beside others
    all are categories."""
    whole = all(type(label) is int for labels in levels for label in labels)
    return [
        "number" if whole and many_values(len(labels), n_rows) else "category" for labels in levels
    ]


def in_blocks(table: AnyTable) -> TypeGuard[BlockTable]:
    """Whether the rows of a table are in blocks, to be counted and not to be read."""
    return table.rows == "blocks"


def of_moments(table: AnyTable) -> TypeGuard[MomentTable]:
    """Whether the moments of a table are all that is left of its rows."""
    return table.rows == "moments"


def is_elsewhere(table: object) -> TypeGuard[TableElsewhere]:
    """Whether this is a table whose rows are not in memory."""
    return isinstance(table, TableElsewhere)


def is_long(table: Table) -> bool:
    """Whether a table in memory is better counted in blocks."""
    whole = not table.missing and table.weights is None
    return whole and table.n_rows >= max(LONG, ROWS_A_COLUMN * table.n_variables)


def bytes_of(memory: int | str | None) -> int | None:
    """A number of bytes, or a text such as "500MB" or "2GiB"; None stays None."""
    if memory is None:
        return None
    if is_whole(memory) and memory > 0:
        return int(memory)
    if isinstance(memory, str):
        found = re.fullmatch(r"\s*(\d{1,15}(?:\.\d{1,9})?)\s*([a-zA-Z]*)\s*", memory)
        if found is not None and found[2].upper() in _UNITS:
            return int(float(found[1]) * _UNITS[found[2].upper()])
    raise SettingError(f"memory must be a size such as '500MB' or '2GB', not {memory!r}")


def checked_limit(memory: int | None) -> int:
    """The limit, if it leaves room beside the program."""
    limit = DEFAULT_MEMORY if memory is None else memory
    if limit < LEAST_MEMORY:
        raise SettingError(
            f"memory must be {LEAST_MEMORY // 10**6}MB or more, not {limit / 10**6:.0f}MB: the "
            f"program itself takes up to {PROGRAM_BYTES // 10**6}MB"
        )
    return limit
