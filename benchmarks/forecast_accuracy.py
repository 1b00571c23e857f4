"""How far off the forecast is: `python -m benchmarks.forecast_accuracy [SECTION ...]`.

`time`: what was forecast over what a run took, in seconds (the best of three if it is short), on
tables that the model was not fitted on. `fit`: the same on the tables that it was.
`networks`: seconds of the default on published networks, and `mixed` on numbers beside categories.
`memory`: the forecast over the growth of the peak of resident memory, each in a process of its own
(Linux). Prints Markdown; takes some minutes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

import tamis
from benchmarks.networks import frame_of
from tamis.forecast import forecast
from tamis.learning import learn
from tamis.settings import Settings
from tamis.simulate import draw
from tamis.tables import Table, read_table

Case = tuple[str, str, int, int, int]
"""Model, graph, columns, rows and, for random tables, levels."""
SEARCHES = ("sequential", "node", "auto")
FITTED: list[Case] = [
    ("mod", "tree", 10, 500, 2),
    ("mod", "tree", 20, 4000, 2),
    ("mod", "er1", 50, 4000, 2),
    ("mod", "er2", 20, 1000, 2),
    ("tables", "er1", 10, 1000, 2),
    ("tables", "er1", 20, 4000, 3),
    ("tables", "er2", 20, 4000, 4),
    ("tables", "tree", 50, 4000, 2),
    ("tables", "er1", 50, 1000, 4),
    ("tables", "er1", 50, 10_000, 2),
    ("tables", "er2", 30, 10_000, 3),
    ("tables", "tree", 20, 50_000, 6),
    ("tables", "none", 40, 2000, 3),
    ("add", "tree", 20, 4000, 2),
    ("add", "er1", 20, 1000, 2),
    ("logistic", "er1", 40, 4000, 2),
    ("tables", "er1", 100, 2000, 2),
    ("mod", "tree", 100, 4000, 2),
    ("tables", "er1", 20, 50_000, 2),
    ("tables", "er1", 100, 1000, 4),
    ("tables", "er1", 200, 2000, 2),
    ("gaussian", "er1", 50, 2000, 0),
]
CHECKED: list[Case] = [
    ("tables", "er1", 10, 500, 4),
    ("mod", "tree", 10, 50_000, 2),
    ("mod", "er2", 15, 4000, 2),
    ("tables", "tree", 15, 3000, 5),
    ("tables", "sf1", 25, 10_000, 2),
    ("tables", "er2", 25, 2000, 3),
    ("tables", "er1", 30, 50_000, 6),
    ("logistic", "er1", 35, 1000, 2),
    ("add", "tree", 40, 2000, 2),
    ("mod", "sf1", 50, 4000, 2),
    ("tables", "er1", 60, 20_000, 2),
    ("tables", "tree", 60, 5000, 4),
    ("mod", "er1", 80, 10_000, 2),
    ("tables", "tree", 80, 500, 2),
    ("tables", "none", 100, 10_000, 4),
    ("logistic", "tree", 120, 4000, 2),
    ("tables", "er1", 150, 1500, 2),
    ("tables", "tree", 150, 20_000, 2),
    ("tables", "er1", 120, 2000, 3),
    ("mod", "er1", 200, 3000, 2),
    ("tables", "tree", 200, 50_000, 2),
    ("gaussian", "er2", 40, 1000, 0),
    ("gaussian", "tree", 150, 3000, 0),
]
REMEMBERED: list[Case] = [
    ("mod", "tree", 20, 4000, 2),
    ("tables", "er1", 50, 50_000, 2),
    ("tables", "er1", 100, 2000, 4),
    ("mod", "tree", 200, 5000, 2),
    ("tables", "er1", 40, 200_000, 3),
    ("mod", "tree", 600, 10_000, 2),
    ("gaussian", "er1", 100, 20_000, 0),
]
PUBLISHED = (
    "asia", "sachs", "child", "insurance", "alarm", "hepar2", "win95pts", "hailfinder", "andes",
    "water", "mildew", "barley",
)  # fmt: skip
SIZES = (1000, 5000)
GRAPHS = {
    "tree": lambda d: ("tree", {}),
    "er1": lambda d: ("er", {"edges": d}),
    "er2": lambda d: ("er", {"edges": 2 * d}),
    "sf1": lambda d: ("sf", {"m": 1}),
    "none": lambda d: ("er", {"edges": 0}),
}


def table_of(case: Case, seed: int) -> Table:
    """The table of a case."""
    model, graph, d, n, levels = case
    kind, options = GRAPHS[graph](d)
    if model == "tables":
        options = {**options, "arity": levels}
    return read_table(draw(kind, model, d=d, n=n, seed=seed, **options).data, continuous=True)


def seconds_of(table: Table, settings: Settings) -> float:
    """The time of one run, of the processor: others may work on the machine too."""
    before = time.process_time()
    learn(table, settings)
    return time.process_time() - before


def taken(table: Table, settings: Settings) -> float:
    """The time of the quickest of three runs, or of one that takes a second."""
    seconds = seconds_of(table, settings)
    for _ in range(2 if seconds < 1 else 0):
        seconds = min(seconds, seconds_of(table, settings))
    return seconds


def line_of(case: Case, search: str, seed: int) -> dict[str, object]:
    """One run beside its forecast."""
    table, settings = table_of(case, seed), Settings(search=search, n_jobs=1)
    told = forecast(table, settings, clock=time.process_time)
    return {
        "case": case,
        "search": search,
        "seconds": taken(table, settings),
        "told": told.seconds,
        "contexts": told.n_contexts,
        "boundary": told.boundary,
        "probe": told.probe_seconds,
        "information": told.information,
        "look_ahead": told.look_ahead,
    }


def shown(case: Case) -> str:
    """A case in words."""
    model, graph, d, n, levels = case
    many = f", {levels} levels" if model == "tables" else ""
    return f"{graph} {model}, d={d}, n={n}{many}"


def times(cases: Sequence[Case], seed: int, raw: str | None) -> None:
    """Forecast over actual, a line a table, and how they are spread."""
    ratios: dict[str, list[float]] = {search: [] for search in SEARCHES}
    print("| table |" + "".join(f" {search}, s | ratio |" for search in SEARCHES))
    print("|---" * (1 + 2 * len(SEARCHES)) + "|")
    learn(table_of(("tables", "er1", 10, 500, 3), seed), Settings(n_jobs=1))
    for case in cases:
        text = f"| {shown(case)} |"
        for search in SEARCHES:
            line = line_of(case, search, seed)
            if raw:
                with Path(raw).open("a") as file:
                    file.write(json.dumps(line) + "\n")
            ratios[search].append(line["told"] / line["seconds"])
            text += f" {line['seconds']:.2f} | {ratios[search][-1]:.2f} |"
        print(text, flush=True)
    spread(ratios | {"all": [one for some in ratios.values() for one in some]})


def summary(title: str, ratios: Sequence[float]) -> str:
    """How ratios are spread, as a line of a table."""
    off = np.exp(np.abs(np.log(ratios)))
    return (
        f"| {title} | {len(ratios)} | {np.median(ratios):.2f} | {min(ratios):.2f} | "
        f"{max(ratios):.2f} |" + "".join(f" {(off <= x).mean():.0%} |" for x in (2, 3, 5))
    )


def networks() -> None:
    """Published networks, a line a network."""
    settings = Settings(search="auto", n_jobs=1)
    learn(read_table(frame_of("child", 1000)), settings)
    print("| seconds, forecast / actual, `auto` |" + "".join(f" {n} rows |" for n in SIZES))
    print("|---" * (1 + len(SIZES)) + "|")
    ratios = []
    for name in PUBLISHED:
        text = f"| {name} |"
        for n in SIZES:
            table = read_table(frame_of(name, n))
            told = forecast(table, settings, clock=time.process_time).seconds
            seconds = taken(table, settings)
            ratios.append(told / seconds)
            text += f" {seconds:.3f}, {ratios[-1]:.2f} |"
        print(text, flush=True)
    spread({"auto": ratios})


def mixed() -> None:
    """Numbers beside categories, which scikit-learn's and other packages' tables have."""
    from palmerpenguins import load_penguins
    from sklearn.datasets import load_breast_cancer, load_wine

    tables = {"penguins, complete rows": load_penguins().dropna()}
    for title, load in (
        ("wine, the cultivar as text", load_wine),
        ("breast cancer, the diagnosis as text", load_breast_cancer),
    ):
        found = load(as_frame=True)
        names = dict(enumerate(map(str, found.target_names)))
        tables[title] = found.data.assign(target=found.target.map(names))
    print("| table | rows, columns | auto, s | forecast / actual |\n|---|---|---|---|")
    ratios = []
    for title, frame in tables.items():
        table, settings = read_table(frame, continuous=True), Settings(search="auto", n_jobs=1)
        learn(table, settings)
        told = forecast(table, settings, clock=time.process_time).seconds
        seconds = taken(table, settings)
        ratios.append(told / seconds)
        size = f"{table.n_rows} × {table.n_variables}"
        print(f"| {title} | {size} | {seconds:.2f} | {ratios[-1]:.2f} |", flush=True)
    spread({"auto": ratios})


def spread(ratios: Mapping[str, Sequence[float]]) -> None:
    """How the ratios of each search are spread, as a table."""
    within = "within 2 | within 3 | within 5"
    print(f"\n| forecast / actual | runs | median | least | largest | {within} |")
    print("|---" * 8 + "|")
    for search, some in ratios.items():
        print(summary(f"seconds, {search}", some))


PEAK = """
import sys, json, warnings
warnings.simplefilter("ignore")
from pathlib import Path
from benchmarks.forecast_accuracy import table_of
from tamis.forecast import forecast
from tamis.learning import learn
from tamis.settings import Settings
def kb(name):
    text = Path("/proc/self/status").read_text()
    return int(text.split(name + ":")[1].split()[0])
