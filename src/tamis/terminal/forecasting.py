"""A forecast on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from tamis.result import show
from tamis.terminal.layout import QUIET, Hanging, pairs_of


def show_forecast(
    console: Console, source: str, lines: Sequence[tuple[str, str]], notes: Sequence[str]
) -> None:
    """The lines of a forecast, one under the other, and that nothing was done."""
    console.print(Hanging(Text(), f"{show(source)}: a forecast"))
    shown = [(title, show(text)) for title, text in lines]
    for part in pairs_of([*shown, *(("note", show(note)) for note in notes)]):
        console.print(part)
    console.print(Text("Nothing was learned or written; leave out --dry-run for that.", QUIET))
