"""Information that remembers: several searches over the same rows count each context once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tamis.information.interface import (
    LEADING,
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
)
from tamis.information.wrapper import Wrapper

if TYPE_CHECKING:
    from tamis.counting.direct import Direct

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

    def direct(self, test: str | None) -> Direct | None:
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
