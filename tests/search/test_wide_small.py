"""What keeps wide tables small in memory and quick changes nothing: not a byte of a result."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import tamis
from engines import judged
from tables import rows, table_of
from tamis.counting import counts
from tamis.counting.interactions import Interaction
from tamis.counting.lookup import Lookup
from tamis.counting.memory import MemoryCounts
from tamis.decisions.rule import Rule
from tamis.information import wrappers
from tamis.information.counted import CountedInformation
from tamis.information.estimators import as_estimator
from tamis.information.wrappers import RememberedInformation
from tamis.knowledge import as_bits
from tamis.rules import BIC, Fixed, Permutation
from tamis.search import boundaries, cmi_rows, layers, parents, pps
from tamis.search.outcome import Uncertainties
from tamis.search.parents import ParentSelector
from tamis.search.pps import PPS
from tamis.search.selection import Selector
from tamis.simulate import draw


class Steep(Rule):
    """A threshold that rises so much with each candidate that what passed often fails."""

    name = "steep"

    def __repr__(self) -> str:
        return "Steep()"

    def strengths(self, evidence):
        return evidence.n_rows * evidence.plugin

    def threshold_for(self, tests):
        return np.asarray(0.7 * np.asarray(tests))


RULES = [Fixed(0.02), Permutation(0.3), BIC(), Steep()]


def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows at once, whole, with their tests."""
    monkeypatch.setattr(MemoryCounts, "whole_rows", 10**6)
    monkeypatch.setattr(cmi_rows, "MOST_SLOTS", 10**6)


