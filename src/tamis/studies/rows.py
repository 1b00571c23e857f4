"""One finished run: one row of the tidy table, one line of the journal."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from tamis.atomic import write_files
from tamis.errors import FileFormatError
from tamis.journal import read_journal

OK, TIMED_OUT, FAILED, SKIPPED = "ok", "timed out", "failed", "skipped"
STATUSES = (OK, TIMED_OUT, FAILED, SKIPPED)
STUDY = "study"
"""What the journal of a study says it is."""
JOURNAL, TABLE = "rows.jsonl", "results.csv"


@dataclass(frozen=True, kw_only=True)
class Row:
    """What was run and what came of it; scores are None unless ``status`` is "ok".

    ``settings`` is JSON: the arguments of ``tamis.simulate.draw`` and what was done to the table
    then. ``reason`` says why a run failed or was skipped. ``shd`` counts undirected edges
    favourably, as the paper does, ``shd_strict`` does not, and ``cpdag`` is the distance between
    the equivalence classes. ``directions`` is JSON: by warrant, of the learned arrows that join
    what is joined, how many are right, and how many there are; by "hidden", of the pairs of
    columns with a cause that was left out, to how many a direction is claimed, how many are
    joined, and how many there are. ``seconds`` and ``cpu_seconds`` are the time of learning with
    one thread; a run that timed out has its limit there. ``library`` is what the method comes
    from, with versions.
    """

    model: str
    graph: str
    d: int
    n: int
    replication: int
    method: str
    seed: int
    status: str
    reason: str = ""
    shd: int | None = None
    shd_strict: int | None = None
    cpdag: int | None = None
    skeleton_f1: float | None = None
    edges_true: int | None = None
    edges_learned: int | None = None
    directions: str = ""
    seconds: float | None = None
    cpu_seconds: float | None = None
    time_limit: float | None = None
    settings: str = ""
    tamis: str = ""
    numpy: str = ""
    library: str = ""

    @property
    def cell(self) -> tuple[str, str, int, int]:
        """All that replications have in common."""
        return self.model, self.graph, self.d, self.n

    @property
    def key(self) -> str:
        """The name of the run, as in ``Draw.key``."""
        return "/".join(map(str, (*self.cell, self.replication, self.method)))

    @property
    def place(self) -> tuple[str, str, int, int, int, str]:
        """What rows are sorted by."""
        return *self.cell, self.replication, self.method

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> Row:
        """The row that JSON holds; ``TypeError`` or ``ValueError`` if it is none."""
        row = cls(**written)
        if row.status not in STATUSES:
            raise ValueError(f"there is no status {row.status!r}")
        return row


COLUMNS = tuple(one.name for one in fields(Row))
_NEEDED = COLUMNS[:8]
_PARSE: dict[str, Callable[[str], object]] = {
    "str": str,
    "int": int,
    "int | None": lambda text: int(text) if text else None,
    "float | None": lambda text: float(text) if text else None,
}
_PARSERS = {one.name: _PARSE[str(one.type)] for one in fields(Row)}


def read(folder: str | os.PathLike[str], *more: str | os.PathLike[str]) -> tuple[Row, ...]:
    """The rows of a study's folder, sorted; also of one that is still running.

    The journal is read where there is one, otherwise ``results.csv``; a path to such a table will
    do as well. Rows of several folders are put together, as of methods that were run apart; no run
    may be in two of them.
    """
    rows = [row for place in (folder, *more) for row in _read(Path(place))]
    return tuple(sorted(once(rows, "leave a folder out"), key=lambda row: row.place))


def once(rows: list[Row], otherwise: str) -> list[Row]:
    """The rows, if no run is there twice."""
    seen = set[str]()
    for row in rows:
        if row.key in seen:
            raise FileFormatError(f"The run {row.key} is there twice: {otherwise}.")
        seen.add(row.key)
    return rows


def understood(entries: Iterable[Mapping[str, Any]], place: str) -> list[Row]:
    """The rows of a journal."""
    rows = []
    for number, entry in enumerate(entries, start=2):
        try:
            rows.append(Row.from_dict(entry))
        except (TypeError, ValueError) as error:
            raise FileFormatError(
                f"{place!r}, line {number} is no finished run: {error}. Remove the line; its run "
                "is repeated."
            ) from error
    return once(rows, f"remove one of its lines in {place!r}")


def write(rows: Iterable[Row], folder: Path) -> None:
    """Write ``results.csv``, sorted, whole or not at all; empty cells are what there is not."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in sorted(rows, key=lambda one: one.place):
        values = (getattr(row, name) for name in COLUMNS)
        writer.writerow("" if value is None else value for value in values)
    write_files({str(folder / TABLE): text.getvalue().encode()})


def _read(place: Path) -> list[Row]:
    if place.is_file():
        return _read_csv(place)
    journal = read_journal(place / JOURNAL, STUDY)
    return _read_csv(place / TABLE) if journal is None else understood(journal[1], str(place))


def _read_csv(path: Path) -> list[Row]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise FileFormatError(
            f"There is no {str(path)!r}: give the folder of a study that has begun."
        ) from error
    reader = csv.reader(io.StringIO(text, newline=""))
    header = next(reader, [])
    if not set(_NEEDED) <= set(header) <= set(COLUMNS):
        raise FileFormatError(f"{str(path)!r}: line 1 must name {', '.join(COLUMNS)}.")
    return [_parsed(path, reader.line_num, header, cells) for cells in reader if cells]


def _parsed(path: Path, line: int, header: list[str], cells: list[str]) -> Row:
    try:
        pairs = zip(header, cells, strict=True)
        return Row.from_dict({name: _PARSERS[name](cell) for name, cell in pairs})
    except (TypeError, ValueError) as error:
        raise FileFormatError(
            f"{str(path)!r}: line {line} is no row of results: {error}."
        ) from None
