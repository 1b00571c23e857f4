"""Sources that a researcher brings: written against the public names only."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import tamis
from tamis.decisions.specification import attached
from tamis.information.exact import JointInformation
from tamis.information.interface import Context, Group, Query
from tamis.information.outside import checked
from tamis.rules import Fixed, Permutation, PValue
from tamis.search.layered import run
from tamis.settings import Settings

NAMES = ("a", "b", "c", "d")


def joint() -> np.ndarray:
    """a -> b -> d and a -> c -> d, all binary, in the order of uncertainty."""
    flip = np.array([[0.85, 0.15], [0.2, 0.8]])
    both = np.array([[[0.9, 0.1], [0.3, 0.7]], [[0.35, 0.65], [0.15, 0.85]]])
    first = np.array([0.9, 0.1])
    return np.einsum("a,ab,ac,bcd->abcd", first, flip, flip, both)


class EntropiesOnly(tamis.Source):
    """The least that a source has to say, from the probabilities of all cells."""

    names, n_rows = NAMES, math.inf

    def __init__(self) -> None:
        self.asked = 0

    def _of(self, members: set[int]) -> float:
        others = tuple(k for k in range(4) if k not in members)
        p = joint().sum(axis=others).ravel()
        return float(-(p * np.log(p)).sum()) if members else 0.0

    def entropies(self, contexts):
        self.asked += len(contexts)
        return np.array([self._of({k, *given}) - self._of({*given}) for k, given in contexts])


class Simulator(EntropiesOnly):
    """A simulator's likelihood-ratio test of 2000 rows; the p-value is worked out here."""

    n_rows, test_names = 2000.0, ("simulated",)

    def tests(self, queries):
        found = super().tests(queries)
        # One degree of freedom, to keep it simple: p = erfc(sqrt(n I)).
        p = np.array([math.erfc(math.sqrt(max(2000 * one, 0.0))) for one in found.cmi])
        with np.errstate(divide="ignore"):
            return tamis.Tests(found.cmi, np.log(p))


def contexts() -> list[Context]:
    sets = [s for size in range(4) for s in itertools.combinations(range(4), size)]
    return [Context(k, s) for k in range(4) for s in sets if k not in s]


def settings(search: str, rule, **changes) -> Settings:
    return Settings(search, rule, rule, **changes)


def outcome_of(source, search: str, rule) -> list:
    found = run(attached(source, rule), settings(search, rule))
    return [found.layers, {k: sorted(one.members) for k, one in found.boundaries.items()}]


def test_a_source_with_nothing_but_entropies_answers_every_question():
    source, exact = checked(EntropiesOnly()), JointInformation(NAMES, joint())
    np.testing.assert_allclose(source.cmi(contexts()), exact.cmi(contexts()), atol=1e-12)
    queries = [Query(*one, np.arange(4)) for one in contexts()]
    np.testing.assert_allclose(source.tests(queries).cmi, exact.tests(queries).cmi, atol=1e-12)
    groups = [Group(3, (), (1, 2)), Group(0, (3,), (1, 2, 3)), Group(1, (0,), (0, 1))]
    found = source.joint_tests(groups)
    np.testing.assert_allclose(found.cmi, exact.joint_tests(groups).cmi, atol=1e-12)
    assert found.log_p is None
    assert source.profiles([]).cmi.shape == (0, 4)
    assert len(source.tests([])) == len(source.joint_tests([])) == 0


@pytest.mark.parametrize("search", ["node", "layer", "sequential"])
def test_every_search_runs_on_it_as_on_the_exact_source(search: str):
    exact = JointInformation(NAMES, joint())
    ref = outcome_of(exact, search, Fixed(1e-6))
    for source in (EntropiesOnly(), checked(EntropiesOnly())):
        assert outcome_of(source, search, Fixed(1e-6)) == ref


def test_a_single_test_asks_for_two_entropies_and_not_for_a_row():
    source = EntropiesOnly()
    checked(source).tests([Query(3, (0,), np.array([1]))])
    assert source.asked == 2


