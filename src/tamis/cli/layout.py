"""Where text goes, how it is laid out, and what there is to see while a result is awaited."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Timer
from typing import TYPE_CHECKING, NoReturn

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from tamis.cli.words import count, options_in_words
from tamis.errors import TamisWarning
from tamis.progress import PATIENCE, bar_on
from tamis.result import show

if TYPE_CHECKING:
    from rich.progress import Progress

NARROWEST = 20
USUAL = 80
"""Columns: a width below the narrowest, such as COLUMNS=0, is taken for no width at all."""


class _PlainSpoken(Console):
    """A console that leaves a closed pipe to the caller."""

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


def console(*, stderr: bool = False) -> Console:
    """A console that takes nothing in a text for markup; NO_COLOR means no codes at all."""
    # Where the encoding has no arrow, an escape is better than a traceback.
    stream = sys.stderr if stderr else sys.stdout
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
    made = _PlainSpoken(
        stderr=stderr,
        color_system=None if os.environ.get("NO_COLOR") else "auto",
        markup=False,
        emoji=False,
        highlight=False,
    )
    if made.width < NARROWEST:
        made.width = USUAL
    return made


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
