"""Plans: which tables are drawn and which methods learn from each. A plan is a file of data.

The files of the studies that come with tamis are in the folder ``shipped``. Such a file has

- ``methods``, by the names of ``tamis.studies.methods``, and ``also``, more of them by model;
- ``rows``, ``nodes``, ``replications`` and ``seed``; ``time_limit`` in CPU seconds (0 is none) and
  ``patience``; ``measure``, "shd" or "cpdag", which tables and figures are about; ``notes``, which
  the report prints; ``models`` and ``graphs``, if only some are wanted;
- ``[quick]``, what a quick run has in place of some of these;
- ``[[tables]]``, any number of times: ``model``, ``graph`` and ``options`` as in
  ``tamis.simulate.draw``, or ``network``; a list stands for each of its members. ``name`` and
  ``graph_name`` are what results call them. ``nodes``, ``rows`` and ``replications`` may be given
  here too, ``edges_per_node`` is the option ``edges`` by the number of nodes, and what is done to
  the table (``tamis.studies.datasets``) is ``standardise``, ``hide``, ``functions``, ``bins``
  and ``ordinal``.

The first line of the file, a comment, says what the study is.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any, Self

from tamis.errors import FileFormatError, SettingError
from tamis.simulate import EXAMPLES, GRAPHS, MODELS
from tamis.simulate.options import whole
from tamis.simulate.recipes import named
from tamis.studies.datasets import size_of

MEASURES = {"shd": "SHD", "cpdag": "CPDAG distance"}
TREATMENTS = ("standardise", "hide", "functions", "bins", "ordinal")
_SIZES = ("nodes", "rows", "replications")
_PLACE = ("model", "name", "graph", "graph_name", "network", "edges_per_node", "options")

Block = Mapping[str, Any]


@dataclass(frozen=True, order=True)
class Draw:
    """One table of a study, everything that is needed to draw it, and who learns from it.

    ``graph`` is empty for models that have a graph of their own.
    """

    model: str
    graph: str
    d: int
    n: int
    replication: int
    seed: int
    arguments: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """``tamis.simulate.draw(**arguments)`` gives the table."""
    treatment: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """What is done to it then."""
    methods: tuple[str, ...] = field(default=(), compare=False)

    @property
    def cell(self) -> tuple[str, str, int, int]:
        """All that replications have in common."""
        return self.model, self.graph, self.d, self.n

    @property
    def settings(self) -> str:
        """The table as one line of JSON."""
        return json.dumps({**self.arguments, **self.treatment})

    def key(self, method: str) -> str:
        """The name of a run on this table, such as ``mod/tree/10/1000/0/sequential``."""
        return "/".join(map(str, (*self.cell, self.replication, method)))


@dataclass(frozen=True)
class Plan:
    """Every table is learned by every method; see the file for what the fields mean.

    A method that timed out on each of the first ``patience`` replications of a cell (model, graph,
    d, n) is skipped on its other replications and where d or n are larger and none is smaller; 0
    never gives up. ``networks`` is a folder of BIF files, None for those in pgmpy.
    """

    name: str
    tables: tuple[Block, ...]
    methods: tuple[str, ...]
    rows: tuple[int, ...] = ()
    nodes: tuple[int, ...] = ()
    replications: int = 1
    also: Mapping[str, Sequence[str]] = field(default_factory=dict)
    seed: int = 1
    time_limit: float = 60.0
    patience: int = 3
    measure: str = "shd"
    models: tuple[str, ...] = ()
    graphs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    networks: str | None = None

    def __post_init__(self) -> None:
        for name in ("tables", "methods", "rows", "nodes", "models", "graphs", "notes"):
            object.__setattr__(self, name, tuple(_listed(getattr(self, name))))
        limit = self.time_limit
        if not isinstance(limit, int | float) or not 0 <= limit < math.inf:
            raise SettingError(f"time_limit must be a number of seconds from 0 on, not {limit!r}")
        whole("patience", self.patience, 0)
        whole("seed", self.seed, 0)
        if self.measure not in MEASURES:
            raise SettingError(f"measure must be one of {', '.join(MEASURES)}, not {self.measure}")
        if not self.draws or not self.runs:
            raise SettingError("a plan needs at least one table and one method")

    @cached_property
    def draws(self) -> tuple[Draw, ...]:
        """All tables, sorted."""
        parts = [(block, part) for block in self.tables for part in _parts(block)]
        for kind in ("model", "graph"):
            wanted = getattr(self, f"{kind}s")
            known = dict.fromkeys(part[kind] for _, part in parts)
            for name in wanted:
                if name not in known:
                    listed = ", ".join(known)
                    raise SettingError(f"the plan has no {kind} {name!r}; it has {listed}")
            parts = [(block, part) for block, part in parts if not wanted or part[kind] in wanted]
        found = sorted(draw for block, part in parts for draw in self._drawn(block, part))
        _refuse_doubles("table", [draw.key("") for draw in found])
        return tuple(found)

    @cached_property
    def runs(self) -> tuple[str, ...]:
        """The keys of all runs, in the order of the tables."""
        return tuple(draw.key(method) for draw in self.draws for method in draw.methods)

    def all_methods(self) -> tuple[str, ...]:
        """Those that learn from some table."""
        return tuple(dict.fromkeys(name for draw in self.draws for name in draw.methods))

    def without(self, methods: Sequence[str]) -> Self:
        """The plan without some methods."""
        kept = tuple(name for name in self.methods if name not in methods)
        also = {m: [one for one in names if one not in methods] for m, names in self.also.items()}
        return replace(self, methods=kept, also=also)

    def to_dict(self) -> dict[str, Any]:
        """Convert it to what JSON holds; ``Plan(**written)`` is the inverse."""
        written = {one.name: getattr(self, one.name) for one in fields(self)}
        plain: dict[str, Any] = json.loads(json.dumps(written))
        return plain

    def _drawn(self, block: Block, part: Block) -> Iterator[Draw]:
        """All tables of one model and one graph."""
        arguments, network = part["arguments"], part["arguments"].get("network")
        sizes = {name: block.get(name, getattr(self, name)) for name in _SIZES}
        nodes = size_of(network, self.networks) if network else sizes["nodes"]
        times = range(whole("replications", sizes["replications"], 1))
        for d, n, one in product(_listed(nodes), _listed(sizes["rows"]), times):
            seed = seed_of(self.seed, network or arguments.get("graph", ""), d, one)
            own = {"n": n, "seed": seed} | ({"d": whole("nodes", d, 2)} if part["graph"] else {})
            if "edges_per_node" in block:
                own["edges"] = block["edges_per_node"] * d
            yield Draw(
                model=part["model"],
                graph=part["graph"],
                d=d,
                n=whole("rows", n, 1),
                replication=one,
                seed=seed,
                arguments=arguments | own,
                treatment={name: block[name] for name in TREATMENTS if name in block},
                methods=self._methods(part["model"]),
            )

    def _methods(self, model: str) -> tuple[str, ...]:
        methods = (*self.methods, *self.also.get(model, ()))
        _refuse_doubles("method", methods)
        return methods


def _parts(block: Block) -> Iterator[Block]:
    """Each model and graph of a block: what results call them, and how they are drawn."""
    known = (*_SIZES, *_PLACE, *TREATMENTS)
    for name in block:
        if name not in known:
            raise SettingError(
                f"there is no {name!r} for tables of a plan; there are {', '.join(known)}"
            )
    kinds = ("model", "graph", "network")
    for members in product(*(_listed(block.get(name)) or [None] for name in kinds)):
        place = {name: one for name, one in zip(kinds, members, strict=True) if one is not None}
        if "network" not in place:
            named("model", place.get("model"), MODELS | EXAMPLES)
        if "graph" in place:
            named("graph", place["graph"], GRAPHS)
        yield {
            "model": block.get("name", place.get("network", place.get("model"))),
            "graph": block.get("graph_name", place.get("graph", "")),
            "arguments": place | block.get("options", {}),
        }


def seed_of(seed: int, graph: str, d: int, replication: int) -> int:
    """The seed of one replication, whatever else is in the plan.

    Neither model nor n enters: a replication is one graph, on which all models live and whose
    tables grow with n, each beginning like the shorter one.
    """
    text = f"{seed}/{graph}/{d}/{replication}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])


def shipped() -> dict[str, str]:
    """The studies that come with tamis, each with the sentence that its file begins with."""
    folder = files("tamis.studies") / "shipped"
    paths = sorted((one for one in folder.iterdir()), key=lambda one: one.name)
    found = {one.name.removesuffix(".toml"): one.read_text("utf-8") for one in paths}
    return {name: text.partition("\n")[0].removeprefix("# ") for name, text in found.items()}


def load(plan: str | os.PathLike[str], *, quick: bool = False, **changes: object) -> Plan:
    """The plan of a study that comes with tamis, by its name, or of a file that ends in .toml.

    ``changes`` are fields of ``Plan``. If methods are given, they learn from all tables.
    """
    path, name = os.fspath(plan), Path(plan).stem
    place = (
        Path(path) if path.endswith(".toml") else files("tamis.studies") / f"shipped/{path}.toml"
    )
    try:
        written = tomllib.loads(place.read_text("utf-8"))
    except FileNotFoundError as error:
        raise SettingError(
            f"there is no study {path!r}; there are {', '.join(shipped())}, and files that end in "
            ".toml"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileFormatError(f"{path!r} cannot be read as a plan: {error}") from error
    if "methods" in changes:
        written.pop("also", None)
    in_quick = written.pop("quick", {})
    known = {one.name for one in fields(Plan)} - {"name"}
    given = {**written, **(in_quick if quick else {}), **changes}
    for one in given:
        if one not in known:
            raise SettingError(f"a plan has no {one!r}; it has {', '.join(sorted(known))}")
    return Plan(name=name, **given)


def _listed(value: Any) -> list[Any]:  # noqa: ANN401 - whatever a plan may hold
    """One thing or several, as several; None is nothing."""
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _refuse_doubles(kind: str, names: Sequence[str]) -> None:
    seen = set[str]()
    for name in names:
        if name in seen:
            raise SettingError(f"the {kind} {name!r} is in the plan twice: leave one out")
        seen.add(name)
