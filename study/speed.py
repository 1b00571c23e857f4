"""Speed, as ratios within one run: python -m study.speed [SECTION ...] [--quick] [--out FILE]

- ``networks``: published networks, beside pyAgrum's hill climbing and tabu search;
- ``wide``: trees of 300 (beside hill climbing), 3000 and 10,000 binary columns, with peak memory;
- ``long``: trees of 20 and 40 binary columns of 200,000 rows, beside hill climbing;
- ``first``: the import and the first five fits of a new process that keeps nothing;
- ``scale``: 50 million rows of 40 columns in Parquet files, packed and learned by the command. Only
  when it is named: it takes half an hour, and 3 GB of the folder for temporary files.

CPU seconds on one thread, from the data frame to the graph, each method of a table in a process of
its own with a time limit by the clock; the smallest of up to five fits, so that nothing is compiled
in it (but in ``first``). Memory is the peak of the process, with the table. ``--out`` appends each
cell as a line of JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Job = dict[str, Any]
"""A table and the ``method`` on it; with ``cpu`` seconds, or ``why`` there are none, a cell."""
OWN, PEER = ("default", "sequential"), "hill-climbing"
NETWORKS = (
    *("asia", "sachs", "child", "insurance", "alarm", "hepar2", "win95pts", "hailfinder"),
    *("andes", "pigs", "diabetes", "link"),
)
SEED = 77
LIMIT = 600
"""Seconds by the clock that a process may take, but in ``scale``."""
PART = 2**20
"""Rows of a file of ``scale``."""


def networks(quick: bool) -> Iterator[Job]:
    """Published networks."""
    for name in NETWORKS[:5:2] if quick else NETWORKS:
        for rows in (1000,) if quick else (1000, 5000):
            for method in (*OWN, PEER, "tabu"):
                table = {"table": f"{name}, {rows} rows", "network": name, "rows": rows}
                yield table | {"kind": "levels", "method": method}


def wide(quick: bool) -> Iterator[Job]:
    """Trees of many columns."""
    for columns, rows in ((300, 2000),) if quick else ((300, 5000), (3000, 2000), (10_000, 5000)):
        for method in (*OWN, PEER) if columns < 1000 else OWN:
            yield tree_job(columns, rows, method)


def long(quick: bool) -> Iterator[Job]:
    """Trees of many rows."""
    for columns in (20,) if quick else (20, 40):
        for method in (*OWN, PEER):
            yield tree_job(columns, 200_000, method)


def first(quick: bool) -> Iterator[Job]:
    """A process's first fits, of levels, of numbers, and of both."""
    for kind in ("levels", "numbers", "mixed"):
        yield tree_job(15, 1000, "default", kind) | {"fits": 2 if quick else 5}


def scale(quick: bool) -> Iterator[Job]:
    """A table larger than memory, drawn, packed and learned one after the other."""
    for step in ("draw", "pack", "learn"):
        yield tree_job(40, (2 if quick else 48) * PART, step)


def tree_job(columns: int, rows: int, method: str, kind: str = "binary") -> Job:
    """A tree of columns of a kind."""
    table = f"{columns:,} {kind} columns, {rows:,} rows"
    return {"table": table, "columns": columns, "rows": rows, "kind": kind, "method": method}


SECTIONS: dict[str, Callable[[bool], Iterator[Job]]] = {
    one.__name__: one for one in (networks, wide, long, first, scale)
}


def tree(columns: int, rows: int, kind: str, seed: int = SEED) -> pd.DataFrame:
    """Each column is that of its parent with noise: a bit that is flipped in a fifth of the rows,
    or a number, which for every column or for every other one is cut into four levels."""
    rng = np.random.default_rng(seed)
    drawn: list[NDArray[Any]] = []
    for k, parent in enumerate(parents_of(columns)):
        if kind == "binary":
            flipped = (rng.random(rows, dtype=np.float32) < 0.2).astype(np.int8)
            drawn.append(flipped ^ drawn[parent] if k else flipped)
        else:
            noise = rng.normal(size=rows)
            drawn.append(noise + drawn[parent] if k else noise)
    frame = pd.DataFrame({f"x{k:05d}": column for k, column in enumerate(drawn)})
    step = {"levels": 1, "mixed": 2}.get(kind, columns)
    for name in frame.columns[::step] if step < columns else ():
        frame[name] = pd.qcut(frame[name], 4, labels=["low", "fair", "high", "top"]).astype(str)
    return frame


def parents_of(columns: int) -> list[int]:
    """A node before each but the first."""
    rng = np.random.default_rng(SEED)
    return [0] + [int(rng.integers(k)) for k in range(1, columns)]


def measured(job: Job) -> list[Job]:
    """The cells of a job, in this process; tamis is imported only now."""
    before = process_time()
    from study.methods import method

    learn, imported = method(job["method"]), process_time() - before
    if "fits" in job:
        frame = tree(job["columns"], job["rows"], job["kind"])
        taken = [seconds_of(learn, frame) for _ in range(job["fits"])]
        names = ["import", *(f"fit {k}" for k in range(1, len(taken) + 1))]
        return [
            job | {"method": name, "cpu": cpu}
            for name, cpu in zip(names, [imported, *taken], strict=True)
        ]
    if job["method"] in OWN:
        learn(tree(20, 500, job["kind"]))  # compiles
    if "network" in job:
        from study.networks import published

        frame = published(job["network"], job["rows"], SEED).frame
    else:
        frame = tree(job["columns"], job["rows"], job["kind"])
    taken = [seconds_of(learn, frame)]
    # What is quick is repeated: a loop may be compiled in the second fit, too.
    while len(taken) < 5 and sum(taken) < 30 and (len(taken) < 3 or sum(taken) < 2):
        taken.append(seconds_of(learn, frame))
    return [job | {"cpu": min(taken), "peak": peak(resource.RUSAGE_SELF)}]


