"""What README and docs show is what happens.

How the blocks of a page are read, in order, in one directory that holds a copy of `examples`:

- ```python runs; the blocks of a page share one namespace.
- ```text right after it is what it printed. A line ``...`` stands for lines left out.
- ```console runs every line that begins with ``$ tamis``; what follows is what it printed.
- ```sh does not run, because its commands take long or name files that are not there; those that
  begin with ``tamis`` must be commands with options that exist.
- A block after the comment ``<!-- not run: reason -->`` is left out, and listed in NOT_RUN.
"""

from __future__ import annotations

import contextlib
import io
import os
import pkgutil
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import tamis
from tamis.cli import app

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]

NOT_RUN = {
    # Neither Spark nor a cluster is there.
    "docs/spark.md": [
        'frame = spark.table("survey").select("region", "age_group", "answer")',
        "import dask.dataframe as dd",
    ],
    "docs/tutorial.md": ["import dowhy"],  # not among the dependencies
}
"""The first lines of the blocks that are marked as not to be run."""
SKETCHES = {("docs/design.md", "class Source(ABC):")}
"""Pages and first lines of blocks that are no programs."""

BLOCK = re.compile(r"^(<!-- not run: [^\n]*-->\n)?```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
REFERENCED = re.compile(r"^::: (\S+)$", re.MULTILINE)
"""The names whose docstrings the site shows."""
LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)")


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    marked: bool
    follows: bool
    """Whether nothing but blanks lies between this block and the one before."""

    @property
    def first(self) -> str:
        return self.text.partition("\n")[0]


def blocks_of(name: str) -> list[Block]:
    content = (ROOT / name).read_text(encoding="utf-8")
    blocks, end = [], 0
    for found in BLOCK.finditer(content):
        between = content[end : found.start()]
        blocks.append(Block(found[2], found[3], bool(found[1]), not between.strip()))
        end = found.end()
    return blocks


def left_out(name: str, block: Block) -> bool:
    return block.marked or (name, block.first) in SKETCHES


def commands_in(block: Block) -> list[str]:
    """The lines that begin with tamis, without comments; a backslash continues a line."""
    joined = block.text.replace("\\\n", " ")
    return [line for line in joined.splitlines() if line.startswith("tamis ")]


