"""The answer to "can this network be identified?", to be printed, read by programs, shown in a
notebook, and kept."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tamis.atomic import write_files
from tamis.errors import SettingError
from tamis.identifiability.conditions import Condition, Paths
from tamis.identifiability.gaps import Gaps, RowsNeeded
from tamis.identifiability.guarantees import SearchVerdict
from tamis.markup import Markup, tag
from tamis.result import show

if TYPE_CHECKING:
    from tamis.identifiability.recovery import RecoveryCheck, Simulation

PROVING = ("main", "general", "unequal")
"""The conditions each of which identifies the graph, if it is what the theorems assume."""
ASSUMED = ("minimal", "nondegeneracy")
"""What all theorems assume."""


@dataclass(frozen=True, repr=False)
class Check:
    """The paper's conditions on a known network, and what follows from them.

    Attributes
    ----------
    names : tuple of str
        The variables.
    n_edges : int
        The number of edges.
    layers : tuple of tuples of str
        The layers of the graph, sources first.
    conditions : mapping from str to Condition
        Each condition of the paper: whether it holds, by what margin, and where it fails.
    searches : mapping from str to SearchVerdict
        For each search, whether it must and whether it does return the graph.
    without_pps : mapping from str to SearchVerdict
        The searches that condition on the whole ancestral set (``boundary="none"``).
    printed : mapping from str to SearchVerdict
        The algorithms exactly as printed in the paper (`tamis.search.paper`), which the theorems
        are about: `alg:uneq:withpps`, and `alg:uneq:short` with IAMB's backward phase.
    gaps : Gaps
        The gaps that the theorems' thresholds and sample sizes depend on.
    rows : tuple of RowsNeeded
        The sample sizes of the theorems.
    epsilon : float
        The probability of failure that these sample sizes allow.
    paths : Paths
        The directed paths of the graph.
    simulation : Simulation or None
        What was learned from simulated tables, if that was asked for.

    Examples
    --------
    >>> import tamis
    >>> found = tamis.check(tamis.BayesianNetwork.example("night_shift"))
    >>> found.conditions["C1"].holds, found.recovering
    (False, ())
    """

    names: tuple[str, ...]
    n_edges: int
    layers: tuple[tuple[str, ...], ...]
    conditions: Mapping[str, Condition]
    searches: Mapping[str, SearchVerdict]
    without_pps: Mapping[str, SearchVerdict]
    printed: Mapping[str, SearchVerdict]
    gaps: Gaps
    rows: tuple[RowsNeeded, ...]
    epsilon: float
    paths: Paths
    simulation: Simulation | None = None

    @property
    def guaranteed(self) -> tuple[str, ...]:
        """The searches whose conditions all hold: given exact information they return the graph."""
        return tuple(name for name, verdict in self.searches.items() if verdict.guaranteed)

    @property
    def recovering(self) -> tuple[str, ...]:
        """The searches that do return the graph from exact information, guaranteed or not."""
        return tuple(name for name, verdict in self.searches.items() if verdict.recovers)

    @property
    def identified(self) -> bool | None:
        """Whether a theorem identifies the graph: one of the proving conditions, on a minimal
        I-map that is not degenerate. False means that none of them applies, not that the graph
        cannot be identified by other means."""
        assumed = [self.conditions[key].holds for key in ASSUMED]
        proving = [self.conditions[key].holds for key in PROVING]
        if False in assumed or not any(one is not False for one in proving):
            return False
        return True if None not in assumed and True in proving else None

    @property
    def answer(self) -> str:
        """The whole check in a sentence."""
        if self.guaranteed:
            names = _listed(self.guaranteed)
            return f"Identified: with exact information {names} must return this graph."
        without = tuple(name for name, one in self.without_pps.items() if one.guaranteed)
        if without:
            return (
                f"Identified, but only without PPS: with boundary='none' {_listed(without)} must "
                "return this graph from exact information."
            )
        if self.identified:
            return "Identified by theorem, though no search here is guaranteed to return it."
        if self.recovering:
            return (
                f"Not guaranteed, though from exact information {_listed(self.recovering)} would "
                "return this graph."
            )
        if self.identified is None or any(one.recovers is None for one in self.searches.values()):
            return "Not decided: not everything could be computed."
        return "Not identified by these conditions: every search returns another graph."

    def with_simulation(self, simulation: Simulation) -> Check:
        """Add what was learned from simulated tables.

        Parameters
        ----------
        simulation : Simulation
            What `tamis.identifiability.simulate` returns.

        Returns
        -------
        Check
            A copy of this check that holds the simulation.

        Examples
        --------
        >>> import tamis
        >>> from tamis.identifiability import simulate
        >>> from tamis.settings import Settings
        >>> network = tamis.BayesianNetwork.example("night_shift")
        >>> simulation = simulate(network, Settings(search="node"), rows=[100], repeats=2)
        >>> tamis.check(network, quick=True).with_simulation(simulation).simulation is simulation
        True
        """
        return replace(self, simulation=simulation)

    def to_dict(self) -> dict[str, object]:
        """Convert the whole check to what JSON can hold.

        Returns
        -------
        dict
            What `write` writes.

        Examples
        --------
        >>> import tamis
        >>> found = tamis.check(tamis.BayesianNetwork.example("night_shift"), quick=True)
        >>> found.to_dict()["n_variables"]
        3
        """
        return {
            "format": "tamis check",
            "version": 1,
            "n_variables": len(self.names),
            "n_edges": self.n_edges,
            "layers": [list(layer) for layer in self.layers],
            "conditions": {key: one.to_dict() for key, one in self.conditions.items()},
            "answer": self.answer,
            "guaranteed": list(self.guaranteed),
            "identified": self.identified,
            "searches": {name: one.to_dict() for name, one in self.searches.items()},
            "without_pps": {name: one.to_dict() for name, one in self.without_pps.items()},
            "printed": {name: one.to_dict() for name, one in self.printed.items()},
            "gaps": self.gaps.to_dict(),
            "epsilon": self.epsilon,
            "rows": [one.to_dict() for one in self.rows],
            "paths": self.paths.to_dict(),
            "simulation": None if self.simulation is None else self.simulation.to_dict(),
        }

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the check as a JSON file, whole or not at all.

        Parameters
        ----------
        path : str or path
            A path that ends in .json.

        Examples
        --------
        >>> import tamis
        >>> network = tamis.BayesianNetwork.example("night_shift")
        >>> tamis.check(network, quick=True).write("check.json")
        """
        place = os.fspath(path)
        if not place.endswith(".json"):
            raise SettingError(
                f"a check is written as JSON: the path must end in .json, not {place!r}"
            )
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        write_files({place: (text + "\n").encode()})

    def __repr__(self) -> str:
        return f"<Check of {len(self.names)} nodes and {self.n_edges} edges: {self.answer}>"

    def _repr_html_(self) -> str:
        return check_in_html(self)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{len(self.names)} nodes, {self.n_edges} edges, {len(self.layers)} layers"
        yield self.answer
        width = max(map(len, self.conditions))
        for key, condition in self.conditions.items():
            margin = "" if condition.margin is None else f"{condition.margin:+.3g}"
            yield f"  {key:{width}}  {condition.word:9}  {margin:>9}  {condition.sentence}"
            for violation in condition.violations[:1]:
                yield f"  {'':{width}}  {'':9}  {'':9}    e.g. {violation}"
        yield "Guaranteed from exact information: " + (", ".join(self.guaranteed) or "no search")
        yield "Returns this graph from it: " + (", ".join(self.recovering) or "no search")


