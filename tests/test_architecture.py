"""Imports point one way only, from the command down to the data."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import tamis

SOURCE = Path(tamis.__file__).parent

LEVELS = [
    {"errors"},
    {"constants", "plugins"},
    {"atomic"},
    {"journal"},
    {"data"},
    {"counts"},
    {"information"},
    {"blocks"},
    {"cluster"},
    {"network"},
    {"metrics"},
    {"decisions"},
    {"adapters", "rules", "knowledge", "defaults"},
    {"choices"},
    {"settings"},
    {"search"},
    {"result"},
    {"drawing"},
    {"naming", "opening"},
    {"learning"},
    {"formats", "quantities", "simulate"},
    {"handover"},
    {"identifiability"},
    {"report"},
    {"bootstrap"},
    {"forecast"},
    {"estimator"},
    {"baselines"},
    {"experiments"},
    {"terminal"},
    {"cli_experiment", "cli_learn"},
    {"cli"},
    {"__main__"},
]
HEIGHT = {name: height for height, names in enumerate(LEVELS) for name in names}


def modules() -> list[Path]:
    return sorted(p for p in SOURCE.rglob("*.py") if p != SOURCE / "__init__.py")


def home(path: Path) -> str:
    """The part of tamis a file belongs to."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """The parts of tamis a file imports, wherever in the file it does so."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "tamis":
                names |= {alias.name for alias in node.names}
            elif node.module.startswith("tamis."):
                names.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            names |= {a.name.split(".")[1] for a in node.names if a.name.startswith("tamis.")}
    return names


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_file_imports_only_from_below_its_own_part(path):
    own = home(path)
    for other in imported(path) - {own, "__version__"}:
        assert HEIGHT[other] < HEIGHT[own], f"{own} must not import {other}"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_library_code_has_no_print_no_assert_and_no_pickle(path):
    for node in ast.walk(ast.parse(path.read_text())):
        assert not isinstance(node, ast.Assert), f"assert in line {node.lineno}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "print", f"print in line {node.lineno}"
        if isinstance(node, ast.Import | ast.ImportFrom):
            assert "pickle" not in ast.dump(node)


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
