"""A result on the terminal: what was read, what was run, what was found, and how surely."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tamis.result import (
    WARRANTS,
    Edge,
    Result,
    chance,
    engine_in_words,
    explain,
    rows_in_words,
    show,
)
from tamis.settings import Settings
from tamis.tables.plan_text import columns_in_words
from tamis.terminal.layout import (
    QUIET,
    TITLE,
    Hanging,
    item,
    listed,
    more,
    pairs_of,
    title_of,
)
from tamis.terminal.sketch import Sketch
from tamis.terminal.words import count, p_value, settings_in_words

if TYPE_CHECKING:
    from tamis.bootstrap import Confidence
    from tamis.identifiability.recovery import RecoveryCheck

Kinds = Mapping[str, Sequence[str]]
"""The names of columns by the kind that they are read as."""

EDGES = 30
LAYERS = 12
CALLS = 5
"""How much of each is shown before it is said how much more there is."""
OFTEN = 0.25
"""An arrow that is not in the graph is worth a look from this share of the resamples on."""


def show_summary(
    console: Console,
    result: Result,
    source: str,
    notes: Sequence[str],
    asked: Settings | None = None,
    confidence: Confidence | None = None,
    kinds: Kinds | None = None,
) -> None:
    """Everything a first look at a result should show; at most a few screens.

    ``asked`` is what was asked for, so that it can be said what was chosen and why; ``kinds`` has
    the names of the columns by the kind that they were read as.
    """
    for part in _parts(result, source, notes, asked, confidence, kinds or _by_levels(result)):
        console.print(part)


def show_recovery(console: Console, recovery: RecoveryCheck | None) -> None:
    """What came back from tables drawn from the model."""
    if recovery is None:
        return
    for part in title_of("Tables drawn from the model", "plausibility, not proof"):
        console.print(part)
    for line in str(recovery).split("\n")[1:]:
        console.print(item(show(line.strip())))


def show_explanations(console: Console, result: Result, names: Iterable[str]) -> None:
    """The stories of these columns."""
    for name in names:
        first, *rest = explain(result, name).split("\n")
        console.print()
        console.print(Text(first, style=TITLE))
        for line in rest:
            console.print(item(line.strip()))


def show_written(console: Console, paths: Sequence[str]) -> None:
    """Which files there are now; without any, how to get them."""
    console.print()
    if paths:
        console.print(Text("Wrote " + ", ".join(map(show, paths))))
    else:
        hint = "--out FILE writes .json, .dot, .graphml, .csv or .bif; --report FILE a page"
        console.print(Text(hint, style=QUIET))


def _parts(
    result: Result,
    source: str,
    notes: Sequence[str],
    asked: Settings | None,
    confidence: Confidence | None,
    kinds: Kinds,
) -> Iterator[RenderableType]:
    yield Hanging(Text(), f"{show(source)}: {_size(result)}")
    yield from pairs_of(_settings(result, asked, kinds).items())
    yield from (Hanging(Text("Note: ", style="yellow"), show(note)) for note in notes)
    yield from _layers(result)
    yield Sketch(result)
    yield from _edges(result, confidence)
    yield from _elsewhere(result, confidence)
    yield from _isolated(result)
    yield from _ranking(result)
    yield from _directions(result)
    yield from _calls(result)


def _settings(result: Result, asked: Settings | None, kinds: Kinds) -> dict[str, str]:
    words = {"columns": columns_in_words(kinds)} if len([*filter(None, kinds.values())]) > 1 else {}
    if asked is None:
        words |= settings_in_words(result.settings)
    else:
        words |= settings_in_words(
            result.settings,
            measured=len(kinds["number"]) if asked.information == "auto" else 0,
            asked_for=asked.asked["search"],
        )
    used = [verdict.n_rows for verdict in result.trace.verdicts() if verdict.n_rows is not None]
    if used:
        least, most = f"{min(used):,}", f"{max(used):,}"
        words["missing"] += f": {least if least == most else f'{least} to {most}'} rows"
    if result.engine is not None:
        words["counted"] = engine_in_words(result.engine)
    return words


def _by_levels(result: Result) -> Kinds:
    """The columns by kind as far as a result alone tells it."""
    levels = result.levels
    return {
        "number": [name for name in result.names if not levels[name]],
        "category": [name for name in result.names if levels[name]],
    }


def _size(result: Result) -> str:
    rows, columns = rows_in_words(result), count(len(result.names), "column")
    if result.settings["information"] in ("mixed", "conditional-gaussian"):
        return f"{rows}, {columns}"
    if result.settings["information"] != "counts":
        return f"{rows}, {columns} of numbers"
    sizes = sorted({len(labels) for labels in result.levels.values()})
    levels = count(sizes[-1], "level")
    if len(sizes) > 1:
        levels = f"{sizes[0]} to {levels}"
    return f"{rows}, {columns} of {levels}"


def _layers(result: Result) -> Iterator[RenderableType]:
    yield from title_of(count(len(result.layers), "layer"))
    shown = result.layers[:LAYERS]
    yield from pairs_of((str(j), listed(layer)) for j, layer in enumerate(shown, start=1))
    yield from more(len(result.layers) - len(shown), "layer")


def _edges(result: Result, confidence: Confidence | None) -> Iterator[RenderableType]:
    strongest = sorted(result.edges, key=lambda edge: (-edge.gain, edge.parent, edge.child))
    if not strongest:
        yield from title_of("No edges", "no column was found to depend on another")
        return
    yield from title_of(count(len(strongest), "edge"), "strongest first")
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style=QUIET)
    for title in ("parent", "child"):
        table.add_column(title, overflow="fold")
    sure = [] if confidence is None else ["sure", "either way"]
    for title in ("gain (nats)", "p-value", *sure):
        table.add_column(title, justify="right", no_wrap=True)
    for edge in strongest[:EDGES]:
        table.add_row(
            Text(show(edge.parent)),
            Text(show(edge.child)),
            f"{edge.gain:.4f}",
            p_value(edge.p_value),
            *_shares(edge, confidence),
        )
    yield Padding(table, (0, 0, 0, 1), expand=False)
    yield from more(len(strongest) - EDGES, "edge", "all of them with --out edges.csv")


def _shares(edge: Edge, confidence: Confidence | None) -> list[str]:
    """How often resamples showed the arrow, and one between its ends whichever way."""
    if confidence is None:
        return []
    ends = edge.parent, edge.child
    return [f"{confidence.edges.get(ends, 0.0):.0%}", f"{confidence.skeleton(*ends):.0%}"]


def _elsewhere(result: Result, confidence: Confidence | None) -> Iterator[RenderableType]:
    """Arrows that resamples often showed and the graph has not."""
    if confidence is None:
        return
    there = {(edge.parent, edge.child) for edge in result.edges}
    often = [
        f"{show(a)} -> {show(b)} {share:.0%}"
        for (a, b), share in confidence.edges.items()
        if (a, b) not in there and share >= OFTEN
    ]
    if often:
        why = f"in at least {OFTEN:.0%} of {confidence.n} resamples"
        yield from title_of("Arrows that are not in the graph", why)
        yield item(", ".join(often[:EDGES]))
        yield from more(len(often) - EDGES, "arrow")


def _isolated(result: Result) -> Iterator[RenderableType]:
    connected = {name for edge in result.edges for name in (edge.parent, edge.child)}
    isolated = [name for name in result.names if name not in connected]
    if isolated and connected:
        yield from title_of(count(len(isolated), "isolated column"))
        yield item(listed(isolated))


_READ_AS = {"counts": "counts of levels", "conditional-gaussian": "numbers given levels"}


def _ranking(result: Result) -> Iterator[RenderableType]:
    """What "auto" tried, and how close it was."""
    if not result.ranking:
        return
    best = result.ranking[0]
    reading = _READ_AS.get(best.information, "numbers")
    yield from title_of("Searches tried", f"the answer first; read as {reading}")
    several = len({run.information for run in result.ranking}) > 1
    for run in result.ranking:
        kind = f" on {run.information}" if several else ""
        behind = best.score - run.score
        how = "chosen" if run.chosen else _behind(behind)
        edges = count(run.n_edges, "edge")
        yield item(f"{run.search}{kind}: {how}, {edges}; rests on {run.rests_on}")


def _behind(nats: float) -> str:
    """How the score of a search compares with the answer's."""
    if abs(nats) < 0.05:
        return "fits alike"
    how = "behind" if nats > 0 else "ahead, but its noise is spread less evenly"
    return f"{abs(nats):.1f} nats {how}"


def _directions(result: Result) -> Iterator[RenderableType]:
    """What the directions rest on, and those that are open, the least likely first."""
    if not result.edges:
        return
    yield from title_of("Directions", "what they rest on")
    for warrant, words in WARRANTS.items():
        number = sum(edge.warrant == warrant for edge in result.edges)
        if number:
            yield item(f"{number:,} {words}")
    unsure = [edge for edge in result.closest_directions(len(result.edges)) if not edge.is_claimed]
    if unsure:
        shown = [
            f"{show(edge.parent)} -> {show(edge.child)} {chance(edge.direction_probability)}"
            for edge in unsure[:EDGES]
        ]
        yield from title_of(count(len(unsure), "open direction"), "with the probability of each")
        yield item(", ".join(shown))
        yield from more(len(unsure) - len(shown), "edge")


def _calls(result: Result) -> Iterator[RenderableType]:
    calls = result.closest_calls(CALLS)
    if not calls:
        return
    yield from title_of("Closest calls", "tests nearest to going the other way first")
    yield from (item(str(verdict)) for verdict in calls)
