"""The arrows as a table, and the decisions that another sample could turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tamis.drawing.confidence import Confidence
from tamis.report.columns import link
from tamis.report.html import Markup, tag
from tamis.report.tables import Cell, Row, table
from tamis.report.words import arrow, nats, p_value, rests_on, share
from tamis.result import Edge, Result, chance

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
    """All arrows, strongest first."""
    if not result.edges:
        return tag("section", tag("h2", "Arrows"), tag("p", "There are none."), id="edges")
    titles = ["parent", "child", "gain (nats)", "p-value", "gain given rest", "entropy gap (nats)"]
    titles += ["direction", "probability"]
    titles += ["resamples", "either way"] if confidence is not None else []
    titles += ["simulations"] if recovery is not None else []
    strongest = sorted(result.edges, key=lambda e: (-e.gain, e.parent, e.child))
    rows = [
        Row(
            [*_cells(edge, numbers), *_shares(edge, confidence, recovery)],
            None if edge.is_claimed else "unsure",
        )
        for edge in strongest
    ]
    return tag(
        "section",
        tag("h2", "Arrows"),
        tag("div", class_="tools", data_for="edge-table"),
        table("All arrows, strongest first", titles, rows, identity="edge-table"),
        id="edges",
    )


def _cells(edge: Edge, numbers: Mapping[str, int]) -> Iterator[Cell]:
    yield Cell(link(edge.parent, numbers))
    yield Cell(link(edge.child, numbers))
    yield Cell(nats(edge.gain), edge.gain)
    yield Cell(p_value(edge.p_value), edge.p_value)
    yield Cell(nats(edge.gain_given_rest), edge.gain_given_rest)
    yield Cell(nats(edge.entropy_gap), edge.entropy_gap)
    yield Cell(edge.warrant)
    yield Cell(chance(edge.direction_probability), edge.direction_probability)


def _shares(
    edge: Edge, confidence: Confidence | None, recovery: RecoveryCheck | None
) -> Iterator[Cell]:
    pair = edge.parent, edge.child
    if confidence is not None:
        for value in (confidence.edges.get(pair, 0.0), confidence.skeleton(*pair)):
            yield Cell(share(value), value)
    if recovery is not None:
        yield Cell(share(recovery.edges[pair]), recovery.edges[pair])


def closest(result: Result) -> Markup:
    """The tests and the directions with the smallest margins."""
    calls = [tag("li", str(verdict)) for verdict in result.closest_calls(CALLS)]
    directions = [tag("li", *_direction(edge)) for edge in result.closest_directions(CALLS)]
    return tag(
        "section",
        tag("h2", "Closest calls"),
        tag("p", "What another sample could turn: the tests and the directions nearest to a tie."),
        tag("h3", "Tests, nearest to going the other way first"),
        tag("ol", *calls) if calls else tag("p", "No test was made."),
        tag("h3", "Directions, least likely first"),
        tag("ol", *directions) if directions else tag("p", "There are no arrows."),
        id="calls",
    )


def _direction(edge: Edge) -> Iterator[str]:
    yield arrow(edge)
    yield f": {rests_on(edge)}"
