"""The command `tamis learn`, step by step: check, read, learn, write, show."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console
from rich.text import Text

from tamis.atomic import together
from tamis.cli.layout import (
    QUIET,
    Hanging,
    Waiting,
    console,
    noted,
    options_in_words,
    pairs_of,
    waiting,
)
from tamis.cli.summary import show_explanations, show_recovery, show_summary, show_written
from tamis.counting.elsewhere import is_elsewhere
from tamis.counting.opening import open_blocks, require_whole_rows
from tamis.errors import SettingError
from tamis.learning import learn, with_path
from tamis.opening import read_opened
from tamis.result import Result, show, suggest
from tamis.settings import Settings
from tamis.tables.paths import PACKED_ENDING, ending_of, find_parts, is_several
from tamis.tables.table import AnyTable, with_rows

if TYPE_CHECKING:
    from tamis.bootstrap import Confidence
    from tamis.identifiability.recovery import RecoveryCheck


@dataclass(frozen=True)
class Wishes:
    """What to do with the result."""

    out: tuple[str, ...]
    report: str | None
    explain: tuple[str, ...]
    quiet: bool
    details: bool = False
    """Show the statistics too."""
    weights: str | None = None
    """The column that holds the rows' weights; part of how the table is read."""
    bootstrap: int | None = None
    """How many resamples to learn."""
    recovery: int | None = None
    """How many tables to draw from the model and learn again."""
    seed: int = 1
    dry_run: bool = False
    """Show what it would take, and do nothing."""
    knowledge: str | None = None
    """The file that holds it, which is not to be overwritten."""
    dask: str | None = None
    """Where the cluster is that reads and counts the table; part of how it is read."""


class Learned(NamedTuple):
    """What there is to write and to show."""

    table: AnyTable
    result: Result
    confidence: Confidence | None
    recovery: RecoveryCheck | None
    notes: list[str]


def run(source: str, settings: Settings, wishes: Wishes) -> None:
    """Learn from a file; whatever can be refused is refused before the work begins."""
    _require_numbers(wishes)
    _check_places(wishes)
    _spare_the_source(source, wishes)
    if wishes.dask is not None:
        _check_for_dask(source, settings, wishes)
    if wishes.dry_run:
        _show_forecast(source, settings, wishes)
        return
    learned = _learn(source, settings, wishes)
    _, result, confidence, recovery, notes = learned
    with together():
        notes += _write(learned, wishes)
    if not wishes.quiet:
        stdout = console()
        show_summary(stdout, result, notes, confidence, details=wishes.details)
        show_recovery(stdout, recovery)
        show_explanations(stdout, result, wishes.explain)
        written = (*wishes.out, *([wishes.report] if wishes.report else []))
        show_written(stdout, written, details=wishes.details)


def _write(learned: Learned, wishes: Wishes) -> list[str]:
    """Hand over the files that were asked for; what there is to say about them."""
    remarks: list[str] = []
    if wishes.out:
        from tamis.handover import save

        with noted() as heard:
            save(learned.result, learned.table, *wishes.out)
        remarks = heard()
    if wishes.report is not None:
        from tamis.report import write_report

        write_report(
            learned.result,
            wishes.report,
            recovery=learned.recovery,
            confidence=learned.confidence,
            command=shlex.join(["tamis", *sys.argv[1:]]),
        )
    return remarks


def _check_places(wishes: Wishes) -> None:
    """Refuse what could not be written; what is not asked for is not imported either."""
    if wishes.out:
        from tamis.handover import check_outputs

        check_outputs(wishes.out)
    if wishes.report is not None:
        from tamis.report.page import check_report_place

        check_report_place(wishes.report)


