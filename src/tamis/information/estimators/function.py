"""Entropy by a function from outside: anything that turns the counts of a table into nats.

The estimators of this folder are sums over cells, which is why the compiled loops can apply them
while they count. A function need not be one, so Chao and Shen's estimator, NSB or James and Stein's
can be used. It takes the slow path: every table is counted whole, and the function called on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from inspect import signature
from typing import final

import numpy as np
from numpy.typing import NDArray

from tamis.errors import PluginError
from tamis.plugins import Plain, answer_of, parameters_of, qualified_name

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
        if not _is_entropy(found):
            shown = np.array2string(falling[:8], separator=", ")
            raise PluginError(
                f"{what}, whose counts begin with {shown}, returned {found!r}; an entropy is one "
                "finite number of nats, 0 or more"
            )
        return float(found)


def _is_entropy(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, float | int | np.floating | np.integer):
        return False
    return math.isfinite(value) and float(value) >= 0.0


def _takes_cells(function: Callable[..., float]) -> bool:
    try:
        return "cells" in signature(function).parameters
    except (TypeError, ValueError):  # some functions written in C do not say
        return False
