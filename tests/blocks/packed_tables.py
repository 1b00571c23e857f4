"""Tables packed for the tests: the same rows in memory and in blocks."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from tables import table_of
from tamis.blocks.packed import PackedTable
from tamis.blocks.packing import pack_table
from tamis.blocks.plane_file import PlaneFile
from tamis.data import Table


@contextmanager
def packed(table: Table, block_rows: int = 64) -> Iterator[PackedTable]:
    """The table in a plane file of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "planes.tamis"
        pack_table(table, path, block_rows=block_rows)
        yield PackedTable(PlaneFile(path))


def decoded(table: PackedTable) -> np.ndarray:
    """The codes of all columns, back from the file."""
    groups = list(table.view().row_groups())
    return np.array(
        [np.concatenate([g.codes(k) for g in groups]) for k in range(table.n_variables)]
    )


def wide_rows(seed: int, n: int = 500) -> np.ndarray:
    """Columns of 2, 3, 70, 5 and 2 levels, the last two of which depend on others; the second has
    a level that occurs in the last rows only."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n)
    b = rng.integers(0, 2, n)
    b[-3:] = 2
    wide = rng.permutation(n) % 70
    c = (a + rng.integers(0, 4, n)).astype(int)
    d = a ^ (b % 2) ^ (rng.random(n) < 0.1)
    return np.stack([a, b, wide, c, d], axis=1)


def wide_table(seed: int, n: int = 500) -> Table:
    """The same as a table."""
    return table_of(wide_rows(seed, n))
