"""What is uploaded says what it is, agrees with itself, and works alone in an empty environment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RECIPE = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8"))


def test_the_version_is_the_same_wherever_it_is_stated():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.search(r"^## (\d\S*) - \d{4}-\d\d-\d\d$", changes, re.MULTILINE)
    assert released is not None
    assert PROJECT["version"] == cited == released[1] == RECIPE["context"]["version"]


def test_every_group_of_changes_is_of_a_kind_that_keep_a_changelog_knows():
    kinds = re.findall(r"^### (\w+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert set(kinds) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_the_lowest_python_is_a_classifier_and_in_the_recipe():
    lowest = PROJECT["requires-python"].removeprefix(">=")
    versions = [
        one.rpartition(" ")[2]
        for one in PROJECT["classifiers"]
        if re.search(r":: Python :: 3\.\d+$", one)
    ]
    assert versions[0] == lowest == RECIPE["context"]["python_min"]


def test_the_recipe_needs_what_the_package_needs():
    needed = {one.replace(" ", "") for one in RECIPE["requirements"]["run"]}
    assert {one for one in needed if not one.startswith("python>=")} == set(PROJECT["dependencies"])


def test_every_dependency_has_a_lower_bound_that_the_lowest_run_can_take():
    extras = PROJECT["optional-dependencies"].values()
    named = [*PROJECT["dependencies"], *(one for extra in extras for one in extra)]
    assert [one for one in named if not re.search(r">=|==|^tamis\[", one)] == []


ALONE = """
import sys
import tamis
from importlib.util import find_spec

assert "site-packages" in tamis.__file__, tamis.__file__
assert find_spec("pytest") is None and find_spec("pandas") is None
for name in ("diamond", "m1", "m2", "night_shift", "orchard"):
    network = tamis.BayesianNetwork.example(name)
    assert network.sample(10, seed=0)
model = tamis.TAM().fit(tamis.BayesianNetwork.example("orchard").sample(500, seed=1))
model.report("page.html")
model.save("run.json")
assert tamis.load("run.json") == model.result_
print(model.parents_["fruit"], tamis.__version__)
"""


@pytest.mark.slow
def test_the_wheel_alone_learns_reports_and_reads_its_networks(tmp_path):
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", tmp_path, ROOT, at=tmp_path)
    (wheel,) = tmp_path.glob("tamis-*.whl")
    run(sys.executable, "-m", "venv", tmp_path / "empty", at=tmp_path)
    here = tmp_path / "empty" / ("Scripts" if os.name == "nt" else "bin")
    run(here / "python", "-m", "pip", "install", wheel, at=tmp_path)
    printed = run(here / "python", "-c", ALONE, at=tmp_path)
    assert printed.split() == ["['bees',", "'blossom']", PROJECT["version"]]
    run(here / "tamis", "simulate", "tree", "--nodes", "5", "--out", "data.csv", at=tmp_path)
    run(here / "tamis", "learn", "data.csv", "--report", "learned.html", at=tmp_path)
    for page in ("page.html", "learned.html"):
        assert "</html>" in (tmp_path / page).read_text(encoding="utf-8")


def run(*words: str | Path, at: Path) -> str:
    """What a command prints; it sees nothing of this project or of what is installed beside it."""
    left_out = ("PYTHONPATH", "VIRTUAL_ENV", "NUMBA_CACHE_DIR")
    there = {name: value for name, value in os.environ.items() if name not in left_out}
    done = subprocess.run(
        [str(word) for word in words], cwd=at, env=there, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
