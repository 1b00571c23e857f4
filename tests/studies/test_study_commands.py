"""The steps of `tamis experiment`: what is said, written and refused."""

from __future__ import annotations

import json
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from shutil import copytree

import pytest
from study_plans import ABSENT, EMPTY
from typer.testing import CliRunner

import tamis
from tamis import studies
from tamis.cli import app
from tamis.cli.experimenting import draw_figure1, draw_figures, resume, run_study, write_report

PAGE = "mine\n<!-- tamis experiment paper -->\n<!-- end of paper -->\nmine too\n"


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch, tmp_path):
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)


def run_small(**options):
    small = {"graphs": "tree", "nodes": "4", "rows": "60", "replications": 1}
    run = {"out": "study", "jobs": 1, "quiet": False, "full": False}
    run_study("paper", **run | small | options)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A small study, run once: its folder, what it said and what it complained of."""
    place = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as out:
        patch.chdir(place)
        patch.setenv("NO_COLOR", "1")
        patch.setenv("COLUMNS", "200")
        with redirect_stderr(StringIO()) as err:
            run_small(methods=f"node, {EMPTY},{ABSENT}", time_limit=20.0, out="./study")
    return place / "study", out.getvalue(), err.getvalue()


@pytest.fixture
def study(finished, tmp_path):
    """A copy of it, to be changed."""
    return copytree(finished[0], tmp_path / "study")


def test_a_study_says_what_it_wrote_and_what_it_left_out(finished):
    pytest.importorskip("matplotlib")
    folder, out, err = finished
    assert out.splitlines()[:4] == [
        "./study: 4 runs of paper, 4 ok",
        " results  study/results.csv",
        " figures  study/shd-mod.png, study/shd-add.png, study/time.png",
        " report   study/report.md",
    ]
    assert f" {EMPTY}" in out
    assert err == f"Left out: {ABSENT}, which needs no_such_library, which is not installed.\n"
    assert {path.name for path in folder.iterdir()} == {
        "rows.jsonl", "results.csv", "report.md", "shd-mod.png", "shd-add.png", "time.png",
    }  # fmt: skip


def test_a_worker_finds_what_the_estimator_finds(finished):
    found = [row for row in studies.read(finished[0]) if row.method == "node"]
    assert [row.status for row in found] == ["ok", "ok"]
    for row in found:
        simulated = tamis.simulate.draw(**json.loads(row.settings))
        learned = tamis.TAM("node").fit(simulated.data)
        assert row.shd == tamis.metrics.shd(learned, simulated.graph)
        assert row.library.startswith("numba ")


def test_the_plan_knows_its_command_and_can_be_taken_up(study, capsys):
    _, command = studies.read_plan(study)
    assert command == (
        "tamis experiment paper --quick --graphs tree --nodes 4 --rows 60 --replications 1 "
        f"--methods 'node, {EMPTY},{ABSENT}' --time-limit 20 --out study"
    )
    before = studies.read("study")
    resume("study", jobs=1, quiet=True)
    assert studies.read("study") == before
    assert capsys.readouterr().out == ""
    assert command in (study / "report.md").read_text()


def test_figures_and_tables_are_made_again_from_the_results_alone(study, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    kept = tmp_path / "kept"
    kept.mkdir()
    (study / "results.csv").rename(kept / "results.csv")
    (kept / "page.md").write_text(PAGE)
    draw_figures("kept", out=None, ending="png", quiet=False)
    write_report("kept", into="kept/page.md", quiet=False)
    assert capsys.readouterr().out.splitlines() == [
        "Wrote kept/shd-mod.png, kept/shd-add.png, kept/time.png",
        "Wrote kept/shd-mod.png, kept/shd-add.png, kept/time.png",
        "Wrote kept/page.md",
    ]
    page = (kept / "page.md").read_text()
    assert page.startswith("mine\n<!-- tamis experiment paper -->\n\n### How it was run\n")
    assert "![shd-mod.png](shd-mod.png)" in page
    assert page.endswith("<!-- end of paper -->\nmine too\n")
    (kept / "page").mkdir()
    write_report("kept", into="kept/page.md", quiet=True)
    assert "![page/shd-mod.png](page/shd-mod.png)" in (kept / "page.md").read_text()
    assert (kept / "page" / "time.png").exists()
    with pytest.raises(tamis.FileFormatError, match="must have the line"):
        write_report("kept", into="kept/results.csv", quiet=True)


def test_complaints_are_about_options():
    for options, complaint in [
        ({"nodes": "1"}, "--nodes must be a whole number from 2"),
        ({"nodes": "ten"}, "--nodes 'ten' must be whole numbers"),
        ({"time_limit": -1.0}, "--time-limit must be a number of seconds"),
        ({"methods": "nonsense"}, "there is no method 'nonsense'"),
        ({"methods": ABSENT, "quiet": True}, "at least one table and one method"),
    ]:
        with pytest.raises(tamis.SettingError, match=complaint):
            run_small(**options)


def test_figure_1_is_told_while_it_is_drawn(capsys):
    pytest.importorskip("matplotlib")
    draw_figure1("figure1.svg", rows=10_000, seed=1, quiet=False)
    assert capsys.readouterr().out.splitlines()[:3] == [
        "layer 1, loop 1: X1 enters, X2 and X3 masked",
        "layer 1, loop 2: X4 enters, X5 masked",
        "layer 1, loop 3: X6 enters",
    ]


def test_every_plan_is_a_command_and_a_plan_of_your_own_is_run(tmp_path):
    listed = CliRunner().invoke(app, ["experiment", "--help"]).output
    for name, words in studies.shipped().items():
        assert name in listed
        assert words[:40] in listed
    (tmp_path / "mine.toml").write_text(
        f'methods = ["{EMPTY}"]\nrows = 50\nnodes = 4\n[[tables]]\nmodel = "mod"\ngraph = "chain"\n'
    )
    run_study("mine.toml", out="mine", jobs=1, quiet=True, full=True)
    (row,) = studies.read("mine")
    assert row.key == f"mod/chain/4/50/0/{EMPTY}"
    assert studies.read_plan("mine")[1] == "tamis experiment run mine.toml --out mine"
    with pytest.raises(tamis.FileFormatError, match="is not the folder of a study"):
        resume("nowhere", jobs=1, quiet=True)
