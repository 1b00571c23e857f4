"""A table on Dask: equal results, the cost of a round, rounds and bytes by columns; what follows.

python -m benchmarks.cluster                        all of it, some minutes
python -m benchmarks.cluster --only rounds          one part: engines, rounds, columns, speed

Everything runs on this machine, in processes that share its cores. What a larger cluster would take
is computed from what was measured here, and marked as such.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time
from typing import NamedTuple

import numpy as np

import tamis
from benchmarks.scale import chunks, random_tree, run, write, wrong_edges
from tamis.counting.dask.opening import connected, open_files
from tamis.counting.dask.work import Found, Question
from tamis.counting.dask.workers import ClusterTable
from tamis.counting.passes import Masked, Pass, PlaneRows, View
from tamis.tables.planes import Blocks

SEED = 1


def write_parts(folder: Path, tree: list[int], n: int, parts: int) -> None:
    """A table of the paper's MOD model as so many Parquet files."""
    for i in range(parts):
        write(folder / f"{i:04d}.parquet", tree, n // parts, SEED + i)


@contextmanager
def made(d: int, n: int, parts: int) -> Iterator[tuple[Path, list[int]]]:
    """Such a table in a folder that is removed afterwards."""
    tree = random_tree(d, SEED)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "parts").mkdir()
        write_parts(folder / "parts", tree, n, parts)
        yield folder, tree


def engines(n: int, d: int, parts: int) -> Iterator[str]:
    """The same files, in memory, in blocks and on clusters of processes."""
    yield "| | wall s | rounds | bytes read or moved | wrong edges | equal |"
    yield "|---|---|---|---|---|---|"
    with made(d, n, parts) as (folder, tree):
        pattern = str(folder / "parts" / "*.parquet")
        whole = folder / "whole.parquet"
        _join(folder / "parts", whole)
        expected = None
        for name, source, options in (
            ("in memory", str(whole), ()),
            ("in blocks", pattern, ()),
            ("local:1", pattern, ("--dask", "local:1")),
            ("local:2", pattern, ("--dask", "local:2")),
            ("local:4", pattern, ("--dask", "local:4")),
        ):
            out = folder / "out.json"
            cost = run("learn", source, *options, "--quiet", "--out", out)
            result = tamis.load(out)
            expected = expected or result
            # Notes differ: packing says that it packed.
            same = result.trace == expected.trace and result.edges == expected.edges
            engine = result.engine
            rounds = "–" if engine is None else engine.rounds
            moved = "–" if engine is None else megabytes(engine.bytes_moved)
            yield (
                f"| {name} | {cost.wall:.1f} | {rounds} | {moved} | "
                f"{wrong_edges(out, tree)} | {'yes' if same else 'NO'} |"
            )


