"""The yardstick: how good and how quick a method is on tables of many kinds.

    python -m study.yardstick [--quick] [--method NAME] [--cells TEXT] [--out FILE]
    python -m study.yardstick compare A B

Tables with known graphs are drawn from seeds of their own, each is learned from once, and each
gives one line of JSON. `compare` pairs the lines of two files table by table. study/README.md says
how to read it.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from statistics import fmean, stdev
from tempfile import TemporaryDirectory
from threading import Timer
from typing import Any, TypeAlias

import networkx as nx

from study import families, networks, public
from study.methods import CannotTake, Learned, NotInstalled, method
from tamis.metrics import shd, skeleton_scores, to_cpdag

LIMIT = 120.0
"""Seconds that one table may take; a method that needs longer has failed on it."""
FIRST_SEED = 1000
"""Reported seeds begin here; constants are chosen with `--seed 500` and below."""

Row = dict[str, Any]
Graph: TypeAlias = "nx.DiGraph[str]"
Measure = Callable[[str, int], Row]


@dataclass(frozen=True)
class Cell:
    """Tables of one kind: what measures one of them, by method and seed, and how many there are.

    ``number`` counts the distance that `compare` is about: "cpdag", "shd", or for tables without a
    true graph "reversed", directions that the other half of the rows claims the other way.
    """

    name: str
    measure: Measure
    tables: int
    quick: int = 0
    number: str = "cpdag"


# --- the cells -----------------------------------------------------------------------------------


def cells() -> Iterator[Cell]:
    """All cells, some 250 tables; `quick` ones are some 50."""
    small = ("asia", "sachs", "child", "insurance", "alarm", "hepar2", "win95pts", "hailfinder")
    for name in small:
        for rows in (1000, 5000):
            yield _of_network(name, rows, tables=4, quick=1)
    for name in ("andes", "pigs", "link", "diabetes"):
        yield _of_network(name, 1000, tables=1)
    labels = ("logistic", "noisy-or", "dirichlet", "skewed-dirichlet", "threshold", "context")
    for family in (*labels, "ordinal-nodes", "ordinal-gaussian"):
        for rows in (200, 500, 2000):
            yield _drawn(family, nodes=20, rows=rows, tables=2, quick=int(rows == 500))
    for family in ("mod", "add"):
        for graph in ("tree", "er", "sf"):
            for nodes in (10, 20, 50):
                size = {"nodes": nodes, "graph": graph, "edges_per_node": 1.0, "rows": 1000}
                quick = int(nodes == 20 and graph != "sf")
                tables = 2 if nodes == 20 else 1
                yield _drawn(family, tables=tables, quick=quick, number="shd", **size)
    yield _drawn("unfaithful", nodes=4, rows=1000, tables=10, quick=2, number="shd")
    numbers = (
        "gaussian",
        "standardised",
        "random-units",
        "uniform",
        "laplace",
        "tanh",
        "quadratic",
    )
    for family in numbers:
        for nodes in (10, 20, 50):
            yield _drawn(family, nodes=nodes, rows=500, tables=1, quick=int(nodes == 20))
    for family in ("mixed", "mixed-heavy", "mixed-zeros", "mixed-cells"):
        yield _drawn(family, nodes=10, rows=500, tables=2, quick=1)
        yield _drawn(family, nodes=20, rows=500, tables=2)
        yield _drawn(family, nodes=20, rows=2000, tables=1)
        yield _drawn(family, nodes=30, rows=500, tables=1)
    for family in ("dirichlet", "ordinal-nodes", "gaussian", "mixed"):
        yield _drawn(family, nodes=12, rows=500, missing=0.1, tables=2, quick=1)
    for family in ("odd-levels", "odd-rare", "odd-zeros", "odd-cauchy", "odd-rounded"):
        yield _drawn(family, nodes=8, rows=500, tables=4, quick=1, number="edges")
    for name, cut in (("public", False), ("public cut", True)):
        yield Cell(name, partial(halves_agree, cut), len(public.PUBLIC), 0, "reversed")
    for kind in ("dirichlet", "gaussian", "mixed"):
        yield Cell(f"first fits {kind}", partial(first_fits, kind), 1, 1, "slowest")


def _of_network(name: str, rows: int, tables: int, quick: int = 0) -> Cell:
    return Cell(
        f"{name} {rows}", partial(known, networks.published, name, rows=rows), tables, quick
    )


def _drawn(
    family: str,
    *,
    tables: int,
    quick: int = 0,
    number: str = "cpdag",
    **size: Any,  # noqa: ANN401 - as `draw` takes them
) -> Cell:
    shown = [f"{size['nodes']}x{size['rows']}"]
    shown += [str(size["graph"])] if "graph" in size else []
    shown += [f"missing {size['missing']:.0%}"] if "missing" in size else []
    measure = partial(known, families.draw, family, **size)
    return Cell(" ".join([family, *shown]), measure, tables, quick, number)


# --- what is measured on one table ---------------------------------------------------------------


def known(
    draw: Callable[..., families.Drawn],
    name: str,
    wanted: str,
    seed: int,
    **size: Any,  # noqa: ANN401 - as `draw` takes them
) -> Row:
    """A table whose graph is known: distances, and which claimed directions are right."""
    drawn = draw(name, seed=seed, **size)
    found, seconds = timed(method(wanted), drawn.frame)
    true, learned = drawn.graph, found.graph
    if true is None:
        raise ValueError(f"the graph of {name} is not known")
    return {
        "rows": len(drawn.frame),
        "columns": drawn.frame.shape[1],
        "edges": nx.Graph(learned).number_of_edges(),
        "true_edges": true.number_of_edges(),
        "shd": shd(learned, true),
        "cpdag": shd(class_of(learned), to_cpdag(true), undirected="strict"),
        "skeleton_f1": round(skeleton_scores(learned, true).f1, 4),
        **claims(found, true),
        "cpu": round(seconds, 4),
    }


def class_of(graph: Graph) -> Graph:
    """The CPDAG of a DAG; a graph that has lines is one already, or as near as it can be."""
    has_lines = any(graph.has_edge(b, a) for a, b in graph.edges)
    return graph if has_lines else to_cpdag(graph)


def claims(found: Learned, true: Graph) -> Row:
    """By warrant: directions that are claimed and how many are right, an arrow between columns that
    the true graph does not join being wrong; and the stated probability of each true line."""
    by: dict[str, list[int]] = {}
    stated = []
    for arrow in found.arrows:
        right = true.has_edge(arrow.parent, arrow.child)
        if arrow.warrant != "none":
            counts = by.setdefault(arrow.warrant, [0, 0])
            counts[0] += 1
            counts[1] += right
        if right or true.has_edge(arrow.child, arrow.parent):
            stated.append([round(arrow.direction_probability, 3), int(right)])
    return {"claimed": by, "stated": stated}


def halves_agree(cut: bool, wanted: str, seed: int) -> Row:
    """A real table in two halves: what the second says of the directions claimed on the first. The
    seed says which table."""
    names = list(public.PUBLIC)
    place = (seed - FIRST_SEED) % len(names)
    frame = public.public(names[place], cut)
    learn = method(wanted)
    first, second = public.halves(frame, seed - place)
    one, seconds = timed(learn, first)
    other, more = timed(learn, second)
    counts = {"claims": 0, "same": 0, "open": 0, "reversed": 0, "turned": 0, "absent": 0}
    for a, b in _directed(one):
        counts["claims"] += 1
        counts[_said_of(a, b, other)] += 1
    size = {"table": names[place], "rows": len(first), "columns": frame.shape[1]}
    edges = nx.Graph(one.graph).number_of_edges()
    return {**size, "edges": edges, **counts, "cpu": round(seconds + more, 4)}


def _said_of(a: str, b: str, other: Learned) -> str:
    """What another half says of a claimed arrow. ``turned``: drawn the other way, but not claimed;
    for a graph without warrants a line is open."""
    if not (other.graph.has_edge(a, b) or other.graph.has_edge(b, a)):
        return "absent"
    claimed = _directed(other)
    if (a, b) in claimed:
        return "same"
    if (b, a) in claimed:
        return "reversed"
    return "open" if other.graph.has_edge(a, b) else "turned"


def _directed(found: Learned) -> set[tuple[str, str]]:
    """The directions claimed: by warrant, or the arrows of a CPDAG."""
    if found.arrows:
        return {(one.parent, one.child) for one in found.arrows if one.warrant != "none"}
    graph = class_of(found.graph)
    return {(a, b) for a, b in graph.edges if not graph.has_edge(b, a)}


def first_fits(kind: str, wanted: str, seed: int) -> Row:
    """CPU seconds of each of the first five fits of a process, which this one is: it is run with
    nothing learned before."""
    frame = families.draw(kind, nodes=10, rows=1000, seed=seed).frame
    learn = method(wanted)
    taken = [round(timed(learn, frame)[1], 4) for _ in range(5)]
    size = {"rows": 1000, "columns": 10}
    return {**size, "first": taken, "slowest": max(taken[1:]), "cpu": sum(taken)}


def timed(learn: Callable[..., Learned], frame: Any) -> tuple[Learned, float]:  # noqa: ANN401
    """What a method finds, and its CPU seconds, those of its processes included."""
    began = _cpu()
    found = learn(frame)
    return found, _cpu() - began


def _cpu() -> float:
    used = (getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


# --- running -------------------------------------------------------------------------------------


class Worker:
    """A process that measures table after table. One that takes too long is killed, and the next
    table gets a new process."""

    def __init__(self, wanted: str, kept: str | None = None) -> None:
        self.command = [sys.executable, "-m", "study.yardstick", "--worker", "--method", wanted]
        self.command += [] if kept is None else ["--cold"]
        # Where machine code is kept from earlier processes, if it is: an empty folder.
        self.environment = os.environ | ({} if kept is None else {"NUMBA_CACHE_DIR": kept})
        self.child: subprocess.Popen[str] | None = None

    def measure(self, cell: str, seed: int) -> Row:
        """The line of one table."""
        if self.child is None:
            pipe = subprocess.PIPE
            self.child = subprocess.Popen(
                self.command, stdin=pipe, stdout=pipe, text=True, env=self.environment
            )
            _answer(self.child)  # that it is ready
        print(json.dumps([cell, seed]), file=self.child.stdin, flush=True)
        clock = Timer(LIMIT, self.child.kill)
        clock.start()
        answer = _answer(self.child)
        clock.cancel()
        if answer is None:
            code, self.child = self.child.wait(), None
            answer = {"failed": f"over {LIMIT:g} seconds, or ended with code {code}"}
        return {"cell": cell, "seed": seed} | answer

    def end(self) -> None:
        """Let the process go."""
        if self.child is not None:
            self.child.communicate()
            self.child = None


def _answer(child: subprocess.Popen[str]) -> Row | None:
    line = child.stdout.readline() if child.stdout else ""
    return json.loads(line) if line else None


def run(wanted: str, chosen: Sequence[tuple[Cell, int]], jobs: int) -> Iterator[Row]:
    """A line for each table, in order, by some processes side by side."""
    idle: SimpleQueue[Worker] = SimpleQueue()
    for _ in range(jobs):
        idle.put(Worker(wanted))

    def one(cell: Cell, seed: int) -> Row:
        worker = idle.get()
        try:
            if cell.number != "slowest":
                return worker.measure(cell.name, seed)
            with TemporaryDirectory() as empty:
                fresh = Worker(wanted, kept=empty)
                line = fresh.measure(cell.name, seed)
                fresh.end()
            return line
        finally:
            idle.put(worker)

    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(one, *zip(*chosen, strict=True))
    for _ in range(jobs):
        idle.get().end()


def _work(wanted: str, *, cold: bool) -> None:
    """Measure the tables that are asked for on standard input, a line each.

    Unless it is ``cold``, every kind of table is learned from before, so that what a process does
    once is not in the seconds of whatever comes first.
    """
    warnings.simplefilter("ignore")  # such as columns of a random table that happen not to vary
    answers = sys.stdout
    sys.stdout = sys.stderr  # what libraries print is no answer
    by_name = {cell.name: cell for cell in cells()}
    for kind in () if cold else ("dirichlet", "add", "ordinal-nodes", "gaussian", "mixed"):
        for missing in (0.0, 0.1):
            _outcome(_drawn(kind, tables=1, nodes=8, rows=200, missing=missing), wanted, 1)
    print("{}", file=answers, flush=True)
    for line in sys.stdin:
        cell, seed = json.loads(line)
        print(json.dumps(_outcome(by_name[cell], wanted, seed)), file=answers, flush=True)


def _outcome(cell: Cell, wanted: str, seed: int) -> Row:
    try:
        return cell.measure(wanted, seed)
    except (CannotTake, NotInstalled) as reason:
        return {"skipped": str(reason)}
    except Exception as error:  # a failure is a result, and is shown as one
        return {"failed": f"{type(error).__name__}: {error}"[:300]}


# --- two records side by side --------------------------------------------------------------------


def compare(one: Path, other: Path) -> Iterator[str]:
    """Cell by cell: both means, the paired difference with its standard error, the CPU ratio."""
    first, second = (_by_table(path) for path in (one, other))
    yield f"A: {one.name}, B: {other.name}; wrong edges a table, B - A below 0: B is better"
    yield f"{'cell':34}{'tables':>7}{'A':>8}{'B':>8}{'B - A':>16}{'CPU B/A':>9}"
    scores: list[float] = []
    for cell in cells():
        keys = [k for k in first if k[0] == cell.name and k in second]
        pairs = [(first[k], second[k]) for k in keys]
        whole = [(a, b) for a, b in pairs if cell.number in a and cell.number in b]
        if not pairs:
            continue
        lost = [sum(cell.number not in line for line in side) for side in zip(*pairs, strict=True)]
        note = f"  no answer: A {lost[0]}, B {lost[1]}" if any(lost) else ""
        if not whole:
            yield f"{cell.name:34}{0:7}{note}"
            continue
        a, b = ([float(line[cell.number]) for line in side] for side in zip(*whole, strict=True))
        apart = [y - x for x, y in zip(a, b, strict=True)]
        cpu = sum(y["cpu"] for _, y in whole) / max(sum(x["cpu"] for x, _ in whole), 1e-9)
        error = f" ± {_error(apart):.2f}" if len(apart) > 1 else ""
        difference = f"{fmean(apart):+.2f}{error}"
        shown = f"{len(whole):7}{fmean(a):8.2f}{fmean(b):8.2f}{difference:>16}{cpu:9.2f}"
        yield f"{cell.name:34}{shown}{note}"
        if cell.number in ("cpdag", "shd"):
            # Wrong edges of a hundred: large networks do not drown the small ones.
            scale = [max(x["true_edges"], 1) / 100 for x, _ in whole]
            scores += [y / size for y, size in zip(apart, scale, strict=True)]
    yield from _claims_of(first, second)
    if len(scores) > 1:
        yield _verdict(scores)


def _verdict(scores: Sequence[float]) -> str:
    mean, error = fmean(scores), _error(scores)
    ratio = mean / error if error > 0 else 0.0
    word = "alike" if abs(ratio) < 2 else "better" if ratio < 0 else "worse"
    return (
        f"B is {word}: {mean:+.2f} ± {error:.2f} wrong edges per 100 true ones in {len(scores)} "
        f"tables, {ratio:+.1f} standard errors."
    )


def _claims_of(*records: Mapping[tuple[str, int], Row]) -> Iterator[str]:
    """What both records claim of directions, over the tables that both have."""
    common = [k for k in records[0] if all(k in record for record in records)]
    for letter, record in zip("AB", records, strict=True):
        by: dict[str, list[int]] = {}
        for k in common:
            for warrant, counts in record[k].get("claimed", {}).items():
                by[warrant] = [x + y for x, y in zip(by.get(warrant, [0, 0]), counts, strict=True)]
        shown = ", ".join(f"{w}: {right} of {n} right" for w, (n, right) in sorted(by.items()))
        yield f"{letter} claims {shown or 'no directions with a warrant'}."
        halves = [record[k] for k in common if "claims" in record[k]]
        total = sum(line["claims"] for line in halves)
        if total:
            kinds = ("same", "open", "reversed", "turned", "absent")
            shares = (f"{sum(line[kind] for line in halves) / total:.0%} {kind}" for kind in kinds)
            told = f"  in {len(halves)} halved tables {total} claims; the other half has"
            yield f"{told} {', '.join(shares)}."


def _error(values: Sequence[float]) -> float:
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan


def _by_table(path: Path) -> dict[tuple[str, int], Row]:
    lines = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return {(line["cell"], line["seed"]): line for line in lines if "cell" in line}


# --- the command ---------------------------------------------------------------------------------


def main() -> None:
    """Run, compare, or measure one cell for a run."""
    if sys.argv[1:2] == ["compare"]:
        print("\n".join(compare(*map(Path, sys.argv[2:4]))))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="some 50 tables in place of some 250")
    parser.add_argument("--method", default="default", help="see study/README.md, or FILE.py:name")
    parser.add_argument("--cells", default="", help="only cells whose name holds this text")
    parser.add_argument("--seed", type=int, default=FIRST_SEED, help="the first seed of a cell")
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    parser.add_argument("--out", type=Path, help="a file for the lines of JSON")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--cold", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.worker:
        _work(asked.method, cold=asked.cold)
        return
    chosen = [
        (cell, asked.seed + i)
        for cell in cells()
        if asked.cells in cell.name
        for i in range(cell.quick if asked.quick else cell.tables)
    ]
    began, lines = time.time(), []
    for line in run(asked.method, chosen, asked.jobs):
        lines.append(line)
        print(json.dumps(line), flush=True)
        if asked.out:
            with asked.out.open("a" if len(lines) > 1 else "w", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
    used = sum(line.get("cpu", 0.0) for line in lines)
    failed = sum("failed" in line for line in lines)
    print(
        f"{len(lines)} tables, {used:.0f} CPU seconds of learning, {time.time() - began:.0f} "
        f"seconds in all; {failed} without an answer",
        file=sys.stderr,
    )


if __name__ == "__main__":
    main()
