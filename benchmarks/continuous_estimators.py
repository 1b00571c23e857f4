"""Estimates from measured columns against what is known, as markdown tables.

python -m benchmarks.continuous_estimators [section ...]

Sections: columns, conditional, gains, mixed, tests, times, graphs; all of them take about ten
minutes on one core. docs/continuous.md holds the tables and what follows from them.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.integrate import quad
from scipy.spatial import cKDTree
from scipy.special import digamma

from tamis.decisions.p_values import FTest, LocalPermutation, PValue
from tamis.information.continuous import column_entropy, normal_scores
from tamis.information.gaussian import GaussianInformation
from tamis.information.interface import Context, Query, Source
from tamis.information.neighbour_space import Space
from tamis.information.neighbours import MixedInformation, NeighbourInformation
from tamis.information.ranked import CopulaInformation
from tamis.learning import search
from tamis.metrics import shd
from tamis.settings import Settings
from tamis.simulate import Simulated, draw
from tamis.tables import read_table

Floats = NDArray[np.float64]
GAUSS = 0.5 * math.log(2 * math.pi * math.e)


def table(title: str, head: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    print(f"\n### {title}\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for line in lines:
        print(f"| {' | '.join(line)} |", flush=True)


def bias_and_rmse(errors: Sequence[float]) -> str:
    return f"{np.mean(errors):+.3f} ({np.sqrt(np.mean(np.square(errors))):.3f})"


# One column.


def spacings(values: Floats, m: int) -> float:
    """Ebrahimi, Pflughoeft and Soofi (1994), after Vasicek (1976)."""
    n, x, i = len(values), np.sort(values), np.arange(len(values))
    edge = np.minimum(np.minimum(i, n - 1 - i) / m, 1.0) + 1.0
    gap = x[np.minimum(i + m, n - 1)] - x[np.maximum(i - m, 0)]
    return float(np.mean(np.log(n * gap / (edge * m))))


def two_humps(n: int, rng: np.random.Generator) -> Floats:
    return rng.choice([-1.0, 1.0], n) + 0.2 * rng.normal(size=n)


def entropy_of(density: Callable[[float], float], low: float, high: float) -> float:
    def term(x: float) -> float:
        p = density(x)
        return -p * math.log(p) if p > 0 else 0.0

    return float(quad(term, low, high, limit=500, points=[-1, 0, 1])[0])


def humps_density(x: float) -> float:
    return float((stats.norm.pdf(x, -1, 0.2) + stats.norm.pdf(x, 1, 0.2)) / 2)


LAWS: dict[str, tuple[Callable[[int, np.random.Generator], Floats], float]] = {
    "normal": (lambda n, rng: rng.normal(size=n), GAUSS),
    "uniform": (lambda n, rng: rng.uniform(size=n), 0.0),
    "exponential": (lambda n, rng: rng.exponential(size=n), 1.0),
    "two humps": (two_humps, entropy_of(humps_density, -3, 3)),
    "Student, 3 df": (lambda n, rng: rng.standard_t(3, n), float(stats.t(3).entropy())),
}


def columns() -> None:
    estimators: dict[str, Callable[[Floats], float]] = {
        "neighbours, sqrt(n)/3": column_entropy,
        "k = 3": lambda x: column_entropy(x, 3),
        "k = 30": lambda x: column_entropy(x, 30),
        "spacings, m = 10": lambda x: spacings(x, 10),
        "spacings, m = sqrt(n)": lambda x: spacings(x, round(math.sqrt(len(x)))),
    }
    for n in (200, 1000):
        rng = np.random.default_rng(1)
        lines = []
        for law, (sample, truth) in LAWS.items():
            samples = [sample(n, rng) for _ in range(200)]
            found = [bias_and_rmse([f(x) - truth for x in samples]) for f in estimators.values()]
            lines.append([law, f"{truth:.3f}", *found])
        table(f"H(X), {n} rows, 200 draws: bias (RMSE)", ["law", "truth", *estimators], lines)


# What S leaves of X.


def joint_entropy(points: Floats, k: int) -> float:
    """Kozachenko and Leonenko in several dimensions, maximum norm; points are rows."""
    radius = cKDTree(points).query(points, k + 1, p=np.inf)[0][:, -1]
    n, d = points.shape
    return float(digamma(n) - digamma(k) + d * np.log(2 * radius).mean())


def effect(shape: str, s: Floats) -> Floats:
    """What the columns of S do to a node, summed."""
    curves = {
        "none": lambda x: 0 * x,
        "linear": lambda x: x / math.sqrt(s.shape[1]),
        "sine": lambda x: 1.2 * np.sin(2 * x),
    }
    return np.asarray(curves[shape](s).sum(axis=1))


def conditional() -> None:
    lines = []
    for shape in ("linear", "sine"):
        for size in (1, 2, 3):
            rng = np.random.default_rng(2)
            errors: dict[str, list[float]] = {}
            for _ in range(40):
                s = rng.normal(size=(1000, size))
                x = effect(shape, s) + rng.normal(size=1000)
                for label, found in conditional_estimates(x, s):
                    errors.setdefault(label, []).append(found - GAUSS)
            lines.append([shape, str(size), *(bias_and_rmse(e) for e in errors.values())])
    table("H(X | S), 1000 rows, 40 draws: bias (RMSE)", ["effect", "size of S", *errors], lines)


def conditional_estimates(x: Floats, s: Floats) -> Iterable[tuple[str, float]]:
    space = Space("xabc", np.array([normal_scores(c) for c in (x, *s.T)]), [False] * (1 + len(s.T)))
    own, given = column_entropy(x), tuple(range(1, 1 + s.shape[1]))
    as_is = np.arange(len(x))[None]
    for k in (5, 10, 20):
        yield (
            f"H(X,S) - H(S), k = {k}",
            joint_entropy(np.column_stack([x, s]), k) - joint_entropy(s, k),
        )
    for k in (5, 10, 20):
        yield f"H(X) - I(X;S), k = {k}", own - space.shuffled_gains(0, (), given, as_is, k)[0]
    for k in (5, 10, 20):
        told = sum(space.gains(0, given[:i], [v], k)[0] for i, v in enumerate(given))
        yield f"one member after the other, k = {k}", own - told


# Gains.

SOURCES: dict[str, Callable[[Floats], Source]] = {
    "gaussian": lambda rows: GaussianInformation.from_table(read_table(rows, continuous=True)),
    "copula": lambda rows: CopulaInformation.from_table(read_table(rows, continuous=True)),
    "neighbours": lambda rows: NeighbourInformation.from_table(
        read_table(rows, continuous=True), n_jobs=1
    ),
}


def square_information() -> float:
    """I(X ; Y) for Y = X^2 + N(0, 1), X ~ N(0, 1), by integration."""

    def density(y: float) -> float:
        def joint(x: float) -> float:
            return float(stats.norm.pdf(x) * stats.norm.pdf(y - x * x))

        return float(2 * quad(joint, 0, 8, limit=200)[0])

    grid = np.linspace(-6, 40, 2301)
    p = np.array([density(y) for y in grid])
    return float(np.trapezoid(np.where(p > 0, -p * np.log(np.maximum(p, 1e-300)), 0), grid)) - GAUSS


def pair(shape: str, size: int, n: int, rng: np.random.Generator) -> Floats:
    """X, Y and S: Y depends on X in this shape, and both on S, linearly."""
    s = rng.normal(size=(n, size))
    common = s.sum(axis=1) / math.sqrt(max(size, 1))
    x = rng.normal(size=n)
    of_x = {"none": 0 * x, "weak": 0.3 * x, "strong": 2 * x, "exponentiated": x, "square": x**2}[
        shape
    ]
    y = of_x + rng.normal(size=n)
    if shape != "square":
        x, y = x + common, y + common
    else:
        y = y + common
    return np.column_stack([x, np.exp(y) if shape == "exponentiated" else y, s])


def gains() -> None:
    truths = {"none": 0.0, "weak": 0.5 * math.log(1.09), "strong": 0.5 * math.log(5)}
    truths |= {"exponentiated": 0.5 * math.log(2), "square": square_information()}
    lines = []
    for shape, truth in truths.items():
        for size in (0, 1, 2, 3):
            rng = np.random.default_rng(3)
            draws = [pair(shape, size, 1000, rng) for _ in range(40)]
            given = tuple(range(2, 2 + size))
            found = [
                bias_and_rmse([f(rows).cmi([Context(0, given)])[0, 1] - truth for rows in draws])
                for f in SOURCES.values()
            ]
            name = "linear, exponentiated" if shape == "exponentiated" else shape
            lines.append([name, str(size), f"{truth:.3f}", *found])
    head = ["Y on X", "size of S", "truth", *SOURCES]
    table("I(X ; Y | S), 1000 rows, 40 draws: bias (RMSE)", head, lines)


def shift_information(shift: float) -> float:
    """I(B ; X) for a fair coin B and X ~ N(shift B, 1)."""
    both = entropy_of(
        lambda x: float((stats.norm.pdf(x) + stats.norm.pdf(x - shift)) / 2), -9, 9 + shift
    )
    return both - GAUSS


def mixed() -> None:
    lines = []
    for levels_given in (0, 1, 2):
        for shift in (0.0, 1.0, 3.0):
            cells = []
            for k in (3, 7, 20):
                rng, errors = np.random.default_rng(4), []
                for _ in range(40):
                    coin, s = rng.integers(0, 2, 1000), rng.integers(0, 3, (1000, levels_given))
                    x = shift * coin + s.sum(axis=1) + rng.normal(size=1000)
                    data = {"b": coin, "x": x} | {f"s{i}": c for i, c in enumerate(s.T)}
                    source = MixedInformation.from_table(read_table(data, continuous=True), k=k)
                    context = Context(0, tuple(range(2, 2 + levels_given)))
                    errors.append(source.cmi([context])[0, 1] - shift_information(shift))
                cells.append(bias_and_rmse(errors))
            lines.append(
                [str(levels_given), f"{shift:g}", f"{shift_information(shift):.3f}", *cells]
            )
    head = ["levels given", "shift", "truth", "k = 3", "k = 7", "k = 20"]
    table("I(coin ; measurement | levels), 1000 rows, 40 draws: bias (RMSE)", head, lines)


# Tests where X and Y are independent given S.

CONFOUNDING: dict[str, tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]]] = {
    "none": (lambda s: 0 * s, lambda s: 0 * s),
    "linear": (lambda s: s, lambda s: s),
    "sine and square": (lambda s: np.sin(2 * s), lambda s: (s**2 - 1) / math.sqrt(2)),
    "strong sines": (
        lambda s: 2 * np.sin(2 * s),
        lambda s: 2 * np.cos(2 * s) + 2 * np.sin(2 * s),
    ),
}


def tests() -> None:
    rules: dict[str, PValue] = {"gaussian": FTest(), "copula": FTest()}
    rules["neighbours"] = LocalPermutation()
    lines = []
    for label, (of_x, of_y) in CONFOUNDING.items():
        for size in (0,) if label == "none" else (1, 2, 3):
            rng = np.random.default_rng(5)
            p: dict[str, list[float]] = {name: [] for name in SOURCES}
            gain, null = [], []
            for _ in range(200):
                s = rng.normal(size=(500, size))
                noise = rng.normal(size=(500, 2))
                rows = np.column_stack([of_x(s).sum(axis=1), of_y(s).sum(axis=1), s])
                rows[:, :2] += noise
                query = [Query(0, tuple(range(2, 2 + size)), np.array([1]))]
                for name, make in SOURCES.items():
                    evidence = make(rows).tests(query)
                    p[name].append(float(rules[name].p_values(evidence)[0]))
                gain.append(evidence.cmi[0])
                null.append(evidence.null_mean[0])
            found = [
                f"{np.mean(np.array(v) < 0.05):.3f}, {np.mean(np.array(v) < 0.01):.3f}"
                for v in p.values()
            ]
            lines.append(
                [
                    label,
                    str(size),
                    *found,
                    f"{np.mean(gain):+.3f} ± {np.std(gain):.3f}",
                    f"{np.mean(null):+.3f}",
                ]
            )
    head = ["confounding", "size of S", *SOURCES, "gain by neighbours", "shuffled"]
    table("False dependences at .05 and .01, 500 rows, 200 draws", head, lines)


# Time.


def by_trees(x: Floats, y: Floats, s: Floats, k: int) -> float:
    """The same estimate with scipy's trees."""
    points = np.column_stack([x, y, s])
    radius = np.nextafter(cKDTree(points).query(points, k + 1, p=np.inf)[0][:, -1], 0)

    def mean_psi(chosen: Floats) -> float:
        counts = cKDTree(chosen).query_ball_point(chosen, radius, p=np.inf, return_length=True)
        return float(digamma(counts).mean())

    of_s = mean_psi(s) if s.shape[1] else float(digamma(len(x)))
    return digamma(k) + of_s - mean_psi(np.column_stack([x, s])) - mean_psi(np.column_stack([y, s]))


