"""Saved runs on the terminal: `tamis show`, `tamis plot` and `tamis report`."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rich.text import Text

from tamis.cli.layout import console, noted, options_in_words, show_notes
from tamis.cli.summary import show_explanations, show_summary
from tamis.errors import SettingError
from tamis.formats import load
from tamis.result import show as in_one_line
from tamis.result import suggest


def show(path: str, explain: Sequence[str], *, details: bool) -> None:
    """Show a run as `tamis learn` showed it."""
    result = load(path)
    for name in explain:
        if name not in result.names:
            raise SettingError(
                f"--explain: there is no column {name!r}; {suggest(name, result.names)}"
            )
    stdout = console()
    notes = [options_in_words(note) for note in result.warnings]
    show_summary(stdout, result, notes, details=details)
    show_explanations(stdout, result, explain)


def plot(path: str, picture: str, *, quiet: bool) -> None:
    """Draw the graph of a run into a file."""
    from tamis.comparison.picture import check_outputs
    from tamis.drawing.pictures import ENDINGS

    check_outputs([picture], ENDINGS)
    _spare(path, picture)
    with noted() as notes:
        load(path).save(picture)
    if not quiet:
        stdout = console()
        show_notes(stdout, notes())
        stdout.print(Text(f"Wrote {in_one_line(picture)}"), soft_wrap=True)


def report(path: str, page: str, *, quiet: bool) -> None:
    """Write the page of a run."""
    from tamis.report.page import check_report_place

    check_report_place(page)
    _spare(path, page)
    load(path).report(page)
    if not quiet:
        console().print(Text(f"Wrote {in_one_line(page)}"), soft_wrap=True)


def _spare(read: str, written: str) -> None:
    """Refuse to write over the run itself."""
    if os.path.exists(read) and os.path.exists(written) and os.path.samefile(read, written):
        raise SettingError(f"{written!r} would overwrite the run")