def agrees(shown: str, printed: str) -> bool:
    """Whether the lines shown are those printed; ``...`` is any number of lines."""
    wanted = [line.rstrip() for line in shown.rstrip().split("\n")]
    pattern = [r"(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in wanted]
    text = "".join(line.rstrip() + "\n" for line in printed.strip("\n").split("\n"))
    return re.fullmatch("".join(pattern), text) is not None


@pytest.mark.parametrize(
    ("shown", "agree"),
    [
        ("a\nb\nc\n", True),
        ("a\n...\nc\n", True),
        ("...\nc\n", True),
        ("a\n...\n", True),
        ("a\nb\n", False),
        ("b\nc\n", False),
        ("a\n...\nx\n...\n", False),
        ("c\n...\na\n", False),
    ],
)
def test_what_is_shown_is_held_against_what_is_printed(shown, agree):
    assert agrees(shown, "\na\nb \nc\n\n") is agree


@pytest.fixture
def in_a_copy(tmp_path, monkeypatch):
    """Work beside the examples, without writing into the project."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    # No process is started: what is shown does not depend on the number of cores.
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def measurements() -> dict[str, np.ndarray]:
    """The ``data`` that pages speak of without saying where it comes from."""
    rng = np.random.default_rng(1)
    columns = [np.concatenate([rng.normal(-4, 1, 100), rng.normal(4, 1, 100)])]
    for _ in range(2):
        turned = np.where(rng.random(200) < 0.8, columns[-1], -columns[-1])
        columns.append(turned + rng.normal(0, 0.5, 200))
    return dict(zip(("length", "width", "height"), columns, strict=True))


def blocks_of_rows() -> None:
    """The files that the page about many rows speaks of."""
    import pandas as pd

    Path("data").mkdir()
    for i in range(2):
        pd.read_csv("examples/sprinkler.csv").to_parquet(f"data/{i}.parquet")
    packed = CliRunner().invoke(app, ["pack", "examples/sprinkler.csv", "planes.tamis"])
    assert packed.exit_code == 0, packed.output


FILES = {"docs/scale.md": blocks_of_rows, "docs/dask.md": blocks_of_rows}
"""What pages need beside the examples."""


class Reader:
    """Runs the blocks of one page and holds what was printed against what is shown."""

    def __init__(self) -> None:
        self.names: dict[str, object] = {"data": measurements(), "__name__": "__main__"}
        self.printed = ""
        self.after_code = False

    def run(self, block: Block) -> None:
        if block.language == "python":
            self.printed = self._printed_by(block.text)
        elif block.language == "text" and block.follows and self.after_code:
            assert agrees(block.text, self.printed), f"shown:\n{block.text}\n{self.printed}"
        elif block.language == "console":
            for command, shown in _spoken(block.text):
                self._command(command, shown)
        self.after_code = block.language == "python"

    def _printed_by(self, code: str) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, self.names)  # noqa: S102 - our own pages
        return printed.getvalue()

    def _command(self, command: str, shown: str) -> None:
        """As a reader would, in a process of its own, where nothing ran before."""
        words = [sys.executable, "-m", "tamis", *shlex.split(command, comments=True)[1:]]
        outcome = subprocess.run(words, capture_output=True, text=True, check=False)
        assert outcome.returncode == 0, f"{command}\n{outcome.stdout}\n{outcome.stderr}"
        if shown:
            assert agrees(shown, outcome.stdout), f"{command}\nshown:\n{shown}\n{outcome.stdout}"


def _spoken(dialogue: str) -> Iterator[tuple[str, str]]:
    """Commands after ``$`` and the lines that follow each."""
    for part in re.split(r"^\$ ", dialogue.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        assert command.startswith("tamis "), f"only tamis is run, not {command!r}"
        yield command, shown


# pgmpy 1.1 warns of its own modules when it is imported.
@pytest.mark.filterwarnings("ignore:.*pgmpy:FutureWarning")
@pytest.mark.usefixtures("in_a_copy")
@pytest.mark.parametrize(
    "name", [n for n in NAMES if any(b.language in ("python", "console") for b in blocks_of(n))]
)
def test_every_block_runs_and_prints_what_is_shown(name):
    FILES.get(name, lambda: None)()
    reader = Reader()
    for block in blocks_of(name):
        if not left_out(name, block):
            reader.run(block)


def test_every_block_that_is_left_out_is_listed():
    marked: dict[str, list[str]] = {}
    for name in NAMES:
        for block in blocks_of(name):
            if block.marked:
                marked.setdefault(name, []).append(block.first)
    assert marked == NOT_RUN
    for name, first in SKETCHES:
        assert first in [block.first for block in blocks_of(name)]


@pytest.mark.parametrize("name", NAMES)
def test_every_block_says_in_what_language_it_is(name):
    """An unnamed one could hold code that nobody runs."""
    known = {"python", "text", "console", "sh", "toml", "json", "yaml", ""}
    for block in blocks_of(name):
        assert block.language in known
        if not block.language:
            assert not re.search(r"^(\$ |import |from \w+ import )", block.text, re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_the_commands_that_do_not_run_exist(name):
    group = typer.main.get_command(app)
    for block in blocks_of(name):
        if block.language not in ("sh", ""):
            continue
        for command in commands_in(block):
            _parse(group, shlex.split(command, comments=True)[1:])


def _parse(command, words, parent=None):
    """Read the options of a command, and of those below it, without running any."""
    context = command.make_context(command.name, list(words), parent=parent)
    if hasattr(command, "resolve_command"):
        rest = [*context._protected_args, *context.args]
        _, below, rest = command.resolve_command(context, rest)
        _parse(below, rest, context)


@pytest.mark.parametrize("name", NAMES)
def test_every_link_leads_somewhere(name):
    page = ROOT / name
    for target, place in LINK.findall(page.read_text(encoding="utf-8")):
        if target.startswith("http"):
            continue
        there = page.parent / target if target else page
        assert there.exists(), f"{name} links to {target}"
        if place:
            assert place in _places(there), f"{name} links to {target}#{place}"


def _places(page: Path) -> set[str]:
    """The anchors of names in the reference, and those that headings get: small letters, no signs,
    - for a blank, a number if taken."""
    text = page.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", h).strip().lower().replace(" ", "-") for h in headings]
    numbered = {
        one + f"-{plain[:i].count(one)}" * (one in plain[:i]) for i, one in enumerate(plain)
    }
    return numbered | set(REFERENCED.findall(text))


def test_every_page_can_be_reached_from_the_readme():
    seen, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop().resolve()
        if page in seen or page.suffix != ".md" or not page.exists():
            continue
        seen.add(page)
        links = LINK.findall(page.read_text(encoding="utf-8"))
        waiting += [page.parent / t for t, _ in links if t and not t.startswith("http")]
    assert {page.resolve() for page in PAGES} <= seen


def test_every_picture_is_shown_on_a_page():
    shown = set()
    for page in PAGES:
        for target, _ in LINK.findall(page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                shown.add((page.parent / target).resolve())
    pictures = {path.resolve() for path in (ROOT / "docs" / "images").iterdir()}
    assert pictures
    assert pictures <= shown


def test_the_reference_has_every_public_name():
    pages = (ROOT / "docs" / "reference").glob("*.md")
    names = [name for page in pages for name in REFERENCED.findall(page.read_text("utf-8"))]
    assert len(names) == len(set(names))
    modules = {"constants", "metrics", "rules", "simulate"}
    assert {f"tamis.{name}" for name in set(tamis.__all__) - modules - {"__version__"}} <= set(
        names
    )
    told = [pkgutil.resolve_name(name) for name in names]
    for module in modules:
        for name in getattr(tamis, module).__all__:
            thing = getattr(getattr(tamis, module), name)
            assert any(thing is other for other in told), f"{module}.{name}"
