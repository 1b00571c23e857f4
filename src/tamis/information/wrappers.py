"""Sources around another source: one that remembers its answers, so that several searches over the
same rows count each context once, and one that takes entropies by any function of the counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tamis.core import Judge
from tamis.information.estimators import EntropyFunction
from tamis.information.interface import (
    Context,
    Floats,
    Group,
    Interaction,
    Profiles,
    Query,
    Source,
    Tests,
    singles,
)
from tamis.information.null_laws import CountTests

if TYPE_CHECKING:
    from tamis.information.counted import CountedInformation


class Wrapper(Source):
    """The answers of another source, as they are."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.names = source.names
        self.n_rows = source.n_rows
        self.test_names = source.test_names
        self.abilities = source.abilities
        self.entropy_variance = source.entropy_variance

    @property
    def title(self) -> str:
        """That of the source itself."""
        return self.source.title

    def has_own(self, method: str) -> bool:
        """Whether the source itself answers a question."""
        return self.source.has_own(method)

    def varies(self, k: int) -> bool:
        """Whether a variable takes more than one value."""
        return self.source.varies(k)

    def rows_behind(self, group: Group) -> int | None:
        """How many rows a test of these variables rests on; None where it is all rows."""
        return self.source.rows_behind(group)

    def entropies(self, contexts: Sequence[Context]) -> Floats:
        """H(target | given), one for each context."""
        return self.source.entropies(contexts)

    def cmi(self, contexts: Sequence[Context]) -> Floats:
        """I(target ; l | given) for every variable l: a row of d values for each context."""
        return self.source.cmi(contexts)

    def profiles(self, contexts: Sequence[Context]) -> Profiles:
        """Entropies and cmi, with the tests of all candidates where they are at hand."""
        return self.source.profiles(contexts)

    def as_tests(self, cmi: Floats, stats: Floats) -> Tests:
        """Entries of profiles as tests."""
        return self.source.as_tests(cmi, stats)

    def tests(self, queries: Sequence[Query]) -> Tests:
        """The candidates of all queries, end to end, each tested with its target."""
        return self.source.tests(queries)

    def joint_tests(self, groups: Sequence[Group]) -> Tests:
        """Each target with a group of variables, one test a group."""
        return self.source.joint_tests(groups)

    def penalised_likelihoods(self, contexts: Sequence[Context]) -> Floats:
        """The score of each target given its set."""
        return self.source.penalised_likelihoods(contexts)

    def judge(
        self, nodes: Sequence[int], *, edge_price: float = 0.0, same_units: bool = False
    ) -> Judge:
        """That of the source itself."""
        return self.source.judge(nodes, edge_price=edge_price, same_units=same_units)

    def affordable_look_ahead(self) -> int:
        """The largest sets of candidates that can be looked for within the budget; 1 is none."""
        return self.source.affordable_look_ahead()

    def worthwhile_look_ahead(self) -> int:
        """The largest sets of candidates that it pays to look for."""
        return self.source.worthwhile_look_ahead()

    def interactions(self, largest: int) -> list[tuple[Interaction, ...]]:
        """For each variable the sets of up to ``largest`` others to try together, by strength."""
        return self.source.interactions(largest)

    def scale_free(self) -> Source | None:
        """The source for columns brought to one scale, wrapped in the same way."""
        free = self.source.scale_free()
        return None if free is None else self.around(free)

    def around(self, source: Source) -> Source:
        """What this one does, around another source."""
        return type(self)(source)

    def entropy_kinds(self) -> Sequence[str | None]:
        """For each variable what its entropies can be compared with."""
        return self.source.entropy_kinds()


AT_ONCE = 256
"""Tables that are counted, and held, at once."""

Set = tuple[int, ...]


class WholeTables(Wrapper):
    """H and I by a function of whole tables; tests and likelihoods are those of the counts.

    H(X | S) is f of the joint table less f of that of S, and I(X ; Y | S) comes from four tables.
    Each table is counted, and the function called on it, once. A constant column says nothing.
    """

    source: CountedInformation

    def __init__(self, counted: CountedInformation, function: EntropyFunction) -> None:
        super().__init__(counted)
        self.function = function
        self._known: dict[Set, float] = {(): 0.0}

    def entropies(self, contexts: Sequence[Context]) -> Floats:
        """H(target | given), one for each context."""
        pairs = [(self._set({k, *given}), self._set(given)) for k, given in contexts]
        self._learn(one for pair in pairs for one in pair)
        return np.array([self._known[a] - self._known[b] for a, b in pairs], dtype=np.float64)

    def cmi(self, contexts: Sequence[Context]) -> Floats:
        """I(target ; l | given) for every variable l: a row of d values for each context."""
        everyone = range(self.n_variables)
        groups = [Group(k, given, (other,)) for k, given in contexts for other in everyone]
        return self._information(groups).reshape(len(contexts), self.n_variables)

    def profiles(self, contexts: Sequence[Context]) -> Profiles:
        """Entropies and cmi by the function, with the tests of the counts."""
        counted = self.source.profiles(contexts)
        return Profiles(self.entropies(contexts), self.cmi(contexts), counted.stats)

    def tests(self, queries: Sequence[Query]) -> Tests:
        """The candidates of all queries, end to end."""
        return self._with_own_cmi(self.source.tests(queries), singles(queries))

    def joint_tests(self, groups: Sequence[Group]) -> Tests:
        """Each target with a group of variables, one test a group."""
        return self._with_own_cmi(self.source.joint_tests(groups), groups)

    def _with_own_cmi(self, counted: CountTests, groups: Sequence[Group]) -> CountTests:
        return CountTests(self._information(groups), stats=counted.stats, n_rows=counted.n_rows)

    def _information(self, groups: Sequence[Group]) -> Floats:
        """I(target ; members | given) = H(S, X) + H(S, Y) - H(S) - H(S, X, Y)."""
        tables = [self._tables(*group) for group in groups]
        self._learn(one for four in tables for one in four)
        known = self._known
        found = [known[sx] + known[sy] - known[s] - known[sxy] for s, sx, sy, sxy in tables]
        return np.array(found, dtype=np.float64)

    def _tables(self, target: int, given: Set, members: Set) -> tuple[Set, Set, Set, Set]:
        own = {*given}
        fresh = {*self._set(members)} - {target, *given}
        if not fresh or target in own or not self.varies(target):
            return (), (), (), ()  # nothing to tell
        return (
            self._set(own),
            self._set(own | {target}),
            self._set(own | fresh),
            self._set(own | fresh | {target}),
        )

    def _set(self, members: Iterable[int]) -> Set:
        return tuple(sorted(k for k in members if self.varies(k)))

    def _learn(self, sets: Iterable[Set]) -> None:
        """Count the tables that are new, and call the function on each."""
        unknown = [one for one in dict.fromkeys(sets) if one not in self._known]
        for start in range(0, len(unknown), AT_ONCE):
            part = unknown[start : start + AT_ONCE]
            for one, counts in zip(part, self.source.tables(part), strict=True):
                named = ", ".join(repr(self.names[k]) for k in one)
                cells = self.source.n_cells(one)
                self._known[one] = self.function.entropy(counts, cells, f"the table of {named}")
