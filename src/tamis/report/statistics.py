"""Arrows and tests in numbers, every column's story, the sieve step by step, how to repeat it."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from tamis.drawing.looks import Confidence, name_in_full
from tamis.markup import Markup, join, tag
from tamis.report.graph import sample
from tamis.report.words import (
    Cell,
    Row,
    arrow,
    named,
    names,
    nats,
    p_value,
    said,
    share,
    table,
)
from tamis.result import (
    LOOKS,
    Admitted,
    Edge,
    Masked,
    Result,
    chance,
    engine_in_words,
    explain,
    rests_on,
    rows_in_words,
)
from tamis.tables.refusals import count
from tamis.tables.table import Label

if TYPE_CHECKING:
    from tamis.identifiability import RecoveryCheck

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


ONE_BY_ONE = ("sequential", "orders")
"""Where columns follow each other without layers."""


@dataclass
class Step:
    """One admission and what it masked."""

    admitted: Admitted
    masked: list[Masked] = field(default_factory=list)


def steps_of(result: Result) -> list[Step]:
    """The admissions in order, each with the columns masked before the next."""
    steps = [Step(one) for one in result.trace.admissions]
    rounds: dict[int, list[Step]] = {}
    for step in steps:
        rounds.setdefault(step.admitted.round, []).append(step)
    for masking in result.trace.maskings:
        _step_of(masking, rounds.get(masking.round, steps)).masked.append(masking)
    for step in steps:
        step.masked.sort(key=lambda m: (m.entropy, m.name))
    return steps


def _step_of(masking: Masked, steps: Sequence[Step]) -> Step:
    """The step that admitted the last of those that mask it."""
    by = [step for step in steps if step.admitted.name in masking.verdict.others]
    return by[-1] if by else steps[0]


def sieve_in_words(result: Result) -> Markup:
    """The sieve as a folded list: for paper, and for pages without scripts."""
    steps = steps_of(result)
    return tag(
        "section",
        tag("h2", "The sieve in words"),
        tag("p", said(result, "steps")),
        tag(
            "details",
            tag("summary", f"All {count(len(steps), 'step')}"),
            tag("ol", *(tag("li", _step(result, step)) for step in steps)),
        ),
        id="sieve",
    )


def _step(result: Result, step: Step) -> Markup:
    entry = step.admitted
    parts: list[str] = [named(entry.name)]
    if result.search not in ONE_BY_ONE:
        parts.append(f" enters layer {entry.round}")
    parts.append(f" at {nats(entry.entropy)} nats, with parents ")
    parts.append(names(result.parents[entry.name]))
    if step.masked:
        parts += ["; masks ", names([m.name for m in step.masked])]
    return join(parts)


def reproduce(result: Result, command: str | None, recovery: RecoveryCheck | None) -> Markup:
    """Command, settings, versions and seeds."""
    parts: list[str] = []
    if command is not None:
        parts += [tag("h3", "Command"), tag("pre", tag("code", command))]
    return tag(
        "section",
        tag("h2", "How to reproduce"),
        *parts,
        tag("h3", "Settings in full"),
        _pairs((key, _written(value)) for key, value in result.settings.items()),
        tag("h3", "Data, versions and seeds"),
        _pairs(_facts(result, recovery)),
        id="reproduce",
    )


def _facts(result: Result, recovery: RecoveryCheck | None) -> Iterator[tuple[str, str]]:
    if result.read_from is not None:
        yield "file", result.read_from
    yield "table", f"{rows_in_words(result)}, {count(len(result.names), 'column')}"
    if result.engine is not None:
        yield "counted", engine_in_words(result.engine)
    yield "learned by tamis", str(result.settings.get("tamis", "not recorded"))
    yield "written by tamis", version("tamis")
    yield "Python", platform.python_version()
    yield "numpy", np.__version__
    source = result.settings.get("source") or {}
    yield "seed of the search", str(source.get("seed", "none: it draws no random numbers"))
    if recovery is not None:
        yield "seed of the simulations", str(recovery.seed)


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _pairs(pairs: Iterator[tuple[str, str]]) -> Markup:
    rows = [
        tag("tr", tag("th", key, scope="row"), tag("td", tag("code", value)))
        for key, value in pairs
    ]
    return tag("div", tag("table", tag("tbody", *rows), class_="pairs"), class_="scroll")
