"""From a table and a request to a result: choose what was left open, search, put names on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version

import networkx as nx
import numpy as np

from tamis.counts.interactions import LARGEST
from tamis.data import Table, table_notes
from tamis.decisions.f_test import FTest
from tamis.decisions.fixed import Fixed
from tamis.decisions.permutation import Permutation
from tamis.decisions.pvalue import PValueRule
from tamis.decisions.rule import Rule
from tamis.decisions.specification import as_rule, rule_to_dict
from tamis.errors import SettingError
from tamis.information.counted import CountedInformation
from tamis.information.estimators import EntropyEstimator, as_estimator
from tamis.information.gaussian import GaussianInformation
from tamis.information.interface import Information, Query
from tamis.result import Admitted, Edge, Masked, Result, Selection, Trace, Verdict
from tamis.search.outcome import Boundary, Decision, Outcome
from tamis.search.tam import Progress, Settings, run


@dataclass(frozen=True)
class Defaults:
    """What a search uses where the user has left the choice open."""

    entropy: str | None
    boundary_rule: Rule
    masking_rule: Rule
    backward: str


_CALIBRATED = Defaults("grassberger", Permutation(0.001), Permutation(0.01), "one")
_SIEVE = Defaults("grassberger", Permutation(0.001), Permutation(0.05), "one")

SEARCHES: dict[str, Defaults] = {
    "node": _CALIBRATED,
    "layer": _CALIBRATED,
    "sieve": _SIEVE,
    "sequential": _CALIBRATED,
    "reference": Defaults("minimax", Fixed(0.005), Fixed(0.001), "none"),
}
"""The searches by name, with their defaults, chosen by `python -m benchmarks.choose_defaults`;
docs/defaults.md gives the figures."""

_LINEAR = Defaults(None, FTest(0.001), FTest(0.01), "one")


@dataclass(frozen=True)
class Source:
    """A kind of information about a table: its defaults by search, and the test that gives an
    edge its p-value."""

    searches: Mapping[str, Defaults]
    test: PValueRule


SOURCES: dict[str, Source] = {
    "counts": Source(SEARCHES, Permutation()),
    "gaussian": Source(
        {
            "node": _LINEAR,
            "layer": _LINEAR,
            "sieve": Defaults(None, FTest(0.001), FTest(0.05), "one"),
            "sequential": _LINEAR,
        },
        FTest(),
    ),
}
"""What can be known about a table: counts of levels, or the moments of numbers."""

BACKWARD = ("one", "together", "none")
BOUNDARY = ("pps", "none")


@dataclass(frozen=True)
class Request:
    """What the user asked for; None leaves the choice to the search."""

    search: str = "sequential"
    entropy: str | EntropyEstimator | None = None
    boundary_rule: float | Rule | None = None
    masking_rule: float | Rule | None = None
    boundary: str = "pps"
    backward: str | bool | None = None
    max_boundary: int | None = None
    look_ahead: int = 1
    information: str = "counts"
    n_jobs: int | None = None


@dataclass(frozen=True)
class Plan:
    """The request with nothing left open."""

    search: str
    information: str
    entropy: EntropyEstimator | None
    """How entropies are estimated from counts; other information has no such choice."""
    boundary_rule: Rule
    masking_rule: Rule
    boundary: str
    backward: str
    max_boundary: int | None
    look_ahead: int

    def to_dict(self) -> dict[str, object]:
        """What JSON can hold, enough to run the same again."""
        return {
            "search": self.search,
            "information": self.information,
            "entropy": (
                None
                if self.entropy is None
                else {"estimator": self.entropy.name, **self.entropy.parameters()}
            ),
            "boundary_rule": rule_to_dict(self.boundary_rule),
            "masking_rule": (
                None if self.search == "sequential" else rule_to_dict(self.masking_rule)
            ),
            "boundary": self.boundary,
            "backward": self.backward,
            "max_boundary": self.max_boundary,
            "look_ahead": self.look_ahead,
            "tamis": _version(),
        }


@cache
def _version() -> str:
    return version("tamis")


def make_plan(request: Request) -> Plan:
    """Fill in the defaults and refuse what has no meaning."""
    _require_choice("search", request.search, tuple(SEARCHES))
    _require_choice("boundary", request.boundary, BOUNDARY)
    _require_choice("information", request.information, tuple(SOURCES))
    known = SOURCES[request.information].searches
    if request.search not in known:
        raise SettingError(
            f"search={request.search!r} works on counts only; with "
            f"information={request.information!r} use {', '.join(map(repr, known))}"
        )
    defaults = known[request.search]
    if request.backward is None:
        backward = "one" if request.boundary == "none" else defaults.backward
    else:
        backward = as_backward(request.backward)
    require_size("max_boundary", request.max_boundary)
    _require_look_ahead(request)
    if request.boundary == "none":
        _require_without_pps(request, backward)
    if request.search == "reference" and backward != "none":
        raise SettingError(
            "search='reference' has no backward phase, as the authors' program has none; "
            "leave backward out or use another search"
        )
    plan = Plan(
        search=request.search,
        information=request.information,
        entropy=_estimator(request, defaults),
        boundary_rule=_rule("boundary_rule", request.boundary_rule, defaults.boundary_rule),
        masking_rule=_rule("masking_rule", request.masking_rule, defaults.masking_rule),
        boundary=request.boundary,
        backward=backward,
        max_boundary=request.max_boundary,
        look_ahead=request.look_ahead,
    )
    plan.to_dict()  # a rule of the user's own making cannot be kept with the result: say so now
    return plan


def learn(table: Table, request: Request, progress: Progress | None = None) -> Result:
    """Learn a DAG from a table."""
    plan = make_plan(request)
    # Positions break ties. Sorted by name, the order of the user's columns plays no part;
    # the authors' program breaks them by column, so its twin keeps the columns as they are.
    names = table.names
    positions = range(len(names))
    in_order = positions if plan.search == "reference" else sorted(positions, key=names.__getitem__)
    arranged = table.select(list(in_order))
    information = _source(arranged, plan, request.n_jobs)
    outcome = search(information, plan, progress)
    return _Names(arranged.names, plan).result(table, information, outcome)


def _source(table: Table, plan: Plan, n_jobs: int | None) -> Information:
    if plan.entropy is not None:
        return CountedInformation(table, plan.entropy, n_jobs=n_jobs)
    return GaussianInformation.from_table(table)


def search(information: Information, plan: Plan, progress: Progress | None = None) -> Outcome:
    """Run the plan's search on any source of information."""
    size = information.n_rows, information.n_variables
    settings = Settings(
        search=plan.search,
        boundary_rule=plan.boundary_rule.bind(*size),
        masking_rule=plan.masking_rule.bind(*size),
        boundary=plan.boundary,
        backward=plan.backward,
        max_boundary=plan.max_boundary,
        look_ahead=plan.look_ahead,
    )
    return run(information, settings, progress)