def best_of_three(action: Callable[..., object], *arguments: object) -> float:
    found = []
    for _ in range(3):
        start = time.perf_counter()
        action(*arguments)
        found.append(time.perf_counter() - start)
    return min(found)


def times() -> None:
    lines = []
    for n in (1000, 4000, 16000):
        for size in (0, 1, 2, 4):
            rng = np.random.default_rng(6)
            rows = np.array([normal_scores(c) for c in pair("weak", size, n, rng).T])
            space = Space("xyabcd", rows, [False] * len(rows))
            given = tuple(range(2, 2 + size))
            loop = best_of_three(space.gains, 0, given, [1] * 5, 20) / 5
            tree = best_of_three(by_trees, rows[0], rows[1], rows[2:].T, 20)
            lines.append([str(n), str(size), f"{1000 * loop:.1f}", f"{1000 * tree:.1f}"])
    table("Milliseconds a gain, k = 20, one thread", ["rows", "size of S", "loop", "trees"], lines)


# Whole graphs.


def learned_shd(information: Source, rule: PValue, drawn: Simulated) -> int:
    outcome = search(information, Settings("sequential", rule, rule))
    names = information.names
    edges = [(names[p], names[k]) for k, b in outcome.boundaries.items() for p in b.members]
    found = drawn.graph.__class__()
    found.add_nodes_from(names)
    found.add_edges_from(edges)
    return shd(found, drawn.graph)


