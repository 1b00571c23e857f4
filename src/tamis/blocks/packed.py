"""Tables whose rows are elsewhere, in the place of one that is held in memory."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.blocks.passes import Pass, Sums
from tamis.blocks.plane_file import PlaneFile
from tamis.blocks.view import View
from tamis.counts.planes import MAX_PLANE_LEVELS
from tamis.counts.sharing import usable_jobs
from tamis.errors import SettingError
from tamis.tables.table import Label, Table

DEFAULT_MEMORY = 2 * 10**9
PROGRAM_BYTES = 5 * 10**8
"""What Python, its libraries and the compiled loops take, and what a search remembers."""
LEAST_MEMORY = 6 * 10**8


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


class BlockTable(Table):
    """Names and levels as in any table, the rows in blocks that only passes go over.

    What needs the rows themselves in memory is refused.
    """

    working_bytes: int
    """What there is for tables and, where blocks are counted here, for blocks."""
    counted: Counted

    def _settle(self, names: Sequence[str], levels: Sequence[Sequence[Label]], **more: Any) -> None:  # noqa: ANN401
        """Set the fields of a table and more; tables are frozen."""
        kinds = ("category",) * len(names)
        chosen = {"names": tuple(names), "levels": tuple(map(tuple, levels)), "kinds": kinds}
        for name, value in (usual_fields() | chosen | more).items():
            object.__setattr__(self, name, value)

    @property
    @abstractmethod
    def where(self) -> str:
        """Where the rows are, in words."""

    @abstractmethod
    def total(self, passes: Sequence[Pass], n_jobs: int) -> list[Sums]:
        """What each pass finds over all rows."""

    @property
    def codes(self) -> NDArray[np.unsignedinteger]:
        """Not in memory: raises ``SettingError``."""
        raise SettingError(
            f"The rows of {self.where} are counted in blocks and never held in memory, which this "
            "needs: read the table itself, or a sample of its rows"
        )

    @cached_property
    def planed(self) -> NDArray[np.bool_]:
        """Which columns have planes."""
        return self.arities <= MAX_PLANE_LEVELS

    @property
    def set_bytes(self) -> int:
        """What the counts of all sets of planes may take when candidates are looked ahead."""
        return self.working_bytes // 2

    def threads(self, n_jobs: int | None) -> int:
        """How many threads count in this process."""
        return usable_jobs(n_jobs)

    @property
    @abstractmethod
    def first(self) -> NDArray[np.int64]:
        """The first plane of each column."""

    @property
    @abstractmethod
    def n_planes(self) -> int:
        """All planes that there are, those of columns that are not among these included."""

    def arrange(self, rows: NDArray[np.int64]) -> Table:
        """Not in memory: raises ``SettingError``."""
        return Table(self.names, self.levels, self.codes[:, rows])


class PackedTable(BlockTable):
    """The columns of a plane file.

    ``memory`` is how many bytes the whole process may take while it counts.
    """

    file: PlaneFile
    positions: tuple[int, ...]
    """Which columns of the file these are."""
    memory: int

    def __init__(
        self,
        file: PlaneFile,
        memory: int | None = None,
        positions: tuple[int, ...] | None = None,
        notes: tuple[str, ...] = (),
        owned: object = None,
        counted: Counted | None = None,
        called: str | None = None,
    ) -> None:
        if positions is None:
            positions = tuple(range(len(file.header.names)))
        self._settle(
            [file.header.names[k] for k in positions],
            [file.header.levels[k] for k in positions],
            notes=notes,
            file=file,
            positions=positions,
            memory=checked_limit(memory),
            # What must live as long as the table, such as the folder of a temporary file.
            owned=owned,
            # What the user gave, if that was not the file itself.
            called=called,
            counted=counted or Counted("blocks", file.layout.n_blocks),
        )

    @property
    def where(self) -> str:
        """Where the rows are, in words."""
        return repr(self.__dict__["called"] or os.path.basename(self.file.path))

    @property
    def n_rows(self) -> int:
        """The paper's n."""
        return self.file.n_rows

    @property
    def n_planes(self) -> int:
        """All planes of the file."""
        return self.file.layout.n_planes

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """The first plane of each column."""
        return self.file.layout.first[list(self.positions)]

    @property
    def working_bytes(self) -> int:  # type: ignore[override]
        """What the limit leaves for blocks and tables."""
        return self.memory - PROGRAM_BYTES

    def view(self, n_jobs: int = 1) -> View:
        """These columns, to go over."""
        return View(self.file, self.positions, self.working_bytes, n_jobs)

    def total(self, passes: Sequence[Pass], n_jobs: int) -> list[Sums]:
        """What each pass finds over all rows."""
        view = self.view(n_jobs)
        found = [one.over(view) for one in passes]
        layout = self.file.layout
        self.counted.note(len(passes) * layout.n_blocks * layout.block_bytes)
        return found

    def select(self, positions: list[int]) -> PackedTable:
        """The same rows with the columns at these positions, in this order."""
        chosen = tuple(self.positions[k] for k in positions)
        own = self.__dict__
        return PackedTable(
            self.file, self.memory, chosen, self.notes, own["owned"], self.counted, own["called"]
        )


def usual_fields() -> dict[str, Any]:
    """What a table has that is read in the usual way: nothing measured, nothing missing."""
    found: dict[str, Any] = {}
    for one in fields(Table):
        if one.default_factory is not MISSING:
            found[one.name] = one.default_factory()
        elif one.default is not MISSING:
            found[one.name] = one.default
    return found


def checked_limit(memory: int | None) -> int:
    """The limit, if it leaves room beside the program."""
    limit = DEFAULT_MEMORY if memory is None else memory
    if limit < LEAST_MEMORY:
        raise SettingError(
            f"memory must be {LEAST_MEMORY // 10**6}MB or more, not {limit / 10**6:.0f}MB: the "
            f"program itself takes up to {PROGRAM_BYTES // 10**6}MB"
        )
    return limit
