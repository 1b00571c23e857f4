"""A source that is asked each question once, in the batches that a search would ask for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from tamis.decisions.rule import Rule
from tamis.information.interface import Context, Floats, Group, Query, Source, Tests
from tamis.knowledge import Constraints


class UnansweredError(Exception):
    """Raised in place of asking a source: what answers the questions, and the questions."""


class Remembered(Source):
    """The answers of a source, as PPS shall see them.

    Required parents say more than anybody else, and those that are ruled out less. A column that
    never varies has the least entropy of all, and nothing is asked about it.
    """

    def __init__(self, source: Source, rule: Rule, constraints: Constraints | None = None) -> None:
        self.source, self.rule = source, rule
        self.names, self.n_rows = source.names, source.n_rows
        d = source.n_variables
        required = {} if constraints is None else constraints.required
        blocked = (0,) * d if constraints is None else constraints.blocked
        self._required = [required.get(k, ()) for k in range(d)]
        self._blocked = [tuple(p for p in range(d) if bits >> p & 1) for bits in blocked]
        self._answers: dict[Callable[..., Any], dict[Any, Any]] = {
            self._entropies_of: {}, self._rows_of: {}, self._strengths_of: {},
        }  # fmt: skip
        self._looks_ahead = False

    def required(self, k: int) -> tuple[int, ...]:
        """The parents that a node has whatever the tests say."""
        return self._required[k]

    def blocked(self, k: int) -> tuple[int, ...]:
        """The nodes that cannot be its parents."""
        return self._blocked[k]

    def varies(self, k: int) -> bool:
        """Whether a variable takes more than one value."""
        return self.source.varies(k)

    def entropies(self, contexts: Sequence[Context]) -> Floats:
        """H(target | given), one for each context."""
        return np.array(self._answered(self._entropies_of, contexts))

    def cmi(self, contexts: Sequence[Context]) -> Floats:
        """I(target ; l | given) of all l: a row for each context."""
        return np.array(self._answered(self._rows_of, contexts))

    def strengths(self, groups: Sequence[Group]) -> list[tuple[float, float]]:
        """The cmi of each test, and its strength by the rule."""
        return self._answered(self._strengths_of, groups)

    def tests_of(self, groups: Sequence[Group]) -> Tests:
        """Tests with one member each, or with several at once; these are not kept."""
        if any(len(one.members) > 1 for one in groups):
            return self.source.joint_tests(groups)
        return self.source.tests([Query(k, given, np.array(one)) for k, given, one in groups])

    def answer_ahead(self, searches: Sequence[Callable[[], object]]) -> None:
        """Answer what searches are going to ask.

        Each runs up to its first open question; these are asked in one batch, for which a source
        may have to go through all its rows; and so on until none is open.
        """
        while searches:
            stopped, asked = [], dict[Callable[..., Any], list[Any]]()
            self._looks_ahead = True
            for one in searches:
                try:
                    one()
                except UnansweredError as stop:
                    answer, questions = stop.args
                    asked.setdefault(answer, []).extend(questions)
                    stopped.append(one)
            self._looks_ahead = False
            for answer, questions in asked.items():
                self._answered(answer, questions)
            searches = stopped

    def forget(self, members: Mapping[int, Collection[int]]) -> None:
        """Keep only what lies on the way of these targets to their members."""
        kept = {k: {*some} for k, some in members.items()}
        for answer, known in self._answers.items():
            self._answers[answer] = {
                one: found
                for one, found in known.items()
                if one.target in kept and kept[one.target].issuperset(one.given)
            }

    def _answered(self, answer: Callable[..., Any], questions: Sequence[Any]) -> list[Any]:
        known = self._answers[answer]
        unknown = [one for one in questions if one not in known]
        if unknown and self._looks_ahead:
            raise UnansweredError(answer, unknown)
        if unknown:
            known.update(zip(unknown, answer(unknown), strict=True))
        return [known[one] for one in questions]

    def _entropies_of(self, contexts: Sequence[Context]) -> Floats:
        varying = [i for i, one in enumerate(contexts) if self.varies(one.target)]
        found = np.full(len(contexts), -np.inf)
        if varying:
            found[varying] = self.source.entropies([contexts[i] for i in varying])
        return found

    def _rows_of(self, contexts: Sequence[Context]) -> Floats:
        rows = np.array(self.source.cmi(contexts))
        for row, (k, _) in zip(rows, contexts, strict=True):
            row[list(self._blocked[k])] = -np.inf
            row[list(self._required[k])] = np.inf
        return rows

    def _strengths_of(self, groups: Sequence[Group]) -> list[tuple[float, float]]:
        tests = self.tests_of(groups)
        found: list[float] = self.rule.strengths(tests).tolist()
        return list(zip(tests.cmi.tolist(), found, strict=True))
