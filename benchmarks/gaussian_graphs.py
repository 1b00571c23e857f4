"""Linear Gaussian graphs: `python -m benchmarks.gaussian_graphs [graphs|levels|wide]`.

`graphs`: mean SHD where all errors have one variance, beside the equal-variance method, PC and
GES. `levels`: the same over levels of the tests, on seeds that only choose. `wide`: the time for
many columns. Each prints a table of Markdown; `--seeds A:B` draws other tables.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence

import networkx as nx
import numpy as np
from numpy.typing import NDArray

import tamis
from benchmarks.best_by_default import mean, table
from tamis.baselines.interface import Adjacency
from tamis.baselines.linear import _order, _parents
from tamis.metrics import shd
from tamis.simulate import draw

Floats = NDArray[np.float64]
Data = dict[str, Floats]
Learner = Callable[[Data], "nx.DiGraph[str]"]

CELLS = [
    ("er", 5, 5, 1000),
    ("er", 10, 10, 1000),
    ("er", 10, 20, 1000),
    ("er", 20, 20, 1000),
    ("er", 20, 40, 200),
    ("er", 20, 40, 1000),
    ("er", 50, 100, 1000),
    ("er", 50, 100, 5000),
]
"""Graph, nodes, expected edges, rows."""
LEVELS = (0.2, 0.05, 0.02, 0.01, 0.001, 0.0001)
PEERS = ("pc-fisher-z", "ges-gaussian")
LARGEST_PEERS = 20
"""GES and the regressions on rows take minutes a graph beyond."""


def by_tam(search: str, **parameters: object) -> Learner:
    """What one of the searches finds by moments."""
    model = tamis.TAM(search, information="gaussian", n_jobs=1, **parameters)
    return lambda data: model.fit(data).graph_


def _over_names(data: Data, adjacency: Adjacency) -> nx.DiGraph[str]:
    names = list(data)
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from((names[i], names[j]) for i, j in np.argwhere(adjacency).tolist())
    return graph


def by_equal_variance(data: Data) -> nx.DiGraph[str]:
    """The baseline of tamis: least conditional variance first, then squared t-values."""
    covariance = np.cov(np.array(list(data.values())), bias=True)
    n, d = len(next(iter(data.values()))), len(data)
    found = _parents(covariance, _order(covariance), n, np.log(n) + 2 * np.log(d))
    return _over_names(data, found)


def by_least_squares(data: Data) -> nx.DiGraph[str]:
    """The same method written anew, by regressions on the rows and the plain BIC: regressors
    leave one by one, the weakest first, and the best of the sets on the way is kept."""
    columns = np.array(list(data.values()))
    columns = columns - columns.mean(axis=1, keepdims=True)
    d, n = columns.shape
    order: list[int] = []
    adjacency = np.zeros((d, d), dtype=np.int8)
    while len(order) < d:
        left = {k: _unexplained(columns, k, order) for k in range(d) if k not in order}
        first = min(left, key=left.__getitem__)
        adjacency[_thinned(columns, first, order, n), first] = 1
        order.append(first)
    return _over_names(data, adjacency)


def _unexplained(columns: Floats, k: int, given: Sequence[int]) -> float:
    design = columns[list(given)].T
    coefficients = np.linalg.lstsq(design, columns[k], rcond=None)[0]
    return float(np.mean((columns[k] - design @ coefficients) ** 2))


def _thinned(columns: Floats, k: int, before: Sequence[int], n: int) -> list[int]:
    members = list(before)
    sets = [list(members)]
    while members:
        without = {
            m: _unexplained(columns, k, [other for other in members if other != m]) for m in members
        }
        members.remove(min(without, key=without.__getitem__))
        sets.append(list(members))

    def bic(one: list[int]) -> float:
        return n * np.log(_unexplained(columns, k, one)) + np.log(n) * len(one)

    return min(sets, key=bic)


def by_peer(name: str) -> Learner:
    """PC or GES of causal-learn, with its CPDAG."""
    return lambda data: tamis.baselines.run(name, data).graph


def distances(learn: Learner, drawn: Sequence[tuple[Data, nx.DiGraph[str]]]) -> str:
    """Mean SHD with its standard error."""
    return mean([shd(learn(data), true) for data, true in drawn], 2)


def tables(cell: tuple[str, int, int, int], seeds: range) -> list[tuple[Data, nx.DiGraph[str]]]:
    """The draws of one cell."""
    graph, d, edges, n = cell
    made = [draw(graph, "gaussian", d=d, n=n, edges=edges, seed=s, variances=1.0) for s in seeds]
    return [(one.data, one.graph) for one in made]


def graphs(seeds: range) -> None:
    """Mean SHD beside other methods."""
    own = {
        "auto": by_tam("auto"),
        "sequential": by_tam("sequential"),
        'sequential, `boundary="none"`': by_tam("sequential", boundary="none"),
        "equal variance": by_equal_variance,
    }
    peers = {"equal variance, plain BIC": by_least_squares} | {p: by_peer(p) for p in PEERS}

    def line(cell: tuple[str, int, int, int]) -> list[str]:
        _, d, edges, n = cell
        drawn = tables(cell, seeds)
        found = [distances(learn, drawn) for learn in own.values()]
        small = d <= LARGEST_PEERS
        found += [distances(learn, drawn) if small else "" for learn in peers.values()]
        return [f"d={d}, {edges} edges, n={n}", *found]

    table(["SHD", *own, *peers], map(line, CELLS))


def levels(seeds: range) -> None:
    """Mean SHD over levels of the tests."""

    def line(cell: tuple[str, int, int, int], search: str) -> list[str]:
        _, d, edges, n = cell
        drawn = tables(cell, seeds)
        found = [distances(by_tam(search, alpha=level), drawn) for level in LEVELS]
        return [f"{search}, d={d}, {edges} edges, n={n}", *found]

    lines = (line(cell, search) for cell in CELLS[4:7] for search in ("auto", "sequential"))
    table(["SHD", *(f"alpha={level}" for level in LEVELS)], lines)


def wide(seeds: range) -> None:
    """Seconds of one processor for graphs with twice as many edges as nodes, and the SHD."""

    def line(d: int, n: int) -> list[str]:
        made = draw("er", "gaussian", d=d, n=n, edges=2 * d, seed=seeds[0], variances=1.0)
        found = []
        for search in ("sequential", "auto"):
            start = time.process_time()
            learned = by_tam(search)(made.data)
            seconds = time.process_time() - start
            found.append(f"{seconds:.1f} s, SHD {shd(learned, made.graph)}")
        return [f"d={d}, n={n}", *found]

    by_tam("auto")(draw("tree", "gaussian", d=5, n=100, seed=0).data)  # loads the compiled loops
    sizes = [(100, 10_000), (300, 10_000), (1000, 10_000)]
    table(["size", "sequential", "auto"], (line(*size) for size in sizes))


SECTIONS = {
    "graphs": (graphs, range(900, 920)),
    "levels": (levels, range(5000, 5020)),
    "wide": (wide, range(900, 901)),
}


def main() -> None:
    """Print the tables asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", default=list(SECTIONS))
    parser.add_argument("--seeds", default=None, help="A:B, from A to before B")
    asked = parser.parse_args()
    for name in asked.sections:
        section, seeds = SECTIONS[name]
        section(range(*map(int, asked.seeds.split(":"))) if asked.seeds else seeds)


if __name__ == "__main__":
    main()
