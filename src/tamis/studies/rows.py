"""One finished run: one row of the tidy table, one line of the journal."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from tamis.atomic import read_journal, write_files
from tamis.errors import FileFormatError
from tamis.formats.graph import is_unicode
from tamis.plugins import is_number, is_whole, shortened

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
    def place(self) -> tuple[str, str, int, int, int, str]:
        """What rows are sorted by."""
        return *self.cell, self.replication, self.method

    @property
    def key(self) -> str:
        """The name of the run, such as ``mod/tree/10/1000/0/sequential``."""
        return "/".join(map(str, self.place))


COLUMNS = tuple(one.name for one in fields(Row))
_NEEDED = COLUMNS[:8]
_NUMBERS: dict[str, Callable[[str], object]] = {
    one.name: float if "float" in str(one.type) else int
    for one in fields(Row)
    if "str" not in str(one.type)
}


def read(folder: str | os.PathLike[str], *more: str | os.PathLike[str]) -> tuple[Row, ...]:
    """The rows of a study's folder, sorted; also of one that is still running.

    The journal is read where there is one, otherwise ``results.csv``; a path to such a table will
    do as well, also compressed (.gz). Rows of several folders are put together, as of methods that
    were run apart; no run may be in two of them.
    """
    rows = [row for place in (folder, *more) for row in _read(Path(place))]
    return tuple(sorted(_once(rows, "leave a folder out"), key=lambda row: row.place))


def from_journal(entries: Iterable[Mapping[str, Any]], place: str) -> list[Row]:
    """The rows of a journal."""
    rows = [_row(one.items(), place, line) for line, one in enumerate(entries, start=2)]
    return _once(rows, f"remove one of its lines in {place!r}")


def write(rows: Iterable[Row], folder: Path) -> None:
    """Write ``results.csv``, sorted, whole or not at all; empty cells are what there is not."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    # Else a carriage return, as in a reason, would be read as the end of the line.
    quoting = csv.DictWriter(text, COLUMNS, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writeheader()
    for row in sorted(rows, key=lambda one: one.place):
        returns = any("\r" in value for value in vars(row).values() if isinstance(value, str))
        (quoting if returns else writer).writerow(vars(row))
    write_files({str(folder / TABLE): text.getvalue().encode()})


def _read(place: Path) -> list[Row]:
    journal = None if place.is_file() else read_journal(place / JOURNAL, STUDY)
    if journal is not None:
        return from_journal(journal[1], str(place))
    path = place if place.is_file() else place / TABLE
    try:
        content = path.read_bytes()
        text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8")
    except FileNotFoundError as error:
        raise FileFormatError(
            f"There is no {str(path)!r}: give the folder of a study that has begun."
        ) from error
    except (gzip.BadGzipFile, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise FileFormatError(f"{str(path)!r} cannot be read as results: {error}") from error
    reader = csv.reader(io.StringIO(text, newline=""))
    header = next(reader, [])
    if not set(_NEEDED) <= set(header) <= set(COLUMNS):
        raise FileFormatError(f"{str(path)!r}: line 1 must name {', '.join(COLUMNS)}.")
    return [_row(zip(header, cells, strict=True), str(path), reader.line_num) for cells in reader]


def _row(written: Iterable[tuple[str, Any]], place: str, line: int) -> Row:
    """The row of a line of JSON, or of a line of text, where empty cells are what there is not."""
    try:
        row = Row(**{name: _value(name, value) for name, value in written})
        _require_types(row)
        if row.status not in STATUSES:
            raise ValueError(f"there is no status {row.status!r}")
    except (TypeError, ValueError) as error:
        raise FileFormatError(
            f"{place!r}, line {line} is no finished run: {error}. Remove the line, or run it again."
        ) from None
    return row


def _require_types(row: Row) -> None:
    for one in fields(Row):
        value = getattr(row, one.name)
        fits = _FITS[str(one.type)](value)
        if not fits or (one.name == "directions" and not _is_of_counts(value)):
            raise ValueError(f"{one.name} cannot be {shortened(value)}")


def _is_of_counts(directions: str) -> bool:
    """Whether a text is empty, or JSON with a list of whole numbers for each of its names."""
    try:
        found = json.loads(directions or "{}")
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and all(
        isinstance(counts, list) and all(map(is_whole, counts)) for counts in found.values()
    )


_FITS: dict[str, Callable[[Any], bool]] = {
    "str": lambda value: isinstance(value, str) and is_unicode(value),
    "int": is_whole,
    "int | None": lambda value: value is None or is_whole(value),
    "float | None": lambda value: value is None or is_number(value),
}


def _value(name: str, value: Any) -> Any:  # noqa: ANN401 - of the type of the column
    if isinstance(value, str) and name in _NUMBERS:
        return _NUMBERS[name](value) if value or name in _NEEDED else None
    # So that a whole number in a journal is that of the table, which may have lost digits.
    return float(value) if _NUMBERS.get(name) is float and is_number(value) else value


def _once(rows: list[Row], otherwise: str) -> list[Row]:
    """The rows, if no run is there twice."""
    seen = set[str]()
    for row in rows:
        if row.key in seen:
            raise FileFormatError(f"The run {row.key} is there twice: {otherwise}.")
        seen.add(row.key)
    return rows
