"""How far a learned graph is from the true one: structural distances, in the paper's convention and
in the strict one; precision, recall and F1 of skeletons, directions and edges; all scores at once.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np

from tamis.errors import SettingError
from tamis.metrics.graphs import Matrix, matched
from tamis.metrics.ordering import layer_errors, layer_inversions, order_errors, order_of

Edge = tuple[str, str]
"""A parent and its child."""

Undirected = Literal["favourable", "strict"]
"""What an undirected edge counts as: see ``shd``."""


def shd(learned: object, true: object, *, undirected: Undirected = "favourable") -> int:
    """Compute the structural Hamming distance between two graphs.

    It counts the pairs of nodes whose edge must be added, removed or changed; a reversed edge
    counts 1. The distance is symmetric.

    Parameters
    ----------
    learned, true : graph
        Graphs in any form that `tamis.metrics` lists.
    undirected : {"favourable", "strict"}
        What an undirected edge against a directed one counts: 0 if "favourable", the paper's
        convention (section 6: the correct orientation is assumed), and 1 if "strict". Where the
        other graph has no edge, an undirected edge counts 1 in both.

    Returns
    -------
    int
        0 for equal graphs.

    Examples
    --------
    >>> import tamis
    >>> tamis.metrics.shd({"a": ["b"], "b": [], "c": []}, {"a": [], "b": ["a"], "c": ["b"]})
    2
    """
    pair = matched(learned, true)
    adjacent = pair.adjacent_in_learned | pair.adjacent_in_true
    agreeing = pair.agreeing(favourable=is_favourable(undirected))
    return int(np.count_nonzero(adjacent & ~agreeing))


def is_favourable(undirected: str) -> bool:
    """The setting as a yes or no; anything else is refused."""
    if undirected not in ("favourable", "strict"):
        raise SettingError(f"undirected must be 'favourable' or 'strict', not {undirected!r}")
    return undirected == "favourable"


def edge_distance(learned: Collection[Edge], true: Collection[Edge]) -> int:
    """Compute the structural Hamming distance between two DAGs that are given as edges.

    Parameters
    ----------
    learned, true : collection of (parent, child)
        The edges of DAGs over the same nodes.

    Returns
    -------
    int
        The number of pairs whose edge differs.

    Examples
    --------
    >>> import tamis
    >>> tamis.metrics.edge_distance([("b", "a")], [("a", "b"), ("b", "c")])
    2
    """
    pairs = {frozenset(edge) for edge in set(learned) ^ set(true)}
    return len(pairs)


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
    return _counted(pair.adjacent_in_both, pair.adjacent_in_learned, pair.adjacent_in_true)


def _counted(*pairs: Matrix) -> PrecisionRecall:
    """From where the right, the learned and the true items are."""
    return PrecisionRecall(*(int(np.count_nonzero(one)) for one in pairs))


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
    return _counted(ours & theirs, ours, theirs)


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
    return _counted(agreeing, pair.adjacent_in_learned, pair.adjacent_in_true)


def sid(learned: object, true: object) -> int:
    """Compute the structural intervention distance of Peters and Bühlmann (2015) between two DAGs.

    It counts the ordered pairs of nodes whose intervention distribution comes out wrong when the
    parents in the learned graph are adjusted for. It is not symmetric. Needs the extra ``sid``.

    Parameters
    ----------
    learned, true : graph
        DAGs in any form that `tamis.metrics` lists.

    Returns
    -------
    int
        0 at best, d (d - 1) at worst.

    Examples
    --------
    >>> import tamis
    >>> tamis.metrics.sid({"a": ["b"], "b": []}, {"a": [], "b": ["a"]})
    2
    """
    gadjid = _gadjid()
    pair = matched(learned, true)
    pair.learned.require_dag("learned", "sid")
    pair.true.require_dag("true", "sid")
    ours, theirs = (graph.matrix.astype(np.int8) for graph in (pair.learned, pair.true))
    _, mistakes = gadjid.sid(theirs, ours, edge_direction="from row to column")
    return int(mistakes)


def _gadjid() -> Any:  # noqa: ANN401 - a module that may be absent
    try:
        return import_module("gadjid")
    except ImportError as error:
        raise SettingError(
            f"sid needs gadjid, which cannot be imported ({error}): pip install 'tamis[sid]'"
        ) from error


_intervention_distance = sid  # which ``scores`` has a parameter of the name of


@dataclass(frozen=True, slots=True)
class Scores:
    """All scores of a learned graph against the true one; a score that does not apply is None.

    Attributes
    ----------
    shd, shd_strict : int
        Structural Hamming distances that count undirected edges favourably, as the paper does, and
        strictly.
    skeleton : PrecisionRecall
        Of adjacent pairs.
    orientation : PrecisionRecall
        Of directions, among the pairs that are adjacent in both graphs.
    edges, edges_strict : PrecisionRecall
        Of edges with their directions, favourably and strictly.
    order_errors : int or None
        For learned models that have an order.
    layer_errors, layer_inversions : int or None
        For DAGs.
    sid : int or None
        The structural intervention distance, for DAGs and if it was asked for.

    Examples
    --------
    >>> import tamis
    >>> found = tamis.metrics.scores({"a": ["b"], "b": []}, {"a": [], "b": ["a"]})
    >>> found.shd, found.skeleton.f1, found.to_dict()["orientation_precision"]
    (1, 1.0, 0.0)
    """

    shd: int
    shd_strict: int
    skeleton: PrecisionRecall
    orientation: PrecisionRecall
    edges: PrecisionRecall
    edges_strict: PrecisionRecall
    order_errors: int | None
    layer_errors: int | None
    layer_inversions: int | None
    sid: int | None

    def to_dict(self) -> dict[str, int | float | None]:
        """Everything by name in one level, as in ``skeleton_precision``: a row of a table."""
        row: dict[str, int | float | None] = {}
        for name in self.__slots__:
            value = getattr(self, name)
            row |= _flat(name, value) if isinstance(value, PrecisionRecall) else {name: value}
        return row


def _flat(name: str, part: PrecisionRecall) -> dict[str, int | float | None]:
    counts = {f"{name}_{key}": count for key, count in asdict(part).items()}
    rates = {f"{name}_{key}": getattr(part, key) for key in ("precision", "recall", "f1")}
    return counts | rates


def scores(learned: object, true: object, *, sid: bool = False) -> Scores:
    """Compute every score of a learned graph.

    Parameters
    ----------
    learned, true : graph
        Graphs in any form that `tamis.metrics` lists.
    sid : bool
        Whether to compute the structural intervention distance too, for DAGs. It needs the extra
        ``sid``.

    Returns
    -------
    Scores
        All scores by name.

    Examples
    --------
    >>> import tamis
    >>> tamis.metrics.scores({"a": [], "b": ["a"]}, {"a": [], "b": ["a"]}).shd
    0
    """
    pair = matched(learned, true)
    dags = pair.learned.is_dag and pair.true.is_dag
    return Scores(
        shd=shd(learned, true),
        shd_strict=shd(learned, true, undirected="strict"),
        skeleton=skeleton_scores(learned, true),
        orientation=orientation_scores(learned, true),
        edges=edge_scores(learned, true),
        edges_strict=edge_scores(learned, true, undirected="strict"),
        order_errors=None if order_of(learned) is None else order_errors(learned, true),
        layer_errors=layer_errors(learned, true) if dags else None,
        layer_inversions=layer_inversions(learned, true) if dags else None,
        sid=_intervention_distance(learned, true) if sid and dags else None,
    )