def test_a_source_with_a_test_of_its_own_serves_p_values_to_the_generic_rule():
    source = checked(Simulator())
    found = source.tests([Query(1, (), np.array([0, 1])), Query(1, (0,), np.array([2]))])
    assert found.log_p[1] == found.log_p[2] == 0.0
    assert found.log_p[0] < math.log(1e-6)
    layers, parents = outcome_of(source, "node", PValue(0.01))
    assert parents == {0: [], 1: [0], 2: [0], 3: [1, 2]}
    assert layers[0] == [0]


def test_a_rule_that_asks_for_another_test_is_refused_and_names_those_there_are():
    with pytest.raises(tamis.SettingError, match=r"Permutation .*Simulator.*'simulated'.*PValue"):
        attached(checked(Simulator()), Permutation())
    with pytest.raises(tamis.SettingError, match=r"PValue asks for p-values.*EntropiesOnly"):
        attached(checked(EntropiesOnly()), PValue())


@pytest.mark.parametrize("ability", list(tamis.Ability))
def test_what_a_source_cannot_do_is_said_by_name(ability):
    source = checked(EntropiesOnly())
    with pytest.raises(tamis.SettingError, match=f"the work needs {ability}.*EntropiesOnly: rest"):
        source.require(ability, "the work", "rest")


class Likely(EntropiesOnly):
    """As from 2000 rows, with a likelihood in place of a test; or with what is no number."""

    n_rows = 2000.0
    abilities = frozenset({tamis.Ability.LIKELIHOOD})

    def __init__(self, spoilt: float | None = None) -> None:
        super().__init__()
        self.spoilt = spoilt

    def penalised_likelihoods(self, contexts):
        states = np.array([2.0 ** len(given) for _, given in contexts])
        found = -2000 * self.entropies(contexts) - 0.5 * math.log(2000) * states
        return (
            found if self.spoilt is None or len(states) < 2 else np.full(len(states), self.spoilt)
        )


def test_the_default_learns_by_a_likelihood_alone():
    model = tamis.TAM(information=Likely()).fit()
    assert model.result_.settings["boundary_rule"] == {"rule": "score"}
    assert {frozenset(edge) for edge in model.graph_.edges} == set(
        map(frozenset, ("ab", "ac", "bd", "cd"))
    )
    assert {("b", "d"), ("c", "d")} <= set(model.graph_.edges)


@pytest.mark.parametrize("spoilt", [math.nan, math.inf, -math.inf])
def test_likelihoods_that_are_no_numbers_are_refused_by_name(spoilt):
    with pytest.raises(tamis.PluginError, match=r"Likely.penalised_likelihoods .*must be finite"):
        tamis.TAM(information=Likely(spoilt)).fit()


def test_a_source_without_a_likelihood_takes_rules_with_the_default():
    assert tamis.TAM(information=EntropiesOnly(), boundary_rule=0.01).fit().result_.search == (
        "sequential"
    )


# --- bad plug-ins --------------------------------------------------------------------------


def bad(**answers) -> tamis.Source:
    """A source whose methods return these values."""
    methods = {name: (lambda self, asked, value=value: value) for name, value in answers.items()}
    return checked(type("Bad", (EntropiesOnly,), methods)())


ONE = [Context(0, (1,))]
QUERY = [Query(0, (1,), np.array([2, 3]))]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.zeros(2), r"shape must be \(1,\), not \(2,\)"),
        (np.zeros((1, 1)), r"shape must be \(1,\), not \(1, 1\)"),
        (np.array([np.nan]), "one is nan"),
        (np.array([-np.inf]), "one is -inf"),
        (np.array(["0.1"]), "array of floats"),
        (np.array([1j]), "array of floats"),
        (None, "returned None; it must be an array of floats"),
        ([[1.0], [1.0, 2.0]], "entropies failed with ValueError"),
    ],
)
def test_entropies_that_are_none_are_refused_with_class_question_and_answer(answer, message):
    with pytest.raises(tamis.PluginError, match=message) as refused:
        bad(entropies=answer).entropies(ONE)
    assert "Bad.entropies" in str(refused.value)


