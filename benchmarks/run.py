"""make bench: speed as ratios in one run, on one thread, and the cost against d and n.

python -m benchmarks.run            everything; writes docs/benchmarks.md and its plot: an hour,
                                    most of them with peers on large networks
python -m benchmarks.run --only peers | networks | larger | floor | wide | scaling | start
                                    one section, put into the page in place of what it said
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd

import tamis
from benchmarks.models import random_graph, sample
from benchmarks.networks import frame_of, networks
from tamis.counting.in_planes import add_pairs
from tamis.counting.memory import MemoryCounts
from tamis.tables import read_table
from tamis.tables.planes import build_planes

DOCS = Path(__file__).parent.parent / "docs"
SEED = 77


def tree(d: int, n: int) -> pd.DataFrame:
    """A binary tree's rows by the MOD model."""
    rows = sample(random_graph("tree", d, SEED), "mod", n, SEED)
    return pd.DataFrame(rows, columns=[f"v{k:05d}" for k in range(d)])


def best_of(times: int, action: Callable[[], object]) -> float:
    """CPU seconds of the quickest run: what is left when the machine's noise is away."""
    seconds = []
    for _ in range(times):
        start = time.process_time()
        action()
        seconds.append(time.process_time() - start)
    return min(seconds)


def peers() -> list[str]:
    """Against pyAgrum's greedy hill climbing, in turns, on the same data."""
    import pyagrum

    frame = tree(50, 4000)

    def learner() -> object:
        made = pyagrum.BNLearner(frame)
        made.setNumberOfThreads(1)
        made.useGreedyHillClimbing()
        made.useScoreBIC()
        return made

    model = tamis.TAM("sequential", n_jobs=1).fit(frame)
    default = tamis.TAM(n_jobs=1).fit(frame)
    ready = learner()
    ready.learnDAG()
    ours, best, theirs, both = [], [], [], []
    for _ in range(15):
        ours.append(best_of(1, lambda: model.fit(frame)))
        best.append(best_of(1, lambda: default.fit(frame)))
        fresh = learner()
        theirs.append(best_of(1, fresh.learnDAG))
        both.append(best_of(1, lambda: learner().learnDAG()))
    return [
        "| d=50, n=4000, tree MOD, one thread | ms (best of 15) | ratio |",
        "|---|---|---|",
        f"| tamis `sequential`, data frame to result | {1e3 * min(ours):.1f} | 1 |",
        f"| tamis `auto`, the default | {1e3 * min(best):.0f} | {min(best) / min(ours):.1f} |",
        f"| pyAgrum greedy hill climbing, BIC: learning alone | {1e3 * min(theirs):.0f} "
        f"| {min(theirs) / min(ours):.1f} |",
        f"| the same, from the data frame | {1e3 * min(both):.0f} | {min(both) / min(ours):.1f} |",
        "",
        "Both readings are given: people start from a data frame; the stricter one leaves out what",
        "pyAgrum needs to read it.",
    ]


def larger() -> list[str]:
    """The default against discrete peers on wider tables, each in a process with a time limit."""
    from tamis.metrics import shd

    lines = ["| tree MOD, one thread | d=200, n=10 000 | d=500, n=10 000 |", "|---|---|---|"]
    sizes = (200, 500)
    frames = {d: tree(d, 10_000) for d in sizes}
    truth = {d: nx.relabel_nodes(random_graph("tree", d, SEED), "v{:05d}".format) for d in sizes}
    for search in ("auto", "sequential"):
        model = tamis.TAM(search, n_jobs=1).fit(tree(50, 4000))
        cells = []
        for d in sizes:
            seconds = best_of(2, partial(model.fit, frames[d]))
            cells.append(f"{seconds:.1f} s, SHD {shd(model.graph_, truth[d])}")
        lines.append(f"| tamis `{search}` | {' | '.join(cells)} |")
    for name in ("hill-climbing", "tabu", "miic", "pc-g2"):
        cells = [_peer(name, frames[d], truth[d]) for d in sizes]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return [*lines, "", f"Peers are given {LIMIT} s; SHD counts undirected edges favourably."]


LIMIT = 90
"""Seconds a peer may take on a wide table."""


