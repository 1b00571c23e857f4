"""Run a plan: hand out tables, write down what comes back, go on where an earlier run ended."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tamis.errors import SettingError
from tamis.experiments import results
from tamis.experiments.attempts import blank
from tamis.experiments.cells import Cell
from tamis.experiments.journal import Journal
from tamis.experiments.lock import locked
from tamis.experiments.methods import missing
from tamis.experiments.plan_files import settle
from tamis.experiments.plans import Plan
from tamis.experiments.rows import FAILED, SKIPPED, TIMED_OUT, Row
from tamis.experiments.schedule import Schedule, Task
from tamis.experiments.worker_pool import Message, Worker, WorkerPool

Progress = Callable[[str, int, int], None]
"""Called with a word about what was done, the number of runs on record and the number of all."""

SCRATCH = ".scratch"


def run(
    plan: Plan,
    folder: str | os.PathLike[str],
    jobs: int | None = None,
    progress: Progress | None = None,
) -> tuple[Row, ...]:
    """Make every run of a plan that is not yet on record in ``folder``; returns all rows, sorted.

    The folder is made if need be; it gets the plan, a journal with one line a finished run,
    and at the end ``results.csv``. ``jobs`` processes work at a time, one thread each; None is as
    many as there are cores. Whatever ends this process, the finished runs are kept, and the same
    call goes on from there. Only one process may run into a folder at a time, and only with the
    plan it was begun with. Rows depend on the number of processes in their ``seconds`` only.
    """
    size = _checked_jobs(jobs)
    _refuse_missing(plan)
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    with locked(place):
        settle(plan, place)
        with Journal(place) as journal:
            _refuse_strangers(plan, journal.rows, place)
            pool = WorkerPool(min(size, len(plan.draws)), place / SCRATCH)
            try:
                rows = _Run(plan, journal, pool, progress).rows_of_all()
            finally:
                pool.close()
        results.write(rows, place)
    return tuple(sorted(rows, key=lambda row: row.place))


class _Run:
    """Talk to the workers from one thread, and write down at once what they report."""

    def __init__(
        self, plan: Plan, journal: Journal, pool: WorkerPool, progress: Progress | None
    ) -> None:
        self._plan = plan
        self._journal = journal
        self._pool = pool
        self._progress = progress
        self._rows = list(journal.rows)
        self._schedule = Schedule(plan, self._rows)

    def rows_of_all(self) -> list[Row]:
        self._show("going on" if self._rows else "starting")
        while True:
            self._hand_out()
            if not any(self._pool.busy):
                return self._rows
            self._listen()
            for worker in self._pool.overdue():
                self._time_out(worker)

    def _hand_out(self) -> None:
        while self._pool.has_room:
            task = self._schedule.next()
            if task is None:
                return
            for method, reason in task.skipped.items():
                cell = Cell(task.draw, method)
                self._record(blank(cell, self._plan.time_limit, SKIPPED, f"{method} {reason}"))
            if task.methods:
                self._pool.idle_worker().hand(task, self._plan.time_limit)
            else:
                self._schedule.finish(task.draw)

    def _listen(self) -> None:
        heard = self._pool.listen()
        if heard is None:
            return
        worker, message = heard
        if message is None:
            self._lose(worker)
        else:
            self._answer(worker, message)

    def _answer(self, worker: Worker, message: Message) -> None:
        match message["what"]:
            case "ready":
                worker.is_ready = True
            case "begins":
                worker.begin(Row.from_dict(message["row"]))
            case "row":
                worker.rest()
                self._settle(worker, Row.from_dict(message["row"]))
            case "done":
                self._free(worker)

    def _time_out(self, worker: Worker) -> None:
        """End a run whose time is over; the other methods go on in another process."""
        begun = worker.begun
        self._pool.dismiss(worker)
        if begun is not None:
            self._settle(worker, replace(begun, status=TIMED_OUT, seconds=begun.time_limit))
        self._hand_back(worker)

    def _lose(self, worker: Worker) -> None:
        """A worker has ended by itself: that is the failure of the run it was at."""
        self._pool.refuse_early_end(worker)
        reason = worker.last_words()
        task, begun = worker.task, worker.begun
        self._pool.dismiss(worker)
        if task is None:
            return
        if begun is None:
            # While the table was being drawn or libraries were imported, for the next method.
            begun = blank(Cell(task.draw, task.methods[0]), self._plan.time_limit, FAILED)
        self._settle(worker, replace(begun, status=FAILED, reason=reason))
        self._hand_back(worker)

    def _settle(self, worker: Worker, row: Row) -> None:
        if worker.task is not None:
            worker.task.methods.remove(row.method)
        self._record(row)

    def _free(self, worker: Worker) -> None:
        if worker.task is not None:
            self._schedule.finish(worker.task.draw)
        worker.task = None

    def _hand_back(self, worker: Worker) -> None:
        """What a worker has not come to."""
        task: Task | None = worker.task
        if task is not None and task.methods:
            self._schedule.put_back(task.draw, task.methods)
            worker.task = None
        else:
            self._free(worker)

    def _record(self, row: Row) -> None:
        self._journal.append(row)
        self._rows.append(row)
        self._schedule.hear(row)
        self._show(f"{row.model} {row.graph} d {row.d}")

    def _show(self, what: str) -> None:
        if self._progress is not None:
            self._progress(what, len(self._rows), len(self._plan.cells))


def _checked_jobs(jobs: int | None) -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if jobs is None:
        return cores or 1
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs == 0:
        raise SettingError(f"jobs must be a number of processes, or None for all cores, not {jobs}")
    # As with n_jobs: -1 is all cores, -2 all but one.
    return jobs if jobs > 0 else max((cores or 1) + 1 + jobs, 1)


def _refuse_missing(plan: Plan) -> None:
    for name, needs in missing(plan.methods).items():
        raise SettingError(f"the method {name!r} needs {needs}: install it, or leave {name} out")


def _refuse_strangers(plan: Plan, rows: list[Row], folder: Path) -> None:
    """Rows that the plan does not ask for cannot come from it."""
    seeds = {cell.key: cell.draw.seed for cell in plan.cells}
    for row in rows:
        if seeds.get(row.key) != row.seed:
            raise SettingError(
                f"{str(folder)!r} holds the run {row.key}, which is not of this plan: use another "
                "folder"
            )
