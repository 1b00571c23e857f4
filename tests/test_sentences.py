"""Every sentence of an answer is true, however the answer came about, and is said when it should.

The conditions are written here a second time, from the fields of a result alone.
"""

from __future__ import annotations

import json
import math
import re
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from rich.console import Console

import tamis
from formats.made_results import results
from tamis.cli.layout import options_in_words
from tamis.cli.summary import show_summary
from tamis.information.interface import Source
from tamis.opening import open_information
from tamis.result import LOOKS, answer, show
from tamis.result.facts import Facts, percent
from tamis.result.sentences import AT_FIRST, PARTS, SENTENCES, SORTED, UNITS
from tamis.search.auto import score_of
from tamis.settings import Settings

NAMES = [one.name for one in SENTENCES]


# Tables and ways of learning from them


def levels(rng, n=400):
    """a and b lead to c, c to d; e stands alone."""
    a, b = rng.integers(0, 2, n), rng.integers(0, 2, n)
    c = np.where(rng.random(n) < 0.15, rng.integers(0, 2, n), a | b)
    d = np.where(rng.random(n) < 0.2, rng.integers(0, 2, n), c)
    columns = {"a": a, "b": b, "c": c, "d": d, "e": rng.integers(0, 2, n)}
    return {name: [f"v{value}" for value in column] for name, column in columns.items()}


def kinds(rng, n=400):
    """Two numbers beside categories."""
    found = levels(rng, n)
    c = np.array([value == "v1" for value in found["c"]], dtype=float)
    x = 2 * c + rng.normal(size=n)
    return {"a": found["a"], "b": found["b"], "c": found["c"], "x": x, "y": x + rng.normal(size=n)}


def numbers(rng, n=400):
    """A chain of numbers with equal noise, and one that hangs on both of its ends."""
    x = rng.normal(size=n)
    y = x + rng.normal(size=n)
    z = y + rng.normal(size=n)
    return {"x": x, "y": y, "z": z, "u": rng.normal(size=n)}


def even(rng, n=1500):
    """A chain in which all noise has one law: what C3 asks for."""
    noise = [rng.choice(3, size=n, p=(0.85, 0.1, 0.05)) for _ in range(5)]
    found = [noise[0]]
    for one in noise[1:]:
        found.append((found[-1] + one) % 3)
    return {f"m{k}": [f"v{value}" for value in column] for k, column in enumerate(found)}


def weak(rng, n=250):
    """Many arrows that hardly show."""
    found = [rng.integers(0, 2, n)]
    for _ in range(11):
        found.append(np.where(rng.random(n) < 0.2, found[-1], rng.integers(0, 2, n)))
    return {f"w{k:02}": [f"v{value}" for value in column] for k, column in enumerate(found)}


TABLES = {"levels": levels, "kinds": kinds, "numbers": numbers, "even": even, "weak": weak}
WAYS = {
    "default": {},
    "not refined": {"refine": False},
    "sieve": {"search": "sieve"},
    "sequential": {"search": "sequential"},
}
EXTRAS = ("plain", "weights", "drop", "pairwise")


def knowledge_of(names):
    """Nothing, what agrees with the tables, what does not, and each kind of statement."""
    first, second, *_, last = names
    return {
        "nothing": None,
        "tiers": {"tiers": [[first], [name for name in names if name != first]]},
        "absurd tiers": {"tiers": [[last], [second], [first]]},
        "one tier": {"tiers": [list(names)]},
        "required": {"required": [(first, last)]},
        "several": {"forbidden": [(first, second)], "sinks": [last]},
        "source": {"sources": [second]},
    }


def with_missing(table, rng):
    gone = {name: rng.random(len(column)) < 0.04 for name, column in table.items()}
    return {
        name: [None if lost else value for value, lost in zip(column, gone[name], strict=True)]
        for name, column in table.items()
    }


