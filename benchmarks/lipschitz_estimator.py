"""Bias and error of the differential entropy by smoothing, against nearest neighbours.

python -m benchmarks.lipschitz_estimator            entropies, by law, dimension and rows
python -m benchmarks.lipschitz_estimator gains      gains of four entropies, null and not
python -m benchmarks.lipschitz_estimator given      conditional entropies, by the number given
python -m benchmarks.lipschitz_estimator searches   wrong edges of small networks
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.spatial import cKDTree
from scipy.special import digamma

from tamis.decisions.rule import Fixed
from tamis.information.interface import Context, Query
from tamis.information.lipschitz import LipschitzInformation
from tamis.information.smoothed_entropy import Bandwidth, DifferentialEntropy, Smoothing, to_cube
from tamis.search.tam import run
from tamis.settings import Settings
from tamis.simulate import draw

Floats = NDArray[np.float64]
Estimate = Callable[[Floats], float]

CONSTANTS = (0.35, 0.5, 0.7, 1.0)
ROWS = (200, 1000, 5000)
DRAWS = 10
NEIGHBOURS = 3
LAWS = {
    "uniform": stats.uniform(),
    "normal": stats.norm(),
    "beta(2, 4)": stats.beta(2, 4),
    "exponential": stats.expon(),
}


def smoothed(smoothing: Smoothing) -> Estimate:
    """The entropy of all columns, at the bandwidth of their number."""

    def estimate(columns: Floats) -> float:
        d, n = columns.shape
        cube = to_cube([f"x{k}" for k in range(d)], columns)
        return DifferentialEntropy(cube, smoothing).estimate(range(d), smoothing.width(n, d))

    return estimate


def kozachenko_leonenko(columns: Floats) -> float:
    """Kozachenko and Leonenko (1987), with the maximum norm and three neighbours."""
    d, n = columns.shape
    distances, _ = cKDTree(columns.T).query(columns.T, NEIGHBOURS + 1, p=np.inf)
    logs = np.log(2 * distances[:, NEIGHBOURS])
    return float(digamma(n) - digamma(NEIGHBOURS) + d * logs.mean())


METHODS: dict[str, Estimate] = {
    **{f"c = {c}": smoothed(Smoothing(constant=c)) for c in CONSTANTS},
    "c = 0.7, split": smoothed(Smoothing(split=True)),
    "c = 0.7, open": smoothed(Smoothing(boundary="open")),
    "nearest neighbours": kozachenko_leonenko,
}


def figures(errors: Iterable[float]) -> str:
    found = np.array(list(errors))
    return f"{found.mean():+.3f}, {math.sqrt((found**2).mean()):.3f}"


def print_row(cells: Sequence[object]) -> None:
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def entropies() -> None:
    print("Bias, root mean square error (nats) of joint entropies of independent columns.\n")
    print_row(["law", "columns", "rows", *METHODS])
    print_row(["---"] * (3 + len(METHODS)))
    for name, law in LAWS.items():
        for d in (1, 2, 3):
            for n in ROWS:
                rng = np.random.default_rng([d, n])
                samples = [law.rvs((d, n), random_state=rng) for _ in range(DRAWS)]
                truth = d * float(law.entropy())
                cells = [
                    figures(estimate(sample) - truth for sample in samples)
                    for estimate in METHODS.values()
                ]
                print_row([name, d, n, *cells])


def columns(case: str, n: int, rng: np.random.Generator) -> tuple[Floats, tuple[int, ...], float]:
    """The tested pair first, then what is given; and the true gain."""
    x, y, z, w = rng.normal(size=(4, n))
    if case == "independent":
        return np.array([x, y]), (), 0.0
    if case == "pair":
        return np.array([x, y + x / 2]), (), math.log(1.25) / 2
    if case == "fork":
        return np.array([x + z, y + z, z]), (2,), 0.0
    if case == "bent fork":
        return np.array([np.sin(2 * z) + x / 2, z**2 + y / 2, z]), (2,), 0.0
    if case == "fork and arrow":
        return np.array([x + z, y + z + (x + z) / 2, z]), (2,), math.log(1.25) / 2
    if case == "two forks":
        return np.array([x + z + w, y + z - w, z, w]), (2, 3), 0.0
    raise ValueError(case)


CASES = ("independent", "pair", "fork", "bent fork", "fork and arrow", "two forks")


def gains() -> None:
    print("Mean, standard deviation of gains (nats).\n")
    kinds: tuple[Bandwidth, ...] = ("own", "shared")
    settings = [(kind, c) for kind in kinds for c in CONSTANTS]
    print_row(["case", "rows", "true", *(f"{kind}, c = {c}" for kind, c in settings)])
    print_row(["---"] * (3 + len(settings)))
    for case in CASES:
        for n in (500, 2000):
            rng = np.random.default_rng(n)
            samples = [columns(case, n, rng) for _ in range(DRAWS)]
            cells = []
            for kind, c in settings:
                found = [gain(s, g, Smoothing(constant=c, bandwidth=kind)) for s, g, _ in samples]
                cells.append(f"{np.mean(found):+.3f}, {np.std(found):.3f}")
            print_row([case, n, f"{samples[0][2]:.3f}", *cells])


def gain(sample: Floats, given: tuple[int, ...], smoothing: Smoothing) -> float:
    source = LipschitzInformation([f"x{k}" for k in range(len(sample))], sample, smoothing)
    return float(source.tests([Query(0, given, np.array([1]))]).cmi[0])


def given() -> None:
    print("Bias, root mean square error (nats) of H(X | S), X the sum of S and a normal error.\n")
    sizes = range(4)
    print_row(["rows", "c", *(f"{size} given" for size in sizes)])
    print_row(["---"] * (2 + len(sizes)))
    truth = float(stats.norm().entropy())
    for n in (500, 2000, 8000):
        for c in CONSTANTS:
            cells = []
            for size in sizes:
                rng = np.random.default_rng([n, size])
                samples = [rng.normal(size=(size + 1, n)) for _ in range(DRAWS)]
                cells.append(figures(conditional(sample, c) - truth for sample in samples))
            print_row([n, c, *cells])


def conditional(sample: Floats, c: float) -> float:
    """H(X | S) of the sum of all columns given all but the first."""
    sample = np.array([sample.sum(axis=0), *sample[1:]])
    names = [f"x{k}" for k in range(len(sample))]
    source = LipschitzInformation(names, sample, Smoothing(constant=c))
    return float(source.entropies([Context(0, tuple(range(1, len(sample))))])[0])


Edges = set[tuple[str, str]]


def network(case: str, n: int, seed: int) -> tuple[dict[str, Floats], Edges]:
    if case == "App. C.7":
        drawn = draw(model="unfaithful", n=n, seed=seed)
        return dict(drawn.data), set(drawn.graph.edges)
    if case == "chain of 6":
        drawn = draw("chain", "gaussian", d=6, n=n, seed=seed, variances=1.0)
        return dict(drawn.data), set(drawn.graph.edges)
    noise = np.random.default_rng(seed).normal(size=(5, n))
    a = 0.7 * noise[0]
    b = np.sin(2 * a) + 0.7 * noise[1]
    c = a**2 / 2 + 0.8 * noise[2]
    d = b * c / 1.5 + 0.8 * noise[3]
    e = 2 * np.tanh(d) + 0.8 * noise[4]
    edges = {("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("d", "e")}
    return {"a": a, "b": b, "c": c, "d": d, "e": e}, edges


def wrong_edges(data: dict[str, Floats], truth: Edges, settings: Settings, c: float) -> int:
    """Edges missing, superfluous or reversed."""
    names = sorted(data)
    values = np.array([data[name] for name in names])
    outcome = run(LipschitzInformation(names, values, Smoothing(constant=c)), settings)
    found = {(names[p], names[k]) for k, b in outcome.boundaries.items() for p in b.members}
    return len({frozenset(edge) for edge in found ^ truth})


def searches() -> None:
    print(f"Mean number of wrong edges over {DRAWS} draws, boundaries of at most 2.\n")
    settings = [(search, t) for search in ("node", "sequential") for t in (0.02, 0.04)]
    print_row(["network", "edges", "rows", "c", *(f"{search}, {t}" for search, t in settings)])
    print_row(["---"] * (4 + len(settings)))
    for case in ("App. C.7", "chain of 6", "nonlinear, 5 nodes"):
        for n in (500, 2000):
            drawn = [network(case, n, seed) for seed in range(DRAWS)]
            for c in CONSTANTS[1:]:
                cells = []
                for search, t in settings:
                    rules = Settings(search, Fixed(t), Fixed(t), max_boundary=2)
                    wrong = [wrong_edges(data, truth, rules, c) for data, truth in drawn]
                    cells.append(f"{np.mean(wrong):.1f}")
                print_row([case, len(drawn[0][1]), n, c, *cells])


PARTS = {"entropies": entropies, "gains": gains, "given": given, "searches": searches}

if __name__ == "__main__":
    PARTS[sys.argv[1] if len(sys.argv) > 1 else "entropies"]()
