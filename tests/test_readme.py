"""What the README shows is what happens."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import tamis
from tamis.cli import app

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


@pytest.fixture
def in_a_copy(tmp_path, monkeypatch):
    """Work beside the examples, without writing into the project."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("in_a_copy")
def test_every_python_block_runs():
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) == 3
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)  # noqa: S102 - our own README
    assert Path("run.json").exists()


@pytest.mark.usefixtures("in_a_copy")
def test_the_explanation_is_the_one_shown():
    shown = re.search(r"```\n(lawn: .*?)```", README, re.DOTALL)
    assert shown is not None
    assert tamis.TAM().fit("examples/sprinkler.csv").explain("lawn") == shown[1].rstrip("\n")


@pytest.mark.usefixtures("in_a_copy")
def test_the_summary_is_the_one_shown():
    shown = re.search(r"ends with\n\n```\n(.*?)```", README, re.DOTALL)
    assert shown is not None
    printed = CliRunner().invoke(app, ["learn", "examples/sprinkler.csv"]).stdout
    for part in shown[1].split("...\n"):
        assert part in printed


def test_the_layers_and_parents_are_those_shown():
    model = tamis.TAM().fit(ROOT / "examples" / "sprinkler.csv")
    assert f"# {model.layers_}" in README
    assert model.parents_["lawn"] == ["rain", "sprinkler"]


def test_the_check_says_what_is_shown():
    found = tamis.check(tamis.BayesianNetwork.example("m2"))
    assert f"found.guaranteed  # {found.guaranteed}" in README
    assert f"violations[0].text  # {found.conditions['C2'].violations[0].text!r}" in README


def test_every_link_to_a_file_leads_somewhere():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name} links to {target}"