def graphs() -> None:
    lines = []
    for label, model, options in (
        ("tree", "nonlinear", {}),
        ("er", "nonlinear", {"edges": 12}),
        ("tree", "gaussian", {"variances": 1.0}),
    ):
        for n in (500, 1000):
            wrong: dict[str, list[int]] = {name: [] for name in SOURCES}
            seconds: dict[str, list[float]] = {name: [] for name in SOURCES}
            for seed in range(10):
                drawn = draw(label, model, d=10, n=n, seed=seed, **options)
                rows = {name: drawn.data[name] for name in sorted(drawn.data)}
                for name, make in SOURCES.items():
                    rule = LocalPermutation(0.001) if name == "neighbours" else FTest(0.001)
                    start = time.perf_counter()
                    wrong[name].append(learned_shd(make(rows), rule, drawn))
                    seconds[name].append(time.perf_counter() - start)
            cells = [
                f"{np.mean(wrong[name]):.1f} ({np.median(seconds[name]):.2f} s)" for name in SOURCES
            ]
            lines.append([label, model, str(n), *cells])
    head = ["graph", "model", "rows", *SOURCES]
    table("SHD of `sequential`, 10 nodes, 10 draws (median time a fit, one thread)", head, lines)


SECTIONS = {f.__name__: f for f in (columns, conditional, gains, mixed, tests, times, graphs)}


def main(asked: Sequence[str]) -> None:
    unknown = [name for name in asked if name not in SECTIONS]
    if unknown:
        sys.exit(f"no section {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    for name in asked or SECTIONS:
        SECTIONS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
