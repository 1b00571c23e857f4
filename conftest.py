"""What has changed of the C++ core is compiled before tests import it, however they are started."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BUILT = Path(__file__).parent / "build" / "core"


def compile_core() -> None:
    """Do what ``make core`` does, where the package is installed to be worked on."""
    beside_python = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    cmake = shutil.which("cmake", path=beside_python) or "cmake"
    done = subprocess.run([cmake, "--build", str(BUILT)], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.exit(f"The core does not compile.\n{done.stdout}{done.stderr}", returncode=4)


if (BUILT / "CMakeCache.txt").exists() and "PYTEST_XDIST_WORKER" not in os.environ:
    compile_core()
