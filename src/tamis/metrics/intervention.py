"""The structural intervention distance, computed by gadjid."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from tamis.errors import SettingError
from tamis.metrics.pairs import matched


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