@cache
def learned(table, way, extra, known):
    """A result; what it was learned from does not matter to the sentences."""
    rng = np.random.default_rng(7)
    columns = TABLES[table](rng)
    told = {**WAYS[way], "knowledge": knowledge_of(list(columns))[known]}
    fit = {}
    if extra == "weights":
        fit["sample_weight"] = rng.uniform(0.5, 1.5, len(next(iter(columns.values()))))
    elif extra != "plain":
        columns, told = with_missing(columns, rng), {**told, "missing": extra}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tamis.TamisWarning)  # rows left out, which is meant
        return tamis.TAM(**told, n_jobs=1).fit(columns, **fit).result_


CASES = [
    (table, way, extra, known)
    for table in ("levels", "kinds", "numbers")
    for way in WAYS
    for extra in EXTRAS
    for known in knowledge_of("xyz")
    if (table, extra) != ("kinds", "weights")  # which tamis refuses
] + [
    ("even", "default", "plain", "nothing"),
    ("even", "default", "plain", "tiers"),
    ("weak", "default", "plain", "nothing"),
    ("weak", "default", "plain", "absurd tiers"),
]


# The conditions, once more


def rules_out(result):
    told = result.settings.get("knowledge") or {}
    d = len(result.names)
    tiers = [tier for tier in told.get("tiers", ()) if tier]
    others = any(told.get(part) for part in ("required", "forbidden"))
    ends = d > 1 and any(told.get(part) for part in ("sources", "sinks"))
    return others or ends or len(tiers) > 1


def is_weighed(result):
    asked = result.settings
    return asked["search"] == "auto" and asked.get("refine", True) and bool(result.ranking)


def roots_of(result):
    return {e.parent for e in result.edges} - {e.child for e in result.edges}


def noise_of(result):
    """The conditional entropies that are compared with each other."""
    information = result.settings["information"]
    groups = {True: [], False: []}
    for name in result.names:
        if information == "conditional-gaussian":
            number = (
                result.kinds[name] == "number"
                if result.kinds is not None
                else not result.levels[name]
            )
        else:
            number = information in ("gaussian", "copula", "neighbours", "lipschitz")
        if len(result.levels[name]) != 1 and math.isfinite(result.entropies[name]):
            groups[number].append(result.entropies[name])
    return groups


def factor_of(result):
    spreads = [max(group) - min(group) for group in noise_of(result).values() if len(group) > 1]
    return math.exp(min(max(spreads, default=0.0), 700.0))


def doubts(result):
    """The probabilities that directions have of their own."""
    return [
        e.direction_probability
        for e in result.edges
        if e.warrant in ("entropy", "none") or (is_weighed(result) and e.direction_probability != 1)
    ]


def margins_of(result, *, passed):
    """How near the tests of single arrows came to the other side, with their columns."""
    there = {frozenset((e.parent, e.child)) for e in result.edges}
    free = there - {frozenset(pair) for pair in result.required}
    near = []
    for one in result.trace.selections:
        for verdict in (*one.taken, *one.retained) if passed else filter(None, [one.refused]):
            pair = frozenset((verdict.target, *verdict.others))
            counts = verdict.dependent and pair in free if passed else pair not in there
            if len(verdict.others) == 1 and counts:
                near.append((verdict.distance, verdict.target, pair))
    return near


def strongest_of(edges):
    best = max(edges, key=lambda e: (e.gain, e.parent, e.child))
    return best.parent, best.child


def turned_in(result, shares):
    """The directions that rest on equivalence and that resamples show the other way as often."""
    pairs = [(e.parent, e.child) for e in result.edges if e.warrant == "equivalence"]
    return [pair for pair in pairs if 0 < shares.get(pair[::-1], 0) >= shares.get(pair, 0)]


