"""Are the probabilities of `TAM.bootstrap` what they say? Makes the table and plot of
docs/confidence.md.

An arrow with a share of 0.8 should be in the true graph in about 8 of 10 cases. The tables are
short, so that shares of all sizes occur. `python -m benchmarks.confidence`
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from tamis import TAM, TamisWarning, simulate

EDGES = np.array([0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1.001])
"""The bins of shares; below the first nearly all arrows are false and nobody looks."""
SETTINGS = [
    (graph, model, n)
    for graph in ("tree", "er")
    for model in ("mod", "tables", "logistic")
    for n in (100, 300, 1000)
]


def tables(seeds: range) -> Iterator[tuple[str, object]]:
    for graph, model, n in SETTINGS:
        for seed in seeds:
            options: dict[str, object] = {"edges": 12} if graph == "er" else {}
            if model == "tables":
                options |= {"arity": [2, 3, 4] * 3 + [2], "entropy": (0.2, 0.6)}
            yield model, simulate.draw(graph, model, d=10, n=n, seed=seed, **options)


def shares(scheme: str, seeds: range, resamples: int) -> np.ndarray:
    """One line an arrow that was seen: its share, whether it is true, whether its pair is."""
    lines = []
    for _, drawn in tables(seeds):
        model = TAM(n_jobs=1).fit(drawn.data)
        found = model.bootstrap(resamples, scheme=scheme)
        truth = set(drawn.graph.edges)
        for (a, b), share in found.edges.items():
            lines.append((share, (a, b) in truth, (a, b) in truth or (b, a) in truth))
    return np.array(lines, dtype=float)


def binned(lines: np.ndarray) -> list[tuple[str, int, float, float, float]]:
    rows = []
    for low, high in pairwise(EDGES):
        inside = lines[(lines[:, 0] >= low) & (lines[:, 0] < high)]
        label = f"{low:.2f} to {min(high, 1):.2f}"
        means = inside.mean(axis=0) if len(inside) else np.full(3, np.nan)
        rows.append((label, len(inside), *means.tolist()))
    return rows


def error(lines: np.ndarray) -> float:
    """The mean distance between share and truth, over arrows with a share worth a look."""
    total = weight = 0.0
    for _, count, said, true, _ in binned(lines):
        if count:
            total += count * abs(said - true)
            weight += count
    return total / weight


def draw_plot(results: dict[str, np.ndarray], path: str) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(4.6, 4.2), layout="constrained")
    ax.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    for (scheme, lines), marker in zip(results.items(), "os", strict=False):
        rows = [row for row in binned(lines) if row[1] >= 5]
        ax.plot([r[2] for r in rows], [r[3] for r in rows], marker=marker, label=scheme)
    ax.set(xlabel="share of the resamples", ylabel="share of true arrows", xlim=(0, 1), ylim=(0, 1))
    ax.legend(frameon=False)
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="900:905")
    parser.add_argument("--resamples", type=int, default=100)
    parser.add_argument("--schemes", nargs="+", default=["half", "rows"])
    parser.add_argument("--plot", help="where to draw the curve")
    given = parser.parse_args()
    start, stop = map(int, given.seeds.split(":"))
    warnings.simplefilter("ignore", TamisWarning)
    results = {}
    for scheme in given.schemes:
        lines = results[scheme] = shares(scheme, range(start, stop), given.resamples)
        print(f"\nscheme {scheme}, seeds {start} to {stop - 1}: mean error {error(lines):.3f}\n")
        print(
            "| share | arrows | mean share | true | true up to direction |\n|---|---|---|---|---|"
        )
        for label, count, said, true, either in binned(lines):
            print(f"| {label} | {count} | {said:.2f} | {true:.2f} | {either:.2f} |", flush=True)
    if given.plot:
        draw_plot(results, given.plot)


if __name__ == "__main__":
    main()
