"""GES of `tamis.baselines` beside causal-learn's, with the same score (BDeu), and with BIC.

    python -m benchmarks.greedy_equivalence --sizes 10 30 50 --rows 1000 4000 --seeds 3

CPU seconds and SHD, an undirected edge counted as right, on the paper's graphs and models; means
over seeds from 100 on. A method that needs more than the limit for a table is not asked for larger
ones of the same kind. The two searches with BDeu are also asked whether they found the same CPDAG.
"""

from __future__ import annotations

import argparse
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from causallearn.search.ScoreBased.GES import ges

import tamis
from tamis.baselines import Learned
from tamis.baselines.ges import GES
from tamis.baselines.pc import from_endpoints, rows_of
from tamis.tables import Table, read_table

FIRST_SEED = 100
KINDS = [(graph, model) for graph in ("tree", "er", "sf") for model in ("mod", "add")]

Method = Callable[[Table], Learned]
METHODS: dict[str, Method] = {
    "BIC": lambda table: GES(score="bic").learn(table, None),
    "BDeu": lambda table: GES(score="bdeu").learn(table, None),
    "causal-learn": lambda table: from_endpoints(
        ges(rows_of(table), score_func="local_score_BDeu")["G"].graph
    ),
}
Seen = tuple[float, float, Learned]


@contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Raise `TimeoutError` when the process has used so many CPU seconds."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def seen(method: Method, table: Table, truth: object, limit: float) -> Seen | None:
    """CPU seconds, SHD and what was learned; None after the limit."""
    start = time.process_time()
    try:
        with cpu_limit(limit):
            learned = method(table)
    except TimeoutError:
        return None
    seconds = time.process_time() - start
    return seconds, tamis.metrics.shd(learned.graph(table.names), truth), learned


def drawn(graph: str, model: str, d: int, n: int, seed: int) -> tuple[Table, object]:
    options: dict[str, Any] = {"er": {"edges": d}, "sf": {"m": 1}}.get(graph, {})
    made = tamis.simulate.draw(graph, model, n=n, d=d, seed=FIRST_SEED + seed, p=0.2, **options)
    return read_table(dict(made.data)), made.graph


def cell(found: list[Seen | None]) -> str:
    if not found or None in found:
        return "over the limit"
    seconds, distance = np.mean([one[:2] for one in found if one is not None], axis=0)
    return f"{seconds:.2f} s, {distance:.1f}"


def measure(args: argparse.Namespace) -> None:
    GES().prepare(drawn("er", "add", 10, 1000, 0)[0])
    slow: set[tuple[str, str, str]] = set()
    print(f"| graph | model | d | n | {' | '.join(args.methods)} | same CPDAG |")
    print("|---|---|---|---|" + "---|" * (len(args.methods) + 1))
    for d, n, (graph, model) in ((d, n, k) for d in args.sizes for n in args.rows for k in KINDS):
        tables = [drawn(graph, model, d, n, seed) for seed in range(args.seeds)]
        found: dict[str, list[Seen | None]] = {name: [] for name in args.methods}
        for name in args.methods:
            for table, truth in tables:
                if (name, graph, model) not in slow:
                    found[name].append(seen(METHODS[name], table, truth, args.limit))
                    if found[name][-1] is None:
                        slow.add((name, graph, model))
        pairs = list(zip(found.get("BDeu", []), found.get("causal-learn", []), strict=False))
        same = [bool((a[2].adjacency == b[2].adjacency).all()) for a, b in pairs if a and b]
        cells = " | ".join(map(cell, found.values()))
        agreed = f"{sum(same)} of {len(same)}"
        print(f"| {graph} | {model} | {d} | {n} | {cells} | {agreed} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 30, 50])
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 4000])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=[*METHODS])
    parser.add_argument("--limit", type=float, default=60.0, help="CPU seconds a table")
    measure(parser.parse_args())
