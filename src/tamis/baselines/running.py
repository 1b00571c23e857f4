"""The baselines by name, and running one on a table: here, or in a worker with a time limit."""

from __future__ import annotations

import json
import math
import traceback
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import networkx as nx
import numpy as np

from tamis.baselines.agrum import MIIC, HillClimbing, Tabu
from tamis.baselines.ges import GES
from tamis.baselines.interface import Adjacency, Baseline, Learned
from tamis.baselines.linear import FLOP, EqualVariance
from tamis.baselines.pc import BOSS, PC
from tamis.baselines.processes import WorkerPool
from tamis.errors import SettingError
from tamis.tables import Table, read_table
from tamis.tables.table import with_rows

_ALL: tuple[Baseline, ...] = (
    PC(),
    PC(name="pc-g2", test="gsq", alpha=0.05),
    GES(),
    GES(name="ges-bic", score="bic"),
    HillClimbing(),
    Tabu(),
    MIIC(),
    BOSS(),
    EqualVariance(),
    FLOP(),
    PC(name="pc-fisher-z", test="fisherz", alpha=0.05),
    GES(name="ges-gaussian", score="gaussian"),
)

BASELINES: Mapping[str, Baseline] = {baseline.name: baseline for baseline in _ALL}


def available() -> dict[str, bool]:
    """List all baselines, and whether their libraries are installed.

    Returns
    -------
    dict
        For each name, whether the method can run.

    Examples
    --------
    >>> import tamis
    >>> tamis.baselines.available()["equal-variance"]
    True
    """
    return {name: not missing_modules(baseline) for name, baseline in BASELINES.items()}


def find_baseline(baseline: str | Baseline) -> Baseline:
    """The baseline of that name; one that is no name is taken as it is."""
    if not isinstance(baseline, str):
        return baseline
    if baseline not in BASELINES:
        raise SettingError(f"there is no baseline {baseline!r}; there are {', '.join(BASELINES)}")
    return BASELINES[baseline]


def missing_modules(baseline: Baseline) -> list[str]:
    """The libraries of a baseline that are not installed; nothing is imported."""
    libraries = dict.fromkeys(module.partition(".")[0] for module in baseline.modules)
    return [library for library in libraries if find_spec(library) is None]


def needed_by(baseline: Baseline) -> str | None:
    """What a baseline needs and is not installed, with the extra that has it; None if nothing."""
    missing = missing_modules(baseline)
    return (
        _needed(baseline, f"{' and '.join(missing)}, which is not installed") if missing else None
    )


def require(baseline: Baseline) -> None:
    """Refuse a baseline whose libraries are not installed, and name the extra that has them."""
    needed = needed_by(baseline)
    if needed is not None:
        raise SettingError(f"the baseline {baseline.name!r} {needed}")


def import_libraries(baseline: Baseline) -> None:
    """Import what the baseline needs, so that its time is not that of importing."""
    for module in baseline.modules:
        try:
            with warnings.catch_warnings():
                # What a library warns of itself; pyAgrum crashes the interpreter where such
                # warnings are errors.
                warnings.simplefilter("ignore")
                import_module(module)
        except ImportError as error:
            needed = _needed(baseline, f"{module}, which cannot be imported ({error})")
            raise SettingError(f"the baseline {baseline.name!r} {needed}") from error


def prepare(baseline: Baseline, table: Table) -> None:
    """Everything that is no time of learning: import what the baseline needs, and let it get ready
    for the table if it has a ``prepare``, as tamis has for its compiled loops."""
    import_libraries(baseline)
    ready = getattr(baseline, "prepare", None)
    if ready is not None:
        ready(table)


def versions(baseline: Baseline) -> dict[str, str]:
    """The versions of what the baseline runs on."""
    return {package: version_of(package) for package in baseline.packages}


@cache
def version_of(package: str) -> str:
    """The version of a distribution."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def _needed(baseline: Baseline, what: str) -> str:
    return f"needs {what}" + (f": pip install 'tamis[{baseline.extra}]'" if baseline.extra else "")


STARTING = 120.0
"""Seconds a worker may take to start and to import its libraries, which do not count as run."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of one attempt: something learned, a failure, or neither if time ran out."""

    learned: Learned | None
    seconds: float
    failure: str | None = None
    timed_out: bool = False
    cpu_seconds: float = math.nan


