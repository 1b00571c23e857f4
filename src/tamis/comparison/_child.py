"""The process in which a method learns: ``python -m tamis.comparison._child``, in its folder.

The time limit is kept by faulthandler's watchdog, a thread outside Python: it also ends a library
that loops in compiled code without ever letting go of the interpreter.
"""

from __future__ import annotations

import faulthandler
import json
import math
import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.comparison.peers import PEERS, read_request
from tamis.counting.compiled import uncompiled
from tamis.errors import DataError, TamisError
from tamis.learning import learn
from tamis.metrics import to_cpdag
from tamis.settings import Settings
from tamis.tables import Table

Adjacency = NDArray[np.int8]
"""1 at [i, j] for i → j; 1 at [i, j] and at [j, i] for an undirected edge."""
ROWS, COLUMNS = 800, 24
"""The part of a table that asks for the same compiled loops as the whole."""
ALPHA = 0.05
"""The level of PC's tests."""
FLOP_PENALTY, FLOP_RESTARTS = 2.0, 20
"""As FLOP's authors advise."""


def main(folder: Path) -> None:
    """Learn from the columns that vary, and write the edges and the time that learning took."""
    table, request = read_request(folder)
    # What never varies depends on nothing, and libraries disagree about its degrees of freedom.
    varying = [k for k in range(table.n_variables) if not table.never_varies(k)]
    answer: dict[str, Any] = {"edges": [], "seconds": 0.0}
    if len(varying) > 1:
        found, answer["seconds"] = _timed(table.select(varying), folder, **request)
        answer["edges"] = np.array(varying)[np.argwhere(found)].tolist()
    (folder / "answer.json").write_text(json.dumps(answer), encoding="ascii")


def _timed(
    table: Table, folder: Path, method: str, options: dict[str, Any], limit: float
) -> tuple[Adjacency, float]:
    """What a method finds, and in how many seconds; after ``limit`` seconds this process ends."""
    if method in PEERS:
        import_module(PEERS[method].module)
    else:
        _compile(table, options)
    with open(folder / "late.txt", "w", encoding="utf-8") as late:
        faulthandler.dump_traceback_later(limit, exit=True, file=late)
        start = perf_counter()
        found = _learned(method, table, options)
        seconds = perf_counter() - start
        faulthandler.cancel_dump_traceback_later()
    return found, seconds


def _learned(method: str, table: Table, options: dict[str, Any]) -> Adjacency:
    match method:
        case "hill-climbing" | "tabu" | "miic":
            return _by_pyagrum(method, table)
        case "pc" | "ges":
            return _by_causal_learn(method, table)
        case "flop":
            return _by_flop(table)
    return _by_tamis(table, options)


def _by_flop(table: Table) -> Adjacency:
    """1 for an arrow, 2 at both ends of an undirected edge."""
    flop = import_module("flopsearch").flop
    found = np.asarray(flop(_numbers(table), FLOP_PENALTY, restarts=FLOP_RESTARTS))
    return np.array(found != 0, dtype=np.int8)


def _by_tamis(table: Table, options: dict[str, Any]) -> Adjacency:
    """The DAG that ``tamis.TAM`` learns."""
    place = {name: k for k, name in enumerate(table.names)}
    found = learn(table, Settings(n_jobs=1, **options))
    return _matrix(len(place), ((place[e.parent], place[e.child]) for e in found.edges))


def _compile(table: Table, options: dict[str, Any]) -> None:
    """Have the compiled loops at hand: the first use of each is no time of learning."""
    kinds = list(zip(table.kinds, map(bool, table.levels), strict=True))
    share = max(COLUMNS // len(set(kinds)), 2)
    some = [k for k, kind in enumerate(kinds) if kinds[:k].count(kind) < share]
    rows = np.arange(min(table.n_rows, ROWS), dtype=np.int64)
    uncompiled.spent = math.inf
    # What is wrong with the table is told when the whole of it is learned from.
    with suppress(TamisError):
        _by_tamis(table.select(some).arrange(rows), options)


def _by_pyagrum(method: str, table: Table) -> Adjacency:
    """Hill climbing and tabu search by BIC, and MIIC with its correction by MDL. A DAG stands for
    its class, all of which has the same BIC."""
    columns = [f"c{k}" for k in range(table.n_variables)]
    # It reads files only, and leaves behind those that it makes of data frames.
    path = "table.csv"
    np.savetxt(path, table.codes.T, "%d", ",", header=",".join(columns), comments="")
    learner = import_module("pyagrum").BNLearner(path, ["?"], False)
    learner.setNumberOfThreads(1)
    # Its nodes need not be numbered as the columns are.
    place = {learner.idFromName(name): k for k, name in enumerate(columns)}
    if method == "miic":
        learner.useMIIC()
        learner.useMDLCorrection()
        found = learner.learnPDAG()
        lines = [*found.edges(), *((b, a) for a, b in found.edges())]
        return _matrix(len(place), ((place[a], place[b]) for a, b in [*found.arcs(), *lines]))
    if method == "tabu":
        learner.useLocalSearchWithTabuList()
    else:
        learner.useGreedyHillClimbing()
    learner.useScoreBIC()
    learner.useNoPrior()
    arcs = learner.learnDAG().arcs()
    return to_cpdag(_matrix(len(place), ((place[a], place[b]) for a, b in arcs)))


def _by_causal_learn(method: str, table: Table) -> Adjacency:
    """PC by G² or Fisher's z, GES by BDeu or the BIC of a linear Gaussian model."""
    library, of_levels = import_module(PEERS[method].module), not table.continuous
    rows = table.codes.T.astype(np.int64) if of_levels else _numbers(table)
    if method == "pc":
        test = "gsq" if of_levels else "fisherz"
        marks = library.pc(rows, ALPHA, test, show_progress=False).G.graph
    elif of_levels and table.n_variables < 3:
        raise DataError("causal-learn's BDeu score has no prior for two columns")
    else:
        score = "local_score_BDeu" if of_levels else "local_score_BIC"
        marks = library.ges(rows, score)["G"].graph
    # marks[j, i] is the mark at j of the edge between i and j: -1 a tail, 1 an arrowhead. With two
    # arrowheads, which no DAG has, an edge is taken as undirected.
    undirected = (marks == -1) & (marks.T == -1)
    return np.array((marks.T == 1) | undirected, dtype=np.int8)


def _numbers(table: Table) -> NDArray[np.float64]:
    return np.column_stack([table.numbers(k) for k in range(table.n_variables)])


def _matrix(n_columns: int, edges: Iterable[tuple[int, int]]) -> Adjacency:
    adjacency: Adjacency = np.zeros((n_columns, n_columns), dtype=np.int8)
    for tail, head in edges:
        adjacency[tail, head] = 1
    return adjacency


if __name__ == "__main__":
    try:
        main(Path.cwd())
    except TamisError as error:
        sys.exit(" ".join(str(error).split()))