def expected(result, confidence=None):
    """The sentences that are to be said."""
    edges, told = result.edges, result.settings.get("knowledge")
    n = Counter(edge.warrant for edge in edges)
    required = {tuple(pair) for pair in (told or {}).get("required", ())}
    n_required = sum((e.parent, e.child) in required for e in edges)
    out, weighed, cost = rules_out(result), is_weighed(result), result.knowledge_cost
    first = [e.warrant for e in edges if e.parent in roots_of(result)]
    factor, has_units = factor_of(result), len(noise_of(result)[True]) > 1
    same = result.settings.get("units") == "same"
    doubt, passed = doubts(result), margins_of(result, passed=True)
    several, narrow = len(edges) > 1, bool(passed) and min(passed)[0] < math.log(10)
    is_strongest = bool(passed) and min(passed)[2] == {*strongest_of(edges)}
    refused = margins_of(result, passed=False)
    joined = {name for e in edges for name in (e.parent, e.child)}
    found = {
        "nothing": not edges,
        "arrows": edges and not n_required,
        "arrows besides required ones": 0 < n_required < len(edges),
        "required arrows alone": edges and n_required == len(edges),
        "first": edges and "none" not in first and set(first) != {"given"},
        "first as told": edges and set(first) == {"given"},
        "first if at all": "none" in first,
        "strongest": len(edges) > 1,
        "isolated": edges and joined != set(result.names),
        "kinds": result.kinds is not None,
        "told": told,
        "told nothing": told and not out,
        "one tier": len([tier for tier in (told or {}).get("tiers", ()) if tier]) == 1,
        "cost nothing": out and cost is not None and cost < 0.05,
        "cost little": out and cost is not None and 0.05 <= cost < 3,
        "cost something": out and cost is not None and 3 <= cost < 10,
        "cost much": out and cost is not None and cost >= 10,
        "what a cost may mean": out and cost is not None and cost >= 10,
        "cost unknown": out and cost is None,
        "settled": n["equivalence"] and weighed and not out,
        "settled with what was told": n["equivalence"] and weighed and out,
        "same in the class": n["equivalence"] and not weighed,
        "assumed": n["entropy"],
        "assumption holds": n["entropy"] and factor <= 1.5,
        "assumption is fair": n["entropy"] and 1.5 < factor <= 3,
        "assumption is poor": n["entropy"] and factor > 3,
        "units": n["entropy"] and has_units and not same,
        "same units": n["entropy"] and has_units and same,
        "given": n["given"],
        "open": n["none"],
        "assumption settles nothing": n["none"] and not n["entropy"],
        "least likely direction": doubt and min(doubt) >= 0.5,
        "unlikely direction": doubt and min(doubt) < 0.5,
        "weakest arrow, narrowly": several and passed and narrow and not is_strongest,
        "weakest arrow, clearly": several and passed and not narrow and not is_strongest,
        "strongest is weakest, narrowly": several and passed and narrow and is_strongest,
        "strongest is weakest, clearly": several and passed and not narrow and is_strongest,
        "only arrow, narrowly": passed and narrow and not several,
        "only arrow, clearly": passed and not narrow and not several,
        "missed narrowly": refused and min(refused)[0] < math.log(10),
        "resamples": confidence is not None and edges,
        "resamples turn directions": turned_in(result, confidence or {}),
        "refined": result.search == "refined" and not out,
        "refined with what was told": result.search == "refined" and out,
        "confirmed": weighed and result.search != "refined",
        "best of the searches": result.ranking and not weighed and result.search != "refined",
        "named search": not result.ranking,
        "rests on": any(run.chosen and run.rests_on for run in result.ranking),
        "steps of a refined graph": result.search == "refined" and not out,
        "steps of a refined graph with what was told": result.search == "refined" and out,
        "uncertainties of a refined graph": result.search == "refined",
        "steps one by one": result.search == "sequential",
        "steps by layers": result.search in ("node", "layer", "sieve", "reference"),
        "steps that wait": result.search != "refined" and out,
    }
    return {name for name, is_said in found.items() if is_said}


def arrow(edge):
    return f"{show(edge.parent) or '(no name)'} → {show(edge.child) or '(no name)'}"


