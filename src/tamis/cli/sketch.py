"""The DAG in characters: a row a node, layer by layer, a line from every node to its children.

A node's line opens at its row, runs down on the left and ends at its last child; a row that a
line from above joins is a child's. The names after the arrow say the same again, so that nobody
has to follow a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from tamis.cli.layout import QUIET, TITLE
from tamis.result import LOOKS, Result, show

ROWS = 40
"""Nodes that a sketch can have and still be looked at."""
_NAME = 24
"""Cells for a name, at most, so that the arrows stand below each other."""
_UNSURE = "yellow"


class Signs(NamedTuple):
    """The characters of a sketch; ``first`` is the leftmost line that a row touches."""

    opening_first: str
    opening: str
    joining_first: str
    joining: str
    ending_first: str
    ending: str
    passing: str
    across: str
    head: str
    arrows: Mapping[str, str]
    """By what a direction rests on."""


_BACK = {warrant: look.back for warrant, look in LOOKS.items()}
_ASCII_BACK = {warrant: look.ascii_back for warrant, look in LOOKS.items()}
LINES = Signs("┌", "┬", "├", "┼", "└", "┴", "│", "─", "▸", _BACK)
ASCII = Signs(".", ".", "+", "+", "'", "'", "|", "-", ">", _ASCII_BACK)


class Step(NamedTuple):
    """One row of lines: by column who stands there, which lines it joins, ends and opens."""

    held: tuple[str | None, ...]
    joined: frozenset[int]
    ended: frozenset[int]
    opened: int | None


def steps_of(order: Sequence[str], parents: Mapping[str, Sequence[str]]) -> list[Step]:
    """The lines beside nodes in topological order, each line in the leftmost free column."""
    last = {parent: child for child in order for parent in parents[child]}
    held: list[str | None] = []
    steps = []
    for name in order:
        joined = frozenset(k for k, owner in enumerate(held) if owner in parents[name])
        ended = frozenset(k for k in joined if last[held[k] or ""] == name)
        opened = None
        if name in last:
            # Not where a line ends in this row: the two would look like one.
            opened = held.index(None) if None in held else len(held)
        steps.append(Step(tuple(held), joined, ended, opened))
        held = [None if k in ended else owner for k, owner in enumerate(held)]
        if opened is not None:
            held[opened : opened + 1] = [name]
    return steps


def drawn(step: Step, columns: int, signs: Signs, spread: int) -> str:
    """The lines of one row, every column ``spread`` characters wide."""
    touched = step.joined | (frozenset() if step.opened is None else {step.opened})
    first = min(touched, default=columns)
    line = ""
    for k in range(columns):
        right = signs.across if k >= first else " "
        line += _sign(step, k, first, signs) + right * (spread - 1)
    tip = signs.head if step.joined else signs.across if touched else " "
    return f"{line}{tip} "


def _sign(step: Step, k: int, first: int, signs: Signs) -> str:
    if k == step.opened:
        return signs.opening_first if k == first else signs.opening
    if k in step.ended:
        return signs.ending_first if k == first else signs.ending
    if k in step.joined:
        return signs.joining_first if k == first else signs.joining
    if k < len(step.held) and step.held[k] is not None:
        return signs.passing
    return signs.across if k > first else " "


def below(step: Step, columns: int, signs: Signs, spread: int) -> str:
    """The lines that go on under a row, for what its name or parents need of further lines."""
    going = {k for k, owner in enumerate(step.held) if owner is not None and k not in step.ended}
    going |= set() if step.opened is None else {step.opened}
    marks = (signs.passing if k in going else " " for k in range(columns))
    return "".join(mark.ljust(spread) for mark in marks) + "  "


@dataclass(frozen=True)
class Sketch:
    """The nodes that have edges, with their lines and parents; nothing if there are none.

    Box characters where the encoding has them and ASCII elsewhere. Lines that would take more
    than a third of the width are left out, the parents after the arrow are not.
    """

    result: Result

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        connected = {name for edge in self.result.edges for name in (edge.parent, edge.child)}
        if not connected:
            return
        signs = LINES if _has(options.encoding, LINES) else ASCII
        yield Text()
        if is_too_large(self.result):
            remark = f"too large with {len(connected):,} columns; --report page.html draws it"
            yield from _title(remark, console, options.max_width)
            return
        yield from _title("parents after the arrow", console, options.max_width)
        yield from _rows(self.result, connected, signs, console, options.max_width)
        yield from _legend(self.result, signs, console, options.max_width)


def is_too_large(result: Result) -> bool:
    """Whether a sketch could not be looked at."""
    return len({name for edge in result.edges for name in (edge.parent, edge.child)}) > ROWS


def _has(encoding: str, signs: Signs) -> bool:
    try:
        "".join((*signs[:-1], *signs.arrows.values())).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _legend(result: Result, signs: Signs, console: Console, width: int) -> Iterator[Text]:
    """What the directions of the arrows rest on, as many kinds in a line as there is room for."""
    lines: list[str] = []
    for warrant in LOOKS:
        if any(edge.warrant == warrant for edge in result.edges):
            entry = f"{signs.arrows[warrant]} {LOOKS[warrant].label}"
            if lines and cell_len(f"{lines[-1]}   {entry}") <= width:
                lines[-1] += f"   {entry}"
            else:
                lines.append(f"    {entry}")
    for line in lines:
        for part in Text(line, style=QUIET).wrap(console, width, overflow="fold"):
            part.rstrip()
            yield part


def _title(remark: str, console: Console, width: int) -> Iterator[Text]:
    title = Text.assemble(("Graph", TITLE), (f", {remark}", QUIET))
    for line in title.wrap(console, width):
        line.rstrip()
        yield line


def _rows(
    result: Result, connected: set[str], signs: Signs, console: Console, width: int
) -> Iterator[Text]:
    order = [name for layer in result.layers for name in layer if name in connected]
    steps = steps_of(order, result.parents)
    columns = max(len(step.held) for step in steps)
    spread = next((s for s in (2, 1) if columns * s <= width // 3), 0)
    numbers = _numbers(result, connected)
    name_width = min(max(cell_len(show(name)) for name in order), _NAME)
    warrant_of = {(edge.parent, edge.child): edge.warrant for edge in result.edges}
    for name, step in zip(order, steps, strict=True):
        number = numbers[name]
        head = drawn(step, columns, signs, spread) if spread else ""
        under = below(step, columns, signs, spread) if spread else "  "
        body = _body(name, result.parents[name], warrant_of, signs, name_width)
        room = max(width - len(number) - max(len(head), len(under)), 1)
        for i, line in enumerate(body.wrap(console, room, overflow="fold")):
            left = number + head if i == 0 else " " * len(number) + under
            whole = Text.assemble((left, QUIET), line)
            whole.rstrip()
            yield whole


def _numbers(result: Result, connected: set[str]) -> dict[str, str]:
    """The layer's number at the first of its nodes, blanks at the others."""
    wide = len(str(len(result.layers)))
    numbers = {}
    for j, layer in enumerate(result.layers, start=1):
        for i, name in enumerate(name for name in layer if name in connected):
            numbers[name] = f" {'' if i else j:>{wide}}  "
    return numbers


def _body(
    name: str,
    parents: Sequence[str],
    warrant_of: Mapping[tuple[str, str], str],
    signs: Signs,
    name_width: int,
) -> Text:
    body = Text(show(name))
    body.append(" " * max(name_width - body.cell_len, 0))
    for warrant, arrow in signs.arrows.items():
        among = [parent for parent in parents if warrant_of[parent, name] == warrant]
        if among:
            style = _UNSURE if warrant == "none" else QUIET
            body.append("  ").append(arrow, style).append(" " + ", ".join(map(show, among)))
    return body
