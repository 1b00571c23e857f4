"""What README and docs call by its name is there: files, tests, public names, commands, targets.

Links are checked by `mkdocs build --strict`; here are the words in `code` style outside of blocks.
"""

from __future__ import annotations

import re
from pathlib import Path
from pydoc import locate

import pytest

from tamis.cli import app

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
STARTS = (ROOT, ROOT / "src" / "tamis", ROOT / "src", ROOT / "tests")
FENCED = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
FILE = re.compile(r"((?:[\w-]+/)*[\w-]+\.py|(?:[\w-]+/)+)(?:::([a-z_]\w*)(\.\.\.)?)?")


def is_wrong(span: str) -> bool:
    """Whether a pointer leads nowhere; what is none is not wrong."""
    command, _, rest = span.partition(" ")
    if command == "tamis" and rest[:1].isalpha():
        groups = [*app.registered_groups, *app.registered_commands]
        return rest.split()[0] not in {g.name or g.callback.__name__ for g in groups}
    if command == "make" and rest:
        return f"\n{rest.split()[0]}:" not in (ROOT / "Makefile").read_text(encoding="utf-8")
    if re.fullmatch(r"tamis(\.\w+)+(\(.*\))?", span):
        return locate(span.partition("(")[0]) is None
    if pointer := FILE.fullmatch(span):
        path, name, _ = pointer.groups()
        files = [start / path for start in STARTS if (start / path).exists()]
        files += (
            [] if "/" in path else [*ROOT.glob(f"src/**/{path}"), *ROOT.glob(f"tests/**/{path}")]
        )
        return not any(name is None or f"def {name}" in one.read_text("utf-8") for one in files)
    return False


def test_what_the_pages_call_by_its_name_is_there():
    broken = [
        f"{page.relative_to(ROOT)}: `{span}`"
        for page in PAGES
        for span in SPAN.findall(FENCED.sub("", page.read_text(encoding="utf-8")))
        if is_wrong(span)
    ]
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize(
    "span",
    ["search/nowhere.py", "nowhere.py", "nowhere/", "test_docs.py::test_nowhere...", "make nowhere",
     "tamis.nowhere", "tamis.TAM.nowhere", "tamis nowhere table.csv"],
)  # fmt: skip
def test_a_pointer_to_nowhere_is_seen(span):
    assert is_wrong(span)
