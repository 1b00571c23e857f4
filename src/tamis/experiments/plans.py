"""Plans: which tables are drawn and which methods learn from each. Pure data, made here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import product
from typing import Any, TypeVar

from tamis.errors import SettingError
from tamis.experiments.cells import Cell, Draw, Option, seed_of
from tamis.simulate.options import flag, number, probability, whole

T = TypeVar("T")

MODELS = ("mod", "add")
GRAPHS = ("tree", "er", "sf")
"""The paper's."""

METHODS = (
    "sequential",
    "node",
    "reference",
    "pc",
    "ges-bic",
    "hill-climbing",
    "miic",
    "equal-variance",
)
"""The methods of the full study unless others are asked for."""
QUICK_METHODS = tuple(name for name in METHODS if name != "ges-bic")
"""Those that are done in a minute or two."""
UNFAITHFUL_METHODS = ("node-gaussian", "pc-fisher-z", "ges-gaussian")
"""Methods for linear Gaussian columns."""

TIME_LIMIT = 60.0
"""Seconds a run unless another limit is asked for."""
PATIENCE = 3
"""Time-outs, from the first replication on, after which a method is given up."""


@dataclass(frozen=True)
class Plan:
    """Every table is learned by every method.

    ``time_limit`` is in seconds of learning, None for no limit. A method that timed out on each
    of the first ``patience`` replications of a cell (model, graph, d, n) is skipped on its other
    replications and on larger d; 0 never gives up. ``command`` is how to make the plan again, and
    no part of what it is.
    """

    name: str
    draws: tuple[Draw, ...]
    methods: tuple[str, ...]
    time_limit: float | None = TIME_LIMIT
    patience: int = PATIENCE
    command: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not self.draws or not self.methods:
            raise SettingError("a plan needs at least one table and one method")
        _refuse_doubles("method", self.methods)
        _refuse_doubles("table", [draw.place for draw in self.draws])
        if self.time_limit is not None and not 0 < self.time_limit < math.inf:
            raise SettingError(
                f"time_limit must be a number of seconds above 0, not {self.time_limit!r}"
            )
        whole("patience", self.patience, 0)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """All runs, in the order of their keys."""
        return tuple(sorted(Cell(draw, name) for draw in self.draws for name in self.methods))

    def to_dict(self) -> dict[str, Any]:
        """Convert it to what JSON can hold."""
        written = {one.name: getattr(self, one.name) for one in fields(self)}
        return {
            **written,
            "methods": list(self.methods),
            "draws": [draw.to_dict() for draw in self.draws],
        }

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> Plan:
        """The inverse of ``to_dict``."""
        draws = tuple(map(Draw.from_dict, written["draws"]))
        return cls(**{**written, "draws": draws, "methods": tuple(written["methods"])})


def paper(
    full: bool = True,
    *,
    models: Sequence[str] = MODELS,
    graphs: Sequence[str] = GRAPHS,
    nodes: Sequence[int] | None = None,
    rows: Sequence[int] | None = None,
    replications: int | None = None,
    methods: Sequence[str] | None = None,
    seed: int = 1,
    edges_per_node: float = 1.0,
    attachments: int = 1,
    p: float = 0.2,
    flip: bool = False,
    time_limit: float | None = TIME_LIMIT,
    patience: int = PATIENCE,
) -> Plan:
    """The paper's study (section 5 and app. I), or a small part of it if not ``full``.

    Full: d from 10 to 50, n from 1000 to 4000, 30 replications. Otherwise: d 10 and 20, n 1000
    and 4000, 5 replications, fewer methods. Each can be chosen by itself. The paper does not say
    how many edges its ER and SF graphs have: ``edges_per_node`` times d are expected in the
    former, and each new node of the latter is joined to ``attachments`` older ones. ``p`` is the
    noise of both models, and ``flip`` turns it into 1 - p at random nodes, as the authors'
    program does.
    """
    nodes = _default(nodes, (10, 20, 30, 40, 50) if full else (10, 20))
    rows = _default(rows, (1000, 2000, 3000, 4000) if full else (1000, 4000))
    replications = _default(replications, 30 if full else 5)
    common = {"p": probability("p", p), "flip": flag("flip", flip)}
    draws = []
    for graph, d in product(_known("graph", graphs, GRAPHS), nodes):
        options = _graph_options(graph, d, edges_per_node, attachments) | common
        laws = _known("model", models, MODELS)
        draws += _replicated(laws, graph, d, rows, replications, seed, options)
    return Plan(
        name="paper",
        draws=tuple(sorted(draws)),
        methods=tuple(_default(methods, METHODS if full else QUICK_METHODS)),
        time_limit=time_limit,
        patience=patience,
    )


def unfaithful(
    *,
    rows: Sequence[int] = (100, 300, 1000, 3000, 10_000),
    replications: int = 100,
    methods: Sequence[str] = UNFAITHFUL_METHODS,
    seed: int = 1,
    time_limit: float | None = TIME_LIMIT,
) -> Plan:
    """The unfaithful Gaussian example of app. C.7, whose four nodes and law are fixed."""
    draws = _replicated(("unfaithful",), "", 4, rows, replications, seed, {})
    return Plan("unfaithful", tuple(sorted(draws)), tuple(methods), time_limit)


def _replicated(
    models: Iterable[str],
    graph: str,
    d: int,
    rows: Iterable[int],
    replications: int,
    seed: int,
    options: Mapping[str, Option],
) -> list[Draw]:
    """A table for each model, n and replication; one seed a replication."""
    whole("seed", seed, 0)
    return [
        Draw(
            model=model,
            graph=graph,
            d=whole("nodes", d, 2),
            n=whole("rows", n, 1),
            replication=one,
            seed=seed_of(seed, graph, d, one),
            options=tuple(options.items()),
        )
        for model, n, one in product(models, rows, range(whole("replications", replications, 1)))
    ]


def _graph_options(
    graph: str, d: int, edges_per_node: float, attachments: int
) -> dict[str, Option]:
    if graph == "er":
        whole("nodes", d, 2)
        # More edges than pairs cannot be expected, and a small d is where that happens.
        most = (d - 1) / 2
        return {"edges": d * number(f"edges_per_node (with {d} nodes)", edges_per_node, 0, most)}
    return {"m": whole("attachments", attachments, 1)} if graph == "sf" else {}


def _default(given: T | None, default: T) -> T:
    return default if given is None else given


def _known(kind: str, names: Sequence[str], known: Sequence[str]) -> Sequence[str]:
    for name in names:
        if name not in known:
            raise SettingError(f"the paper has no {kind} {name!r}; it has {', '.join(known)}")
    return names


def _refuse_doubles(kind: str, names: Sequence[str]) -> None:
    seen = set[str]()
    for name in names:
        if name in seen:
            raise SettingError(f"the {kind} {name!r} is in the plan twice: leave one out")
        seen.add(name)
