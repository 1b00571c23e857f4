"""A result on the terminal: what was found, the graph, what is weakest; numbers on request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tamis.cli.layout import (
    QUIET,
    TITLE,
    Hanging,
    item,
    listed,
    more,
    p_value,
    pairs_of,
    settings_in_words,
    title_of,
)
from tamis.cli.sketch import Sketch, is_too_large
from tamis.result import (
    LOOKS,
    Edge,
    Result,
    answer,
    chance,
    engine_in_words,
    explain,
    show,
)
from tamis.result.facts import ARROW
from tamis.tables.kinds import IGNORE
from tamis.tables.plan_text import columns_in_words
from tamis.tables.refusals import count

if TYPE_CHECKING:
    from tamis.bootstrap import Confidence
    from tamis.identifiability.recovery import RecoveryCheck

Kinds = Mapping[str, Sequence[str]]
"""The names of columns by the kind that they are read as."""

EDGES = 30
LAYERS = 12
CALLS = 5
STRONGEST = 12
"""How much of each is shown before it is said how much more there is."""
OFTEN = 0.25
"""An arrow that is not in the graph is worth a look from this share of the resamples on."""


def show_summary(
    console: Console,
    result: Result,
    notes: Sequence[str],
    confidence: Confidence | None = None,
    *,
    details: bool = False,
) -> None:
    """Say what was found, show the graph and what is weakest; with ``details`` the statistics too.

    All of it stands in the result, so that a saved run is shown as it was when it was learned.
    """
    arrow = _arrow_for(console)
    for part in _answer(result, notes, confidence, arrow, details=details):
        console.print(part)
    if details:
        for part in _details(result, confidence, arrow):
            console.print(part)


def _arrow_for(console: Console) -> str:
    """What can stand between parent and child."""
    try:
        ARROW.encode(console.encoding)
    except (UnicodeEncodeError, LookupError):
        return " -> "
    return ARROW


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


def show_written(console: Console, paths: Sequence[str], *, details: bool = False) -> None:
    """Which files there are now; without any, what else there is to see."""
    console.print()
    if paths:
        console.print(Text("Wrote " + ", ".join(map(show, paths))), soft_wrap=True)
        return
    hints = ["--report page.html writes a page to look at, --out run.json the whole result."]
    if not details:
        hints.insert(0, "--details shows the statistics, --explain COLUMN the story of a column.")
    for hint in hints:
        console.print(Text(hint, style=QUIET))


def _answer(
    result: Result,
    notes: Sequence[str],
    confidence: Confidence | None,
    arrow: str,
    *,
    details: bool,
) -> Iterator[RenderableType]:
    """What an analyst would say aloud, and the graph."""
    for i, part in enumerate(("found", "told", "directions")):
        found = answer(result, part, confidence=confidence)
        said = " ".join(one.text(arrow) for one in found)
        if said:
            yield from [Text()] if i else []
            yield Hanging(Text(), said)
    yield Sketch(result)
    if is_too_large(result):
        yield from _strongest(result, arrow)
    weakest = answer(result, "weakest", confidence=confidence)
    if weakest:
        yield from title_of("What is weakest")
        yield from (item(one.text(arrow)) for one in weakest)
    if confidence is not None and not details:
        yield from _edges(result, confidence, statistics=False)
    yield from _elsewhere(result, confidence, arrow)
    if notes:
        yield from title_of("Notes")
        yield from (item(show(note)) for note in notes)


def _details(result: Result, confidence: Confidence | None, arrow: str) -> Iterator[RenderableType]:
    """The statistics."""
    yield from title_of("How it was found")
    yield Hanging(Text(" "), " ".join(map(str, answer(result, "how"))))
    yield from title_of("Settings")
    yield from pairs_of(_settings(result).items())
    yield from _layers(result)
    yield from _edges(result, confidence)
    yield from _directions(result, arrow)
    yield from _ranking(result)
    yield from _calls(result)


def _strongest(result: Result, arrow: str) -> Iterator[RenderableType]:
    """The strongest arrows, where the graph is too large to be drawn."""
    strongest = sorted(result.edges, key=lambda edge: (-edge.gain, edge.parent, edge.child))
    shown = [f"{show(edge.parent)}{arrow}{show(edge.child)}" for edge in strongest[:STRONGEST]]
    yield from title_of("Strongest arrows", f"{len(shown)} of {count(len(strongest), 'arrow')}")
    yield item(", ".join(shown))


def _settings(result: Result) -> dict[str, str]:
    kinds = kinds_of(result)
    words = {"columns": columns_in_words(kinds)} if len([*filter(None, kinds.values())]) > 1 else {}
    words |= settings_in_words(
        result.settings,
        n_numbers=len(kinds["number"]) if "information" in result.left_open else 0,
        asked_for="auto" if "search" in result.left_open else None,
    )
    used = [verdict.n_rows for verdict in result.trace.verdicts() if verdict.n_rows is not None]
    if used:
        least, most = f"{min(used):,}", f"{max(used):,}"
        words["missing"] += f": {least if least == most else f'{least} to {most}'} rows"
    if result.knowledge_cost is not None:
        words["knowledge"] = f"costs {result.knowledge_cost:.1f} nats of penalised log-likelihood"
    if result.engine is not None:
        words["counted"] = engine_in_words(result.engine)
    if not len({kind for kind, names in kinds.items() if names}) > 1:
        words = {"columns": _levels(result), **words}
    return words


def kinds_of(result: Result) -> Kinds:
    """The names of the columns by what they were read as, and those that were left out."""
    every = {"counts": "category", "gaussian": "number", "copula": "number"}
    alike = every.get(result.settings["information"])
    found: dict[str, list[str]] = {kind: [] for kind in ("number", "category", "ordinal")}
    for name in result.names:
        own = alike or ("category" if result.levels[name] else "number")
        found[own if result.kinds is None else result.kinds[name]].append(name)
    told = result.settings.get("types") or {}
    return {**found, IGNORE: [name for name, kind in told.items() if kind == IGNORE]}


def _levels(result: Result) -> str:
    """What columns of one kind hold."""
    if result.settings["information"] != "counts":
        return "numbers"
    sizes = sorted({len(labels) for labels in result.levels.values()})
    levels = count(sizes[-1], "level")
    return f"{sizes[0]} to {levels}" if len(sizes) > 1 else levels


def _layers(result: Result) -> Iterator[RenderableType]:
    yield from title_of(count(len(result.layers), "layer"))
    shown = result.layers[:LAYERS]
    yield from pairs_of((str(j), listed(layer)) for j, layer in enumerate(shown, start=1))
    yield from more(len(result.layers) - len(shown), "layer")


def _edges(
    result: Result, confidence: Confidence | None, *, statistics: bool = True
) -> Iterator[RenderableType]:
    """The arrows with their numbers; without ``statistics`` only how often they came back."""
    strongest = sorted(result.edges, key=lambda edge: (-edge.gain, edge.parent, edge.child))
    if not strongest:
        return
    yield from title_of(count(len(strongest), "arrow"), "strongest first")
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style=QUIET)
    for title in ("parent", "child"):
        table.add_column(title, overflow="fold")
    numbers = ["gain (nats)", "p-value"] if statistics else []
    numbers += [] if confidence is None else ["sure", "either way"]
    for title in numbers:
        table.add_column(title, justify="right", no_wrap=True)
    for edge in strongest[:EDGES]:
        told = [f"{edge.gain:.4f}", p_value(edge.p_value)] if statistics else []
        table.add_row(
            Text(show(edge.parent)), Text(show(edge.child)), *told, *_shares(edge, confidence)
        )
    yield Padding(table, (0, 0, 0, 1), expand=False)
    yield from more(len(strongest) - EDGES, "arrow", "all of them with --out edges.csv")


def _shares(edge: Edge, confidence: Confidence | None) -> list[str]:
    """How often resamples showed the arrow, and one between its ends whichever way."""
    if confidence is None:
        return []
    ends = edge.parent, edge.child
    return [f"{confidence.edges.get(ends, 0.0):.0%}", f"{confidence.skeleton(*ends):.0%}"]


def _elsewhere(
    result: Result, confidence: Confidence | None, arrow: str
) -> Iterator[RenderableType]:
    """Arrows that resamples often showed and the graph has not."""
    if confidence is None:
        return
    there = {(edge.parent, edge.child) for edge in result.edges}
    often = [
        f"{show(a)}{arrow}{show(b)} {share:.0%}"
        for (a, b), share in confidence.edges.items()
        if (a, b) not in there and share >= OFTEN
    ]
    if often:
        why = f"in at least {OFTEN:.0%} of {confidence.n} resamples"
        yield from title_of("Arrows that are not in the graph", why)
        yield item(", ".join(often[:EDGES]))
        yield from more(len(often) - EDGES, "arrow")


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
        arrows = count(run.n_edges, "arrow")
        yield item(f"{run.search}{kind}: {how}, {arrows}; rests on {run.rests_on}")


def _behind(nats: float) -> str:
    """How the score of a search compares with the answer's."""
    if abs(nats) < 0.05:
        return "fits alike"
    how = "behind" if nats > 0 else "ahead, but its noise is spread less evenly"
    return f"{abs(nats):.1f} nats {how}"


def _directions(result: Result, arrow: str) -> Iterator[RenderableType]:
    """Every direction that is not given with its probability, the least likely first."""
    asked = [
        edge for edge in result.closest_directions(len(result.edges)) if edge.warrant != "given"
    ]
    if not asked:
        return
    yield from title_of("Directions", "how likely each is, the least likely first")
    for warrant in LOOKS:
        own = [edge for edge in asked if edge.warrant == warrant]
        if own:
            shown = [
                f"{show(edge.parent)}{arrow}{show(edge.child)} {chance(edge.direction_probability)}"
                for edge in own[:EDGES]
            ]
            yield item(f"{LOOKS[warrant].label}: {', '.join(shown)}")
            yield from more(len(own) - len(shown), "arrow")


def _calls(result: Result) -> Iterator[RenderableType]:
    calls = result.closest_calls(CALLS)
    if not calls:
        return
    yield from title_of("Closest calls", "decisions nearest to going the other way first")
    yield from (item(str(verdict)) for verdict in calls)
