"""From how many rows on blocks are quicker than planes as a whole, for tables in memory.

python -m benchmarks.long_tables            CPU seconds of both ways, by columns and rows
"""

from __future__ import annotations

from time import process_time

import numpy as np

import tamis
from benchmarks.scale import chunks, names_of, random_tree
from tamis.counting import elsewhere
from tamis.tables.table import Table

SIZES = ((40, 60_000), (40, 130_000), (40, 1_000_000), (200, 130_000), (200, 400_000))


def table(d: int, n: int) -> Table:
    """A tree of the paper's MOD model."""
    tree = random_tree(d, 1)
    rows = np.concatenate([np.array(columns) for columns in chunks(tree, n, 1)], axis=1)
    return Table(tuple(names_of(tree)), ((0, 1),) * d, rows.astype(np.uint8))


def seconds(drawn: Table, search: str, *, in_blocks: bool) -> float:
    """Of CPU, one thread, the better of two."""
    elsewhere.LONG = 0 if in_blocks else 2**62
    elsewhere.ROWS_A_COLUMN = 0
    taken = []
    for _ in range(2):
        start = process_time()
        tamis.TAM(search=search, n_jobs=1).fit(drawn)
        taken.append(process_time() - start)
    return min(taken)


def main() -> None:
    """Measure and print."""
    print("| columns | rows | search | planes as a whole: CPU s | in blocks |")
    print("|---|---|---|---|---|")
    for d, n in SIZES:
        drawn = table(d, n)
        for search in ("sequential", "auto"):
            whole = seconds(drawn, search, in_blocks=False)
            blocks = seconds(drawn, search, in_blocks=True)
            print(f"| {d} | {n:,} | `{search}` | {whole:.2f} | {blocks:.2f} |", flush=True)


if __name__ == "__main__":
    main()
