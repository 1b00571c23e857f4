"""One attempt of one method, in whatever process."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from time import perf_counter

import numpy as np

from tamis.baselines.interface import Adjacency, Baseline, Learned
from tamis.tables import Table


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of it: something learned, a failure, or neither if time ran out."""

    learned: Learned | None
    seconds: float
    failure: str | None = None
    timed_out: bool = False


def attempt(baseline: Baseline, table: Table, seed: int | None) -> Outcome:
    """Learn with one thread; whatever the method raises is described and not lost."""
    start = perf_counter()
    try:
        with import_module("threadpoolctl").threadpool_limits(limits=1):
            learned = _learn(baseline, table, seed)
    except Exception as error:
        return Outcome(None, perf_counter() - start, failure=_described(error))
    return Outcome(learned, perf_counter() - start)


def _learn(baseline: Baseline, table: Table, seed: int | None) -> Learned:
    """The method on the columns that vary; the others, which depend on nothing, have no edges.

    Left in, they have no degrees of freedom, and libraries disagree on what that means.
    """
    varying = np.array(
        [k for k in range(table.n_variables) if not table.never_varies(k)], dtype=np.int64
    )
    adjacency: Adjacency = np.zeros((table.n_variables, table.n_variables), dtype=np.int8)
    if len(varying) > 1:
        part = table if len(varying) == table.n_variables else table.select(varying.tolist())
        adjacency[np.ix_(varying, varying)] = baseline.learn(part, seed).adjacency
    return Learned(adjacency)


def _described(error: Exception) -> str:
    """The error and the line that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{where}"
