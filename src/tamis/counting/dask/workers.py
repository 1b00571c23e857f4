"""The workers and what each part of the table has become on them.

A round is one question to all parts: every part is counted where it is held, and the sums are
added in a tree on the workers. Nothing is scattered: what a worker holds is the outcome of tasks
that begin with reading a file, so that the scheduler can have it done again when a worker is lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from itertools import count as numbers_from
from secrets import token_hex
from threading import Event
from typing import Any, NoReturn

from tamis.counting.dask.work import (
    Found,
    Names,
    Part,
    Question,
    add,
    count,
    fingerprint,
    hold,
    joined,
    look_at,
    merged,
    products,
    sums_of,
)
from tamis.counting.elsewhere import BlockTable, Counted
from tamis.counting.passes import Pass, Sums
from tamis.errors import DataError, SettingError, TamisError
from tamis.tables.first_pass import Progress, Seen
from tamis.tables.growing import GrowingColumn
from tamis.tables.moments import Moments
from tamis.tables.packed_file import nobody
from tamis.tables.planes import Layout
from tamis.tables.refusals import shown
from tamis.tables.table import Label

FAN_IN = 8
"""How many sums one task adds."""
EMBEDDED_BYTES = 2**16
"""A question larger than this goes to one worker, and from there to the others."""
WORKER_BYTES = 2**29
"""What each thread of a worker may take for rows while it counts, beside the tables."""
ROUNDS_OF_A_GROUPING = 32
"""How often it is asked which worker holds which part, if no worker comes or goes."""

TICK = 1.0
"""Seconds between looks at whether there are workers at all."""
PATIENCE = 60.0
"""Seconds without any worker at work after which nobody is waited for any more."""
BRINGING = 600.0
"""Seconds that what is done may take to come here; then it is asked for again."""

Tick = Callable[[], None]
Leaves = Sequence[tuple[Any, str]]
"""The futures of parts, and what the parts are called."""


class Workers:
    """A client of Dask, the parts of a table, and the planes that workers hold of them.

    A client that is ``owned`` is closed when they leave.
    """

    def __init__(
        self,
        client: Any,  # noqa: ANN401 - Dask has no types
        parts: Sequence[Part],
        names: Names,
        *,
        owned: bool = False,
    ) -> None:
        self._client = client
        self._owned = owned
        self._parts = list(parts)
        self.n_parts = len(parts)
        self.names = names
        self._token = token_hex(4)
        self._serial = numbers_from()
        self._rounds = 0
        self._held: list[Any] = []
        self._expected: list[tuple[bytes, str]] = []
        self._groups: list[list[int]] = []
        self._threads: dict[str, int] = {}
        self.arities: tuple[int, ...] = ()
        self.n_rows = 0

    def require_tamis(self) -> None:
        """Refuse a cluster without tamis before it is given anything that only tamis can read."""
        wanted = version("tamis")
        # A function of the standard library, which can be asked for where there is no tamis.
        with connection():
            there = self._client.run(version, "tamis", on_error="return")
        try:
            there["the scheduler"] = self._client.run_on_scheduler(version, "tamis")
        except PackageNotFoundError as error:
            there["the scheduler"] = error
        for where, found in there.items():
            if found != wanted:
                raise unknown_there(f"{where} has {found if isinstance(found, str) else 'none'}")

    def look(self, progress: Progress, *, moments: bool = False) -> Seen:
        """What the columns are over all parts, and the moments of numbers if they are wanted."""
        what = "taking moments" if moments else "looking at the columns"
        leaves = self._each(look_at, lambda i: (self._parts[i].name, self.names, moments))
        found: Seen = self._collected(leaves, merged, what, progress)
        return found

    def products(self, chosen: tuple[str, ...], moments: Moments) -> tuple[int, float]:
        """What the shrinkage that the rows suggest needs, added up in the order of the parts."""
        shared = self._shared(moments)
        leaves = self._each(products, lambda _: (self.names, chosen, shared))
        found = self._collected(leaves, joined, "looking for the shrinkage", nobody)
        return sum(n for n, _ in found), sum(total for _, total in found)

    def hold(
        self,
        columns: Sequence[GrowingColumn],
        arities: tuple[int, ...],
        rows: Sequence[int],
        progress: Progress,
    ) -> None:
        """Have every part packed and kept."""
        self.arities, self.n_rows = arities, sum(rows)
        settled = self._shared(list(columns))
        self._held = self._each(hold, lambda i: (self.names, arities, settled, rows[i]))
        prints = [
            self._client.submit(fingerprint, held, key=self._key("fingerprint"), pure=False)
            for held in self._held
        ]
        found = self._collected(prints, joined, "packing", progress)
        names = [part.name for part in self._parts]
        self._expected = list(zip(found, names, strict=True))

    def ask(self, question: Question) -> tuple[Found, int]:
        """What all rows together say, and about how many bytes moved for it: the question to every
        task that counts, and all sums that were passed on."""
        self._require_rows()
        self._rounds += 1
        size = size_of(question)
        shared = question if size <= EMBEDDED_BYTES else self._kept(question)
        with connection():
            groups = self._neighbours()
        sums = [
            self._client.submit(
                count, shared, [self._held[i] for i in group], [self._expected[i] for i in group],
                key=self._key("count"), pure=False,
            )
            for group in groups
        ]  # fmt: skip
        found: Found = self._result(self._tree(sums, add, shared), self._held)
        return found, found.moved + size * len(groups)

    def leave(self) -> None:
        """Let go of all that the workers hold."""
        self._held, self._expected, self._groups, self._parts = [], [], [], []
        if self._owned and self._client is not None:
            self._client.close()
        self._client = None

    def _require_rows(self) -> None:
        if self._client is None:
            raise SettingError(
                "The workers were told to forget the rows when they had been learned from: learn "
                "again"
            )
        if self._client.status != "running":
            raise lost_connection(f"the client is {self._client.status}")

    def _neighbours(self) -> list[list[int]]:
        """Parts that one thread of a worker can count in one task, having them all.

        A task costs the scheduler milliseconds, so that one for each part would be most of a round.
        Parts that nobody holds, their worker being lost, are tasks of their own: they come back
        here and there.
        """
        threads = self._client.nthreads()
        if threads != self._threads or self._rounds % ROUNDS_OF_A_GROUPING == 1:
            self._threads = threads
            of_worker: dict[str, list[int]] = {}
            alone: list[list[int]] = []
            at = self._client.who_has(self._held)
            for i, held in enumerate(self._held):
                workers = [one for one in at.get(held.key, ()) if one in threads]
                if workers:
                    of_worker.setdefault(min(workers), []).append(i)
                else:
                    alone.append([i])
            shares = [
                parts[start :: threads[worker]]
                for worker, parts in sorted(of_worker.items())
                for start in range(threads[worker])
            ]
            self._groups = [share for share in shares if share] + alone
        return self._groups

    def _each(
        self, work: Callable[..., Any], arguments: Callable[[int], tuple[Any, ...]]
    ) -> list[Any]:
        """A future for each part, in their order: the work on what is in it."""
        from dask import delayed

        self._require_rows()
        tasks = [
            delayed(work)(part.content, *arguments(i), dask_key_name=self._key(work.__name__))
            for i, part in enumerate(self._parts)
        ]
        futures: list[Any] = self._client.compute(tasks, optimize_graph=False)
        return futures

    def _collected(
        self, leaves: list[Any], merge: Callable[..., Any], what: str, progress: Progress
    ) -> Any:  # noqa: ANN401 - of a task
        """What all parts give together, merged in their order on the workers."""
        heard = self._heard(leaves, what, progress)
        return self._result(self._tree(leaves, merge), leaves, heard)

    def _tree(self, futures: list[Any], merge: Callable[..., Any], *shared: Any) -> Any:  # noqa: ANN401
        """A future of all that the futures are, some neighbours merged at a time."""
        while len(futures) > 1:
            futures = [
                self._client.submit(
                    merge, *shared, futures[start : start + FAN_IN],
                    key=self._key(merge.__name__), pure=False,
                )
                for start in range(0, len(futures), FAN_IN)
            ]  # fmt: skip
        return futures[0]

    def _heard(self, leaves: Sequence[Any], what: str, progress: Progress) -> Tick:
        def tick() -> None:
            progress(what, sum(leaf.done() for leaf in leaves), len(leaves))

        return tick

    def _result(self, future: Any, leaves: Sequence[Any], tick: Tick | None = None) -> Any:  # noqa: ANN401
        names = [part.name for part in self._parts]
        return result_of(self._client, future, list(zip(leaves, names, strict=True)), tick)

    def _key(self, what: str) -> str:
        return f"tamis-{what}-{self._token}-{next(self._serial)}"

    def _shared(self, value: object) -> Any:  # noqa: ANN401 - a future or the value
        """A value for all workers: with each task, or from one of them if it is large."""
        return value if size_of(value) <= EMBEDDED_BYTES else self._kept(value)

    def _kept(self, value: object) -> Any:  # noqa: ANN401 - a future
        return self._client.submit(_same, value, key=self._key("shared"), pure=False)


class ClusterTable(BlockTable):
    """The columns of a table in parts, each held by some worker as planes."""

    is_here = False

    def __init__(
        self,
        names: Sequence[str],
        levels: Sequence[Sequence[Label]],
        workers: Workers,
        notes: tuple[str, ...] = (),
    ) -> None:
        layout = Layout(workers.n_rows, 64, workers.arities, 0)
        where = f"the {workers.n_parts} parts on the cluster"
        super().__init__(names, levels, layout, Counted("dask", workers.n_parts), where, notes)
        self.workers = workers

    def leave(self) -> None:
        """Let go of the rows: the workers forget them, and nothing can be counted any more."""
        self.workers.leave()

    def total(self, passes: Sequence[Pass], n_jobs: int) -> list[Sums]:
        """One round: every worker counts its parts, and their sums are added on the way."""
        found, moved = self.workers.ask(Question(tuple(passes), self.positions, WORKER_BYTES))
        self.counted.note(moved)
        return sums_of(found)


def size_of(value: object) -> int:
    """The bytes that a value is on its way to a worker."""
    from distributed.protocol import serialize

    _, frames = serialize(value)
    return sum(len(memoryview(frame).cast("B")) for frame in frames)


def _same(value: Any) -> Any:  # noqa: ANN401 - whatever it is
    return value


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
