"""The command `tamis check`."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import tamis
from tamis.cli import app

COLOURS = ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS", "PY_COLORS")


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch):
    for name in COLOURS:
        monkeypatch.delenv(name, raising=False)


def run(*arguments: str):
    return CliRunner().invoke(app, ["check", *map(str, arguments)])


def test_the_answer_comes_first_then_conditions_culprits_and_consequences():
    shown = run("m2").stdout
    assert (
        shown.splitlines()[2]
        == "Identified: with exact information sequential must return this graph."
    )
    for part in ("Conditions", "Where they fail", "What follows", "Gaps", "Rows by theorem"):
        assert f"\n{part}," in shown
    assert "C2: X4 is independent of each of its ancestors in layer 1" in shown
    assert "node        returns another graph" in shown


def test_a_network_file_is_read_and_checked(tmp_path):
    path = tmp_path / "shift.bif"
    tamis.BayesianNetwork.example("night_shift").write(path)
    done = run(path)
    assert done.exit_code == 0
    assert "Not identified by these conditions" in done.stdout
    assert "fault is no more uncertain than its ancestors" in done.stdout


def test_a_simulation_is_shown_as_a_table_with_bars():
    shown = run(
        "orchard", "--simulate", "--rows", "50,5000", "--repeats", "2", "--seed", "4"
    ).stdout
    assert "Simulated, sequential, 2 tables a size, seed 4" in shown
    lines = [line for line in shown.splitlines() if "█" in line or "··" in line]
    assert [line.split()[0] for line in lines] == ["50", "5,000"]


def test_everything_is_written_as_json_and_the_plot_beside_it(tmp_path):
    out, plot = tmp_path / "check.json", tmp_path / "plot.svg"
    options = ["--simulate", "--rows", "60", "--repeats", "1", "--out", out, "--plot", plot]
    done = run("m1", "--quiet", *options)
    assert (done.exit_code, done.stdout) == (0, "")
    written = json.loads(out.read_text())
    assert written["simulation"]["points"][0]["rows"] == 60
    assert plot.read_bytes().startswith(b"<?xml")


def test_a_quick_check_leaves_out_what_takes_long():
    shown = run("m2", "--quick").stdout
    assert "left out of a quick check" in shown
    assert "sequential  not decided" in shown


def test_names_from_a_file_are_shown_without_their_control_characters(tmp_path):
    path = tmp_path / "odd.bif"
    network = tamis.BayesianNetwork(
        ("\x1b[31mred", "[bold]"), (("a", "b"),) * 2, ((), (0,)), ([0.5, 0.5], [[0.9, 0.1]] * 2)
    )
    network.write(path)
    shown = run(path).stdout
    assert "\x1b" not in shown
    assert "[bold]" in shown


def test_a_small_memory_leaves_conditions_undecided_and_says_so():
    done = run("orchard", "--memory", "1B")
    assert done.exit_code == 0
    assert "undecided" in done.stdout
    assert "needs a table of" in done.stdout