def seconds_of(learn: Callable[[pd.DataFrame], object], frame: pd.DataFrame) -> float:
    """Of CPU, by all threads of this process."""
    start = process_time()
    learn(frame)
    return process_time() - start


def peak(whose: int) -> float:
    """Megabytes; Linux counts in kibibytes, others in bytes."""
    return resource.getrusage(whose).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


def step_of_scale(job: Job) -> list[Job]:
    """Draw the files, or let the command `tamis` pack or learn them in its own process."""
    folder = Path(job["folder"])
    packed, result = folder / "packed.tamis", folder / "result.json"
    if job["method"] == "draw":
        for k in range(job["rows"] // PART):
            part = tree(job["columns"], PART, job["kind"], SEED + k)
            part.to_parquet(folder / f"{k:04d}.parquet")
    else:
        arguments: list[str | Path] = ["pack", str(folder / "*.parquet"), packed]
        if job["method"] == "learn":
            arguments = ["learn", packed, "--jobs", "1", "--out", result]
        subprocess.run([sys.executable, "-m", "tamis", *arguments, "--quiet"], check=True)
    whose = resource.RUSAGE_SELF if job["method"] == "draw" else resource.RUSAGE_CHILDREN
    used = resource.getrusage(whose)
    return [job | {"cpu": used.ru_utime + used.ru_stime, "peak": peak(whose)}]


def alone(job: Job) -> list[Job]:
    """The cells of a job, in a process of its own."""
    command = [sys.executable, "-m", "study.speed", "--one", json.dumps(job)]
    with TemporaryDirectory() as empty:
        settings = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
        if job["section"] == "first":
            settings["NUMBA_CACHE_DIR"] = empty
        limit = None if job["section"] == "scale" else LIMIT
        try:
            done = subprocess.run(
                command, env=os.environ | settings, capture_output=True, text=True, timeout=limit
            )
        except subprocess.TimeoutExpired:
            return [job | {"why": f"over {LIMIT} s"}]
    if done.returncode:
        return [job | {"why": (done.stderr.strip().splitlines() or ["ended"])[-1]}]
    cells: list[Job] = json.loads(done.stdout.splitlines()[-1])
    return cells


def markdown(cells: list[Job]) -> Iterator[str]:
    """A line for each table, with ratios to the peer where it took part, and what they come to."""
    methods = list(dict.fromkeys(cell["method"] for cell in cells))
    own = [method for method in OWN if {method, PEER} <= set(methods)]
    yield f"| CPU s | {' | '.join([*methods, *(f'{method} / {PEER}' for method in own)])} |"
    yield "|---" * (1 + len(methods) + len(own)) + "|"
    ratios: dict[str, list[float]] = {method: [] for method in own}
    for table in dict.fromkeys(cell["table"] for cell in cells):
        found = {cell["method"]: cell for cell in cells if cell["table"] == table}
        line = [shown(found.get(method, {"why": "-"})) for method in methods]
        for method in own:
            ours, theirs = (found.get(one, {}).get("cpu") for one in (method, PEER))
            if ours and theirs:
                ratios[method].append(ours / theirs)
            line.append(f"{ours / theirs:.2g}" if ours and theirs else "-")
        yield f"| {table} | {' | '.join(line)} |"
    yield ""
    for method, known in ratios.items():
        if known:
            yield f"{method} / {PEER}: {median(known):.2f} in the median, {max(known):.1f} at most."


def shown(cell: Job) -> str:
    """A cell of the table."""
    if "why" in cell:
        return str(cell["why"])
    memory = f" ({cell['peak']:,.0f} MB)" if cell["section"] in ("wide", "scale") else ""
    return f"{cell['cpu']:.3g}{memory}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser("python -m study.speed", description="Speed, as ratios.")
    parser.add_argument("sections", nargs="*", metavar="SECTION")
    parser.add_argument("--quick", action="store_true", help="a few small tables")
    parser.add_argument("--out", type=Path, help="append a line of JSON for each cell")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        job = json.loads(asked.one)
        print(json.dumps((step_of_scale if job["section"] == "scale" else measured)(job)))
        return
    if unknown := set(asked.sections) - set(SECTIONS):
        parser.error(f"there is no section {', '.join(unknown)}, but {', '.join(SECTIONS)}")
    for section in asked.sections or [name for name in SECTIONS if name != "scale"]:
        cells: list[Job] = []
        with TemporaryDirectory() as folder:
            for job in SECTIONS[section](asked.quick):
                cells += alone(job | {"section": section, "folder": folder})
                print(cells[-1]["table"], cells[-1]["method"], shown(cells[-1]), file=sys.stderr)
        print(f"\n## {section}\n", *markdown(cells), sep="\n", flush=True)
        if asked.out:
            with asked.out.open("a") as file:
                kept = ({k: v for k, v in cell.items() if k != "folder"} for cell in cells)
                file.writelines(json.dumps(cell) + "\n" for cell in kept)


if __name__ == "__main__":
    main()
