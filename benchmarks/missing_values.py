"""What missing values cost, by what is done about them, as markdown tables.

python -m benchmarks.missing_values [section ...]

Sections: graphs (distance to the true DAG), edges (missing and false edges of the same), times, and
numbers (distance of classes of Gaussian DAGs, and edges beside categories); about fifteen minutes
on one core. docs/missing-and-weights.md holds the tables.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

import tamis
from tamis.metrics import shd, to_cpdag
from tamis.result import Result
from tamis.simulate import Simulated, draw

FIRST_SEED = 5000
"""Of the draws that are reported; those from 0 on served to choose."""
DRAWS = 20
KINDS = (("tree", "mod", 10), ("er", "tables", 10), ("er", "tables", 20))
SIZES = (1000, 5000)
LAWS = ("at random, 5 %", "at random, 20 %", "by another column, 20 %", "by itself, 20 %")
CHOICES = ("complete", "drop-anyway", "level", "pairwise")
NUMBER_CHOICES = ("complete", "drop-anyway", "pairwise")

Cells = dict[str, list[object]]


def table(title: str, head: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    print(f"\n### {title}\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for line in lines:
        print(f"| {' | '.join(line)} |", flush=True)


@cache
def drawn(graph: str, model: str, d: int, n: int, seed: int) -> Simulated:
    options = {"edges": d} if graph == "er" else {}
    return draw(graph, model, n=n, seed=seed, d=d, **options)


def absent(
    codes: NDArray[np.int64], k: int, law: str, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Which values of column k are missing."""
    share = 0.05 if "5" in law else 0.2
    chance = np.full(codes.shape[1], share)
    if law.startswith("by"):
        # Twice the share where the deciding column has one of its larger levels, none elsewhere.
        deciding = codes[k if "itself" in law else 0]
        high = deciding > np.median(deciding) - (np.median(deciding) == deciding.max())
        chance = np.where(high, min(share / max(high.mean(), 0.25), 0.9), 0.0)
    if law.startswith("by another") and k == 0:
        chance[:] = 0.0
    return rng.random(codes.shape[1]) < chance


def with_gaps(truth: Simulated, law: str, seed: int) -> Cells:
    """The columns as text, empty of what is missing."""
    rng = np.random.default_rng([seed, 77, LAWS.index(law)])
    codes = np.array([np.unique(values, return_inverse=True)[1] for values in truth.data.values()])
    found: Cells = {}
    for k, (name, values) in enumerate(truth.data.items()):
        gone = absent(codes, k, law, rng)
        found[name] = [None if g else f"v{v}" for g, v in zip(gone, values, strict=True)]
    return found


def learned(data: Cells, choice: str) -> Result | None:
    """None where too few rows are left to learn anything from."""
    missing = "error" if choice == "complete" else choice
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tamis.TamisWarning)
        try:
            return tamis.TAM(missing=missing, n_jobs=1).fit(data).result_
        except tamis.DataError:
            return None


def results(
    kind: tuple[str, str, int], n: int, law: str, choice: str
) -> list[tuple[Simulated, Result | None]]:
    found = []
    for seed in range(FIRST_SEED, FIRST_SEED + DRAWS):
        truth = drawn(*kind, n, seed)
        whole = {name: [f"v{v}" for v in values] for name, values in truth.data.items()}
        data = whole if choice == "complete" else with_gaps(truth, law, seed)
        found.append((truth, learned(data, choice)))
    return found


def distance(truth: Simulated, result: Result | None) -> int:
    """An empty graph is learned from nothing."""
    if result is None:
        return truth.graph.number_of_edges()
    return shd(result.graph, truth.graph)


def _cell(found: Sequence[tuple[Simulated, Result | None]]) -> str:
    distances = [distance(*one) for one in found]
    gone = sum(result is None for _, result in found)
    return f"{np.mean(distances):.1f}" + (f" ({gone} without rows)" if gone else "")


@cache
def _known(
    kind: tuple[str, str, int], n: int, law: str, choice: str
) -> list[tuple[Simulated, Result | None]]:
    return results(kind, n, LAWS[0] if choice == "complete" else law, choice)


def graphs() -> None:
    lines = []
    for kind in KINDS:
        for n in SIZES:
            for law in LAWS:
                cells = [
                    _cell(_known(kind, n, LAWS[0] if c == "complete" else law, c)) for c in CHOICES
                ]
                lines.append([f"{kind[1]}, {kind[0]}, {kind[2]} columns", str(n), law, *cells])
    table(
        f"Distance to the true DAG, mean of {DRAWS}", ("model", "rows", "missing", *CHOICES), lines
    )