def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every size from which something is done in another way, brought down."""
    monkeypatch.setattr(MemoryCounts, "whole_rows", 0)
    monkeypatch.setattr(cmi_rows, "ROW_BYTES", 3000)
    monkeypatch.setattr(boundaries, "WIDE", 0)
    monkeypatch.setattr(cmi_rows, "MOST_SLOTS", 0)
    monkeypatch.setattr(cmi_rows, "FEW_SLOTS", 2)
    monkeypatch.setattr(cmi_rows, "FIRST_ROWS", 1)
    monkeypatch.setattr(pps, "ROOM", 1)
    monkeypatch.setattr(wrappers, "MOST_BYTES", 20_000)
    monkeypatch.setattr(wrappers, "LEADING", 2)
    monkeypatch.setattr(wrappers, "WIDE", 0)
    monkeypatch.setattr(parents, "SHORT", 1)
    monkeypatch.setattr(parents, "WHOLE", 0)
    monkeypatch.setattr(layers, "AT_ONCE", 100)
    monkeypatch.setattr(layers, "MANY", 0)


@pytest.fixture(scope="module")
def table() -> dict[str, np.ndarray]:
    """Columns of two levels, some of three, and one that never varies."""
    columns = dict(draw("tree", "mod", d=70, n=400, seed=3).data)
    columns |= {f"t{k}": v for k, v in enumerate(_three_levels(columns))}
    return columns | {"constant": np.zeros(400, dtype=int)}


def _three_levels(columns: dict[str, np.ndarray]) -> list[np.ndarray]:
    names = sorted(columns)[:8]
    return [columns[a] + columns[b] for a, b in zip(names[::2], names[1::2], strict=True)]


@pytest.mark.filterwarnings("ignore::tamis.TamisWarning")
@pytest.mark.parametrize("search", ["sequential", "sieve", "node", "layer", "auto"])
@pytest.mark.parametrize("binary", [True, False], ids=["two levels", "up to three"])
def test_wide_and_narrow_results_are_the_same(monkeypatch, tmp_path, table, search, binary):
    names = [name for name in table if not binary or name[0] not in "tc"]
    found = []
    for how in (narrow, wide):
        with monkeypatch.context() as patched:
            how(patched)
            model = tamis.TAM(search=search, n_jobs=2).fit({k: table[k] for k in names})
        model.save(str(tmp_path / "result.json"))
        found.append((tmp_path / "result.json").read_bytes())
    assert found[0] == found[1]
    assert len(model.graph_.edges) > 20


def random_sets(d: int, rng: np.random.Generator) -> list[list[Interaction]]:
    """For each column some sets of two or three others to try."""
    return [
        [
            Interaction(
                float(z), tuple(sorted(rng.choice(others, rng.integers(2, 4), False).tolist()))
            )
            for z in (9, 8, 7)
        ]
        for others in ([k for k in range(d) if k != target] for target in range(d))
    ]


@pytest.mark.parametrize("with_sets", [False, True], ids=["single", "sets"])
@pytest.mark.parametrize("backward", [True, False], ids=["backward", "forward"])
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_a_selection_that_stays_is_the_same_among_more_candidates(
    monkeypatch, rule, backward, with_sets
):
    monkeypatch.setattr(cmi_rows, "MOST_SLOTS", 0)
    monkeypatch.setattr(cmi_rows, "FEW_SLOTS", 3)
    rng = np.random.default_rng(1)
    stayed = 0
    for seed in range(6):
        drawn = draw("er", "logistic", d=14, n=150, seed=seed, edges=25).data
        information = RememberedInformation(
            CountedInformation(table_of(np.array([*drawn.values()]).T))
        )
        sets = random_sets(14, rng) if with_sets else None
        selector = ParentSelector(Selector(PPS(information, rule, sets), backward=backward))
        for _ in range(150):
            target, *others = rng.permutation(14).tolist()
            n, more = rng.integers(3, 12), rng.integers(1, 3)
            asked = [(target, as_bits(others[:n])), (target, as_bits(others[: n + more]))]
            one, same = selector.select_all(asked)
            if stays(selector, target, one, as_bits(others[n : n + more]), n + more):
                assert same.members == one.members
                assert same.score == one.score
                stayed += 1
    assert stayed > (50 if with_sets else 100)


def stays(selector, target, one, more, n_candidates):
    """As the loops have it."""
    mentioned = selector.selector.pps.mentioned[target]
    known = n_candidates <= one.most and not one.rivals & more
    return known and not one.by_set and not mentioned & more


def test_most_selections_stay_where_the_others_have_nothing_to_say():
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 2, (2000, 30))
    columns[:, 1] = columns[:, 0] ^ (rng.random(2000) < 0.1)
    information = CountedInformation(table_of(columns))
    selector = ParentSelector(Selector(PPS(information, Permutation(0.001))))
    (one,) = selector.select_all([(1, as_bits(range(20)) & ~2)])
    assert one.members == (0,)
    quiet = as_bits(range(20, 30)) & ~one.rivals
    assert quiet
    assert stays(selector, 1, one, quiet, 19 + quiet.bit_count())


@pytest.mark.parametrize("estimator", ["grassberger", "plugin", "minimax", "jackknife"])
@given(table=rows(columns=(3, 6), length=(2, 200), levels=2))
def test_tables_of_two_levels_are_folded_as_all_others(estimator, table):
    """A column of three levels makes the loops take their general way."""
    third = np.arange(len(table))[:, np.newaxis] % 3
    few = CountedInformation(table_of(table), estimator, n_jobs=1)
    many = CountedInformation(table_of(np.hstack([table, third])), estimator, n_jobs=1)
    d = table.shape[1]
    contexts = [
        (k, tuple(j for j in range(d) if j != k)[:size]) for k in range(d) for size in (0, 1, 2)
    ]
    everyone = [np.arange(d)] * len(contexts)
    comp = judged(few._counts, contexts, everyone, few._lookup, tests=True)
    ref = judged(many._counts, contexts, everyone, many._lookup, tests=True)
    for one, other in zip(comp, ref, strict=True):
        np.testing.assert_array_equal(one, other)


@given(table=rows(columns=(4, 7), length=(20, 100), levels=3))
def test_a_batch_of_small_and_large_tables_is_that_of_each_alone(table):
    """Some of the contexts are beyond the crossover, some are not."""
    d = table.shape[1]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(counts, "CROSSOVER", 6)
        engine = MemoryCounts(table_of(table), n_jobs=1)
        terms = as_estimator("plugin").terms
        contexts = [(k, tuple(range(k))) for k in range(d)]
        candidates = [np.arange(d)[: k + 1] for k in range(d)]
        lookup = Lookup(terms, engine.n_rows)
        comp = judged(engine, contexts, candidates, lookup, tests=True)
        ref = [
            judged(engine, [one], [some], lookup, tests=True)
            for one, some in zip(contexts, candidates, strict=True)
        ]
    for i, found in enumerate(comp):
        np.testing.assert_array_equal(found, np.concatenate([one[i] for one in ref]))


def test_rounds_are_kept_by_what_changed():
    rng = np.random.default_rng(0)
    now = rng.random(20)
    rounds = []
    kept = Uncertainties()
    for k in range(20):
        now[rng.integers(0, 20, 2)] = rng.random(2)
        now[k] = np.inf
        rounds.append(now.astype(np.float32))
        kept.append(now)
    assert len(kept) == 20
    for comp, ref in zip(kept, rounds, strict=True):
        np.testing.assert_array_equal(comp, ref)
