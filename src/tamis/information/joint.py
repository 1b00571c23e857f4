"""Exact information from a known joint distribution of a few variables.

No rows, no noise: what an algorithm does with these numbers it does by its own logic. Meant
for worked examples and for tests; the joint table is held whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr

from tamis.errors import DataError
from tamis.information.interface import Context, Floats, Group, Source, Tests

MOST_CELLS = 2**20
"""The largest joint table; a larger network wants inference, not a table."""
MOST_VARIABLES = 32
"""The number of dimensions that every supported numpy can hold."""
TOLERANCE = 1e-9
"""How far the probabilities of a distribution may be from summing to 1."""
RESOLUTION = 1e-12
"""Below this an entropy or a gain is rounding and is reported as exactly 0."""


class JointInformation(Source):
    """H and I of a distribution given by the probabilities of all its cells.

    ``joint[x_0, ..., x_{d-1}]`` is a probability. What is 0 in theory comes out as exactly
    0.0: conditional entropies and gains under 1e-12 are taken for the rounding they are.
    """

    title = "exact information"

    def __init__(self, names: Sequence[str], joint: ArrayLike) -> None:
        probabilities = np.asarray(joint, dtype=np.float64)
        _check_names(names, probabilities.ndim)
        _check_size(probabilities.shape)
        self.names = tuple(names)
        self.n_rows = math.inf
        self._joint = _normalised(probabilities, "the joint table")
        self._entropies: dict[frozenset[int], float] = {}

    @classmethod
    def from_network(
        cls,
        names: Sequence[str],
        parents: Sequence[tuple[int, ...]],
        tables: Sequence[ArrayLike],
    ) -> Self:
        """The joint distribution of a Bayesian network.

        ``parents[k]`` holds the positions of the parents of variable k, and ``tables[k]`` its
        probabilities, with one axis for each parent in that order and the last for k itself.
        """
        if not len(names) == len(parents) == len(tables):
            raise DataError(
                f"{len(names)} names, {len(parents)} parent sets and {len(tables)} tables; "
                "there must be one of each for every variable."
            )
        _check_acyclic(names, parents)
        conditionals = [np.asarray(table, dtype=np.float64) for table in tables]
        arities = _arities(names, parents, conditionals)
        _check_size(arities)
        joint = np.ones(arities)
        for k, table in enumerate(conditionals):
            rows = _normalised(table, f"a row of the table of {names[k]!r}", axis=-1)
            joint *= _spread(rows, (*parents[k], k), len(names))
        return cls(names, joint)

    def entropies(self, contexts: Sequence[Context]) -> Floats:
        """H(target | given), one for each context."""
        return np.array([self._conditional({k}, given) for k, given in contexts], dtype=np.float64)

    def cmi(self, contexts: Sequence[Context]) -> Floats:
        """I(target ; l | given) for every variable l: a row of d values for each context."""
        everyone = range(self.n_variables)
        values = [[self._gain(k, given, {other}) for other in everyone] for k, given in contexts]
        return np.array(values, dtype=np.float64).reshape(len(contexts), self.n_variables)

    def joint_tests(self, groups: Sequence[Group]) -> Tests:
        """The exact cmi of each group; p-values are of samples."""
        found = [self._gain(target, given, set(members)) for target, given, members in groups]
        return Tests(np.array(found, dtype=np.float64))

    def _cells(self, variables: set[int]) -> int:
        return math.prod(self._joint.shape[k] for k in variables)

    def _gain(self, target: int, given: tuple[int, ...], others: set[int]) -> float:
        """I(target ; others | given), from four entropies so that it is symmetric.

        The target itself and what is given have nothing to add, as the interface has it.
        """
        x, z = {target}, set(given)
        y = others - x - z
        if not y:
            return 0.0
        return _resolved(self._of(x | z), self._of(y | z), -self._of(x | y | z), -self._of(z))

    def _conditional(self, variables: set[int], given: Iterable[int]) -> float:
        return _resolved(self._of(variables.union(given)), -self._of(given))

    def _of(self, variables: Iterable[int]) -> float:
        """H of a set of variables, remembered."""
        key = frozenset(variables)
        if key not in self._entropies:
            self._entropies[key] = math.fsum(entr(self._marginal(key)).tolist())
        return self._entropies[key]

    def _marginal(self, variables: frozenset[int]) -> Floats:
        """The probabilities of the cells of a set of variables, in one row.

        The cells to be added lie side by side, where numpy sums pairwise: the rounding grows
        with the logarithm of their number.
        """
        kept = sorted(variables)
        dropped = sorted(set(range(self.n_variables)) - variables)
        cells = self._cells(set(kept))
        grouped = self._joint.transpose(kept + dropped).reshape(cells, -1)
        return np.asarray(np.ascontiguousarray(grouped).sum(axis=1))


def _resolved(*terms: float) -> float:
    value = math.fsum(terms)
    return 0.0 if abs(value) < RESOLUTION else value


def _spread(table: Floats, variables: tuple[int, ...], n_variables: int) -> Floats:
    """The table with its axes in order of position and an axis of 1 for every other variable."""
    ordered = table.transpose(np.argsort(variables))
    absent = tuple(k for k in range(n_variables) if k not in variables)
    return np.asarray(np.expand_dims(ordered, absent))


def _normalised(probabilities: Floats, what: str, axis: int | None = None) -> Floats:
    """Probabilities rescaled to sum to 1, as nearly as floats can."""
    if not (np.isfinite(probabilities).all() and (probabilities >= 0).all()):
        raise DataError(f"{what} has a probability that is negative or not a number.")
    total = probabilities.sum(axis=axis, keepdims=True)
    worst = float(np.abs(total - 1).max())
    if worst > TOLERANCE:
        raise DataError(f"{what} misses a sum of 1 by {worst:.3g}; probabilities must sum to 1.")
    return np.asarray(probabilities / total)


def _check_names(names: Sequence[str], n_variables: int) -> None:
    if not names or len(names) != n_variables:
        raise DataError(
            f"{len(names)} names for {n_variables} variables; name every variable once."
        )
    if len(set(names)) != len(names):
        raise DataError(f"variables share a name: {list(names)}.")


def _check_size(arities: Sequence[int]) -> None:
    cells = math.prod(arities)
    if cells > MOST_CELLS or len(arities) > MOST_VARIABLES:
        raise DataError(
            f"{len(arities)} variables with {cells} cells; a joint table holds at most "
            f"{MOST_VARIABLES} variables and {MOST_CELLS} cells."
        )
    if cells == 0:
        raise DataError(f"a variable has no levels: the arities are {list(arities)}.")


def _check_acyclic(names: Sequence[str], parents: Sequence[tuple[int, ...]]) -> None:
    for k, sources in enumerate(parents):
        if len(set(sources)) != len(sources) or not set(sources) <= set(range(len(names))):
            raise DataError(
                f"the parents of {names[k]!r} are {sources}; they must be different positions "
                f"from 0 to {len(names) - 1}."
            )
    try:
        TopologicalSorter(dict(enumerate(parents))).prepare()
    except CycleError as error:
        cycle = " <- ".join(str(names[k]) for k in error.args[1])
        raise DataError(f"the network has a cycle: {cycle}.") from error


def _arities(
    names: Sequence[str], parents: Sequence[tuple[int, ...]], tables: Sequence[Floats]
) -> tuple[int, ...]:
    """The number of levels of each variable, if the shapes of all tables agree on it."""
    arities = tuple(table.shape[-1] if table.ndim else 0 for table in tables)
    for k, table in enumerate(tables):
        wanted = (*(arities[parent] for parent in parents[k]), arities[k])
        if table.shape != wanted:
            raise DataError(f"the table of {names[k]!r} has shape {table.shape}, not {wanted}.")
    return arities
