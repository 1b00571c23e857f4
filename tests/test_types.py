"""A user's script is checked by mypy as strictly as ours: slips in words and names are found."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPT = """
import tamis

model = tamis.TAM(search="node", missing="pairwise", backward=True, entropy="minimax")
model.fit({"rain": [0, 1] * 20, "wet": [0, 1] * 20})
parents: dict[str, list[str]] = model.parents_
print(parents["wet"], model.graph_.edges, model.get_params()["search"])
confidence = model.bootstrap(20, scheme="rows", search="sequential")
print(confidence.edges["rain", "wet"], tamis.entropy({"a": [0, 1]}, "a", estimator="plugin"))
print(model.set_params(alpha=0.1).fit("data.csv").result_.edges)

tamis.TAM(search="autoo")  # wrong: arg-type
tamis.TAM(missing="dropp")  # wrong: arg-type
tamis.TAM(aplha=0.1)  # wrong: call-arg
model.parents  # wrong: attr-defined
model.fitt({})  # wrong: attr-defined
model.bootstrap(20, scheme="halves")  # wrong: arg-type
tamis.entropy({"a": [0, 1]}, "a", estimator="pluggin")  # wrong: arg-type
"""


def test_the_slips_in_a_script_are_found_and_nothing_else(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    lines = enumerate(SCRIPT.splitlines(), start=1)
    wrong = {n: line.rpartition("wrong: ")[2] for n, line in lines if "# wrong" in line}
    assert found_by_mypy(script) == wrong


def found_by_mypy(script: Path) -> dict[int, str]:
    """The kind of error on each line of a script."""
    root = Path(__file__).parent.parent
    # With the project's settings, which say what other packages have no types.
    command = ["-m", "mypy", "--config-file", root / "pyproject.toml", "--no-pretty", script]
    done = subprocess.run(
        [sys.executable, *map(str, command)], cwd=root, capture_output=True, text=True
    )
    assert done.returncode in (0, 1), done.stderr
    errors = re.findall(r"script\.py:(\d+): error: .*\[([\w-]+)\]$", done.stdout, re.MULTILINE)
    return {int(line): kind for line, kind in errors}
