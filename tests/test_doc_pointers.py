"""What README and docs say about the code is there: files, modules, names, tests and commands.

Read are the words in `code` style outside fenced blocks. These are pointers:

- a path, from the root, from `src/tamis` or from `tests`, a folder with its stroke at the end, or
  the bare name of a Python file: `search/orders.py`, `information/exact/`, `test_orders.py`;
- something in a file: `search/orders.Start`, `tests/naive.tam`, `test_orders.py::test_some...`,
  where `...` leaves out the rest of a name;
- a dotted name: `tamis.metrics.shd` from the package, `model.graph_` from a fitted model, others
  from any module or class of that name: `auto._of_alike`, `Result.trace`;
- a name in CamelCase, in CAPITALS, with an underscore in front, or that of a test;
- `python -m module`, `make target`, `tamis command`;
- in the row of a table that begins with folders, a plain name, for a file of one of them.

What looks like a pointer and belongs to something else stands in LIBRARIES and ELSEWHERE.
"""

from __future__ import annotations

import ast
import functools
import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tamis
from tamis.cli import app

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "tamis"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
CODE = ("src", "tests", "study", "benchmarks", "scripts")

LIBRARIES = (
    "dd", "dowhy", "llvm", "networkx", "pgmpy", "polars", "pyagrum",
    "spatial", "stats",
    "statsmodels",
)  # fmt: skip
"""Where dotted names of other libraries begin on the pages."""
ELSEWHERE = {
    "BooleanType", "Bucketizer", "Client(n_workers=4)", "DecimalType", "DoubleType", "None",
    "StringType", "TimestampType", "frame.sample(0.01).toPandas()",
}  # fmt: skip
"""Other libraries' names and variables of examples."""
DATA = (".bif", ".csv", ".html", ".json", ".parquet", ".pq")
"""Files that readers have, or write."""

FENCED = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)
SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
CALLED = re.compile(r"([\w./:-]+?)(?:\(.*\))?(\.\.\.)?", re.DOTALL)
PATH = re.compile(r"[\w-][\w.-]*(?:/[\w.-]+)+/?|[\w-]+/|[\w-]+\.py")
DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
PLAIN = re.compile(r"[a-z][a-z_]+")
ROW = re.compile(r"\| ((?:`[^`]+/`(?:, )?)+)[^|]*\|")
NAME = re.compile(r"_[a-z]\w+|[A-Z][A-Z0-9_]{2,}|(?:[A-Z][a-z0-9]+)+|test_\w+")


def broken_in(text: str) -> list[tuple[int, str, str]]:
    """Line, pointer and what is wrong with it, for all pointers of a page that lead nowhere."""
    lines = text.splitlines()
    found = []
    for line, span in spans(text):
        row = ROW.match(lines[line - 1])
        reason = wrong_in_row(row[1], span) if row and PLAIN.fullmatch(span) else wrong(span)
        if reason is not None:
            found.append((line, span, reason))
    return found


def spans(text: str) -> Iterator[tuple[int, str]]:
    """The words in code style outside fenced blocks, with their lines."""
    prose = FENCED.sub(lambda block: "\n" * block[0].count("\n"), text)
    for span in SPAN.finditer(prose):
        if "\n\n" not in span[1]:
            yield prose.count("\n", 0, span.start()) + 1, " ".join(span[1].split())


def wrong(span: str) -> str | None:
    """Why a pointer leads nowhere; None if it does, or is none."""
    first, *rest = span.split()
    if first in COMMANDS and rest:
        return COMMANDS[first](rest)
    if span in ELSEWHERE or is_data(span) or span.split(".")[0] in LIBRARIES:
        return None
    shape = CALLED.fullmatch(span)
    if shape is None:
        return None
    pointer, cut = shape[1], shape[2] is not None
    if "::" in pointer:
        path, _, name = pointer.partition("::")
        files = [file for file in files_at(path) if defines(file, [name], cut)]
        return None if files else f"no file {path} with {name}"
    if PATH.fullmatch(pointer):
        return wrong_path(pointer, cut)
    if DOTTED.fullmatch(pointer):
        return wrong_name(pointer.split("."), cut)
    if NAME.fullmatch(pointer):
        known = any(n == pointer or (cut and n.startswith(pointer)) for n in all_names())
        return None if known else "defined nowhere"
    return None


def is_data(span: str) -> bool:
    """A table, graph or page of the reader's own, not one of the repository."""
    return span.endswith(DATA) and not (ROOT / span.split("/")[0]).is_dir()


