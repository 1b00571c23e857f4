"""A source that passes every question on to another; what it does more, its subclasses say."""

from __future__ import annotations

from collections.abc import Sequence

from tamis.information.interface import (
    Context,
    Families,
    Floats,
    Group,
    Interaction,
    Profiles,
    Query,
    Source,
    Tests,
)


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
