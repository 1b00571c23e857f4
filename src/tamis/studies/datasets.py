"""One table of a study in the hands of the methods, and its true graph; the files of networks."""

from __future__ import annotations

import gzip
import re
import warnings
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from tamis.errors import SettingError, TamisWarning
from tamis.simulate import draw
from tamis.simulate.streams import Purpose, Stream
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
