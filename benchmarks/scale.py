"""Tables larger than memory: time and memory of packing and learning, by the number of rows.

python -m benchmarks.scale                          1, 5, 20 and 50 million rows of 40 columns
python -m benchmarks.scale --rows 1e6,5e6           other sizes

Every step is a process of its own, whose peak of memory is what the system says it was. Tables are
removed when they have been learned. Where the table fits (up to ``--in-memory`` rows), the
engine in memory learns it too, and the two results must be equal.
"""

from __future__ import annotations

import argparse
import csv
import json
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import children
from benchmarks.children import Cost, megabytes

DOCS = Path(__file__).parent.parent / "docs"
CHUNK = 2**20
NOISE = 0.2
BEGIN, END = "<!-- measured -->", "<!-- end -->"


@dataclass(frozen=True)
class Row:
    """What was measured for one number of rows."""

    rows: int
    parquet_bytes: int
    planes_bytes: int
    pack_wall: float
    pack_cpu: float
    pack_peak: int
    learn_wall: float
    learn_cpu: float
    learn_peak: int
    wrong_edges: int
    memory_cpu: float
    memory_peak: int
    """Of the engine in memory; 0 where it was not run."""


def random_tree(d: int, seed: int) -> list[int]:
    """The parent of each node but the first, which has none."""
    rng = np.random.default_rng(seed)
    return [-1, *(int(rng.integers(0, k)) for k in range(1, d))]


def chunks(tree: list[int], n: int, seed: int) -> Iterator[list[NDArray[np.bool_]]]:
    """The paper's MOD model, some rows at a time: a node is its parent, flipped now and then."""
    rng = np.random.default_rng(seed)
    for start in range(0, n, CHUNK):
        size = min(CHUNK, n - start)
        columns: list[NDArray[np.bool_]] = []
        for parent in tree:
            noise = rng.random(size, dtype=np.float32) < NOISE
            columns.append(noise if parent < 0 else noise ^ columns[parent])
        yield columns


