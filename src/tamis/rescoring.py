"""Change this arrow and score again: what the likelihood says of another graph over the same table.

The score is the one that the search compares graphs by, the penalised log-likelihood. It is a sum
over families, a column with its parents, so only the changed families are scored anew.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from tamis.constants import in_force
from tamis.counting.opening import opened
from tamis.errors import SettingError
from tamis.information.interface import Ability, Context, Source
from tamis.network.parts import arrows, find_cycle
from tamis.opening import in_search_order, open_information, open_outside, read_opened
from tamis.plugins import Recorded, listed
from tamis.settings import Settings
from tamis.tables.table import AnyTable

Pair = tuple[str, str]
Parents = Mapping[str, tuple[str, ...]]

SAME = 1e-6
"""Scores that differ by less, in nats, are the same but for rounding."""


@dataclass(frozen=True)
class Family:
    """A column whose parents have changed, with its part of the score before and after."""

    child: str
    parents_before: tuple[str, ...]
    parents_after: tuple[str, ...]
    before: float
    after: float

    @property
    def cost(self) -> float:
        """What the change costs in this family, in nats; negative if it is better."""
        return self.before - self.after


@dataclass(frozen=True)
class Rescored:
    """A changed graph and what the change costs; print it.

    Scores are penalised log-likelihoods in nats, the larger the better. They can be compared
    between graphs over the same table, and not between tables.
    """

    added: tuple[Pair, ...]
    removed: tuple[Pair, ...]
    turned: tuple[Pair, ...]
    """As they pointed before."""
    parents: Parents
    """Of every column, after the change."""
    n_rows: int
    before: float
    after: float
    families: tuple[Family, ...]
    """Those that have changed, the dearest first."""

    @property
    def cost(self) -> float:
        """What the change costs in all, in nats; negative if the changed graph is better."""
        return self.before - self.after

    def __repr__(self) -> str:
        n = len(self.added) + len(self.removed) + len(self.turned)
        return f"<Rescored: {n} {'arrow' if n == 1 else 'arrows'} changed, {_worse(self.cost)}>"

    def __str__(self) -> str:
        lines = [
            f"{_changes(self)}: {_worse(self.cost)}.",
            f"The score of the graph goes from {self.before:.2f} to {self.after:.2f} nats, on "
            f"{self.n_rows} rows.",
        ]
        for one in self.families:
            after = ", ".join(map(repr, one.parents_after)) or "nothing"
            lines.append(f"  {one.child!r} given {after}: {_worse(one.cost)}")
        return "\n".join(lines)


def with_edges(
    parents: Parents,
    settings: Settings,
    data: object,
    *,
    add: Iterable[Pair] = (),
    remove: Iterable[Pair] = (),
    turn: Iterable[Pair] = (),
    weights: object = None,
) -> Rescored:
    """Score a graph and a changed one against a table.

    Parameters
    ----------
    parents : mapping
        The parents of every column.
    settings : Settings
        Those of the run, with the information that was chosen.
    data : anything that ``TAM.fit`` takes
        The table that was learned from, or another with the same columns.
    add, remove, turn : iterable of (parent, child)
        The changes. An arrow to turn is named as it points now.
    weights : str, sequence or None
        Of the rows, as ``sample_weight`` of ``TAM.fit``.

    Returns
    -------
    Rescored

    Raises
    ------
    SettingError
        If a name is unknown, an arrow is not there or there already, the change makes a cycle, or
        the information has no likelihood.
    """
    added, removed, turned = _pairs("add", add), _pairs("remove", remove), _pairs("turn", turn)
    after = _changed(parents, added, removed, turned)
    with (
        opened(
            data,
            memory=settings.memory,
            missing=settings.missing,
            information=settings.read_as,
            weights=weights,
            types=settings.types,
        ) as given,
        in_force(settings.constants),
    ):
        table = _same_columns(read_opened(given, settings, weights), parents)
        source = _source(table, settings)
        before = _scores(source, parents)
        changed = [name for name in parents if set(parents[name]) != set(after[name])]
        fresh = _scores(source, {name: after[name] for name in changed})
    families = [
        Family(name, tuple(parents[name]), after[name], before[name], fresh[name])
        for name in changed
    ]
    return Rescored(
        added,
        removed,
        turned,
        after,
        table.n_rows,
        math.fsum(before.values()),
        math.fsum((before | fresh).values()),
        tuple(sorted(families, key=lambda one: (-one.cost, one.child))),
    )


def _source(table: AnyTable, settings: Settings) -> Source:
    """What scores graphs over this table."""
    own = settings.own_information
    if isinstance(own, Recorded):
        raise SettingError(
            f"the graph was learned with {settings.read_as}, which a saved run only names: ask the "
            "model itself, model.with_edges"
        )
    ordered = in_search_order(table, settings)
    source = open_information(ordered, settings) if own is None else open_outside(own, table)
    source.require(
        Ability.LIKELIHOOD, "with_edges", "learn with information='gaussian', 'counts' or the like"
    )
    return source


def _scores(source: Source, parents: Parents) -> dict[str, float]:
    """The score of each family."""
    place = {name: k for k, name in enumerate(source.names)}
    contexts = [
        Context(place[child], tuple(sorted(place[one] for one in given)))
        for child, given in parents.items()
    ]
    found = source.penalised_likelihoods(contexts).tolist() if contexts else []
    return dict(zip(parents, found, strict=True))


def _changed(
    parents: Parents, added: Sequence[Pair], removed: Sequence[Pair], turned: Sequence[Pair]
) -> dict[str, tuple[str, ...]]:
    """The parents after the change, if that is a DAG."""
    if not (added or removed or turned):
        raise SettingError("name at least one arrow to add, remove or turn")
    for pair in (*added, *removed, *turned):
        for name in pair:
            _require_column(name, parents)
    for pair in removed:
        if pair in turned:
            raise SettingError(f"the arrow {_arrow(pair)} is to be removed and turned: do one")
    found = {child: list(given) for child, given in parents.items()}
    for parent, child in (*removed, *turned):
        if parent not in found[child]:
            raise SettingError(
                f"there is no arrow {_arrow((parent, child))}{_hint(parents, parent, child)}"
            )
        found[child].remove(parent)
    for parent, child in (*added, *((child, parent) for parent, child in turned)):
        if parent in found[child]:
            raise SettingError(f"the arrow {_arrow((parent, child))} is there already")
        found[child].append(parent)
    _require_dag(found)
    return {child: tuple(given) for child, given in found.items()}


def _hint(parents: Parents, parent: str, child: str) -> str:
    if child in parents[parent]:
        return f"; it points the other way, {_arrow((child, parent))}"
    known = ", ".join(map(repr, parents[child])) or "none"
    return f"; the parents of {child!r} are: {known}"


def _require_column(name: str, parents: Parents) -> None:
    if name not in parents:
        close = get_close_matches(name, list(parents), n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise SettingError(f"the graph has no column {name!r}{hint}")


def _require_dag(parents: Mapping[str, Sequence[str]]) -> None:
    names = list(parents)
    place = {name: k for k, name in enumerate(names)}
    cycle = find_cycle(names, [[place[one] for one in parents[name]] for name in names])
    if cycle:
        raise SettingError(
            f"the change makes a cycle: {arrows(cycle)}. Turn or remove one of these arrows too"
        )


def _pairs(what: str, given: object) -> tuple[Pair, ...]:
    """Different pairs of names, as they were given."""
    pairs = listed(given)
    if pairs is None:
        raise SettingError(f"{what} must be a list of pairs (parent, child), not {given!r}")
    found = []
    for pair in pairs:
        names = listed(pair)
        if names is None:
            raise SettingError(f"{what} must hold pairs (parent, child), not {pair!r}")
        if len(names) != 2 or not all(isinstance(one, str) for one in names):
            raise SettingError(f"{what} must hold pairs of names (parent, child), not {pair!r}")
        found.append((str(names[0]), str(names[1])))
    twice = next((pair for k, pair in enumerate(found) if pair in found[:k]), None)
    if twice is not None:
        raise SettingError(f"{what} names the arrow {_arrow(twice)} twice")
    return tuple(found)


def _same_columns(table: AnyTable, parents: Parents) -> AnyTable:
    """The columns of the graph, in their order."""
    place = {name: k for k, name in enumerate(table.names)}
    absent = [name for name in parents if name not in place]
    if absent:
        raise SettingError(
            f"the table has no column {absent[0]!r}, which the graph has; give the table that it "
            "was learned from, or one with the same columns"
        )
    return table.select([place[name] for name in parents])


def _arrow(pair: Pair) -> str:
    return f"{pair[0]!r} -> {pair[1]!r}"


def _worse(cost: float) -> str:
    if abs(cost) < SAME:
        return "no better and no worse"
    return f"{abs(cost):.2f} nats {'worse' if cost > 0 else 'better'}"


def _changes(one: Rescored) -> str:
    parts = (("With", one.added), ("Without", one.removed), ("Turned", one.turned))
    told = [f"{word} {', '.join(map(_arrow, pairs))}" for word, pairs in parts if pairs]
    return "; ".join([told[0], *(part[0].lower() + part[1:] for part in told[1:])])