def _learn(source: str, settings: Settings, wishes: Wishes) -> Learned:
    with noted() as notes, _cluster(wishes) as client, waiting(quiet=wishes.quiet) as wait:
        table = _read(source, settings, wishes, wait, client)
        wait.progress(0, table.n_variables)
        if is_elsewhere(table):
            table.counted.heard = wait.round
        with _options_named():
            result = with_path(learn(table, settings, wait.progress), source)
            confidence = _confidence(table, result, settings, wishes, wait)
            recovery = _recovery(table, result, settings, wishes, wait)
    said = [options_in_words(note) for note in dict.fromkeys((*result.warnings, *notes()))]
    return Learned(table, result, confidence, recovery, said)


def _check_for_dask(source: str, settings: Settings, wishes: Wishes) -> None:
    """Refuse what a cluster cannot do before there is one."""
    if settings.memory is not None:
        raise SettingError(
            "--memory limits the counting of files in this process, and with --dask the workers "
            "count: leave one out"
        )
    if wishes.dry_run:
        raise SettingError(
            "--dry-run is about the memory of this process, and with --dask the workers hold the "
            "rows: leave one out"
        )
    if ending_of(source) == PACKED_ENDING:
        raise SettingError(
            "A packed file is counted in this process: leave --dask out, or give the files it was "
            "packed from"
        )
    fitted = [path for path in wishes.out if path.lower().endswith(".bif")]
    asked = {"--bootstrap": wishes.bootstrap, "--recovery": wishes.recovery, "--out .bif": fitted}
    for option, wish in asked.items():
        if wish:
            raise SettingError(
                f"{option} needs the rows in memory, and with --dask they stay on the cluster: "
                "leave one out"
            )
    with _options_named():
        require_whole_rows(settings.missing, wishes.weights)
    find_parts(source)


@contextmanager
def _cluster(wishes: Wishes) -> Iterator[object]:
    """A client of the cluster that is wished for, or None."""
    if wishes.dask is None:
        yield None
        return
    from tamis.counting.dask.opening import connected

    with connected(wishes.dask) as client:
        yield client


def _open(source: str, settings: Settings, wishes: Wishes, wait: Waiting, client: object) -> object:
    """The table where it is counted, or what is to be read into memory."""

    def packing(what: str, done: int, of: int) -> None:
        # How many rows a CSV file has is known when it has been read.
        wait.step(what, done, of or done)

    with _options_named():
        if client is not None:
            from tamis.counting.dask.opening import open_files

            return open_files(
                source, client, packing, information=settings.read_as, types=settings.types
            )
        return open_blocks(
            source,
            memory=settings.memory,
            missing=settings.missing,
            information=settings.read_as,
            types=settings.types,
            progress=packing,
        )


def _read(
    source: str, settings: Settings, wishes: Wishes, wait: Waiting, client: object = None
) -> AnyTable:
    """The table, if all that is wished for can be had from it."""
    given = _open(source, settings, wishes, wait, client)
    table = read_opened(given, settings, wishes.weights)
    _require_countable(table, wishes.out)
    _require_drawable(table, wishes)
    if wishes.out:
        from tamis.handover import check_outputs

        check_outputs(wishes.out, table, counted=settings.information == "counts")
    with _options_named():
        settings.knowledge.constraints(table.names)
    for name in wishes.explain:
        if name not in table.names:
            raise SettingError(
                f"--explain: there is no column {name!r}; {suggest(name, table.names)}"
            )
    return table


def _show_forecast(source: str, settings: Settings, wishes: Wishes) -> None:
    """What the run would take and could see; nothing is learned and nothing is written."""
    from tamis.forecast import forecast

    with noted() as notes, waiting(quiet=wishes.quiet) as wait:
        table = _read(source, settings, wishes, wait)
        with _options_named():
            told = forecast(table, settings)
    said = [*table.notes, *notes()]
    show_forecast(console(), source, told.lines(), list(dict.fromkeys(said)))


def _require_numbers(wishes: Wishes) -> None:
    asked = (("--bootstrap", wishes.bootstrap, 1), ("--recovery", wishes.recovery, 1))
    for option, n, least in (*asked, ("--seed", wishes.seed, 0)):
        if n is not None and n < least:
            raise SettingError(f"{option} must be a whole number from {least} on, not {n}")