def check_words(result, said):
    """The numbers and names in the sentences are those of the result."""
    n = Counter(edge.warrant for edge in result.edges)
    total = len(result.edges)

    def has_number(name, number):
        if name in said and total > 1:
            assert re.search(
                rf"(All|of|^{number:,} of) {total:,} directions|^The other", said[name]
            )
            assert f"{number:,}" in said[name] or (number == 1 and "The other one" in said[name])

    for name in ("settled", "settled with what was told", "same in the class"):
        has_number(name, n["equivalence"])
    for name, warrant in (("assumed", "entropy"), ("given", "given"), ("open", "none")):
        has_number(name, n[warrant])
    for name in ("arrows", "nothing", "required arrows alone", "arrows besides required ones"):
        if name in said and result.n_rows is not None:
            assert f"{result.n_rows:,} row" in said[name]
            assert f"{len(result.names):,} column" in said[name]
    if "arrows" in said:
        assert f"tamis found {total:,} arrow" in said["arrows"]
    if "strongest" in said:
        best = max(result.edges, key=lambda e: (e.gain, e.parent, e.child))
        assert said["strongest"] == f"The strongest arrow is {arrow(best)}."
        assert f"weakest arrow is {arrow(best)}" not in " ".join(said.values())
    for name in ("first", "first as told", "first if at all"):
        if name in said:
            roots = roots_of(result)
            assert len(roots) > 6 or all((show(r) or "(no name)") in said[name] for r in roots)
    for name in ("least likely direction", "unlikely direction"):
        if name in said:
            assert percent(min(doubts(result))) in said[name]


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_what_is_said_is_true_and_what_is_true_is_said(case):
    result = learned(*case)
    said = {one.name: str(one) for one in answer(result)}
    assert set(said) == expected(result)
    check_words(result, said)
    for one in answer(result, *AT_FIRST):
        assert not re.search(r"\b(nats|PPS|refined|alpha)\b|[{}]", str(one))


@given(result=results())
def test_whatever_the_result_sentences_say_what_holds(result):
    said = {one.name: str(one) for one in answer(result)}
    assert set(said) == expected(result)
    check_words(result, said)
    for text in said.values():
        assert text.isprintable()


# What knowledge cost


def settings_like(told, known):
    return Settings(**{**told, "knowledge": known, "n_jobs": 1})


@pytest.mark.parametrize("way", ["default", "sieve", "sequential"])
@pytest.mark.parametrize("known", ["absurd tiers", "required", "several", "source", "tiers"])
def test_the_cost_is_what_the_score_gains_without_the_knowledge(way, known):
    with_it = learned("levels", way, "plain", known)
    without = learned("levels", way, "plain", "nothing")
    columns = levels(np.random.default_rng(7))
    table = tamis.tables.read_table(columns)
    source = open_information(table, Settings(n_jobs=1).on("counts"))

    def score(result):
        places = {name: k for k, name in enumerate(source.names)}
        parents = {
            places[child]: frozenset(places[p] for p in own)
            for child, own in result.parents.items()
        }
        return score_of(source, parents)

    assert with_it.knowledge_cost == pytest.approx(
        max(score(without) - score(with_it), 0.0), abs=1e-6
    )


def test_knowledge_that_rules_nothing_out_has_no_price():
    assert learned("levels", "default", "plain", "one tier").knowledge_cost is None
    assert learned("levels", "default", "plain", "nothing").knowledge_cost is None


def test_absurd_tiers_cost_and_the_answer_says_so():
    rng = np.random.default_rng(3)
    causes = rng.integers(0, 2, (4, 2000))
    effect = np.where(rng.random(2000) < 0.1, rng.integers(0, 2, 2000), causes.sum(0) > 1)
    columns = {name: list(map(str, column)) for name, column in zip("abcd", causes, strict=True)}
    columns["effect"] = list(map(str, effect))
    free = tamis.TAM().fit(columns).result_
    assert "All 4 directions are settled by the data: every graph" in str(free.answer())
    told = {"tiers": [["effect"], ["a", "b", "c", "d"]]}
    result = tamis.TAM(knowledge=told).fit(columns).result_
    assert result.knowledge_cost > 10
    text = str(result.answer())
    assert re.search(r"The tiers cost \d[\d,]* in log-likelihood: the table fits much better", text)
    assert "settled by the data:" not in text
    assert "effect comes first; the directions of its arrows follow from what was told." in text


