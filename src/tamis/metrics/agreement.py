"""Precision, recall and F1 of skeletons, of directions and of edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tamis.metrics.distance import Undirected, is_favourable
from tamis.metrics.pairs import matched


@dataclass(frozen=True, slots=True)
class PrecisionRecall:
    """Counts of learned, true and rightly learned items, with precision, recall and F1.

    If nothing was learned, no claim is wrong and the precision is 1. If nothing is true, nothing is
    missed and the recall is 1. If both are empty, F1 is 1.

    Attributes
    ----------
    right : int
        How many of the learned items are true.
    learned : int
        How many were learned.
    true : int
        How many there are in truth.

    Examples
    --------
    >>> import tamis
    >>> found = tamis.metrics.PrecisionRecall(right=3, learned=4, true=6)
    >>> found.precision, found.recall, found.f1
    (0.75, 0.5, 0.6)
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
    """Compare the adjacent pairs of two graphs, whatever the direction of their edges.

    Parameters
    ----------
    learned, true : graph
        Graphs in any form that `tamis.metrics` lists.

    Returns
    -------
    PrecisionRecall
        Of pairs of nodes.

    Examples
    --------
    >>> import tamis
    >>> tamis.metrics.skeleton_scores({"a": ["b"], "b": []}, {"a": [], "b": ["a"]})
    PrecisionRecall(right=1, learned=1, true=1)
    """
    pair = matched(learned, true)
    return PrecisionRecall(
        right=int(np.count_nonzero(pair.adjacent_in_both)),
        learned=int(np.count_nonzero(pair.adjacent_in_learned)),
        true=int(np.count_nonzero(pair.adjacent_in_true)),
    )


def orientation_scores(learned: object, true: object) -> PrecisionRecall:
    """Compare directions, among the pairs that are adjacent in both graphs.

    An undirected edge claims no direction. If it was learned it lowers the recall and not the
    precision; if it is true there is no direction to find.

    Parameters
    ----------
    learned, true : graph
        Graphs in any form that `tamis.metrics` lists.

    Returns
    -------
    PrecisionRecall
        Of directions.

    Examples
    --------
    >>> import tamis
    >>> tamis.metrics.orientation_scores({"a": ["b"], "b": []}, {"a": [], "b": ["a"]})
    PrecisionRecall(right=0, learned=1, true=1)
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
    """Compare edges with their directions; a reversed edge is one wrong and one missed.

    Parameters
    ----------
    learned, true : graph
        Graphs in any form that `tamis.metrics` lists.
    undirected : {"favourable", "strict"}
        Whether an undirected edge against a directed one is right or wrong, as in `shd`.

    Returns
    -------
    PrecisionRecall
        Of edges.

    Examples
    --------
    >>> import tamis
    >>> chain = {"a": [], "b": ["a"], "c": ["b"]}
    >>> tamis.metrics.edge_scores({"a": ["b"], "b": [], "c": ["b"]}, chain)
    PrecisionRecall(right=1, learned=2, true=2)
    """
    pair = matched(learned, true)
    agreeing = pair.agreeing(favourable=is_favourable(undirected))
    return PrecisionRecall(
        right=int(np.count_nonzero(agreeing)),
        learned=int(np.count_nonzero(pair.adjacent_in_learned)),
        true=int(np.count_nonzero(pair.adjacent_in_true)),
    )
