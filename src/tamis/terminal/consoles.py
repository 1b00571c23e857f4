"""Where text goes: to a terminal with colours, or plainly to a file or a pipe."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from rich.console import Console

NARROWEST = 20
USUAL = 80
"""Columns: a width below the narrowest, such as COLUMNS=0, is taken for no width at all."""


class _PlainSpoken(Console):
    """A console that leaves a closed pipe to the caller."""

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


def console(*, stderr: bool = False) -> Console:
    """A console that takes nothing in a text for markup; NO_COLOR means no codes at all."""
    # Where the encoding has no arrow, an escape is better than a traceback.
    stream = sys.stderr if stderr else sys.stdout
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
    made = _PlainSpoken(
        stderr=stderr,
        color_system=None if os.environ.get("NO_COLOR") else "auto",
        markup=False,
        emoji=False,
        highlight=False,
    )
    if made.width < NARROWEST:
        made.width = USUAL
    return made
