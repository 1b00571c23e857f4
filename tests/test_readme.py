"""The README's first screen, its size, and what it says about the project.

That its blocks run and print what they show is tested with all other pages, in test_docs.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_picture_is_on_the_first_screen():
    lines = README.splitlines()
    picture = next(i for i, line in enumerate(lines) if line.startswith("!["))
    assert picture < 12
    assert lines.index("## Five minutes") < 20


def test_it_stays_short():
    assert len(README.splitlines()) <= 150


def test_the_demo_runs_the_command_that_is_shown():
    demo = re.search(r"^demo:.*\n\t\$\(BIN\)/(tamis .*)$", (ROOT / "Makefile").read_text(), re.M)
    assert demo is not None
    assert f"```console\n$ {demo[1]}\n" in README


def test_the_make_targets_are_there():
    targets = re.findall(r"^make (\w+)", README, re.M)
    assert targets == ["demo", "test"]
    for target in targets:
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.M)


def test_the_extras_are_there():
    extras = (ROOT / "pyproject.toml").read_text().partition("[project.optional-dependencies]")[2]
    pages = [README, *(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md"))]
    named = {
        one for page in pages for group in re.findall(r"'(?:tamis|\.)\[([\w,]+)\]'", page)
        for one in group.split(",")
    }  # fmt: skip
    assert {"plot", "peers"} <= named
    for extra in named:
        assert re.search(rf"^{extra} = \[", extras, re.M), extra


def test_the_python_that_is_asked_for_is_the_one_said():
    needed = re.search(r'requires-python = ">=([\d.]+)"', (ROOT / "pyproject.toml").read_text())
    assert needed is not None
    assert f"Python {needed[1]} or later" in README
