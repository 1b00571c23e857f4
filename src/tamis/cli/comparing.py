"""The command `tamis compare`: methods on a table, or graphs with each other."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tamis.cli.layout import (
    QUIET,
    Hanging,
    Waiting,
    console,
    item,
    listed,
    more,
    noted,
    options_in_words,
    show_notes,
    title_of,
    waiting,
)
from tamis.cli.summary import show_written
from tamis.cli.texts import types_from_options
from tamis.comparison import Compared, Comparison
from tamis.comparison.methods import FOR_TABLES, METHODS, compare, is_graph
from tamis.comparison.picture import check_outputs
from tamis.drawing.pictures import ENDINGS as PICTURES
from tamis.errors import SettingError
from tamis.formats.graph import in_order
from tamis.result import show
from tamis.tables.kinds import Told
from tamis.tables.refusals import count

EDGES = 30
"""Edges that are shown before it is said how many more there are."""
MATRIX = 14
"""Graphs up to which the distances of all pairs fit side by side."""


@dataclass(frozen=True)
class CompareWishes:
    """What to compare, and where to write it."""

    truth: str | None = None
    methods: str | None = None
    limit: float | None = None
    types: dict[str, Told] | None = None
    missing: str = "error"
    out: Sequence[str] = field(default=())
    plot: str | None = None
    quiet: bool = False

    @property
    def written(self) -> tuple[str, ...]:
        """The files to write."""
        return (*self.out, *([] if self.plot is None else [self.plot]))


def types_for(
    things: Sequence[str], types: Sequence[str], drop: Sequence[str], only: Sequence[str]
) -> dict[str, Told] | None:
    """The kinds of columns that options name; graphs have no such columns."""
    given = {"--type": types, "--drop": drop, "--only": only}
    option = next((option for option, told in given.items() if told), None)
    if option is None:
        return None
    if len(things) > 1 or is_graph(things[0]):
        raise SettingError(f"{option} {FOR_TABLES}")
    return types_from_options(things[0], types, drop, only)


def run(
    things: Sequence[str],
    *,
    types: tuple[Sequence[str], Sequence[str], Sequence[str]],
    **options: Any,  # noqa: ANN401 - the other fields of CompareWishes
) -> None:
    """Compare; whatever can be refused is refused before the work begins."""
    wishes = CompareWishes(types=types_for(things, *types), **options)
    check_outputs(wishes.out)
    check_outputs([] if wishes.plot is None else [wishes.plot], PICTURES)
    _spare([*things, *filter(None, [wishes.truth])], wishes.written)
    methods = _methods(wishes.methods)
    with noted() as notes, waiting(quiet=wishes.quiet) as wait:
        found = _compared(things, wishes, methods, wait)
        if wishes.written:
            found.save(*wishes.written)
    if not wishes.quiet:
        stdout = console()
        for part in _head(found):
            stdout.print(part)
        show_notes(stdout, notes())
        for part in parts_of(found):
            stdout.print(part)
        if wishes.written:
            show_written(stdout, wishes.written)


def _compared(
    things: Sequence[str], wishes: CompareWishes, methods: list[str] | None, wait: Waiting
) -> Comparison:
    """Compare, and let refusals of parameters speak of options."""
    try:
        return compare(
            *things,
            truth=wishes.truth,
            methods=methods,
            limit=wishes.limit,
            types=wishes.types,
            missing=wishes.missing,  # type: ignore[arg-type]  # any other word is refused there
            progress=lambda name, done, of: wait.step(f"learning with {name}", done, of),
        )
    except SettingError as error:
        raise SettingError(_in_options(str(error))) from None


def _methods(text: str | None) -> list[str] | None:
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in METHODS:
            raise SettingError(
                f"--methods: there is no method {name!r}; there are {', '.join(METHODS)}"
            )
    if not names:
        raise SettingError(f"--methods names none; there are {', '.join(METHODS)}")
    return list(dict.fromkeys(names))


def _in_options(message: str) -> str:
    """A refusal of a parameter as one of an option."""
    for name in ("methods", "limit", "types", "missing"):
        if message.startswith((f"{name} is for", f"{name} must be")):
            return f"--{'type' if name == 'types' else name}{message.removeprefix(name)}"
    return options_in_words(message)


def _spare(read: Sequence[str], written: Sequence[str]) -> None:
    for path in written:
        for given in read:
            if os.path.exists(path) and os.path.exists(given) and os.path.samefile(path, given):
                raise SettingError(f"{path!r} would overwrite what is compared")
    if len({os.path.realpath(path) for path in written}) < len(written):
        raise SettingError("two files to write are the same file: write it once")


def parts_of(found: Comparison) -> Iterator[RenderableType]:
    """What there is to show below the head."""
    yield from _columns(found)
    if found.table is None and len(found.graphs) == 2:
        yield from _changes(found)
        if found.truth is None:
            return
    yield from _entries(found)
    if found.table is not None or len(found.graphs) != 2:
        yield from _edges(found)
    yield from _matrix(found)


def _head(found: Comparison) -> Iterator[RenderableType]:
    what = "method" if found.table is not None else "graph"
    given = "" if len(found.graphs) == len(found.entries) else f"{len(found.graphs):,} of "
    compared = f"{given}{count(len(found.entries), what)} compared"
    truth = "" if found.truth is None else f" with the truth, {show(found.truth.name)}"
    table = "" if found.table is None else f"{show(found.table)}; "
    yield Hanging(Text(), f"{table}{compared}{truth}")
    yield Hanging(Text(), _agreed(found))


def _agreed(found: Comparison) -> str:
    """What the graphs have in common, in a sentence or two."""
    n = len(found.graphs)
    if n == 0:
        return "No method found a graph."
    if n == 1:
        return f"{show(found.graphs[0].name)} has {count(found.graphs[0].n_edges, 'edge')}."
    edges = [edge for edge in found.agreement if edge.edge]
    everywhere = [edge for edge in edges if edge.edge == n]
    alike = [edge for edge in everywhere if n in (edge.forward, edge.undirected)]
    verb = "pair of columns has" if len(edges) == 1 else "pairs of columns have"
    both = "both" if n == 2 else f"all {n}"
    said = f"{len(edges):,} {verb} an edge in some graph, {len(everywhere):,} in {both}"
    far = f"; the distance between their CPDAGs is {_apart(found)}" if n == 2 else ""
    return f"{said}, {len(alike):,} with the same direction in {both}{far}."


def _apart(found: Comparison) -> int:
    first, second = found.graphs
    return found.distances[first.name, second.name]


def _columns(found: Comparison) -> Iterator[RenderableType]:
    """Columns that not all graphs have; graphs that lack the same ones share a line."""
    lacking: dict[tuple[str, ...], list[str]] = {}
    for name, columns in found.lacking.items():
        lacking.setdefault(columns, []).append(name)
    for columns, names in lacking.items():
        who = f"{listed(names)} {'has' if len(names) == 1 else 'have'}"
        what = f"no {'column' if len(columns) == 1 else 'columns'} {listed(columns)}"
        yield Hanging(Text("Note: ", style="yellow"), f"{who} {what}.")
    if found.lacking:
        shared = f"Distances are over the {count(len(found.shared), 'column')} that all have."
        yield Hanging(Text("Note: ", style="yellow"), shared)


def _problems(found: Comparison) -> Iterator[RenderableType]:
    """Why there is no graph of a method; methods with the same reason share a line."""
    names: dict[str, list[str]] = {}
    for entry in found.entries:
        if entry.problem is not None:
            names.setdefault(entry.problem, []).append(entry.name)
    for problem, own in names.items():
        who = show(own[0]) if len(own) == 1 else f"{listed(own)}: each"
        yield item(options_in_words(f"{who} {show(problem)}"))


def _entries(found: Comparison) -> Iterator[RenderableType]:
    timed = any(entry.seconds is not None for entry in found.entries)
    true = found.truth is not None
    titles = ["edges", *(["seconds"] if timed else [])]
    titles += ["SHD", "CPDAG distance", "skeleton F1"] if true else ["mean distance to the others"]
    yield from title_of("Methods" if found.table is not None else "Graphs", _nearest(found))
    table = _table(["name"], titles)
    rows = [row for row in found.rows() if row["problem"] is None]
    rows.sort(key=lambda row: _rank(row, true=true))
    for row in rows:
        far = ["shd", "cpdag_distance", "skeleton_f1"] if true else ["mean_distance"]
        numbers = [row["n_edges"], *([row["seconds"]] if timed else []), *(row[k] for k in far)]
        table.add_row(Text(show(row["name"])), *map(_number, numbers))
    if rows:
        yield Padding(table, (0, 0, 0, 1), expand=False)
    yield from _problems(found)


def _nearest(found: Comparison) -> str:
    if len(found.graphs) < 2:
        return ""
    return (
        "nearest to the truth first" if found.truth is not None else "nearest to the others first"
    )


def _rank(row: dict[str, float], *, true: bool) -> float:
    far = row["cpdag_distance" if true else "mean_distance"]
    return 0.0 if far is None else far


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


def _table(words: Sequence[str], numbers: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style=QUIET)
    for title in words:
        table.add_column(title, overflow="fold")
    for title in numbers:
        table.add_column(title, justify="right")
    return table


def _edges(found: Comparison) -> Iterator[RenderableType]:
    if not found.graphs:
        return
    if not found.agreement:
        yield from title_of("No edges", "no graph has any")
        return
    yield from title_of("Edges", "those that most graphs have first")
    true = ["in the truth"] if found.truth is not None else []
    table = _table(["parent", "child"], ["graphs", "this way", "other way", "undirected", *true])
    for edge in found.agreement[:EDGES]:
        table.add_row(
            Text(show(edge.parent)),
            Text(show(edge.child)),
            f"{edge.edge} of {edge.graphs}",
            *(str(n) if n else "-" for n in (edge.forward, edge.backward, edge.undirected)),
            *([_TRUE[edge.truth]] if edge.truth is not None else []),
        )
    yield Padding(table, (0, 0, 0, 1), expand=False)
    yield from more(len(found.agreement) - EDGES, "edge", "all of them with --out edges.csv")


_TRUE = {"forward": "this way", "backward": "other way", "undirected": "undirected", "none": "no"}


def _changes(found: Comparison) -> Iterator[RenderableType]:
    """What happened from the first graph to the second."""
    first, second = found.graphs
    changes = found.changes()
    a, b = show(first.name), show(second.name)
    if not changes.n and not changes.apart:
        yield from title_of("No difference", f"{a} and {b} have the same edges")
        return
    yield from title_of(f"From {a} to {b}", f"{count(len(changes.same), 'edge')} the same")
    titles = {
        "appeared": "appeared",
        "vanished": "vanished",
        "turned": "turned, now",
        "directed": "got a direction",
        "undirected": "lost the direction",
        "apart": "between columns that only one has",
    }
    for kind, words in titles.items():
        edges = getattr(changes, kind)
        if edges:
            shown = ", ".join(_edge(edge, kind, first, second) for edge in edges[:EDGES])
            yield item(f"{len(edges):,} {words}: {shown}")
            yield from more(len(edges) - EDGES, "edge")


def _edge(edge: tuple[str, str], kind: str, first: Compared, second: Compared) -> str:
    holder = first if kind in ("vanished", "undirected") else second
    if kind == "apart" and in_order(*edge) not in second.skeleton:
        holder = first
    mark = "--" if in_order(*edge) in holder.undirected else "->"
    return f"{show(edge[0])} {mark} {show(edge[1])}"


def _matrix(found: Comparison) -> Iterator[RenderableType]:
    """The distances of all pairs, columns by number."""
    if not 2 < len(found.graphs) <= MATRIX:
        return
    yield from title_of("Distances to each other", "SHD between CPDAGs")
    numbers = [str(k) for k in range(1, len(found.graphs) + 1)]
    table = _table(["", ""], numbers)
    for number, graph in zip(numbers, found.graphs, strict=True):
        far = [found.distances.get((graph.name, other.name)) for other in found.graphs]
        table.add_row(number, Text(show(graph.name)), *("." if n is None else str(n) for n in far))
    yield Padding(table, (0, 0, 0, 1), expand=False)
