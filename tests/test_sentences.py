"""Each sentence of an answer is said in its situation, with the numbers and names of the result."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
import pytest

import tamis
from tamis.information.interface import Source
from tamis.opening import open_information
from tamis.result import Result, answer
from tamis.result.facts import Facts
from tamis.result.sentences import AT_FIRST, PARTS, SENTENCES, SORTED, UNITS
from tamis.search.default import score_of
from tamis.settings import Settings


@pytest.fixture(scope="module")
def learned(sprinkler, numbers, mixed, survey) -> dict[str, Result]:
    models = {"sprinkler": sprinkler, "numbers": numbers, "mixed": mixed, "survey": survey}
    return {name: model.result_ for name, model in models.items()}


@dataclass(frozen=True)
class Shares:
    """What a bootstrap might have found."""

    n: int
    edges: dict[tuple[str, str], float]


# Results that differ from a learned one in a field or two


def warranted(warrant, **others):
    return lambda one: replace(
        one, edges=tuple(replace(e, warrant=warrant, **others) for e in one.edges)
    )


def told(knowledge):
    return lambda one: replace(one, settings={**one.settings, "knowledge": knowledge})


def cost(value):
    return lambda one: replace(one, knowledge_cost=value)


def uneven(width):
    """All directions by entropy, and columns that differ this much in it."""

    def made(one):
        found = {name: width * k / (len(one.names) - 1) for k, name in enumerate(one.names)}
        return replace(warranted("entropy")(one), entropies=found)

    return made


def only(k, **settings):
    """Nothing but one of the arrows."""

    def made(one):
        arrow = one.edges[k]
        parents = {name: (arrow.parent,) * (name == arrow.child) for name in one.names}
        return replace(one, edges=(arrow,), parents=parents, settings={**one.settings, **settings})

    return made


def judged(edge, distance):
    """The test that took the arrow, and every other test, at other distances from the line."""

    def made(one):
        selections = tuple(
            replace(s, taken=tuple(judgement(v, edge, distance) for v in s.taken), retained=())
            for s in one.trace.selections
        )
        return replace(one, trace=replace(one.trace, selections=selections))

    return made


def judgement(verdict, edge, distance):
    """By this much where it is about the arrow; all others passed by a hundred."""
    is_it = {verdict.target, *verdict.others} == set(edge)
    return replace(verdict, margin=distance if is_it else 100.0)


def searched(search, *, ranked=True):
    """The answer of another search: as the best of several, or as the one that was asked for."""

    def made(one):
        runs = tuple(replace(run, search=search) if run.chosen else run for run in one.ranking)
        settings = one.settings if ranked else {**one.settings, "search": search}
        return replace(one, ranking=runs if ranked else (), settings=settings)

    return made


def nearly(one):
    """Every refusal was a close call."""
    selections = tuple(
        replace(s, refused=s.refused and replace(s.refused, margin=-1.0))
        for s in one.trace.selections
    )
    return replace(one, trace=replace(one.trace, selections=selections))


def nothing(one):
    return replace(one, edges=(), parents=dict.fromkeys(one.names, ()))


def as_it_is(one):
    return one


def both(first, second):
    return lambda one: second(first(one))


STRONGEST = ("road", "traffic")
SEVERAL = {"required": [["rain", "lawn"]]}
SITUATIONS = {
    "nothing": ("sprinkler", nothing, "tamis found no arrows"),
    "arrows": ("sprinkler", as_it_is, r"^In sprinkler.csv \(2,000 rows, 7 columns\) .* 7 arrows"),
    "arrows besides required ones": ("sprinkler", told(SEVERAL), "6 that tamis .* 1 that was"),
    "required arrows alone": (
        "sprinkler", only(2, knowledge=SEVERAL), "no arrows but the 1 that was"),
    "first": ("numbers", as_it_is, "^x comes first: no arrow leads there"),
    "first as told": ("survey", as_it_is, "^d comes first; .* from what was told"),
    "first if at all": ("sprinkler", as_it_is, "^season comes first .* not settled: both of its"),
    "strongest": ("sprinkler", as_it_is, "^The strongest arrow is road → traffic"),
    "isolated": ("numbers", as_it_is, "^u has no arrow"),
    "kinds": ("mixed", as_it_is, "read as 1 number, 1 ordinal column and 1 category"),
    "told": ("survey", as_it_is, "Told beforehand: d before c before a and b"),
    "told nothing": ("sprinkler", told({"tiers": [["rain"]]}), "rules no graph out"),
    "one tier": ("sprinkler", told({"tiers": [["rain"]]}), "One tier alone sets no order"),
    "cost nothing": ("survey", cost(0.0), "^The tiers cost nothing: without them"),
    "cost little": ("survey", cost(1.0), "cost little: .* hardly better"),
    "cost something": ("survey", cost(5.0), "cost 5"),
    "cost much": ("survey", cost(50.0), "cost 50 in log-likelihood: the table fits much better"),
    "what a cost may mean": ("survey", cost(50.0), "a cause that was not recorded"),
    "cost unknown": ("survey", cost(None), "is not known"),
    "settled": ("sprinkler", as_it_is, "^3 of 7 directions are settled by the data: every graph"),
    "settled with what was told": (
        "survey", warranted("equivalence"), "^All 4 directions .* the data and what was told"),
    "same in the class": (
        "sprinkler", searched("node", ranked=False), "same in every equivalent graph"),
    "assumed": ("numbers", as_it_is, "^All 2 directions rest on the entropy assumption"),
    "assumption holds": ("sprinkler", uneven(0.1), "that is about so"),
    "assumption is fair": ("sprinkler", uneven(0.8), "that is roughly so: .* factor of up to 2.2"),
    "assumption is poor": ("sprinkler", uneven(2.0), "factor of up to 7.4, so take"),
    "units": ("numbers", as_it_is, "units that can be compared"),
    "same units": (
        "numbers", lambda one: replace(one, settings={**one.settings, "units": "same"}), "unit,"),
    "given": ("survey", as_it_is, "^3 of 4 directions follow from what was told"),
    "open": ("sprinkler", as_it_is, "^The other 4 are open"),
    "assumption settles nothing": ("sprinkler", as_it_is, "does not settle any .* up to 2.0"),
    "least likely direction": ("sprinkler", as_it_is, "season → rain, 58% likely"),
    "unlikely direction": ("mixed", as_it_is, "sex → size, 37% likely: taken by itself"),
    "weakest arrow is a close call": (
        "sprinkler", judged(("sprinkler", "lawn"), 1.0), "sprinkler → lawn, .* a close call"),
    "weakest arrow is clear": ("sprinkler", as_it_is, "sprinkler → lawn; even that is clear"),
    "strongest is weakest and a close call": (
        "sprinkler", judged(STRONGEST, 1.0), "^road → traffic was also .* a close call"),
    "strongest is weakest and clear": (
        "sprinkler", judged(STRONGEST, 9.0), "^road → traffic was also .* even so it is clear"),
    "only arrow is a close call": (
        "sprinkler", both(judged(STRONGEST, 1.0), only(5)), "The arrow was a close call"),
    "only arrow is clear": ("sprinkler", only(5), "The arrow is clear"),
    "missed narrowly": ("mixed", nearly, "^An arrow between .* was refused only narrowly"),
    "resamples": ("sprinkler", as_it_is, "6 of 7|In 10 resamples"),
    "resamples turn directions": ("sprinkler", as_it_is, "of them points? the other way"),
    "class that fits best": ("sprinkler", as_it_is, "the class of graphs that fits best"),
    "class that fits best with what was told": (
        "survey", as_it_is, "^Among the graphs that agree"),
    "confirmed": (
        "sprinkler", searched("node"), "search node was best; that search finds layers"),
    "named search": ("sprinkler", searched("paper", ranked=False), "that of the search paper"),
    "rests on": ("sprinkler", as_it_is, "It rests on the likelihood"),
    "steps of the order search": ("sprinkler", as_it_is, "chose among classes"),
    "steps of the order search with what was told": ("survey", as_it_is, "chose the class"),
    "uncertainties of the order search": ("sprinkler", as_it_is, "No column is masked"),
    "steps one by one": ("sprinkler", searched("sequential"), "least conditional entropy"),
    "steps by layers": ("sprinkler", searched("node"), "In each layer"),
    "steps that wait": ("survey", searched("node"), "waits for them"),
}  # fmt: skip


@pytest.mark.parametrize("name", SITUATIONS)
def test_a_sentence_is_said_in_its_situation(learned, name):
    table, change, words = SITUATIONS[name]
    result = change(learned[table])
    shares = {(e.parent, e.child): 0.8 for e in result.edges}
    if result.edges:
        shares[result.edges[-1].child, result.edges[-1].parent] = 0.8
    said = {one.name: str(one) for one in answer(result, confidence=Shares(10, shares))}
    assert re.search(words, said[name])
    if change is not as_it_is:
        before = {one.name: str(one) for one in answer(learned[table])}
        assert before.get(name) != said[name]


def test_every_sentence_has_a_situation_and_places_that_are_facts():
    assert [one.name for one in SENTENCES if one.name not in SITUATIONS] == []
    for one in SENTENCES:
        assert all(hasattr(Facts, place) for place in re.findall(r"{(\w+)}", one.text))
        assert one.text.endswith(".")


def test_the_first_answer_is_in_order_and_in_plain_words(learned):
    for result in learned.values():
        parts = [one.part for one in answer(result)]
        assert parts == sorted(parts, key=PARTS.index)
        assert not re.search(r"\b(nats|PPS|orders|alpha)\b|[{}]", str(result.answer(*AT_FIRST)))
    with pytest.raises(tamis.SettingError, match="an answer has no part 'rest'; there are found"):
        result.answer("rest")


def test_a_closest_call_is_listed_once(learned):
    for result in learned.values():
        calls = result.closest_calls(50)
        about = [(frozenset((v.target, *v.others)), frozenset(v.given)) for v in calls]
        assert len(set(about)) == len(about)
        assert [v.distance for v in calls] == sorted(v.distance for v in calls)


# What knowledge cost


def levels(n: int = 400) -> dict[str, list[str]]:
    """a and b lead to c, c to d."""
    rng = np.random.default_rng(7)
    a, b = rng.integers(0, 2, (2, n))
    c = np.where(rng.random(n) < 0.15, rng.integers(0, 2, n), a | b)
    d = np.where(rng.random(n) < 0.2, rng.integers(0, 2, n), c)
    columns = {"a": a, "b": b, "c": c, "d": d}
    return {name: [f"v{value}" for value in column] for name, column in columns.items()}


@pytest.mark.parametrize(
    "known", [{"tiers": [["d"], ["c"], ["a"]]}, {"required": [("a", "d")]}, {"sources": ["c"]}]
)
def test_the_cost_is_what_the_score_gains_without_the_knowledge(known):
    with_it = tamis.TAM(knowledge=known, n_jobs=1).fit(levels()).result_
    without = tamis.TAM(n_jobs=1).fit(levels()).result_
    source = open_information(tamis.tables.read_table(levels()), Settings(n_jobs=1).on("counts"))

    def score(result: Result) -> float:
        at = {name: k for k, name in enumerate(source.names)}
        parents = {at[k]: frozenset(at[p] for p in own) for k, own in result.parents.items()}
        return score_of(source, parents) - len(result.edges) * np.log(len(parents))

    gained = max(score(without) - score(with_it), 0.0)
    assert with_it.knowledge_cost == pytest.approx(gained, abs=1e-6)
    assert without.knowledge_cost is None


class Outside(Source):
    """The entropies of counts, from outside and without a likelihood."""

    def __init__(self, table):
        self._inner = open_information(table, Settings(n_jobs=1).on("counts"))
        self.names, self.n_rows = self._inner.names, self._inner.n_rows

    def entropies(self, contexts):
        return self._inner.entropies(contexts)


def test_a_source_without_a_likelihood_has_no_price():
    source = Outside(tamis.tables.read_table(levels()))
    known = {"tiers": [["a", "b"], ["c"]]}
    model = tamis.TAM("sequential", information=source, boundary_rule=0.02, knowledge=known)
    assert model.fit().result_.knowledge_cost is None


# Notes of a result


def test_numbers_whose_variances_grow_along_the_arrows_have_a_note_about_units(numbers):
    (note,) = [one for one in numbers.result_.warnings if "Vari" in one]
    share = float(re.search(r"along (\d+)%", note)[1]) / 100
    assert note == UNITS.format(share=share)
    assert share >= SORTED


def test_columns_that_follow_from_a_neighbour_in_every_row_are_named():
    rng = np.random.default_rng(0)
    city = rng.integers(0, 6, 1000)
    sick = rng.random(1000) < np.array([0.1, 0.5, 0.3])[city // 2]
    table = {
        "city": [f"town {one}" for one in city],
        "country": [f"land {one}" for one in city // 2],
        "sick": ["yes" if one else "no" for one in sick],
        "state": ["ill" if one else "well" for one in sick],
    }

    def notes() -> list[str]:
        return [one for one in tamis.TAM().fit(table).result_.warnings if "follow from" in one]

    (note,) = notes()
    assert "'country' has one value for each value of 'city'" in note
    assert "'sick' goes one to one with 'state'" in note
    assert "'city' has one value" not in note
    table["state"][0] = "ill" if table["state"][0] == "well" else "well"
    table["country"][0] = "land 0" if table["country"][0] != "land 0" else "land 1"
    assert notes() == []
