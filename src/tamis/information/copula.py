"""Information from a Gaussian copula: monotone dependence, whatever the laws of the columns.

Every column is replaced by the normal scores of its ranks (ties share their middle rank), and the
moments of the scores are taken as those of Gaussian variables. Gains therefore do not change
when a column is transformed monotonely (Liu, Lafferty and Wasserman, 2009, the nonparanormal).

All normal scores have the same entropy, so the copula alone cannot rank columns. H(X_k | S) is
the entropy of the continuous column, by its nearest neighbours and in its own unit, less the
copula's I(X_k ; S).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

import numpy as np

from tamis.errors import DataError
from tamis.information.continuous import (
    column_entropy,
    normal_scores,
    require_numbers,
    tell_of_ties,
    untied,
    whole,
)
from tamis.information.gaussian import GaussianInformation, analytic, checked_or_auto
from tamis.information.interface import Floats, Ints
from tamis.tables.moments import require_moments
from tamis.tables.refusals import shown
from tamis.tables.table import Table


class CopulaInformation(GaussianInformation):
    """H and I of variables with a Gaussian copula, judged as Gaussian ones are (``FTest``)."""

    def __init__(
        self,
        names: Sequence[str],
        scores: Floats,
        own_entropies: Floats,
        *,
        shrinkage: float | str = 0.0,
    ) -> None:
        """``scores`` has shape (d, n), a row of zeros for a column that never varies."""
        # A Gaussian variable with the entropy of the column: then entropies come out in its unit.
        spread = np.sqrt(np.mean(scores**2, axis=1))
        wanted = np.exp(own_entropies) / math.sqrt(2 * math.pi * math.e)
        standard = scores / np.where(spread > 0, spread, 1.0)[:, None]
        n = scores.shape[1]
        correlation = standard @ standard.T / n
        shrunk = checked_or_auto(shrinkage)
        if isinstance(shrunk, str):
            shrunk = analytic([standard], correlation)
        super().__init__(names, correlation * np.outer(wanted, wanted), n, shrinkage=shrunk)

    @classmethod
    def from_table(cls, table: Table, *, shrinkage: float | str = 0.0, seed: int = 0) -> Self:
        """The ranks of a table of numbers; ``seed`` decides only how ties are spread for H(X_k)."""
        seed = whole("seed", seed, 0)
        numbers = {name: table.numbers(k) for k, name in enumerate(table.names)}
        for name, values in numbers.items():
            require_numbers(name, values)
        varying = {name: one for name, one in numbers.items() if require_moments(name, one)}
        scores, entropies = np.zeros((len(numbers), table.n_rows)), np.zeros(len(numbers))
        for k, (name, values) in enumerate(numbers.items()):
            if name in varying:
                scores[k] = normal_scores(values)
                scores[k] -= scores[k].mean()
                entropies[k] = column_entropy(untied(name, values, seed))
        tell_of_ties(varying)
        return cls(table.names, scores, entropies, shrinkage=shrinkage)

    def _refusal(self, columns: Ints, i: int) -> DataError:
        return DataError(
            f"The ranks of column {shown(self.names[columns[i]])} follow from those of "
            f"{self._explaining(columns, i)}, so that the copula cannot be inverted. Drop one of "
            "them, or shrink the correlations: source={'shrinkage': 0.1}; on the command line "
            "--source shrinkage=0.1."
        )
