"""A result on the terminal: what was read, what was run, what was found, and how surely."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tamis.result import Result, explain, show
from tamis.terminal.words import count, p_value, settings_in_words

EDGES = 30
LAYERS = 12
NAMES = 24
CALLS = 5
"""How much of each is shown before it is said how much more there is."""

_TITLE = "bold"
_QUIET = "dim"


def show_summary(console: Console, result: Result, source: str, notes: Sequence[str]) -> None:
    """Everything a first look at a result should show; at most a few screens."""
    for part in _parts(result, source, notes):
        console.print(part)


def show_explanations(console: Console, result: Result, names: Iterable[str]) -> None:
    """The stories of these columns."""
    for name in names:
        first, *rest = explain(result, name).split("\n")
        console.print()
        console.print(Text(first, style=_TITLE))
        for line in rest:
            console.print(_item(line.strip()))


def show_written(console: Console, paths: Sequence[str]) -> None:
    """Which files there are now; without any, how to get them."""
    console.print()
    if paths:
        console.print(Text("Wrote " + ", ".join(map(show, paths))))
    else:
        hint = "--out FILE writes .json (everything, for tamis.load), .dot, .graphml or .csv"
        console.print(Text(hint, style=_QUIET))


def _parts(result: Result, source: str, notes: Sequence[str]) -> Iterator[RenderableType]:
    yield _Hanging(Text(), f"{show(source)}: {_size(result)}")
    yield from _pairs(settings_in_words(result.settings).items())
    yield from (_Hanging(Text("Note: ", style="yellow"), show(note)) for note in notes)
    yield from _layers(result)
    yield from _edges(result)
    yield from _isolated(result)
    yield from _order(result)
    yield from _calls(result)


def _size(result: Result) -> str:
    sizes = sorted({len(labels) for labels in result.levels.values()})
    levels = count(sizes[-1], "level")
    if len(sizes) > 1:
        levels = f"{sizes[0]} to {levels}"
    columns = count(len(result.names), "column")
    return f"{count(result.n_rows, 'row')}, {columns} of {levels}"


def _layers(result: Result) -> Iterator[RenderableType]:
    yield from _title(count(len(result.layers), "layer"))
    shown = result.layers[:LAYERS]
    yield from _pairs((str(j), _listed(layer)) for j, layer in enumerate(shown, start=1))
    yield from _more(len(result.layers) - len(shown), "layer")


def _edges(result: Result) -> Iterator[RenderableType]:
    strongest = sorted(result.edges, key=lambda edge: (-edge.gain, edge.parent, edge.child))
    if not strongest:
        yield from _title("No edges", "no column was found to depend on another")
        return
    yield from _title(count(len(strongest), "edge"), "strongest first")
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style=_QUIET)
    for title in ("parent", "child"):
        table.add_column(title, overflow="fold")
    for title in ("gain (nats)", "p-value"):
        table.add_column(title, justify="right", no_wrap=True)
    for edge in strongest[:EDGES]:
        table.add_row(
            Text(show(edge.parent)),
            Text(show(edge.child)),
            f"{edge.gain:.4f}",
            p_value(edge.p_value),
        )
    yield Padding(table, (0, 0, 0, 1), expand=False)
    yield from _more(len(strongest) - EDGES, "edge", "all of them with --out edges.csv")


def _isolated(result: Result) -> Iterator[RenderableType]:
    connected = {name for edge in result.edges for name in (edge.parent, edge.child)}
    isolated = [name for name in result.names if name not in connected]
    if isolated and connected:
        yield from _title(count(len(isolated), "isolated column"))
        yield _item(_listed(isolated))


def _order(result: Result) -> Iterator[RenderableType]:
    """Edges that would point the other way if two entropies had come out the other way."""
    close = result.closest_directions(CALLS)
    if not close:
        return
    yield from _title("Closest directions", "smallest lead in conditional entropy first")
    for edge in close:
        lead = "by its name only" if edge.lead == 0 else f"by {edge.lead:.4f} nats"
        yield _item(f"{show(edge.parent)} before {show(edge.child)} {lead}")


def _calls(result: Result) -> Iterator[RenderableType]:
    calls = result.closest_calls(CALLS)
    if not calls:
        return
    yield from _title("Closest calls", "tests nearest to going the other way first")
    yield from (_item(str(verdict)) for verdict in calls)


def _title(title: str, remark: str = "") -> Iterator[RenderableType]:
    yield Text()
    yield Text.assemble((title, _TITLE), (f", {remark}" if remark else "", _QUIET))


@dataclass(frozen=True)
class _Hanging:
    """A paragraph after a head; its later lines are indented. No line ends in blanks."""

    head: Text
    body: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        indent = self.head.cell_len
        width = max(options.max_width - indent, 1)
        lines = Text(self.body).wrap(console, width, overflow="fold")
        for i, line in enumerate(lines):
            line.rstrip()
            yield Text.assemble(self.head if i == 0 else " " * indent, line)


def _item(text: str) -> RenderableType:
    return _Hanging(Text(" - ", style=_QUIET), text)


def _pairs(pairs: Iterable[tuple[str, str]]) -> Iterator[RenderableType]:
    pairs = list(pairs)
    width = max(len(title) for title, _ in pairs)
    for title, text in pairs:
        yield _Hanging(Text(f" {title:{width}}  ", style=_QUIET), text)


def _more(number: int, thing: str, how: str = "") -> Iterator[RenderableType]:
    if number > 0:
        remark = f" ... and {count(number, f'more {thing}')}" + (f"; {how}" if how else "")
        yield Text(remark, style=_QUIET)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(show, names[:NAMES]))
    rest = len(names) - NAMES
    return f"{shown} ... and {rest:,} more" if rest > 0 else shown
