"""The equal/unequal-entropy ordering of Theorem `thm:ident:unequal1`: one node at a time.

Whenever Condition `cond:uneq1` holds, the remaining node of least conditional entropy given
all nodes already taken comes next in a topological order; no testing and masking is needed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tamis.search.boundaries import Boundaries


def find_next(boundaries: Boundaries, free: Sequence[int] | None = None) -> tuple[int, int | None]:
    """The least uncertain remaining node and the one after it, if there is another; with ``free``
    only these count.

    Admitted nodes have infinite entropy; ties go to the first position.
    """
    entropies = boundaries.entropies
    if free is not None:
        order = boundaries.in_order(free)
        return order[0], order[1] if len(order) > 1 else None
    first = int(entropies.argmin())
    least = entropies[first]
    entropies[first] = np.inf
    second = int(entropies.argmin())
    another = bool(np.isfinite(entropies[second]))
    entropies[first] = least
    return first, second if another else None
