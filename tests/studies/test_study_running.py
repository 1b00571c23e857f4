"""Running a plan: the same rows however it is run, and every ending on record."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from study_plans import ABSENT, BURNER, EMPTY, QUITTER, RAISER, STEADY, small_plan

import tamis
from tamis.studies import Row, read, run, running
from tamis.studies.attempts import attempts
from tamis.studies.rows import JOURNAL as NAME

SCRIPT = """
import sys, time
from study_plans import STEADY, small_plan
from tamis.studies import run

def wait_at_the_limit(what, done, of):
    if done >= {limit}:
        time.sleep(600)

plan = small_plan([STEADY, "equal-variance"], sizes=(4, 5), replications=6)
run(plan, sys.argv[1], jobs=2, progress=wait_at_the_limit)
"""
"""It does not go beyond so many rows, should whoever is to kill it be late."""


def without_time(rows):
    return [replace(row, seconds=None, cpu_seconds=None) for row in rows]


def without_versions(rows):
    return [replace(row, tamis="", numpy="", library="") for row in without_time(rows)]


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
    while not (folder / NAME).exists() or (folder / NAME).read_bytes().count(b"\n") <= number:
        assert process.poll() is None, process.communicate()[1].decode()
        time.sleep(0.01)


def test_two_processes_give_the_rows_of_one_sorted_and_with_all_there_is_to_know(tmp_path):
    plan = small_plan([EMPTY, "equal-variance"], sizes=(4, 5), replications=3)
    heard = []
    one = run(plan, tmp_path / "one", jobs=1)
    two = run(plan, tmp_path / "two", jobs=2, progress=lambda *step: heard.append(step))
    assert without_time(one) == without_time(two)
    assert sorted(row.key for row in two) == sorted(plan.runs)
    assert read(tmp_path / "two") == two
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
    with pytest.raises(tamis.SettingError, match="plan: its replications is 1, asked for is 2"):
        run(small_plan([EMPTY], replications=2), tmp_path)


def test_failures_of_a_method_and_of_its_process_are_recorded_and_harm_no_other(tmp_path):
    plan = small_plan([RAISER, QUITTER, EMPTY], replications=1)
    rows = {row.key.removeprefix("mod/tree/4/50/0/study_methods:"): row
            for row in run(plan, tmp_path, jobs=1) if row.model == "mod"}  # fmt: skip
    assert rows["Empty"].status == "ok"
    assert rows["Raiser"].status == "failed"
    assert rows["Raiser"].reason.startswith("ArithmeticError: two lines (study_methods.py")
    assert rows["Quitter"].status == "failed"
    assert rows["Quitter"].reason.startswith("the process ended with exit code 3; it last printed")
    assert rows["Quitter"].reason.endswith("goodbye")
    assert rows["Quitter"].shd is None


def test_cpu_time_is_limited_and_a_method_that_keeps_timing_out_is_given_up(tmp_path):
    plan = small_plan([BURNER, EMPTY], models=["mod"], sizes=(4, 5, 6), replications=2,
                      time_limit=0.5, patience=1)  # fmt: skip
    rows = run(plan, tmp_path, jobs=1)
    burner = {(row.d, row.replication): row for row in rows if row.method == BURNER}
    assert [row.status for row in rows if row.method == EMPTY] == ["ok"] * 6
    assert {place: row.status for place, row in burner.items()} == {
        (4, 0): "ok", (4, 1): "ok",
        (5, 0): "timed out", (5, 1): "skipped",
        (6, 0): "skipped", (6, 1): "skipped",
    }  # fmt: skip
    assert burner[5, 0].cpu_seconds == 0.5
    assert burner[5, 0].edges_true == 4
    assert burner[6, 1].reason == f"{BURNER} timed out on the first replication with d 5, n 50"


def test_a_run_that_waits_and_uses_no_cpu_is_ended_by_the_clock(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "WAITING", 1.0)
    plan = small_plan(["study_methods:Sleeper"], models=["mod"], replications=1, time_limit=0.3)
    (row,) = run(plan, tmp_path, jobs=1)
    assert (row.status, row.cpu_seconds) == ("timed out", 0.3)


def test_a_table_that_cannot_be_drawn_is_a_failure_of_every_run_on_it(tmp_path):
    plan = small_plan([EMPTY, "equal-variance"], replications=1)
    bad = {"model": "mod", "graph": "tree", "options": {"p": 7.0}}
    plan = replace(plan, tables=(bad, {"model": "add", "graph": "tree"}))
    rows = run(plan, tmp_path, jobs=1)
    failed = [row for row in rows if row.status == "failed"]
    assert [row.model for row in failed] == ["mod", "mod"]
    assert failed[0].reason.startswith("the table could not be drawn: SettingError: p must be")


def test_killed_again_and_again_a_run_loses_and_doubles_nothing(tmp_path):
    folder, chance = tmp_path / "killed", random.Random(5)
    for round_ in range(2):
        before = len(read(folder)) if folder.exists() else 0
        process = start(folder, SCRIPT.format(limit=before + 20))
        wait_for_rows(process, folder, before + chance.randint(1, 9))
        time.sleep(0.03 * chance.random())
        if round_ == 0:
            with pytest.raises(tamis.SettingError, match="in use by another process"):
                run(interrupted_plan(), folder)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        kept = [row.key for row in read(folder)]
        assert len(kept) == len(set(kept)) > before
    assert len(kept) < len(interrupted_plan().runs)
    rows = run(interrupted_plan(), folder, jobs=1)
    assert sorted(row.key for row in rows) == sorted(interrupted_plan().runs)
    here = [
        Row(**message["row"])
        for runs in interrupted_plan().draws
        for message in attempts([vars(run) for run in runs], None)
        if "row" in message
    ]
    assert without_versions(rows) == without_versions(sorted(here, key=lambda row: row.place))


def test_ctrl_c_keeps_what_is_finished_and_says_how_to_go_on(tmp_path):
    folder = tmp_path / "a study"
    process = start(
        folder,
        "import signal, sys\n"
        # Which the shell has ignored by what it starts in the background.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from tamis.cli.exit_codes import exit_cleanly\n"
        "from tamis.cli.experimenting import run_study\n"
        "options = {'full': True, 'methods': 'study_methods:Tiring', 'nodes': '4'}\n"
        "with exit_cleanly():\n"
        "    run_study('paper', out=sys.argv[1], jobs=2, quiet=False, **options)\n",
    )
    try:
        wait_for_rows(process, folder, 3)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=300)[1].decode()
    finally:
        process.kill()
    assert process.returncode == 130
    assert f"of 960 runs are kept in {folder}. To go on" in " ".join(said.split())
    assert " ".join(said.split()).endswith(f"tamis experiment resume '{folder}' Interrupted.")
    assert len(read(folder)) >= 3
    assert not (folder / ".scratch").exists()


def test_what_cannot_run_is_refused_before_anything_is_made(tmp_path):
    with pytest.raises(tamis.SettingError, match="Absent' needs no_such_library, which is not"):
        run(small_plan([ABSENT]), tmp_path / "none")
    with pytest.raises(tamis.SettingError, match="no method 'nonsense'; there are auto, seq"):
        run(small_plan(["nonsense"]), tmp_path / "none")
    with pytest.raises(tamis.SettingError, match="cannot be imported"):
        run(small_plan(["study_methods:Nobody"]), tmp_path / "none")
    with pytest.raises(tamis.SettingError, match="jobs must be None or a whole number"):
        run(small_plan([EMPTY]), tmp_path / "none", jobs=0)
    assert not (tmp_path / "none").exists()


def test_a_worker_that_cannot_start_ends_the_run_with_its_last_words(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(tamis.TamisError, match="a worker could not be started: the process ended"):
        run(small_plan([EMPTY]), tmp_path, jobs=1)
