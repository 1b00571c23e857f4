"""Imports point one way only, from the command down to the data."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import networkx as nx
import pytest

import tamis
from tamis.counting.blocks import BlockCounts
from tamis.counting.compiled import LOOP_FILES
from tamis.counting.counts import Counts
from tamis.counting.memory import MemoryCounts

SOURCE = Path(tamis.__file__).parent

LAYERS = {
    "ground": "errors constants plugins atomic markup portable progress",
    "tables": "tables network metrics simulate",
    "counting": "core counting",
    "sources": "information decisions rules",
    "settings": "knowledge parameters choices settings",
    "search": "search",
    "results": "inspection result drawing formats handover naming opening learning quantities "
    "rescoring bootstrap forecast identifiability report comparison estimator",
    "command": "cli __main__",
}
"""From the ground up: each layer knows its own rooms and those below it."""
HEIGHT = {room: i for i, rooms in enumerate(LAYERS.values()) for room in rooms.split()}


ROOMS = {
    "core": (9128, "core counting"),
    "sources": (10542, "information decisions rules.py"),
    "search": (1941, "search"),
    "tables": (7750, "tables inspection.py"),
    "networks": (3915, "network handover.py"),
    "identifiability": (2737, "identifiability"),
    "simulate, metrics": (2775, "simulate metrics"),
    "results": (4041, "result formats naming.py atomic.py portable.py"),
    "views": (3331, "report drawing markup.py progress.py"),
    "compare, cli": (5012, "comparison cli __main__.py"),
}
"""The lines that each room may have, docstrings included, and what belongs to it; the rest is the
front door. These figures only fall: those of version 1.0 are 17,000 in all."""
FRONT_DOOR = 4536
TESTS, STUDY = 32_000, 2_500
CODE = {".py", ".pyx", ".hpp", ".js", ".css", ".html", ".j2", ".toml", ".build"}
REPOSITORY = Path(__file__).parent.parent


FRONT = SOURCE / "result" / "model.py"
"""The methods of a result are a front for rooms that know results: imported when called."""


def modules() -> list[Path]:
    return sorted(p for p in SOURCE.rglob("*.py") if p != SOURCE / "__init__.py")


def home(path: Path) -> str:
    """The part of tamis a file belongs to."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(path: Path, *, when_loaded: bool = False) -> set[str]:
    """The parts of tamis a file imports, wherever in the file it does so, or when it is loaded."""
    names: set[str] = set()
    tree = ast.parse(path.read_text())
    for node in tree.body if when_loaded else ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "tamis":
                names |= {alias.name for alias in node.names}
            elif node.module.startswith("tamis."):
                names.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            names |= {a.name.split(".")[1] for a in node.names if a.name.startswith("tamis.")}
    return names


def needed() -> dict[str, set[str]]:
    """For each room the others that its files import."""
    found: dict[str, set[str]] = {}
    for path in modules():
        found.setdefault(home(path), set()).update(imported(path, when_loaded=path == FRONT))
    return {room: others - {room, "__version__"} for room, others in found.items()}


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_file_imports_from_its_own_layer_and_those_below(path):
    own = home(path)
    for other in imported(path) - {own, "__version__"}:
        assert HEIGHT[other] <= HEIGHT[own], f"{own} must not import {other}"


def test_every_room_has_a_layer():
    assert needed().keys() == HEIGHT.keys()


def lines_in(folder: Path) -> dict[str, int]:
    """The lines of code of each folder and file of a folder."""
    found: Counter[str] = Counter()
    for path in folder.rglob("*"):
        if path.suffix in CODE and path.is_file():
            found[path.relative_to(folder).parts[0]] += len(path.read_bytes().splitlines())
    return found


def test_no_room_is_larger_than_its_budget():
    found = lines_in(SOURCE)
    for room, (most, parts) in ROOMS.items():
        lines = sum(found.pop(part, 0) for part in parts.split())
        assert lines <= most, f"{room} has {lines} lines, {lines - most} more than its budget"
    assert sum(found.values()) <= FRONT_DOOR, f"the front door has {sum(found.values())} lines"


def test_tests_and_studies_keep_to_their_budgets():
    assert sum(lines_in(REPOSITORY / "tests").values()) <= TESTS
    assert sum(lines_in(REPOSITORY / "study").values()) <= STUDY


def test_no_rooms_need_each_other():
    graph = nx.DiGraph((room, other) for room, others in needed().items() for other in others)
    assert list(nx.simple_cycles(graph)) == []


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_library_code_has_no_print_no_assert_and_no_pickle(path):
    for node in ast.walk(ast.parse(path.read_text())):
        assert not isinstance(node, ast.Assert), f"assert in line {node.lineno}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "print", f"print in line {node.lineno}"
        if isinstance(node, ast.Import | ast.ImportFrom):
            assert "pickle" not in ast.dump(node)


def test_the_state_of_loops_covers_every_file_that_defines_any():
    found = {
        str(path.relative_to(SOURCE))
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if ast.unparse(decorator).split("(")[0] in {"compiled", "inner", "interpretable"}
    }
    assert found | {"counting/compiled.py", "counting/pointers.py"} == set(LOOP_FILES)


def test_everything_public_can_be_imported_and_is_documented():
    for name in tamis.__all__:
        value = getattr(tamis, name)
        assert name == "__version__" or value.__doc__, name
    assert set(tamis.__all__) <= set(dir(tamis))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        tamis.nonsense  # noqa: B018


def test_the_tests_twins_import_nothing_from_tamis():
    tree = ast.parse((Path(__file__).parent / "naive.py").read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert not (node.module or "").startswith("tamis")
        if isinstance(node, ast.Import):
            assert not any(a.name.startswith("tamis") for a in node.names)


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_tables_are_asked_where_their_rows_are_and_not_for_their_class(path):
    elsewhere = {"BlockTable", "PackedTable", "LongTable", "ClusterTable", "MomentTable"}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            asked = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
            assert node.func.id != "isinstance" or not asked & elsewhere, f"line {node.lineno}"


def test_engines_share_a_protocol_and_no_base():
    asked = {
        name for name in vars(Counts) if not name.startswith("_")
    } | Counts.__annotations__.keys()
    for engine in (MemoryCounts, BlockCounts):
        assert engine.__bases__ == (object,)
        assert asked - {"shapes"} <= set(dir(engine))
