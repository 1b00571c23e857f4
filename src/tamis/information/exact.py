"""Exact information, from a known joint distribution or a known Bayesian network.

No rows, no noise: what an algorithm does with these numbers it does by its own logic. A joint table
of a few variables is held whole; a network is answered far beyond its joint table.

What d-separation decides is decided on the graph. What is left concerns a few variables and
their ancestors; the chain rule splits it into entropies of smaller sets (``separation``), and each
of these comes from a joint table made by eliminating variables (``inference``).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter
from operator import index
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr

from tamis.errors import DataError, SettingError
from tamis.information.inference import MOST_AXES, RESOLUTION, Inference
from tamis.information.interface import Context, Floats, Group, Query, Source, Tests
from tamis.information.separation import Terms, combined, members, node_set

MEMORY_LIMIT = 2**30
"""Bytes of the largest table unless told otherwise: 1 GiB."""


class ExactSource(Source):
    """A source that knows its law: everything follows from single entropies and gains, which no
    sample blurs."""

    title = "exact information"
    n_rows = math.inf

    @abstractmethod
    def conditional_entropy(self, k: int, given: Iterable[int] = ()) -> float:
        """H(k | given)."""

    @abstractmethod
    def gain(self, k: int, others: Iterable[int], given: Iterable[int] = ()) -> float:
        """I(k ; others | given), the others taken as one variable; the target itself and what is
        given have nothing to add."""

    def entropies(self, contexts: Sequence[Context]) -> Floats:
        """H(target | given), one for each context."""
        return np.array([self.conditional_entropy(*context) for context in contexts], dtype=float)

    def cmi(self, contexts: Sequence[Context]) -> Floats:
        """I(target ; l | given) for every variable l: a row of d values for each context."""
        nodes = range(self.n_variables)
        rows = [[self.gain(target, [k], given) for k in nodes] for target, given in contexts]
        return np.array(rows, dtype=float).reshape(len(contexts), len(nodes))

    def joint_tests(self, groups: Sequence[Group]) -> Tests:
        """The exact cmi of each group; p-values are of samples."""
        gains = [self.gain(target, members, given) for target, given, members in groups]
        return Tests(np.array(gains, dtype=np.float64))


class ExactInformation(ExactSource):
    """H and I of a Bayesian network by exact inference.

    ``parents[k]`` holds the positions of the parents of variable k, and ``tables[k]`` its
    probabilities, with one axis for each parent in that order and the last for k itself.

    ``memory_limit``, in bytes, bounds the largest single table of a computation; two or three of
    that size may exist at a time. A question that needs a larger one raises ``TooLarge`` before
    anything is allocated, and ``forecast`` tells beforehand. Answers are remembered.

    Answers err by about 1e-14. Gains of d-separated variables are exactly 0.0 and cost nothing.
    What computes to less than 1e-12, or to less than 4e-15 of the entropies it is made of, is
    reported as exactly 0.0: a gain above 0 is there, and one below that size is not seen.
    """

    def __init__(
        self,
        names: Sequence[str],
        parents: Sequence[Sequence[int]],
        tables: Sequence[ArrayLike],
        *,
        memory_limit: float = MEMORY_LIMIT,
    ) -> None:
        edges = [tuple(map(index, sources)) for sources in parents]
        conditionals = [np.asarray(table, dtype=np.float64) for table in tables]
        _check_names(names, len(conditionals))
        if len(edges) != len(names):
            raise DataError(f"{len(edges)} parent sets for {len(names)} variables; give one each.")
        _check_acyclic(names, edges)
        if not memory_limit > 0:
            raise SettingError(
                f"memory_limit is {memory_limit}; it must be a positive number of bytes."
            )
        self.names = tuple(names)
        self.levels = _arities(names, edges, conditionals)
        """The number of levels of each variable."""
        if 0 in self.levels:
            name = names[self.levels.index(0)]
            raise DataError(f"{name!r} has no levels; a variable has one at least.")
        # A variable with one level says nothing: no table needs it and no trail leads through it.
        self._varied = node_set(k for k, levels in enumerate(self.levels) if levels > 1)
        linked = [self._linked(k, sources) for k, sources in enumerate(edges)]
        rows = [_rows(name, table) for name, table in zip(names, conditionals, strict=True)]
        self._inference = Inference(self.names, linked, rows, memory_limit)

    def varies(self, k: int) -> bool:
        """Whether a variable takes more than one value with a probability that matters."""
        return self.entropy_of([k]) > 0

    # --- single questions ------------------------------------------------------------------

    def entropy_of(self, variables: Iterable[int]) -> float:
        """The joint entropy H(variables)."""
        return self._value(self._inference.splits.joint(self._set(variables)))

    def conditional_entropy(self, k: int, given: Iterable[int] = ()) -> float:
        """H(k | given)."""
        return self._value(self._entropy_terms(k, given))

    def gain(self, k: int, others: Iterable[int], given: Iterable[int] = ()) -> float:
        """I(k ; others | given), the others taken as one variable.

        The target itself and what is given have nothing to add.
        """
        return self._value(self._gain_terms(k, others, given))

    def marginal(self, variables: Sequence[int]) -> Floats:
        """The joint table of some variables, one axis each, in the order asked for."""
        order = [index(k) for k in variables]
        if len(set(order)) != len(order) or len(order) > MOST_AXES:
            raise DataError(f"a table has up to {MOST_AXES} different variables, not {order}.")
        wanted = self._set(order)
        table = self._inference.table(wanted)
        place = {k: axis for axis, k in enumerate(members(wanted))}
        turned = table.transpose([place[k] for k in order if k in place])
        shaped = turned.reshape([self.levels[k] for k in order])
        return shaped if shaped.flags.writeable else shaped.copy()

    def relevant(self, k: int, given: Iterable[int]) -> tuple[int, ...]:
        """The part of the given that says anything about k: the rest is d-separated by it."""
        z = self._set(given)
        return tuple(members(self._inference.dag.reached(self._set([k]) & ~z, z) & z))

    def separated(self, k: int, others: Iterable[int], given: Iterable[int] = ()) -> bool:
        """Whether the given d-separate k from all of the others that are not given."""
        x, z = self._set([k]), self._set(given)
        return not self._inference.dag.reached(x & ~z, z) & self._set(others) & ~x & ~z

    def forecast(self, question: Context | Query | Group) -> int:
        """The number of cells of the largest table that an answer takes, without any work.

        A context asks for its entropy, a query for the gain of each candidate, a group for its
        gain. What is remembered from before does not count as saved.
        """
        if isinstance(question, Context):
            return self._inference.size(self._entropy_terms(*question))
        if isinstance(question, Group):
            target, given, others = question
            return self._inference.size(self._gain_terms(target, others, given))
        singles = [Group(question.target, question.given, (k,)) for k in question.candidates]
        return max(map(self.forecast, singles), default=0)

    # --- the interface ---------------------------------------------------------------------

    def cmi(self, contexts: Sequence[Context]) -> Floats:
        """I(target ; l | given) for every variable l: a row of d values for each context.

        Variables that are d-separated cost nothing. A row is refused as a whole.
        """
        rows = np.zeros((len(contexts), self.n_variables))
        for row, (target, given) in zip(rows, contexts, strict=True):
            x, z = self._set([target]), self._set(given)
            linked = members(self._inference.dag.reached(x & ~z, z) & ~x & ~z)
            questions = [self._gain_terms(target, [k], given) for k in linked]
            row[linked] = self._inference.values(questions)
        return rows

    # --- questions as sums of entropies ----------------------------------------------------

    def _value(self, terms: Terms) -> float:
        return self._inference.values([terms])[0]

    def _entropy_terms(self, k: int, given: Iterable[int]) -> Terms:
        return self._inference.splits.conditional(self._set([k]), self._set(given))

    def _gain_terms(self, k: int, others: Iterable[int], given: Iterable[int]) -> Terms:
        """I(x ; y | z) as H(x | z) - H(x | y, z)."""
        z = self._set(given)
        x = self._set([k]) & ~z
        y = self._set(others) & ~x & ~z
        if not self._inference.dag.reached(x, z) & y:
            return {}
        if y.bit_count() == 1:
            # The same sum to the last bit, whoever asks about whom.
            x, y = sorted((x, y), reverse=True)
        conditional = self._inference.splits.conditional
        return combined((1, conditional(x, z)), (-1, conditional(x, y | z)))

    # --- variables as bits -----------------------------------------------------------------

    def _set(self, variables: Iterable[int]) -> int:
        """The variables that have more than one level."""
        found = 0
        for k in map(index, variables):
            if not 0 <= k < self.n_variables:
                last = self.n_variables - 1
                raise DataError(f"there is no variable {k}; positions go from 0 to {last}.")
            found |= 1 << k
        return found & self._varied

    def _linked(self, k: int, sources: Iterable[int]) -> tuple[int, ...]:
        if not self._varied >> k & 1:
            return ()
        return tuple(p for p in sources if self._varied >> p & 1)


def _rows(name: str, table: Floats) -> Floats:
    """The conditional probabilities without the axes of variables that have one level."""
    rows = _normalised(table, f"a row of the table of {name!r}", axis=-1)
    if rows.shape[-1] == 1:
        return np.ones(1)
    return rows.reshape([levels for levels in rows.shape if levels > 1])


MOST_JOINT_CELLS = 2**20
"""The largest joint table; a larger network wants inference, not a table."""
MOST_VARIABLES = 32
"""The number of dimensions that every supported numpy can hold."""
TOLERANCE = 1e-9
"""How far the probabilities of a distribution may be from summing to 1."""


class JointInformation(ExactSource):
    """H and I of a distribution given by the probabilities of all its cells.

    ``joint[x_0, ..., x_{d-1}]`` is a probability. What is 0 in theory comes out as exactly
    0.0: conditional entropies and gains under 1e-12 are taken for the rounding they are.
    """

    def __init__(self, names: Sequence[str], joint: ArrayLike) -> None:
        probabilities = np.asarray(joint, dtype=np.float64)
        _check_names(names, probabilities.ndim)
        _check_size(probabilities.shape)
        self.names = tuple(names)
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

    def gain(self, k: int, others: Iterable[int], given: Iterable[int] = ()) -> float:
        """I(k ; others | given), from four entropies so that it is symmetric."""
        x, z = {k}, set(given)
        y = set(others) - x - z
        if not y:
            return 0.0
        return _resolved(self._of(x | z), self._of(y | z), -self._of(x | y | z), -self._of(z))

    def conditional_entropy(self, k: int, given: Iterable[int] = ()) -> float:
        """H(k | given)."""
        return _resolved(self._of({k, *given}), -self._of(given))

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
        cells = math.prod(self._joint.shape[k] for k in kept)
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
    if cells > MOST_JOINT_CELLS or len(arities) > MOST_VARIABLES:
        raise DataError(
            f"{len(arities)} variables with {cells} cells; a joint table holds at most "
            f"{MOST_VARIABLES} variables and {MOST_JOINT_CELLS} cells."
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
