"""R's bnlearn on the tables of ``tamis experiment networks``, beside the default's rows there.

python -m benchmarks.r_bnlearn [NAME ...] [--rows 1000,5000] [--tables 10] [--study FOLDER]

Rscript and bnlearn must be installed; a folder of R packages is taken from R_LIBS, as R does. Hill
climbing, the same with 20 restarts, and tabu, by BIC and otherwise at their defaults. CPU seconds
are R's own, from the data frame to the graph. What the default found on the same tables is read
from the journal of the study.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean

import networkx as nx

from tamis.studies.attempts import Dataset, cpdag_distance

NAMES = (
    "asia", "sachs", "child", "insurance", "alarm", "hepar2", "win95pts", "hailfinder",
)  # fmt: skip
STUDY = "docs/results/networks/rows.jsonl.gz"
METHODS = {"hc": "hc(x)", "hc, 20 restarts": "hc(x, restart = 20)", "tabu": "tabu(x)"}
SCRIPT = """
suppressMessages(library(bnlearn))
set.seed(1)
x <- read.csv(commandArgs(TRUE)[1], colClasses = "factor")
for (method in c({methods})) {{
  begins <- proc.time()
  found <- eval(parse(text = method))
  took <- sum((proc.time() - begins)[1:2])
  cat(sprintf("%s\\n", paste(c(took, paste(found$arcs[, 1], found$arcs[, 2])), collapse = ",")))
}}
"""


def learned(data: Dataset) -> Iterator[tuple[nx.DiGraph[str], float]]:
    """The graph and the CPU seconds of each method, on a table with columns that vary."""
    table = data.table(numbers=False, labels=True)
    names = {f"v{k}": name for k, name in enumerate(table.names)}
    varying = [k for k, arity in enumerate(table.arities) if arity > 1]
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow([f"v{k}" for k in varying])
    writer.writerows([f"l{code}" for code in row] for row in table.codes[varying].T)
    with tempfile.TemporaryDirectory() as folder:
        path, script = Path(folder, "table.csv"), Path(folder, "learn.R")
        path.write_text(text.getvalue())
        methods = ", ".join(f'"{one}"' for one in METHODS.values())
        script.write_text(SCRIPT.format(methods=methods))
        command = ["Rscript", "--no-save", str(script), str(path)]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for line in lines.splitlines():
        seconds, *arcs = line.split(",")
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(data.graph)
        graph.add_edges_from(tuple(names[one] for one in arc.split()) for arc in arcs if arc)
        yield graph, float(seconds)


def rows_of(study: str) -> list[dict[str, object]]:
    """The default's finished runs of the study, each with the settings of its table."""
    text = gzip.decompress(Path(study).read_bytes()).decode()
    rows = [json.loads(line) for line in text.splitlines()[1:]]
    return [row for row in rows if row["method"] == "auto" and row["status"] == "ok"]


def table_of(names: Sequence[str], sizes: Sequence[int], most: int, study: str) -> Iterator[str]:
    """The lines of the table, a network and a size each."""
    yield "| CPDAG distance (CPU s) | tables | tamis | " + " | ".join(METHODS) + " |"
    yield "|---" * (3 + len(METHODS)) + "|"
    rows, means = rows_of(study), []
    for name in names:
        for n in sizes:
            own = [row for row in rows if (row["model"], row["n"]) == (name, n)][:most]
            distances: list[list[float]] = [[] for _ in range(1 + len(METHODS))]
            seconds: list[list[float]] = [[] for _ in range(1 + len(METHODS))]
            for row in own:
                data = Dataset(json.loads(str(row["settings"])))
                distances[0].append(float(str(row["cpdag"])))
                seconds[0].append(float(str(row["cpu_seconds"])))
                for k, (graph, took) in enumerate(learned(data), start=1):
                    distances[k].append(cpdag_distance(graph, data.graph))
                    seconds[k].append(took)
            means.append([fmean(one) for one in distances])
            cells = (
                f"{fmean(d):.1f} ({fmean(s):.2f})" for d, s in zip(distances, seconds, strict=True)
            )
            yield f"| {name}, {n} rows | {len(own)} | {' | '.join(cells)} |"
    overall = (f"{fmean(one):.1f}" for one in zip(*means, strict=True))
    yield f"| mean | | {' | '.join(overall)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--rows", default="1000,5000")
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--study", default=STUDY)
    given = parser.parse_args()
    sizes = [int(n) for n in given.rows.split(",")]
    for line in table_of(given.names, sizes, given.tables, given.study):
        print(line, flush=True)


if __name__ == "__main__":
    main()
