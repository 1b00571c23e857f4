"""The commands `tamis experiment …`: plan, run with a bar, and say what came of it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tamis import studies
from tamis.atomic import check_place, write_files
from tamis.errors import FileFormatError, SettingError
from tamis.result import show
from tamis.studies import Plan, Row, figure1
from tamis.studies.figures import figure_names
from tamis.studies.methods import missing
from tamis.studies.plans import MEASURES
from tamis.studies.report import fill
from tamis.studies.rows import STATUSES, TABLE
from tamis.studies.summaries import Cells, median_seconds, title
from tamis.terminal.consoles import console
from tamis.terminal.layout import QUIET, Hanging, pairs_of, title_of
from tamis.terminal.sizes import numbers_from_text
from tamis.terminal.waiting import waiting
from tamis.terminal.words import count

REPORT = "report.md"
_LISTS = ("methods", "models", "graphs")
_NUMBERS = ("nodes", "rows")


def run_study(
    plan: str, *, out: str, jobs: int | None, quiet: bool, full: bool, **options: object
) -> None:
    """Run a study, or go on with it; options that are None were not given."""
    given = {name: value for name, value in options.items() if value is not None}
    try:
        found = studies.load(plan, quick=not full, **_read(given))
    except SettingError as error:
        # The library's names of parameters become those of the command.
        name, blank, rest = str(error).partition(" ")
        name = name.removesuffix(":")
        said = f"--{name.replace('_', '-')}{blank}{rest}"
        raise SettingError(said if name in options else str(error)) from None
    needed = missing(found.all_methods())
    for name, needs in needed.items() if not quiet else ():
        _print([Hanging(Text(), f"Left out: {show(name)}, which needs {needs}.")], stderr=True)
    own = plan.endswith(".toml")
    words = ["tamis", "experiment", *(["run", Path(plan).name] if own else [plan])]
    words += ["--full" if full else "--quick"] if not own or not full else []
    for name, value in given.items():
        words += [
            f"--{name.replace('_', '-')}",
            f"{value:g}" if isinstance(value, float) else str(value),
        ]
    command = shlex.join([*words, "--out", Path(out).name])
    _run(found.without(list(needed)) if needed else found, command, out, jobs, quiet=quiet)


def _read(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options as the library wants them: lists are text with commas."""
    read = dict(given)
    for name in (*_LISTS, *_NUMBERS):
        if name in given and name in _NUMBERS:
            read[name] = numbers_from_text(f"--{name}", given[name])
        elif name in given:
            read[name] = [part.strip() for part in given[name].split(",") if part.strip()]
    return read


def resume(folder: str, jobs: int | None, *, quiet: bool) -> None:
    """Go on with whatever plan a folder holds."""
    found = studies.read_plan(folder)
    if found is None:
        raise FileFormatError(f"{folder!r} is not the folder of a study")
    _run(*found, folder, jobs, quiet=quiet)


def draw_figures(folder: str, out: str | None, ending: str, *, quiet: bool) -> None:
    """Draw the figures of a folder again."""
    rows, measure = studies.read(folder), _plan_of(folder)[2]
    names = studies.write_figures(rows, out or folder, ending, measure)
    _tell(f"Wrote {', '.join(show(str(Path(out or folder) / name)) for name in names)}", quiet)


def write_report(folder: str, into: str | None, *, quiet: bool) -> None:
    """Write the tables of a folder, beside them or into a page that has marks for them."""
    page = into or str(Path(folder) / REPORT)
    check_place(page)
    rows, (plan, command, measure) = studies.read(folder), _plan_of(folder)
    names = [f"{name}.png" for name in figure_names(Cells(rows, measure))]
    images = [name for name in names if (Path(page).parent / name).exists()]
    text = studies.summarise(rows, plan, images, command)
    if into is not None:
        text = fill(_page(into), plan.name if plan else _study(rows), text, into)
    write_files({page: text.encode()})
    _tell(f"Wrote {show(page)}", quiet)


def draw_figure1(out: str, rows: int, seed: int, *, quiet: bool) -> None:
    """Draw the paper's Figure 1, and tell it."""
    steps = figure1.draw(out, rows, seed)
    if not quiet:
        _print(Hanging(Text(), str(step)) for step in steps)
    _tell(f"Wrote {show(out)}", quiet)


