"""Run a plan: hand out tables, write down what comes back, go on where an earlier run ended."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from tamis.atomic import Journal, read_journal
from tamis.baselines.processes import Message, Worker, WorkerPool
from tamis.baselines.running import needed_by, version_of
from tamis.counting.sharing import usable_jobs
from tamis.errors import FileFormatError, SettingError
from tamis.studies.attempts import find_method, library_of
from tamis.studies.plans import Plan, first_replications
from tamis.studies.rows import FAILED, JOURNAL, SKIPPED, STUDY, TIMED_OUT, Row, from_journal, write

Cell = tuple[str, str, int, int]
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
    size = min(usable_jobs(jobs, "jobs"), len(plan.draws))
    for name, needs in missing(plan).items():
        raise SettingError(f"the method {name!r} {needs}, or leave {name} out")
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    _refuse_another(plan, place)
    with Journal(place / JOURNAL, STUDY, plan.to_dict(), command) as journal:
        rows = from_journal(journal.entries, str(place / JOURNAL))
        with WorkerPool(size, place / SCRATCH) as pool:
            _Run(plan, journal, rows, pool, progress).make_all()
        write(rows, place)
    return tuple(sorted(rows, key=lambda row: row.place))


def missing(plan: Plan) -> dict[str, str]:
    """The methods of a plan that cannot run here, each with what it needs."""
    needs = {name: needed_by(find_method(name)) for name in plan.all_methods()}
    return {name: words for name, words in needs.items() if words is not None}


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


class Schedule:
    """The runs of a plan that are still to be made.

    The first ``patience`` replications come first, small tables before large, because they decide
    what is given up; the other replications follow one by one, so that a study stopped half-way has
    all of its cells, with fewer replications. A table waits until what decides about it is known:
    the rows do not depend on how many processes there are.
    """

    def __init__(self, plan: Plan, rows: Iterable[Row]) -> None:
        self._patience = plan.patience
        self._timed_out = Counter[tuple[Cell, str]]()
        self._undecided = Counter[Cell]()
        """Runs to be made before it is known what is given up."""
        self._deciding = Counter[Cell]()
        """Replications that decide."""
        self._groups = defaultdict[tuple[str, str], list[Cell]](list)
        for first, *more in plan.draws:
            if self._decides(first):
                self._undecided[first.cell] += 1 + len(more)
                self._deciding[first.cell] += 1
        for cell in sorted(self._deciding):
            self._groups[cell[:2]].append(cell)
        done = set[str]()
        for row in rows:
            done.add(row.key)
            self.hear(row)
        left = ([run for run in runs if run.key not in done] for runs in plan.draws)
        self._waiting = sorted(filter(None, left), key=self._turn)

    def next(self) -> list[Row]:
        """The runs on a table that can be begun now, some of them marked as skipped; none if there
        is no such table."""
        for place, runs in enumerate(self._waiting):
            if not any(self._undecided[cell] for cell in self._deciders(runs[0])):
                return [self._judged(run) for run in self._waiting.pop(place)]
        return []

    def hear(self, row: Row) -> None:
        """A run has been made."""
        if self._decides(row):
            self._undecided[row.cell] -= 1
            self._timed_out[row.cell, row.method] += row.status == TIMED_OUT

    def put_back(self, runs: list[Row]) -> None:
        """Some runs on a table have not been made after all; they come first."""
        self._waiting.insert(0, runs)

    def _decides(self, run: Row) -> bool:
        return run.replication < self._patience

    def _turn(self, runs: Sequence[Row]) -> tuple[int, int, int]:
        run = runs[0]
        return 0 if self._decides(run) else run.replication, run.d * run.n, run.replication

    def _deciders(self, run: Row) -> list[Cell]:
        """The cells whose time-outs can lead to runs on this table being skipped."""
        return [
            cell
            for cell in self._groups[run.cell[:2]]
            if cell[2] <= run.d
            and cell[3] <= run.n
            and not (self._decides(run) and cell == run.cell)
        ]

    def _judged(self, run: Row) -> Row:
        """The run, or the row that says why it is not made."""
        for cell in self._deciders(run):
            count = self._deciding[cell]
            if self._timed_out[cell, run.method] == count:
                why = (
                    f"{run.method} timed out on {first_replications(count)} with d {cell[2]}, "
                    f"n {cell[3]}"
                )
                return replace(run, status=SKIPPED, reason=why)
        return run


class _Run:
    """Talk to the workers from one thread, and write down at once what they report.

    The job of a worker is the list of runs that it has still to make, in their order.
    """

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

    def make_all(self) -> None:
        self._show("going on" if self._rows else "starting")
        self._hand_out()
        while self._pool.busy:
            self._hear(*self._pool.listen())
            self._hand_out()

    def _hand_out(self) -> None:
        limit = self._plan.time_limit
        clock = {"limit": WAITING * limit, "cpu_limit": limit} if limit else {}
        while self._pool.busy < self._pool.size and (runs := self._schedule.next()):
            left = [run for run in runs if not run.status]
            for run in runs:
                if run.status:
                    self._record(run)
            if left:
                asked = {"runs": [vars(run) for run in left], "networks": self._plan.networks}
                self._pool.idle_worker().hand(JOB, asked, left, **clock)

    def _hear(self, worker: Worker, message: Message) -> None:
        left: list[Row] = worker.job or []
        if "begins" in message:
            left[0] = Row(**message["begins"])
        elif "row" in message:
            del left[0]
            self._record(Row(**message["row"]))
        elif "ended" in message and left:
            # If none has begun, it was at what comes before the next.
            self._record(self._unfinished(left.pop(0), message["ended"]))
            if left:
                self._schedule.put_back(left)

    def _unfinished(self, run: Row, words: str | None) -> Row:
        if words is not None:
            return replace(run, status=FAILED, reason=words)
        spent = self._plan.time_limit
        return replace(run, status=TIMED_OUT, seconds=spent, cpu_seconds=spent)

    def _record(self, row: Row) -> None:
        row = replace(
            row,
            tamis=version_of("tamis"),
            numpy=version_of("numpy"),
            library=library_of(row.method),
        )
        self._journal.add([vars(row)])
        self._rows.append(row)
        self._schedule.hear(row)
        self._show(f"{row.model} {row.graph} d {row.d}")

    def _show(self, what: str) -> None:
        if self._progress is not None:
            self._progress(what, len(self._rows), len(self._plan.runs))
