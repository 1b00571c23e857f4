from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest


@pytest.fixture
def published():
    """The path of a network of the bnlearn repository, as pgmpy's wheel ships it."""
    spec = importlib.util.find_spec("pgmpy")
    folder = Path(spec.origin).parent / "utils" / "example_models"
    return lambda name: folder / f"{name}.bif.gz"
