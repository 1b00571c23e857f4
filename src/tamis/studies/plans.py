"""Plans: which tables are drawn and which methods learn from each. A plan is a file of data.

The files of the studies that come with tamis are in the folder ``shipped``. Such a file has

- ``methods``, by the names of ``tamis.studies.attempts``, and ``also``, more of them by model;
- ``rows``, ``nodes``, ``replications`` and ``seed``; ``time_limit`` in CPU seconds (0 is none) and
  ``patience``; ``measure``, "shd" or "cpdag", which tables and figures are about; ``notes``, which
  the report prints; ``models`` and ``graphs``, if only some are wanted;
- ``[quick]``, what a quick run has in place of some of these;
- ``[[tables]]``, any number of times: ``model``, ``graph`` and ``options`` as in
  ``tamis.simulate.draw``, or ``network``; a list stands for each of its members. ``name`` and
  ``graph_name`` are what results call them. ``nodes``, ``rows`` and ``replications`` may be given
  here too, ``edges_per_node`` is the option ``edges`` by the number of nodes, and what is done to
  the table (``tamis.studies.attempts``) is ``standardise``, ``hide``, ``functions``, ``bins``
  and ``ordinal``.

The first line of the file, a comment, says what the study is.
"""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, Self

from tamis.errors import FileFormatError, SettingError
from tamis.plugins import is_number, shortened, whole
from tamis.simulate import EXAMPLES, GRAPHS, MODELS
from tamis.simulate.options import named
from tamis.studies.attempts import TREATMENTS, size_of
from tamis.studies.rows import Row

MOST_REPLICATIONS = 10**6
SHIPPED = Path(__file__).parent / "shipped"
MEASURES = {"shd": "SHD", "cpdag": "CPDAG distance"}
_SIZES = ("nodes", "rows", "replications")
_KINDS = ("model", "graph", "network")
_BLOCK = (*_SIZES, *_KINDS, "name", "graph_name", "edges_per_node", "options", *TREATMENTS)


class Part(NamedTuple):
    """One model and one graph of a block of tables: what results call them, how they are drawn."""

    model: str
    graph: str
    arguments: dict[str, Any]
    block: Mapping[str, Any]


@dataclass(frozen=True)
class Plan:
    """Every table is learned by every method; see the file for what the fields mean.

    A method that timed out on each of the first ``patience`` replications of a cell (model, graph,
    d, n) is skipped on its other replications and where d or n are larger and none is smaller; 0
    never gives up. ``networks`` is a folder of BIF files, None for those in pgmpy.
    """

    name: str
    tables: tuple[Mapping[str, Any], ...]
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
        for name in ("methods", "models", "graphs", "notes"):
            _require_words(name, getattr(self, name))
        _require_words("networks", _listed(self.networks))
        if not isinstance(self.also, Mapping):
            raise SettingError(f"also must have methods by model, not {shortened(self.also)}")
        for model, more in self.also.items():
            _require_words(f"also, for {model},", _listed(more))
        if not is_number(self.time_limit, 0):
            limit = shortened(self.time_limit)
            raise SettingError(f"time_limit must be a number of seconds from 0 on, not {limit}")
        whole("patience", self.patience, 0)
        whole("seed", self.seed, 0)
        if not isinstance(self.measure, str) or self.measure not in MEASURES:
            listed = ", ".join(MEASURES)
            raise SettingError(f"measure must be one of {listed}, not {shortened(self.measure)}")
        if not self.runs:
            raise SettingError("a plan needs at least one table and one method")

    @cached_property
    def draws(self) -> tuple[tuple[Row, ...], ...]:
        """The runs on each table, tables sorted: rows without a status, as nothing has been run."""
        parts = [part for block in self.tables for part in _parts(block)]
        for kind in ("model", "graph"):
            wanted = getattr(self, f"{kind}s")
            known = {getattr(part, kind): None for part in parts}
            for name in wanted:
                if name not in known:
                    listed = ", ".join(known)
                    raise SettingError(f"the plan has no {kind} {name!r}; it has {listed}")
            parts = [part for part in parts if not wanted or getattr(part, kind) in wanted]
        drawn = (runs for part in parts for runs in self._drawn(part) if runs)
        found = sorted(drawn, key=lambda runs: runs[0].place[:-1])
        _refuse_doubles("table", (runs[0].key.removesuffix(runs[0].method) for runs in found))
        return tuple(found)

    @cached_property
    def runs(self) -> tuple[str, ...]:
        """The keys of all runs, in the order of the tables."""
        return tuple(row.key for runs in self.draws for row in runs)

    def all_methods(self) -> tuple[str, ...]:
        """Those that learn from some table."""
        return tuple(dict.fromkeys(row.method for runs in self.draws for row in runs))

    def without(self, methods: Iterable[str]) -> Self:
        """The plan without some methods."""
        left = set(methods)
        kept = tuple(name for name in self.methods if name not in left)
        also = {m: [one for one in names if one not in left] for m, names in self.also.items()}
        return replace(self, methods=kept, also=also)

    def to_dict(self) -> dict[str, Any]:
        """Convert it to what JSON holds; ``Plan(**written)`` is the inverse."""
        written = {one.name: getattr(self, one.name) for one in fields(self)}
        plain: dict[str, Any] = json.loads(json.dumps(written))
        return plain

    def _drawn(self, part: Part) -> Iterator[tuple[Row, ...]]:
        """All tables of one model and one graph."""
        block, network = part.block, part.arguments.get("network")
        sizes = {name: block.get(name, getattr(self, name)) for name in _SIZES}
        nodes = size_of(network, self.networks) if network else sizes["nodes"]
        times = range(whole("replications", sizes["replications"], 1, MOST_REPLICATIONS))
        treatment = {name: block[name] for name in TREATMENTS if name in block}
        methods = (*self.methods, *self.also.get(part.model, ()))
        _refuse_doubles("method", methods)
        for d, n, one in product(_listed(nodes), _listed(sizes["rows"]), times):
            seed = seed_of(self.seed, network or part.arguments.get("graph", ""), d, one)
            own = {"n": whole("rows", n, 1), "seed": seed}
            own |= {"d": whole("nodes", d, 2)} if part.graph else {}
            own |= {"edges": block["edges_per_node"] * d} if "edges_per_node" in block else {}
            yield tuple(
                Row(
                    model=part.model,
                    graph=part.graph,
                    d=d,
                    n=n,
                    replication=one,
                    method=method,
                    seed=seed,
                    status="",
                    time_limit=self.time_limit or None,
                    settings=json.dumps(part.arguments | own | treatment),
                )
                for method in methods
            )


