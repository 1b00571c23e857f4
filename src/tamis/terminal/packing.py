"""The command `tamis pack`: a table becomes a packed file."""

from __future__ import annotations

import os
from collections.abc import Mapping

from tamis.tables.kinds import Told
from tamis.tables.packed_file import pack
from tamis.terminal.consoles import console
from tamis.terminal.waiting import waiting
from tamis.terminal.words import count


def run(
    source: str, target: str, *, types: Mapping[str, Told] | None = None, quiet: bool = False
) -> None:
    """Pack, and say what is in the file."""
    with waiting(quiet=quiet) as wait:

        def heard(what: str, done: int, of: int) -> None:
            # How many rows a CSV file has is known when it has been read.
            wait.step(what, done, of or done)

        notes: list[str] = []
        header = pack(source, target, progress=heard, types=types, noted=notes.append)
    if quiet:
        return
    levels = sum(map(len, header.levels))
    size = f"{os.path.getsize(target) / 10**6:,.1f} MB"
    console().print(
        f"{target}: {count(header.rows, 'row')}, {count(len(header.names), 'column')} with "
        f"{count(levels, 'level')}, {size}",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    for note in notes:
        console().print(f"Note: {note}", markup=False, highlight=False)
