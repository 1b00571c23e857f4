"""The commands `tamis experiment …`: plan, run with a bar, and say what came of it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tamis.atomic import check_place, write_files
from tamis.errors import FileFormatError, SettingError
from tamis.experiments import figure1, plans, results, run
from tamis.experiments.figures import write_figures
from tamis.experiments.methods import missing
from tamis.experiments.plan_files import NAME as PLAN
from tamis.experiments.plan_files import read_plan
from tamis.experiments.plans import Plan
from tamis.experiments.report import fill, summarise, title
from tamis.experiments.rows import STATUSES, Row
from tamis.experiments.summaries import Cells, best, median_seconds, summary
from tamis.result import show
from tamis.terminal.consoles import console
from tamis.terminal.layout import QUIET, Hanging, pairs_of, title_of
from tamis.terminal.sizes import numbers_from_text
from tamis.terminal.waiting import waiting
from tamis.terminal.words import count

REPORT = "report.md"
_LISTS = ("methods", "models", "graphs")
_NUMBERS = ("nodes", "rows")
_OPTIONS = {"attachments": "--attach", "edges_per_node": "--edges-per-node"}


@dataclass(frozen=True)
class ExperimentWishes:
    """Which study, with which options, into which folder.

    ``options`` are those of the functions in ``tamis.experiments.plans``, as the command line has
    them: lists are text with commas, None is an option that was not given.
    """

    study: str
    options: Mapping[str, Any]
    out: str
    jobs: int | None
    quiet: bool


def run_study(wishes: ExperimentWishes) -> None:
    """Run the paper's study, or that of the unfaithful example, or go on with it."""
    with _option_names(wishes.options):
        plan = _plan(wishes.study, _given(wishes.options))
        plan = _without_missing(plan, quiet=wishes.quiet)
    plan = replace(plan, command=_command(wishes))
    _run(plan, wishes.out, wishes.jobs, quiet=wishes.quiet)


def resume(folder: str, jobs: int | None, *, quiet: bool) -> None:
    """Go on with whatever plan a folder holds."""
    _run(read_plan(Path(folder)), folder, jobs, quiet=quiet)


def draw_figures(folder: str, out: str | None, ending: str, *, quiet: bool) -> None:
    """Draw the figures of a folder again."""
    names = write_figures(results.read(folder), out or folder, ending)
    if not quiet:
        _print(
            [Text(f"Wrote {', '.join(show(str(Path(out or folder) / name)) for name in names)}")]
        )


def write_report(folder: str, into: str | None, *, quiet: bool) -> None:
    """Write the tables of a folder, beside them or into a page that has marks for them."""
    page = into or str(Path(folder) / REPORT)
    check_place(page)
    plan, rows = _plan_of(folder), results.read(folder)
    images = [name for name in _image_names(rows) if (Path(page).parent / name).exists()]
    text = summarise(rows, plan, images)
    if into is not None:
        text = fill(_page(into), _study(plan, rows), text, into)
    write_files({page: text.encode()})
    if not quiet:
        _print([Text(f"Wrote {show(page)}")])


def draw_figure1(out: str, rows: int, seed: int, *, quiet: bool) -> None:
    """Draw the paper's Figure 1, and tell it."""
    steps = figure1.draw(out, rows, seed)
    if not quiet:
        parts = [Hanging(Text(), str(step)) for step in steps]
        _print([*parts, Text(f"Wrote {show(out)}")])


def _plan(study: str, options: Mapping[str, Any]) -> Plan:
    made = {"paper": plans.paper, "unfaithful": plans.unfaithful}[study]
    plan: Plan = made(**options)
    return plan


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given, as the library wants them."""
    given = {name: value for name, value in options.items() if value is not None}
    for name in _LISTS:
        if name in given:
            given[name] = tuple(part.strip() for part in given[name].split(",") if part.strip())
    for name in _NUMBERS:
        if name in given:
            given[name] = numbers_from_text(f"--{name}", given[name])
    # On the command line 0 is no limit.
    if given.get("time_limit") == 0:
        given["time_limit"] = None
    return given


def _command(wishes: ExperimentWishes) -> str:
    """How to make the same study again; jobs and the place of the folder change nothing."""
    words = ["tamis", "experiment", wishes.study]
    for name, value in wishes.options.items():
        if name == "full":
            words.append("--full" if value else "--quick")
        elif value is True:
            words.append(_spelled(name))
        elif value is not None and value is not False:
            words += [_spelled(name), f"{value:g}" if isinstance(value, float) else str(value)]
    return shlex.join([*words, "--out", Path(wishes.out).name])


def _spelled(name: str) -> str:
    return _OPTIONS.get(name, f"--{name.replace('_', '-')}")


@contextmanager
def _option_names(options: Mapping[str, Any]) -> Iterator[None]:
    """The library's names of parameters become those of the command."""
    try:
        yield
    except SettingError as error:
        name, blank, rest = str(error).partition(" ")
        if name in options:
            raise SettingError(f"{_spelled(name)}{blank}{rest}") from None
        raise