def test_the_price_is_saved_and_older_files_load_without_it(tmp_path):
    result = learned("levels", "default", "plain", "absurd tiers")
    from tamis.formats import load, save

    save(replace(result, read_from="folder/table.csv"), str(tmp_path / "run.json"))
    loaded = load(str(tmp_path / "run.json"))
    assert loaded == result
    assert loaded.knowledge_cost == result.knowledge_cost
    assert "In table.csv (400 rows" in str(loaded.answer("found"))
    document = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    later = ("sha256", "knowledge_cost", "read_from")
    older = {key: value for key, value in document.items() if key not in later}
    (tmp_path / "old.json").write_text(json.dumps({**older, "version": 2}), encoding="utf-8")
    old = load(str(tmp_path / "old.json"))
    assert (old.knowledge_cost, old.read_from) == (None, None)
    assert "What that costs in fit is not known." in str(old.answer("told"))


class Outside(Source):
    """The entropies of counts, from outside and without a likelihood."""

    def __init__(self, table):
        self._inner = open_information(table, Settings(n_jobs=1).on("counts"))
        self.names, self.n_rows = self._inner.names, self._inner.n_rows

    def entropies(self, contexts):
        return self._inner.entropies(contexts)


def from_outside():
    table = tamis.tables.read_table(levels(np.random.default_rng(7)))
    told = {"tiers": [["a", "b"], ["c"]]}
    model = tamis.TAM("sequential", information=Outside(table), boundary_rule=0.02, knowledge=told)
    return model.fit().result_


def test_a_source_without_a_likelihood_has_no_price_and_says_so():
    result = from_outside()
    assert result.knowledge_cost is None
    said = {one.name: str(one) for one in answer(result)}
    assert set(said) == expected(result)
    assert said["cost unknown"] == "What that costs in fit is not known."


# All of them


@dataclass(frozen=True)
class Shares:
    """What a bootstrap might have found."""

    n: int
    edges: dict[tuple[str, str], float]


def weakest_made_strongest(result):
    """The arrow nearest to being left out has the largest gain."""
    weakest, _ = Facts(result).weakest
    return replace(
        result, edges=tuple(replace(e, gain=9.0) if e == weakest else e for e in result.edges)
    )


def with_one_arrow(result, only):
    return replace(
        result,
        edges=(only,),
        parents={name: (only.parent,) if name == only.child else () for name in result.names},
    )


def made():
    """Results that learning seldom gives: each differs from a learned one in a field or two."""
    told = learned("levels", "default", "plain", "absurd tiers")
    yield from (replace(told, knowledge_cost=cost) for cost in (0.0, 1.0, 5.0, 50.0, None))
    plain = learned("levels", "default", "plain", "nothing")
    edges = plain.edges
    for warrant in LOOKS:
        yield replace(plain, edges=tuple(replace(e, warrant=warrant) for e in edges))
    by_entropy = replace(plain, edges=tuple(replace(e, warrant="entropy") for e in edges))
    for width in (0.1, 0.8, 2.0):
        entropies = {name: width * k / 4 for k, name in enumerate(plain.names)}
        yield replace(by_entropy, entropies=entropies)
    for units in ("same", "unknown"):
        asked = {**plain.settings, "information": "gaussian", "units": units}
        yield replace(by_entropy, settings=asked)
    only = edges[0]
    known = {"required": [[only.parent, only.child]]}
    yield replace(with_one_arrow(plain, only), settings={**plain.settings, "knowledge": known})
    faint = learned("weak", "default", "plain", "nothing")
    yield with_one_arrow(faint, Facts(faint).weakest[0])
    yield from map(weakest_made_strongest, (plain, faint))
    yield replace(plain, edges=(), parents=dict.fromkeys(plain.names, ()))
    yield replace(plain, edges=tuple(replace(e, direction_probability=0.3) for e in edges))
    yield replace(plain, n_rows=None)