@dataclass(frozen=True, eq=False)
class BaselineRun:
    """What came of one run.

    Attributes
    ----------
    graph : networkx.DiGraph or None
        A graph over the columns of the table in their order, with both directions for an undirected
        edge. None if the run ``timed_out`` or has a ``failure``.
    name : str
        The name of the method.
    seconds : float
        The time of learning alone, without starting and importing.
    timed_out : bool
        Whether the time limit was reached.
    versions : mapping
        The versions of the libraries.
    failure : str or None
        What the method raised, or how its process ended.

    Examples
    --------
    >>> import tamis
    >>> rows = {"x": [0.0, 1.0, 2.0, 3.5], "y": [0.1, 2.1, 3.9, 7.1]}
    >>> found = tamis.baselines.run("equal-variance", rows)
    >>> found.name, found.timed_out, found.failure
    ('equal-variance', False, None)
    """

    graph: nx.DiGraph[str] | None
    name: str
    seconds: float
    timed_out: bool
    versions: Mapping[str, str]
    failure: str | None


def run(
    baseline: str | Baseline,
    data: object,
    *,
    time_limit: float | None = None,
    seed: int | None = None,
) -> BaselineRun:
    """Learn a graph with another method, on one thread.

    Columns that never vary get no edges.

    Parameters
    ----------
    baseline : str or Baseline
        A name that `available` lists, or a baseline with settings of its own, such as
        ``tamis.baselines.pc.PC(penalty=2.0)``.
    data : data frame, array, mapping or path
        A table, as ``tamis.TAM().fit`` takes it.
    time_limit : float or None
        Seconds of learning. With a limit the method runs in a process of its own, which is ended at
        the limit, with whatever it has started. Starting the process and importing the library take
        a second or two more. A script that calls this needs no guard. Without a limit the method
        runs in this process.
    seed : int or None
        For methods that draw random numbers, at present BOSS; results repeat without it. Those of
        FLOP need not: it draws new starts and takes no seed.

    Returns
    -------
    BaselineRun
        What a method raises ends up in its ``failure``.

    Raises
    ------
    SettingError
        If a library is not installed.
    DataError
        If the table cannot be read.

    Examples
    --------
    >>> import tamis
    >>> rows = {"x": [0.0, 1.0, 2.0, 3.5], "y": [0.1, 2.1, 3.9, 7.1]}
    >>> list(tamis.baselines.run("equal-variance", rows).graph.edges)
    [('x', 'y')]
    """
    method = find_baseline(baseline)
    check_limit(time_limit)
    _check_seed(seed)
    require(method)
    table = read_table(data, continuous=getattr(method, "takes_numbers", False))
    return run_on(with_rows(table), method, time_limit=time_limit, seed=seed)


def run_on(
    table: Table, method: Baseline, *, time_limit: float | None = None, seed: int | None = None
) -> BaselineRun:
    """Learn from a table that is read already, with a method whose libraries are there."""
    if time_limit is None:
        import_libraries(method)
        outcome = attempt(method, table, seed)
    else:
        outcome = _attempt_within(time_limit, method, table, seed)
    return BaselineRun(
        graph=None if outcome.learned is None else outcome.learned.graph(table.names),
        name=method.name,
        seconds=outcome.seconds,
        timed_out=outcome.timed_out,
        versions=versions(method),
        failure=outcome.failure,
    )


def check_limit(time_limit: float | None, name: str = "time_limit") -> None:
    """Refuse what is no number of seconds."""
    if time_limit is None:
        return
    number = isinstance(time_limit, int | float) and not isinstance(time_limit, bool)
    if not number or not 0 < time_limit < math.inf:
        raise SettingError(f"{name} must be a number of seconds above 0, not {time_limit!r}")


def _check_seed(seed: object) -> None:
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        raise SettingError(f"seed must be a whole number from 0 on or None, not {seed!r}")


def attempt(method: Baseline, table: Table, seed: int | None) -> Outcome:
    """Learn with one thread; whatever the method raises is described and not lost."""
    start, cpu = perf_counter(), process_time()
    learned = failure = None
    try:
        with import_module("threadpoolctl").threadpool_limits(limits=1):
            learned = _learn(method, table, seed)
    except Exception as error:
        failure = described(error)
    return Outcome(learned, perf_counter() - start, failure, cpu_seconds=process_time() - cpu)


