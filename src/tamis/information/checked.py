"""Sources from outside: every answer is looked at where it enters, and a bad one is named."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from tamis.errors import PluginError
from tamis.information.interface import (
    Ability,
    Context,
    Floats,
    Group,
    Profiles,
    Query,
    Source,
    Tests,
)
from tamis.information.null_laws import SMALLEST_P, LawfulTests
from tamis.information.wrapper import Wrapper
from tamis.plugins import answer_of, qualified_name

ROUNDING = 1e-9
"""A p-value may be above 1 by so much, and information of a column about itself above 0."""


def checked(source: object) -> CheckedSource:
    """A source from outside, whose answers are checked from here on."""
    if not isinstance(source, Source):
        raise PluginError(
            f"{qualified_name(source)} is no source of information: derive it from tamis.Source, "
            "which asks for names, n_rows and entropies(contexts)"
        )
    return source if isinstance(source, CheckedSource) else CheckedSource(source)


class CheckedSource(Wrapper):
    """The answers of a source, refused if they have another shape than asked for, are not numbers,
    or cannot be what they are said to be; the message names the class, the question and the
    answer. What the source leaves to ``Source`` follows from its checked entropies."""

    def __init__(self, source: Source) -> None:
        self._name = qualified_name(source)
        self._require_description(source)
        super().__init__(source)
        self.names = tuple(source.names)
        self.n_rows = float(source.n_rows)
        self.abilities = frozenset(map(Ability, source.abilities))

    def entropies(self, contexts: Sequence[Context]) -> Floats:
        """H(target | given), one finite number for each context."""
        found = self._asked("entropies", lambda: self.source.entropies(contexts))
        return self._numbers("entropies", found, (len(contexts),))

    def cmi(self, contexts: Sequence[Context]) -> Floats:
        """I(target ; l | given): finite, and 0 for the target and what is given."""
        if not self.has_own("cmi"):
            return Source.cmi(self, contexts)
        found = self._asked("cmi", lambda: self.source.cmi(contexts))
        return self._rows("cmi", contexts, found)

    def profiles(self, contexts: Sequence[Context]) -> Profiles:
        """Entropies and cmi, each as above."""
        if not self.has_own("profiles"):
            return Source.profiles(self, contexts)
        found = self._asked("profiles", lambda: self.source.profiles(contexts))
        if not isinstance(found, Profiles):
            raise self._refusal("profiles", found, "it must be tamis.Profiles")
        entropies = self._numbers("profiles", found.entropies, (len(contexts),))
        return Profiles(entropies, self._rows("profiles", contexts, found.cmi))

    def tests(self, queries: Sequence[Query]) -> Tests:
        """Tests, one for each candidate, with p-values if the source names a test."""
        if not self.has_own("tests"):
            return Source.tests(self, queries)
        found = self._asked("tests", lambda: self.source.tests(queries))
        return self._tests("tests", found, sum(len(one.candidates) for one in queries))

    def joint_tests(self, groups: Sequence[Group]) -> Tests:
        """Tests, one for each group."""
        if not self.has_own("joint_tests"):
            return Source.joint_tests(self, groups)
        found = self._asked("joint_tests", lambda: self.source.joint_tests(groups))
        return self._tests("joint_tests", found, len(groups))

    def penalised_likelihoods(self, contexts: Sequence[Context]) -> Floats:
        """One finite score for each context."""
        self.require(Ability.LIKELIHOOD, "scoring graphs", "name another search than 'auto'")
        found = self._asked(
            "penalised_likelihoods", lambda: self.source.penalised_likelihoods(contexts)
        )
        return self._numbers("penalised_likelihoods", found, (len(contexts),))

    def occurring_likelihoods(self, contexts: Sequence[Context]) -> Floats:
        """One finite score for each context."""
        if not self.has_own("occurring_likelihoods"):
            return self.penalised_likelihoods(contexts)
        found = self._asked(
            "occurring_likelihoods", lambda: self.source.occurring_likelihoods(contexts)
        )
        return self._numbers("occurring_likelihoods", found, (len(contexts),))

    # The checks.

    def _require_description(self, source: Source) -> None:
        """Refuse a source that does not say what it is about."""
        names = getattr(source, "names", None)
        if not isinstance(names, tuple | list) or not all(isinstance(one, str) for one in names):
            raise self._refusal("names", names, "it must be a tuple of strings")
        if len(set(names)) < len(names) or len(names) < 2:
            raise self._refusal("names", names, "it must have two names or more, no two the same")
        n_rows = getattr(source, "n_rows", None)
        if not _is_number_of_rows(n_rows):
            raise self._refusal(
                "n_rows", n_rows, "it must be a number of rows, or math.inf for a known law"
            )
        unknown = [one for one in source.abilities if one not in set(Ability)]
        if unknown:
            raise self._refusal(
                "abilities", unknown[0], f"there are {', '.join(map(repr, map(str, Ability)))}"
            )

    def _asked(self, question: str, ask: Callable[[], object]) -> object:
        return answer_of(f"{self._name}.{question}", ask)

    def _numbers(self, question: str, found: object, shape: tuple[int, ...]) -> Floats:
        """The answer as finite floats of this shape."""
        array = self._asked(question, lambda: np.asarray(found))
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiu":
            raise self._refusal(question, found, "it must be an array of floats")
        if array.shape != shape:
            raise self._refusal(question, array, f"its shape must be {shape}, not {array.shape}")
        if not np.isfinite(array).all():
            worst = array[~np.isfinite(array)].flat[0]
            raise self._refusal(question, array, f"all numbers must be finite, and one is {worst}")
        return array.astype(np.float64)

    def _rows(self, question: str, contexts: Sequence[Context], found: object) -> Floats:
        rows = self._numbers(question, found, (len(contexts), self.n_variables))
        for row, (target, given) in zip(rows, contexts, strict=True):
            own = [target, *given]
            if (np.abs(row[own]) > ROUNDING).any():
                named = self.names[target]
                raise self._refusal(
                    question, row, f"the entries of {named!r} itself and of what is given must be 0"
                )
            row[own] = 0.0
        return rows

    def _tests(self, question: str, found: object, number: int) -> Tests:
        if not isinstance(found, Tests):
            raise self._refusal(question, found, "it must be tamis.Tests")
        cmi = self._numbers(f"{question}().cmi", found.cmi, (number,))
        if isinstance(found, LawfulTests):  # made by tamis
            return found
        told = found.log_p
        if told is None:
            self._require_p_values(question)
            return Tests(cmi, n_rows=found.n_rows)
        log_p = np.asarray(told, dtype=np.float64)
        if log_p.shape != (number,) or np.isnan(log_p).any() or (log_p > ROUNDING).any():
            raise self._refusal(
                f"{question}().log_p",
                told,
                f"it must be {number} logarithms of p-values, 0 or less",
            )
        if not self.test_names:
            raise self._refusal(
                "test_names", self.test_names, "it must name the test that gives log_p"
            )
        return Tests(cmi, np.clip(log_p, math.log(SMALLEST_P), 0.0), n_rows=found.n_rows)

    def _require_p_values(self, question: str) -> None:
        promised = self.test_names and (
            question == "tests" or Ability.JOINT_TESTS in self.abilities
        )
        if promised:
            raise self._refusal(
                f"{question}().log_p", None, f"it must be the ln p of {self.test_names[0]!r}"
            )

    def _refusal(self, question: str, found: object, wanted: str) -> PluginError:
        shown = (
            np.array2string(found, threshold=8) if isinstance(found, np.ndarray) else repr(found)
        )
        shown = shown if len(shown) <= 200 else f"{shown[:200]}..."
        return PluginError(f"{self._name}.{question} gave {shown}: {wanted}")


def _is_number_of_rows(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    return float(value) >= 1.0
