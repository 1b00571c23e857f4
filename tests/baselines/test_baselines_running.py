"""Runs: what they report, and time limits, crashes and libraries that are missing."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

import networkx as nx
import numpy as np
import pytest
from baseline_samples import CHAIN, additive
from odd_baselines import Odd, Quitter, Raiser, Sleeper

import tamis
from tamis.baselines import available, run
from tamis.baselines.processes import Worker, WorkerPool
from tamis.baselines.running import write_request
from tamis.metrics import shd
from tamis.tables import read_table

DATA = {"a": ["x", "y", "x", "y"], "b": [True, False, True, True]}
TOLD = "('a', 'b') (('x', 'y'), (False, True))"


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """A folder for temporary files that should be empty again at the end."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def is_running(process_id):
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_run_tells_what_ran_and_how_long():
    start = time.perf_counter()
    found = run(Odd(), DATA)
    end = time.perf_counter()
    assert (found.name, found.timed_out, found.failure) == ("odd", False, None)
    assert found.versions == {"numpy": np.__version__, "no-such-package": "unknown"}
    assert 0 <= found.seconds <= end - start
    assert list(found.graph) == ["a", "b"]


def test_what_a_method_raises_is_reported_with_its_place():
    found = run(Raiser(), DATA, seed=5)
    assert found.graph is None
    assert not found.timed_out
    assert found.failure.startswith(
        "ArithmeticError: ('a', 'b') (('x', 'y'), (False, True)) seed 5"
    )
    assert "(odd_baselines.py, line " in found.failure
    with pytest.raises(tamis.SettingError, match="found none: it failed or ran out of time"):
        shd(found, nx.DiGraph([("a", "b")]))


def test_a_child_gets_the_same_table_and_one_thread(temporary):
    found = run(Raiser(), DATA, seed=5, time_limit=60)
    assert found.failure.startswith(
        "ArithmeticError: ('a', 'b') (('x', 'y'), (False, True)) seed 5"
    )
    assert "threads 1 (odd_baselines.py, line " in found.failure
    assert list(temporary.iterdir()) == []


def test_with_and_without_a_limit_the_result_is_the_same(temporary):
    tree = nx.DiGraph([("ü ,", "v"), ("v", "w")])
    data = additive(tree, 500, seed=1)
    here, there = run("equal-variance", data), run("equal-variance", data, time_limit=60)
    assert list(here.graph.edges) == list(there.graph.edges) == list(tree.edges)
    assert there.failure is None
    assert list(temporary.iterdir()) == []


@pytest.mark.skipif(not available()["miic"], reason="pyagrum is not installed")
def test_a_library_runs_in_a_child(temporary):
    data = CHAIN.sample(500, seed=1)
    assert set(run("miic", data, time_limit=60).graph.edges) == set(run("miic", data).graph.edges)
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("stubborn", [False, True])
def test_a_slow_method_is_ended_at_the_limit_and_leaves_nothing(
    stubborn, tmp_path, temporary, monkeypatch
):
    diary = tmp_path / "diary"
    hear = Worker.hear

    def when_asleep(self, message):
        # It cannot be ended before the method has begun.
        while "begins" in message and not (diary.exists() and diary.read_text().endswith("\n")):
            time.sleep(0.01)
        hear(self, message)

    monkeypatch.setattr(Worker, "hear", when_asleep)
    found = run(Sleeper(diary=str(diary), stubborn=stubborn), DATA, time_limit=0.2)
    assert found.timed_out
    assert found.graph is None
    assert found.failure is None
    assert found.seconds > 0.19
    process_id, *more = diary.read_text().splitlines()
    assert not more
    assert not is_running(int(process_id))
    assert list(temporary.iterdir()) == []