def test_every_sentence_is_reached_and_true_of_made_results_too():
    reached = set()
    for result in (*(learned(*case) for case in CASES), *made(), from_outside()):
        shares = {(e.parent, e.child): 0.5 for e in result.edges}
        if result.edges:
            last = result.edges[-1]
            shares[last.child, last.parent] = 0.5
        said = {one.name: str(one) for one in answer(result, confidence=Shares(10, shares))}
        assert set(said) == expected(result, shares)
        if "resamples turn directions" in said:
            assert re.search(r"resamples (1 of them|it) points the other", str(said))
        check_words(result, said)
        reached |= set(said)
    assert reached == set(NAMES)


def test_sentences_have_names_of_their_own_and_parts_that_exist():
    assert len(set(NAMES)) == len(NAMES)
    assert {one.part for one in SENTENCES} == set(PARTS)
    for one in SENTENCES:
        for place in re.findall(r"{(\w+)}", one.text):
            assert hasattr(Facts, place), f"{one.name}: there is no fact {place}"
        assert one.text.endswith(".")


def test_parts_are_said_in_order_and_a_part_that_does_not_exist_is_refused():
    result = learned("levels", "default", "plain", "absurd tiers")
    parts = [one.part for one in answer(result)]
    assert parts == sorted(parts, key=PARTS.index)
    assert str(result.answer()).count("\n\n") == len(set(parts) & set(AT_FIRST)) - 1
    with pytest.raises(tamis.SettingError, match="an answer has no part 'rest'; there are found"):
        result.answer("rest")


def test_a_raised_alpha_says_how_many_arrows_it_added_and_how_many_are_false():
    result = learned("weak", "default", "plain", "nothing")
    (note,) = [one for one in result.warnings if "alpha was raised" in one]
    found = re.search(r"raised from 0.02 to ([\d.]+), which added (\d+) arrow", note)
    assert float(found[1]) == pytest.approx(result.settings["boundary_rule"]["alpha"], rel=0.06)
    strict = tamis.TAM(alpha=0.02).fit(weak(np.random.default_rng(7))).result_
    assert len(result.edges) - len(strict.edges) == int(found[2])
    assert f"Of the {len(result.edges)} arrows in the graph, about {found[1]} are" in note
    assert "Set --alpha to decide" in options_in_words(note)


def test_numbers_whose_variances_grow_along_the_arrows_have_a_note_about_units():
    (note,) = [
        one for one in learned("numbers", "default", "plain", "nothing").warnings if "Vari" in one
    ]
    share = float(re.search(r"along (\d+)%", note)[1]) / 100
    assert note == UNITS.format(share=share)
    assert share >= SORTED


def test_categories_beside_numbers_do_not_count_in_the_note_about_units():
    rng = np.random.default_rng(3)
    coarse = rng.integers(0, 2, 2000)
    fine = 3 * coarse + rng.integers(0, 3, 2000)  # more uncertain, and without a unit
    columns = {
        "coarse": [f"c{k}" for k in coarse],
        "fine": [f"f{k}" for k in fine],
        "x": rng.normal(size=2000),
        "y": rng.normal(size=2000) / 9,
    }
    result = tamis.TAM(knowledge={"required": [("coarse", "fine")]}).fit(columns).result_
    assert [(one.parent, one.child) for one in result.edges] == [("coarse", "fine")]
    assert not [note for note in result.warnings if "Variances grow" in note]


def test_numbers_whose_variances_fall_along_the_arrows_have_no_note_about_units():
    columns = numbers(np.random.default_rng(7))
    shrunk = {name: column / 9**k for k, (name, column) in enumerate(columns.items())}
    chain = {"required": [("x", "y"), ("y", "z")]}
    result = tamis.TAM(knowledge=chain).fit(shrunk).result_
    assert result.edges
    assert not [one for one in result.warnings if "Vari" in one]


