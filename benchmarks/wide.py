"""Tables of very many columns, in memory: time and memory of learning them.

python -m benchmarks.wide                                    1000 to 10 000 columns, sequential
python -m benchmarks.wide --columns 1000,2000 --search auto  others

The table is a tree of binary columns under the paper's MOD model with noise 0.2. Every size is a
process of its own, whose peak of memory is what the system says it was; seconds are those of
``fit`` alone, without drawing the table and without compiling, which happens once.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from time import perf_counter, process_time

from benchmarks import children
from benchmarks.children import megabytes
from benchmarks.models import shd

HEADING = "| columns | rows | search | CPU s | wall s | peak | wrong edges |\n" + "|---" * 7 + "|"


def learn(d: int, n: int, search: str, seed: int) -> dict[str, float]:
    """Draw a table, learn it, and say how long that took and how many edges are wrong."""
    import tamis
    from tamis.simulate import draw

    model = tamis.TAM(search=search)
    model.fit(draw("tree", "mod", d=20, n=500, seed=seed).data)  # compiles, or loads what is
    drawn = draw("tree", "mod", d=d, n=n, seed=seed, p=0.2)
    wall, cpu = perf_counter(), process_time()
    model.fit(drawn.data)
    took = {"wall": perf_counter() - wall, "cpu": process_time() - cpu}
    return took | {"wrong": shd(drawn.graph, set(model.graph_.edges))}


def measured(d: int, n: int, search: str, seed: int) -> str:
    """One line of the table."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        sizes = ("--columns", str(d), "--rows", str(n), "--search", search, "--seed", str(seed))
        cost = children.run("benchmarks.wide", *sizes, "--answer", answer)
        took = json.loads(answer.read_text())
    return (
        f"| {d:,} | {n:,} | {search} | {took['cpu']:.1f} | {took['wall']:.1f} | "
        f"{megabytes(cost.peak)} | {took['wrong']} |"
    )


def main() -> None:
    """Measure each size in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", default="1000,2000,5000,10000")
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--search", default="sequential")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--answer", help="learn here and now, and write what it took to this file")
    options = parser.parse_args()
    sizes = [int(one) for one in options.columns.split(",")]
    if options.answer is not None:
        took = learn(sizes[0], options.rows, options.search, options.seed)
        Path(options.answer).write_text(json.dumps(took))
        return
    print(HEADING)
    for d in sizes:
        print(measured(d, options.rows, options.search, options.seed), flush=True)


if __name__ == "__main__":
    main()
