"""Speed on published networks: the default and `sequential` beside pyAgrum's learners.

python -m benchmarks.networks [NAME ...] [--rows 1000,5000] [--limit 100] [--methods auto,...]

CPU seconds on one thread from the data frame to the result, the smallest of several runs, each
method of a table in a process of its own (a second fit where the first compiles); ratios are to
hill climbing on the same frame. The networks are those of pgmpy's wheel, the rows tamis samples
of them with seed 77, which chose nothing.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from statistics import median

import pandas as pd

import tamis
from tamis.counting.compiled import uncompiled
from tamis.studies.attempts import network_files

NAMES = (
    "asia", "sachs", "child", "insurance", "alarm", "hepar2", "win95pts", "hailfinder", "andes",
    "pigs", "diabetes", "link",
)  # fmt: skip
METHODS = ("auto", "sequential", "hill climbing", "tabu", "miic")
SEED = 77
LIMIT = 100
"""CPU seconds that a method may take."""
ENOUGH = 2.0
"""Runs are repeated, up to five times, until they have taken so many seconds."""


def frame_of(name: str, n_rows: int) -> pd.DataFrame:
    """Rows of a published network, as text."""
    network = tamis.BayesianNetwork.read(network_files()[name])
    return pd.DataFrame(network.sample(n_rows, seed=SEED)).astype(str)


def action_of(method: str, frame: pd.DataFrame) -> Callable[[], object]:
    """What a method does from the frame on."""
    if method in ("auto", "sequential"):
        return lambda: tamis.TAM(method, n_jobs=1).fit(frame)

    def learn() -> object:
        import pyagrum

        learner = pyagrum.BNLearner(frame)
        learner.setNumberOfThreads(1)
        if method == "miic":
            learner.useMIIC()
            return learner.learnPDAG()
        learner.useScoreBIC()
        if method == "tabu":
            learner.useLocalSearchWithTabuList()
        else:
            learner.useGreedyHillClimbing()
        return learner.learnDAG()

    return learn


def seconds_of(name: str, n_rows: int, method: str) -> float:
    """CPU seconds, the smallest of several runs; compiling is left out."""
    action = action_of(method, frame_of(name, n_rows))
    if method in ("auto", "sequential"):
        uncompiled.spent = math.inf  # as in a process that has learned for a second
        action_of(method, frame_of("asia", n_rows))()
        action_of(method, frame_of("child", n_rows))()
    taken: list[float] = []
    while len(taken) < 5 and sum(taken) < ENOUGH:
        start = time.process_time()
        action()
        taken.append(time.process_time() - start)
    return min(taken)


def measured(name: str, n_rows: int, method: str, limit: float) -> float | None:
    """The same in a process of its own; None if it takes too long."""
    command = [sys.executable, "-m", "benchmarks.networks", "--one", name, str(n_rows), method]
    try:
        done = subprocess.run(
            command, check=True, capture_output=True, text=True, timeout=2 * limit + 60
        )
    except subprocess.TimeoutExpired:
        return None
    taken = float(done.stdout.split()[-1])
    return taken if taken <= limit else None


def networks(
    names: Sequence[str] = NAMES,
    sizes: Sequence[int] = (1000, 5000),
    limit: float = LIMIT,
    methods: Sequence[str] = METHODS,
) -> list[str]:
    """The default on published networks, beside hill climbing, tabu search and MIIC."""
    lines = [
        "| CPU s, one thread | " + " | ".join((*methods, "auto / hill climbing")) + " |",
        "|---" * (len(methods) + 2) + "|",
    ]
    ratios = []
    for name in names:
        for n_rows in sizes:
            found = {method: measured(name, n_rows, method, limit) for method in methods}
            ours, theirs = found.get("auto"), found.get("hill climbing")
            ratio = "-"
            if ours is not None and theirs is not None:
                ratios.append(ours / theirs)
                ratio = f"{ratios[-1]:.1f}"
            cells = ["over " + str(limit) if x is None else f"{x:.3g}" for x in found.values()]
            lines.append(f"| {name}, {n_rows} rows | {' | '.join(cells)} | {ratio} |")
            print(lines[-1], flush=True)
    if ratios:
        lines += ["", f"Ratio in the median of {len(ratios)} rows: {median(ratios):.1f}."]
    return lines


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--rows", default="1000,5000")
    parser.add_argument("--limit", type=float, default=LIMIT)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--one", nargs=3, metavar=("NAME", "ROWS", "METHOD"))
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    if chosen.one:
        name, rows, method = chosen.one
        print(seconds_of(name, int(rows), method))
        return
    sizes = [int(one) for one in chosen.rows.split(",")]
    print("\n".join(networks(chosen.names, sizes, chosen.limit, chosen.methods.split(","))[-2:]))


if __name__ == "__main__":
    main()
