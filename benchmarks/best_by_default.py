"""How good the default is: `python -m benchmarks.best_by_default [cells|alpha|networks|truth]`.

`cells`: mean SHD of `TAM()` in the cells of the paper's models. `alpha`: the same over levels, on
seeds that only choose. `networks`: the F1 of the skeleton on published networks (from pgmpy's
wheel); `classes`: on the smaller ones, beside GES and the paper's own. `truth`: how often the
learned graph scores at least as well as the true one. Each prints a table; `--seeds A:B`
draws others.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path

import networkx as nx
import numpy as np

import tamis
from tamis.metrics import shd
from tamis.simulate import draw

GRAPHS = {
    "Tree": ("tree", lambda d: {}),
    "ER(d)": ("er", lambda d: {"edges": d}),
    "ER(2d)": ("er", lambda d: {"edges": 2 * d}),
    "SF(1)": ("sf", lambda d: {"m": 1}),
    "SF(2)": ("sf", lambda d: {"m": 2}),
}
SIZES = [(20, 1000), (20, 4000), (50, 4000)]
CELLS = [("MOD", g) for g in ("Tree", "ER(d)", "ER(2d)")] + [("ADD", g) for g in GRAPHS]
PEERS = ("hill-climbing", "tabu", "miic", "pc-g2")
NETWORKS = ("earthquake", "cancer", "survey", "asia", "sachs", "child", "insurance", "alarm")
LEVELS = (0.2, 0.1, 0.05, 0.02, 0.01)

Graph = nx.DiGraph
Learner = Callable[[object], "nx.DiGraph[str]"]


def drawn(model: str, graph: str, d: int, n: int, seed: int) -> tuple[object, nx.DiGraph[str]]:
    """A table and the graph it comes from."""
    kind, options = GRAPHS[graph]
    made = draw(kind, model.lower(), d=d, n=n, seed=seed, p=0.2, **options(d))
    return made.data, made.graph


def by_default(data: object, **parameters: object) -> nx.DiGraph[str]:
    """What `TAM()` finds."""
    return tamis.TAM(n_jobs=1, **parameters).fit(data).graph_


def by_peer(name: str) -> Learner:
    """What another method finds."""

    def learn(data: object) -> nx.DiGraph[str]:
        found = tamis.baselines.run(name, data)
        graph: nx.DiGraph[str] = getattr(found, "graph", found)
        return graph

    return learn


def table(title: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    """One table of Markdown."""
    print("| " + " | ".join(title) + " |\n" + "|---" * len(title) + "|")
    for line in lines:
        print("| " + " | ".join(line) + " |", flush=True)
    print()


def mean(values: Sequence[float], digits: int = 1) -> str:
    """Mean and standard error."""
    spread = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{np.mean(values):.{digits}f} ± {spread:.{digits}f}"


def cells(seeds: range) -> None:
    """The table of the targets."""

    def line(model: str, graph: str) -> list[str]:
        found = [f"{graph} {model}"]
        for d, n in SIZES:
            tables = [drawn(model, graph, d, n, seed) for seed in seeds]
            found.append(mean([shd(by_default(data), true) for data, true in tables]))
        return found

    sizes = [f"d={d}, n={n}" for d, n in SIZES]
    table(["SHD", *sizes], (line(*cell) for cell in CELLS))


def alpha(seeds: range) -> None:
    """The mean SHD over levels."""

    def line(model: str, graph: str, d: int, n: int) -> list[str]:
        tables = [drawn(model, graph, d, n, seed) for seed in seeds]
        return [f"{graph} {model}, d={d}, n={n}"] + [
            mean([shd(by_default(data, alpha=level), true) for data, true in tables])
            for level in LEVELS
        ]

    chosen = [(m, g, d, n) for m, g in CELLS[:5] for d, n in SIZES[:2]]
    table(["SHD", *(f"alpha={level}" for level in LEVELS)], (line(*cell) for cell in chosen))


def network_files() -> dict[str, Path]:
    """The published networks in pgmpy's wheel."""
    folder = Path(str(files("pgmpy"))) / "utils" / "example_models"
    found = {path.name.split(".")[0]: path for path in folder.rglob("*.bif*")}
    return {name: found[name] for name in NETWORKS}


def f1(found: nx.DiGraph[str], true: nx.DiGraph[str]) -> float:
    """Of the skeleton."""
    a, b = ({frozenset(edge) for edge in graph.edges} for graph in (found, true))
    return 2 * len(a & b) / (len(a) + len(b))


def networks(seeds: range) -> None:
    """F1 on published networks, beside that of peers."""
    _networks(seeds, NETWORKS, {p: by_peer(p) for p in PEERS})


def classes(seeds: range) -> None:
    """The same on the smaller ones, beside GES, PC as in the paper, and the authors' program."""
    reference = partial(by_default, search="reference")
    _networks(
        seeds, NETWORKS[:5], {"reference": reference, "pc": by_peer("pc"), "ges": by_peer("ges")}
    )


def _networks(seeds: range, names: Sequence[str], others: dict[str, Learner]) -> None:
    learners: dict[str, Learner] = {"default": by_default, **others}

    def line(name: str, path: Path, n: int) -> list[str]:
        network = tamis.BayesianNetwork.read(path)
        tables = [network.sample(n, seed=seed) for seed in seeds]
        return [f"{name}, n={n}"] + [
            mean([f1(learn(data), network.graph) for data in tables], 3)
            for learn in learners.values()
        ]

    known = network_files()
    lines = (line(name, known[name], n) for name in names for n in (1000, 10_000))
    table(["F1 of the skeleton", *learners], lines)


def truth(seeds: range) -> None:
    """How often the score of the learned graph is at least that of the true one."""
    from tamis.data import read_table
    from tamis.information.counted import CountedInformation
    from tamis.search.auto import score_of

    def beats(model: str, graph: str, d: int, n: int, seed: int) -> bool:
        data, true = drawn(model, graph, d, n, seed)
        read = read_table(data)
        place = {name: k for k, name in enumerate(read.names)}
        information = CountedInformation(read, n_jobs=1)
        scores = [
            score_of(
                information,
                {place[k]: frozenset(place[p] for p in g.predecessors(k)) for k in g},
            )
            for g in (by_default(data, information="counts"), true)
        ]
        return scores[0] >= scores[1] - 1e-6

    def line(graph: str) -> list[str]:
        return [f"{graph} MOD"] + [
            f"{sum(beats('MOD', graph, d, n, seed) for seed in seeds)} of {len(seeds)}"
            for d, n in SIZES
        ]

    sizes = [f"d={d}, n={n}" for d, n in SIZES]
    table(["learned >= true", *sizes], (line(graph) for graph in ("Tree", "ER(d)", "ER(2d)")))


SECTIONS = {
    "cells": (cells, range(900, 910)),
    "alpha": (alpha, range(5000, 5010)),
    "networks": (networks, range(900, 910)),
    "classes": (classes, range(900, 910)),
    "truth": (truth, range(900, 910)),
}


def main() -> None:
    """Run the sections asked for, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[[], *SECTIONS])
    parser.add_argument("--seeds", help="A:B, the first seed and the one after the last")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", tamis.TamisWarning)
    for name in asked.sections or SECTIONS:
        section, seeds = SECTIONS[name]
        if asked.seeds:
            first, stop = map(int, asked.seeds.split(":"))
            seeds = range(first, stop)
        print(f"## {name}, seeds {seeds.start} to {seeds.stop - 1}\n")
        section(seeds)


if __name__ == "__main__":
    main()
