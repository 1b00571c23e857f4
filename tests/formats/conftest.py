from __future__ import annotations

import pytest

from tamis.result import Admitted, Edge, Result, Selection, Trace, Verdict
from tamis.settings import Settings


def _verdict(target, other, given, *, dependent):
    gain, p = (0.2, 1e-20) if dependent else (0.0001, 0.6)
    return Verdict(
        target, (other,), given, gain, p, 0.001, 44.0 if dependent else -6.4, "p", dependent
    )


@pytest.fixture
def result():
    """rain → lawn → shoes, and hail on its own."""
    lawn = _verdict("lawn", "rain", (), dependent=True)
    shoes = _verdict("shoes", "lawn", (), dependent=True)
    refused = _verdict("shoes", "rain", ("lawn",), dependent=False)
    return Result(
        names=("shoes", "lawn", "rain", "hail"),
        levels={
            "shoes": ("clean", "muddy"),
            "lawn": (0, 1),
            "rain": (False, True),
            "hail": ("no",),
        },
        n_rows=2000,
        settings=Settings("sequential").to_dict(),
        layers=(("hail", "rain"), ("lawn",), ("shoes",)),
        order=("hail", "rain", "lawn", "shoes"),
        parents={"shoes": ("lawn",), "lawn": ("rain",), "rain": (), "hail": ()},
        entropies={"shoes": 0.6, "lawn": 0.5, "rain": 0.4, "hail": 0.0},
        edges=(
            Edge("rain", "lawn", 0.2, 1e-20, 1, 0.2, 0.28, "equivalence", 0.97),
            Edge("lawn", "shoes", 0.2, 1e-20, 1, 0.1 + 0.2, 0.19, "none", 0.75),
        ),
        trace=Trace(
            (
                Admitted("hail", 1, 0.0, "rain", 0.4, None),
                Admitted("rain", 2, 0.4, "lawn", 0.68, None),
                Admitted("lawn", 3, 0.5, "shoes", 0.69, None),
                Admitted("shoes", 4, 0.6, None, None, None),
            ),
            (),
            (
                Selection("hail", (), None, (), ()),
                Selection("rain", (), None, (), ()),
                Selection("lawn", (lawn,), None, (), ()),
                Selection("shoes", (shoes,), refused, (), ()),
            ),
        ),
        warnings=("hail never varies",),
    )