def described(error: Exception) -> str:
    """The error and the line that raised it, in one line."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())}{where}"


def _learn(method: Baseline, table: Table, seed: int | None) -> Learned:
    """The method on the columns that vary; the others, which depend on nothing, have no edges.

    Left in, they have no degrees of freedom, and libraries disagree on what that means.
    """
    varying = [k for k in range(table.n_variables) if not table.never_varies(k)]
    if len(varying) == table.n_variables:
        return method.learn(table, seed)
    adjacency: Adjacency = np.zeros((table.n_variables, table.n_variables), dtype=np.int8)
    warrants: dict[tuple[int, int], str] = {}
    if len(varying) > 1:
        found = method.learn(table.select(varying), seed)
        adjacency[np.ix_(varying, varying)] = found.adjacency
        warrants = {(varying[i], varying[j]): one for (i, j), one in found.warrants.items()}
    return Learned(adjacency, warrants)


def _attempt_within(limit: float, method: Baseline, table: Table, seed: int | None) -> Outcome:
    """The outcome after at most ``limit`` seconds of learning, in a process of its own."""
    with TemporaryDirectory(prefix="tamis-", ignore_cleanup_errors=True) as name:
        write_request(Path(name), method, table, seed)
        with WorkerPool(1, Path(name) / "worker") as pool:
            job = f"{__name__}:asked_for"
            pool.idle_worker().hand(job, {"folder": name}, method, limit=limit, starting=STARTING)
            began = None
            while True:
                message = pool.listen()[1]
                if "begins" in message:
                    began = perf_counter()
                elif "edges" in message:
                    return _outcome(message)
                elif "ended" in message:
                    return _unfinished(message["ended"], began)


def _unfinished(failure: str | None, began: float | None) -> Outcome:
    """What came of a run whose process ended: ``failure`` is None if its time was over."""
    if failure is None and began is None:
        failure = f"the process did not start within {STARTING:g} s"
    seconds = 0.0 if began is None else perf_counter() - began
    return Outcome(None, seconds, failure, timed_out=failure is None)


def asked_for(folder: str) -> Iterator[dict[str, Any]]:
    """In the worker: read the request, learn, tell the outcome."""
    method, table, seed = read_request(Path(folder))
    prepare(method, table)
    yield {"begins": method.name}
    found = attempt(method, table, seed)
    learned = found.learned
    edges = None if learned is None else np.argwhere(learned.adjacency != 0).tolist()
    yield {"edges": edges, "size": table.n_variables, "seconds": found.seconds,
           "failure": found.failure}  # fmt: skip


def _outcome(message: Mapping[str, Any]) -> Outcome:
    """What a worker has told."""
    if message["edges"] is None:
        return Outcome(None, message["seconds"], message["failure"])
    adjacency: Adjacency = np.zeros((message["size"], message["size"]), dtype=np.int8)
    for i, j in message["edges"]:
        adjacency[i, j] = 1
    return Outcome(Learned(adjacency), message["seconds"])


def write_request(folder: Path, method: Baseline, table: Table, seed: int | None) -> None:
    """Everything that a worker needs, as two files in a folder."""
    request = {
        "method": _recipe(method),
        "names": table.names,
        "levels": table.levels,
        "seed": seed,
        "continuous": sorted(table.continuous),
        "missing": sorted(table.missing),
        "kinds": table.kinds,
        "told": sorted(table.told),
    }
    (folder / "request.json").write_text(json.dumps(request), encoding="ascii")
    arrays: dict[str, Any] = {"codes": table.codes}
    arrays |= {f"numbers-{k}": column for k, column in table.continuous.items()}
    arrays |= {f"missing-{k}": column for k, column in table.missing.items()}
    np.savez(folder / "arrays.npz", **arrays)


def read_request(folder: Path) -> tuple[Baseline, Table, int | None]:
    """The inverse of ``write_request``."""
    request = json.loads((folder / "request.json").read_text(encoding="ascii"))
    recipe = request["method"]
    method: Baseline = getattr(import_module(recipe["module"]), recipe["class"])(**recipe["fields"])
    with np.load(folder / "arrays.npz", allow_pickle=False) as arrays:
        table = Table(
            names=tuple(request["names"]),
            levels=tuple(map(tuple, request["levels"])),
            codes=arrays["codes"],
            continuous={k: arrays[f"numbers-{k}"] for k in request["continuous"]},
            missing={k: arrays[f"missing-{k}"] for k in request["missing"]},
            kinds=tuple(request["kinds"]),
            told=frozenset(request["told"]),
        )
    return method, table, request["seed"]


def _recipe(method: Any) -> dict[str, Any]:  # noqa: ANN401 - any kind of dataclass, one hopes
    """How to make the method again: where its class is and what its fields hold."""
    kind = type(method)
    importable = kind.__module__ != "__main__" and kind.__qualname__ == kind.__name__
    if not importable or not is_dataclass(method):
        raise SettingError(
            f"with a time limit a baseline runs in a process of its own, which cannot make a "
            f"{kind.__qualname__} of {kind.__module__}: let it be a dataclass at the top of a "
            "module that can be imported, or run it without a limit"
        )
    values = {field.name: getattr(method, field.name) for field in fields(method)}
    return {"module": kind.__module__, "class": kind.__name__, "fields": values}
