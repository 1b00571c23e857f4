"""From positions back to names: the outcome of a search as the user will read it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from tamis.counting.elsewhere import is_elsewhere
from tamis.decisions.p_values import PValue
from tamis.decisions.rule import Rule
from tamis.errors import PluginError
from tamis.information.interface import Group, Query, Source
from tamis.result import Admitted, Edge, Engine, Masked, Result, Run, Selection, Trace, Verdict
from tamis.result.model import put_off
from tamis.search.default import ORDERS
from tamis.search.directions import Directions, directions
from tamis.search.outcome import Boundary, Decision, Outcome
from tamis.search.warrants import warrants
from tamis.settings import Settings
from tamis.tables import table_notes
from tamis.tables.table import AnyTable, in_memory


class Names:
    """Turns positions back into names."""

    def __init__(self, settings: Settings, information: Source) -> None:
        self._names = information.names
        self._settings = settings
        self._plugged = settings.from_outside
        self._information = information

    def result(
        self,
        table: AnyTable | None,
        outcome: Outcome,
        found: Directions | None,
        losses: Mapping[tuple[int, int], float],
        ranking: tuple[Run, ...] = (),
        notes: tuple[str, ...] = (),
        knowledge_cost: float | None = None,
        left_open: tuple[str, ...] = (),
    ) -> Result:
        """The outcome as the user will read it; ``found`` are the directions of its class, if they
        are known, ``losses`` what the likelihood loses without the direction of an arrow, where
        that was looked at, ``knowledge_cost`` what it loses by the knowledge, and ``left_open``
        the settings that were."""
        names = self._names
        bounds = outcome.found
        parents = {names[k]: self._all(bounds[k].members) for k in bounds}
        entropies = {names[k]: bounds[k].entropy for k in bounds}
        order = tuple(names[k] for layer in outcome.layers for k in layer)
        layers = layers_found(outcome, self._chosen(ranking))
        listed = names if table is None else table.names
        labels = [()] * len(listed) if table is None else table.levels
        edges = partial(self._edges, outcome, found, losses)
        trace = partial(self._trace, outcome)
        # What is elsewhere or from outside may be gone later, or answer otherwise.
        waits = table is not None and in_memory(table) and not self._plugged
        result = Result(
            names=listed,
            levels=dict(zip(listed, labels, strict=True)),
            n_rows=self._n_rows(table),
            settings=self._settings.to_dict(),
            layers=tuple(map(self._all, layers)),
            order=order,
            parents={name: parents[name] for name in listed},
            entropies={name: entropies[name] for name in listed},
            edges=() if waits else edges(),
            trace=Trace((), (), ()) if waits else trace(),
            ranking=ranking,
            warnings=(*(() if table is None else table_notes(table)), *notes),
            engine=_engine(table),
            kinds=None if table is None else self._kinds(table),
            left_open=left_open,
            knowledge_cost=knowledge_cost,
        )
        return put_off(result, edges=edges, trace=trace) if waits else result

    def _n_rows(self, table: AnyTable | None) -> int | None:
        """The rows of the table, or those that a source from outside has seen; None of a law."""
        if table is not None and not isinstance(self._settings.information, Source):
            return table.n_rows
        n_rows = self._information.n_rows
        return None if math.isinf(n_rows) else int(n_rows)

    def _kinds(self, table: AnyTable) -> dict[str, str] | None:
        read = kinds_read(table, self._settings.read_as)
        return read if len(set(read.values())) > 1 or "ordinal" in read.values() else None

    def _chosen(self, ranking: tuple[Run, ...]) -> str:
        return next((one.search for one in ranking if one.chosen), self._settings.search)

    def _directions(self, outcome: Outcome) -> Directions:
        """The directions of the class of the DAG that was found."""
        return directions(
            self._information,
            {k: frozenset(one.members) for k, one in outcome.boundaries.items()},
            self._settings.knowledge.constraints(self._information.names),
            same_units=self._settings.units == "same",
        )

    def _edges(
        self, outcome: Outcome, found: Directions | None, losses: Mapping[tuple[int, int], float]
    ) -> tuple[Edge, ...]:
        """The edges with their numbers."""
        if found is None or not found.is_of_class:
            found = self._directions(outcome)
        return self._told(outcome, found, losses)

    def _told(
        self, outcome: Outcome, found: Directions, losses: Mapping[tuple[int, int], float]
    ) -> tuple[Edge, ...]:
        """Judge every edge twice: as it was taken, and given all the other parents."""
        edges: list[tuple[int, int, int, tuple[int, ...], tuple[int, ...]]] = []
        for layer in outcome.layers:
            for k in layer:
                edges += _edge_contexts(outcome.boundaries[k])
        wanted = {(k, p, given) for p, k, _, *both in edges for given in both}
        known = self._judged(outcome)
        known |= _judge(self._information, sorted(wanted - known.keys()))
        gaps = _entropy_gaps(outcome)
        rests_on = warrants(outcome, found, losses, self._is_given)
        return tuple(
            Edge(
                self._names[p],
                self._names[k],
                *known[k, p, given],
                step,
                known[k, p, rest][0],
                gaps[p, k],
                *rests_on[p, k],
            )
            for p, k, step, given, rest in edges
        )

    def _is_given(self, edge: tuple[int, int]) -> bool:
        return self._settings.knowledge.decides(*(self._names[k] for k in edge))

    def _judged(self, outcome: Outcome) -> dict[Judged, tuple[float, float]]:
        """The gain and the p-value of what the search itself has judged by this test."""
        rule = self._settings.boundary_rule
        preferred = self._information.test_names[:1]
        if not isinstance(rule, PValue) or rule.test not in (None, *preferred):
            return {}
        return {
            (d.target, d.others[0], d.given): (d.cmi, rule.natural(d.strength))
            for boundary in outcome.boundaries.values()
            for d in (*boundary.taken, *boundary.retained)
            if len(d.others) == 1
        }

    def _trace(self, outcome: Outcome) -> Trace:
        names = self._names
        masking, boundary = self._settings.masking_rule, self._settings.boundary_rule
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
                for a in outcome.rounds.admissions
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
        margin = decision.strength - decision.threshold
        if self._plugged and (margin < 0 if decision.dependent else margin > 0):
            raise PluginError(
                f"{', '.join(self._plugged)}: a test of {self._names[decision.target]!r} was "
                "decided otherwise before; the same question must have the same answer every time"
            )
        return Verdict(
            target=self._names[decision.target],
            others=self._all(decision.others),
            given=self._all(decision.given),
            gain=decision.cmi,
            value=rule.natural(decision.strength),
            threshold=rule.natural(decision.threshold),
            margin=margin,
            unit=rule.unit,
            dependent=decision.dependent,
            n_rows=self._information.rows_behind(
                Group(decision.target, decision.given, decision.others)
            ),
        )

    def _all(self, positions: Sequence[int]) -> tuple[str, ...]:
        return tuple(self._names[k] for k in positions)


def kinds_read(table: AnyTable, information: str) -> dict[str, str]:
    """What each column is read as by this kind of information."""
    every = {"counts": "category", "gaussian": "number", "copula": "number"}
    return {
        name: kind if kind == "ordinal" else every.get(information, kind)
        for name, kind in zip(table.names, table.kinds, strict=True)
    }


def layers_found(outcome: Outcome, search: str) -> list[list[int]]:
    """As found; one node at a time finds no layers, so there they are the DAG's own."""
    if search not in ("sequential", ORDERS):
        return outcome.layers
    order, found = [k for layer in outcome.layers for k in layer], outcome.found
    depth: dict[int, int] = {}
    for k in order:
        depth[k] = 1 + max((depth[p] for p in found[k].members), default=-1)
    layers: list[list[int]] = [[] for _ in range(1 + max(depth.values(), default=-1))]
    for k in order:
        layers[depth[k]].append(k)
    return layers


