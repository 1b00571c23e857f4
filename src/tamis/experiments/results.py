"""Results as files: the tidy table, and the journal it is made from."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tamis.atomic import write_files
from tamis.errors import FileFormatError
from tamis.experiments.journal import read_journal
from tamis.experiments.rows import Row, from_csv, to_csv

NAME = "results.csv"


def read(folder: str | os.PathLike[str], *more: str | os.PathLike[str]) -> tuple[Row, ...]:
    """The rows of an experiment's folder, sorted; also of one that is still running.

    The journal is read where there is one, otherwise ``results.csv``; a path to such a file will do
    as well. Rows of several folders are put together, as of methods that were run apart; no run
    may be in two of them.
    """
    rows = [row for place in (folder, *more) for row in _read(Path(place))]
    for key, times in Counter(row.key for row in rows).items():
        if times > 1:
            raise FileFormatError(f"The run {key} is there {times} times: leave a folder out.")
    return tuple(sorted(rows, key=lambda row: row.place))


def write(rows: Iterable[Row], folder: Path) -> None:
    """Write ``results.csv``, whole or not at all."""
    write_files({str(folder / NAME): to_csv(rows)})


def _read(place: Path) -> list[Row]:
    if place.is_file():
        return _read_csv(place)
    rows = read_journal(place)
    return _read_csv(place / NAME) if rows is None else rows


def _read_csv(path: Path) -> list[Row]:
    try:
        return from_csv(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise FileFormatError(
            f"There is no {str(path)!r}: give the folder of an experiment that has begun."
        ) from error
    except ValueError as error:
        raise FileFormatError(f"{str(path)!r}: {error}.") from error
