"""The fuzzer itself: every kind of case runs, each the same each time, and failures are told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BROKEN = """
import sys
from fuzz import __main__, cases

def fail(case):
    case.tries("something")
    {how}

for kind in cases.KINDS:
    cases.KINDS[kind] = (1, fail)
sys.argv = ["fuzz", "--cases", "2"]
sys.exit(__main__.main())
"""


def ran(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, encoding="utf-8"
    )


@pytest.mark.slow
def test_every_kind_of_case_runs_and_every_parameter_is_tried():
    done = ran("-m", "fuzz", "--cases", "107")
    assert done.returncode == 0, done.stdout
    kinds = [line.split()[0] for line in done.stdout.splitlines()[1:-1]]
    assert len(kinds) == 14
    assert "107 cases of seed 1" in done.stdout
    untried = ran("-c", "from fuzz import calls; print(calls.untried())")
    assert untried.stdout == "set()\n", untried.stderr


@pytest.mark.slow
def test_a_case_is_the_same_each_time():
    first, second = (ran("-m", "fuzz", "--seed", "3", "--case", "12").stdout for _ in range(2))
    assert first.startswith("== ")
    assert first.splitlines()[:2] == second.splitlines()[:2]


@pytest.mark.slow
def test_a_command_may_come_after_the_end_of_options():
    words = ["--", "experiment", "report", "study"]
    check = f"from fuzz import commands; commands._written({words}, {{'study/time.png'}})"
    done = ran("-c", check)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "the process ended with -9"),
        ("open('.left.tmp', 'w')", "left behind: {'.left.tmp'}"),
    ],
)
def test_failures_are_told_with_what_was_tried(how, told):
    done = ran("-c", BROKEN.format(how=how))
    assert done.returncode == 1
    assert told in done.stdout
    assert "python -m fuzz --seed 1 --case 0" in done.stdout
    assert "something" in done.stdout
