"""What goes before learning: `tamis inspect`, `tamis pack` and `tamis warm-up`."""

from __future__ import annotations

import json
import math
import os
import shlex
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from rich.text import Text

from tamis.cli.layout import NOT_KEPT, QUIET, console, options_in_words, waiting
from tamis.cli.texts import ORDER, types_from_options
from tamis.counting.compiled import place_of_code, uncompiled
from tamis.counting.opening import open_blocks
from tamis.inspection import inspect
from tamis.learning import learn
from tamis.opening import read_opened
from tamis.result import show
from tamis.settings import Settings
from tamis.tables import Table, read_table
from tamis.tables.kinds import IGNORE
from tamis.tables.packed_file import pack, pack_table
from tamis.tables.plan import Plan
from tamis.tables.refusals import count
from tamis.tables.table import AnyTable


def inspect_table(
    source: str,
    types: Sequence[str],
    drop: Sequence[str],
    only: Sequence[str],
    missing: str,
    *,
    as_json: bool,
) -> None:
    """Show what every column is taken for, and what is suspicious."""
    told = types_from_options(source, types, drop, only)
    plan = inspect(source, types=told, missing=missing)  # type: ignore[arg-type]  # refused there
    if as_json:
        console().print(
            json.dumps(plan.to_dict(), indent=1), markup=False, highlight=False, soft_wrap=True
        )
        return
    stdout = console()
    for line in options_in_words(str(plan)).split("\n"):
        stdout.print(Text(line), soft_wrap=True)
    if sum(column.kind != IGNORE for column in plan) > 1:
        stdout.print(Text(f"\n{show(_next(source, plan))}", style=QUIET), soft_wrap=True)


def _next(source: str, plan: Plan) -> str:
    """The command that learns by the plan."""
    words = ["tamis", "learn", source]
    for name, told in plan.types.items():
        if told == IGNORE:
            words += ["--drop", name]
        else:
            kind = ORDER.join(map(str, told)) if isinstance(told, list) else told
            words += ["--type", f"{name}={kind}"]
    if plan.missing != "error":
        words += ["--missing", plan.missing]
    elif any(one.n_missing for one in plan if one.kind != IGNORE):
        # A few rows less are the simplest answer; more would be a loss.
        few = 20 * (plan.rows["drop"] or 0) >= 19 * plan.n_rows
        words += ["--missing", "drop" if few else "pairwise"]
    return f"Then: {shlex.join(words)}"


def pack_files(
    source: str,
    target: str,
    types: Sequence[str],
    drop: Sequence[str],
    only: Sequence[str],
    *,
    quiet: bool,
) -> None:
    """Pack, and say what is in the file."""
    told = types_from_options(source, types, drop, only)
    with waiting(quiet=quiet) as wait:

        def heard(what: str, done: int, of: int) -> None:
            # How many rows a CSV file has is known when it has been read.
            wait.step(what, done, of or done)

        notes: list[str] = []
        header = pack(source, target, progress=heard, types=told, noted=notes.append)
    if quiet:
        return
    levels = sum(map(len, header.levels))
    size = f"{os.path.getsize(target) / 10**6:,.1f} MB"
    console().print(
        f"{target}: {count(header.rows, 'row')}, {count(len(header.names), 'column')} with "
        f"{count(levels, 'level')}, {size}",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    for note in notes:
        console().print(f"Note: {note}", markup=False, highlight=False)


ROWS = 800
"""Enough for every kind of search to find something; the loops do not depend on it."""
MANY = 24
"""Columns of which larger sets are screened, not counted."""


def warm_up(*, quiet: bool = False) -> None:
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
    yield "numbers", _measured(measured), {}
    gaps = {name: np.where(random.random(ROWS) < 0.1, np.nan, of) for name, of in measured.items()}
    incomplete = read_table(gaps, continuous=True, missing="pairwise")
    yield "numbers with missing values", incomplete, {"missing": "pairwise"}
    yield "ranks of numbers", _measured(measured), {"information": "copula"}
    yield "nearest neighbours", _measured(measured), {"information": "neighbours"}
    labels = {name: two[name] for name in ("c0", "c1", "c2")}
    shifts = 2.0 * (labels["c0"] == "v0")
    beside = {**labels, **{name: of + shifts for name, of in measured.items()}}
    yield "numbers beside labels", _measured(beside), {}
    yield "neighbours beside labels", _measured(beside), {"information": "mixed"}
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


def _measured(columns: dict[str, Any]) -> Table:
    return read_table(columns, continuous=True)
