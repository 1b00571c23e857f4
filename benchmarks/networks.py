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
OWN, PEER = ("auto", "sequential"), "hill climbing"
METHODS = (*OWN, PEER, "tabu", "miic")
SEED = 77
LIMIT = 60
"""CPU seconds that a method may take."""
ENOUGH = 2.0
"""Runs are repeated, up to five times, until they have taken so many seconds."""


def frame_of(name: str, n_rows: int) -> pd.DataFrame:
    """Rows of a published network, as text."""
    network = tamis.BayesianNetwork.read(network_files()[name])
    return pd.DataFrame(network.sample(n_rows, seed=SEED)).astype(str)


def action_of(method: str, frame: pd.DataFrame) -> Callable[[], object]:
    """What a method does from the frame on."""
    if method in OWN:
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
    if method in OWN:
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
    own = [method for method in OWN if method in methods and PEER in methods]
    columns = [*methods, *(f"{method} / {PEER}" for method in own)]
    lines = [f"| CPU s, one thread | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    ratios: dict[str, list[float]] = {method: [] for method in own}
    for name in names:
        late: set[str] = set()
        for n_rows in sorted(sizes):
            # What was too slow for few rows is so for more.
            found = {
                method: None if method in late else measured(name, n_rows, method, limit)
                for method in methods
            }
            late |= {method for method, taken in found.items() if taken is None}
            cells = [f"over {limit:g}" if x is None else f"{x:.3g}" for x in found.values()]
            for method in own:
                ours, theirs = found[method], found[PEER]
                if ours is None or theirs is None:
                    cells.append("-")
                    continue
                ratios[method].append(ours / theirs)
                cells.append(f"{ratios[method][-1]:.2g}")
            lines.append(f"| {name}, {n_rows} rows | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    lines += [""] + [
        f"`{method}` / {PEER}: {median(found):.2f} in the median of the {len(found)} rows in which "
        f"both ended, at most {max(found):.1f}."
        for method, found in ratios.items()
        if found
    ]
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
    found = networks(chosen.names, sizes, chosen.limit, chosen.methods.split(","))
    print("\n".join(found[found.index("") :]))


if __name__ == "__main__":
    main()
