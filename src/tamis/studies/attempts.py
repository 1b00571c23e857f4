"""The runs on one table of a study: it is drawn, methods are found by name, runs made and scored.

This is what workers do; nothing that goes wrong in a run is raised.
"""

from __future__ import annotations

import gzip
import json
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from tamis import metrics
from tamis.baselines import Baseline
from tamis.baselines.comparing import OwnSearch, cannot_take
from tamis.baselines.interface import Learned
from tamis.baselines.running import BASELINES, attempt, described, prepare, versions
from tamis.errors import SettingError, TamisWarning
from tamis.parameters import SEARCHES
from tamis.simulate import draw
from tamis.simulate.streams import Purpose, Stream
from tamis.studies.rows import FAILED, OK, Row
from tamis.tables import Table, read_table

Columns = dict[str, NDArray[Any]]

FUNCTIONS: dict[str, Callable[..., NDArray[Any]]] = {
    "sum": np.add,
    "larger": np.maximum,
    "equal": lambda a, b: (a == b).astype(np.int64),
}
"""What a column that is a function of two others can be, in turn."""


TREATMENTS = ("standardise", "hide", "functions", "bins", "ordinal")
"""What can be done to a table that has been drawn; see ``Dataset``."""


class Dataset:
    """Drawn once, learned from by every method.

    ``settings`` are those of ``tamis.simulate.draw``, and what is done then: ``standardise`` gives
    all columns of numbers mean 0 and variance 1. ``hide`` leaves out the columns with the most
    children, a number of them. ``functions`` adds columns that are functions of two others.
    ``bins`` says into how many equally filled parts numbers are cut for methods that take levels
    only, and ``ordinal`` that whole numbers are ordinal to tamis.
    """

    def __init__(self, settings: Mapping[str, Any], networks: str | None = None) -> None:
        arguments = {name: one for name, one in settings.items() if name not in TREATMENTS}
        if "network" in arguments:
            arguments["network"] = network_file(arguments["network"], networks)
        made = draw(**arguments)
        self.columns: Columns = dict(made.data)
        self.graph: nx.DiGraph[str] = made.graph.copy()
        self.hidden: tuple[tuple[str, ...], ...] = ()
        """The children, in the table, of each column that was left out."""
        self._bins = settings.get("bins", 0)
        self._told = "ordinal" if settings.get("ordinal") else "category"
        if settings.get("standardise"):
            self.columns = {k: (x - x.mean()) / x.std() for k, x in self.columns.items()}
        self._hide(settings.get("hide", 0))
        self._add_functions(settings.get("functions", 0), arguments["seed"])

    def table(self, *, numbers: bool, labels: bool) -> Table:
        """For a method that takes numbers, or levels only; ``labels`` if whole numbers are to be
        categories."""
        if not numbers:
            return self._levels
        return self._as_labels if labels else self._as_it_is

    @cached_property
    def _as_it_is(self) -> Table:
        return self._as_labels if self._told == "ordinal" else _read(self.columns)

    @cached_property
    def _as_labels(self) -> Table:
        return _read(self.columns, {k: self._told for k, x in self.columns.items() if _whole(x)})

    @cached_property
    def _levels(self) -> Table:
        if not self._bins:
            return self._as_labels
        cut = {k: x if _whole(x) else _cut(x, self._bins) for k, x in self.columns.items()}
        return _read(cut, dict.fromkeys(cut, "category"))

    def _hide(self, number: int) -> None:
        for _ in range(number):
            name = min(self.graph, key=lambda one: (-self.graph.out_degree(one), one))
            self.hidden = (*self.hidden, tuple(self.graph.successors(name)))
            self.graph.remove_node(name)
            del self.columns[name]
        self.hidden = tuple(tuple(c for c in own if c in self.graph) for own in self.hidden)

    def _add_functions(self, number: int, seed: int) -> None:
        names, chance = list(self.columns), Stream(seed, Purpose.PARAMETERS, 10**6)
        for i in range(number):
            kind = list(FUNCTIONS)[i % len(FUNCTIONS)]
            pair = [names[k] for k in chance.permutation(len(names))[:2]]
            self.columns[f"{kind}{i}"] = FUNCTIONS[kind](*(self.columns[k] for k in pair))
            self.graph.add_edges_from((k, f"{kind}{i}") for k in pair)


