"""Run a plan: hand out tables, write down what comes back, go on where an earlier run ended."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tamis.baselines.processes import Worker, WorkerPool
from tamis.errors import FileFormatError, SettingError
from tamis.journal import Journal, read_journal
from tamis.studies.attempts import blank
from tamis.studies.methods import missing
from tamis.studies.plans import Plan
from tamis.studies.rows import FAILED, JOURNAL, SKIPPED, STUDY, TIMED_OUT, Row, understood, write
from tamis.studies.schedule import Schedule, Task

Progress = Callable[[str, int, int], None]
"""Called with a word about what was done, the number of runs on record and the number of all."""

SCRATCH = ".scratch"
JOB = "tamis.studies.attempts:attempts"
WAITING = 20.0
"""A run may take this many times its CPU seconds by the clock, should it sleep or wait."""


def run(
    plan: Plan,
    folder: str | os.PathLike[str],
    jobs: int | None = None,
    progress: Progress | None = None,
    command: str = "",
) -> tuple[Row, ...]:
    """Make every run of a plan that is not yet on record in ``folder``; returns all rows, sorted.

    The folder is made if need be; it gets a journal, whose first line is the plan and has a line
    for each finished run, and at the end ``results.csv``. ``jobs`` processes work at a time, one
    thread each; None is as many as there are cores. Whatever ends this process, the finished runs
    are kept, and the same call goes on from there. Only one process may run into a folder at a
    time, and only with the plan it was begun with. Rows depend on the number of processes in their
    ``seconds`` only. ``command`` is kept in the journal, to be shown in the report.
    """
    size = _checked_jobs(jobs)
    for name, needs in missing(plan.all_methods()).items():
        raise SettingError(f"the method {name!r} needs {needs}: install it, or leave {name} out")
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    _refuse_another(plan, place)
    with Journal(place / JOURNAL, STUDY, plan.to_dict(), command) as journal:
        rows = understood(journal.entries, str(place / JOURNAL))
        with WorkerPool(min(size, len(plan.draws)), place / SCRATCH) as pool:
            _Run(plan, journal, rows, pool, progress).make_all()
        write(rows, place)
    return tuple(sorted(rows, key=lambda row: row.place))


def read_plan(folder: str | os.PathLike[str]) -> tuple[Plan, str] | None:
    """The plan that a folder is filled by, and the command that made it; None if it has none."""
    path = Path(folder) / JOURNAL
    found = read_journal(path, STUDY)
    if found is None:
        return None
    try:
        return Plan(**found[0]["of"]), str(found[0].get("note", ""))
    except TypeError as error:
        raise FileFormatError(f"{str(path)!r} cannot be read as a study: {error}") from error


def _refuse_another(plan: Plan, folder: Path) -> None:
    found = read_plan(folder)
    if found is not None and found[0] != plan:
        there, here = found[0].to_dict(), plan.to_dict()
        differences = [
            f"its {name} is {there[name]}, asked for is {here[name]}" if name != "tables" else
            "its tables are others"
            for name in here if there[name] != here[name]
        ]  # fmt: skip
        raise SettingError(
            f"{str(folder)!r} holds another plan: {'; '.join(differences)}. Give the same options "
            "to go on with it, or use another folder."
        )


class _Run:
    """Talk to the workers from one thread, and write down at once what they report."""

    def __init__(
        self,
        plan: Plan,
        journal: Journal,
        rows: list[Row],
        pool: WorkerPool,
        progress: Progress | None,
    ) -> None:
        self._plan = plan
        self._journal = journal
        self._pool = pool
        self._progress = progress
        self._rows = rows
        self._schedule = Schedule(plan, rows)
        self._begun: dict[Worker, Row] = {}

    def make_all(self) -> None:
        self._show("going on" if self._rows else "starting")
        while True:
            self._hand_out()
            if not self._pool.busy:
                return
            heard = self._pool.listen()
            if heard is not None:
                worker, message = heard
                self._lose(worker) if message is None else self._answer(worker, message)
            for worker in self._pool.overdue():
                self._end(worker, TIMED_OUT, "")

    def _hand_out(self) -> None:
        limit = self._plan.time_limit
        while self._pool.has_room:
            task = self._schedule.next()
            if task is None:
                return
            for method, reason in task.skipped.items():
                self._record(blank(task.draw, method, limit, SKIPPED, reason))
            if not task.methods:
                self._schedule.finish(task.draw)
                continue
            arguments = {
                "draw": vars(task.draw),
                "methods": task.methods,
                "time_limit": limit,
                "networks": self._plan.networks,
            }
            clock = {"limit": WAITING * limit, "cpu_limit": limit} if limit else {}
            self._pool.idle_worker().hand(JOB, arguments, task, **clock)

    def _answer(self, worker: Worker, message: dict[str, Any]) -> None:
        if "begins" in message:
            self._begun[worker] = Row.from_dict(message["begins"])
        elif "row" in message:
            self._settle(worker, Row.from_dict(message["row"]))
        elif "done" in message:
            self._schedule.finish(worker.job.draw)
            worker.job = None

    def _lose(self, worker: Worker) -> None:
        """A worker has ended: by its limit of CPU time, or as a failure of the run it was at."""
        if worker.ran_out_of_cpu():
            self._end(worker, TIMED_OUT, "")
        else:
            self._end(worker, FAILED, worker.last_words())

    def _end(self, worker: Worker, status: str, reason: str) -> None:
        """End a run; the other methods go on in another process."""
        task: Task | None = worker.job
        begun = self._begun.get(worker)
        self._pool.dismiss(worker)
        if task is None:
            return
        limit = self._plan.time_limit
        if begun is None:
            # While the table was being drawn or libraries were imported, for the next method.
            begun = blank(task.draw, task.methods[0], limit, status)
        spent = limit if status == TIMED_OUT else None
        row = replace(begun, status=status, reason=reason, seconds=spent, cpu_seconds=spent)
        self._settle(worker, row)
        if task.methods:
            self._schedule.put_back(task.draw, task.methods)
        else:
            self._schedule.finish(task.draw)

    def _settle(self, worker: Worker, row: Row) -> None:
        self._begun.pop(worker, None)
        worker.job.methods.remove(row.method)
        self._record(row)

    def _record(self, row: Row) -> None:
        self._journal.add([vars(row)])
        self._rows.append(row)
        self._schedule.hear(row)
        self._show(f"{row.model} {row.graph} d {row.d}")

    def _show(self, what: str) -> None:
        if self._progress is not None:
            self._progress(what, len(self._rows), len(self._plan.runs))


def _checked_jobs(jobs: int | None) -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if jobs is None:
        return cores or 1
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs == 0:
        raise SettingError(f"jobs must be a number of processes, or None for all cores, not {jobs}")
    # As with n_jobs: -1 is all cores, -2 all but one.
    return jobs if jobs > 0 else max((cores or 1) + 1 + jobs, 1)
