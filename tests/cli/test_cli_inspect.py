"""`tamis inspect`, and the options that say which columns are read and how."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pandas as pd
import pytest
from rich.cells import cell_len
from typer.testing import CliRunner

from tamis.cli import app
from tamis.cli.texts import types_from_options
from tamis.errors import SettingError
from tamis.tables.packed_file import PackedFile

N = 200


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(5)
    size = rng.choice(["small", "medium", "large"], N)
    frame = pd.DataFrame(
        {
            "id": np.arange(N),
            "size": size,
            "weight": np.where(size == "large", 2.0, 0.0) + rng.normal(size=N),
            "a,b": rng.integers(0, 3, N),
            "p=q": rng.integers(0, 3, N),
            "grade": rng.integers(1, 5, N),
        }
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    return str(tmp_path / "t.csv")


def run(*arguments):
    shown = CliRunner().invoke(app, arguments)
    assert shown.exit_code == 0, shown.output
    return shown.stdout


def refused(*arguments):
    shown = CliRunner().invoke(app, arguments)
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert shown.stderr.startswith("Error: ")
    assert "Traceback" not in shown.stderr
    return shown.stderr


def test_the_plan_is_shown_in_80_columns_with_the_command_that_follows_it(path):
    *plan, _, then = run("inspect", path).rstrip("\n").split("\n")
    assert max(map(cell_len, plan)) <= 80
    assert any(line.startswith("! id ") for line in plan)
    assert then == f"Then: tamis learn {shlex.quote(path)} --drop id"


def test_the_command_that_follows_repeats_the_options_and_can_be_run(path, tmp_path):
    frame = pd.read_csv(path)
    frame.loc[3, "size"] = None
    frame.to_csv(tmp_path / "m.csv", index=False)
    order = "size=small<medium<large"
    asked = ("inspect", str(tmp_path / "m.csv"), "--type", order, "--drop", "p=q")
    then = run(*asked).rstrip("\n").split("\n")[-1]
    assert then.endswith(f"--drop id --type '{order}' --drop p=q --missing drop")
    assert run(*asked, "--missing", "level").rstrip().endswith("--missing level")
    frame.loc[: len(frame) // 5, "size"] = None
    frame.to_csv(tmp_path / "m.csv", index=False)
    assert run(*asked).rstrip().endswith("--missing pairwise")


def test_the_plan_is_shown_as_json(path):
    plan = json.loads(run("inspect", path, "--json", "--type", "grade=ordinal"))
    kinds = {column["name"]: column["kind"] for column in plan["columns"]}
    assert (kinds["id"], kinds["grade"], kinds["weight"]) == ("ignore", "ordinal", "number")
    assert plan["rows"] == {"drop": N, "level": N, "pairwise": N}


def test_options_become_kinds(path):
    types = types_from_options(
        path,
        ["grade=ordinal", "size = small<medium < large", "p=q=number"],
        ["id, weight", "a,b"],
    )
    assert types == {
        "grade": "ordinal",
        "size": ["small", "medium", "large"],
        "p=q": "number",
        "id": "ignore",
        "weight": "ignore",
        "a,b": "ignore",
    }
    assert types_from_options("no such file") is None


def test_only_leaves_out_all_others_but_the_weights(path):
    types = types_from_options(path, only=["grade,size", "a,b"], weights="weight")
    assert types == {"id": "ignore", "p=q": "ignore"}
    parquet = path.replace(".csv", ".parquet")
    assert types_from_options(parquet, only=["grade", "size"], drop=["id"]) == dict.fromkeys(
        ["id", "weight", "a,b", "p=q"], "ignore"
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"types": ["grade"]}, "write NAME=KIND"),
        ({"types": ["garde=ordinal"]}, "no column 'garde'; did you mean 'grade'?"),
        ({"types": ["grade=ordered"]}, "'ordered' is no kind: use category"),
        ({"types": ["grade=ordinal,size=number"]}, "several columns: write --type for each"),
        ({"types": ["size=small<"]}, "the levels from low to high"),
        ({"drop": ["wieght"]}, "--drop: there is no column 'wieght'; did you mean 'weight'"),
        ({"only": ["grade,sise"]}, "--only: there is no column 'sise'; did you mean 'size'"),
        ({"types": ["grade=number"], "drop": ["grade"]}, "says something else of column 'grade'"),
        ({"types": ["grade=number"], "only": ["size"]}, "says something else of column 'grade'"),
        ({"types": ["size=a<a"]}, None),
    ],
)
def test_what_has_no_meaning_is_refused(path, options, words):
    if words is None:
        option = f"--type={options['types'][0]}"
        assert "names the level 'a' twice" in refused("learn", path, option, "--drop", "id")
        return
    with pytest.raises(SettingError) as error:
        types_from_options(path, **options)
    assert words in str(error.value)


def test_learning_says_how_columns_were_read_and_warns_of_an_identifier(path):
    shown = " ".join(run("learn", path, "--details", "--type", "size=small<medium<large").split())
    assert "2 numbers (id, weight); 3 categories (a,b, p=q, grade); 1 ordinal column" in shown
    assert "The columns were read as 2 numbers, 1 ordinal column and 3 categories." in shown
    assert "Notes - Column 'id' is a running number, 0 to 199" in shown
    shown = " ".join(run("learn", path, "--details", "--drop", "id", "--drop", "a,b").split())
    assert "; 2 left out (id, a,b)" in shown
    assert "running number" not in shown


def test_an_order_is_written_with_the_result(path, tmp_path):
    out = str(tmp_path / "r.json")
    run("learn", path, "--type", "size=small<medium<large", "--only", "size,weight", "--out", out)
    types = json.loads((tmp_path / "r.json").read_text())["settings"]["types"]
    assert types["size"] == ["small", "medium", "large"]
    assert types["id"] == "ignore"


def test_a_level_that_an_order_lacks_is_named(path):
    assert "has the level 'medium'" in refused("learn", path, "--type", "size=small<large")


def test_columns_of_a_packed_file_are_left_out(path, tmp_path):
    levels = pd.read_csv(path)[["size", "a,b", "p=q", "grade"]]
    levels.to_csv(tmp_path / "levels.csv", index=False)
    packed = str(tmp_path / "levels.tamis")
    run("pack", str(tmp_path / "levels.csv"), packed)
    assert "3 columns" in run("learn", packed, "--drop", "a,b")


def test_columns_can_be_left_out_of_a_packed_file(path, tmp_path):
    target = tmp_path / "t.tamis"
    run("pack", path, str(target), "--only", "size,p=q")
    assert set(PackedFile(target).header.names) == {"size", "p=q"}
