"""Sources around another source: one that remembers its answers, so that several searches over the
same rows count each context once, and one that takes entropies by any function of the counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tamis.core import Judge
from tamis.information.estimators import EntropyFunction
from tamis.information.interface import (
    LEADING,
    Answering,
    Context,
    Families,
    Floats,
    Group,
    Interaction,
    Ints,
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
        self.score_noise = source.score_noise
        self.entropy_variance = source.entropy_variance
        self.rows_read = source.rows_read
        self.cells_read = source.cells_read

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

    def occurring_likelihoods(self, contexts: Sequence[Context]) -> Floats:
        """The score of each target, with the price of the states that can occur."""
        return self.source.occurring_likelihoods(contexts)

    def families(self, contexts: Sequence[Context]) -> Families:
        """Each given variable tested given the others, and the likelihoods: by the source, unless
        this one tests or scores by itself."""
        asked = ("tests", "joint_tests", "penalised_likelihoods")
        if any(getattr(type(self), one) is not getattr(Wrapper, one) for one in asked):
            return super().families(contexts)
        return self.source.families(contexts)

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


MOST_BYTES = 2**28
"""So much is kept of whole rows, and as much of the largest cmi of others; contexts beyond this are
counted again when they are asked for again."""
WIDE = 4 * LEADING
"""With fewer variables there is little to be gained by that."""

Interactions = list[tuple[Interaction, ...]]
"""For each variable the sets to try together."""

_Row = tuple[float, Floats, Floats | None]
_Leading = tuple[float, Ints, Floats]
"""An entropy, who has the largest cmi, and these."""


class RememberedInformation(Wrapper):
    """The answers of another source; profiles, of wide tables the largest cmi, and interactions are
    kept.

    ``interactions`` that are known already, by the size of the largest sets, are not looked for.
    """

    def __init__(
        self, source: Source, interactions: Mapping[int, Interactions] | None = None
    ) -> None:
        super().__init__(source)
        self._rows: dict[Context, _Row] = {}
        self._bytes = 0
        self._entropies: dict[Context, float] = {}
        self._leading: dict[Context, _Leading] = {}
        self._leading_bytes = 0
        self._likelihoods: dict[Context, float] = {}
        self._occurring: dict[Context, float] = {}
        self._groups: dict[Group, tuple[Tests, int]] = {}
        self._interactions: dict[int, Interactions] = dict(interactions or {})
        self.selected: tuple[object, object] | None = None
        """A rule, and what selections by it keep for each other."""

    def direct(self, test: str | None) -> Answering | None:
        """What the source has: a search that asks one question at a time remembers by itself."""
        return self.source.direct(test)

    def entropies(self, contexts: Sequence[Context]) -> Floats:
        """H(target | given); only those not known are asked for."""
        return _completed(self._entropies, contexts, self.source.entropies)

    def cmi(self, contexts: Sequence[Context]) -> Floats:
        """I(target ; l | given) for every variable l: a row of d values for each context."""
        return self.profiles(contexts).cmi

    def profiles(self, contexts: Sequence[Context]) -> Profiles:
        """Entropies, gains and tests; contexts not seen before are asked for in one batch."""
        rows: list[_Row | None] = [self._rows.get(context) for context in contexts]
        unknown = [i for i, row in enumerate(rows) if row is None]
        if len(unknown) == len(contexts):
            fresh = self.source.profiles(contexts)
            self._keep(contexts, fresh)
            return fresh
        if unknown:
            asked = [contexts[i] for i in unknown]
            fresh = self.source.profiles(asked)
            self._keep(asked, fresh)
            for i, row in zip(unknown, _lines(fresh), strict=True):
                rows[i] = row
        return _together([row for row in rows if row is not None])

    def leading(self, contexts: Sequence[Context]) -> Profiles:
        """Profiles of which those rows are not whole of which only the largest cmi are kept."""
        kept = [None if one in self._rows else self._leading.get(one) for one in contexts]
        whole = np.array([one is None for one in kept], dtype=np.bool_)
        if whole.all():
            return self.profiles(contexts)
        entropies, cmi = np.empty(len(kept)), np.full((len(kept), self.n_variables), -np.inf)
        if whole.any():
            rest = self.profiles([contexts[i] for i in np.flatnonzero(whole).tolist()])
            entropies[whole], cmi[whole] = rest.entropies, rest.cmi
        for i, one in enumerate(kept):
            if one is not None:
                entropies[i], cmi[i, one[1]] = one[0], one[2]
        return Profiles(entropies, cmi, whole=whole)

    def tests(self, queries: Sequence[Query]) -> Tests:
        """All that is known about each test; what rows do not hold is asked for in one batch."""
        gains, stats = [], []
        known, unknown = [], []
        for i, query in enumerate(queries):
            row = self._rows.get(Context(query.target, query.given))
            if row is None or row[2] is None:
                unknown.append(i)
            else:
                known.append(i)
                gains.append(row[1][query.candidates])
                stats.append(row[2][query.candidates])
        if not known:
            return self.source.tests(queries)
        read = self.as_tests(np.concatenate(gains), np.concatenate(stats))
        if not unknown:
            return read
        asked = self.source.tests([queries[i] for i in unknown])
        both = read.followed_by([asked])
        # Who is where: the tests of what is known come first, then those that were asked for.
        lengths = np.array([len(queries[i].candidates) for i in (*known, *unknown)])
        owners = np.repeat(np.array((*known, *unknown)), lengths)
        return both.at(np.argsort(owners, kind="stable"))

    def joint_tests(self, groups: Sequence[Group]) -> Tests:
        """Tests of groups of variables, one a group; each group is counted once."""
        unknown = [one for one in dict.fromkeys(groups) if one not in self._groups]
        if len(unknown) == len(groups) or not groups:
            fresh = self.source.joint_tests(groups)
            self._groups.update({one: (fresh, i) for i, one in enumerate(groups)})
            return fresh
        if unknown:
            fresh = self.source.joint_tests(unknown)
            self._groups.update({one: (fresh, i) for i, one in enumerate(unknown)})
        kept = [self._groups[one] for one in groups]
        first, *others = [batch.at(np.array([i])) for batch, i in kept]
        return first.followed_by(others)

    def penalised_likelihoods(self, contexts: Sequence[Context]) -> Floats:
        """The score of each node; those not known are asked for in one batch."""
        return _completed(self._likelihoods, contexts, self.source.penalised_likelihoods)

    def occurring_likelihoods(self, contexts: Sequence[Context]) -> Floats:
        """The score by the states that can occur, likewise."""
        return _completed(self._occurring, contexts, self.source.occurring_likelihoods)

    def families(self, contexts: Sequence[Context]) -> Families:
        """Tests of members given the others, which are not kept, and the likelihoods, which are."""
        found = self.source.families(contexts)
        self._likelihoods.update(zip(contexts, found.scores.tolist(), strict=True))
        return found

    def interactions(self, largest: int) -> list[tuple[Interaction, ...]]:
        """For each variable the sets of up to ``largest`` others to try together, by strength."""
        if largest not in self._interactions:
            self._interactions[largest] = self.source.interactions(largest)
        return self._interactions[largest]

    def _keep(self, contexts: Sequence[Context], fresh: Profiles) -> None:
        size = fresh.cmi.nbytes + (0 if fresh.stats is None else fresh.stats.nbytes)
        if self._bytes + size <= MOST_BYTES:
            self._bytes += size
            self._rows.update(zip(contexts, _lines(fresh), strict=True))
        elif fresh.stats is None and self.n_variables >= WIDE:
            self._keep_leading(contexts, fresh)
        else:
            return
        entropies = zip(contexts, fresh.entropies.tolist(), strict=True)
        self._entropies.update(one for one in entropies if not math.isnan(one[1]))

    def _keep_leading(self, contexts: Sequence[Context], fresh: Profiles) -> None:
        # Those of the context itself, which are 0, come on top.
        own = 1 + max(len(one.given) for one in contexts)
        n = min(LEADING + own, self.n_variables)
        for context, entropy, row, least in zip(
            contexts, fresh.entropies.tolist(), fresh.cmi, floors(fresh.cmi, n), strict=True
        ):
            nodes = np.flatnonzero(row >= least)
            self._leading_bytes += 2 * nodes.nbytes
            if self._leading_bytes <= MOST_BYTES:
                self._leading[context] = entropy, nodes, row[nodes]


def _completed(
    known: dict[Context, float],
    contexts: Sequence[Context],
    ask: Callable[[Sequence[Context]], Floats],
) -> Floats:
    """What is known of contexts, once the rest has been asked for in one batch."""
    unknown = [context for context in contexts if context not in known]
    if unknown:
        known.update(zip(unknown, ask(unknown).tolist(), strict=True))
    return np.array([known[context] for context in contexts], dtype=np.float64)


def floors(cmi: Floats, n: int) -> Floats:
    """For each row a number below which its n largest are not, and few others: the n-th largest of
    what runs of neighbours have at most."""
    run = max(1, cmi.shape[1] // (4 * n))
    n_runs = cmi.shape[1] // run
    largest = cmi[:, : n_runs * run].reshape(len(cmi), n_runs, run).max(axis=2)
    found: Floats = np.partition(largest, n_runs - n, axis=1)[:, n_runs - n]
    return found


def _lines(rows: Profiles) -> list[_Row]:
    stats = [None] * len(rows.cmi) if rows.stats is None else list(rows.stats)
    return list(zip(rows.entropies.tolist(), list(rows.cmi), stats, strict=True))


def _together(rows: Sequence[_Row]) -> Profiles:
    stats = [row[2] for row in rows if row[2] is not None]
    return Profiles(
        np.array([row[0] for row in rows]),
        np.array([row[1] for row in rows]),
        np.array(stats) if stats else None,
    )


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
