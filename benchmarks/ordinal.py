"""Ordinal columns against the same columns as categories: how often independence is rejected.

Two columns with five levels each, or one and a number, are tested given a column with three levels
that both depend on, and given a number. ``python -m benchmarks.ordinal`` prints the share of
p-values below 0.05 where nothing links them, and where a monotone or a U-shaped effect does.
"""

from __future__ import annotations

import argparse

import numpy as np

from tamis.information.interface import Query
from tamis.opening import open_information
from tamis.settings import Settings
from tamis.tables import read_table
from tamis.tables.table import Table

LEVELS = 5
EFFECTS = {"none": 0.0, "monotone": 0.3, "U-shaped": 0.6}


def columns(
    rng: np.random.Generator, n: int, effect: str, given: str, other: str
) -> dict[str, object]:
    """A column of ranks, another column that may depend on it, and what both depend on."""
    z = rng.normal(size=n)
    common = np.digitize(z, [-0.5, 0.5]).astype(float) - 1 if given == "level" else z
    a = np.digitize(0.5 * common + rng.normal(size=n), [-1.0, -0.3, 0.3, 1.0])
    step = (a - 2.0) / 1.4
    shape = np.abs(step) - np.abs(step).mean() if effect == "U-shaped" else step
    b = 0.5 * common + EFFECTS[effect] * shape + rng.normal(size=n)
    levels = np.array([f"l{code}" for code in range(LEVELS)])
    return {
        "a": levels[a],
        "b": b if other == "number" else levels[np.digitize(b, [-1.0, -0.3, 0.3, 1.0])],
        "s": levels[common.astype(int) + 1] if given == "level" else common,
    }


def p_value(table: Table) -> float:
    """Of the first two columns given the third."""
    information = "conditional-gaussian" if "number" in table.kinds else "counts"
    source = open_information(table, Settings().on(information))
    found = source.tests([Query(0, (2,), np.array([1]))]).log_p
    if found is None:
        raise RuntimeError("these sources have p-values")
    return float(np.exp(found[0]))


def rejected(
    kind: str, n: int, effect: str, given: str, other: str, seeds: range, alpha: float = 0.05
) -> float:
    """The share of tables in which independence is rejected."""
    types = {"a": kind} if other == "number" else {"a": kind, "b": kind}
    times = 0
    for seed in seeds:
        data = columns(np.random.default_rng(seed), n, effect, given, other)
        times += p_value(read_table(data, continuous=True, types=types)) < alpha
    return times / len(seeds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=400)
    parser.add_argument("--seed", type=int, default=9000)
    asked = parser.parse_args()
    seeds = range(asked.seed, asked.seed + asked.tables)
    print("other   given   rows  effect     category  ordinal")
    for other in ("level", "number"):
        for given in ("level", "number"):
            for n in (100, 200, 400):
                for effect in EFFECTS:
                    found = [
                        rejected(kind, n, effect, given, other, seeds)
                        for kind in ("category", "ordinal")
                    ]
                    print(
                        f"{other:7} {given:7} {n:4}  {effect:9} {found[0]:9.3f} {found[1]:8.3f}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
