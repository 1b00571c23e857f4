"""The methods of a study by name: tamis's own searches, baselines, Gaussian peers, and yours.

| name | what runs |
|---|---|
| a search, such as ``node`` | ``tamis.TAM("node")`` on the discrete table |
| a search with ``-gaussian`` behind it | ``tamis.TAM("node", information="gaussian")`` |
| a search with ``-pairs`` behind it | ``tamis.TAM("node", look_ahead=2)`` |
| a baseline, such as ``pc`` | ``tamis.baselines`` on the discrete table |
| ``pc-fisher-z``, ``ges-gaussian`` | PC and GES for linear Gaussian columns |
| ``package.module:NAME`` | a baseline of your own: the object NAME of a module on Python's path |
"""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

from tamis import baselines
from tamis.baselines.registry import BASELINES, import_libraries, missing_modules
from tamis.defaults import SEARCHES
from tamis.defaults import Search as SearchName
from tamis.errors import SettingError
from tamis.experiments.cells import Draw
from tamis.experiments.datasets import Dataset
from tamis.experiments.gaussian_peers import PEERS, GaussianPeer

VARIANTS: dict[str, dict[str, Any]] = {
    "": {},
    "-gaussian": {"information": "gaussian"},
    "-pairs": {"look_ahead": 2},
}
"""What may stand behind the name of a search, and the parameters of ``TAM`` it means."""


@dataclass(frozen=True, eq=False)
class Found:
    """What came of learning: a graph as ``tamis.metrics`` reads it, or the reason why none."""

    graph: object | None
    seconds: float
    failure: str = ""


class Method(Protocol):
    """Something that learns a graph from a dataset, with one thread."""

    @property
    def packages(self) -> tuple[str, ...]:
        """The distributions whose versions belong to a result, numpy and tamis aside."""

    @property
    def extra(self) -> str:
        """The extra of tamis that installs what it needs; empty if none does."""

    def missing(self) -> list[str]:
        """The libraries it needs and that are not installed."""

    def prepare(self) -> None:
        """Everything that should not count as time of learning: importing, compiling."""

    def learn(self, data: Dataset) -> Found:
        """Learn; what is raised is the failure of this run."""


@dataclass(frozen=True)
class Search:
    """One of tamis's own."""

    search: SearchName
    variant: str = ""

    packages = ("numba",)
    extra = ""

    def missing(self) -> list[str]:
        """tamis is here."""
        return []

    def prepare(self) -> None:
        """Have the compiled loops at hand."""
        _warm_up(self)

    def learn(self, data: Dataset) -> Found:
        """The DAG."""
        from tamis.estimator import TAM

        parameters = VARIANTS[self.variant]
        # Read before the clock starts, as it is for the baselines.
        table = data.continuous if "information" in parameters else data.table
        start = perf_counter()
        graph = TAM(self.search, n_jobs=1, **parameters).fit(table).graph_
        return Found(graph, perf_counter() - start)


@dataclass(frozen=True)
class Peer:
    """A baseline on the discrete table."""

    baseline: baselines.Baseline

    @property
    def packages(self) -> tuple[str, ...]:
        """Those of the baseline."""
        return tuple(one for one in self.baseline.packages if one != "numpy")

    @property
    def extra(self) -> str:
        """That of the baseline."""
        return self.baseline.extra

    def missing(self) -> list[str]:
        """Libraries of the baseline."""
        return missing_modules(self.baseline)

    def prepare(self) -> None:
        """Import them."""
        import_libraries(self.baseline)

    def learn(self, data: Dataset) -> Found:
        """The graph the baseline finds, in this process; the pool ends it at its time limit."""
        run = baselines.run(self.baseline, data.table, seed=data.draw.seed)
        return Found(run.graph, run.seconds, run.failure or "")


@dataclass(frozen=True)
class Continuous:
    """A Gaussian peer on the numbers."""

    peer: GaussianPeer

    extra = "baselines"

    @property
    def packages(self) -> tuple[str, ...]:
        """Those of the peer."""
        return self.peer.packages

    def missing(self) -> list[str]:
        """Libraries of the peer."""
        return self.peer.missing()

    def prepare(self) -> None:
        """Import them."""
        self.peer.prepare()

    def learn(self, data: Dataset) -> Found:
        """The CPDAG over the names."""
        matrix, names = data.matrix, tuple(data.columns)
        start = perf_counter()
        learned = self.peer.learn(matrix)
        return Found(learned.graph(names), perf_counter() - start)


def find_method(name: str) -> Method:
    """The method of a name, or a refusal that lists them all."""
    for variant in VARIANTS:
        for search in SEARCHES:
            if name == search + variant:
                return Search(search, variant)
    if name in BASELINES:
        return Peer(BASELINES[name])
    if name in PEERS:
        return Continuous(PEERS[name])
    if ":" in name:
        return Peer(_of_your_own(name))
    listed = ", ".join([*SEARCHES, *BASELINES, *PEERS])
    raise SettingError(
        f"there is no method {name!r}; there are {listed}, searches with "
        f"{' or '.join(filter(None, VARIANTS))} behind them, and MODULE:NAME for a baseline of "
        "your own"
    )


def missing(names: Sequence[str]) -> dict[str, str]:
    """Those that cannot run here, each with what it needs."""
    found = {}
    for name in names:
        method = find_method(name)
        libraries = method.missing()
        if libraries:
            source = f", in the extra tamis[{method.extra}]" if method.extra else ""
            found[name] = " and ".join(libraries) + source
    return found


@cache
def library_of(name: str) -> str:
    """What a method comes from, with versions."""
    return "; ".join(f"{one} {version_of(one)}" for one in find_method(name).packages)


@cache
def version_of(package: str) -> str:
    """The version of a distribution."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def described(error: Exception) -> str:
    """The error and the line that raised it, in one line."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())}{where}"


@cache
def _warm_up(search: Search) -> None:
    """Learn two small tables, so that loading compiled loops is not taken for learning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in ("mod", "add"):
            small = Draw(model, "tree", d=6, n=200, replication=0, seed=1)
            search.learn(Dataset(small))


def _of_your_own(name: str) -> baselines.Baseline:
    module, _, attribute = name.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise SettingError(
            f"the method {name!r} cannot be imported ({error}): write MODULE:NAME, with a module "
            "on Python's path and an object in it like those of tamis.baselines"
        ) from error
    made: baselines.Baseline = found() if isinstance(found, type) else found
    return made
