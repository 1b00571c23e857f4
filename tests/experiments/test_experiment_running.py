"""Running a plan: the same rows however it is run, and every ending on record."""

from __future__ import annotations

import math
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from experiment_plans import ABSENT, EMPTY, QUITTER, RAISER, SLEEPER, STEADY, small_plan

import tamis
from tamis.experiments import results, run
from tamis.experiments.attempts import attempts
from tamis.experiments.journal import NAME, read_journal
from tamis.experiments.worker_pool import Worker

SCRIPT = """
import sys, time
from experiment_plans import STEADY, small_plan
from tamis.experiments import run

def wait_at_the_limit(what, done, of):
    if done >= {limit}:
        time.sleep(600)

plan = small_plan([STEADY, "equal-variance"], sizes=(4, 5), replications=6)
run(plan, sys.argv[1], jobs=2, progress=wait_at_the_limit)
"""
"""It does not go beyond so many rows, should whoever is to kill it be late."""


def without_time(rows):
    return [replace(row, seconds=None) for row in rows]


def interrupted_plan():
    return small_plan([STEADY, "equal-variance"], sizes=(4, 5), replications=6)


def start(folder, script):
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    return subprocess.Popen(
        [sys.executable, "-c", script, str(folder)],
        env={**os.environ, "PYTHONPATH": path},
        stderr=subprocess.PIPE,
    )


def wait_for_rows(process, folder, number):
    """Until so many rows are on record."""
    while not (folder / NAME).exists() or (folder / NAME).read_bytes().count(b"\n") < number:
        assert process.poll() is None, process.communicate()[1].decode()
        time.sleep(0.01)


def test_two_processes_give_the_rows_of_one_sorted_and_with_all_there_is_to_know(tmp_path):
    plan = small_plan([EMPTY, "equal-variance"], sizes=(4, 5), replications=3)
    heard = []
    one = run(plan, tmp_path / "one", jobs=1)
    two = run(plan, tmp_path / "two", jobs=2, progress=lambda *step: heard.append(step))
    assert without_time(one) == without_time(two)
    assert [row.key for row in two] == [cell.key for cell in plan.cells]
    assert results.read(tmp_path / "two") == two
    assert heard[0] == ("starting", 0, 24)
    assert [done for _, done, _ in heard[1:]] == list(range(1, 25))
    first = two[0]
    assert (first.model, first.method, first.status) == ("add", "equal-variance", "ok")
    assert first.edges_true == 3
    assert (first.tamis, first.time_limit) == (tamis.__version__, 30.0)
    empty = next(row for row in two if row.method == EMPTY)
    assert (empty.shd, empty.skeleton_f1, empty.edges_learned) == (3, 0.0, 0)
    assert empty.library == "no-such-package unknown"
    assert not (tmp_path / "two" / ".scratch").exists()


def test_a_finished_folder_is_not_run_again_and_another_plan_is_refused(tmp_path):
    plan = small_plan([EMPTY], replications=1)
    rows = run(plan, tmp_path, jobs=1)
    assert run(plan, tmp_path, jobs=1) == rows
    with pytest.raises(tamis.SettingError, match="holds another plan"):
        run(small_plan([EMPTY], replications=2), tmp_path)
    (tmp_path / "plan.json").unlink()
    with pytest.raises(tamis.SettingError, match=r"mod/tree/4/50/0/.* is not of this plan"):
        run(replace(plan, draws=plan.draws[1:]), tmp_path)


def test_failures_of_a_method_and_of_its_process_are_recorded_and_harm_no_other(tmp_path):
    plan = small_plan([RAISER, QUITTER, EMPTY], replications=1)
    rows = {row.key.removeprefix("mod/tree/4/50/0/experiment_methods:"): row
            for row in run(plan, tmp_path, jobs=1) if row.model == "mod"}  # fmt: skip
    assert rows["Empty"].status == "ok"
    assert rows["Raiser"].status == "failed"
    assert rows["Raiser"].reason.startswith("ArithmeticError: two lines (experiment_methods.py")
    assert rows["Quitter"].status == "failed"
    assert rows["Quitter"].reason.startswith("the process ended with exit code 3; it last printed")
    assert rows["Quitter"].reason.endswith("goodbye")
    assert rows["Quitter"].shd is None