def _join(parts: Path, whole: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(pq.read_table(parts), whole)


class Latency(NamedTuple):
    """Seconds that a round takes whatever it asks, and more for each task that counts."""

    fixed: float
    each: float


def rounds(sizes: Sequence[int]) -> tuple[list[str], Latency]:
    """The cost of a round that asks almost nothing, by the number of tasks that count.

    Here two processes do all of them; on a cluster each thread has one, and what remains of their
    cost is the scheduler's share of it.
    """
    lines = ["| tasks that count | seconds a round (median of 30) |", "|---|---|"]
    times = []
    with connected("local:2") as client:
        for tasks in sizes:
            with made(4, 100 * tasks, tasks) as (folder, _):
                table = open_files(str(folder / "parts"), client)
                one_each = [[i] for i in range(tasks)]
                table.workers._neighbours = lambda one_each=one_each: one_each  # type: ignore[method-assign]
                times.append(statistics.median(_ask(table) for _ in range(30)))
                lines.append(f"| {tasks} | {times[-1]:.4f} |")
    each, fixed = np.polyfit(sizes, times, 1)
    lines.append(f"\nAbout {fixed * 1e3:.0f} ms and {each * 1e3:.2f} ms for each task.")
    return lines, Latency(float(fixed), float(each))


def _ask(table: ClusterTable) -> float:
    start = perf_counter()
    table.total([PlaneRows(with_pairs=False)], 1)
    return perf_counter() - start


class Load(NamedTuple):
    """What learning a table of so many columns took: rounds, the bytes of questions and of sums
    for each thread that counts, and the number of sums, each a pass over the bits of all rows."""

    d: int
    search: str
    rounds: int
    question_bytes: float
    sum_bytes: float
    sums: int
    wall: float


def columns(sizes: Sequence[int], searches: Sequence[str], n: int, parts: int) -> list[Load]:
    """Rounds and bytes against the number of columns, on two processes."""
    found = []
    with connected("local:2") as client:
        for d in sizes:
            with made(d, n, parts) as (folder, _):
                for search in searches:
                    table = open_files(str(folder / "parts"), client)
                    found.append(_load(table, search))
                    print(found[-1], flush=True)
    return found


def _load(table: ClusterTable, search: str) -> Load:
    asked = sums = 0
    ask = table.workers.ask

    def watched(question: Question) -> tuple[Found, int]:
        nonlocal asked, sums
        found, moved = ask(question)
        asked += moved - found.moved
        sums += sum(_sums(one, table.layout.n_planes) for one in question.passes)
        return found, moved

    table.workers.ask = watched  # type: ignore[method-assign]
    start = perf_counter()
    tamis.TAM(search=search).fit(table)
    wall = perf_counter() - start
    counted = table.counted
    tasks = len(table.workers._neighbours())
    return Load(
        table.n_variables, search, counted.rounds, asked / tasks,
        (counted.bytes_moved - asked) / tasks, sums, wall,
    )  # fmt: skip


def _sums(one: Pass, n_planes: int) -> int:
    if isinstance(one, Masked):
        return one.size
    return n_planes**2 // 2 if isinstance(one, PlaneRows) else 0


def table_of_loads(loads: Sequence[Load]) -> Iterator[str]:
    """The table of the page; bytes are those of each thread that counts."""
    yield "| columns | search | rounds | bytes of questions | of sums | sums counted | wall s |"
    yield "|---|---|---|---|---|---|---|"
    for one in loads:
        yield (
            f"| {one.d} | `{one.search}` | {one.rounds} | {megabytes(one.question_bytes)} | "
            f"{megabytes(one.sum_bytes)} | {one.sums:,} | {one.wall:.0f} |"
        )


def words_a_second(d: int = 200, n: int = 10**6) -> float:
    """How many words of 64 rows one core counts in a second, as a worker does."""
    tree = random_tree(d, SEED)
    batches = [[one.astype(np.uint8) for one in columns] for columns in chunks(tree, n, SEED)]
    view = View(Blocks.of(n, [2] * d, batches), tuple(range(d)), 2**29)
    asked = Masked(
        [(0, k) for k in range(1, 101)],
        [np.delete(np.arange(d), [0, k]) for k in range(1, 101)],
        np.full(d, 2),
        with_pairs=True,
    )
    asked.over(view)
    start = process_time()
    asked.over(view)
    return asked.size * (n / 64) / (process_time() - start)


def extrapolated(load: Load, latency: Latency, speed: float, *, rows: float, workers: int) -> str:
    """What the same search would take with other rows, on workers of one thread each."""
    counting = load.sums * rows / 64 / speed / workers
    waiting = load.rounds * (latency.fixed + latency.each * workers)
    # Sums of four bytes, the type that counts of up to four thousand million rows need; each level
    # of the tree passes on an eighth of the one before.
    moved = workers * (load.question_bytes + 4 * load.sums * 8 / 7)
    return (
        f"| {rows:.0e} x {load.d} | {workers} | `{load.search}` | {load.rounds} | "
        f"{waiting:,.0f} s | {counting:,.0f} s | {moved / 1e9:,.1f} GB |"
    )


def megabytes(size: float) -> str:
    """A size in units of a million bytes."""
    return f"{size / 1e6:,.2f} MB"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("engines", "rounds", "columns", "speed"), default=None)
    parser.add_argument("--rows", type=float, default=5e6)
    parser.add_argument("--sizes", default="50,100,200,400,1000")
    options = parser.parse_args()
    if options.only in (None, "engines"):
        for line in engines(int(options.rows), 40, 16):
            print(line, flush=True)
    if options.only in (None, "rounds"):
        lines, latency = rounds([2, 8, 32, 128])
        print("\n".join(lines), flush=True)
    if options.only in (None, "columns"):
        sizes = [int(d) for d in options.sizes.split(",")]
        loads = columns(sizes, ["sequential", "auto"], 20_000, 8)
        print("\n".join(table_of_loads(loads)), flush=True)
    if options.only in (None, "speed"):
        speed = words_a_second()
        print(f"\nOne core counts {speed / 1e9:.2f} thousand million words a second.\n")
    if options.only is None:
        for load in loads[-2:]:
            print(extrapolated(load, latency, speed, rows=1e9, workers=100))


if __name__ == "__main__":
    main()
