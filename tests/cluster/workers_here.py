"""Tables in parts without a cluster: every part is counted here, on what would have travelled."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from tamis.counting.dask.work import Found, Question, add, count
from tamis.counting.dask.workers import ClusterTable
from tamis.counting.passes import Pass, Sums, View
from tamis.tables import Table
from tamis.tables.planes import Blocks


class OneWorker:
    """Does what the workers do, one part after the other; sums are added in pairs."""

    def __init__(self, table: Table, cuts: Sequence[int]) -> None:
        self.arities = tuple(table.arities.tolist())
        self.n_rows = table.n_rows
        edges = [0, *sorted(cuts), table.n_rows]
        self._held = [
            Blocks.of(b - a, self.arities, [list(table.codes[:, a:b])] if b > a else [])
            for a, b in pairwise(edges)
        ]

    @property
    def n_parts(self) -> int:
        return len(self._held)

    def ask(self, question: Question) -> tuple[Found, int]:
        sent = pickle.dumps(question)
        found = [
            count(_travelled(question), [_travelled(held)], [(held.fingerprint, "it")])
            for held in self._held
        ]
        while len(found) > 1:
            found = [add(question, found[i : i + 2]) for i in range(0, len(found), 2)]
        return found[0], found[0].moved + len(sent) * self.n_parts


class Held(Pass):
    """Counts rows, and takes its time: it says that it began, and waits for leave to end."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)

    def over(self, view: View) -> Sums:
        (self._folder / f"began-{os.getpid()}").touch()
        while not (self._folder / "go").exists():
            time.sleep(0.01)
        n_rows = sum(group.n_rows for group in view.row_groups())
        return (np.array([n_rows]),)


def _travelled(value: object) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - our own


def in_parts(table: Table, cuts: Sequence[int]) -> ClusterTable:
    """The table cut before these rows; cuts that are the same leave a part without rows."""
    return ClusterTable(table.names, table.levels, OneWorker(table, cuts))


def chain(n: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Columns of two levels, a -> b -> c, and others of text and of many levels."""
    rng = np.random.default_rng(seed)
    a = rng.random(n) < 0.4
    b = a ^ (rng.random(n) < 0.1)
    c = b ^ (rng.random(n) < 0.2)
    e = a + rng.integers(0, 3, n)
    return {
        "a": a.astype(int),
        "b": b.astype(int),
        "c": c.astype(int),
        "e": np.array([f"l{x}" for x in e]),
        "w": [f"w{x:02}" for x in rng.integers(0, 70, n)],
    }