def _without_missing(plan: Plan, *, quiet: bool) -> Plan:
    """The plan without the methods that cannot run here; they are named."""
    left_out = missing(plan.methods)
    for name, needs in left_out.items() if not quiet else ():
        _print([Hanging(Text(), f"Left out: {show(name)}, which needs {needs}.")], stderr=True)
    return replace(plan, methods=tuple(one for one in plan.methods if one not in left_out))


def _run(plan: Plan, folder: str, jobs: int | None, *, quiet: bool) -> None:
    try:
        with waiting(quiet=quiet) as wait:
            rows = run(plan, folder, jobs, progress=wait.step)
    except KeyboardInterrupt:
        if not quiet:
            _print(_kept(plan, folder), stderr=True)
        raise
    written = _written(plan, rows, folder)
    if not quiet:
        _print(_parts(plan, rows, folder, written))


def _kept(plan: Plan, folder: str) -> Iterator[RenderableType]:
    """What is said when a run is interrupted."""
    try:
        done = len(results.read(folder))
    except FileFormatError:
        done = 0
    kept = f"{done:,} of {count(len(plan.cells), 'run')} are kept in {show(folder)}."
    yield Hanging(Text(), f"{kept} To go on: tamis experiment resume {shlex.quote(folder)}")


def _written(plan: Plan, rows: Sequence[Row], folder: str) -> dict[str, str]:
    """Figures and tables, and what there is to say about them."""
    written = {"results": str(Path(folder) / results.NAME)}
    images: list[str] = []
    try:
        images = write_figures(rows, folder)
        written["figures"] = ", ".join(str(Path(folder) / name) for name in images)
    except SettingError as error:
        # The study is worth more than its pictures.
        written["figures"] = str(error)
    report = str(Path(folder) / REPORT)
    write_files({report: summarise(rows, plan, images).encode()})
    return {**written, "report": report}


def _parts(
    plan: Plan, rows: Sequence[Row], folder: str, written: Mapping[str, str]
) -> Iterator[RenderableType]:
    counts = Counter(row.status for row in rows)
    ended = ", ".join(f"{counts[status]:,} {status}" for status in STATUSES if counts[status])
    yield Hanging(Text(), f"{show(folder)}: {count(len(rows), 'run')} of {plan.name}, {ended}")
    yield from pairs_of((name, show(text)) for name, text in written.items())
    yield from title_of("Mean SHD", "over all cells; in brackets where not all runs finished")
    yield Padding(_overview(rows), (0, 0, 0, 1), expand=False)


def _overview(rows: Sequence[Row]) -> Table:
    cells = Cells(rows)
    wins = Counter(name for place in cells for name in best(cells[place]))
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style=QUIET)
    table.add_column("method", no_wrap=True)
    for heading in (*map(title, cells.models()), "best in", "median s"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name in cells.methods:
        own = [row for row in rows if row.method == name]
        means = [_mean([row for row in own if row.model == model]) for model in cells.models()]
        table.add_row(show(name), *means, f"{wins[name]} of {len(cells)}", _seconds(own))
    return table


def _mean(rows: Sequence[Row]) -> str:
    found = summary(rows)
    if not found.finished:
        return "-"
    return f"{found.mean:.2f}" if found.is_complete else f"({found.mean:.2f})"


def _seconds(rows: Sequence[Row]) -> str:
    return f"{median_seconds(rows):.3g}"


def _plan_of(folder: str) -> Plan | None:
    """The plan of a folder; results may also be kept alone."""
    return read_plan(Path(folder)) if (Path(folder) / PLAN).exists() else None


def _study(plan: Plan | None, rows: Sequence[Row]) -> str:
    """Whose marks on a page are meant."""
    if plan is not None:
        return plan.name
    return "unfaithful" if Cells(rows).models() == ["unfaithful"] else "paper"


def _image_names(rows: Sequence[Row]) -> Iterator[str]:
    for model in Cells(rows).models():
        yield f"shd-{model}.png"
    yield "time.png"


def _page(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (FileNotFoundError, UnicodeDecodeError) as error:
        raise FileFormatError(f"{path!r} cannot be read as a page of text: {error}") from error


def _print(
    parts: Iterator[RenderableType] | Sequence[RenderableType], stderr: bool = False
) -> None:
    to = console(stderr=stderr)
    for part in parts:
        to.print(part)
