"""A table in a plane file, in the place of one that is held in memory."""

from __future__ import annotations

import os
from dataclasses import MISSING, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.blocks.plane_file import PlaneFile
from tamis.data.table import Table
from tamis.errors import SettingError

DEFAULT_MEMORY = 2 * 10**9
PROGRAM_BYTES = 5 * 10**8
"""What Python, its libraries and the compiled loops take, and what a search remembers."""
LEAST_MEMORY = 6 * 10**8


class PackedTable(Table):
    """The columns of a plane file: names and levels as in any table, the rows in blocks on disk.

    ``memory`` is how many bytes the whole process may take while it counts. What needs the rows
    themselves in memory is refused.
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
    ) -> None:
        if positions is None:
            positions = tuple(range(len(file.header.names)))
        settings = _defaults() | {
            "names": tuple(file.header.names[k] for k in positions),
            "levels": tuple(file.header.levels[k] for k in positions),
            "notes": notes,
            "file": file,
            "positions": positions,
            "memory": _checked(memory),
            # What must live as long as the table, such as the folder of a temporary file.
            "owned": owned,
        }
        for name, value in settings.items():
            object.__setattr__(self, name, value)

    @property
    def codes(self) -> NDArray[np.unsignedinteger]:
        """Not in memory: raises ``SettingError``."""
        raise SettingError(
            f"The rows of {os.path.basename(self.file.path)!r} are counted in blocks and never "
            "held in memory, which this needs: read the table itself, or a sample of its rows"
        )

    @property
    def n_rows(self) -> int:
        """The paper's n."""
        return self.file.n_rows

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """The first plane of each column."""
        return self.file.layout.first[list(self.positions)]

    @cached_property
    def planed(self) -> NDArray[np.bool_]:
        """Which columns have planes."""
        return self.file.layout.planed[list(self.positions)]

    @property
    def working_bytes(self) -> int:
        """What the limit leaves for blocks and tables."""
        return self.memory - PROGRAM_BYTES

    @property
    def blocks_at_once(self) -> int:
        """The blocks that a quarter of that has room for."""
        layout = self.file.layout
        one = layout.plane_block_bytes + sum(map(layout.code_block_bytes, layout.code_starts))
        return max(1, self.working_bytes // 4 // max(one, 1))

    def select(self, positions: list[int]) -> PackedTable:
        """The same rows with the columns at these positions, in this order."""
        chosen = tuple(self.positions[k] for k in positions)
        return PackedTable(self.file, self.memory, chosen, self.notes, self.__dict__["owned"])

    def arrange(self, rows: NDArray[np.int64]) -> Table:
        """Not in memory: raises ``SettingError``."""
        return Table(self.names, self.levels, self.codes[:, rows])


def _defaults() -> dict[str, Any]:
    """What a table has that is read in the usual way: nothing measured, nothing missing."""
    found: dict[str, Any] = {}
    for one in fields(Table):
        if one.default_factory is not MISSING:
            found[one.name] = one.default_factory()
        elif one.default is not MISSING:
            found[one.name] = one.default
    return found


def _checked(memory: int | None) -> int:
    limit = DEFAULT_MEMORY if memory is None else memory
    if limit < LEAST_MEMORY:
        raise SettingError(
            f"memory must be {LEAST_MEMORY // 10**6}MB or more, not {limit / 10**6:.0f}MB: the "
            f"program itself takes up to {PROGRAM_BYTES // 10**6}MB"
        )
    return limit
