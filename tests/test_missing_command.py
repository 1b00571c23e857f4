"""`tamis learn --missing` and `--weights`: what the command says and writes."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import tamis
from tamis.cli import app


def write(path, columns):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return str(path)


@pytest.fixture
def columns():
    rng = np.random.default_rng(1)
    n = 1200
    a = rng.random(n) < 0.3
    b = a ^ (rng.random(n) < 0.2)
    c = b ^ (rng.random(n) < 0.2)
    found = {"a": a, "b": b, "c": c}
    return {
        name: ["" if rng.random() < 0.1 else "yes" if value else "no" for value in values]
        for name, values in found.items()
    }


@pytest.fixture
def source(tmp_path, columns):
    return write(tmp_path / "gaps.csv", columns)


def run(*arguments):
    return CliRunner().invoke(app, ["learn", *arguments], env={"COLUMNS": "200"})


@pytest.mark.parametrize(
    ("missing", "told"),
    [
        ("drop", "rows with missing values were left out"),
        ("level", "missing values are a level of their own"),
        ("pairwise", "each test on the rows that have its columns: "),
    ],
)
def test_each_choice_says_what_was_done(source, missing, told):
    shown = run(source, "--missing", missing, "--details")
    assert shown.exit_code == 0, shown.stderr
    assert told in shown.stdout
    assert "Notes\n" in shown.stdout


def test_decisions_say_on_how_many_rows_they_were_made(source, tmp_path, columns):
    place = tmp_path / "run.json"
    shown = run(source, "--missing", "pairwise", "--explain", "c", "--out", str(place))
    assert shown.exit_code == 0, shown.stderr
    result = tamis.load(str(place))
    verdict = result.trace.selections[0].refused or result.trace.selections[-1].taken[0]
    about = (verdict.target, *verdict.others, *verdict.given)
    present = [all(columns[name][i] for name in about) for i in range(1200)]
    assert verdict.n_rows == sum(present)
    assert any(f"on {v.n_rows:,} rows" in shown.stdout for v in result.trace.verdicts())


def test_names_are_shown_and_never_obeyed(tmp_path):
    name = "<script>[red]\nx"
    rng = np.random.default_rng(2)
    data = {name: rng.choice(["u", "v", ""], 100), "b": rng.choice(["(missing)", "w", ""], 100)}
    place = tmp_path / "run.json"
    for missing in ("drop-anyway", "level", "pairwise"):
        shown = run(write(tmp_path / "odd.csv", data), "--missing", missing, "--out", str(place))
        assert shown.exit_code == 0, shown.stderr
        assert "<script>[red]\\n" in shown.stdout
        levels = json.loads(place.read_text())["levels"]["b"]
        assert levels == ["(missing)", "w"] + ["((missing))"] * (missing == "level")


def test_weights_come_from_a_column_that_is_then_no_variable(tmp_path):
    rng = np.random.default_rng(3)
    a = rng.integers(0, 2, 40)
    b = np.where(rng.random(40) < 0.8, a, 1 - a)
    often = rng.integers(0, 9, 40)
    table = write(tmp_path / "counted.csv", {"a": a, "often": often, "b": b})
    rows = np.repeat(np.arange(40), often)
    repeated = write(tmp_path / "repeated.csv", {"a": a[rows], "b": b[rows]})
    places = [str(tmp_path / "one.json"), str(tmp_path / "other.json")]
    shown = run(table, "--weights", "often", "--out", places[0])
    assert shown.exit_code == 0, shown.stderr
    assert "Whole weights are frequencies" in shown.stdout
    assert run(repeated, "--out", places[1]).exit_code == 0
    one, other = (tamis.load(place) for place in places)
    assert (one.names, one.n_rows, one.edges, one.trace) == (
        other.names,
        other.n_rows,
        other.edges,
        other.trace,
    )


def test_survey_weights_say_what_the_rows_are_worth(tmp_path):
    rng = np.random.default_rng(4)
    a = rng.integers(0, 2, 300)
    columns = {"a": a, "b": a ^ (rng.random(300) < 0.2), "w": rng.lognormal(size=300).round(3)}
    source = write(tmp_path / "survey.csv", columns)
    shown = run(source, "--weights", "w")
    assert shown.exit_code == 0, shown.stderr
    worth = columns["w"].sum() ** 2 / (columns["w"] ** 2).sum()
    assert f"300 rows are worth {worth:.0f}" in shown.stdout
    shown = run(source, "--weights", "nowhere")
    assert shown.exit_code == 2
    assert "no column 'nowhere'" in shown.stderr
    shown = run(source, "--weights", "w", "--out", str(tmp_path / "net.bif"))
    assert shown.exit_code == 2
    assert "survey weights" in shown.stderr
    assert not (tmp_path / "net.bif").exists()
