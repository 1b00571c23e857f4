"""Where text goes, how it is laid out and worded, and what is seen while a result is awaited."""

from __future__ import annotations

import math
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Timer
from typing import TYPE_CHECKING, Any, NoReturn

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from tamis.errors import TamisWarning
from tamis.progress import PATIENCE, bar_on
from tamis.result import show
from tamis.tables.refusals import count

if TYPE_CHECKING:
    from rich.progress import Progress

_SEARCHES = {
    "auto": "the class with the best score, its DAG with the most even noise",
    "sequential": "the least uncertain node next, one at a time",
    "node": "layers; masked by the node just admitted",
    "layer": "layers; masked by the whole layer so far",
    "reference": "as in the authors' program",
    "paper": "layers, by the paper's estimator and thresholds",
}

_INFORMATION = {
    "counts": "counts of levels",
    "gaussian": "moments of the columns as numbers: linear dependence, exact for Gaussian columns",
    "copula": "moments of the columns' ranks: monotone dependence",
    "neighbours": "nearest neighbours: any smooth dependence",
    "mixed": "nearest neighbours, with levels: any smooth dependence; the order of a level and a "
    "number is a convention",
    "conditional-gaussian": "normal distributions of numbers given levels: linear dependence "
    "within every cell; the order of a level and a number is a convention",
    "lipschitz": "smoothed densities: any dependence, no tests and so no p-values",
}

_CHOSEN = {
    "gaussian": "; curves are not seen, for those there is --information neighbours",
    "conditional-gaussian": " and others hold labels; curves are not seen, for those there is "
    "--information mixed",
}
"""What else to know where the columns have made the choice."""

_RULES = {
    "fixed": "gain above {threshold:g} nats",
    "permutation": "permutation test at alpha {alpha:g}{share}",
    "chi-squared": "G-test at alpha {alpha:g}{share}",
    "f-test": "F test at alpha {alpha:g}{share}",
    "local-permutation": "test by shuffles of near rows at alpha {alpha:g}{share}",
    "p-value": "the test of the source at alpha {alpha:g}{share}",
    "bic": "BIC",
    "score": "score",
    "rate": "gain above the rate of Theorem tuning, c = {c:g}",
}

_MISSING = {
    "drop": "rows with missing values were left out",
    "drop-anyway": "rows with missing values were left out, however many",
    "level": "missing values are a level of their own",
    "pairwise": "each test on the rows that have its columns",
}
_MOST_LIKELY = "maximum likelihood of what is present; what tests are worth"
"""What is done in place of that with moments."""

_BACKWARD = {
    "one": "superfluous ones removed one at a time",
    "together": "superfluous ones removed together",
    "none": "none removed again",
}


def settings_in_words(
    settings: Mapping[str, Any], *, n_numbers: int = 0, asked_for: str | None = None
) -> dict[str, str]:
    """A line for each choice, under a short title; choices that played no part are left out.

    ``n_numbers`` is the number of columns of numbers if those have chosen the information;
    ``asked_for`` the search that the user named.
    """
    search = settings["search"]
    words = {"search": _named(search, _SEARCHES.get(search))}
    if asked_for == "auto" and search != "auto":
        words["search"] += "; in place of auto, which compares graphs by a likelihood"
    if settings["entropy"] is not None:
        words["entropy"] = _with_parameters(settings["entropy"], "estimator")
    else:
        words["information"] = _information(settings, n_numbers)
    words["parents"] = _parents(settings)
    if search not in ("auto", "sequential"):
        words["masking"] = rule_in_words(settings["masking_rule"])
    if settings.get("missing", "error") != "error":
        by_moments = (settings["missing"], settings["information"]) == ("pairwise", "gaussian")
        words["missing"] = _MOST_LIKELY if by_moments else _MISSING[settings["missing"]]
    return words


def rule_in_words(rule: Mapping[str, Any]) -> str:
    """A rule, as it stands in the settings, in words."""
    sentence = _RULES.get(rule["rule"])
    if sentence is None:
        return _with_parameters(rule, "rule")
    return sentence.format(share=" for the whole graph" if rule.get("whole_graph") else "", **rule)


def options_in_words(message: str) -> str:
    """A message of the library about its parameters, as one about options."""
    # Where a message has words for both, those for Python go.
    message = re.sub(r"\b(information|source|types)=[^;]*; on the command line ", "", message)
    message = message.replace("max_boundary", "--max-boundary")
    message = message.replace("look_ahead", "--look-ahead")
    message = message.replace("units='same'", "--same-units")
    message = re.sub(
        r"\b(search|boundary|backward|information|missing)='([\w-]+)'", r"--\1 \2", message
    )
    return re.sub(
        r"^(search|boundary|backward|information|source|missing)( must|:| has)", r"--\1\2", message
    )


def p_value(p: float) -> str:
    """A p-value as short as it is true; the smallest are cut off where the rules cut them."""
    if math.isnan(p):
        return "no test"
    if p < 1e-299:
        return "< 1e-299"
    return f"{p:.4f}" if p >= 0.001 else f"{p:.1e}"


def _information(settings: Mapping[str, Any], n_numbers: int) -> str:
    """What is known of the columns, with its own settings; and why, if nobody asked for it."""
    named = settings["information"]
    words = _INFORMATION.get(named, f"{named}, from outside tamis")
    if settings.get("source"):
        words += f" ({_listed(settings['source'])})"
    if n_numbers and named in _CHOSEN:
        verb = "holds" if n_numbers == 1 else "hold"
        words += f"; chosen because {count(n_numbers, 'column')} {verb} numbers{_CHOSEN[named]}"
    return words


def _parents(settings: Mapping[str, Any]) -> str:
    if not isinstance(settings["boundary"], str):
        return f"found by {_with_parameters(settings['boundary'], 'boundary')}"
    parts = [rule_in_words(settings["boundary_rule"])]
    if settings["boundary"] == "none":
        parts.append("from all nodes before")
    if (settings["look_ahead"] or 1) > 1:
        parts.append(f"up to {settings['look_ahead']} at once where no single one passes")
    if settings["max_boundary"] is not None:
        parts.append(f"at most {settings['max_boundary']}")
    parts.append(_BACKWARD.get(settings["backward"], settings["backward"]))
    return "; ".join(parts)


def _named(name: str, meaning: str | None) -> str:
    return name if meaning is None else f"{name} ({meaning})"


def _with_parameters(written: Mapping[str, Any], title: str) -> str:
    rest = {key: value for key, value in written.items() if key != title}
    return _named(str(written[title]), _listed(rest) or None)


def _listed(parameters: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in parameters.items())


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
        """Show how many of all nodes have been admitted; what follows takes nobody knows how long,
        and with "auto" most of the time."""
        if admitted < of:
            self.step("admitting nodes", admitted, of)
        elif self._bar is not None:
            self.step("comparing orders", 0, of)
            self._bar.tasks[0].total = None

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