def test_what_follows_from_bad_entropies_blames_the_entropies():
    class Nan(EntropiesOnly):
        def entropies(self, contexts):
            return np.full(len(contexts), np.nan)

    source = checked(Nan())
    for ask in (source.cmi, source.profiles):
        with pytest.raises(tamis.PluginError, match=r"Nan.entropies .*one is nan"):
            ask(ONE)
    for ask, asked in ((source.tests, QUERY), (source.joint_tests, [Group(0, (), (1, 2))])):
        with pytest.raises(tamis.PluginError, match=r"Nan.entropies .*one is nan"):
            ask(asked)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.zeros((1, 3)), r"Bad.cmi .*shape must be \(1, 4\)"),
        (np.full((1, 4), np.nan), "Bad.cmi .*nan"),
        (np.ones((1, 4)), "entries of 'a' itself and of what is given must be 0"),
    ],
)
def test_information_that_is_none_is_refused(answer, message):
    with pytest.raises(tamis.PluginError, match=message):
        bad(cmi=answer).cmi(ONE)


@pytest.mark.parametrize(
    ("names", "answer", "message"),
    [
        (("t",), None, "it must be tamis.Tests"),
        (("t",), tamis.Tests(np.zeros(3)), r"tests\(\).cmi .*shape must be \(2,\)"),
        (
            ("t",),
            tamis.Tests(np.zeros(2)),
            r"log_p returned None; it must be the ln p of 't'",
        ),
        (("t",), tamis.Tests(np.zeros(2), np.array([0.1, 0.0])), "logarithms of p-values"),
        (("t",), tamis.Tests(np.zeros(2), np.array([np.nan, 0.0])), "logarithms of p-values"),
        (("t",), tamis.Tests(np.zeros(2), np.zeros(1)), "logarithms of p-values"),
        ((), tamis.Tests(np.zeros(2), np.zeros(2)), "test_names returned .* must name the test"),
    ],
)
def test_tests_that_are_none_are_refused(names, answer, message):
    kind = type("Bad", (EntropiesOnly,), {"tests": lambda self, asked: answer, "test_names": names})
    with pytest.raises(tamis.PluginError, match=message):
        checked(kind()).tests(QUERY)


def test_certain_dependence_has_a_finite_logarithm():
    class Certain(EntropiesOnly):
        test_names = ("oracle",)

        def tests(self, queries):
            return tamis.Tests(np.zeros(2), np.array([-np.inf, 0.0]))

    found = checked(Certain()).tests(QUERY).log_p
    assert found.tolist() == pytest.approx([math.log(1e-300), 0.0])


def test_an_exception_inside_a_source_is_named_and_kept():
    class Broken(EntropiesOnly):
        def entropies(self, contexts):
            raise KeyError("gone")

    with pytest.raises(tamis.PluginError, match=r"Broken.entropies failed with KeyError") as error:
        checked(Broken()).entropies(ONE)
    assert isinstance(error.value.__cause__, KeyError)


def test_a_cycle_of_calls_is_named():
    class Circular(tamis.Source):
        names, n_rows = NAMES, 10.0

        def entropies(self, contexts):
            return self.cmi(contexts)[:, 0]

    with pytest.raises(tamis.PluginError, match=r"Circular.entropies failed with RecursionError"):
        checked(Circular()).entropies(ONE)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"names": ("a", "a")}, "no two the same"),
        ({"names": ("a",)}, "two names or more"),
        ({"names": (1, 2)}, "tuple of strings"),
        ({"names": "ab"}, "tuple of strings"),
        ({"n_rows": 0}, "number of rows"),
        ({"n_rows": math.nan}, "number of rows"),
        ({"n_rows": "many"}, "number of rows"),
        ({"n_rows": 1}, "n_rows returned 1; it must be a number of rows, 2 or more"),
        ({"n_rows": 10**400}, "number of rows"),
        ({"names": ("a", " ")}, "tuple of strings, none empty"),
        ({"names": property(lambda self: 1 / 0)}, "Vague.names failed with ZeroDivisionError"),
        ({"test_names": "kernel test"}, "test_names returned 'kernel test'; it must be a tuple"),
        ({"entropy_variance": math.nan}, "entropy_variance returned nan"),
        ({"abilities": None}, "abilities returned None; there are"),
        ({"abilities": {"flying"}}, "'likelihood', 'joint tests', 'look-ahead'"),
    ],
)
def test_a_source_that_does_not_say_what_it_is_about_is_refused(changes, message):
    with pytest.raises(tamis.PluginError, match=message):
        checked(type("Vague", (EntropiesOnly,), changes)())