def _read(columns: Columns, types: dict[str, str] | None = None) -> Table:
    with warnings.catch_warnings():
        # A column of a random model may happen not to vary; nobody is there to drop it.
        warnings.simplefilter("ignore", TamisWarning)
        return read_table(columns, continuous=True, types=types)


def _whole(column: NDArray[Any]) -> bool:
    return column.dtype.kind != "f"


def _cut(column: NDArray[Any], bins: int) -> NDArray[Any]:
    ranks = np.argsort(np.argsort(column, kind="stable"), kind="stable")
    return np.asarray(ranks * bins // len(column))


_PLACE = ("utils", "example_models")
"""Where pgmpy 1.1.0, the last release with the networks inside, keeps them."""


def network_files(folder: str | None = None) -> dict[str, Path]:
    """All networks there are, by name: the BIF files of a folder, or those in pgmpy."""
    spec = find_spec("pgmpy") if folder is None else None
    roots = (spec.submodule_search_locations or []) if spec is not None else []
    places = [Path(root, *_PLACE) for root in roots] if folder is None else [Path(folder)]
    found = (path for place in places for path in sorted(place.rglob("*.bif*")))
    return {path.name.split(".")[0]: path for path in found}


@cache
def network_file(name: str, folder: str | None = None) -> Path:
    """The file of one network; a refusal that says where it was looked for."""
    found = network_files(folder)
    if name in found:
        return found[name]
    if folder is not None:
        raise SettingError(f"networks: the folder {folder!r} has no {name}.bif or {name}.bif.gz")
    raise SettingError(
        f"the network {name!r} is not here: pip install 'pgmpy==1.1.0', whose wheel holds the "
        "networks of the bnlearn repository, or give a folder of BIF files (networks)"
    )


@cache
def size_of(name: str, folder: str | None = None) -> int:
    """The number of its variables, without reading its tables."""
    path = network_file(name, folder)
    content = path.read_bytes()
    text = gzip.decompress(content) if path.suffix == ".gz" else content
    return len(re.findall(rb"^\s*variable\s", text, re.MULTILINE))


VARIANTS: dict[str, dict[str, Any]] = {
    "": {},
    "-labels": {},
    "-gaussian": {"information": "gaussian"},
    "-pairs": {"look_ahead": 2},
}
"""What may stand behind the name of a search, and the parameters of ``TAM`` it means."""
_SEARCHES = {search + variant: (search, variant) for search in SEARCHES for variant in VARIANTS}
_ORDER = {name: place for place, name in enumerate([*_SEARCHES, *BASELINES])}


@cache
def find_method(name: str) -> Baseline:
    """The method of a name, or a refusal that lists them all."""
    if name in _SEARCHES:
        search, variant = _SEARCHES[name]
        return OwnSearch(name, search, **VARIANTS[variant])
    if name in BASELINES:
        return BASELINES[name]
    if ":" in name:
        return _of_your_own(name)
    raise SettingError(
        f"there is no method {name!r}; there are {', '.join((*SEARCHES, *BASELINES))}, searches "
        f"with {' or '.join(filter(None, VARIANTS))} behind them, and MODULE:NAME for a baseline "
        "of your own"
    )


def table_for(name: str, data: Dataset) -> Table:
    """The table as a method of this name is to see it."""
    numbers = getattr(find_method(name), "takes_numbers", False)
    return data.table(numbers=numbers, labels=name != "auto" and not name.endswith("-gaussian"))


@cache
def library_of(name: str) -> str:
    """What a method comes from, with versions, tamis and numpy aside."""
    found = versions(find_method(name)).items()
    return "; ".join(f"{one} {number}" for one, number in found if one not in ("numpy", "tamis"))


def in_order(methods: Iterable[str]) -> tuple[str, ...]:
    """Methods as they are always listed: tamis's own, baselines, others by name."""
    return tuple(sorted(methods, key=lambda name: (_ORDER.get(name, len(_ORDER)), name)))


def _of_your_own(name: str) -> Baseline:
    module, _, attribute = name.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise SettingError(
            f"the method {name!r} cannot be imported ({error}): write MODULE:NAME, with a module "
            "on Python's path and an object in it like those of tamis.baselines"
        ) from error
    made: Baseline = found() if isinstance(found, type) else found
    return made


OPEN = "none"
"""The warrant of a direction that is not claimed."""
_prepared = set[tuple[str, str]]()
"""Methods and models for which libraries are imported and loops compiled in this process."""


def attempts(runs: list[dict[str, Any]], networks: str | None) -> Iterator[dict[str, Any]]:
    """Draw the table, and make the runs on it: the job of a worker."""
    rows = [Row(**{**run, "status": FAILED}) for run in runs]
    try:
        data = Dataset(json.loads(rows[0].settings), networks)
    except Exception as error:
        why = f"the table could not be drawn: {described(error)}"
        yield from ({"row": vars(replace(row, reason=why))} for row in rows)
        return
    edges = data.graph.number_of_edges()
    for row in rows:
        yield from _attempt(replace(row, edges_true=edges), data)


def _attempt(row: Row, data: Dataset) -> Iterator[dict[str, Any]]:
    try:
        method, table = find_method(row.method), table_for(row.method, data)
        problem = cannot_take(method, table)
        if problem is not None:
            yield {"row": vars(replace(row, reason=f"{row.method} {problem}"))}
            return
        if (row.method, row.model) not in _prepared:
            prepare(method, table)
            _prepared.add((row.method, row.model))
        yield {"begins": vars(row)}
        found = attempt(method, table, row.seed)
        yield {"ends": True}  # the clock stops: scores are not learning
        row = replace(row, seconds=round(found.seconds, 6), cpu_seconds=round(found.cpu_seconds, 6))
        if found.learned is None:
            yield {"row": vars(replace(row, reason=found.failure or "it gave no reason"))}
        else:
            yield {"row": vars(scored(row, found.learned, table.names, data))}
    except Exception as error:
        yield {"row": vars(replace(row, reason=described(error)))}


def scored(row: Row, learned: Learned, names: tuple[str, ...], data: Dataset) -> Row:
    """The row with all scores of what was learned."""
    graph = learned.graph(names)
    graph.add_nodes_from(data.graph)  # a column that never varies has no edges
    skeleton = metrics.skeleton_scores(graph, data.graph)
    named = {(names[i], names[j]): one for (i, j), one in learned.warrants.items()}
    return replace(
        row,
        status=OK,
        shd=metrics.shd(graph, data.graph),
        shd_strict=metrics.shd(graph, data.graph, undirected="strict"),
        cpdag=cpdag_distance(graph, data.graph),
        skeleton_f1=round(skeleton.f1, 6),
        edges_learned=skeleton.learned,
        directions=json.dumps(_by_warrant(named, data) | _about_hidden(graph, named, data)),
    )


def cpdag_distance(learned: nx.DiGraph[str], true: nx.DiGraph[str]) -> int:
    """Between a learned DAG, or a partly directed graph as it is, and the class of the true DAG."""
    if nx.is_directed_acyclic_graph(learned):
        learned = metrics.to_cpdag(learned)
    return metrics.shd(learned, metrics.to_cpdag(true), undirected="strict")


def _by_warrant(warrants: Mapping[tuple[str, str], str], data: Dataset) -> dict[str, list[int]]:
    """Of the arrows over true edges, by warrant: how many are right, and how many there are."""
    found: dict[str, list[int]] = {}
    for (parent, child), warrant in sorted(warrants.items()):
        right = data.graph.has_edge(parent, child)
        if right or data.graph.has_edge(child, parent):
            counts = found.setdefault(warrant, [0, 0])
            counts[0] += right
            counts[1] += 1
    return found


def _about_hidden(
    graph: nx.DiGraph[str], warrants: Mapping[tuple[str, str], str], data: Dataset
) -> dict[str, list[int]]:
    """Of the pairs that a hidden cause joins and no edge: claimed, joined, and all."""
    pairs = {frozenset(pair) for own in data.hidden for pair in combinations(own, 2)}
    counts = np.zeros(3, dtype=int)
    for a, b in map(sorted, pairs):
        if data.graph.has_edge(a, b) or data.graph.has_edge(b, a):
            continue
        arrows = [arrow for arrow in ((a, b), (b, a)) if graph.has_edge(*arrow)]
        claimed = len(arrows) == 1 and warrants.get(arrows[0]) != OPEN
        counts += (claimed, bool(arrows), 1)
    return {"hidden": counts.tolist()} if data.hidden else {}
