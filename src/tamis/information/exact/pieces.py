"""The entropy of many variables as a sum of entropies of few: the chain rule on a graph.

Where the variables Q of a question do not all touch each other, eliminating them one by one gives

    H(Q) = sum over k in Q of H(k | its neighbours at its turn),

because given these a variable is independent of all that come later. Each term is a difference
of joint entropies of smaller sets, and these are split in the same way until all touch all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tamis.information.exact.graph import Dag
from tamis.information.exact.ordering import smallest_table
from tamis.information.exact.recent import Recent

Terms = Mapping[int, int]
"""Sets of variables, and how often the entropy of each is added; less than 0 to subtract."""

SPLITS = 4096
"""Splits remembered: the questions of a row share most of theirs."""


def combined(*signed: tuple[int, Terms]) -> dict[int, int]:
    """The sum of some terms with their signs; what cancels is gone and never computed."""
    total: dict[int, int] = {}
    for times, terms in signed:
        for variables, count in terms.items():
            total[variables] = total.get(variables, 0) + times * count
    return {variables: count for variables, count in total.items() if count}


class Splitter:
    """Splits entropies of one network; sets of variables are sets of bits."""

    def __init__(self, dag: Dag, levels: Sequence[int]) -> None:
        self._dag = dag
        self._levels = levels
        self._joints: Recent[int, Terms] = Recent(SPLITS)
        self._conditionals: Recent[tuple[int, int], Terms] = Recent(SPLITS)

    def joint(self, variables: int) -> Terms:
        """H(variables)."""
        return self._joints.recall(variables, self._joint)

    def conditional(self, variables: int, given: int) -> Terms:
        """H(variables | given), with nothing in it that does not matter."""
        return self._conditionals.recall((variables, given), self._conditional)

    def _joint(self, variables: int) -> Terms:
        graph = self._dag.marginal(variables)
        if all(around | 1 << k == variables for k, around in graph.items()):
            return {variables: 1} if variables else {}
        # Every variable has two levels or more, so the smallest table leaves someone out,
        # all parts are smaller than the whole, and the recursion ends.
        turns = smallest_table(graph, variables, self._levels)
        chain = combined(*((1, {around | 1 << k: 1, around: -1}) for k, around in turns))
        return combined(*((count, self.joint(part)) for part, count in chain.items()))

    def _conditional(self, question: tuple[int, int]) -> Terms:
        variables, given = question[0] & ~question[1], question[1]
        relevant = self._dag.reached(variables, given) & given
        together = self.joint(variables | relevant)
        if not relevant:
            return together
        # If all touch all, a table of everything is made anyway and is summed for the given.
        apart = {relevant: 1} if len(together) == 1 else self.joint(relevant)
        return combined((1, together), (-1, apart))