def _parts(block: Mapping[str, Any]) -> Iterator[Part]:
    if not isinstance(block, Mapping):
        raise SettingError(f"tables must be blocks with a model or a network, not {block!r}")
    for name in block:
        if name not in _BLOCK:
            raise SettingError(
                f"there is no {name!r} for tables of a plan; there are {', '.join(_BLOCK)}"
            )
    for name in (*_KINDS, "name", "graph_name"):
        _require_words(name, _listed(block.get(name)))
    if not isinstance(block.get("options", {}), Mapping):
        raise SettingError(f"options must have values by name, not {shortened(block['options'])}")
    if not is_number(block.get("edges_per_node", 1), 0):
        raise SettingError(
            f"edges_per_node must be a number from 0 on, not {shortened(block['edges_per_node'])}"
        )
    for members in product(*(_listed(block.get(name)) or [None] for name in _KINDS)):
        place = {name: one for name, one in zip(_KINDS, members, strict=True) if one is not None}
        if "network" not in place:
            named("model", place.get("model"), MODELS | EXAMPLES)
        if "graph" in place:
            named("graph", place["graph"], GRAPHS)
        yield Part(
            block.get("name", place.get("network", place.get("model"))),
            block.get("graph_name", place.get("graph", "")),
            place | block.get("options", {}),
            block,
        )


def seed_of(seed: int, graph: str, d: int, replication: int) -> int:
    """The seed of one replication, whatever else is in the plan.

    Neither model nor n enters: a replication is one graph, on which all models live and whose
    tables grow with n, each beginning like the shorter one.
    """
    text = f"{seed}/{graph}/{d}/{replication}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])


def first_replications(count: int) -> str:
    """Those that decide whether a method is given up, in words."""
    return "the first replication" if count == 1 else f"the first {count} replications"


def shipped() -> dict[str, str]:
    """The studies that come with tamis, each with the sentence that its file begins with."""
    texts = {path.stem: path.read_text("utf-8") for path in sorted(SHIPPED.glob("*.toml"))}
    return {name: text.partition("\n")[0].removeprefix("# ") for name, text in texts.items()}


def load(plan: str | os.PathLike[str], *, quick: bool = False, **changes: object) -> Plan:
    """The plan of a study that comes with tamis, by its name, or of a file that ends in .toml.

    ``changes`` are fields of ``Plan``. If methods are given, they learn from all tables.
    """
    path = os.fspath(plan)
    place = Path(path) if path.endswith(".toml") else SHIPPED / f"{path}.toml"
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
    for one in ("tables", "methods"):
        if one not in given:
            raise FileFormatError(f"{path!r} is no plan: it has no {one}")
    return Plan(name=place.stem, **given)


def _listed(value: Any) -> list[Any]:  # noqa: ANN401 - whatever a plan may hold
    """One thing or several, as several; None is nothing."""
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _require_words(name: str, given: Sequence[object]) -> None:
    for one in given:
        if not isinstance(one, str):
            raise SettingError(f"{name} must be words, not {shortened(one)}")


def _refuse_doubles(kind: str, names: Iterable[str]) -> None:
    seen = set[str]()
    for name in names:
        if name in seen:
            raise SettingError(f"the {kind} {name!r} is in the plan twice: leave one out")
        seen.add(name)
