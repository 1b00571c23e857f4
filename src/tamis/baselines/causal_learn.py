"""causal-learn's tables in, causal-learn's graphs out."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.baselines.interface import Learned
from tamis.errors import DataError
from tamis.tables import Table

_TAIL, _ARROW = -1, 1


def rows_of(table: Table) -> NDArray[np.int64]:
    """The table as causal-learn wants it: a row a case."""
    return np.ascontiguousarray(table.codes.T, dtype=np.int64)


def from_endpoints(endpoints: NDArray[Any]) -> Learned:
    """``endpoints[j, i]`` is the mark at j of the edge between i and j: -1 tail, 1 arrowhead.

    So i → j has a tail at i, ``endpoints[i, j] == -1``, and an arrowhead at j. An edge with two
    arrowheads, which a DAG cannot have, becomes an undirected one.
    """
    head_at_column = endpoints.T == _ARROW
    undirected = (endpoints == _TAIL) & (endpoints.T == _TAIL)
    return Learned((head_at_column | undirected).astype(np.int8))


@contextmanager
def grouping_quietly() -> Iterator[None]:
    """Leave out what pandas 2 warns of for each set of one parent that BDeu counts.

    causal-learn asks for a group in the way of pandas 1 first, and in that of pandas 3 if it fails.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "When grouping with a length-1", FutureWarning)
        yield


def require_prior(table: Table) -> None:
    """Refuse what causal-learn's BDeu score has no prior for."""
    if table.n_variables < 3:
        raise DataError(
            "causal-learn's BDeu score is not defined for two columns: its prior expects one "
            "parent a column and leaves no probability for none. Use 'ges-bic'."
        )