# --- commands ------------------------------------------------------------------------------


def wrong_python(words: list[str]) -> str | None:
    if words[0] != "-m":
        return None
    parts = words[1].split(".")
    return None if parts in [list(m) for m in modules()] else f"no module {words[1]}"


def wrong_target(words: list[str]) -> str | None:
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    return None if words[0] in targets else f"Makefile has no {words[0]}"


def wrong_command(words: list[str]) -> str | None:
    commands = {c.name or c.callback.__name__ for c in app.registered_commands}
    commands |= {group.name for group in app.registered_groups}
    known = words[0] in commands or words[0].startswith("-")
    return None if known else f"tamis has no command {words[0]}"


COMMANDS = {"python": wrong_python, "make": wrong_target, "tamis": wrong_command}


# --- files ---------------------------------------------------------------------------------


def files_at(path: str) -> list[Path]:
    """Where a path leads: from the root, the package or the tests; a bare name from anywhere."""
    starts = (ROOT, PACKAGE, ROOT / "src", ROOT / "tests")
    found = [start / path for start in starts if (start / path).exists()]
    return found or [file for file in sources() if file.name == path]


def wrong_path(path: str, cut: bool) -> str | None:
    if files_at(path):
        return None
    folder, _, last = path.rpartition("/")
    stem, dot, name = last.partition(".")
    if dot and name != "py":
        files = files_at(f"{folder}/{stem}.py") + files_at(f"{folder}/{stem}/__init__.py")
        if any(defines(file, name.split("."), cut) for file in files):
            return None
        return f"no {name} in {folder}/{stem}.py" if files else f"no file {folder}/{stem}.py"
    return f"no file {path}"


def wrong_in_row(folders: str, name: str) -> str | None:
    """A plain name in a row that begins with folders is a file of one of them."""
    places = [folder for span in SPAN.findall(folders) for folder in files_at(span)]
    known = any((place / f"{name}.py").exists() or (place / name).is_dir() for place in places)
    return None if known else f"no file of {folders.strip()}"


@functools.cache
def sources() -> tuple[Path, ...]:
    return tuple(sorted(file for part in CODE for file in (ROOT / part).rglob("*.py")))


@functools.cache
def modules() -> dict[tuple[str, ...], Path]:
    """All modules by the parts of their names, from `tamis`, `tests`, ... on."""
    found = {}
    for file in sources():
        parts = list(file.relative_to(ROOT).with_suffix("").parts)
        parts = parts[1:] if parts[0] == "src" else parts
        found[tuple(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


# --- names ---------------------------------------------------------------------------------


def wrong_name(parts: list[str], cut: bool) -> str | None:
    if parts[0] == "tamis":
        return None if reached(parts) else "cannot be imported"
    if parts[0] == "model" or parts[0].endswith("_"):
        attributes = parts[1:] if parts[0] == "model" else parts
        return None if has(fitted(), attributes) else "a fitted model has no such attribute"
    places = []
    for split in range(len(parts), 0, -1):
        for module, file in modules().items():
            if list(module[-split:]) == parts[:split]:
                places.append(".".join(module))
                if defines(file, parts[split:], cut):
                    return None
    classes = [tree for tree in trees().values() if member(tree, parts[:1], False) is not None]
    if any(member(tree, parts, cut) is not None for tree in classes):
        return None
    if parts[0] in sys.stdlib_module_names:
        return None if reached(parts) else "cannot be imported"
    return f"not in {', '.join(sorted(set(places)))}" if places else f"nothing named {parts[0]}"


def reached(parts: list[str]) -> bool:
    """Whether a name can be imported, however deep."""
    for split in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:split]))
        except ModuleNotFoundError:
            continue
        return has(value, parts[split:])
    return False


def has(value: object, attributes: list[str]) -> bool:
    for name in attributes:
        fields = getattr(value, "__annotations__", {})
        if not hasattr(value, name):
            return name in fields and name == attributes[-1]
        value = getattr(value, name)
    return True


@functools.cache
def fitted() -> tamis.TAM:
    return tamis.TAM().fit(ROOT / "examples" / "sprinkler.csv")


def defines(file: Path, names: list[str], cut: bool) -> bool:
    return not names or member(trees()[file], names, cut) is not None


@functools.cache
def trees() -> dict[Path, ast.Module]:
    return {file: ast.parse(file.read_text(encoding="utf-8")) for file in sources()}


