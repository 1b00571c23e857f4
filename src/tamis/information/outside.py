"""What comes from outside: sources, whose answers are looked at where they enter, so that a bad one
is named, and tests, functions that give the p-value of a pair.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, Self

import numpy as np

from tamis.constants import constants
from tamis.core import Judge
from tamis.counting.independence import SMALLEST_P
from tamis.errors import PluginError, SettingError
from tamis.information.interface import (
    LEVELS,
    NUMBERS,
    Ability,
    Context,
    Floats,
    Group,
    Interaction,
    Ints,
    Profiles,
    Query,
    Source,
    Tests,
)
from tamis.information.null_laws import LawfulTests
from tamis.information.wrappers import Wrapper
from tamis.plugins import (
    answer_of,
    is_number,
    number_of,
    numbers_of,
    qualified_name,
    refusal,
    truth_of,
    whole_of,
)

ROUNDING = 1e-9
"""By how much a p-value may be above 1, and information of a column about itself above 0."""
KINDS = (LEVELS, NUMBERS)
"""What entropies may be of."""


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
        self.source, self._name = source, qualified_name(source)
        self.names = self._texts("names")
        if len(set(self.names)) < len(self.names) or len(self.names) < 2:
            wanted = "it must have two names or more, no two the same"
            raise refusal(self._at("names"), self.names, wanted)
        self.test_names = self._texts("test_names")
        self.n_rows = self._number_of_rows()
        self.most_rows = self.n_rows
        """What `rows_behind` is at most."""
        self.abilities = self._abilities()
        self.entropy_variance = self._not_negative("entropy_variance")
        self._varying = [
            truth_of(self._at("varies"), self._ask("varies", k)) for k in range(self.n_variables)
        ]

    def varies(self, k: int) -> bool:
        """Whether a variable takes more than one value."""
        return self._varying[k]

    def rows_behind(self, group: Group) -> int | None:
        """How many rows a test of these variables rests on; None where it is all rows."""
        found = self._ask("rows_behind", group)
        wanted = f"it must be None or a number of rows, at most {self.most_rows:g}"
        most = self.most_rows
        return None if found is None else whole_of(self._at("rows_behind"), found, wanted, 0, most)

    def entropies(self, contexts: Sequence[Context]) -> Floats:
        """H(target | given), one finite number for each context, and 0 where nothing varies."""
        return self._uncertainties("entropies", contexts, self._ask("entropies", contexts))

    def cmi(self, contexts: Sequence[Context]) -> Floats:
        """I(target ; l | given): finite, and 0 for the target and what is given."""
        if not self.has_own("cmi"):
            return Source.cmi(self, contexts)
        return self._rows("cmi", contexts, self._ask("cmi", contexts))

    def profiles(self, contexts: Sequence[Context]) -> Profiles:
        """Entropies and cmi, each as above."""
        if not self.has_own("profiles"):
            return Source.profiles(self, contexts)
        found = self._ask("profiles", contexts)
        if not isinstance(found, Profiles):
            raise refusal(self._at("profiles"), found, "it must be tamis.Profiles")
        entropies = self._uncertainties("profiles", contexts, found.entropies)
        return Profiles(entropies, self._rows("profiles", contexts, found.cmi))

    def tests(self, queries: Sequence[Query]) -> Tests:
        """Tests, one for each candidate, with p-values if the source names a test."""
        if not self.has_own("tests"):
            return Source.tests(self, queries)
        number = sum(len(one.candidates) for one in queries)
        return self._tests("tests", self._ask("tests", queries), number)

    def joint_tests(self, groups: Sequence[Group]) -> Tests:
        """Tests, one for each group."""
        if not self.has_own("joint_tests"):
            return Source.joint_tests(self, groups)
        return self._tests("joint_tests", self._ask("joint_tests", groups), len(groups))

    def penalised_likelihoods(self, contexts: Sequence[Context]) -> Floats:
        """One finite score for each context."""
        self.require(Ability.LIKELIHOOD, "scoring graphs", "name another search than 'auto'")
        found = self._ask("penalised_likelihoods", contexts)
        return self._numbers("penalised_likelihoods", found, (len(contexts),))

    def judge(
        self, nodes: Sequence[int], *, edge_price: float = 0.0, same_units: bool = False
    ) -> Judge:
        """By the checked likelihoods, unless the source has a judge of its own."""
        asked = Wrapper if self.has_own("judge") else Source
        return asked.judge(self, nodes, edge_price=edge_price, same_units=same_units)

    def affordable_look_ahead(self) -> int:
        """The largest sets of candidates that can be looked for within the budget; 1 is none."""
        return self._look_ahead("affordable_look_ahead")

    def worthwhile_look_ahead(self) -> int:
        """The largest sets of candidates that it pays to look for."""
        return self._look_ahead("worthwhile_look_ahead")

    def interactions(self, largest: int) -> list[tuple[Interaction, ...]]:
        """For each variable sets of up to ``largest`` others."""
        found = self._ask("interactions", largest)
        lists = found if isinstance(found, list | tuple) else []
        if len(lists) != self.n_variables or not all(
            self._are_interactions(k, own, largest) for k, own in enumerate(lists)
        ):
            wanted = f"it must be {self.n_variables} lists, one a variable, of pairs: a strength, "
            wanted += f"and a tuple of the positions of up to {largest} other variables"
            raise refusal(self._at("interactions"), found, wanted)
        return [tuple(Interaction(float(s), tuple(map(int, m))) for s, m in own) for own in lists]

    def scale_free(self) -> Source | None:
        """The source for columns brought to one scale, checked as well."""
        found = self._ask("scale_free")
        if found is not None and (
            not isinstance(found, Source) or checked(found).names != self.names
        ):
            wanted = "it must be None or a tamis.Source about the same names"
            raise refusal(self._at("scale_free"), found, wanted)
        return None if found is None else checked(found)

    def entropy_kinds(self) -> Sequence[str | None]:
        """For each variable what its entropies can be compared with."""
        found = self._ask("entropy_kinds")
        kinds = list(found) if isinstance(found, Collection) else []
        known = [one is None or (isinstance(one, str) and one in KINDS) for one in kinds]
        if len(kinds) != self.n_variables or not all(known):
            wanted = f"it must have one of {KINDS} or None for each of {self.n_variables} names"
            raise refusal(self._at("entropy_kinds"), found, wanted)
        return kinds

    # How the source is asked.

    def _at(self, question: str) -> str:
        return f"{self._name}.{question}"

    def _ask(self, question: str, *asked: object) -> Any:  # noqa: ANN401 - anything at all
        return answer_of(self._at(question), lambda: getattr(self.source, question)(*asked))

    def _attribute(self, name: str) -> Any:  # noqa: ANN401 - anything at all
        return answer_of(self._at(name), lambda: getattr(self.source, name, None))

    # The checks.

    def _texts(self, name: str) -> tuple[str, ...]:
        found = self._attribute(name)
        if not isinstance(found, tuple | list) or not all(
            isinstance(one, str) and one.strip() for one in found
        ):
            raise refusal(self._at(name), found, "it must be a tuple of strings, none empty")
        return tuple(found)

    def _number_of_rows(self) -> float:
        found = self._attribute("n_rows")
        if is_number(found, math.inf, math.inf):
            return math.inf
        wanted = "it must be a number of rows, 2 or more, or math.inf for a known law"
        return number_of(self._at("n_rows"), found, wanted, 2.0)

    def _not_negative(self, name: str) -> float:
        wanted = "it must be a number, 0 or more"
        return number_of(self._at(name), self._attribute(name), wanted, 0.0)

    def _abilities(self) -> frozenset[str]:
        found = self._attribute("abilities")
        declared: list[Any] = list(found) if isinstance(found, Collection) else [found]
        unknown = [one for one in declared if not isinstance(one, str) or one not in set(Ability)]
        if unknown:
            wanted = f"there are {', '.join(map(repr, map(str, Ability)))}"
            raise refusal(self._at("abilities"), found, wanted)
        return frozenset(map(Ability, declared))

    def _look_ahead(self, question: str) -> int:
        if Ability.LOOK_AHEAD not in self.abilities:
            return 1
        wanted = "it must be the size of a set, 1 or more"
        found = whole_of(self._at(question), self._ask(question), wanted, 1, math.inf)
        return min(found, constants.largest_set)

    def _are_interactions(self, k: int, found: object, largest: int) -> bool:
        if not isinstance(found, list | tuple):
            return False
        others = {*range(self.n_variables)} - {k}
        return all(
            isinstance(one, tuple)
            and len(one) == 2
            and is_number(one[0])
            and isinstance(one[1], tuple)
            and all(is_number(member) for member in one[1])
            and 2 <= len({*one[1]} & others) == len(one[1]) <= largest
            for one in found
        )

    def _numbers(self, question: str, found: object, shape: tuple[int, ...]) -> Floats:
        return numbers_of(self._at(question), found, shape)

    def _uncertainties(self, question: str, contexts: Sequence[Context], found: object) -> Floats:
        entropies = self._numbers(question, found, (len(contexts),))
        still = [i for i, (target, _) in enumerate(contexts) if not self._varying[target]]
        if (np.abs(entropies[still]) > ROUNDING).any():
            wanted = "a column that does not vary, as varies says, has entropy 0"
            raise refusal(self._at(question), entropies[still], wanted)
        entropies[still] = 0.0
        return entropies

    def _rows(self, question: str, contexts: Sequence[Context], found: object) -> Floats:
        rows = self._numbers(question, found, (len(contexts), self.n_variables))
        for row, (target, given) in zip(rows, contexts, strict=True):
            own = [target, *given]
            if (np.abs(row[own]) > ROUNDING).any():
                wanted = f"the entries of {self.names[target]!r} itself and of what is given must "
                raise refusal(self._at(question), row, f"{wanted}be 0")
            row[own] = 0.0
        return rows

    def _tests(self, question: str, found: object, number: int) -> Tests:
        if not isinstance(found, Tests):
            raise refusal(self._at(question), found, "it must be tamis.Tests")
        cmi = self._numbers(f"{question}().cmi", found.cmi, (number,))
        if isinstance(found, LawfulTests):  # made by tamis
            return found
        rows = answer_of(self._at(f"{question}().n_rows"), lambda: np.asarray(found.n_rows, float))
        if rows.shape not in ((), (number,)) or not (rows > 0).all():
            wanted = f"it must be a number of rows, or {number} of them"
            raise refusal(self._at(f"{question}().n_rows"), found.n_rows, wanted)
        what = self._at(f"{question}().log_p")
        told = answer_of(what, lambda: found.log_p)
        if told is None:
            self._require_p_values(question)
            return Tests(cmi, n_rows=found.n_rows)
        log_p = answer_of(what, lambda: np.asarray(told, dtype=np.float64))
        if log_p.shape != (number,) or np.isnan(log_p).any() or (log_p > ROUNDING).any():
            raise refusal(what, told, f"it must be {number} logarithms of p-values, 0 or less")
        if not self.test_names:
            wanted = "it must name the test that gives log_p"
            raise refusal(self._at("test_names"), self.test_names, wanted)
        return Tests(cmi, np.clip(log_p, math.log(SMALLEST_P), 0.0), n_rows=found.n_rows)

    def _require_p_values(self, question: str) -> None:
        promised = self.test_names and (
            question == "tests" or Ability.JOINT_TESTS in self.abilities
        )
        if promised:
            wanted = f"it must be the ln p of {self.test_names[0]!r}"
            raise refusal(self._at(f"{question}().log_p"), None, wanted)


PairTest = Callable[[Source, int, int, tuple[int, ...]], float]
"""f(source, x, y, given) -> p: is x independent of y given a set? Positions in ``source.names``."""
Asked = tuple[int, tuple[int, ...], tuple[int, ...]]
"""A target, what it is tested with, and what is given."""


def key_of(function: PairTest) -> str:
    """The name of the test that a function makes; two functions of one name stay apart."""
    return f"{qualified_name(function)}#{id(function):x}"


def with_own_test(source: Source, function: PairTest) -> Source:
    """The source with this test among its own, unless it is there already."""
    return source if key_of(function) in source.test_names else OwnTestSource(source, function)


class OwnTestSource(Wrapper):
    """The answers of a source, and the p-values of a function, each asked for once and only where
    a rule looks at it."""

    def __init__(self, source: Source, function: PairTest) -> None:
        super().__init__(source)
        self.function = function
        self.key = key_of(function)
        self.test_names = (*source.test_names, self.key)
        self.abilities = source.abilities - {Ability.LOOK_AHEAD}
        self._known: dict[Asked, float] = {}

    def around(self, source: Source) -> Source:
        """This test, on another source."""
        return OwnTestSource(source, self.function)

    @property
    def title(self) -> str:
        """The source, and whose tests are made on it."""
        return f"{self.source.title} tested by {qualified_name(self.function)}"

    def affordable_look_ahead(self) -> int:
        """Sets are judged by joint tests, which a function of pairs has not."""
        return 1

    def worthwhile_look_ahead(self) -> int:
        """Single candidates only."""
        return 1

    def profiles(self, contexts: Sequence[Context]) -> Profiles:
        """Entropies and cmi; tests are asked for by name, as a function knows its pairs only."""
        found = self.source.profiles(contexts)
        return Profiles(found.entropies, found.cmi)

    def tests(self, queries: Sequence[Query]) -> Tests:
        """The candidates of all queries, end to end."""
        asked = [(k, (int(one),), given) for k, given, candidates in queries for one in candidates]
        return OwnTests(self.source.tests(queries), asked, self)

    def joint_tests(self, groups: Sequence[Group]) -> Tests:
        """Groups have the tests of the source; a function of pairs refuses them."""
        asked = [(target, members, given) for target, given, members in groups]
        return OwnTests(self.source.joint_tests(groups), asked, self)

    def log_p(self, asked: Asked) -> float:
        """ln of the function's p-value."""
        if asked not in self._known:
            self._known[asked] = math.log(max(self._p_value(*asked), SMALLEST_P))
        return self._known[asked]

    def _p_value(self, x: int, others: tuple[int, ...], given: tuple[int, ...]) -> float:
        name = qualified_name(self.function)
        if len(others) != 1:
            raise SettingError(
                f"{name} tests one column with one other, and here {len(others)} are tested "
                "together: use another search than 'layer', and look_ahead=1"
            )
        y = others[0]
        where = f"{name} of {self.names[x]!r} and {self.names[y]!r} given "
        where += repr([self.names[k] for k in given])
        p = answer_of(where, lambda: self.function(self.source, x, y, given))
        return number_of(where, p, "a p-value is a number from 0 to 1", 0.0, 1.0)


