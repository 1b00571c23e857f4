"""The build compiles the core, ships what the package reads, and says what it lacks."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

from tamis.core import _core

ROOT = Path(__file__).parent.parent.parent
CORE = ROOT / "src" / "tamis" / "core"
SOURCES = {".pyx", ".hpp"}
NEEDED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"][
    "requires"
]


def test_what_builds_the_package_is_the_same_in_the_makefile_and_in_the_recipe():
    in_make = re.findall(r"'(\S+)'", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert set(NEEDED) <= set(in_make)
    recipe = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8"))
    hosted = [one for one in recipe["requirements"]["host"] if isinstance(one, str)]
    assert set(NEEDED) <= {one.replace(" ", "") for one in hosted}


def test_the_core_that_is_imported_is_as_new_as_its_sources():
    module = Path(_core.__file__)
    if module.parent != CORE:
        pytest.skip("not installed to be worked on")
    changed = max(path.stat().st_mtime for path in CORE.iterdir() if path.suffix in SOURCES)
    assert module.stat().st_mtime >= changed


def cmake() -> str:
    found = shutil.which("cmake", path=str(Path(sys.executable).parent))
    return found or pytest.skip("not installed to be worked on: there is no cmake")


@pytest.mark.skipif(os.name == "nt", reason="there a compiler is found without PATH")
def test_without_a_compiler_the_build_ends_with_a_sentence_that_says_what_to_install(tmp_path):
    (tmp_path / "bin").mkdir()
    make = shutil.which("ninja", path=str(Path(sys.executable).parent))
    there = {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path)}
    ended = subprocess.run(
        [cmake(), "-S", ROOT, "-B", tmp_path, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={make}"],
        env=there,
        capture_output=True,
        text=True,
    )
    assert ended.returncode != 0
    told = " ".join(ended.stderr.split())
    assert "C++17 compiler and none was found: install g++ or clang (Linux)" in told


@pytest.mark.slow
def test_the_source_archive_builds_a_wheel_with_every_file_and_a_small_core(tmp_path):
    pytest.importorskip("scikit_build_core", reason="not installed to be worked on")
    pack = f"from scikit_build_core.build import build_sdist; build_sdist({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", pack], cwd=ROOT, check=True)
    (archive,) = tmp_path.glob("tamis-*.tar.gz")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tmp_path, archive],
        check=True,
    )
    (wheel,) = tmp_path.glob("tamis-*-cp311-abi3-*.whl")
    shipped = {one.filename: one.file_size for one in zipfile.ZipFile(wheel).infolist()}
    (module,) = (name for name in shipped if name.endswith((".so", ".pyd")))
    assert shipped[module] < 1_000_000
    assert {name for name in shipped if name.startswith("tamis/")} - {module} == {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src" / "tamis").rglob("*")
        if path.is_file() and path.suffix not in {*SOURCES, ".pyc", ".so", ".pyd"}
    }
