"""The command `tamis learn`, step by step: check, read, learn, write, show."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tamis.data import read_table
from tamis.errors import SettingError, TamisWarning
from tamis.formats import check_outputs, save
from tamis.learning import learn
from tamis.plans import Request, make_plan
from tamis.result import Result, suggest
from tamis.terminal.consoles import console
from tamis.terminal.summary import show_explanations, show_summary, show_written
from tamis.terminal.waiting import waiting
from tamis.terminal.words import options_in_words


@dataclass(frozen=True)
class Wishes:
    """What to do with the result."""

    out: tuple[str, ...]
    explain: tuple[str, ...]
    quiet: bool


def run(source: str, request: Request, wishes: Wishes) -> None:
    """Learn from a file; whatever can be refused is refused before the work begins."""
    _check(request)
    check_outputs(wishes.out)
    _spare_the_source(source, wishes.out)
    result, notes = _learn(source, request, wishes)
    if wishes.out:
        save(result, *wishes.out)
    if not wishes.quiet:
        stdout = console()
        show_summary(stdout, result, source, notes, request)
        show_explanations(stdout, result, wishes.explain)
        show_written(stdout, wishes.out)


def _learn(source: str, request: Request, wishes: Wishes) -> tuple[Result, list[str]]:
    with _noted() as notes, waiting(quiet=wishes.quiet) as wait:
        table = read_table(source, measured=request.information != "counts")
        check_outputs(wishes.out, table.names)
        for name in wishes.explain:
            if name not in table.names:
                raise SettingError(
                    f"--explain: there is no column {name!r}; {suggest(name, table.names)}"
                )
        wait.progress(0, table.n_variables)
        with _options_named():
            result = learn(table, request, wait.progress)
    return result, list(dict.fromkeys((*result.warnings, *notes())))


def _check(request: Request) -> None:
    with _options_named():
        make_plan(request)


@contextmanager
def _options_named() -> Iterator[None]:
    """Let refusals of settings speak of options."""
    try:
        yield
    except SettingError as error:
        raise SettingError(options_in_words(str(error))) from None


def settings_from_text(option: str, texts: Sequence[str]) -> dict[str, float | str | bool] | None:
    """Settings written as NAME=VALUE, one a text; without any, None."""
    found: dict[str, float | str | bool] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise SettingError(f"{option} {text!r}: write NAME=VALUE, for example k=10")
        if name.strip() in found:
            raise SettingError(f"{option} {text!r}: {name.strip()} is set twice")
        found[name.strip()] = _value(value.strip())
    return found or None


def _value(text: str) -> float | str | bool:
    """A whole number, a number, a truth value, or else the word itself."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text.lower(), text)


def _spare_the_source(source: str, out: Sequence[str]) -> None:
    for path in out:
        if os.path.exists(path) and os.path.exists(source) and os.path.samefile(path, source):
            raise SettingError(f"--out {path!r} would overwrite the table itself")


@contextmanager
def _noted() -> Iterator[Callable[[], list[str]]]:
    """Collect what tamis warns about; other warnings go their usual way."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TamisWarning)
        yield lambda: [str(w.message) for w in caught if isinstance(w.message, TamisWarning)]
    for warning in caught:
        if not isinstance(warning.message, TamisWarning):
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
