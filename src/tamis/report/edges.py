"""The arrows as a table, and the decisions that another sample could turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tamis.drawing.confidence import Confidence
from tamis.markup import Markup, join, tag
from tamis.report.columns import link
from tamis.report.graph import sample
from tamis.report.tables import Cell, Row, table
from tamis.report.words import arrow, nats, p_value, rests_on, share
from tamis.result import LOOKS, Edge, Result, chance

if TYPE_CHECKING:
    from tamis.identifiability import RecoveryCheck

CALLS = 10
"""Closest calls and directions that are shown."""


def edge_table(
    result: Result,
    numbers: Mapping[str, int],
    confidence: Confidence | None,
    recovery: RecoveryCheck | None,
) -> Markup:
    """All arrows with what their directions rest on, strongest first."""
    if not result.edges:
        return tag("section", tag("h2", "Arrows"), tag("p", "There are none."), id="edges")
    titles = ["parent", "child", "direction", "probability"]
    titles += ["resamples", "either way"] if confidence is not None else []
    titles += ["simulations"] if recovery is not None else []
    rows = [
        Row(
            [*_direction_cells(edge, numbers), *_shares(edge, confidence, recovery)],
            None if edge.is_claimed else "unsure",
            edge.warrant,
        )
        for edge in _strongest(result)
    ]
    return tag(
        "section",
        tag("h2", "Arrows"),
        tag("div", class_="tools", data_for="edge-table"),
        table("All arrows, strongest first", titles, rows, identity="edge-table"),
        id="edges",
    )


def edge_numbers(result: Result, numbers: Mapping[str, int]) -> Markup:
    """The statistics of all arrows, strongest first; nothing if there are none."""
    if not result.edges:
        return Markup("")
    titles = ["parent", "child", "gain (nats)", "p-value", "gain given rest", "entropy gap (nats)"]
    rows = [Row(list(_number_cells(edge, numbers))) for edge in _strongest(result)]
    return tag(
        "section",
        tag("h2", "Arrows in numbers"),
        table("All arrows, strongest first", titles, rows, identity="number-table"),
        id="numbers",
    )


def _strongest(result: Result) -> list[Edge]:
    return sorted(result.edges, key=lambda e: (-e.gain, e.parent, e.child))


def _direction_cells(edge: Edge, numbers: Mapping[str, int]) -> Iterator[Cell]:
    yield Cell(link(edge.parent, numbers))
    yield Cell(link(edge.child, numbers))
    yield Cell(join([sample(edge.warrant), " ", LOOKS[edge.warrant].label]), words=True)
    yield Cell(chance(edge.direction_probability), edge.direction_probability)


def _number_cells(edge: Edge, numbers: Mapping[str, int]) -> Iterator[Cell]:
    yield Cell(link(edge.parent, numbers))
    yield Cell(link(edge.child, numbers))
    yield Cell(nats(edge.gain), edge.gain)
    yield Cell(p_value(edge.p_value), edge.p_value)
    yield Cell(nats(edge.gain_given_rest), edge.gain_given_rest)
    yield Cell(nats(edge.entropy_gap), edge.entropy_gap)


def _shares(
    edge: Edge, confidence: Confidence | None, recovery: RecoveryCheck | None
) -> Iterator[Cell]:
    pair = edge.parent, edge.child
    if confidence is not None:
        for value in (confidence.edges.get(pair, 0.0), confidence.skeleton(*pair)):
            yield Cell(share(value), value)
    if recovery is not None:
        yield Cell(share(recovery.edges[pair]), recovery.edges[pair])


def weakest(result: Result) -> Markup:
    """The directions that another sample could turn first; what was given, no sample turns."""
    learned = [e for e in result.closest_directions(len(result.edges)) if e.warrant != "given"]
    directions = [tag("li", *_direction(edge)) for edge in learned[:CALLS]]
    return tag(
        "section",
        tag("h2", "What is weakest"),
        tag("p", "The least likely directions first."),
        tag("ol", *directions) if directions else tag("p", "No direction was learned."),
        id="weakest",
    )


def closest(result: Result) -> Markup:
    """The tests with the smallest margins."""
    calls = [tag("li", str(verdict)) for verdict in result.closest_calls(CALLS)]
    return tag(
        "section",
        tag("h2", "Closest calls"),
        tag("p", "The tests that came nearest to going the other way, nearest first."),
        tag("ol", *calls) if calls else tag("p", "No test was made."),
        id="calls",
    )


def _direction(edge: Edge) -> Iterator[str]:
    yield arrow(edge)
    yield f": {rests_on(edge)}"