def as_backward(value: str | bool) -> str:
    """How to remove members of a boundary; True and False are the usual way and none."""
    if isinstance(value, bool):
        return "one" if value else "none"
    _require_choice("backward", value, BACKWARD)
    return value


def _require_choice(parameter: str, value: object, choices: Sequence[str]) -> None:
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise SettingError(f"{parameter} must be one of {listed}, not {value!r}")


def require_size(parameter: str, value: object) -> None:
    """Refuse what is neither None nor a number of things."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise SettingError(f"{parameter} must be None or a whole number >= 0, not {value!r}")


def _require_look_ahead(request: Request) -> None:
    if isinstance(request.look_ahead, bool) or request.look_ahead not in range(1, LARGEST + 1):
        raise SettingError(
            "look_ahead must be 1 (single candidates) or the size of the largest sets tried where "
            f"no single one passes, up to {LARGEST}; not {request.look_ahead!r}"
        )
    if request.look_ahead > 1 and request.search == "reference":
        raise SettingError("search='reference' looks at single candidates only: use look_ahead=1")
    if request.look_ahead > 1 and request.boundary == "none":
        raise SettingError("look_ahead belongs to PPS; boundary='none' runs without it")


def _require_without_pps(request: Request, backward: str) -> None:
    if request.search == "reference":
        raise SettingError("search='reference' always selects boundaries; use search='layer'")
    if request.max_boundary is not None:
        raise SettingError("max_boundary limits PPS; boundary='none' runs without it")
    if backward == "none":
        raise SettingError(
            "with boundary='none' the parents are found by the backward phase; "
            "choose backward='one' or 'together'"
        )


def _estimator(request: Request, defaults: Defaults) -> EntropyEstimator | None:
    if defaults.entropy is not None:
        return as_estimator(defaults.entropy if request.entropy is None else request.entropy)
    if request.entropy is not None:
        raise SettingError(
            f"entropy= chooses how counts are turned into entropies; "
            f"information={request.information!r} has no such choice"
        )
    return None


def _rule(parameter: str, given: float | Rule | None, default: Rule) -> Rule:
    if given is None:
        return default
    try:
        return as_rule(given)
    except SettingError as error:
        raise SettingError(f"{parameter}: {error}") from None


class _Names:
    """Turns positions back into names."""

    def __init__(self, names: tuple[str, ...], plan: Plan) -> None:
        self._names = names
        self._plan = plan
        self._test = SOURCES[plan.information].test

    def result(self, table: Table, information: Information, outcome: Outcome) -> Result:
        """The outcome as the user will read it."""
        names = self._names
        bounds = outcome.boundaries
        parents = {names[k]: self._all(bounds[k].members) for k in bounds}
        entropies = {names[k]: bounds[k].entropy for k in bounds}
        order = tuple(names[k] for layer in outcome.layers for k in layer)
        return Result(
            names=table.names,
            levels=dict(zip(table.names, table.levels, strict=True)),
            n_rows=table.n_rows,
            settings=self._plan.to_dict(),
            layers=self._layers(outcome, order, parents),
            order=order,
            parents={name: parents[name] for name in table.names},
            entropies={name: entropies[name] for name in table.names},
            edges=self._edges(information, outcome),
            trace=self._trace(outcome),
            warnings=table_notes(table),
        )

    def _layers(
        self, outcome: Outcome, order: tuple[str, ...], parents: dict[str, tuple[str, ...]]
    ) -> tuple[tuple[str, ...], ...]:
        """As found; one node at a time finds no layers, so there they are the DAG's own."""
        if self._plan.search != "sequential":
            return tuple(self._all(layer) for layer in outcome.layers)
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(order)
        graph.add_edges_from((p, child) for child in order for p in parents[child])
        position = {name: i for i, name in enumerate(order)}
        return tuple(
            tuple(sorted(layer, key=position.__getitem__))
            for layer in nx.topological_generations(graph)
        )

    def _edges(self, information: Information, outcome: Outcome) -> tuple[Edge, ...]:
        """Judge every edge twice: as it was taken, and given all the other parents."""
        found: list[tuple[int, int, int, tuple[int, ...], tuple[int, ...]]] = []
        for layer in outcome.layers:
            for k in layer:
                found += _edge_contexts(outcome.boundaries[k])
        wanted = {(k, p, given) for p, k, _, *both in found for given in both}
        known = self._judged(outcome)
        known |= _judge(information, sorted(wanted - known.keys()), self._test)
        leads = _leads(outcome)
        return tuple(
            Edge(
                self._names[p],
                self._names[k],
                *known[k, p, given],
                step,
                known[k, p, rest][0],
                leads[p, k],
            )
            for p, k, step, given, rest in found
        )

    def _judged(self, outcome: Outcome) -> dict[Judged, tuple[float, float]]:
        """The gain and the p-value of what the search itself has judged by this test."""
        rule = self._plan.boundary_rule
        if type(rule) is not type(self._test):
            return {}
        return {
            (d.target, d.others[0], d.given): (d.gain, rule.natural(d.score))
            for boundary in outcome.boundaries.values()
            for d in (*boundary.taken, *boundary.retained)
            if len(d.others) == 1
        }

    def _trace(self, outcome: Outcome) -> Trace:
        names = self._names
        masking, boundary = self._plan.masking_rule, self._plan.boundary_rule
        return Trace(
            admissions=tuple(
                Admitted(
                    names[a.node],
                    a.round + 1,
                    a.entropy,
                    None if a.runner_up is None else names[a.runner_up],
                    a.runner_up_entropy,
                    None if a.closest is None else self._verdict(a.closest, masking),
                )
                for a in outcome.admissions
            ),
            maskings=tuple(
                Masked(names[m.node], m.round + 1, m.entropy, self._verdict(m.decision, masking))
                for m in outcome.maskings
            ),
            selections=tuple(
                self._selection(outcome.boundaries[k], boundary)
                for layer in outcome.layers
                for k in layer
            ),
        )

    def _selection(self, boundary: Boundary, rule: Rule) -> Selection:
        return Selection(
            self._names[boundary.target],
            tuple(self._verdict(d, rule) for d in boundary.taken),
            None if boundary.refused is None else self._verdict(boundary.refused, rule),
            tuple(self._verdict(d, rule) for d in boundary.removed),
            tuple(self._verdict(d, rule) for d in boundary.retained),
        )

    def _verdict(self, decision: Decision, rule: Rule) -> Verdict:
        return Verdict(
            target=self._names[decision.target],
            others=self._all(decision.others),
            given=self._all(decision.given),
            gain=decision.gain,
            value=rule.natural(decision.score),
            threshold=rule.natural(decision.bar),
            margin=decision.score - decision.bar,
            unit=rule.unit,
            dependent=decision.dependent,
        )

    def _all(self, positions: Sequence[int]) -> tuple[str, ...]:
        return tuple(self._names[k] for k in positions)