class OwnTests(Tests):
    """Tests of a source, with those of a function beside them."""

    __slots__ = ("_asked", "_inner", "_source")

    def __init__(self, inner: Tests, asked: Sequence[Asked], source: OwnTestSource) -> None:
        super().__init__(inner.cmi, n_rows=inner.n_rows)
        self._inner, self._asked, self._source = inner, asked, source

    @property
    def log_p(self) -> Floats | None:
        """ln of each p-value by the test that the source prefers; without one, by the function."""
        found = self._inner.log_p
        return self.log_p_by(self._source.key) if found is None else found

    def log_p_by(self, test: str | None) -> Floats:
        """ln of each p-value, by the function or by a test of the source."""
        if test == self._source.key:
            return np.array([self._source.log_p(one) for one in self._asked], dtype=np.float64)
        return self._inner.log_p_by(test)

    def penalised(self) -> Floats:
        """That of the source."""
        return self._inner.penalised()

    def at(self, places: Ints) -> Self:
        """Some of the tests."""
        asked = [self._asked[i] for i in places.tolist()]
        return type(self)(self._inner.at(places), asked, self._source)

    def followed_by(self, others: Sequence[Tests]) -> Self:
        """These tests and more of the same source, end to end."""
        more = [one for one in others if isinstance(one, OwnTests)]
        inner = self._inner.followed_by([one._inner for one in more])
        asked = [*self._asked, *(pair for one in more for pair in one._asked)]
        return type(self)(inner, asked, self._source)
