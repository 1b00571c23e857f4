"""Waiting for what workers do, and saying what went wrong if it does not come."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from threading import Event
from typing import Any, NoReturn

from tamis.errors import DataError, SettingError, TamisError
from tamis.tables.refusals import shown

TICK = 1.0
"""Seconds between looks at whether there are workers at all."""
PATIENCE = 60.0
"""Seconds without any worker at work after which nobody is waited for any more."""
BRINGING = 600.0
"""Seconds that what is done may take to come here; then it is asked for again."""

Tick = Callable[[], None]
Leaves = Sequence[tuple[Any, str]]
"""The futures of parts, and what the parts are called."""


def result_of(client: Any, future: Any, leaves: Leaves, tick: Tick | None = None) -> Any:  # noqa: ANN401
    """Wait for one future, as long as there is somebody to work on it."""
    while True:
        _wait(client, future, tick)
        try:
            # What is done may be lost again before it is here.
            return future.result(timeout=BRINGING)
        except TimeoutError as error:
            if future.status == "error":
                _refuse(error, leaves)
        # A task may raise anything, and a lost scheduler cancels what was asked of it.
        except Exception as error:
            _refuse(error, leaves)


def _wait(client: Any, future: Any, tick: Tick | None) -> None:  # noqa: ANN401 - of Dask
    done = Event()
    future.add_done_callback(lambda _: done.set())
    alone_since: float | None = None
    while not done.wait(TICK):
        alone_since = _alone(client, alone_since)
        if tick is not None:
            tick()
    if tick is not None:
        tick()


def _alone(client: Any, since: float | None) -> float | None:  # noqa: ANN401 - of Dask
    """Since when no worker has been working; gives up after a while."""
    with connection():
        workers = client.scheduler_info(n_workers=-1).get("workers", {}).values()
    if client.status in ("closed", "closing"):
        raise lost_connection("the client is closed")
    if any(worker.get("status", "running") == "running" for worker in workers):
        return None
    now = time.monotonic()
    if since is not None and now - since > PATIENCE:
        raise DataError(
            f"No worker has been at work for {PATIENCE:.0f} seconds: {_why_idle(len(workers))}, "
            "and learn again."
        )
    return now if since is None else since


def unknown_there(seen: str) -> SettingError:
    """The refusal of a cluster that has no tamis, or another one."""
    return SettingError(
        f"Dask's scheduler and all its workers need tamis {version('tamis')} with its extra "
        f"'dask', as the client has it: {seen}"
    )


def _why_idle(n_workers: int) -> str:
    if n_workers:
        return (
            f"{n_workers} are there, all of them paused, as when their memory is full. Start "
            "workers with more memory"
        )
    return "there is none. Start some"


def _refuse(error: Exception, leaves: Leaves) -> NoReturn:
    """Say what went wrong, and with which part of the table, as far as that is known."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    part = next((name for leaf, name in leaves if leaf.status == "error"), None)
    if isinstance(error, TamisError):
        raise _with_part(error, part)
    if isinstance(error, CancelledError):
        raise lost_connection(str(error)) from error
    if isinstance(error, ImportError) or "deserializ" in str(error):
        raise unknown_there(shown(str(error))) from error
    where = part or "a part of the table"
    if isinstance(error, KilledWorker):
        raise DataError(
            f"Workers died again and again while they worked on {where}; the last of them on task "
            f"{shown(str(error.task))}. Most often their memory is too small: give them more, or "
            "make the parts smaller."
        ) from error
    if part is not None:
        raise DataError(
            f"{where[0].upper()}{where[1:]} cannot be read: {type(error).__name__}: "
            f"{shown(str(error))}. Mend or remove it, and learn again."
        ) from error
    raise error


@contextmanager
def connection() -> Iterator[None]:
    """What is asked of the scheduler itself fails only if it cannot be reached."""
    try:
        yield
    except (OSError, RuntimeError, TimeoutError) as error:
        raise lost_connection(str(error)) from error


def lost_connection(why: str) -> DataError:
    """Of what was asked of the scheduler nothing will come any more."""
    return DataError(
        f"The connection to Dask's scheduler was lost, or the work was cancelled there "
        f"({shown(why)}). Learn again when the scheduler is back."
    )


def _with_part(error: TamisError, part: str | None) -> TamisError:
    """Add the name of the part to an error, unless it says that already."""
    if part is None or part in str(error):
        return error
    return type(error)(f"{error} This was found in {part}.")
