"""How the defaults were chosen: mean SHD of the searches under rules, estimators and phases.

python -m benchmarks.choose_defaults choose     seeds 1000 to 1009, every setting
python -m benchmarks.choose_defaults report     seeds 2000 to 2019, the defaults only
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator

import numpy as np

import tamis
from benchmarks.models import random_graph, sample, shd
from tamis.rules import BIC, ChiSquared, Fixed, Permutation, Rate, Rule

CELLS = [
    (kind, model, d, n)
    for model in ("mod", "add")
    for kind in ("tree", "er1", "sf1")
    for d, n in ((10, 1000), (20, 1000), (20, 4000), (50, 4000))
]


def mean_shd(cell: tuple[str, str, int, int], seeds: range, **parameters: object) -> float:
    kind, model, d, n = cell
    distances = []
    for seed in seeds:
        graph = random_graph(kind, d, seed)
        rows = sample(graph, model, n, seed)
        learned = tamis.TAM(n_jobs=1, **parameters).fit(rows).graph_.edges
        distances.append(shd(graph, {(int(a[1:]), int(b[1:])) for a, b in learned}))
    return float(np.mean(distances))


def settings() -> Iterator[tuple[str, dict[str, object]]]:
    rules: list[Rule] = [Permutation(a) for a in (0.05, 0.01, 0.001)]
    for search in ("sequential", "sieve", "node", "layer"):
        masking = rules if search != "sequential" else rules[1:2]
        for rule, mask in itertools.product(rules, masking):
            name = f"{search:10} boundary {rule.alpha:<6} masking {mask.alpha:<6}"
            yield name, {"search": search, "boundary_rule": rule, "masking_rule": mask}
    for rule in (BIC(), ChiSquared(0.001), Rate(), Fixed(0.005)):
        for search in ("sequential", "node"):
            yield (
                f"{search:10} {rule!r}",
                {"search": search, "boundary_rule": rule, "masking_rule": rule},
            )
    for entropy in ("plugin", "jackknife", "grassberger", "minimax"):
        yield f"sequential {entropy}", {"search": "sequential", "entropy": entropy}
    for backward in ("none", "together"):
        yield f"sequential backward {backward}", {"search": "sequential", "backward": backward}
        yield f"node backward {backward}", {"search": "node", "backward": backward}
    yield "reference", {"search": "reference"}


def main(mode: str) -> None:
    short = [f"{m[0]}{k[0]}{k[-1]}{d}/{n // 1000}" for k, m, d, n in CELLS]
    print(" " * 44 + " ".join(f"{name:>8}" for name in short) + "     mean")
    if mode == "choose":
        chosen, seeds = settings(), range(1000, 1005)
    else:
        names = ("sequential", "sieve", "node", "layer", "reference")
        chosen, seeds = iter([(name, {"search": name}) for name in names]), range(2000, 2020)
    for name, parameters in chosen:
        row = [mean_shd(cell, seeds, **parameters) for cell in CELLS]
        cells = " ".join(f"{value:8.1f}" for value in row)
        print(f"{name:44}{cells} {np.mean(row):8.2f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
