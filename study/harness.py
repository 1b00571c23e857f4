"""Run a study: every method learns from every table of a plan, one line of a CSV for each run.

A plan is a TOML file, in ``study/plans`` or anywhere else:

- ``methods``, names of ``study.methods``; ``rows``, ``nodes``, ``replications``, ``seed``;
- ``time_limit``, the seconds that one run may take by the clock; ``measure``, what the summary is
  about, "shd" or "cpdag"; ``figure``, whether the measure is drawn against the number of rows;
- ``[[tables]]``, any number of times: ``family`` and ``graph`` as in ``study.families.draw``, or
  ``network`` as in ``study.networks``, where a list stands for each of its members; ``options``,
  further arguments of ``draw``; ``name``, what the results call the family; ``methods``, more of
  them for these tables;
- ``[quick]``, what ``--quick`` puts in place of any of these.
"""

from __future__ import annotations

import csv
import json
import multiprocessing
import os
import signal
import sys
import threading
import time
import tomllib
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import networkx as nx

from study import check
from study.families import Drawn, draw
from study.methods import METHODS, CannotTake, Learned, NotInstalled, method
from study.networks import published
from tamis import metrics

PLANS = Path(__file__).parent / "plans"
MEASURES = {"shd": "SHD", "cpdag": "CPDAG distance"}
CELL = ("study", "family", "graph", "nodes", "rows")
KEY = (*CELL, "replication", "seed", "method")
SCORES = ("shd", "shd_strict", "cpdag", "skeleton_f1", "edges", "cpu_seconds", "claimed", "right")
MOST_REPLICATIONS = 10_000
OK, TIMEOUT, NOT_INSTALLED = "ok", "timeout", "not installed"


@dataclass(frozen=True)
class Table:
    """One table of a plan, and which methods learn from it."""

    family: str
    graph: str
    nodes: int | None
    rows: int
    replication: int
    seed: int
    methods: tuple[str, ...]
    network: str | None
    arguments: str
    """JSON: what else ``draw`` is given."""

    def key(self, study: str, name: str) -> dict[str, Any]:
        """What the results call the run of a method on this table."""
        return {"study": study, "method": name} | {one: getattr(self, one) for one in KEY[1:-1]}


@lru_cache(maxsize=1)
def drawn(table: Table) -> Drawn:
    """Draw a table: the same one whenever it is asked for."""
    if table.network is not None:
        return published(table.network, table.rows, table.seed)
    return draw(rows=table.rows, seed=table.seed, **json.loads(table.arguments))


@dataclass(frozen=True)
class Plan:
    """What a plan's file says, with all tables written out: a few of every cell come first."""

    name: str
    tables: list[Table]
    time_limit: float
    measure: str
    figure: bool


def load(name: str, *, quick: bool = False) -> Plan:
    """The plan of a name, or of a file that ends in .toml."""
    path = Path(name) if name.endswith(".toml") else PLANS / f"{name}.toml"
    if path.parent == PLANS:
        check("plan", name, sorted(one.stem for one in PLANS.glob("*.toml")))
    given = tomllib.loads(path.read_text("utf-8"))
    changed = given.pop("quick", {})
    given = {"measure": "shd", **given, **(changed if quick else {})}
    if missing := [one for one in ("methods", "rows", "tables") if one not in given]:
        raise ValueError(f"The plan {path} needs {' and '.join(missing)}.")
    check("measure", given["measure"], MEASURES)
    tables = [one for block in given["tables"] for one in _tables(block, given)]
    for name in sorted({name for one in tables for name in one.methods if ":" not in name}):
        check("method", name, METHODS)
    tables.sort(key=lambda one: (one.replication, (one.nodes or 1) * one.rows))
    limit = given.get("time_limit", 60.0)
    return Plan(path.stem, tables, limit, given["measure"], given.get("figure", False))


def _tables(block: dict[str, Any], plan: dict[str, Any]) -> Iterator[Table]:
    """The tables of one block: each network, or each family on each graph, in all sizes."""
    methods = tuple(dict.fromkeys([*plan["methods"], *block.get("methods", [])]))
    is_network = "network" in block
    names, graphs = (
        one if isinstance(one, list) else [one]
        for one in (block["network" if is_network else "family"], block.get("graph", ""))
    )
    sizes = [None] if is_network else plan.get("nodes", [None])
    replications = range(plan.get("replications", 1))
    seed = plan.get("seed", 1) * MOST_REPLICATIONS
    for name, graph, nodes, rows, one in product(names, graphs, sizes, plan["rows"], replications):
        arguments = {"family": name, "nodes": nodes} | ({"graph": graph} if graph else {})
        yield Table(
            block.get("name", name), graph, nodes, rows, one, seed + one, methods,
            network=name if is_network else None,
            arguments=json.dumps(arguments | block.get("options", {})),
        )  # fmt: skip


def attempt(table: Table, name: str) -> dict[str, Any]:
    """Let a method learn from a table, and score the graph; what goes wrong is the status."""
    try:
        data = drawn(table)
        learn = method(name)
        began = _cpu_seconds()
        learned = learn(data.frame)
        spent = round(_cpu_seconds() - began, 6)
        return {"status": OK, "cpu_seconds": spent} | scores(learned, data.graph)
    except CannotTake as error:
        status = f"cannot take: {error}"
    except NotInstalled as error:
        status = f"{NOT_INSTALLED}: {error}"
    except Exception as error:  # whatever a method does, the study goes on
        status = f"failed: {type(error).__name__}: {error}"
    return {"status": " ".join(status.split())[:300]}