def test_one_tier_is_said_to_set_no_order():
    said = str(learned("levels", "default", "plain", "one tier").answer("told"))
    assert said.startswith(
        "Told beforehand: a, b, c, d and e in one tier. That rules no graph out."
    )
    assert "One tier alone sets no order" in said


def test_the_strongest_arrow_is_not_called_the_weakest():
    result = weakest_made_strongest(learned("levels", "default", "plain", "nothing"))
    edge, test = Facts(result).weakest
    assert test.given == ()
    said = f"{arrow(edge)} was also nearest to being left out; even so it passed that test clearly."
    assert said in str(result.answer("weakest"))
    assert "weakest arrow" not in str(result.answer())


def test_a_single_arrow_is_neither_the_strongest_nor_the_weakest():
    columns = levels(np.random.default_rng(7))
    said = str(tamis.TAM().fit({name: columns[name] for name in "cd"}).result_.answer())
    assert "strongest" not in said
    assert "weakest" not in said
    assert "The arrow passed its test clearly." in said


def test_a_closest_call_is_listed_once():
    for case in CASES[:20]:
        calls = learned(*case).closest_calls(50)
        about = [(frozenset((v.target, *v.others)), frozenset(v.given)) for v in calls]
        assert len(set(about)) == len(about)
        assert [v.distance for v in calls] == sorted(v.distance for v in calls)


def with_functions(n: int) -> dict[str, list[str]]:
    rng = np.random.default_rng(0)
    city = rng.integers(0, 6, n)
    sick = rng.random(n) < np.array([0.1, 0.5, 0.3])[city // 2]
    return {
        "city": [f"town {one}" for one in city],
        "country": [f"land {one}" for one in city // 2],
        "sick": ["yes" if one else "no" for one in sick],
        "state": ["ill" if one else "well" for one in sick],
        "rain": [str(one) for one in rng.integers(0, 2, n)],
    }


def notes_on_functions(table, search="auto") -> list[str]:
    notes = tamis.TAM(search=search).fit(table).result_.warnings
    return [one for one in notes if "follow from others" in one]


@pytest.mark.parametrize("search", ["auto", "sequential"])
def test_columns_that_follow_from_a_neighbour_are_named(search):
    (note,) = notes_on_functions(with_functions(1000), search)
    assert "'country' has one value for each value of 'city'" in note
    assert "'sick' goes one to one with 'state'" in note
    assert "'city' has one value" not in note
    assert "rain" not in note


def test_no_column_is_said_to_follow_where_few_rows_could_make_it_so_by_chance():
    table = {"a": ["x"] * 6 + ["y"] * 6, "b": ["u"] * 6 + ["v"] * 6}
    assert notes_on_functions(table) == []


def test_no_column_is_said_to_follow_where_one_row_speaks_against_it():
    table = with_functions(1000)
    table["state"][0] = "ill" if table["state"][0] == "well" else "well"
    table["country"][0] = "land 0" if table["country"][0] != "land 0" else "land 1"
    assert notes_on_functions(table) == []


@pytest.mark.filterwarnings("ignore::tamis.TamisWarning")
def test_the_terminal_says_beside_the_settled_directions_that_resamples_turn_some(capsys):
    model = tamis.TAM().fit(levels(np.random.default_rng(7)))
    first, *others = model.result_.edges
    result = replace(
        model.result_,
        edges=(replace(first, warrant="equivalence", direction_probability=0.99), *others),
    )
    confidence = model.bootstrap(4, seed=1)
    shares = {**confidence.edges, (first.parent, first.child): 0.25}
    turned = replace(confidence, edges={**shares, (first.child, first.parent): 0.75})
    show_summary(Console(width=200), result, (), turned)
    printed = capsys.readouterr().out
    assert "settled by the data" in printed
    assert re.search(r"among the resamples (1 of them|it) points the other way", printed)
