"""How text is laid out on the terminal: titles, hanging paragraphs, lists that end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from tamis.result import show
from tamis.terminal.words import count

NAMES = 24
"""Names that are listed before it is said how many more there are."""
TITLE = "bold"
QUIET = "dim"


def title_of(title: str, remark: str = "") -> Iterator[RenderableType]:
    """A line left free, a title, and a word about what follows."""
    yield Text()
    yield Text.assemble((title, TITLE), (f", {remark}" if remark else "", QUIET))


@dataclass(frozen=True)
class Hanging:
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


def item(text: str) -> RenderableType:
    """One of a list."""
    return Hanging(Text(" - ", style=QUIET), text)


def pairs_of(pairs: Iterable[tuple[str, str]]) -> Iterator[RenderableType]:
    """Short titles and what belongs to them, one under the other."""
    pairs = list(pairs)
    width = max(len(title) for title, _ in pairs)
    for title, text in pairs:
        yield Hanging(Text(f" {title:{width}}  ", style=QUIET), text)


def more(number: int, thing: str, how: str = "") -> Iterator[RenderableType]:
    """How many are not shown, and where they are."""
    if number > 0:
        remark = f" ... and {count(number, f'more {thing}')}" + (f"; {how}" if how else "")
        yield Text(remark, style=QUIET)


def listed(names: Sequence[str]) -> str:
    """Names side by side, not too many."""
    shown = ", ".join(map(show, names[:NAMES]))
    rest = len(names) - NAMES
    return f"{shown} ... and {rest:,} more" if rest > 0 else shown