def edges() -> None:
    """Pairs that depend and were not found, and pairs that were found and do not."""
    lines = []
    for law in LAWS:
        cells = []
        for choice in CHOICES:
            lost, false = [], []
            for truth, result in _known(
                KINDS[1], 5000, LAWS[0] if choice == "complete" else law, choice
            ):
                true = {frozenset(edge) for edge in truth.graph.edges}
                found = (
                    set()
                    if result is None
                    else {frozenset((e.parent, e.child)) for e in result.edges}
                )
                lost.append(len(true - found))
                false.append(len(found - true))
            cells.append(f"{np.mean(lost):.1f} / {np.mean(false):.1f}")
        lines.append([law, *cells])
    table("Edges lost / false, tables on er, 10 columns, 5000 rows", ("missing", *CHOICES), lines)


def times() -> None:
    lines = []
    for d, n in ((10, 5000), (20, 5000), (20, 50000)):
        truth = drawn("er", "tables", d, n, FIRST_SEED)
        data = with_gaps(truth, LAWS[1], FIRST_SEED)
        cells = []
        for choice in CHOICES[1:]:
            learned(data, choice)
            begun = time.perf_counter()
            learned(data, choice)
            cells.append(f"{time.perf_counter() - begun:.2f}")
        lines.append([str(d), str(n), *cells])
    table("Seconds to read and learn, 20 % at random", ("columns", "rows", *CHOICES[1:]), lines)


def numbers() -> None:
    """Gaussian DAGs in units of their own; then with every third column cut into three levels."""
    for mixed in (False, True):
        lines = []
        for n in (500, 2000):
            for law in ("at random, 10 %", *LAWS[1:]):
                found: dict[str, list[int]] = {choice: [] for choice in NUMBER_CHOICES}
                for seed in range(FIRST_SEED, FIRST_SEED + (DRAWS // 2 if mixed else DRAWS)):
                    truth = draw("er", "gaussian", n=n, seed=seed, d=10, edges=10 if mixed else 15)
                    for choice in NUMBER_CHOICES:
                        data = numbers_with_gaps(truth, law, seed, choice, mixed=mixed)
                        found[choice].append(number_distance(truth, learned(data, choice), mixed))
                cells = [f"{np.mean(found[choice]):.1f}" for choice in NUMBER_CHOICES]
                lines.append([str(n), law, *cells])
        what = "Edges lost or false, numbers and levels" if mixed else "Distance of CPDAGs, numbers"
        table(what, ("rows", "missing", *NUMBER_CHOICES), lines)


def numbers_with_gaps(truth: Simulated, law: str, seed: int, choice: str, *, mixed: bool) -> Cells:
    rng = np.random.default_rng([seed, 78])
    values = np.array(list(truth.data.values()))
    values = (values.T - values.mean(axis=1)) / values.std(axis=1) * rng.uniform(0.5, 3, 10)
    share = 0.1 if "10" in law else 0.2
    found: Cells = {}
    for k, name in enumerate(truth.data):
        deciding = values[:, k if "itself" in law else 0]
        high = deciding > np.median(deciding)
        chance = np.where(high, 2 * share, 0.0) if law.startswith("by") else share
        gone = rng.random(len(values)) < chance
        gone &= not (law.startswith("by another") and k == 0) and choice != "complete"
        cells: list[object] = values[:, k].tolist()
        if mixed and k % 3 == 1:
            scaled = values[:, k] / values[:, k].std()
            cells = [f"v{level}" for level in np.digitize(scaled, [-0.5, 0.5])]
        found[name] = [None if g else v for g, v in zip(gone, cells, strict=True)]
    return found


def number_distance(truth: Simulated, result: Result | None, mixed: bool) -> int:
    if result is None:
        return truth.graph.number_of_edges()
    if not mixed:
        return shd(to_cpdag(result.graph), to_cpdag(truth.graph))
    pairs = {frozenset((e.parent, e.child)) for e in result.edges}
    return len(pairs ^ {frozenset(edge) for edge in truth.graph.edges})


SECTIONS = {"graphs": graphs, "edges": edges, "times": times, "numbers": numbers}

if __name__ == "__main__":
    for section in sys.argv[1:] or SECTIONS:
        SECTIONS[section]()
