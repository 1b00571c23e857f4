"""The commands `tamis experiment …`: plan, run with a bar, and say what came of it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tamis import studies
from tamis.atomic import check_place, together, write_files
from tamis.cli.layout import QUIET, Hanging, console, pairs_of, title_of, waiting
from tamis.cli.texts import numbers_from_text
from tamis.errors import FileFormatError, SettingError
from tamis.result import show
from tamis.studies import Plan, Row, figures
from tamis.studies.report import Cells, endings, fill, overall
from tamis.studies.rows import TABLE
from tamis.studies.running import missing
from tamis.tables.refusals import count

REPORT = "report.md"


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
        said = f"--{name.removesuffix(':').replace('_', '-')}{blank}{rest}"
        raise SettingError(said if name.removesuffix(":") in options else str(error)) from None
    left_out = missing(found)
    for name, needs in left_out.items():
        _tell(f"Left out: {show(name)}, which {needs}.", quiet, stderr=True)
    own = plan.endswith(".toml")
    words = ["tamis", "experiment", *(["run", Path(plan).name] if own else [plan])]
    words += ["--full" if full else "--quick"] if not own or not full else []
    for name, value in given.items():
        text = f"{value:g}" if isinstance(value, float) else str(value)
        words += [f"--{name.replace('_', '-')}", text]
    command = shlex.join([*words, "--out", Path(out).name])
    _run(found.without(left_out) if left_out else found, command, out, jobs, quiet=quiet)


def _read(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options as the library wants them: lists are text with commas."""
    lists = {name: [part.strip() for part in given[name].split(",") if part.strip()]
             for name in ("methods", "models", "graphs") if name in given}  # fmt: skip
    numbers = {name: numbers_from_text(f"--{name}", given[name])
               for name in ("nodes", "rows") if name in given}  # fmt: skip
    return {**given, **lists, **numbers}


def resume(folder: str, *, jobs: int | None, quiet: bool) -> None:
    """Go on with whatever plan a folder holds."""
    found = studies.read_plan(folder)
    if found is None:
        raise FileFormatError(f"{folder!r} is not the folder of a study")
    _run(*found, folder, jobs, quiet=quiet)


def draw_figures(folder: str, *, out: str | None, ending: str, quiet: bool) -> None:
    """Draw the figures of a folder again."""
    place = out or folder
    names = studies.write_figures(studies.read(folder), place, _plan_of(folder)[0], ending)
    _tell(f"Wrote {', '.join(show(str(Path(place) / name)) for name in names)}", quiet)


def write_report(folder: str, *, into: str | None, quiet: bool) -> None:
    """Write figures and tables of a folder, beside it or into a page that has marks for them."""
    page = Path(into or Path(folder) / REPORT)
    check_place(str(page))
    rows, of = studies.read(folder), _plan_of(folder)
    with together():
        written = _write(rows, *of, page, fill_in=bool(into))
    for text in written.values():
        _tell(f"Wrote {show(text)}", quiet)


def draw_figure1(out: str, *, rows: int, seed: int, quiet: bool) -> None:
    """Draw the paper's Figure 1, and tell it."""
    for step in figures.draw(out, rows, seed):
        _tell(str(step), quiet)
    _tell(f"Wrote {show(out)}", quiet)


def _run(plan: Plan, command: str, folder: str, jobs: int | None, *, quiet: bool) -> None:
    try:
        with waiting(quiet=quiet) as wait:
            rows = studies.run(plan, folder, jobs, wait.step, command)
    except KeyboardInterrupt:
        _tell(_kept(plan, folder), quiet, stderr=True)
        raise
    written = {"results": str(Path(folder) / TABLE)}
    written |= _write(rows, plan, command, Path(folder) / REPORT)
    if not quiet:
        said = f"{show(folder)}: {count(len(rows), 'run')} of {plan.name}, {endings(rows)}"
        _print([Hanging(Text(), said), *pairs_of((k, show(text)) for k, text in written.items())])
        _print(_overview(Cells(rows, plan)))


def _kept(plan: Plan, folder: str) -> str:
    """What is said when a run is interrupted."""
    try:
        done = len(studies.read(folder))
    except FileFormatError:
        done = 0
    kept = f"{done:,} of {count(len(plan.runs), 'run')} are kept in {show(folder)}."
    return f"{kept} To go on: tamis experiment resume {shlex.quote(folder)}"


def _overview(cells: Cells) -> Iterator[RenderableType]:
    header, lines = overall(cells)
    yield from title_of("Over all cells", "in pairs: over the cells in which both finished")
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style=QUIET)
    for k, heading in enumerate(header):
        table.add_column(heading, justify="right" if k else "left", no_wrap=k == 0)
    for line in lines:
        table.add_row(*map(show, line))
    yield Padding(table, (0, 0, 0, 1), expand=False)


def _write(
    rows: Sequence[Row], plan: Plan | None, command: str, page: Path, *, fill_in: bool = False
) -> dict[str, str]:
    """Write figures and tables, the latter between the marks of a page that is there; what there is
    to say about them. Figures go beside the page, or into the folder that is called like it."""
    own = page.with_suffix("")
    place = own if own.is_dir() else page.parent
    names, written = [], {}
    try:
        names = studies.write_figures(rows, place, plan)
        written["figures"] = ", ".join(str(place / name) for name in names)
    except SettingError as error:
        # The study is worth more than its pictures.
        written["figures"] = str(error)
    images = [(place / name).relative_to(page.parent).as_posix() for name in names]
    text = studies.summarise(rows, plan, images, command)
    if fill_in:
        text = fill(_page(page), plan.name if plan else _study(rows), text, str(page))
    write_files({str(page): text.encode()})
    return {**written, "report": str(page)}


def _plan_of(folder: str) -> tuple[Plan | None, str]:
    """The plan of a folder and its command; results may also be kept alone."""
    found = studies.read_plan(folder) if Path(folder).is_dir() else None
    return (None, "") if found is None else found


def _study(rows: Sequence[Row]) -> str:
    """Whose marks on a page are meant."""
    return "unfaithful" if {row.model for row in rows} == {"unfaithful"} else "paper"


def _page(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (FileNotFoundError, UnicodeDecodeError) as error:
        raise FileFormatError(f"{str(path)!r} cannot be read as a page of text: {error}") from error


def _tell(text: str, quiet: bool, *, stderr: bool = False) -> None:
    if not quiet:
        _print([Hanging(Text(), text)], stderr=stderr)


def _print(parts: Iterable[RenderableType], *, stderr: bool = False) -> None:
    to = console(stderr=stderr)
    for part in parts:
        to.print(part)
