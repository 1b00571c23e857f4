"""The record of a run while it lasts: one line a finished run, appended and never changed.

A line is on the disk before the next run is heard of, so whatever ends the process takes away at
most the line that is being written. Such a torn line is dropped when the file is opened again,
and its run is repeated.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Self

from tamis.errors import FileFormatError
from tamis.experiments.rows import Row

NAME = "rows.jsonl"


class Journal:
    """The file of one run, open for appending; whoever opens it must hold the folder's lock."""

    def __init__(self, folder: Path) -> None:
        path = folder / NAME
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            content = path.read_bytes()
            self.rows, whole = understood(content, str(path))
            """The runs on record when the file was opened."""
            if whole < len(content):
                os.ftruncate(self._file, whole)
        except BaseException:
            os.close(self._file)
            raise

    def append(self, row: Row) -> None:
        """Put a row on the disk."""
        left = f"{row.to_json()}\n".encode("ascii")
        while left:
            left = left[os.write(self._file, left) :]
        os.fsync(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)


def read_journal(folder: Path) -> list[Row] | None:
    """The finished runs, also while others are being added; None if there is no journal."""
    path = folder / NAME
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    return understood(content, str(path))[0]


def understood(content: bytes, called: str) -> tuple[list[Row], int]:
    """The rows, and how many bytes from the start hold them: the rest is a torn last line."""
    rows, whole, seen = list[Row](), 0, dict[str, int]()
    lines = content.splitlines(keepends=True)
    for number, line in enumerate(lines, start=1):
        row = _row(line)
        if row is None:
            if number < len(lines):
                raise FileFormatError(
                    f"{called!r}, line {number} is no finished run, and is not the last line: the "
                    "file was changed by hand or damaged. Remove the line; its run is repeated."
                )
            break
        if row.key in seen:
            raise FileFormatError(
                f"{called!r}, line {number} repeats the run {row.key} of line {seen[row.key]}. "
                "Remove one of the two."
            )
        seen[row.key] = number
        rows.append(row)
        whole += len(line)
    return rows, whole


def _row(line: bytes) -> Row | None:
    """The row of a line; None if it is not whole."""
    with suppress(ValueError, TypeError, AttributeError):
        if line.endswith(b"\n"):
            return Row.from_dict(json.loads(line))
    return None
