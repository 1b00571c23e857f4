"""What every engine must answer alike, and the ways of counting that each has."""

from __future__ import annotations

from dataclasses import astuple
from itertools import combinations

import numpy as np
import polars as pl
import pytest

from tables import table_of
from tamis.counting import blocks, counts, memory, passes, row_tables, sharing
from tamis.counting.compiled import Judgements
from tamis.counting.counts import Counts
from tamis.counting.lookup import Lookup
from tamis.information.counted import CountedInformation
from tamis.information.interface import Context, Group, Query
from tamis.result import Result
from tamis.tables import Table, read_table

WAYS = {
    "planes": {},
    "planes without the pair table": {"counts.PAIR_TABLE_BYTES": 0},
    "planes, a context at a time": {"blocks.FOLDED_BYTES": 2**40},
    "planes in threads": {"sharing.THREAD_WORDS": 0},
    "rows": {"counts.CROSSOVER": 0, "memory.JOINT_CROSSOVER": 0},
    "rows, a candidate at a time": {
        "counts.CROSSOVER": 0,
        "memory.JOINT_CROSSOVER": 0,
        "row_tables.CELL_BYTES": 2**20,
    },
    "rows in threads": {
        "counts.CROSSOVER": 0,
        "memory.JOINT_CROSSOVER": 0,
        "sharing.THREAD_WORDS": 0,
    },
    "rows kept sparse": {
        "counts.CROSSOVER": 0,
        "memory.JOINT_CROSSOVER": 0,
        "counts.DENSE_CELLS": 0,
        "memory.EMPTY": 0,
    },
    "rows numbered in steps": {
        "counts.CROSSOVER": 0,
        "memory.JOINT_CROSSOVER": 0,
        "counts.DENSE_CELLS": 0,
        "memory.EMPTY": 0,
        "row_tables.LARGEST_KEY": 8,
    },
    "planes and rows mixed": {"counts.CROSSOVER": 6, "memory.JOINT_CROSSOVER": 12},
    "few rows at once": {
        "counts.CROSSOVER": 6,
        "memory.JOINT_CROSSOVER": 12,
        "passes.ROWS_AT_ONCE": 1,
    },
}
MODULES = {
    "blocks": blocks,
    "counts": counts,
    "memory": memory,
    "row_tables": row_tables,
    "passes": passes,
    "sharing": sharing,
}


def force(monkeypatch, way: str) -> None:
    """Force one way of counting, in all engines that have it."""
    for name, value in WAYS[way].items():
        module, constant = name.split(".")
        monkeypatch.setattr(MODULES[module], constant, value)


def judged(engine: Counts, contexts, candidates, lookup: Lookup, *, tests: bool) -> Judgements:
    """What an engine says about candidates of one column each."""
    return engine.judge(engine.shapes.batch(contexts, candidates, lookup), tests=tests)


def contexts_of(d: int) -> list[Context]:
    return [
        Context(k, given)
        for k in range(d)
        for size in range(min(d, 4))
        for given in combinations([v for v in range(d) if v != k], size)
    ]


def assert_same_answers(ref: CountedInformation, comp: CountedInformation) -> None:
    d = ref.n_variables
    contexts = contexts_of(d)
    np.testing.assert_array_equal(comp.entropies(contexts), ref.entropies(contexts))
    for a, b in zip(comp.profiles(contexts), ref.profiles(contexts), strict=True):
        np.testing.assert_array_equal(a, b)
    queries = [Query(k, g, np.array([d - 1, 0])) for k, g in contexts]
    found, expected = comp.tests(queries), ref.tests(queries)
    for name in ("cmi", "plugin", "df", "pearson", "null_mean", "null_variance"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    np.testing.assert_array_equal(
        comp.penalised_likelihoods(contexts), ref.penalised_likelihoods(contexts)
    )
    assert (comp.entropy_variance, comp.entropy_kinds()) == (
        ref.entropy_variance,
        ref.entropy_kinds(),
    )
    assert comp.affordable_look_ahead() == ref.affordable_look_ahead()
    if d > 2:
        groups = [Group(0, (), (1, 2)), Group(d - 1, (0,), (1,)), Group(0, (d - 1,), (1, 2))]
        found, expected = comp.joint_tests(groups), ref.joint_tests(groups)
        np.testing.assert_array_equal(found.cmi, expected.cmi)
        np.testing.assert_array_equal(found.null_variance, expected.null_variance)
        assert comp.interactions(2) == ref.interactions(2)
        assert comp.worthwhile_look_ahead() == ref.worthwhile_look_ahead()


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


def sums(n: int = 400, seed: int = 7) -> np.ndarray:
    """Two columns of whole numbers, about their sum, and about the double of one of them."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 4, (2, n))
    c, d = rng.integers(0, 2, (2, n))
    return np.stack([a, b, a + b + c, 2 * b + d], axis=1)


def assert_same_numbers(found: Result, expected: Result) -> None:
    """Equal but for the last digits of sums of floats."""
    for exact in ("parents", "layers", "settings", "kinds", "warnings"):
        assert getattr(found, exact) == getattr(expected, exact)
    pairs = zip(found.ranking + found.edges, expected.ranking + expected.edges, strict=True)
    for one, other in pairs:
        for a, b in zip(astuple(one), astuple(other), strict=True):
            assert a == (pytest.approx(b, rel=1e-7, abs=1e-12) if isinstance(b, float) else b)


WHOLE_NUMBERS = {
    "sums": sums(),
    "with units": sums() * [1, -3, 10, 2**20] + [5, 0, -7, 10**12],
    "no numbers, being linear": sums() @ np.eye(4, dtype=int)[:, [0, 1, 2, 2]],
    "levels": np.random.default_rng(1).integers(0, 3, (300, 4)),
    "many levels": np.random.default_rng(2).integers(0, 100, (900, 3)).cumsum(axis=1),
}


def frame_of(rows: np.ndarray) -> Table:
    """The rows as a table that was read, so that its columns have their kinds."""
    return read_table(pl.DataFrame(rows, schema=[f"x{k}" for k in range(rows.shape[1])]))
