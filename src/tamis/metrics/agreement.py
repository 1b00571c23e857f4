"""Precision, recall and F1 of skeletons, of directions and of edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tamis.metrics.distance import Undirected, is_favourable
from tamis.metrics.pairs import matched


@dataclass(frozen=True, slots=True)
class PrecisionRecall:
    """How many were learned, how many are true, and how many of the learned are right.

    Where nothing was learned no claim is wrong and the precision is 1; where nothing is true
    nothing is missed and the recall is 1; where both are empty F1 is 1.
    """

    right: int
    learned: int
    true: int

    @property
    def precision(self) -> float:
        """The share of the learned that is right."""
        return self.right / self.learned if self.learned else 1.0

    @property
    def recall(self) -> float:
        """The share of the true that was learned right."""
        return self.right / self.true if self.true else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.learned + self.true
        return 2 * self.right / both if both else 1.0


def skeleton_scores(learned: object, true: object) -> PrecisionRecall:
    """Adjacent pairs, whatever the direction of their edges."""
    pair = matched(learned, true)
    return PrecisionRecall(
        right=int(np.count_nonzero(pair.adjacent_in_both)),
        learned=int(np.count_nonzero(pair.adjacent_in_learned)),
        true=int(np.count_nonzero(pair.adjacent_in_true)),
    )


def orientation_scores(learned: object, true: object) -> PrecisionRecall:
    """Directions, among the pairs that are adjacent in both graphs.

    An undirected edge claims no direction: if learned it lowers the recall and not the
    precision, if true there is nothing to find.
    """
    pair = matched(learned, true)
    shared = pair.adjacent_in_both | pair.adjacent_in_both.T
    ours, theirs = pair.learned.arrows & shared, pair.true.arrows & shared
    return PrecisionRecall(
        right=int(np.count_nonzero(ours & theirs)),
        learned=int(np.count_nonzero(ours)),
        true=int(np.count_nonzero(theirs)),
    )


def edge_scores(
    learned: object, true: object, *, undirected: Undirected = "favourable"
) -> PrecisionRecall:
    """Edges with their directions; a reversed edge is one wrong and one missed.

    ``undirected`` is as in ``shd``: an undirected edge against a directed one is right if
    "favourable" and wrong if "strict".
    """
    pair = matched(learned, true)
    agreeing = pair.agreeing(favourable=is_favourable(undirected))
    return PrecisionRecall(
        right=int(np.count_nonzero(agreeing)),
        learned=int(np.count_nonzero(pair.adjacent_in_learned)),
        true=int(np.count_nonzero(pair.adjacent_in_true)),
    )
