"""Where counting in bit planes stops paying: planes against rows, by the number of cells.

python -m benchmarks.crossover
"""

from __future__ import annotations

import time

import numpy as np

from tamis.counting import counts, memory
from tamis.counting.memory import MemoryCounts
from tamis.information.counted import lookup_of
from tamis.information.estimators import as_additive
from tamis.tables import Table


def table(n: int, d: int, arity: int) -> Table:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, arity, (d, n)).astype(np.uint8)
    return Table(tuple(f"x{k}" for k in range(d)), (tuple(range(arity)),) * d, codes)


def seconds(counts: MemoryCounts, context: tuple[int, tuple[int, ...]], n: int) -> float:
    lookup = lookup_of(as_additive("miller-madow", "crossover"), n)
    candidates = np.arange(20, 60)
    best = np.inf
    for _ in range(5):
        start = time.perf_counter()
        counts.judge(counts.shapes.batch([context], [candidates], lookup), tests=False)
        best = min(best, time.perf_counter() - start)
    return float(best)


def joint_seconds(counts: MemoryCounts, size: int, n: int) -> float:
    """One of eight joint tables of so many columns: half of them given."""
    lookup = lookup_of(as_additive("miller-madow", "crossover"), n)
    best = np.inf
    for i in range(5):
        # Each time others, so that no states of rows are at hand.
        first = range(8 * i, 8 * i + 8)
        contexts = [(k, tuple(range(k + 1, k + 1 + (size - 1) // 2))) for k in first]
        others = [tuple(range(k + 1 + (size - 1) // 2, k + size)) for k in first]
        start = time.perf_counter()
        counts.judge(counts.shapes.joint_batch(contexts, others, lookup), tests=True)
        best = min(best, time.perf_counter() - start)
    return float(best) / 8


def joints_table() -> None:
    """The same for a single joint table a question."""
    print("\n    rows   cells   planes/rows of one joint table")
    for n in (1000, 4000, 20_000, 200_000):
        for size in range(3, 14):
            ratio = []
            for crossover in (10**9, 0):
                memory.JOINT_CROSSOVER = crossover
                ratio.append(joint_seconds(MemoryCounts(table(n, 60, 2), 1), size, n))
            print(f"{n:8} {2**size:7}   {ratio[0] / ratio[1]:.2f}")


def main() -> None:
    print("    rows levels   cells   planes/rows (below 1 planes win)")
    for n in (1000, 4000, 20_000, 200_000):
        for arity in (2, 3):
            for size in range(1, 11 if arity == 2 else 7):
                cells = arity ** (size + 1) * (arity - 1)
                context = (0, tuple(range(1, size + 1)))
                ratio = []
                for crossover in (10**9, 0):
                    counts.CROSSOVER = crossover
                    ratio.append(seconds(MemoryCounts(table(n, 60, arity), 1), context, n))
                print(f"{n:8} {arity:6} {cells:7}   {ratio[0] / ratio[1]:.2f}")
    joints_table()


if __name__ == "__main__":
    main()