def _cpu_seconds() -> float:
    """Of this process, and of those that it has started and waited for."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def scores(learned: Learned, true: nx.DiGraph[str] | None) -> dict[str, Any]:
    """How far a learned graph is from the true one.

    Claimed are the directions that have a warrant and join what the true graph joins.
    """
    graph = nx.DiGraph(learned.graph)
    found = {"edges": graph.to_undirected().number_of_edges()}
    if true is None:
        return found
    graph.add_nodes_from(true)  # a column without edges may have been left out
    equivalent = metrics.to_cpdag(graph) if nx.is_directed_acyclic_graph(graph) else graph
    claimed = [(one.parent, one.child) for one in learned.arrows if one.warrant != "none"]
    right = sum(true.has_edge(*one) for one in claimed)
    return found | {
        "shd": metrics.shd(graph, true),
        "shd_strict": metrics.shd(graph, true, undirected="strict"),
        "cpdag": metrics.shd(equivalent, metrics.to_cpdag(true), undirected="strict"),
        "skeleton_f1": round(metrics.skeleton_scores(graph, true).f1 or 0.0, 6),
        "claimed": right + sum(true.has_edge(*reversed(one)) for one in claimed),
        "right": right,
    }


def serve(pipe: Connection) -> None:
    """Make the runs that come through a pipe, until it is closed.

    The first run of a method on a family is made twice, so that what is loaded or compiled at first
    use is in no record; None is sent before the second.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interruption ends
    begun = set[tuple[str, str]]()
    pipe.send(None)
    with suppress(EOFError):
        while True:
            table, name = pipe.recv()
            kind = name, "network" if table.network else table.family
            if kind not in begun:
                begun.add(kind)
                attempt(table, name)
                pipe.send(None)
            pipe.send(attempt(table, name))


class Worker:
    """A process that makes runs; it is ended if one takes too long, and the next has a new one."""

    def __init__(self, time_limit: float) -> None:
        self._limit = time_limit
        self._process: multiprocessing.process.BaseProcess | None = None

    def run(self, table: Table, name: str) -> dict[str, Any]:
        """The status of a run, and its scores if it ended well."""
        try:
            if self._process is None:
                self._start()
            self._pipe.send((table, name))
            while self._pipe.poll(self._limit):
                found: dict[str, Any] | None = self._pipe.recv()
                if found is not None:
                    return found
            status = TIMEOUT
        except (EOFError, OSError):
            status = "failed: its process ended"
        self.stop()
        return {"status": status}

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=serve, args=(other,), daemon=True)
        self._process.start()
        other.close()
        self._pipe.recv()

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None


class Study:
    """Makes the runs of a plan that its CSV does not have yet, several at a time."""

    def __init__(self, plan: Plan, path: Path) -> None:
        self._plan = plan
        self._waiting = deque(plan.tables)
        self._done = set(recorded(path))
        self._timed_out = list[tuple[str, Table]]()
        self._stopped = False
        self._made = 0
        self._lock = threading.Lock()
        self._file = path.open("a", encoding="utf-8", newline="")
        self._writer = csv.DictWriter(self._file, (*KEY, "status", *SCORES), lineterminator="\n")
        if not path.stat().st_size:
            self._writer.writeheader()

    def run(self, jobs: int) -> None:
        """Make the runs. An interruption waits for those that have begun, and keeps all."""
        with self._file, ThreadPoolExecutor(jobs) as pool:
            try:
                for future in [pool.submit(self._work) for _ in range(jobs)]:
                    future.result()
            finally:
                self._stopped = True

    def _work(self) -> None:
        worker = Worker(self._plan.time_limit)
        while (table := self._next()) is not None:
            for name in table.methods:
                key = table.key(self._plan.name, name)
                if _words(key) not in self._done and not self._stopped:
                    found = self._too_large(table, name) or worker.run(table, name)
                    self._record(table, key | found)
        worker.stop()

    def _next(self) -> Table | None:
        with self._lock:
            return None if self._stopped or not self._waiting else self._waiting.popleft()

    def _too_large(self, table: Table, name: str) -> dict[str, Any] | None:
        """A method that ran out of time is not tried on tables that are as large in every way."""
        for other, one in self._timed_out:
            alike = (other, one.family, one.graph) == (name, table.family, table.graph)
            if alike and one.rows <= table.rows and (one.nodes or 0) <= (table.nodes or 0):
                return {"status": f"{TIMEOUT}: as with {one.rows} rows"}
        return None

    def _record(self, table: Table, row: dict[str, Any]) -> None:
        with self._lock:
            if row["status"] == TIMEOUT:
                self._timed_out.append((row["method"], table))
            self._writer.writerow(row)
            self._file.flush()
            self._made += 1
            print(f"\r{self._made} runs made", end="", file=sys.stderr, flush=True)


def recorded(path: Path) -> Iterator[tuple[str, ...]]:
    """The runs that need not be made again. A line that was never finished is cut off."""
    text = path.read_bytes() if path.exists() else b""
    path.write_bytes(text[: text.rfind(b"\n") + 1])
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if not row["status"].startswith(NOT_INSTALLED):
                yield _words(row)


def _words(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple("" if row[one] is None else str(row[one]) for one in KEY)
