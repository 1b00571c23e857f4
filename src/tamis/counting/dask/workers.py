"""The workers and what each part of the table has become on them.

A round is one question to all parts: every part is counted where it is held, and the sums are
added in a tree on the workers. Nothing is scattered: what a worker holds is the outcome of tasks
that begin with reading a file, so that the scheduler can have it done again when a worker is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from itertools import count as numbers_from
from secrets import token_hex
from typing import Any

from tamis.counting.dask.waiting import Tick, connection, lost_connection, result_of, unknown_there
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
from tamis.counting.packing import nobody
from tamis.counting.passes import Pass, Sums
from tamis.counting.stored_blocks import Layout
from tamis.errors import SettingError
from tamis.tables.first_pass import Progress, Seen
from tamis.tables.growing import GrowingColumn
from tamis.tables.moments import Moments
from tamis.tables.table import Label

FAN_IN = 8
"""How many sums one task adds."""
EMBEDDED_BYTES = 2**16
"""A question larger than this goes to one worker, and from there to the others."""
WORKER_BYTES = 2**29
"""What each thread of a worker may take for rows while it counts, beside the tables."""
ROUNDS_OF_A_GROUPING = 32
"""How often it is asked which worker holds which part, if no worker comes or goes."""


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
        total = self._tree(prints, joined)
        found = self._result(total, self._held, self._heard(prints, "packing", progress))
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
        super().__init__(names, levels, layout, Counted("dask", workers.n_parts), notes)
        self.workers = workers

    @property
    def where(self) -> str:
        """Where the rows are, in words."""
        return f"the {self.workers.n_parts} parts on the cluster"

    def threads(self, n_jobs: int | None) -> int:
        """None but the one that asks."""
        return 1

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
