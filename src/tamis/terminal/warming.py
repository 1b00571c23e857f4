"""The command `tamis warm-up`: compile the loops ahead, for images and clusters."""

from __future__ import annotations

import math
import os
import tempfile
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from tamis.counting.compiled import place_of_code, uncompiled
from tamis.counting.opening import open_blocks
from tamis.learning import learn
from tamis.opening import read_opened
from tamis.settings import Settings
from tamis.tables import Table, read_table
from tamis.tables.packed_file import pack_table
from tamis.tables.table import AnyTable
from tamis.terminal.consoles import console
from tamis.terminal.waiting import NOT_KEPT

ROWS = 800
"""Enough for every kind of search to find something; the loops do not depend on it."""
MANY = 24
"""Columns of which larger sets are screened, not counted."""


def run(*, quiet: bool = False) -> None:
    """Learn from small tables of every kind, so that what this compiles is there later."""
    uncompiled.spent = math.inf
    stdout = console()
    for what, table, settings in _tasks():
        began = time.process_time()
        with warnings.catch_warnings():
            # What is to be said about these tables helps nobody.
            warnings.simplefilter("ignore")
            learn(table, Settings(n_jobs=1, **settings))
        if not quiet:
            stdout.print(f"{what}: {time.process_time() - began:.1f} s")
    if quiet:
        return
    place = place_of_code()
    if place is None:
        stdout.print(NOT_KEPT)
    else:
        stdout.print(f"The compiled loops are kept below {place}", soft_wrap=True)


def _tasks() -> Iterator[tuple[str, AnyTable, dict[str, Any]]]:
    """What is compiled for, a table that needs it, and how it is learned from."""
    random = np.random.default_rng(1)
    several = _labels(random, 6, 5)
    two = _labels(random, 6, 2)
    many = np.array([f"v{i % 300}" for i in range(ROWS)])
    numbers = random.normal(size=(ROWS, 4)).cumsum(axis=1)
    measured = {f"m{k}": column for k, column in enumerate(numbers.T)}
    yield "columns of several levels", read_table(several), {}
    yield "columns of two levels", read_table(two), {}
    yield "many columns", read_table(_labels(random, MANY, 4)), {}
    yield "columns of many levels", read_table({**two, "many": many}), {}
    holed = {name: np.where(random.random(ROWS) < 0.1, None, of) for name, of in several.items()}
    yield "missing values", read_table(holed, missing="pairwise"), {"missing": "pairwise"}
    weights = random.random(ROWS) + 0.5
    yield "survey weights", read_table(several, weights=weights), {}
    yield "numbers", _continuous(measured), {}
    gaps = {name: np.where(random.random(ROWS) < 0.1, np.nan, of) for name, of in measured.items()}
    incomplete = read_table(gaps, continuous=True, missing="pairwise")
    yield "numbers with missing values", incomplete, {"missing": "pairwise"}
    yield "ranks of numbers", _continuous(measured), {"information": "copula"}
    yield "nearest neighbours", _continuous(measured), {"information": "neighbours"}
    labels = {name: two[name] for name in ("c0", "c1", "c2")}
    shifts = 2.0 * (labels["c0"] == "v0")
    beside = {**labels, **{name: of + shifts for name, of in measured.items()}}
    yield "numbers beside labels", _continuous(beside), {}
    yield "neighbours beside labels", _continuous(beside), {"information": "mixed"}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "small.tamis")
        pack_table(read_table({**several, "many": many}), path)
        yield "packed files and clusters", read_opened(open_blocks(path), Settings()), {}


def _labels(random: np.random.Generator, n_columns: int, n_levels: int) -> dict[str, Any]:
    """Columns of levels, each of which depends on the one before it."""
    codes = random.integers(n_levels, size=(n_columns, ROWS))
    for k in range(1, n_columns):
        codes[k] = np.where(random.random(ROWS) < 0.5, codes[k - 1], codes[k])
    return {f"c{k}": np.array([f"v{code}" for code in row]) for k, row in enumerate(codes)}


def _continuous(columns: dict[str, Any]) -> Table:
    return read_table(columns, continuous=True)
