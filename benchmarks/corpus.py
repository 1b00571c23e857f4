"""A frozen corpus: what every search answers on 272 small tables, before and after a change.

python -m benchmarks.corpus freeze FILE      writes the answers of the present code
python -m benchmarks.corpus compare FILE     runs again and lists every difference; 1 if any

FILE is compressed JSON. Kept of each run: parents, layers, order, entropies, edges with their
numbers, every decision of the trace, the explanations of a few columns and the warnings; of a
combination that is refused, the type of the error. Floats may differ by a relative 1e-9, nothing
else may. ``--search`` and ``--table`` (a part of the name) narrow a comparison; runs of "auto",
which stand in a section of their own, are left out by ``--search paper`` and compared alone by
``--search auto``. ``--ignore FIELD`` leaves a field out, such as "explanation" while only words
change, or an attribute, such as "direction_probability". The whole takes about a
minute on one core.

Only the public interface is used. A field or an attribute that gets another name is entered in
RENAMED; the file keeps the name it had when the corpus was frozen.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import gzip
import hashlib
import json
import math
import subprocess
import sys
import tempfile
import time
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import tamis
from tamis.rules import BIC, ChiSquared, Fixed, Permutation, Rate

RENAMED = {
    "cmi": "gain",
    "cmi_given_rest": "gain_given_rest",
    "bar": "threshold",
    "strength": "score",
}
"""Attributes of results: the name they have now, the name in the file."""
KEPT = ("parents", "layers", "order", "entropies", "edges", "trace", "ranking", "warnings")
"""Fields of a result that are kept as they are; ``settings`` say how to run, not what came out."""
PAPER = ("node", "layer", "sieve", "sequential", "reference")
AUTO = "auto"
RELATIVE = 1e-9
ABSOLUTE = 1e-12
"""Of information that is zero but for rounding; not of p-values, which may be far smaller."""
EXPLAINED = 3
"""Columns of which the explanation is kept."""

Columns = dict[str, list[Any]]
Rng = np.random.Generator


@dataclasses.dataclass(frozen=True)
class Case:
    """A table, how it is handed over, and the settings that all searches run with."""

    name: str
    columns: Columns
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    weights: list[float] | None = None
    door: str = "memory"
    """"memory"; "packed", a file of `tamis pack`; "folder", of two CSV files."""
    searches: tuple[str, ...] = (*PAPER, AUTO)

    @property
    def digest(self) -> str:
        """Tells whether a table drawn again is the table of the file."""
        text = json.dumps([self.columns, self.weights], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


# ---------------------------------------------------------------------------------- the tables


def rng_of(name: str) -> Rng:
    return np.random.default_rng(zlib.crc32(name.encode()))


def parents_of(rng: Rng, d: int, most: int) -> list[list[int]]:
    """A random DAG in which the nodes before are candidates."""
    few = 0 if most == 1 else 1
    sizes = [min(k, int(rng.integers(few, most + 1))) for k in range(d)]
    return [
        sorted(rng.choice(k, size=size, replace=False).tolist()) for k, size in enumerate(sizes)
    ]


def shuffled(rng: Rng, columns: list[list[Any]], names: str = "x") -> Columns:
    """Columns under names whose order says nothing about the graph."""
    order = rng.permutation(len(columns)).tolist()
    return {f"{names}{i}": columns[k] for i, k in enumerate(order)}


def labels(rng: Rng, d: int, n: int, levels: tuple[int, ...] = (2,), most: int = 2) -> Columns:
    """Rows of a network with random tables."""
    sizes = [int(rng.choice(levels)) for _ in range(d)]
    drawn: list[np.ndarray[Any, Any]] = []
    for k, parents in enumerate(parents_of(rng, d, most)):
        state = np.zeros(n, dtype=np.int64)
        for p in parents:
            state = state * sizes[p] + drawn[p]
        clear = 0.6 if parents else 4.0  # no column without parents is nearly constant
        law = rng.dirichlet(np.full(sizes[k], clear), size=int(state.max(initial=0)) + 1)
        below = law.cumsum(axis=1)[state]
        drawn.append((rng.random((n, 1)) > below[:, :-1]).sum(axis=1))
    return shuffled(rng, [column.tolist() for column in drawn])


def parity(rng: Rng, n: int, size: int, noise: float, more: int = 2) -> Columns:
    """Fair coins, the parity of some of them, and a copy with errors."""
    coins = rng.integers(0, 2, (size + more, n))
    odd = coins[:size].sum(axis=0) % 2 ^ (rng.random(n) < noise)
    copy = odd ^ (rng.random(n) < 0.15)
    return shuffled(rng, [c.tolist() for c in (*coins, odd, copy)])


def numbers(rng: Rng, d: int, n: int, most: int = 2) -> Columns:
    """A linear model with noise of one variance, rounded so that any file holds it exactly."""
    drawn: list[np.ndarray[Any, Any]] = []
    for parents in parents_of(rng, d, most):
        value = rng.normal(size=n)
        for p in parents:
            value = value + rng.choice((-1.2, -0.7, 0.7, 1.2)) * drawn[p]
        drawn.append(value)
    return shuffled(rng, [np.round(v, 6).tolist() for v in drawn])


def wholes(rng: Rng, d: int, n: int) -> Columns:
    """Counts of things, some of which add up."""
    drawn: list[np.ndarray[Any, Any]] = []
    for parents in parents_of(rng, d, 2):
        value = rng.poisson(1.5, n)
        for p in parents:
            value = value + drawn[p]
        drawn.append(value)
    return shuffled(rng, [v.tolist() for v in drawn])


def words(rng: Rng, d: int, n: int) -> Columns:
    """Levels that are text, some of it unusual, under names that are sentences."""
    said = ("yes", "no", "don't know", "Straße", "a, b", "10", "ÿ→")
    found = labels(rng, d, n, (2, 3, 4))
    return {f"name of {k}": [said[v] for v in column] for k, column in found.items()}


def mixed(rng: Rng, d: int, n: int) -> Columns:
    """Labels, and measurements that depend on them."""
    levels = {f"l{k}": v for k, v in labels(rng, d // 2, n, (2, 3)).items()}
    group = np.array(next(iter(levels.values())))
    found: Columns = {k: [f"g{v}" for v in column] for k, column in levels.items()}
    for k, column in numbers(rng, d - d // 2, n).items():
        shift = float(rng.normal()) * group
        found[f"m{k}"] = np.round(np.array(column) + shift, 6).tolist()
    return found


def pierced(rng: Rng, columns: Columns, share: float) -> Columns:
    """Without some of the values."""
    return {
        k: [None if rng.random() < share else v for v in column] for k, column in columns.items()
    }


def degenerate() -> Iterator[Case]:
    rng = rng_of("degenerate")
    base = labels(rng, 5, 300)
    first = next(iter(base.values()))
    n = len(first)
    yield Case("constant", {**base, "still": [1] * n})
    yield Case("constants", {"a": [0] * n, "b": ["one"] * n, **base})
    yield Case("all-constant", {"a": [0] * 9, "b": [1] * 9})
    yield Case("twin", {**base, "twin": first})
    yield Case("twins", {"aa": first, **base, "twin": first})
    yield Case("inverse", {**base, "not": [1 - v for v in first]})
    yield Case("determined", {**base, "sum": np.sum(list(base.values()), axis=0).tolist()})
    yield Case("one-column", {"a": first})
    yield Case("two-columns", dict(list(base.items())[:2]))
    for rows in (1, 2, 3, 5, 8, 13, 21):
        yield Case(f"rows-{rows}", labels(rng_of(f"rows-{rows}"), 5, rows))
    yield Case("rows-12-levels", labels(rng, 6, 12, (2, 3, 4)))
    yield Case("identifier", {**base, "id": [f"row {i}" for i in range(n)]})
    for levels in (12, 25, 60):
        many = labels(rng_of(f"levels-{levels}"), 4, 500, (2, levels))
        yield Case(f"levels-{levels}", {k: [f"v{v}" for v in c] for k, c in many.items()})
    yield Case("independent", shuffled(rng, rng.integers(0, 3, (7, 200)).tolist()))
    yield Case("same-counts", {k: [0, 0, 1, 1] * 40 for k in "abcd"})
    yield Case("balanced", {"a": [0, 0, 1, 1] * 40, "b": [0, 1] * 80, "c": [0, 1, 1, 0] * 40})
    yield Case("constant-number", {**numbers(rng, 3, 120), "still": [1.5] * 120})
    yield Case("number-twins", (lambda c: {**c, "twin": c["x0"]})(numbers(rng, 4, 150)))


def plain() -> Iterator[Case]:
    for i in range(26):
        rng = rng_of(name := f"binary-{i}")
        d, n = int(rng.integers(3, 10)), int(rng.choice((60, 150, 400, 1000)))
        yield Case(name, labels(rng, d, n, most=1 + i % 3))
    for i in range(16):
        rng = rng_of(name := f"levels-of-{i}")
        yield Case(name, labels(rng, int(rng.integers(3, 8)), (120, 500)[i % 2], (2, 3, 4, 5)))
    for i in range(8):
        rng = rng_of(name := f"text-{i}")
        yield Case(name, words(rng, 4 + i % 3, 250))
    for i in range(8):
        rng = rng_of(name := f"wholes-{i}")
        reading = ("auto", "counts", "gaussian", "auto")[i % 4]
        yield Case(name, wholes(rng, 4 + i % 2, 250), {"information": reading})
    for i in range(8):
        rng = rng_of(name := f"numbers-{i}")
        yield Case(name, numbers(rng, 4 + i % 3, (80, 300)[i % 2]))
    for i in range(6):
        rng = rng_of(name := f"mixed-{i}")
        yield Case(name, mixed(rng, 4 + i % 2, 200))


def larger() -> Iterator[Case]:
    """Enough columns for boundaries that change as nodes are admitted."""
    loose = {"boundary_rule": Permutation(0.2), "masking_rule": Permutation(0.2)}
    for i in range(12):
        rng = rng_of(name := f"larger-{i}")
        columns = labels(rng, 10 + i, (300, 2000)[i % 2], ((2,), (2, 3))[i // 2 % 2], most=3)
        yield Case(name, columns, loose if i % 3 == 2 else {})
    for i in range(4):
        rng = rng_of(name := f"larger-numbers-{i}")
        yield Case(name, numbers(rng, 10 + 2 * i, (60, 400)[i % 2], most=3))
    for i, settings in enumerate(({"look_ahead": 2}, {"boundary": "none"}, {"max_boundary": 2})):
        rng = rng_of(name := f"larger-set-{i}")
        yield Case(name, labels(rng, 12, 400, (2, 3), most=3), settings)
    rng = rng_of("wide")
    yield Case("wide", labels(rng, 40, 500, most=2))
    yield Case("wide-few-rows", labels(rng, 30, 40, (2, 3), most=2))


def known() -> Iterator[Case]:
    said: tuple[tuple[str, dict[str, Any]], ...] = (
        ("required", {"required": ["x0 -> x3", "x4 -> x1"]}),
        ("forbidden", {"forbidden": ["x0 -> x1", "x1 -> x2", "x3 -> x0"]}),
        ("tiers", {"tiers": [["x3", "x1"], ["x0"], ["x2", "x4"]]}),
        ("half-tiers", {"tiers": [["x4"], ["x0", "x1"]]}),
        ("sources", {"sources": ["x2", "x0"]}),
        ("sinks", {"sinks": ["x1"]}),
        ("all", {"required": [["x5", "x1"]], "tiers": [["x0"], ["x1"]], "sinks": ["x2"]}),
    )
    for i, (what, knowledge) in enumerate(said):
        for n in (90, 600):
            rng = rng_of(f"knowledge-{what}-{n}")
            columns = labels(rng, 6, n, ((2,), (2, 3))[i % 2])
            yield Case(f"knowledge-{what}-{n}", columns, {"knowledge": knowledge})
    rng = rng_of("knowledge-numbers")
    told = {"required": ["x0 -> x1"], "sources": ["x2"]}
    yield Case("knowledge-numbers", numbers(rng, 5, 200), {"knowledge": told})
    for what, settings in (
        ("look-ahead", {"look_ahead": 2}),
        ("look-ahead-3", {"look_ahead": 3}),
        ("small", {"max_boundary": 1}),
        ("none", {"boundary": "none"}),
        ("together", {"backward": "together"}),
    ):
        rng = rng_of(f"knowledge-{what}")
        told = {"required": ["x0 -> x4", "x1 -> x2"], "forbidden": ["x3 -> x0"]}
        columns = parity(rng, 400, 2, 0.05)
        yield Case(f"knowledge-with-{what}", columns, {"knowledge": told, **settings})


def weighted() -> Iterator[Case]:
    for i in range(4):
        rng = rng_of(name := f"frequencies-{i}")
        columns = labels(rng, 5, 120, ((2,), (2, 3))[i % 2])
        yield Case(name, columns, weights=rng.integers(0, 9, 120).tolist())
    for i in range(6):
        rng = rng_of(name := f"survey-{i}")
        columns = labels(rng, 5, 250, ((2,), (2, 3, 4))[i % 2])
        settings = ({}, {}, {"look_ahead": 2}, {"backward": "together"}, {"entropy": "plugin"}, {})
        heavy = np.round(rng.gamma(2.0, 1.0, 250), 3).tolist()
        yield Case(name, columns, settings[i], weights=heavy)
    rng = rng_of("survey-numbers")
    heavy = np.round(rng.gamma(2.0, 1.0, 150), 3).tolist()
    yield Case("survey-numbers", numbers(rng, 4, 150), weights=heavy)
    times = rng.integers(1, 5, 150).tolist()
    yield Case("frequencies-numbers", numbers(rng, 4, 150), weights=times)


def missing() -> Iterator[Case]:
    for what in ("drop", "level", "pairwise"):
        for i in range(4):
            rng = rng_of(name := f"missing-{what}-{i}")
            columns = labels(rng, 5, 300, ((2,), (2, 3))[i % 2])
            yield Case(name, pierced(rng, columns, (0.04, 0.15)[i // 2]), {"missing": what})
        rng = rng_of(f"missing-{what}-numbers")
        columns = pierced(rng, numbers(rng, 4, 200), 0.05)
        yield Case(f"missing-{what}-numbers", columns, {"missing": what})
    rng = rng_of("missing-error")
    yield Case("missing-error", pierced(rng, labels(rng, 3, 50), 0.1))
    for what, settings in (
        ("look-ahead", {"look_ahead": 2}),
        ("together", {"backward": "together"}),
        ("none", {"boundary": "none"}),
        ("chi-squared", {"boundary_rule": ChiSquared(), "masking_rule": ChiSquared()}),
        ("bic", {"boundary_rule": BIC(), "masking_rule": BIC()}),
        ("known", {"knowledge": {"required": ["x0 -> x1"]}}),
    ):
        rng = rng_of(f"pairwise-{what}")
        columns = pierced(rng, labels(rng, 5, 300, (2, 3)), 0.1)
        yield Case(f"pairwise-{what}", columns, {"missing": "pairwise", **settings})
    rng = rng_of("pairwise-survey")
    heavy = np.round(rng.gamma(2.0, 1.0, 300), 3).tolist()
    columns = pierced(rng, labels(rng, 5, 300), 0.1)
    yield Case("pairwise-survey", columns, {"missing": "pairwise"}, weights=heavy)


def in_files() -> Iterator[Case]:
    for i in range(5):
        rng = rng_of(name := f"packed-{i}")
        settings = ({}, {"look_ahead": 2}, {"backward": "together"}, {"boundary": "none"}, {})[i]
        yield Case(name, labels(rng, 6, 700, (2, 3)), settings, door="packed")
    rng = rng_of("packed-parity")
    yield Case("packed-parity", parity(rng, 500, 3, 0.05), {"look_ahead": 3}, door="packed")
    rng = rng_of("packed-known")
    told = {"required": ["x0 -> x1"], "sinks": ["x2"]}
    yield Case("packed-known", labels(rng, 5, 300), {"knowledge": told}, door="packed")
    rng = rng_of("folder-labels")
    yield Case("folder-labels", labels(rng, 5, 400, (2, 3)), door="folder")
    rng = rng_of("folder-words")
    yield Case("folder-words", words(rng, 4, 200), door="folder")
    rng = rng_of("folder-wholes")
    yield Case("folder-wholes", wholes(rng, 4, 200), door="folder")
    rng = rng_of("folder-numbers")
    yield Case("folder-numbers", numbers(rng, 5, 300), door="folder")


def set_otherwise() -> Iterator[Case]:
    """Settings that change the search."""
    for size in (2, 3):
        for i in range(5):
            rng = rng_of(name := f"look-ahead-{size}-{i}")
            columns = parity(rng, (200, 800)[i % 2], 2 + i % 2, (0.0, 0.05, 0.2)[i % 3])
            yield Case(name, columns, {"look_ahead": size})
        rng = rng_of(f"look-ahead-{size}-levels")
        columns = labels(rng, 6, 300, (2, 3), most=3)
        yield Case(f"look-ahead-{size}-levels", columns, {"look_ahead": size})
        yield Case(f"look-ahead-{size}-small", columns, {"look_ahead": size, "max_boundary": size})
        yield Case(
            f"look-ahead-{size}-together", columns, {"look_ahead": size, "backward": "together"}
        )
    variants: tuple[tuple[str, dict[str, Any]], ...] = (
        ("no-boundary", {"boundary": "none"}),
        ("no-boundary-together", {"boundary": "none", "backward": "together"}),
        ("one", {"backward": "one"}),
        ("together", {"backward": "together"}),
        ("forward", {"backward": "none"}),
        ("forward-fixed", {"backward": "none", "boundary_rule": 0.01, "masking_rule": 0.01}),
        ("at-most-0", {"max_boundary": 0}),
        ("at-most-1", {"max_boundary": 1}),
        ("at-most-2", {"max_boundary": 2}),
    )
    for what, settings in variants:
        for i in range(3):
            rng = rng_of(name := f"{what}-{i}")
            columns = labels(rng, 5 + i, (150, 600, 300)[i], ((2,), (2, 3), (2,))[i], most=3)
            yield Case(name, columns, settings)


def judged_otherwise() -> Iterator[Case]:
    """Rules, entropy estimators and levels."""
    rules: tuple[tuple[str, Any, Any], ...] = (
        ("fixed", Fixed(0.02), Fixed(0.01)),
        ("fixed-0", Fixed(0.0), Fixed(0.0)),
        ("chi-squared", ChiSquared(0.01), ChiSquared(0.05)),
        ("bic", BIC(), BIC()),
        ("rate", Rate(), Rate()),
        ("permutation", Permutation(0.05), Permutation(0.2)),
        ("whole-graph", Permutation(0.1, whole_graph=True), Permutation(0.1)),
        ("several", ChiSquared(0.01, whole_graph=True), BIC()),
    )
    for what, first, second in rules:
        for i in range(2):
            rng = rng_of(name := f"rule-{what}-{i}")
            columns = labels(rng, 6, (100, 500)[i], ((2,), (2, 3))[i], most=3)
            yield Case(name, columns, {"boundary_rule": first, "masking_rule": second})
    for what in ("plugin", "miller-madow", "jackknife", "minimax", "grassberger"):
        for i in range(2):
            rng = rng_of(name := f"entropy-{what}-{i}")
            rule = ({}, {"boundary_rule": Fixed(0.01), "masking_rule": Fixed(0.005)})[i]
            yield Case(name, labels(rng, 5, (80, 300)[i], (2, 3)), {"entropy": what, **rule})
    for alpha in (0.001, 0.3):
        rng = rng_of(f"alpha-{alpha}")
        yield Case(f"alpha-{alpha}", labels(rng, 6, 200, (2, 3)), {"alpha": alpha})
    for i in range(3):
        rng = rng_of(f"unrefined-{i}")
        columns = (labels(rng, 7, 300), wholes(rng, 4, 200), numbers(rng, 5, 200))[i]
        yield Case(f"unrefined-{i}", columns, {"refine": False}, searches=(AUTO,))


def known_otherwise() -> Iterator[Case]:
    """Other kinds of information."""
    kinds: tuple[tuple[str, Callable[[Rng], Columns], dict[str, Any]], ...] = (
        ("gaussian", lambda r: numbers(r, 5, 150), {"units": "same"}),
        ("gaussian", lambda r: numbers(r, 6, 40), {"source": {"shrinkage": "auto"}}),
        ("gaussian", lambda r: numbers(r, 5, 200), {"look_ahead": 2}),
        ("gaussian", lambda r: numbers(r, 5, 200), {"boundary": "none"}),
        ("gaussian", lambda r: numbers(r, 5, 200), {"boundary_rule": BIC(), "masking_rule": BIC()}),
        ("copula", lambda r: numbers(r, 5, 200), {}),
        ("copula", lambda r: wholes(r, 4, 150), {"source": {"seed": 3}}),
        ("conditional-gaussian", lambda r: mixed(r, 5, 200), {}),
        ("conditional-gaussian", lambda r: mixed(r, 4, 150), {"source": {"thin": 5}}),
        ("conditional-gaussian", lambda r: mixed(r, 4, 150), {"look_ahead": 2}),
        ("neighbours", lambda r: numbers(r, 3, 80), {"source": {"k": 5, "shuffles": 50}}),
        ("mixed", lambda r: mixed(r, 3, 80), {"source": {"shuffles": 50}}),
        ("lipschitz", lambda r: numbers(r, 3, 60), {}),
    )
    for i, (kind, draw, settings) in enumerate(kinds):
        rng = rng_of(name := f"{kind}-{i}")
        yield Case(name, draw(rng), {"information": kind, **settings})


def cases() -> list[Case]:
    families = (
        plain, larger, degenerate, known, weighted, missing, in_files, set_otherwise,
        judged_otherwise, known_otherwise,
    )  # fmt: skip
    return [case for family in families for case in family()]


# ---------------------------------------------------------------------------------- the runs


def given(case: Case, folder: Path) -> object:
    """The table as the case hands it over."""
    if case.door == "memory":
        return case.columns
    parts = folder / case.name
    if not parts.exists():
        parts.mkdir()
        write_parts(case.columns, parts)
    if case.door == "folder":
        return parts
    packed = folder / f"{case.name}.tamis"
    if not packed.exists():
        command = [sys.executable, "-m", "tamis", "pack", str(parts), str(packed), "--quiet"]
        subprocess.run(command, check=True)
    return packed


def write_parts(columns: Columns, folder: Path) -> None:
    """Two CSV files of unequal length; text is quoted."""
    rows = list(zip(*columns.values(), strict=True))
    for i, part in enumerate((rows[: len(rows) // 3], rows[len(rows) // 3 :])):
        with open(folder / f"{i}.csv", "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
            writer.writerows([list(columns), *part])


def run(case: Case, search: str, folder: Path) -> dict[str, Any]:
    """What a search answers, or the type of the error that refuses it."""
    model = tamis.TAM(search, n_jobs=1, **case.settings)
    try:
        model.fit(given(case, folder), sample_weight=case.weights)
    except Exception as error:  # whatever it is, it is the answer to compare
        return {"refused": type(error).__name__}
    result = model.result_
    found = {name: jsonable(getattr(result, name)) for name in KEPT}
    chosen = sorted(result.names, key=lambda name: zlib.crc32(name.encode()))[:EXPLAINED]
    found["explanation"] = {name: str(result.explain(name)).splitlines() for name in chosen}
    kept = folder / "kept.json"
    model.save(str(kept))
    found["loads equal"] = tamis.load(str(kept)) == result
    return found


def jsonable(value: object) -> Any:  # noqa: ANN401 - JSON
    """Results as JSON holds them: by field, under the names of the file."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return {RENAMED.get(name, name): jsonable(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): jsonable(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(one) for one in value]
    return value.item() if isinstance(value, np.generic) else value


