"""What tamis warns about while a command works, to be shown with the answer."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from tamis.errors import TamisWarning
from tamis.result import show
from tamis.terminal.layout import Hanging
from tamis.terminal.words import options_in_words


@contextmanager
def noted() -> Iterator[Callable[[], list[str]]]:
    """Collect what tamis warns about; other warnings go their usual way."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TamisWarning)
        yield lambda: [str(w.message) for w in caught if isinstance(w.message, TamisWarning)]
    for warning in caught:
        if not isinstance(warning.message, TamisWarning):
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )


def show_notes(console: Console, notes: Iterable[str]) -> None:
    """Notes in a paragraph each, none of them twice."""
    for note in dict.fromkeys(notes):
        console.print(Hanging(Text("Note: ", style="yellow"), show(options_in_words(note))))