def test_time_is_limited_and_a_method_that_keeps_timing_out_is_given_up(tmp_path, monkeypatch):
    begin = Worker.begin

    def begin_without_haste(self, row):
        begin(self, row)
        if (row.method, row.d) != (SLEEPER, 5):
            assert self.deadline < math.inf
            self.deadline = math.inf

    # What ends by itself has all the time it needs, also where processes wait for each other.
    monkeypatch.setattr(Worker, "begin", begin_without_haste)
    plan = small_plan([SLEEPER, EMPTY], sizes=(4, 5, 6), time_limit=0.4, patience=1, replications=2)
    draws = tuple(d for d in plan.draws if d.model == "mod")
    rows = run(replace(plan, draws=draws), tmp_path, jobs=1)
    sleeper = {(row.d, row.replication): row for row in rows if row.method == SLEEPER}
    assert [row.status for row in rows if row.method == EMPTY] == ["ok"] * 6
    assert {place: row.status for place, row in sleeper.items()} == {
        (4, 0): "ok", (4, 1): "ok",
        (5, 0): "timed out", (5, 1): "skipped",
        (6, 0): "skipped", (6, 1): "skipped",
    }  # fmt: skip
    assert sleeper[5, 0].seconds == 0.4
    assert sleeper[5, 0].edges_true == 4
    assert sleeper[6, 1].reason == f"{SLEEPER} timed out on the first replication with d 5"


def test_a_table_that_cannot_be_drawn_is_a_failure_of_every_run_on_it(tmp_path):
    plan = small_plan([EMPTY, "equal-variance"], replications=1)
    bad = replace(plan.draws[0], options=(("p", 7.0),))
    rows = run(replace(plan, draws=(bad, plan.draws[1])), tmp_path, jobs=1)
    failed = [row for row in rows if row.status == "failed"]
    assert [row.model for row in failed] == ["mod", "mod"]
    assert failed[0].reason.startswith("the table could not be drawn: SettingError: p must be")


def test_killed_again_and_again_a_run_loses_and_doubles_nothing(tmp_path):
    folder, chance = tmp_path / "killed", random.Random(5)
    for round_ in range(2):
        before = len(read_journal(folder) or ()) if folder.exists() else 0
        process = start(folder, SCRIPT.format(limit=before + 20))
        wait_for_rows(process, folder, before + chance.randint(1, 9))
        time.sleep(0.03 * chance.random())
        if round_ == 0:
            with pytest.raises(tamis.SettingError, match=f"in use by process {process.pid}"):
                run(interrupted_plan(), folder)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        kept = [row.key for row in read_journal(folder)]
        assert len(kept) == len(set(kept)) > before
    assert len(kept) < len(interrupted_plan().cells)
    rows = run(interrupted_plan(), folder, jobs=1)
    assert [row.key for row in rows] == [cell.key for cell in interrupted_plan().cells]
    here = [
        report.row
        for cell in interrupted_plan().cells
        for report in attempts(cell.draw, [cell.method], 30.0)
        if not report.begins
    ]
    assert without_time(rows) == without_time(here)


def test_ctrl_c_keeps_what_is_finished_and_says_how_to_go_on(tmp_path):
    folder = tmp_path / "a study"
    process = start(
        folder,
        "import signal, sys\n"
        # Which the shell has ignored by what it starts in the background.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from tamis.terminal.exit_codes import exit_cleanly\n"
        "from tamis.terminal.experimenting import ExperimentWishes, run_study\n"
        "options = {'full': True, 'methods': 'experiment_methods:Tiring', 'nodes': '4'}\n"
        "with exit_cleanly():\n"
        "    run_study(ExperimentWishes('paper', options, sys.argv[1], 2, False))\n",
    )
    try:
        wait_for_rows(process, folder, 3)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=300)[1].decode()
    finally:
        process.kill()
    assert process.returncode == 130
    assert f"of 720 runs are kept in {folder}. To go on" in " ".join(said.split())
    assert " ".join(said.split()).endswith(f"tamis experiment resume '{folder}' Interrupted.")
    assert len(read_journal(folder)) >= 3
    assert not (folder / ".scratch").exists()


def test_what_cannot_run_is_refused_before_anything_is_made(tmp_path):
    with pytest.raises(tamis.SettingError, match="Absent' needs no_such_library: install it"):
        run(small_plan([ABSENT]), tmp_path / "none")
    with pytest.raises(tamis.SettingError, match="no method 'nonsense'; there are auto, seq"):
        run(small_plan(["nonsense"]), tmp_path / "none")
    with pytest.raises(tamis.SettingError, match="cannot be imported"):
        run(small_plan(["experiment_methods:Nobody"]), tmp_path / "none")
    with pytest.raises(tamis.SettingError, match="jobs must be a number of processes"):
        run(small_plan([EMPTY]), tmp_path / "none", jobs=0)
    assert not (tmp_path / "none").exists()


def test_a_worker_that_cannot_start_ends_the_run_with_its_last_words(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(tamis.TamisError, match="a worker could not be started: the process ended"):
        run(small_plan([EMPTY]), tmp_path, jobs=1)
