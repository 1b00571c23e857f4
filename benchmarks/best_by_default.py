"""How good the default is: `python -m benchmarks.best_by_default [section ...]`.

`cells`: mean SHD of `TAM()` in the cells of the paper's models, beside its own searches. `labels`:
the same for ADD as labels. `alpha`: over levels, on seeds that only choose. `gaussian`: CPDAG
distance beside FLOP. `units`: whether the class stays when columns are rescaled. `unfaithful`: the
paper's app. C.7. `truth`: how often the learned class scores at least as well as the true one.
`directions`: stated against right, with a picture for docs/directions.md. `--seeds A:B` draws
others. Published networks and other families, beside peers, are `tamis experiment networks` and
`tamis experiment families`.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Sequence
from itertools import pairwise
from time import process_time

import networkx as nx
import numpy as np
import pandas as pd

import tamis
from benchmarks.families import FAMILIES, NOISE, gaussian, labels
from tamis.baselines.running import BASELINES, attempt
from tamis.metrics import shd
from tamis.simulate import draw
from tamis.studies.attempts import cpdag_distance, network_files
from tamis.tables import read_table

GRAPHS = {
    "Tree": ("tree", lambda d: {}),
    "ER(d)": ("er", lambda d: {"edges": d}),
    "ER(2d)": ("er", lambda d: {"edges": 2 * d}),
    "SF(1)": ("sf", lambda d: {"m": 1}),
    "SF(2)": ("sf", lambda d: {"m": 2}),
}
SIZES = [(20, 1000), (20, 4000), (50, 4000)]
CELLS = [("MOD", g) for g in ("Tree", "ER(d)", "ER(2d)")] + [("ADD", g) for g in GRAPHS]
NETWORKS = ("asia", "sachs", "child", "insurance", "alarm", "hepar2", "win95pts", "hailfinder")
SEARCHES = ("node", "sieve", "sequential")
LEVELS = (0.2, 0.1, 0.05, 0.02, 0.01)


def drawn(model: str, graph: str, d: int, n: int, seed: int) -> tuple[object, nx.DiGraph[str]]:
    """A table and the graph it comes from."""
    kind, options = GRAPHS[graph]
    made = draw(kind, model.lower(), d=d, n=n, seed=seed, p=0.2, **options(d))
    return made.data, made.graph


def by_default(data: object, **parameters: object) -> nx.DiGraph[str]:
    """What `TAM()` finds."""
    return tamis.TAM(n_jobs=1, **parameters).fit(data).graph_


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
    """The table of the targets, beside the searches that the default starts from."""

    def line(model: str, graph: str, d: int, n: int) -> list[str]:
        tables = [drawn(model, graph, d, n, seed) for seed in seeds]
        return [f"{graph} {model}, d={d}, n={n}", *_beside_searches(tables)]

    rows = (line(*cell, *size) for cell in CELLS for size in SIZES)
    table(["SHD", "default", *SEARCHES], rows)


def as_labels(seeds: range) -> None:
    """ADD with columns as labels, whose sums have many cells that cannot occur."""

    def line(graph: str, d: int, n: int) -> list[str]:
        tables = []
        for seed in seeds:
            data, true = drawn("ADD", graph, d, n, seed)
            tables.append((pd.DataFrame(data).astype(str), true))
        return [f"{graph} ADD as labels, d={d}, n={n}", *_beside_searches(tables)]

    sizes = [("ER(d)", 10, 2000), ("ER(d)", 20, 2000), ("ER(d)", 30, 2000), ("SF(2)", 20, 4000)]
    table(["SHD", "default", *SEARCHES], (line(*size) for size in sizes))


def _beside_searches(tables: Sequence[tuple[object, nx.DiGraph[str]]]) -> list[str]:
    return [
        mean([shd(by_default(data, search=search), true) for data, true in tables])
        for search in ("auto", *SEARCHES)
    ]


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


def beside_flop(seeds: range) -> None:
    """Linear Gaussian tables, beside FLOP with 20 restarts."""

    def line(kind: str, d: int, edges: int, n: int) -> list[str]:
        tables = [gaussian(kind, seed, d, edges, n) for seed in seeds]
        began = process_time()
        own = mean([cpdag_distance(by_default(data), true) for data, true in tables], 2)
        seconds = (process_time() - began) / len(tables)
        read = [read_table(data, continuous=True) for data, _ in tables]
        flop = [attempt(BASELINES["flop"], one, 0) for one in read]
        graphs = [one.learned.graph(its.names) for one, its in zip(flop, read, strict=True)]
        pairs = zip(graphs, tables, strict=True)
        peer = mean([cpdag_distance(graph, true) for graph, (_, true) in pairs], 2)
        theirs = sum(one.cpu_seconds for one in flop) / len(flop)
        cells = [own, peer, f"{seconds:.3f}", f"{theirs:.3f}"]
        return [f"{kind}, d={d}, {edges} edges, n={n}", *cells]

    sizes = [(10, 10, 500), (10, 20, 2000), (20, 20, 1000), (20, 40, 2000), (50, 50, 1000),
             (50, 100, 2000)]  # fmt: skip
    rows = (line(kind, *size) for kind in NOISE[1:3] for size in sizes)
    table(["CPDAG distance", "default", "FLOP", "default, CPU s", "FLOP, CPU s"], rows)


def units(seeds: range) -> None:
    """Whether the learned class stays when columns are rescaled and shifted, and what is claimed
    then."""

    def line(kind: str, d: int, n: int) -> list[str]:
        same, claimed, reversible = 0, 0, 0
        for seed in seeds:
            frame, _ = gaussian(kind, seed, d, 1.5 * d, n)
            rng = np.random.default_rng([9, seed])
            other = frame * 10 ** rng.uniform(-3, 3, d) + rng.normal(size=d)
            first, second = (tamis.TAM(n_jobs=1).fit(one) for one in (frame, other))
            same += set(first.cpdag_.edges) == set(second.cpdag_.edges)
            for edge in second.result_.edges:
                if second.cpdag_.has_edge(edge.child, edge.parent):
                    reversible += 1
                    claimed += edge.direction_probability > 0.9
        return [f"{kind}, d={d}, n={n}", f"{same} of {len(seeds)}", f"{claimed} of {reversible}"]

    rows = (line(kind, d, 1000) for kind in NOISE[:2] for d in (6, 12))
    table(["", "same class", "reversible arrows claimed above 0.9 after rescaling"], rows)


def unfaithful(seeds: range) -> None:
    """The example of app. C.7, where two classes fit alike."""

    def line(n: int) -> list[str]:
        tables = [draw(model="unfaithful", n=n, seed=seed) for seed in seeds]
        ways = ({}, {"units": "same"}, {"search": "node"})
        return [f"n={n}"] + [
            mean([shd(by_default(one.data, **way), one.graph) for one in tables], 2) for way in ways
        ]

    table(["SHD", "default", "units='same'", "node"], (line(n) for n in (1000, 2000, 5000)))


def truth(seeds: range) -> None:
    """How often the score of the learned class is at least that of the true one."""
    from tamis.information.counted import CountedInformation
    from tamis.search.auto import score_of
    from tamis.tables import read_table

    def beats(data: object, true: nx.DiGraph[str]) -> bool:
        read = read_table(data)
        place = {name: k for k, name in enumerate(read.names)}
        information = CountedInformation(read, n_jobs=1)
        scores = [
            score_of(
                information, {place[k]: frozenset(place[p] for p in g.predecessors(k)) for k in g}
            )
            for g in (by_default(data, information="counts"), true)
        ]
        return scores[0] >= scores[1] - 1e-6

    def share(tables: Sequence[tuple[object, nx.DiGraph[str]]]) -> str:
        return f"{sum(beats(*one) for one in tables)} of {len(tables)}"

    rows = [
        [f"{graph} MOD, d={d}, n={n}", share([drawn("MOD", graph, d, n, s) for s in seeds])]
        for graph in ("Tree", "ER(d)", "ER(2d)")
        for d, n in SIZES
    ]
    rows += [
        [f"{family}, d=20, n={n}", share([labels(family, s, 20, n) for s in seeds])]
        for family in FAMILIES
        for n in (500, 2000)
    ]
    for name in NETWORKS:
        network = tamis.BayesianNetwork.read(network_files()[name])
        for n in (1000, 5000):
            tables = [(network.sample(n, seed=s), network.graph) for s in seeds]
            rows.append([f"{name}, n={n}", share(tables)])
    table(["", "learned class scores at least as well"], rows)


Stated = tuple[str, float, bool]
"""The warrant of an arrow of the true skeleton, its probability, and whether it is right."""


def stated(data: object, true: nx.DiGraph[str]) -> list[Stated]:
    """What the default says of the directions of edges that are there. An open direction says one
    of the two, the likelier."""
    found = []
    for edge in tamis.TAM(n_jobs=1).fit(data).result_.edges:
        right = true.has_edge(edge.parent, edge.child)
        if right or true.has_edge(edge.child, edge.parent):
            p = edge.direction_probability
            found.append((edge.warrant, max(p, 1 - p), right if p >= 0.5 else not right))
    return found


def directions(seeds: range) -> None:
    """Stated against right, by family and by probability."""
    everything: dict[str, list[Stated]] = {}
    for family in FAMILIES:
        for n in (500, 3000):
            tables = [labels(family, seed, 14, n) for seed in seeds]
            everything[f"{family}, n={n}"] = [o for t in tables for o in stated(*t)]
    for kind in NOISE:
        tables = [gaussian(kind, seed, 10, 10, 1000) for seed in seeds]
        everything[f"Gaussian, {kind}, n=1000"] = [o for t in tables for o in stated(*t)]
    for name in NETWORKS:
        network = tamis.BayesianNetwork.read(network_files()[name])
        for n in (1000, 5000):
            tables = [(network.sample(n, seed=s), network.graph) for s in seeds[:4]]
            everything[f"{name}, n={n}"] = [o for t in tables for o in stated(*t)]
    lines = []
    for title, found in everything.items():
        chance = [p for _, p, _ in found]
        right = [r for _, _, r in found]
        by = [_right([r for w, _, r in found if w == kind]) for kind in ("equivalence", "entropy")]
        lines.append([title, f"{np.mean(chance):.2f}", f"{np.mean(right):.2f}", *by])
    table(["", "stated", "right", "`equivalence` right", "`entropy` right"], lines)
    _picture([one for found in everything.values() for one in found])


def _right(verdicts: Sequence[bool]) -> str:
    return f"{sum(verdicts)} of {len(verdicts)}" if verdicts else "–"


def _picture(found: Sequence[Stated]) -> None:
    """The calibration plot of docs/directions.md."""
    from matplotlib.figure import Figure

    edges = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0001]
    figure = Figure(figsize=(5.2, 4.4), layout="constrained")
    axes = figure.add_subplot()
    axes.plot([0.5, 1], [0.5, 1], color="0.6", linewidth=1, label="calibrated")
    for label, kinds, marker in (
        ("equivalent graphs disagree", ("entropy", "none"), "o"),
        ("all equivalent graphs agree", ("equivalence",), "s"),
    ):
        points = []
        for low, high in pairwise(edges):
            own = [(p, r) for w, p, r in found if w in kinds and low <= p < high]
            if len(own) >= 20:
                points.append(np.mean(own, axis=0))
        axes.plot(*np.transpose(points), marker=marker, linewidth=1, label=label)
    axes.set(xlabel="stated probability of the direction", ylabel="share that is right")
    axes.legend(frameon=False)
    figure.savefig("docs/images/directions.png", dpi=110)


SECTIONS = {
    "cells": (cells, range(900, 910)),
    "labels": (as_labels, range(900, 910)),
    "alpha": (alpha, range(5000, 5010)),
    "gaussian": (beside_flop, range(900, 916)),
    "units": (units, range(900, 930)),
    "unfaithful": (unfaithful, range(900, 1000)),
    "truth": (truth, range(900, 905)),
    "directions": (directions, range(900, 912)),
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
        print(f"## {name}, seeds {seeds.start} to {seeds.stop - 1}\n", flush=True)
        section(seeds)


if __name__ == "__main__":
    main()
