"""All scores of one learned graph at once."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from tamis.metrics.agreement import (
    PrecisionRecall,
    edge_scores,
    orientation_scores,
    skeleton_scores,
)
from tamis.metrics.distance import shd
from tamis.metrics.intervention import sid as intervention_distance
from tamis.metrics.ordering import layer_errors, layer_inversions, order_errors, order_of
from tamis.metrics.pairs import matched


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
        sid=intervention_distance(learned, true) if sid and dags else None,
    )
