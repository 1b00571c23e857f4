"""Laws for the nodes of a graph, one family a file; each is a function of its options."""

from __future__ import annotations

from collections.abc import Callable

from tamis.simulate.models.categories import (
    Add,
    Logistic,
    Mixed,
    Mod,
    NoisyOr,
    Ordinal,
    add,
    diamond,
    dirichlet,
    logistic,
    mixed,
    mod,
    noisy_or,
    ordinal,
)
from tamis.simulate.models.model import Model
from tamis.simulate.models.networks import Known, known, tables
from tamis.simulate.models.numbers import Gaussian, Nonlinear, gaussian, nonlinear, unfaithful

MODELS: dict[str, Callable[..., Model]] = {
    "mod": mod,
    "add": add,
    "tables": tables,
    "logistic": logistic,
    "gaussian": gaussian,
    "nonlinear": nonlinear,
    "noisy-or": noisy_or,
    "dirichlet": dirichlet,
    "ordinal": ordinal,
    "mixed": mixed,
}
"""Models of any graph, by the names they are asked for."""

EXAMPLES: dict[str, Callable[..., Model]] = {"diamond": diamond, "unfaithful": unfaithful}
"""Examples of the paper, which have graphs of their own."""

__all__ = [
    "EXAMPLES",
    "MODELS",
    "Add",
    "Gaussian",
    "Known",
    "Logistic",
    "Mixed",
    "Mod",
    "Model",
    "NoisyOr",
    "Nonlinear",
    "Ordinal",
    "add",
    "diamond",
    "dirichlet",
    "gaussian",
    "known",
    "logistic",
    "mixed",
    "mod",
    "noisy_or",
    "nonlinear",
    "ordinal",
    "tables",
    "unfaithful",
]