case, search = json.loads(sys.argv[1])
small = table_of(("tables", "er1", 12, 500, 3), 1)
settings = Settings(search=search, n_jobs=1)
learn(small, settings)
forecast(small, settings)
table = table_of(tuple(case), 3)
import ctypes, gc
gc.collect()
ctypes.CDLL("libc.so.6").malloc_trim(0)  # else what drawing the table has freed is used again
Path("/proc/self/clear_refs").write_text("5")
before = kb("VmRSS")
learn(table, settings)
grown = 1024 * (kb("VmHWM") - before)
told = forecast(table, settings)
# The table itself is there already.
print(json.dumps([grown, told.bytes - table.codes.nbytes - sum(
    x.nbytes for x in table.continuous.values()), dict(told.memory)]))
"""


def memories() -> None:
    """The growth of the peak beside the forecast."""
    print("| table | search | peak, MB | forecast / actual | most for |\n|---|---|---|---|---|")
    for case in REMEMBERED:
        for search in SEARCHES[::2]:
            done = subprocess.run(
                [sys.executable, "-c", PEAK, json.dumps([case, search])],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            actual, told, parts = json.loads(done.stdout.splitlines()[-1])
            most = max(parts, key=parts.__getitem__)
            print(
                f"| {shown(case)} | {search} | {actual / 1e6:.1f} | {told / max(actual, 1):.2f} | "
                f"{most} |",
                flush=True,
            )


def main() -> None:
    """Run the sections asked for, or those that are published."""
    parser = argparse.ArgumentParser(description=__doc__)
    sections = {"time", "fit", "networks", "mixed", "memory"}
    parser.add_argument("sections", nargs="*", choices=[[], *sections])
    parser.add_argument("--raw", help="append each run to this file, a line of JSON each")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", tamis.TamisWarning)
    alone = {"networks": networks, "mixed": mixed, "memory": memories}
    for section in asked.sections or ("time", *alone):
        if section in alone:
            alone[section]()
        else:
            times(FITTED if section == "fit" else CHECKED, 7 if section == "fit" else 41, asked.raw)
        print()


if __name__ == "__main__":
    main()
