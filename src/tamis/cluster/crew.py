"""The workers and what each part of the table has become on them.

A round is one question to all parts: every part is counted where it is held, and the sums are
added in a tree on the workers. Nothing is scattered: what a worker holds is the outcome of tasks
that begin with reading a file, so that the scheduler can have it done again when a worker is lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from secrets import token_hex
from threading import Event
from typing import Any, NoReturn

from tamis.blocks.numbers import Numbers
from tamis.blocks.packing import nobody
from tamis.blocks.streams import GrowingLevels
from tamis.cluster.parts import Part
from tamis.cluster.work import (
    Found,
    Question,
    Seen,
    add,
    count,
    fingerprint,
    hold,
    look_at,
    look_at_numbers,
    products,
)
from tamis.data.refusals import shown
from tamis.errors import DataError, TamisError
from tamis.information.moments import Moments

FAN_IN = 8
"""So many sums are added by one task."""
EMBEDDED_BYTES = 2**16
"""A question larger than this goes to one worker, and from there to the others."""
ROUNDS_OF_A_GROUPING = 32
"""How often it is asked which worker holds which part."""
TICK = 1.0
"""Seconds between looks at whether there are workers at all."""
PATIENCE = 60.0
"""Seconds without any worker after which nobody is waited for any more."""

Progress = Callable[[str, int, int], None]


class Crew:
    """A client of Dask, the parts of a table, and the planes that workers hold of them."""

    def __init__(self, client: Any, parts: Sequence[Part], names: tuple[str, ...]) -> None:  # noqa: ANN401
        self._client = client
        self._parts = list(parts)
        self._names = names
        self._token = token_hex(4)
        self._rounds = 0
        self._held: list[Any] = []
        self._expected: list[tuple[bytes, str]] = []
        self._groups: list[list[int]] = []
        self.arities: tuple[int, ...] = ()
        self.n_rows = 0
        self.held_bytes = 0

    @property
    def n_parts(self) -> int:
        """In how many parts the table is."""
        return len(self._parts)

    def look(self, progress: Progress) -> list[Seen]:
        """The levels in each part, in their order."""
        return self._each(look_at, "looking for levels", progress)

    def look_at_numbers(self, progress: Progress) -> list[Numbers]:
        """The numbers of each part, in their order."""
        return self._each(look_at_numbers, "taking moments", progress)

    def products(self, chosen: tuple[str, ...], moments: Moments) -> tuple[int, float]:
        """What the shrinkage that the rows suggest needs, added up in the order of the parts."""
        from dask import delayed

        shared = self._shared(moments, self._key("moments", 0))
        tasks = [
            delayed(products)(
                part.content, self._names, chosen, shared, dask_key_name=self._key("products", i)
            )
            for i, part in enumerate(self._parts)
        ]
        found = self._gathered(tasks, "looking for the shrinkage", nobody)
        return sum(n for n, _ in found), sum(total for _, total in found)

    def _each(self, work: Callable[..., Any], what: str, progress: Progress) -> list[Any]:
        """What there is to see in each part, in their order."""
        from dask import delayed

        name, here = work.__name__, version("tamis")
        tasks = [
            delayed(work)(
                part.content, part.name, self._names, here, dask_key_name=self._key(name, i)
            )
            for i, part in enumerate(self._parts)
        ]
        return self._gathered(tasks, what, progress)

    def hold(
        self,
        columns: Sequence[GrowingLevels],
        arities: tuple[int, ...],
        rows: Sequence[int],
        progress: Progress,
    ) -> None:
        """Have every part packed and kept."""
        from dask import delayed

        self.arities, self.n_rows = arities, sum(rows)
        settled = self._shared(list(columns), self._key("levels", 0))
        tasks = [
            delayed(hold)(
                part.content, self._names, arities, settled, rows[i],
                dask_key_name=self._key("hold", i),
            )
            for i, part in enumerate(self._parts)
        ]  # fmt: skip
        self._held = self._client.compute(tasks, optimize_graph=False)
        prints = [
            self._client.submit(fingerprint, one, key=self._key("fingerprint", i), pure=False)
            for i, one in enumerate(self._held)
        ]
        found = self._all(prints, "packing", progress)
        self._expected = [
            (one, part.name) for (one, _), part in zip(found, self._parts, strict=True)
        ]
        self.held_bytes = sum(size for _, size in found)

    def ask(self, question: Question) -> tuple[Found, int]:
        """What all rows together say, and the bytes that moved for it: the question to every task
        that counts, and all sums that were passed on."""
        self._rounds += 1
        size = size_of(question)
        shared = question
        if size > EMBEDDED_BYTES:
            shared = self._client.submit(_same, question, key=self._key("ask", 0), pure=False)
        groups = self._neighbours()
        sums = [
            self._client.submit(
                count, shared, [self._held[i] for i in group], [self._expected[i] for i in group],
                key=self._key("count", place), pure=False,
            )
            for place, group in enumerate(groups)
        ]  # fmt: skip
        level = 0
        while len(sums) > 1:
            level += 1
            sums = [
                self._client.submit(
                    add, shared, sums[start : start + FAN_IN],
                    key=self._key(f"add-{level}", start), pure=False,
                )
                for start in range(0, len(sums), FAN_IN)
            ]  # fmt: skip
        found: Found = self._result(sums[0])
        return found, found.moved + size * len(groups)

    def _neighbours(self) -> list[list[int]]:
        """Parts that one thread of a worker can count in one task, having them all.

        A task costs the scheduler milliseconds, so that one for each part would be most of a round.
        Where parts are is asked now and then: whatever is elsewhere by then is brought.
        """
        if self._rounds % ROUNDS_OF_A_GROUPING == 1 or not self._groups:
            of_worker: dict[str, list[int]] = {}
            at = self._client.who_has(self._held)
            for i, held in enumerate(self._held):
                of_worker.setdefault(min(at.get(held.key, ()), default=""), []).append(i)
            threads = self._client.nthreads()
            groups = [
                parts[start :: threads.get(worker, 1)]
                for worker, parts in of_worker.items()
                for start in range(threads.get(worker, 1))
            ]
            self._groups = [group for group in groups if group]
        return self._groups

    def _key(self, what: str, i: int) -> str:
        return f"tamis-{what}-{self._token}-{self._rounds}-{i}"

    def _shared(self, value: object, key: str) -> Any:  # noqa: ANN401 - a future or the value
        """A value for all workers: with each task, or from one of them if it is large."""
        if size_of(value) <= EMBEDDED_BYTES:
            return value
        return self._client.submit(_same, value, key=key, pure=False)

    def _gathered(self, tasks: list[Any], what: str, progress: Progress) -> list[Any]:
        return self._all(self._client.compute(tasks, optimize_graph=False), what, progress)

    def _all(self, futures: list[Any], what: str, progress: Progress) -> list[Any]:
        """The results of one future a part, in order."""
        found = []
        for i, future in enumerate(futures):
            found.append(self._result(future, self._parts[i]))
            progress(what, i + 1, len(futures))
        return found

    def _result(self, future: Any, part: Part | None = None) -> Any:  # noqa: ANN401 - of a task
        """Wait for one future, as long as there is somebody to work on it."""
        while True:
            self._wait(future)
            try:
                # What is done may be lost again before it is here.
                return future.result(timeout=PATIENCE)
            except TimeoutError as error:
                if future.status == "error":
                    self._refuse(error, part)
            except Exception as error:
                self._refuse(error, part)

    def _wait(self, future: Any) -> None:  # noqa: ANN401 - of Dask
        done = Event()
        future.add_done_callback(lambda _: done.set())
        alone_since: float | None = None
        while not done.wait(TICK):
            alone_since = self._alone(alone_since)

    def _alone(self, since: float | None) -> float | None:
        """Since when no worker has been working; gives up after a while."""
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        if any(worker.get("status") == "running" for worker in workers):
            return None
        now = time.monotonic()
        if since is not None and now - since > PATIENCE:
            raise DataError(
                f"No worker has been at work for {PATIENCE:.0f} seconds: "
                f"{_why_idle(len(workers))}. Start workers with more memory, and learn again."
            )
        return since or now

    def _refuse(self, error: Exception, part: Part | None) -> NoReturn:
        """Say which part of the table it was, as far as that is known."""
        from distributed import KilledWorker

        if isinstance(error, TamisError):
            raise error
        part = part or self._lost_part()
        where = "a part of the table" if part is None else part.name
        if isinstance(error, KilledWorker):
            raise DataError(
                f"Workers died again and again while they worked on {where}; the last of them on "
                f"task {shown(str(error.task))}. Most often their memory is too small: give them "
                "more, or make the parts smaller."
            ) from error
        if part is not None:
            raise DataError(
                f"{where[0].upper()}{where[1:]} cannot be read: {type(error).__name__}: "
                f"{shown(str(error))}. Mend or remove it, and learn again."
            ) from error
        raise error

    def _lost_part(self) -> Part | None:
        """A part that was held and could not be read again."""
        for part, held in zip(self._parts, self._held, strict=False):
            if held.status == "error":
                return part
        return None


def _why_idle(n_workers: int) -> str:
    if n_workers:
        return f"{n_workers} are there, all of them paused, as when their memory is full"
    return "there is none"


def size_of(value: object) -> int:
    """The bytes that a value is on its way to a worker."""
    from distributed.protocol import serialize

    _, frames = serialize(value)
    return sum(len(memoryview(frame).cast("B")) for frame in frames)


def _same(value: Any) -> Any:  # noqa: ANN401 - whatever it is
    return value
