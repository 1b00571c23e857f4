"""Entropy by a function from outside: anything that turns the counts of a table into nats.

The estimators of this folder are sums over cells, which is why the compiled loops can apply them
while they count. A function need not be one, so Chao and Shen's estimator, NSB or James and Stein's
can be used. It takes the slow path: every table is counted whole, and the function called on it.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import final

import numpy as np
from numpy.typing import NDArray

from tamis.plugins import (
    LARGEST,
    Plain,
    answer_of,
    is_number,
    parameters_of,
    qualified_name,
    refusal,
)

Ints = NDArray[np.int64]


@final
class EntropyFunction:
    """``function(counts)`` gives the entropy in nats of a table with these counts.

    ``counts`` holds the rows of each cell that occurs, in falling order: a one-dimensional array of
    whole numbers above 0. A function with a parameter ``cells`` is also told how many cells the
    table could have, empty ones included, as a float.
    """

    def __init__(self, function: Callable[..., float]) -> None:
        self.function = function
        self.takes_cells = _takes_cells(function)

    @property
    def name(self) -> str:
        """The qualified name of the function."""
        return qualified_name(self.function)

    def parameters(self) -> dict[str, Plain]:
        """What the function was given beforehand, if it tells."""
        return parameters_of(self.function)

    def entropy(self, counts: Ints, cells: float, where: str = "a table") -> float:
        """The entropy of one table, checked; ``where`` says which table it is."""
        told = {"cells": cells} if self.takes_cells else {}
        falling = np.sort(counts)[::-1].copy()
        what = f"entropy={self.name} of {where}"
        found = answer_of(what, lambda: self.function(falling, **told))
        if not is_number(found, 0.0):
            shown = np.array2string(falling[:8], separator=", ")
            wanted = f"an entropy is one finite number of nats, from 0 to {LARGEST:g}"
            raise refusal(f"{what}, whose counts begin with {shown},", found, wanted)
        return float(found)


def _takes_cells(function: Callable[..., float]) -> bool:
    try:
        return "cells" in signature(function).parameters
    except (TypeError, ValueError):  # some functions written in C do not say
        return False