def _require_drawable(table: AnyTable, wishes: Wishes) -> None:
    """Refuse resamples and drawn tables that cannot be had, before the search."""
    if is_elsewhere(table):
        for option, wish in (("--bootstrap", wishes.bootstrap), ("--recovery", wishes.recovery)):
            if wish is not None:
                raise SettingError(
                    f"{option} needs the rows in memory, and they are read in blocks: leave it "
                    "out, or give the table itself, without --memory"
                )
    if wishes.recovery is None:
        return
    why = "missing values" if table.missing else None
    why = "survey weights" if table.weights is not None else why
    if why is not None:
        raise SettingError(
            f"--recovery draws complete rows that count alike, and these have {why}: leave it out"
        )


def _require_countable(table: AnyTable, out: Sequence[str]) -> None:
    """Refuse a fitted network of rows that lack values or count unequally, before the search."""
    fitted = [path for path in out if path.lower().endswith(".bif")]
    if fitted and is_elsewhere(table):
        raise SettingError(
            f"--out {fitted[0]!r} would need the rows in memory, and they are read in blocks: "
            "leave it out"
        )
    if fitted and (table.missing or table.weights is not None):
        why = "missing values" if table.missing else "survey weights"
        raise SettingError(
            f"--out {fitted[0]!r} would count the rows, and some have {why}: leave it out"
        )


def _confidence(
    table: AnyTable, result: Result, settings: Settings, wishes: Wishes, wait: Waiting
) -> Confidence | None:
    if wishes.bootstrap is None:
        return None
    from tamis.bootstrap import bootstrap

    return bootstrap(
        with_rows(table),
        result,
        settings,
        wishes.bootstrap,
        seed=wishes.seed,
        progress=lambda done, of: wait.step("learning resamples", done, of),
    )


def _recovery(
    table: AnyTable, result: Result, settings: Settings, wishes: Wishes, wait: Waiting
) -> RecoveryCheck | None:
    if wishes.recovery is None:
        return None
    from tamis.identifiability.recovery import recovery_check

    return recovery_check(
        with_rows(table),
        result,
        settings,
        n_simulations=wishes.recovery,
        seed=wishes.seed,
        progress=lambda done, of: wait.step("learning simulated tables", done, of),
    )


@contextmanager
def _options_named() -> Iterator[None]:
    """Let refusals of settings speak of options."""
    try:
        yield
    except SettingError as error:
        raise SettingError(options_in_words(str(error))) from None


def settings_from_options(**options: Any) -> Settings:  # noqa: ANN401 - checked by Settings
    """The settings that options stand for; a refusal names the option."""
    with _options_named():
        return Settings(**options)


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


def _spare_the_source(source: str, wishes: Wishes) -> None:
    written = [("--out", path) for path in wishes.out]
    written += [("--report", wishes.report)] if wishes.report is not None else []
    tables = find_parts(source) if is_several(source) else [source]
    read = [(path, "the table itself") for path in tables]
    read += [(wishes.knowledge, "the knowledge")] if wishes.knowledge is not None else []
    for option, path in written:
        for given, what in read:
            if os.path.exists(path) and os.path.exists(given) and os.path.samefile(path, given):
                raise SettingError(f"{option} {path!r} would overwrite {what}")
        if is_several(source) and fnmatch(os.path.normpath(path), os.path.normpath(source)):
            raise SettingError(f"{option} {path!r} would become a part of the table {source!r}")


def show_forecast(
    console: Console, source: str, lines: Sequence[tuple[str, str]], notes: Sequence[str]
) -> None:
    """The lines of a forecast, one under the other, and that nothing was done."""
    console.print(Hanging(Text(), f"{show(source)}: a forecast"))
    shown = [(title, show(text)) for title, text in lines]
    for part in pairs_of([*shown, *(("note", show(note)) for note in notes)]):
        console.print(part)
    console.print(Text("Nothing was learned or written; leave out --dry-run for that.", QUIET))