def _run(plan: Plan, command: str, folder: str, jobs: int | None, *, quiet: bool) -> None:
    try:
        with waiting(quiet=quiet) as wait:
            rows = studies.run(plan, folder, jobs, wait.step, command)
    except KeyboardInterrupt:
        if not quiet:
            _print(_kept(plan, folder), stderr=True)
        raise
    written = _written(plan, rows, folder, command)
    if not quiet:
        _print(_parts(plan, rows, folder, written))


def _kept(plan: Plan, folder: str) -> Iterator[RenderableType]:
    """What is said when a run is interrupted."""
    try:
        done = len(studies.read(folder))
    except FileFormatError:
        done = 0
    kept = f"{done:,} of {count(len(plan.runs), 'run')} are kept in {show(folder)}."
    yield Hanging(Text(), f"{kept} To go on: tamis experiment resume {shlex.quote(folder)}")


def _written(plan: Plan, rows: Sequence[Row], folder: str, command: str) -> dict[str, str]:
    """Figures and tables, and what there is to say about them."""
    written = {"results": str(Path(folder) / TABLE)}
    images: list[str] = []
    try:
        images = studies.write_figures(rows, folder, measure=plan.measure)
        written["figures"] = ", ".join(str(Path(folder) / name) for name in images)
    except SettingError as error:
        # The study is worth more than its pictures.
        written["figures"] = str(error)
    report = str(Path(folder) / REPORT)
    write_files({report: studies.summarise(rows, plan, images, command).encode()})
    return {**written, "report": report}


def _parts(
    plan: Plan, rows: Sequence[Row], folder: str, written: Mapping[str, str]
) -> Iterator[RenderableType]:
    counts = Counter(row.status for row in rows)
    ended = ", ".join(f"{counts[status]:,} {status}" for status in STATUSES if counts[status])
    yield Hanging(Text(), f"{show(folder)}: {count(len(rows), 'run')} of {plan.name}, {ended}")
    yield from pairs_of((name, show(text)) for name, text in written.items())
    yield from title_of(
        f"Mean {MEASURES[plan.measure]}", "over all cells; in brackets where not all runs finished"
    )
    yield Padding(_overview(Cells(rows, plan.measure)), (0, 0, 0, 1), expand=False)


def _overview(cells: Cells) -> Table:
    wins = Counter(name for place in cells for name in cells.best(place))
    models: list[str | None] = [*cells.models] if len(cells.models) < 4 else [None]
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style=QUIET)
    table.add_column("method", no_wrap=True)
    for heading in (*(title(one or "all") for one in models), "best in", "median CPU s"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name in cells.methods:
        means = [_mean(cells, cells.of(name, model)) for model in models]
        spent = f"{median_seconds(cells.of(name)):.3g}"
        table.add_row(show(name), *means, f"{wins[name]} of {len(cells)}", spent)
    return table


def _mean(cells: Cells, rows: Sequence[Row]) -> str:
    found = cells.summary(rows)
    if not found.finished:
        return "-"
    return f"{found.mean:.2f}" if found.is_complete else f"({found.mean:.2f})"


def _plan_of(folder: str) -> tuple[Plan | None, str, str]:
    """The plan of a folder, its command and its measure; results may also be kept alone."""
    found = studies.read_plan(folder) if Path(folder).is_dir() else None
    return (None, "", "shd") if found is None else (*found, found[0].measure)


def _study(rows: Sequence[Row]) -> str:
    """Whose marks on a page are meant."""
    return "unfaithful" if Cells(rows).models == ["unfaithful"] else "paper"


def _page(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (FileNotFoundError, UnicodeDecodeError) as error:
        raise FileFormatError(f"{path!r} cannot be read as a page of text: {error}") from error


def _tell(text: str, quiet: bool) -> None:
    if not quiet:
        _print([Text(text)])


def _print(parts: Iterable[RenderableType], stderr: bool = False) -> None:
    to = console(stderr=stderr)
    for part in parts:
        to.print(part)