def _peer(name: str, frame: pd.DataFrame, truth: nx.DiGraph[str]) -> str:
    """Seconds of learning alone, and the distance to the truth."""
    from tamis.metrics import shd

    found = tamis.baselines.run(name, frame, time_limit=LIMIT)
    if found.graph is None:
        return f"not in {LIMIT} s" if found.timed_out else "failed"
    return f"{found.seconds:.1f} s, SHD {shd(found.graph, truth)}"


def floor() -> list[str]:
    """Against one single-thread pass of all-pairs popcounts by the same loop."""
    frame = tree(1000, 10_000)
    table = read_table(frame)
    words = build_planes(table.codes, table.arities).words
    out = np.zeros((len(words), len(words)), dtype=np.int32)
    floor_seconds = best_of(7, lambda: add_pairs(words, 0, len(words), out))
    model = tamis.TAM("sequential", n_jobs=1)
    total = best_of(3, lambda: model.fit(frame))
    reading = best_of(3, lambda: read_table(frame))
    building = best_of(3, lambda: MemoryCounts(table, 1))
    parts = [
        ("the whole fit, data frame to result", total),
        ("reading the frame", reading),
        ("packing planes and counting all pairs", building),
        ("the search: contexts counted and judged, nodes admitted", total - reading - building),
    ]
    lines = ["| d=1000, n=10 000, tree MOD, one thread | ms | floors |", "|---|---|---|"]
    lines.append(f"| the counting floor | {1e3 * floor_seconds:.1f} | 1 |")
    lines += [f"| {what} | {1e3 * s:.0f} | {s / floor_seconds:.1f} |" for what, s in parts]
    lines += [
        "",
        "The floor is one popcount for each of d(d-1)/2 pairs. A context is a row of d gains,",
        "given a boundary: a column goes through several while its parents arrive, each wants up",
        "to as many counts as its tables have cells, and each table is folded into entropies.",
        "The numbers of edges and the trace are worked out when they are read, and not here.",
    ]
    return lines


def wide() -> list[str]:
    """Many columns: time and peak memory, in a process of its own."""
    lines = ["| d | n | threads | seconds | peak memory, MB |", "|---|---|---|---|---|"]
    for d, n in ((500, 5000), (1000, 5000), (2000, 5000)):
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.run", "--fit", str(d), str(n)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        seconds, memory = done.stdout.split()
        lines.append(f"| {d} | {n} | all | {float(seconds):.1f} | {float(memory):.0f} |")
    return lines


def fit_and_measure(d: int, n: int) -> None:
    frame = tree(d, n)
    start = time.perf_counter()
    tamis.TAM("sequential").fit(frame)
    seconds = time.perf_counter() - start
    # Not getrusage: its peak counts the process that started this one.
    status = Path("/proc/self/status").read_text()
    print(seconds, int(status.split("VmHWM:")[1].split()[0]) / 1024)


def scaling() -> list[str]:
    """CPU seconds of `sequential` against d, n and levels, with the slopes on logarithmic axes."""
    model = tamis.TAM("sequential", n_jobs=1)
    tables = {
        "columns d (n = 5000)": {d: tree(d, 5000) for d in (25, 50, 100, 200, 400, 800)},
        "rows n (d = 50)": {n: tree(50, n) for n in (1000, 4000, 16_000, 64_000, 256_000, 10**6)},
        "levels (d = 30, n = 5000)": {k: random_tables(k) for k in (2, 4, 8, 16, 32)},
    }
    costs = {}
    for name, frames in tables.items():
        model.fit(frames[min(frames)])
        costs[name] = {x: best_of(3, partial(model.fit, frame)) for x, frame in frames.items()}
    _plot(costs)
    lines = []
    for name, cost in costs.items():
        lines += [
            f"| {name} | " + " | ".join(f"{x:,}" for x in cost) + " | slope |",
            "|---" * (len(cost) + 2) + "|",
            f"| ms | {' | '.join(f'{1e3 * s:.0f}' for s in cost.values())} | {slope(cost):.2f} |",
            "",
        ]
    return [*lines, "![cost against d, n and levels](benchmarks.png)"]


def random_tables(levels: int) -> pd.DataFrame:
    """A tree of 30 columns with these levels, each with a random table given its parent."""
    rng = np.random.default_rng(SEED)
    codes = np.empty((5000, 30), dtype=np.int64)
    for k in range(30):
        laws = rng.dirichlet(np.full(levels, 0.5), size=levels)
        above = codes[:, rng.integers(k)] if k else np.zeros(5000, dtype=np.int64)
        codes[:, k] = (rng.random((5000, 1)) > laws[above].cumsum(axis=1)).sum(axis=1)
    frame = pd.DataFrame(codes.clip(max=levels - 1), columns=[f"v{k:02d}" for k in range(30)])
    return frame.astype(str)


