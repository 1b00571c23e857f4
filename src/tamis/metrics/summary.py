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
    """A learned graph against the true one; what does not apply is None.

    ``shd`` and ``edges`` count undirected edges favourably, as the paper does; ``shd_strict`` and
    ``edges_strict`` do not. ``order_errors`` is for learned models that have an order. Layers and
    ``sid`` are for DAGs.
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
    """Every score of this package.

    ``sid`` asks for the structural intervention distance too, which needs the extra ``sid``; it
    is computed where both graphs are DAGs.
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
