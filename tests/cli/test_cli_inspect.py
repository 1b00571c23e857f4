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


def test_columns_can_be_left_out_of_a_packed_file(path, tmp_path):
    target = tmp_path / "t.tamis"
    run("pack", path, str(target), "--only", "size,p=q")
    assert set(PackedFile(target).header.names) == {"size", "p=q"}
