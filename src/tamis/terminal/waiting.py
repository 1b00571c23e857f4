"""What there is to see while a result is awaited, on stderr: a bar, a word about compiling."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Timer
from typing import TYPE_CHECKING

from tamis.progress import PATIENCE, bar_on
from tamis.terminal.consoles import console

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

COMPILING = "compiling the counting loops, which are kept for later runs ..."
NOT_KEPT = (
    "The counting loops are compiled on every run: neither the folder that tamis is installed in "
    "nor a cache folder at home can be written to. Set NUMBA_CACHE_DIR to a folder that can, and "
    "run `tamis warm-up` once, while an image is built for example."
)


class Waiting:
    """Hears how far the work is; shows it if that takes long and somebody watches."""

    def __init__(self, bar: Progress | None = None) -> None:
        self._bar = bar
        self._what = "reading"
        self._task = None if bar is None else bar.add_task("reading", total=None)

    def progress(self, admitted: int, of: int) -> None:
        """Show how many of all nodes have been admitted."""
        self.step("admitting nodes", admitted, of)

    def round(self, rounds: int, moved: int) -> None:
        """Show how many rounds of questions have gone to the rows, and how many bytes."""
        if self._bar is not None and self._task is not None:
            said = f"{self._what}, round {rounds}, {moved / 10**6:,.1f} MB"
            self._bar.update(self._task, description=said)

    def step(self, what: str, done: int, of: int) -> None:
        """Show how much of something is done."""
        self._what = what
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=what, completed=done, total=of)


@contextmanager
def waiting(*, quiet: bool) -> Iterator[Waiting]:
    """Keep whoever waits informed, and clean up after it."""
    if quiet:
        yield Waiting()
        return
    stderr = console(stderr=True)
    with _word_about_compiling(stderr):
        # Colours can be forced upon a pipe; a bar would be noise there.
        if not (stderr.is_interactive and sys.stderr.isatty()):
            yield Waiting()
            return
        bar = bar_on(stderr)
        timer = Timer(PATIENCE, bar.start)
        timer.daemon = True
        timer.start()
        try:
            yield Waiting(bar)
        finally:
            timer.cancel()
            timer.join()
            bar.stop()


@contextmanager
def _word_about_compiling(stderr: Console) -> Iterator[None]:
    """Say once that loops are being compiled, if they are."""
    from tamis.counting.compiled import hearing, place_of_code

    said = False

    def say() -> None:
        nonlocal said
        if not said:
            said = True
            # Whoever does not listen to this may still want the result.
            with suppress(OSError):
                stderr.print(COMPILING if place_of_code() is not None else NOT_KEPT)

    with hearing(say):
        yield