Judged = tuple[int, int, tuple[int, ...]]
"""A child, a parent, and what they were tested given."""


def _judge(
    information: Information, tests: Sequence[Judged], rule: PValueRule
) -> dict[Judged, tuple[float, float]]:
    """The gain and the p-value of each."""
    if not tests:
        return {}
    evidence = information.evidence([Query(k, given, np.array([p])) for k, p, given in tests])
    p_values = np.exp(-rule.scores(evidence))
    return dict(
        zip(tests, zip(evidence.gain.tolist(), p_values.tolist(), strict=True), strict=True)
    )


def _leads(outcome: Outcome) -> dict[tuple[int, int], float]:
    """For each edge, H(child) - H(parent) in the round that admitted the parent."""
    round_of = {a.node: a.round for a in outcome.admissions}
    return {
        (p, k): float(outcome.uncertainties[round_of[p]][k] - outcome.uncertainties[round_of[p]][p])
        for k, boundary in outcome.boundaries.items()
        for p in boundary.members
    }


def _edge_contexts(
    boundary: Boundary,
) -> list[tuple[int, int, int, tuple[int, ...], tuple[int, ...]]]:
    """(parent, child, step, given when taken, all other parents) of each edge of a node."""
    steps = {
        p: (i, tuple(sorted({*d.given, *d.others} - {p})))
        for i, d in enumerate(boundary.taken, start=1)
        for p in d.others
    }
    edges = []
    for p in boundary.members:
        rest = tuple(sorted(set(boundary.members) - {p}))
        step, given = steps.get(p, (0, rest))
        edges.append((p, boundary.target, step, given, rest))
    return edges
