"""Every column's own story: its place, its boundary, its tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tamis.drawing.confidence import Confidence
from tamis.drawing.labels import name_in_full
from tamis.markup import Markup, join, tag
from tamis.report.words import named, nats, rests_on, share
from tamis.result import Edge, Result, explain
from tamis.tables.table import Label

LEVELS = 12
"""Levels of a column that are listed."""

_READ_AS = {"category": "a category", "ordinal": "an ordinal column", "number": "a number"}


def columns(result: Result, numbers: Mapping[str, int], confidence: Confidence | None) -> Markup:
    """A folded story for each column, in the order of admission."""
    coming: dict[str, list[Edge]] = {name: [] for name in result.names}
    going: dict[str, list[Edge]] = {name: [] for name in result.names}
    for edge in result.edges:
        coming[edge.child].append(edge)
        going[edge.parent].append(edge)
    layers = {name: j for j, layer in enumerate(result.layers, start=1) for name in layer}
    stories = []
    for name in result.order:
        facts = [
            *_place(result, name, layers[name], confidence),
            _arrows("Parents", [(e.parent, e) for e in coming[name]], numbers, confidence),
            _arrows("Children", [(e.child, e) for e in going[name]], numbers, confidence),
        ]
        stories.append(_story(result, name, numbers[name], facts))
    return tag("section", tag("h2", "Every column"), *stories, id="columns")


def _story(result: Result, name: str, number: int, facts: Sequence[Markup]) -> Markup:
    # The first line of the explanation says what the facts say.
    lines = [line.strip() for line in explain(result, name).split("\n")[1:]]
    return tag(
        "details",
        tag("summary", named(name)),
        tag(
            "div",
            *facts,
            tag("h4", "Tests"),
            tag("ol", *(tag("li", line) for line in lines), class_="tests"),
            id=f"column-{number}",
            class_="story",
            data_name=name_in_full(name),
        ),
    )


def _place(result: Result, name: str, layer: int, confidence: Confidence | None) -> list[Markup]:
    number = result.order.index(name) + 1
    sentence = (
        f"Layer {layer} of {len(result.layers)}, number {number} of {len(result.order)} admitted, "
        f"with a conditional entropy of {nats(result.entropies[name])} nats. "
    )
    kind = "" if result.kinds is None else f"Read as {_READ_AS[result.kinds[name]]}. "
    facts = [tag("p", sentence, kind, _levels(result.levels[name]))]
    if confidence is not None:
        facts.append(tag("p", f"In resamples: {_usual_layers(confidence.layers.get(name, {}))}."))
    return facts


def _levels(levels: Sequence[Label]) -> str:
    if not levels:
        return "Measured."
    shown = ", ".join(name_in_full(str(label)) for label in levels[:LEVELS])
    rest = len(levels) - LEVELS
    return f"{len(levels):,} levels: {shown}" + (f" and {rest:,} more." if rest > 0 else ".")


def _usual_layers(layers: Mapping[int, float]) -> str:
    usual = sorted(layers.items(), key=lambda item: (-item[1], item[0]))[:4]
    return ", ".join(f"layer {j} in {share(value)}" for j, value in usual) or "never placed"


def _arrows(
    title: str,
    ends: Sequence[tuple[str, Edge]],
    numbers: Mapping[str, int],
    confidence: Confidence | None,
) -> Markup:
    if not ends:
        return tag("p", f"{title}: none.")
    rows = [
        tag("li", link(name, numbers), *_numbers(edge, confidence))
        for name, edge in sorted(ends, key=lambda end: (-end[1].gain, end[0]))
    ]
    return join([tag("h4", title), tag("ul", *rows)])


def link(name: str, numbers: Mapping[str, int]) -> Markup:
    """A name that leads to its column's story."""
    return tag("a", named(name), href=f"#column-{numbers[name]}", class_="to-column")


def _numbers(edge: Edge, confidence: Confidence | None) -> list[str]:
    said = [f": gain {nats(edge.gain)} nats"]
    if confidence is not None:
        came = confidence.edges.get((edge.parent, edge.child), 0.0)
        said.append(f", came back in {share(came)}")
    said.append(f"; direction {rests_on(edge)}")
    return said
