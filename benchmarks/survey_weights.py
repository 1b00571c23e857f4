"""Survey weights where selection depends on the columns themselves, as markdown tables.

python -m benchmarks.survey_weights [section ...]

Sections: tests (false dependences of independent columns), graphs (distance to the true DAG);
about six minutes on one core. docs/missing-and-weights.md holds the tables.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

import tamis
from tamis.information.counted import CountedInformation
from tamis.information.interface import Query
from tamis.information.real_counts import RealCountInformation
from tamis.metrics import shd
from tamis.rules import BIC, ChiSquared, Permutation
from tamis.simulate import draw
from tamis.tables.sources import effective_rows
from tamis.tables.table import Table

FIRST_SEED = 7000
"""Of the draws that are reported; those from 0 on served to choose."""
DRAWS = 2000
GRAPHS = 20

Floats = NDArray[np.float64]
Chance = Callable[[NDArray[np.int64], np.random.Generator], Floats]
"""How likely each row (s, x, y) is selected."""

LAWS: dict[str, Chance] = {
    "chance (log-normal, sd 0.8)": lambda c, rng: np.clip(
        rng.lognormal(-1.5, 0.8, c.shape[1]), 0, 1
    ),
    "x, the rare level less": lambda c, _: np.where(c[1] > 0, 0.15, 0.9),
    "x, the rare level more": lambda c, _: np.where(c[1] > 0, 0.9, 0.15),
    "x times y": lambda c, _: np.where(c[1] > 0, 0.3, 0.9) * np.where(c[2] > 0, 0.9, 0.3),
    "x and y together": lambda c, _: np.where((c[1] > 0) ^ (c[2] > 0), 0.9, 0.25),
    "s": lambda c, _: np.array([0.9, 0.3, 0.1])[c[0]],
    "s and x": lambda c, _: np.array([0.9, 0.3, 0.5])[c[0]] * np.where(c[1] > 0, 0.9, 0.4),
}


def table(title: str, head: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    print(f"\n### {title}\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for line in lines:
        print(f"| {' | '.join(line)} |", flush=True)


def selected(law: Chance, n: int, seed: int) -> Table:
    """n selected rows of s, x and y, with x and y independent given s."""
    rng = np.random.default_rng([seed, n])
    codes, weights = np.zeros((3, 0), dtype=np.int64), np.zeros(0)
    while len(weights) < n:
        s = rng.integers(0, 3, 4 * n)
        x = rng.random(4 * n) < np.array([0.15, 0.3, 0.5])[s]
        y = rng.random(4 * n) < np.array([0.4, 0.2, 0.6])[s]
        drawn = np.array([s, x, y]).astype(np.int64)
        chance = law(drawn, rng)
        kept = rng.random(4 * n) < chance
        codes = np.concatenate([codes, drawn[:, kept]], axis=1)
        weights = np.concatenate([weights, 1 / chance[kept]])
    levels = ((0, 1, 2), (0, 1), (0, 1))
    share = weights[:n] / weights[:n].mean()
    return Table(("s", "x", "y"), levels, codes[:, :n].astype(np.uint8), weights=share)


def tests() -> None:
    lines = []
    for name, law in LAWS.items():
        for n in (300, 2000):
            p = np.empty((DRAWS, 3))
            bic, worth = 0, []
            for i in range(DRAWS):
                rows = selected(law, n, FIRST_SEED + i)
                plain = CountedInformation(Table(rows.names, rows.levels, rows.codes), n_jobs=1)
                query = [Query(1, (0,), np.array([2]))]
                evidence = RealCountInformation(rows).tests(query)
                p[i] = [
                    Permutation().p_values(plain.tests(query))[0],
                    Permutation().p_values(evidence)[0],
                    ChiSquared().p_values(evidence)[0],
                ]
                bic += bool(BIC().strengths(evidence)[0] > 0)
                worth.append(effective_rows(rows.weights))
            rates = [f"{np.mean(one < 0.05):.3f} / {np.mean(one < 0.001):.4f}" for one in p.T]
            lines.append([name, str(n), f"{np.mean(worth):.0f}", *rates, f"{bic / DRAWS:.3f}"])
    table(
        f"x and y independent given s, {DRAWS} draws: shares of p below .05 / .001",
        (
            "selected by",
            "rows",
            "worth",
            "Permutation, no weights",
            "Permutation",
            "ChiSquared",
            "BIC > 0",
        ),
        lines,
    )


def graphs() -> None:
    """Rows selected by two columns of the table, which then depend on each other."""
    found = {"all rows alike": [], "selected, no weights": [], "selected, weighted": []}
    for seed in range(FIRST_SEED, FIRST_SEED + GRAPHS):
        truth = draw("er", "tables", n=12000, seed=seed, d=10, edges=10)
        data = {name: np.asarray(values) for name, values in truth.data.items()}
        first, second = sorted(data)[:2]
        high = [data[name] == np.unique(data[name])[0] for name in (first, second)]
        chance = np.where(high[0] ^ high[1], 0.6, 0.15)
        kept = np.flatnonzero(np.random.default_rng([seed, 3]).random(12000) < chance)[:3000]
        part = {name: values[kept] for name, values in data.items()}
        alike = {name: values[: len(kept)] for name, values in data.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tamis.TamisWarning)
            asked = ((alike, None), (part, None), (part, 1 / chance[kept]))
            for distances, (rows, weights) in zip(found.values(), asked, strict=True):
                model = tamis.TAM(information="counts", n_jobs=1).fit(rows, sample_weight=weights)
                distances.append(shd(model.graph_, truth.graph))
    line = [f"{np.mean(distances):.1f}" for distances in found.values()]
    table(f"Distance to the true DAG, up to 3000 rows, mean of {GRAPHS}", tuple(found), [line])


SECTIONS = {"tests": tests, "graphs": graphs}

if __name__ == "__main__":
    for section in sys.argv[1:] or SECTIONS:
        SECTIONS[section]()
