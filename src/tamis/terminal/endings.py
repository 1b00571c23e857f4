"""How a command ends: errors in a line or two with exit code 2, never with a traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from tamis.errors import TamisError

FAILED = 2
INTERRUPTED = 130


@contextmanager
def clean_ending() -> Iterator[None]:
    """Turn what can go wrong for the user into a message and an exit code; bugs pass through."""
    try:
        yield
        # Now and not while the interpreter shuts down, where a closed pipe would be noisy.
        sys.stdout.flush()
    except TamisError as error:
        fail(str(error))
    except BrokenPipeError:
        _drop_output()
        raise typer.Exit(0) from None
    except OSError as error:
        fail(_in_words(error))
    except MemoryError:
        fail("there is not enough memory for this table")
    except KeyboardInterrupt:
        typer.echo("Interrupted.", err=True)
        raise typer.Exit(INTERRUPTED) from None


def open_missing_streams() -> None:
    """Where a stream was closed before the start (`>&-`), Python has None: write nowhere."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for good
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for good


def fail(message: str) -> NoReturn:
    """Say what is wrong and end."""
    typer.echo(f"Error: {visible(message)}", err=True)
    raise typer.Exit(FAILED)


def visible(text: str) -> str:
    """Text without anything a terminal would obey, line breaks aside."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)


def _in_words(error: OSError) -> str:
    why = error.strerror or str(error) or type(error).__name__
    return why if error.filename is None else f"{error.filename!r}: {why}"


def _drop_output() -> None:
    """Nobody reads any more, as after `| head`: let what is left go nowhere, silently."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
