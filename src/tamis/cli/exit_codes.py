"""How a command ends: errors in a line or two with exit code 2, never with a traceback.

Imports nothing that takes time, so that a command ends cleanly from the first moment on.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn, TextIO, cast

from tamis.errors import TamisError

if TYPE_CHECKING:
    from types import FrameType

    from typer import Typer

FAILED = 2
INTERRUPTED = 130
TERMINATED = 143


def run_command(app: Typer) -> NoReturn:
    """Run the command and end."""
    signal.signal(signal.SIGTERM, _terminated)
    with exit_cleanly():
        code = _run(app)
    raise SystemExit(code)


class Terminated(BaseException):
    """The system asks the process to end; what is half done is cleared away on the way out."""


def _terminated(number: int, frame: FrameType | None) -> NoReturn:
    raise Terminated


@contextmanager
def exit_cleanly() -> Iterator[None]:
    """Turn what can go wrong for the user into a message and an exit code; bugs pass through."""
    try:
        yield
        # Now and not while the interpreter shuts down, where a closed pipe would be noisy.
        sys.stdout.flush()
    except TamisError as error:
        fail(str(error))
    except BrokenPipeError:
        # Nobody reads any more, as after `| head`.
        _drop(sys.stdout)
        _drop(sys.stderr)
        raise SystemExit(0) from None
    except OSError as error:
        fail(_in_words(error))
    except MemoryError:
        fail("there is not enough memory for this table")
    except RuntimeError as error:
        if "can't start new thread" not in str(error):
            raise
        fail("the system allows no more threads: use fewer --jobs")
    except (KeyboardInterrupt, Terminated) as ending:
        _end(ending)
    except SystemError as error:
        # So C code hands on what a signal raised below it.
        if not isinstance(error.__cause__, KeyboardInterrupt | Terminated):
            raise
        _end(error.__cause__)


def _end(ending: KeyboardInterrupt | Terminated) -> NoReturn:
    """Say which signal ends the command, and end."""
    interrupted = isinstance(ending, KeyboardInterrupt)
    _say(lambda: _write("Interrupted." if interrupted else "Terminated."))
    raise SystemExit(INTERRUPTED if interrupted else TERMINATED) from None


def do(step: str, *given: object, **options: object) -> None:
    """Run a step of a command, such as "showing.plot", imported only then, and end cleanly."""
    with exit_cleanly():
        module, function = step.split(".")
        getattr(import_module(f"tamis.cli.{module}"), function)(*given, **options)


def open_missing_streams() -> None:
    """Where a stream was closed before the start (`>&-`), Python has None: write nowhere."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for good
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for good


def fail(message: str) -> NoReturn:
    """Say what is wrong and end."""
    _say(lambda: _write(_folded(f"Error: {visible(message)}")))
    raise SystemExit(FAILED)


def visible(text: str) -> str:
    """Text without anything a terminal would obey, line breaks aside."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)


def _folded(text: str) -> str:
    """Text that a terminal does not cut within words; what reads a pipe gets whole lines."""
    if not sys.stderr.isatty():
        return text
    width = max(shutil.get_terminal_size().columns, 20)
    lines = (
        textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False)
        for line in text.splitlines()
    )
    return "\n".join("\n".join(found) for found in lines)


def _run(app: Typer) -> int:
    """Run with typer's way of ending replaced by that of `exit_cleanly`."""
    import typer

    # Every complaint about the command line; typer has no public name for it.
    usage_error = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])
    try:
        code = app(standalone_mode=False) or 0
    except usage_error as error:
        _say(error.show)
        raise SystemExit(FAILED) from None
    except typer.Abort:
        raise KeyboardInterrupt from None
    except SystemExit as ending:
        # typer keeps 1 for a closed pipe; nothing else here ends so.
        if ending.code == 1:
            raise BrokenPipeError from None
        raise
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    return int(code)


def _write(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def _say(speak: Callable[[], None]) -> None:
    """Speak on stderr; where nobody can hear it, the exit code must do."""
    with suppress(OSError):
        speak()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            # What cannot be written now would be tried, and complained about, at shutdown.
            _drop(stream)


def _in_words(error: OSError) -> str:
    why = error.strerror or str(error) or type(error).__name__
    return why if error.filename is None else f"{error.filename!r}: {why}"


def _drop(stream: TextIO) -> None:
    """Let what is left in a stream go nowhere, silently."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    with suppress(OSError):
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
