"""From the levels of several variables to one number, the place in a flattened table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def flat_index(
    codes: NDArray[np.integer], variables: Sequence[int], arities: Sequence[int]
) -> NDArray[np.intp]:
    """For every row the configuration of some variables, the last one changing fastest.

    ``codes[k, i]`` is the level of variable ``k`` in row ``i``, and ``arities[k]`` its number
    of levels. No variable makes one configuration, number 0.
    """
    index = np.zeros(codes.shape[1], dtype=np.intp)
    for k in variables:
        index *= arities[k]
        index += codes[k].astype(np.intp, copy=False)
    return index