def runs(chosen: Callable[[str, str], bool]) -> Iterator[tuple[Case, str, dict[str, Any]]]:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in cases():
            for search in case.searches:
                if chosen(case.name, search):
                    yield case, search, run(case, search, Path(folder))


# ---------------------------------------------------------------------------------- the file


def freeze(path: str) -> None:
    kept: dict[str, dict[str, Any]] = {"tables": {}, "paper": {}, "auto": {}}
    for case, search, found in runs(lambda *_: True):
        kept["tables"][case.name] = case.digest
        kept["auto" if search == AUTO else "paper"].setdefault(case.name, {})[search] = found
    with gzip.open(path, "wt", encoding="utf-8") as file:
        json.dump(kept, file)
    answers = [one for part in ("paper", "auto") for t in kept[part].values() for one in t.values()]
    refused = Counter(one["refused"] for one in answers if "refused" in one)
    print(f"{len(kept['tables'])} tables, {len(answers)} runs; refused: {dict(refused)}")


def compare(path: str, search: str, table: str, ignored: list[str]) -> int:
    """How many differences there are; each is printed."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        kept = json.load(file)

    def chosen(name: str, one: str) -> bool:
        section = "auto" if one == AUTO else "paper"
        return search in ("all", one, section) and table in name

    compared, fields, places = 0, Counter[str](), set()
    for case, one, found in runs(chosen):
        section = kept["auto" if one == AUTO else "paper"]
        before = section.get(case.name, {}).get(one)
        compared += 1
        if before is None or kept["tables"][case.name] != case.digest:
            fields["table"] += 1
            print(f"{case.name} {one}: not the table of the file")
            continue
        for where, was, now in differences(before, found, ""):
            field, last = where.split(".")[1].split("[")[0], where.rpartition(".")[2]
            if field not in ignored and last not in ignored:
                fields[field] += 1
                places.add((case.name, one))
                print(f"{case.name} {one} {where[1:]}: {was!r} -> {now!r}", flush=True)
    total = sum(fields.values())
    print(f"{compared} runs compared, {total} differences in {len(places)} runs; {dict(fields)}")
    return total


def differences(was: object, now: object, where: str) -> Iterator[tuple[str, object, object]]:
    """Every place at which two answers differ, with what stands there."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in sorted(was.keys() | now.keys()):
            if key not in was or key not in now:
                yield f"{where}.{key}", was.get(key, "absent"), now.get(key, "absent")
            else:
                yield from differences(was[key], now[key], f"{where}.{key}")
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for i, (a, b) in enumerate(zip(was, now, strict=True)):
            yield from differences(a, b, f"{where}[{i}]")
    elif isinstance(was, float) and isinstance(now, float):
        if not alike(was, now, 0.0 if where.endswith("p_value") else ABSOLUTE):
            yield where, was, now
    elif type(was) is not type(now) or was != now:
        yield where, was, now


def alike(a: float, b: float, absolute: float) -> bool:
    return math.isclose(a, b, rel_tol=RELATIVE, abs_tol=absolute) or (
        math.isnan(a) and math.isnan(b)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Freeze what the searches answer, or compare.")
    parser.add_argument("what", choices=("freeze", "compare"))
    parser.add_argument("file")
    parser.add_argument("--search", default="all", choices=("all", "paper", AUTO, *PAPER))
    parser.add_argument("--table", default="", help="a part of the names of tables to compare")
    parser.add_argument(
        "--ignore", action="append", default=[], help="a field or attribute to leave out"
    )
    asked = parser.parse_args()
    began = time.process_time()
    found = 0
    if asked.what == "freeze":
        freeze(asked.file)
    else:
        found = compare(asked.file, asked.search, asked.table, asked.ignore)
    print(f"{time.process_time() - began:.0f} CPU seconds")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