def write(path: Path, tree: list[int], n: int, seed: int) -> None:
    """The table as a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = names_of(tree)
    schema = pa.schema([(name, pa.int8()) for name in names])
    with pq.ParquetWriter(path, schema) as writer:
        for columns in chunks(tree, n, seed):
            arrays = [pa.array(column.astype(np.int8)) for column in columns]
            writer.write_table(pa.table(arrays, schema=schema))


def names_of(tree: list[int]) -> list[str]:
    """The names of the columns."""
    return [f"x{k:02d}" for k in range(len(tree))]


def run(*command: str | Path) -> Cost:
    """Run the command `tamis` in a process of its own."""
    return children.run("tamis", *command)


def wrong_edges(result: Path, tree: list[int]) -> int:
    """How many arrows of the tree are not found, and how many are found that it has not."""
    names = names_of(tree)
    true = {(names[p], names[k]) for k, p in enumerate(tree) if p >= 0}
    edges = json.loads(result.read_text())["edges"]
    return len(true ^ {(edge["parent"], edge["child"]) for edge in edges})


def content(result: Path) -> dict[str, Any]:
    """A result without what counted it, where it was read from, and the digest of both."""
    apart = {"engine", "read_from", "sha256"}
    return {k: v for k, v in json.loads(result.read_text()).items() if k not in apart}


def measure(n: int, options: argparse.Namespace) -> Row:
    """Make a table, pack it, learn it, and remove it."""
    tree = random_tree(options.columns, options.seed)
    learn = ["--quiet", "--jobs", str(options.jobs)]
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        table, planes = folder / "table.parquet", folder / "planes.tamis"
        # In a process of its own: what this one holds would count as the peak of its children.
        size = ("--rows", str(n), "--columns", str(options.columns), "--seed", str(options.seed))
        children.run("benchmarks.scale", *size, "--make", table)
        packed = run("pack", table, planes, "--quiet")
        blocks = folder / "blocks.json"
        learned = run("learn", planes, "--memory", options.memory, *learn, "--out", blocks)
        known = Cost(0.0, 0.0, 0)
        if n <= options.in_memory:
            known = run("learn", table, *learn, "--out", folder / "memory.json")
            if content(blocks) != content(folder / "memory.json"):
                raise SystemExit(f"{n} rows: blocks and memory differ")
        return Row(
            n, table.stat().st_size, planes.stat().st_size, packed.wall, packed.cpu, packed.peak,
            learned.wall, learned.cpu, learned.peak, wrong_edges(blocks, tree), known.cpu,
            known.peak,
        )  # fmt: skip


def markdown(rows: list[Row]) -> str:
    """The table of the page."""
    lines = [
        "| rows | Parquet | planes | pack: CPU s | wall s | peak | learn: CPU s | wall s | peak | "
        "wrong edges | in memory: CPU s | peak |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        known = (f"{row.memory_cpu:.1f}", megabytes(row.memory_peak)) if row.memory_peak else "–"
        lines.append(
            f"| {row.rows:,} | {megabytes(row.parquet_bytes)} | {megabytes(row.planes_bytes)} | "
            f"{row.pack_cpu:.1f} | {row.pack_wall:.1f} | {megabytes(row.pack_peak)} | "
            f"{row.learn_cpu:.1f} | {row.learn_wall:.1f} | {megabytes(row.learn_peak)} | "
            f"{row.wrong_edges} | {known[0]} | {known[-1]} |"
        )
    return "\n".join(lines)


def draw(rows: list[Row], path: Path) -> None:
    """Time and memory against the number of rows."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    n = np.array([row.rows for row in rows]) / 1e6
    for ax, pack, learn, known, label in (
        (left, "pack_cpu", "learn_cpu", "memory_cpu", "CPU seconds"),
        (right, "pack_peak", "learn_peak", "memory_peak", "peak memory (GB)"),
    ):
        unit = 1e9 if ax is right else 1.0
        for name, field, look in (
            ("tamis pack", pack, "s--"),
            ("tamis learn, in blocks", learn, "o-"),
            ("tamis learn, in memory", known, "^:"),
        ):
            values = np.array([getattr(row, field) for row in rows]) / unit
            seen = values > 0
            ax.plot(n[seen], values[seen], look, label=name)
        ax.set_xlabel("million rows")
        ax.set_ylabel(label)
        ax.set_xlim(0)
        ax.set_ylim(0)
    left.legend(frameon=False)
    figure.savefig(path, dpi=110)


def publish(rows: list[Row]) -> None:
    """Put table and plot into the page."""
    page = DOCS / "scale.md"
    text = page.read_text()
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    page.write_text(f"{before}{BEGIN}\n{markdown(rows)}\n{END}{after}")
    draw(rows, DOCS / "scale.png")


def kept(path: Path) -> dict[int, Row]:
    """What earlier runs have measured, by the number of rows."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        read = [
            {one.name: float(line[one.name]) for one in fields(Row)}
            for line in csv.DictReader(file)
        ]
    whole = {one.name for one in fields(Row) if one.type == "int"}
    rows = [Row(**{k: int(v) if k in whole else v for k, v in one.items()}) for one in read]
    return {row.rows: row for row in rows}


def keep(path: Path, rows: list[Row]) -> None:
    """Write what was measured."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [one.name for one in fields(Row)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


def main() -> None:
    """Measure, and publish what there is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="1e6,5e6,20e6,50e6")
    parser.add_argument("--columns", type=int, default=40)
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--in-memory", type=float, default=5e6)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", default=None, help="where the tables are made")
    parser.add_argument("--make", type=Path, help="make the table of this name, and nothing else")
    options = parser.parse_args()
    if options.make is not None:
        tree = random_tree(options.columns, options.seed)
        write(options.make, tree, int(float(options.rows)), options.seed)
        return
    path = DOCS / "results" / "scale.csv"
    for n in options.rows.split(","):
        row = measure(int(float(n)), options)
        rows = kept(path) | {row.rows: row}
        in_order = [rows[size] for size in sorted(rows)]
        keep(path, in_order)
        publish(in_order)
        print(markdown([row]).splitlines()[-1], flush=True)


if __name__ == "__main__":
    main()
