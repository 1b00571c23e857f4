"""How well rows fit a known network."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

import numpy as np

from tamis.errors import DataError, TamisWarning
from tamis.network.indexing import flat_index
from tamis.network.sampling import Codes
from tamis.tables import Label, Table, read_table

if TYPE_CHECKING:
    from tamis.network.model import BayesianNetwork

_SHOWN = 8


def log_likelihood(network: BayesianNetwork, codes: Codes) -> float:
    """The sum over rows of ln P(row); the same to the last bit for any order of the rows."""
    arities = [len(labels) for labels in network.levels]
    total = []
    for k, table in enumerate(network.tables):
        cells = flat_index(codes, (*network.parents[k], k), arities)
        counts = np.bincount(cells, minlength=table.size)
        seen = np.flatnonzero(counts)
        probabilities = table.ravel()[seen]
        if not probabilities.all():
            return -math.inf
        total += (counts[seen] * np.log(probabilities)).tolist()
    return math.fsum(total)


def codes_of(network: BayesianNetwork, data: object) -> Codes:
    """The rows in the levels of the network, whatever order or type the labels came in."""
    with warnings.catch_warnings():
        # A column may well be constant here: nothing is to be learned from it.
        warnings.simplefilter("ignore", TamisWarning)
        table = read_table(data)
    place = {name: k for k, name in enumerate(table.names)}
    missing = [name for name in network.names if name not in place]
    if missing:
        raise DataError(
            f"The table has no column {missing[0]!r}, which is a variable of the network. "
            "Add the column; columns that are no variables do no harm."
        )
    most = max(len(labels) for labels in network.levels)
    codes: Codes = np.empty((network.n_variables, table.n_rows), np.min_scalar_type(most - 1))
    for k, name in enumerate(network.names):
        codes[k] = _recoded(table, place[name], network.levels[k])
    return codes


def _recoded(table: Table, column: int, levels: tuple[Label, ...]) -> Codes:
    # As text, because BIF knows nothing else: a file's level '0' is a table's 0.
    code_of = {str(label): code for code, label in enumerate(levels)}
    labels = table.levels[column]
    unknown = [label for label in labels if str(label) not in code_of]
    if unknown:
        raise DataError(
            f"Column {table.names[column]!r} holds {unknown[0]!r}, which is not a level of that "
            f"variable. Its levels are {_listed(levels)}."
        )
    codes = np.array([code_of[str(label)] for label in labels], np.min_scalar_type(len(levels)))
    recoded: Codes = codes[table.codes[column]]
    return recoded


def _listed(levels: tuple[Label, ...]) -> str:
    more = len(levels) - _SHOWN
    return ", ".join(map(repr, levels[:_SHOWN])) + (f" and {more} more" if more > 0 else "")
