"""A source with one more test: a function from outside that gives the p-value of a pair."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Self

import numpy as np

from tamis.counting.independence import SMALLEST_P
from tamis.errors import SettingError
from tamis.information.interface import (
    Ability,
    Context,
    Floats,
    Group,
    Ints,
    Profiles,
    Query,
    Source,
    Tests,
)
from tamis.information.wrapper import Wrapper
from tamis.plugins import answer_of, number_of, qualified_name

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
