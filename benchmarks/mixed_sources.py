"""The two sources for levels beside measurements against each other, as markdown tables.

python -m benchmarks.mixed_sources [section ...] [--only SOURCE] [--draws N]

Sections: tests, gains, graphs, times; all of them take about half an hour on one core, most of it
for neighbours, which `--only conditional-gaussian` leaves out. `--draws 3` learns the first three
tables of each line of graphs. docs/continuous.md holds the tables and what follows from them.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
from scipy import stats
from scipy.integrate import quad

import tamis
from benchmarks.mixed_models import LAWS, drawn, independent
from tamis.information.catalogue import open_source, source_settings
from tamis.information.interface import Context, Query, Source
from tamis.metrics import shd, skeleton_scores
from tamis.rules import ChiSquared, LocalPermutation
from tamis.tables import read_table

RULES = {"mixed": LocalPermutation(), "conditional-gaussian": ChiSquared()}
FITS = (
    ("mixed", "sequential"),
    ("conditional-gaussian", "sequential"),
    ("conditional-gaussian", "auto"),
)
DRAWS = {
    500: {"mixed": 10, "conditional-gaussian": 10},
    2000: {"mixed": 3, "conditional-gaussian": 10},
}
FIRST_SEED = 1000
"""Of the draws that are reported; those from 0 on served to choose."""
GAUSS = 0.5 * math.log(2 * math.pi * math.e)


def table(title: str, head: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    print(f"\n### {title}\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for line in lines:
        print(f"| {' | '.join(line)} |", flush=True)


def opened(name: str, data: dict[str, object]) -> Source:
    """A source with its own settings, on one thread."""
    return open_source(name, read_table(data, continuous=True), source_settings(name, None), 1)


# Tests where X and Y are independent given S.


def _rate(name: str, draws: int, n: int, asked: tuple[str, int, int], rare: bool = False) -> str:
    """Shares of false dependences at .05 and .01."""
    rng = np.random.default_rng(1005)
    p = []
    for _ in range(draws):
        source = opened(name, independent(*asked, n, rng, rare=rare))
        given = tuple(range(2, source.n_variables))
        p.append(RULES[name].p_values(source.tests([Query(0, given, np.array([1]))]))[0])
    return f"{np.mean(np.array(p) < 0.05):.3f}, {np.mean(np.array(p) < 0.01):.3f}"


CASES = ((0, 0), (1, 0), (2, 0), (3, 0), (0, 1), (0, 2), (1, 1), (2, 1), (1, 2))
SIZES = ((200, False), (200, True), (2000, False), (2000, True))
"""Rows, and whether levels given are rare: as few as one row in twenty."""


def tests(sources: Sequence[str]) -> None:
    labels = {"mm": "measurements", "3m": "3 levels, a measurement", "23": "2 levels, 3 levels"}
    head = ["X, Y", "levels, measurements in S"]
    head += [f"{n} rows{', rare levels' if rare else ''}" for n, rare in SIZES]
    lines = (
        [label, f"{n_levels}, {n_measured}", *_rates(kinds, n_levels, n_measured)]
        for kinds, label in labels.items()
        for n_levels, n_measured in CASES
    )
    title = "False dependences of `conditional-gaussian` at .05 and .01, 200 draws"
    if "conditional-gaussian" in sources:
        table(title, head, lines)
    if "mixed" not in sources:
        return
    cases = ((0, 0), (1, 0), (0, 1), (1, 1), (0, 2))
    lines = (
        [label, f"{n_levels}, {n_measured}", _rate("mixed", 40, 500, (kinds, n_levels, n_measured))]
        for kinds, label in labels.items()
        for n_levels, n_measured in cases
    )
    table("The same of `mixed`, 40 draws", [*head[:2], "500 rows"], lines)


def _rates(kinds: str, n_levels: int, n_measured: int) -> Iterable[str]:
    for n, rare in SIZES:
        asked = kinds, n_levels, n_measured
        no_levels = rare and not n_levels
        yield "" if no_levels else _rate("conditional-gaussian", 200, n, asked, rare=rare)


# Entropies and gains against what is known.


def shift_information(shift: float) -> float:
    """I(B ; X) for a fair coin B and X ~ N(shift B, 1)."""

    def density(x: float) -> float:
        return float((stats.norm.pdf(x) + stats.norm.pdf(x - shift)) / 2)

    return -quad(lambda x: density(x) * math.log(density(x)), -9, 9 + shift, limit=400)[0] - GAUSS


def _shifted(shift: float, n_given: int, rng: np.random.Generator) -> dict[str, object]:
    coin, s = rng.integers(0, 2, 1000), rng.integers(0, 3, (1000, n_given))
    x = shift * coin + s.sum(axis=1) + rng.normal(size=1000)
    data: dict[str, object] = {"b": [f"v{c}" for c in coin], "x": x}
    return data | {f"s{i}": [f"v{c}" for c in column] for i, column in enumerate(s.T)}


def gains(sources: Sequence[str]) -> None:
    lines = []
    for n_given in (0, 1, 2):
        for shift in (0.0, 1.0, 3.0):
            truth = shift_information(shift)
            cells = []
            for name in sources:
                rng = np.random.default_rng(1004)
                errors = []
                for _ in range(40):
                    source = opened(name, _shifted(shift, n_given, rng))
                    s = tuple(range(2, 2 + n_given))
                    wanted = (truth, math.log(2) - truth, GAUSS)
                    found = (
                        source.cmi([Context(0, s)])[0, 1],
                        *source.entropies([Context(0, (1, *s)), Context(1, (0, *s))]),
                    )
                    errors.append(np.subtract(found, wanted))
                cells += [
                    f"{e.mean():+.3f} ({math.sqrt((e**2).mean()):.3f})" for e in np.array(errors).T
                ]
            lines.append([str(n_given), f"{shift:g}", f"{truth:.3f}", *cells])
    head = ["levels given", "shift", "I(B ; X)"]
    head += [
        f"{part}, {name}" for name in sources for part in ("I", "H(B given X)", "H(X given B)")
    ]
    table("Coin B and X ~ N(shift B, 1), 1000 rows, 40 draws: bias (RMSE)", head, lines)


# Whole graphs.


def graphs(sources: Sequence[str], most: int = 10, first_seed: int = FIRST_SEED) -> None:
    fits = [fit for fit in FITS if fit[0] in sources]
    lines = []
    for n, draws in DRAWS.items():
        for kind in ("tree", "er"):
            for law in LAWS:
                cells = [
                    _graph_cell(
                        information,
                        search,
                        [(kind, law, 8, n, first_seed + i) for i in range(some)],
                    )
                    for information, search in fits
                    for some in (min(draws[information], most),)
                ]
                lines.append([str(n), kind, law, *cells])
    head = ["rows", "graph", "law", *(f"`{i}`, {s}" for i, s in fits)]
    table(f"8 nodes: SHD, F1 of links (median time); draws {DRAWS}", head, lines)


def _graph_cell(
    information: str, search: str, draws: Sequence[tuple[str, str, int, int, int]]
) -> str:
    wrong, links, seconds = [], [], []
    for asked in draws:
        data, true = drawn(*asked)
        start = time.perf_counter()
        model = tamis.TAM(search, information=information, n_jobs=1).fit(data)
        seconds.append(time.perf_counter() - start)
        wrong.append(shd(model.graph_, true))
        links.append(skeleton_scores(model.graph_, true).f1 or 0.0)
    return f"{np.mean(wrong):.1f}, {np.mean(links):.2f} ({np.median(seconds):.2f} s)"


def times(sources: Sequence[str]) -> None:
    if "conditional-gaussian" not in sources:
        return
    # What is compiled at the first call is not the source's.
    tamis.TAM(information="conditional-gaussian", n_jobs=1).fit(
        drawn("er", "logistic", 5, 200, 0)[0]
    )
    lines = []
    for d, n in ((8, 500), (8, 5000), (30, 2000), (30, 10000)):
        data, _ = drawn("er", "logistic", d, n, 1000)
        line = [str(d), str(n)]
        for search in ("sequential", "auto"):
            start = time.perf_counter()
            tamis.TAM(search, information="conditional-gaussian", n_jobs=1).fit(data)
            line.append(f"{time.perf_counter() - start:.2f} s")
        lines.append(line)
    table("Time of `conditional-gaussian`", ["columns", "rows", "sequential", "auto"], lines)


SECTIONS = {f.__name__: f for f in (tests, gains, graphs, times)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("sections", nargs="*", metavar="section", help=", ".join(SECTIONS))
    parser.add_argument("--only", choices=RULES, help="leave the other source out")
    parser.add_argument("--draws", type=int, default=10, help="tables of each line of graphs")
    asked = parser.parse_args()
    unknown = [name for name in asked.sections if name not in SECTIONS]
    if unknown:
        parser.error(f"no section {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    sections = SECTIONS | {"graphs": partial(graphs, most=asked.draws)}
    sources = [asked.only] if asked.only else list(RULES)
    for name in asked.sections or SECTIONS:
        sections[name](sources)


if __name__ == "__main__":
    main()
