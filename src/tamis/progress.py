"""Bars for those who wait: one look on terminals and in notebooks, drawn by rich.

rich's own bars in notebooks need ipywidgets. Here rich draws a bar as HTML, and IPython, which
every notebook has, puts each new one in the place of the last.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar

PATIENCE = 1.0
"""Seconds without a bar: shorter work does not need one."""
PAUSE = 0.1
"""Seconds between two pictures of a bar in a notebook."""
WIDTH = 88
"""Characters for a bar in a notebook."""

Progress = Callable[[int, int], None]
"""Called with how much is done and how much there is in all."""


def bar_on(console: Console) -> Bar:
    """A bar that says what is done, how much of it, and how long it takes."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )


@contextmanager
def showing(what: str, progress: Progress | None) -> Iterator[Progress | None]:
    """What to call with progress: what the caller gave; else, in a notebook, a bar; else nothing.

    Parameters
    ----------
    what : str
        What is being done, for the bar.
    progress : callable or None
        What the caller gave.
    """
    if progress is not None or not in_notebook():
        yield progress
        return
    bar = NotebookBar(what)
    try:
        yield bar.step
    finally:
        bar.close()


def in_notebook() -> bool:
    """Whether a notebook's kernel runs this; nothing is imported to find out."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class NotebookBar:
    """A bar below the cell, once the work has taken a second; it goes when the work is done."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._began = self._drawn = time.monotonic()
        self._place: Any = None
        self._bar: Bar | None = None

    def step(self, done: int, of: int) -> None:
        """Show how much of all is done."""
        now = time.monotonic()
        if now - self._began < PATIENCE or now - self._drawn < PAUSE:
            return
        self._drawn = now
        self._show(self._picture(done, of))

    def close(self) -> None:
        """Leave nothing behind."""
        if self._place is not None:
            self._show({"text/html": "", "text/plain": ""})

    def _show(self, bundle: dict[str, str]) -> None:
        from IPython.display import display

        if self._place is None:
            self._place = display(bundle, raw=True, display_id=True)
        else:
            self._place.update(bundle, raw=True)

    def _picture(self, done: int, of: int) -> dict[str, str]:
        from rich.console import Console

        # A console that writes nowhere and knows nothing of the notebook; it only remembers.
        console = Console(
            file=StringIO(), record=True, width=WIDTH, force_terminal=True, force_jupyter=False
        )
        if self._bar is None:
            self._bar = bar_on(console)
            self._bar.add_task(self._what, total=of)
            # The work began before the bar did.
            self._bar.tasks[0].start_time = self._bar.get_time() - (self._drawn - self._began)
        self._bar.update(self._bar.tasks[0].id, completed=done, total=of)
        console.print(self._bar.get_renderable())
        text = console.export_text(clear=False).strip()
        html = console.export_html(inline_styles=True, code_format="<pre>{code}</pre>")
        return {"text/html": html, "text/plain": text}