OPTIONAL = {
    "varies": ((0,), ["yes", None, np.ones(2)], "it must be True or False"),
    "rows_behind": (
        (Group(0, (1,), (2,)),),
        ["x", -1, 2.5, True, 10**30],
        "None or a number of rows, at most",
    ),
    "affordable_look_ahead": ((), [None, 0, 2.5, "2"], "the size of a set, 1 or more"),
    "worthwhile_look_ahead": ((), [None, 0, 2.5, "2"], "the size of a set, 1 or more"),
    "interactions": (
        (2,),
        [None, [], "abcd", [1] * 4, [[(1.0,)]] * 4, [[(1.0, (0, 1))]] * 4, [[("x", (1, 2))]] * 4],
        "it must be 4 lists, one a variable",
    ),
    "scale_free": ((), [5, False, Simulator], "None or a tamis.Source about the same names"),
    "entropy_kinds": ((), [None, 5, "abcd", ["levels"], [1] * 4], "or None for each of 4 names"),
}


@pytest.mark.parametrize("method", OPTIONAL)
def test_optional_answers_are_checked_too(method):
    asked, answers, message = OPTIONAL[method]
    for answer in answers:
        methods = {
            method: lambda self, *_, answer=answer: answer,
            "abilities": {"look-ahead"},
            "n_rows": 50,
        }
        with pytest.raises(tamis.PluginError, match=message) as refused:
            getattr(checked(type("Bad", (EntropiesOnly,), methods)()), method)(*asked)
        assert f"Bad.{method} returned" in str(refused.value)


def test_optional_answers_that_make_sense_are_passed_on():
    class Looking(EntropiesOnly):
        abilities, n_rows = ("look-ahead",), 50

        def affordable_look_ahead(self):
            return 99

        def interactions(self, largest):
            return [[(2, tuple({0, 1, 2, 3} - {k})[:largest])] for k in range(4)]

        def scale_free(self):
            return EntropiesOnly()

        def rows_behind(self, group):
            return np.int64(7)

    source = checked(Looking())
    assert source.worthwhile_look_ahead() == tamis.constants.constants.largest_set
    assert source.interactions(2)[0] == ((2.0, (1, 2)),)
    assert isinstance(source.scale_free(), type(source))
    assert source.rows_behind(Group(0, (), (1,))) == 7


def test_a_column_that_does_not_vary_has_no_entropy():
    class Still(EntropiesOnly):
        def varies(self, k):
            return k != 0

    with pytest.raises(tamis.PluginError, match=r"Still.entropies returned .* has entropy 0"):
        checked(Still()).entropies([Context(0, ())])
    assert checked(Still()).entropies([Context(1, ())])[0] > 0


def test_what_is_no_source_is_refused():
    with pytest.raises(tamis.PluginError, match=r"builtins.dict is no source .* tamis.Source"):
        checked({})


def test_likelihoods_are_checked_too():
    class Scored(EntropiesOnly):
        abilities = frozenset({"likelihood"})

        def penalised_likelihoods(self, contexts):
            return np.full(len(contexts), np.nan)

    with pytest.raises(tamis.PluginError, match=r"Scored.penalised_likelihoods .*nan"):
        checked(Scored()).penalised_likelihoods(ONE)
    with pytest.raises(tamis.SettingError, match="needs likelihood"):
        checked(EntropiesOnly()).penalised_likelihoods(ONE)