def member(tree: ast.AST, names: list[str], cut: bool) -> ast.AST | None:
    """What a name stands for in a module or class, bases included."""
    for name, node in bindings(tree):
        if name == names[0] or (cut and len(names) == 1 and name.startswith(names[0])):
            if len(names) == 1:
                return node
            inner = member(node, names[1:], cut)
            if inner is not None:
                return inner
    for base in getattr(tree, "bases", []):
        for other in trees().values():
            named = base.id if isinstance(base, ast.Name) else None
            for name, node in bindings(other):
                if name == named and isinstance(node, ast.ClassDef):
                    inner = member(node, names, cut)
                    if inner is not None:
                        return inner
    return None


def bindings(tree: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The names that a module or class binds; of a class also those that it gives to itself."""
    for node in getattr(tree, "body", []):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node
        elif isinstance(node, ast.Assign):
            yield from ((t.id, node) for t in node.targets if isinstance(t, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, node
        elif isinstance(node, ast.ImportFrom):
            yield from ((alias.asname or alias.name, node) for alias in node.names)
    if isinstance(tree, ast.ClassDef):
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                yield node.attr, node


@functools.cache
def all_names() -> frozenset[str]:
    """Whatever any file defines, in modules, classes or functions."""
    found = set()
    for tree in trees().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                found.add(node.attr)
    return frozenset(found)


# --- the tests -----------------------------------------------------------------------------


def test_every_code_pointer_of_the_pages_leads_somewhere():
    broken = [
        f"{page.relative_to(ROOT)}:{line}: `{span}`: {reason}"
        for page in PAGES
        for line, span, reason in broken_in(page.read_text(encoding="utf-8"))
    ]
    assert not broken, f"{len(broken)} pointers lead nowhere:\n" + "\n".join(broken)


GOOD = (
    "`search/tam.py`, `src/tamis/search/tam.py`, `information/exact/`, `examples/sprinkler.csv`",
    "`test_docs.py`, `test_docs.py::test_every_...`, `test_docs.py::Block`",
    "`tests/naive.pps`, `search/paper.tam_general(X, omega)`, `paper.tam`, `naive.Decide.grow`",
    "`tamis.metrics.shd`, `tamis.TAM.fit`, `TAM.explain`, `Result.trace`, `model.result_.trace`",
    "`result_.warnings`, `Result.closest_calls(5)`, `ELSEWHERE`, `_HOME`, `JointInformation`",
    "`python -m benchmarks.run --quick`, `make test`, `tamis learn table.csv`",
    "| `search/` | the outer loop `tam` |",
    '`alpha`, `n_rows`, `H(X_k | S)`, `search="auto"`, `cond:pps`, `table.csv`, `a -> b`',
    "```python\nsearch/nowhere.py `nowhere/` tamis.nowhere\n```",
)
BAD = (
    "search/nowhere.py", "src/tamis/nowhere.py", "nowhere.py", "nowhere/", "tests/nowhere",
    "test_docs.py::test_nowhere...", "test_docs.py::test_every_", "nowhere.py::test_it",
    "tests/naive.nowhere", "search/paper.nowhere(X)", "nowhere.tam", "paper.nowhere",
    "naive.Decide.nowhere", "tamis.nowhere", "tamis.metrics.nowhere", "TAM.nowhere",
    "Result.nowhere()", "model.nowhere", "model.result_.nowhere", "result_.nowhere",
    "NOWHERE_AT_ALL", "_nowhere_at_all", "NowhereInformation", "test_nowhere_at_all",
    "examples/nowhere.csv", "python -m benchmarks.nowhere --quick", "make nowhere",
    "tamis nowhere table.csv",
)  # fmt: skip


@pytest.mark.parametrize("text", GOOD)
def test_what_is_there_is_found(text):
    assert broken_in(text) == []


@pytest.mark.parametrize("pointer", BAD)
def test_a_pointer_to_nowhere_is_told_with_its_line(pointer):
    [(line, span, reason)] = broken_in(f"First,\n\nsee `{pointer}`.")
    assert (line, span) == (3, pointer)
    assert reason


def test_a_plain_name_in_a_row_of_folders_is_a_file_of_theirs():
    [(line, span, reason)] = broken_in("| folder | |\n|---|---|\n| `search/` | `nowhere` |")
    assert (line, span, reason) == (3, "nowhere", "no file of `search/`")


def test_what_is_excused_is_on_some_page():
    shown = {span for page in PAGES for _, span in spans(page.read_text(encoding="utf-8"))}
    assert shown >= ELSEWHERE
    assert {span.split(".")[0] for span in shown} >= set(LIBRARIES)
