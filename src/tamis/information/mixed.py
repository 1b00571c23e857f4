"""Information about tables with both levels and measurements, from nearest neighbours.

Gains are those of Mesner and Shalizi (2020): neighbour counts that let ties be. A continuous column
enters by its normal scores, so that its values are about 1 apart; two levels of a column are 0 or
1 apart, whatever they are called. Neighbours therefore share the levels of a row while there are
enough such rows.

A discrete entropy and a differential one have no common scale: H(X_k | S) is in nats for both, but
that of a continuous column moves with its unit. An order between columns of different kinds is a
convention, not a fact about them (docs/continuous.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from scipy.special import digamma

from tamis.information.interface import Context, Floats, Ints
from tamis.information.neighbours.chance import whole
from tamis.information.neighbours.source import SHUFFLES, NearestNeighbours, prepared
from tamis.information.neighbours.space import Space
from tamis.tables.table import Table

FOR_MIXED = 7
"""Mesner and Shalizi's own number of neighbours; levels leave fewer rows to choose among."""


class MixedInformation(NearestNeighbours):
    """H and I of levels and measurements together."""

    @classmethod
    def from_table(
        cls,
        table: Table,
        *,
        k: int = FOR_MIXED,
        shuffles: int = SHUFFLES,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> Self:
        """Measured columns by their ranks, all others by their levels, numbers among them."""
        seed = whole("seed", seed, 0)
        measured = [v for v, kind in enumerate(table.kinds) if kind == "number"]
        scores, own, varying = prepared({table.names[v]: table.numbers(v) for v in measured}, seed)
        columns = table.codes.astype(np.float64)
        entropies = np.array([level_entropy(codes) for codes in table.codes.astype(np.int64)])
        varies = [arity > 1 for arity in table.arities.tolist()]
        for place, v in enumerate(measured):
            columns[v], entropies[v], varies[v] = scores[place], own[place], varying[place]
        is_levels = [kind != "number" for kind in table.kinds]
        space = Space(table.names, columns, is_levels)
        return cls(space, entropies, varies, k=k, shuffles=shuffles, seed=seed, n_jobs=n_jobs)

    def entropies(self, contexts: Sequence[Context]) -> Floats:
        """H(target | given) in nats: of levels never below 0, of a measurement in its unit."""
        found = super().entropies(contexts)
        levels = [self._space.is_levels[context.target] for context in contexts]
        return np.where(levels, np.maximum(found, 0.0), found)


def level_entropy(codes: Ints) -> float:
    """H(X) of levels: psi(n) less the mean over rows of psi(count), after Grassberger (1988).

    In this form a constant has entropy 0, and terms are those that the gains are made of.
    """
    counts = np.bincount(codes)
    return float(digamma(len(codes)) - digamma(counts[codes]).mean())