Judged = tuple[int, int, tuple[int, ...]]
"""A child, a parent, and what they were tested given."""


def _judge(information: Source, asked: Sequence[Judged]) -> dict[Judged, tuple[float, float]]:
    """The gain and the p-value of each; nan where the source has no test."""
    if not asked:
        return {}
    tests = information.tests([Query(k, given, np.array([p])) for k, p, given in asked])
    log_p = tests.log_p
    p_values = np.full(len(tests), np.nan) if log_p is None else np.exp(log_p)
    return dict(zip(asked, zip(tests.cmi.tolist(), p_values.tolist(), strict=True), strict=True))


def _entropy_gaps(outcome: Outcome) -> dict[tuple[int, int], float]:
    """For each edge, H(child) - H(parent) in the round that admitted the parent."""
    children: dict[int, list[int]] = {}
    for k, boundary in outcome.boundaries.items():
        for p in boundary.members:
            children.setdefault(p, []).append(k)
    admitted: dict[int, list[int]] = {}
    for a in outcome.rounds.admissions:
        admitted.setdefault(a.round, []).append(a.node)
    return {
        (p, k): float(entropies[k] - entropies[p])
        for number, entropies in enumerate(outcome.rounds.uncertainties)
        for p in admitted.get(number, ())
        for k in children.get(p, ())
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


def _engine(table: AnyTable | None) -> Engine | None:
    """How the rows were counted so far, if that was not in memory."""
    if table is None or not is_elsewhere(table):
        return None
    found = table.counted
    return Engine(found.engine, found.partitions, found.rounds, found.bytes_moved)