def slope(cost: dict[int, float]) -> float:
    """Of the last three points on logarithmic axes."""
    x, y = np.log(list(cost)[-3:]), np.log(list(cost.values())[-3:])
    return float(np.polyfit(x, y, 1)[0])


def _plot(costs: dict[str, dict[int, float]]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 3.6), layout="constrained")
    for axis, (name, cost) in zip(figure.subplots(1, len(costs)), costs.items(), strict=True):
        axis.loglog(list(cost), list(cost.values()), "o-", color="#1f6f8b")
        axis.set_xlabel(name)
        axis.set_ylabel("CPU seconds, one thread")
        axis.set_title(f"slope of the last three points: {slope(cost):.2f}", fontsize=10)
        axis.set_xticks(list(cost), [f"{value:,}" for value in cost], fontsize=8)
        axis.minorticks_off()
        axis.grid(visible=True, which="major", alpha=0.3)
    figure.savefig(DOCS / "benchmarks.png", dpi=110)


def cpu_of(command: list[str], cache: str) -> float:
    """CPU seconds of a command, with machine code kept in a folder; it may keep Python's too."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "PYTHONDONTWRITEBYTECODE": ""}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, cwd=DOCS.parent, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def start() -> list[str]:
    """First use after install, and later starts."""
    tamis_here = str(Path(sys.executable).parent / "tamis")
    lines = ["| from the shell | CPU seconds |", "|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        alarm = Path(folder) / "alarm.csv"
        frame_of("alarm", 1000).to_csv(alarm, index=False)
        for what, arguments in (
            ("`tamis learn examples/sprinkler.csv`", ["learn", "examples/sprinkler.csv"]),
            ("`tamis learn` of alarm, 37 columns, 1000 rows", ["learn", str(alarm)]),
            ("`tamis warm-up`", ["warm-up"]),
            ("`tamis --help`", ["--help"]),
        ):
            cache = tempfile.mkdtemp(dir=folder)
            seconds = [cpu_of([tamis_here, *arguments], cache) for _ in range(4)]
            lines.append(f"| {what}, the first time | {seconds[0]:.2f} |")
            lines.append(f"| the same, later | {min(seconds[1:]):.2f} |")
    return [
        *lines,
        "",
        "Each command has a folder of its own for machine code. For so few rows and columns as",
        "sprinkler's no loop is compiled; `tamis warm-up` compiles all that there are.",
    ]


SECTIONS = {
    "peers": ("Against a peer", peers),
    "networks": ("Published networks", networks),
    "larger": ("On wider tables", larger),
    "floor": ("Against the counting floor", floor),
    "wide": ("Wide tables", wide),
    "scaling": ("Cost against d, n and levels", scaling),
    "start": ("Starting", start),
}

INTRODUCTION = """# Benchmarks

Made by `make bench` on a shared machine with two cores; ratios within a table are what to
read, absolute times mean little. Smallest of several runs.
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", choices=SECTIONS)
    parser.add_argument("--fit", nargs=2, type=int, metavar=("D", "N"))
    options = parser.parse_args()
    if options.fit:
        fit_and_measure(*options.fit)
        return
    page = [INTRODUCTION]
    for name, (title, measure) in SECTIONS.items():
        if options.only in (None, name):
            section = [f"## {title}", str(measure.__doc__).strip(), "", *measure(), ""]
            print("\n".join(section), flush=True)
            page += section
    target = DOCS / "benchmarks.md"
    if options.only is not None:
        page = [_with_section(target.read_text(), SECTIONS[options.only][0], "\n".join(page[1:]))]
    target.write_text("\n".join(page))


def _with_section(page: str, title: str, section: str) -> str:
    """The page with another text under a title, or with one more section."""
    parts = page.split("\n## ")
    places = [i for i, part in enumerate(parts) if part.startswith(f"{title}\n")]
    body = section.removeprefix("## ")
    if places:
        parts[places[0]] = body
    else:
        parts.insert(2, body)
    return "\n## ".join(parts)


if __name__ == "__main__":
    main()