def _listed(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


ROWS = 12
"""Rows of a table that are shown before it is said how many more there are."""
QUIET = "opacity: 0.7; font-size: 0.9em;"


def check_in_html(found: Check) -> str:
    """The answer, and a line for each condition."""
    size = f"{len(found.names):,} nodes, {found.n_edges:,} edges, {len(found.layers):,} layers"
    rows = []
    for condition in found.conditions.values():
        example = "".join(f" E.g. {one}" for one in condition.violations[:1])
        margin = "" if condition.margin is None else f"{condition.margin:+.3g} {condition.unit}"
        word = tag("strong", condition.word) if condition.holds is False else condition.word
        rows.append((condition.title, word, margin, condition.sentence + example))
    return tag(
        "div",
        tag("p", tag("strong", found.answer)),
        tag("p", size, style=QUIET),
        _table(("condition", "verdict", "margin", "what it says"), rows),
        tag("p", f"Guaranteed from exact information: {_named(found.guaranteed)}."),
        tag("p", f"Returns this graph from it: {_named(found.recovering)}."),
        style="max-width: 70em;",
    )


def recovery_in_html(found: RecoveryCheck) -> str:
    """How often the graph came back, and the arrows that came back least often."""
    least = sorted(found.edges.items(), key=lambda item: (item[1], item[0]))
    rows = [
        (f"{show(parent)} → {show(child)}", _share(value), _share(found.turned[parent, child]))
        for (parent, child), value in least[:ROWS]
    ]
    rest = len(least) - len(rows)
    more = [tag("p", f"and {rest:,} more.", style=QUIET)] if rest > 0 else []
    conditions = (
        [] if found.check is None else [tag("p", f"The fitted network: {found.check.answer}")]
    )
    return tag(
        "div",
        tag("p", *_recovered(found)),
        _table(("arrow, least often first", "came back", "turned"), rows) if rows else Markup(""),
        *more,
        *conditions,
        tag(
            "p", "Plausibility, not proof: the tables are drawn from the model itself.", style=QUIET
        ),
        style="max-width: 70em;",
    )


def _recovered(found: RecoveryCheck) -> Iterable[str]:
    yield "The whole graph came back from "
    yield tag("strong", _share(found.recovered))
    yield f" of {found.n_simulations:,} tables of {found.n_rows:,} rows "
    yield f"(95% interval {_share(found.low)} to {_share(found.high)}); "
    yield f"on average {found.distance:.2g} arrows differed."


def _share(value: float) -> str:
    return f"{value:.0%}"


def _named(searches: Sequence[str]) -> str:
    return ", ".join(searches) or "no search"


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> Markup:
    heads = tag("tr", *(tag("th", title, style="text-align: left;") for title in titles))
    body = [
        tag("tr", *(tag("td", cell, style="text-align: left;") for cell in row)) for row in rows
    ]
    return tag("table", tag("thead", heads), tag("tbody", *body))
