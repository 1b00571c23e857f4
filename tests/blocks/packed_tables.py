"""Tables packed for the tests: the same rows in memory and in blocks."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from tamis.counting.elsewhere import PackedTable
from tamis.counting.passes import View
from tamis.tables import Table
from tamis.tables.packed_file import PackedFile, pack_table


@contextmanager
def packed(table: Table, block_rows: int = 64) -> Iterator[PackedTable]:
    """The table in a packed file of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "planes.tamis"
        pack_table(table, path, block_rows=block_rows)
        yield PackedTable(PackedFile(path))


def decoded(table: PackedTable) -> np.ndarray:
    """The codes of all columns, back from the file."""
    view = View(table.file, table.positions, table.working_bytes)
    groups = list(view.row_groups())
    return np.array(
        [np.concatenate([g.codes(k) for g in groups]) for k in range(table.n_variables)]
    )