def test_an_interrupted_caller_leaves_no_process(monkeypatch, temporary):
    seen = []

    def interrupted(self):
        seen.append(self._workers[0]._process)
        raise KeyboardInterrupt

    monkeypatch.setattr(WorkerPool, "listen", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(Odd(), DATA, time_limit=60)
    assert seen[0].returncode is not None
    assert list(temporary.iterdir()) == []


def test_a_worker_ends_when_its_parent_is_gone(tmp_path):
    diary = tmp_path / "diary"
    write_request(tmp_path, Sleeper(diary=str(diary)), read_table(DATA), None)
    with WorkerPool(1, tmp_path / "worker") as pool:
        worker = pool.idle_worker()
        worker.hand("tamis.baselines.running:asked_for", {"folder": str(tmp_path)}, "asleep")
        while not diary.exists():
            assert worker._process.poll() is None
            time.sleep(0.05)
        worker._stdin.close()
        assert worker._process.wait(120) == 1


@pytest.mark.parametrize(
    ("by_signal", "how"), [(False, "with exit code 3"), (True, "by signal SIGKILL")]
)
def test_a_process_that_dies_is_a_failure_with_its_last_words(by_signal, how):
    found = run(Quitter(by_signal=by_signal), DATA, time_limit=60)
    assert found.graph is None
    assert not found.timed_out
    assert how in found.failure
    assert "it last printed: goodbye" in found.failure


def test_a_script_needs_no_guard(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import tamis.baselines\n"
        "data = {'a': [0, 1] * 20, 'b': [0, 0, 1, 1] * 10}\n"
        "print('begins')\n"
        "found = tamis.baselines.run('equal-variance', data, time_limit=60)\n"
        "print(found.failure, found.graph.number_of_edges())\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["begins", "None", "0"]


def test_a_class_that_a_child_cannot_import_is_refused():
    class Local(Odd):
        pass

    with pytest.raises(tamis.SettingError, match="or run it without a limit"):
        run(Local(), DATA, time_limit=1)
    assert run(Local(), DATA).failure is None


def test_all_baselines_are_listed():
    assert list(available()) == [
        "pc", "pc-g2", "ges", "ges-bic", "hill-climbing", "tabu", "miic", "boss",
        "equal-variance", "flop", "pc-fisher-z", "ges-gaussian",
    ]  # fmt: skip
    assert available()["equal-variance"]
    assert available()["ges"]


@pytest.mark.parametrize("time_limit", [None, 60])
@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("pc", "causallearn"),
        ("miic", "pyagrum"),
        ("boss", "causallearn"),
        ("flop", "flopsearch"),
    ],
)
def test_a_missing_library_raises_an_error_that_names_the_extra(
    name, library, time_limit, monkeypatch
):
    monkeypatch.setitem(sys.modules, library, None)
    assert not available()[name]
    with pytest.raises(tamis.SettingError) as caught:
        run(name, DATA, time_limit=time_limit)
    assert str(caught.value) == (
        f"the baseline {name!r} needs {library}, which is not installed: "
        "pip install 'tamis[baselines]'"
    )


@pytest.mark.skipif(not available()["pc"], reason="causal-learn is not installed")
def test_a_library_that_cannot_be_imported_says_why(monkeypatch):
    monkeypatch.setitem(sys.modules, "causallearn.search.ConstraintBased.PC", None)
    with pytest.raises(tamis.SettingError, match=r"cannot be imported \(import of .* halted"):
        run("pc", DATA)


def test_settings_without_meaning_are_refused():
    with pytest.raises(tamis.SettingError, match="no baseline 'PC'; there are pc, pc-g2, ges"):
        run("PC", DATA)
    for limit in (0, -1, float("nan"), float("inf"), True, "60"):
        with pytest.raises(tamis.SettingError, match="time_limit must be a number of seconds"):
            run("equal-variance", DATA, time_limit=limit)
    for seed in (-1, 1.5, True, "1"):
        with pytest.raises(tamis.SettingError, match="seed must be a whole number"):
            run("equal-variance", DATA, seed=seed)
    with pytest.raises(tamis.DataError, match="at least 2 columns"):
        run("equal-variance", {"a": [0, 1]})
