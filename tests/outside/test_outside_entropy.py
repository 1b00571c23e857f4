"""Entropies that a researcher brings: any function of the counts of a table."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.special import entr

import naive
import tamis
from tamis.counting.elsewhere import LongTable
from tamis.information.counted import CountedInformation, open_counts
from tamis.information.estimators import ESTIMATORS, as_estimator
from tamis.information.interface import Context, Group, Query
from tamis.tables import read_table

pytestmark = pytest.mark.filterwarnings("ignore:Constant columns")

CONTEXTS = [Context(0, ()), Context(1, (0,)), Context(2, (0, 3)), Context(3, (0, 1, 2))]


def table(n: int = 300, seed: int = 5) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, n)
    b = (a + (rng.random(n) < 0.3)) % 3
    c = (b * 2 + (rng.random(n) < 0.3)) % 5
    d = (a + c + (rng.random(n) < 0.2)) % 2
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d, "same": 0})


def plugin(counts) -> float:
    return float(entr(counts / counts.sum()).sum())


def chao_shen(counts) -> float:
    """Chao and Shen (2003): coverage-adjusted, with Horvitz and Thompson's correction."""
    n, singles = counts.sum(), np.count_nonzero(counts == 1)
    covered = 1 - min(singles, n - 1) / n
    p = covered * counts / n
    return float((entr(p) / (1 - (1 - p) ** n)).sum())


def james_stein(counts, cells) -> float:
    """Hausser and Strimmer (2009): shrunk towards the uniform law over all cells."""
    n, p = counts.sum(), counts / counts.sum()
    unseen = cells - len(counts)
    spread = float(((1 / cells - p) ** 2).sum()) + unseen / cells**2
    weight = 1.0 if n <= 1 or spread == 0 else (1 - float((p**2).sum())) / ((n - 1) * spread)
    weight = min(max(weight, 0.0), 1.0)
    seen = weight / cells + (1 - weight) * p
    return float(entr(seen).sum() + unseen * entr(weight / cells))


def source(function, data: pd.DataFrame | None = None):
    return open_counts(read_table(table() if data is None else data), as_estimator(function), 1)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_additive_estimator_as_a_function_gives_what_the_fast_path_gives(name: str):
    estimator = ESTIMATORS[name]()

    def function(counts, cells):
        return max(estimator.entropy(counts, cells), 0.0)

    slow, fast = source(function), CountedInformation(read_table(table()), name)
    np.testing.assert_allclose(slow.entropies(CONTEXTS), fast.entropies(CONTEXTS), atol=1e-9)
    np.testing.assert_allclose(slow.cmi(CONTEXTS), fast.cmi(CONTEXTS), atol=1e-9)
    queries = [Query(*one, np.arange(5)) for one in CONTEXTS]
    ours, theirs = slow.tests(queries), fast.tests(queries)
    np.testing.assert_allclose(ours.cmi, theirs.cmi, atol=1e-9)
    np.testing.assert_array_equal(ours.log_p, theirs.log_p)
    groups = [Group(0, (), (1, 2)), Group(3, (0,), (1, 2, 4))]
    ours, theirs = slow.joint_tests(groups), fast.joint_tests(groups)
    np.testing.assert_allclose(ours.cmi, theirs.cmi, atol=1e-9)
    np.testing.assert_array_equal(ours.log_p, theirs.log_p)
    np.testing.assert_array_equal(
        slow.penalised_likelihoods(CONTEXTS), fast.penalised_likelihoods(CONTEXTS)
    )


def by_brute_force(members: list[int], function, data: pd.DataFrame) -> float:
    """f of the joint table, counted by hand; constants say nothing."""
    kept = [data.columns[k] for k in members if data.iloc[:, k].nunique() > 1]
    if not kept:
        return 0.0
    counts = data.groupby(kept).size().to_numpy()
    if function is james_stein:
        return james_stein(counts, math.prod(data[name].nunique() for name in kept))
    return function(counts)


@pytest.mark.parametrize("function", [chao_shen, james_stein])
def test_entropies_and_information_are_differences_of_whole_tables(function):
    data = table(60)
    found = source(function, data)
    for k, given in CONTEXTS:
        h = by_brute_force([k, *given], function, data) - by_brute_force([*given], function, data)
        assert found.entropies([Context(k, given)])[0] == pytest.approx(h, abs=1e-10)
    sets = [[0, 1], [0, 2], [0], [0, 1, 2]]
    s1, s2, s, s12 = (by_brute_force(one, function, data) for one in sets)
    assert found.cmi([Context(1, (0,))])[0, 2] == pytest.approx(s1 + s2 - s - s12, abs=1e-10)
    assert found.cmi([Context(1, (0,))])[0, [0, 1, 4]].tolist() == [0.0, 0.0, 0.0]


def test_a_function_is_told_the_counts_that_occur_in_falling_order_and_the_cells():
    seen = []

    def function(counts, cells):
        seen.append((counts.tolist(), cells))
        return plugin(counts)

    source(function, pd.DataFrame({"x": [0, 0, 1, 2, 2, 2], "y": [0, 1, 0, 1, 1, 1]})).entropies(
        [Context(1, (0,))]
    )
    assert sorted(seen) == [([3, 1, 1, 1], 6.0), ([3, 2, 1], 3.0)]


@pytest.mark.parametrize("search", ["node", "layer", "sequential", "auto"])
def test_every_search_takes_a_function(search: str):
    ours = tamis.TAM(search, entropy=plugin).fit(table()).result_
    fast = tamis.TAM(search, entropy="plugin").fit(table()).result_
    assert ours.parents == fast.parents
    assert ours.entropies == pytest.approx(fast.entropies, abs=1e-12)


@pytest.mark.parametrize("search", ["node", "layer", "sequential"])
@pytest.mark.parametrize("seed", range(5))
def test_tam_with_chao_shen_is_a_brute_force_tam_with_chao_shen(search: str, seed: int):
    data = table(80, seed).drop(columns="same")

    def by_hand(cells, n_cells):
        return chao_shen(np.array(sorted(cells.values(), reverse=True)))

    H, I = naive.from_rows(data.to_numpy().tolist(), by_hand)  # noqa: E741
    decide = naive.thresholds(I, 0.05, 0.05, search)
    _, expected = naive.tam(H, I, 4, decide, search)
    model = tamis.TAM(search, entropy=chao_shen, boundary_rule=0.05,
                      masking_rule=None if search == "sequential" else 0.05,
                      backward=False).fit(data)  # fmt: skip
    names = list(data.columns)
    found = {names.index(k): own for k, own in model.result_.parents.items()}
    assert found == {k: tuple(names[p] for p in own) for k, own in expected.items()}
    for k, own in expected.items():
        assert model.result_.entropies[names[k]] == pytest.approx(H(k, own), abs=1e-10)


def test_rows_in_blocks_are_counted_for_a_function_too(tmp_path):
    long = LongTable(read_table(table()))
    ours, blocks = source(chao_shen), open_counts(long, as_estimator(chao_shen), 1)
    np.testing.assert_array_equal(ours.entropies(CONTEXTS), blocks.entropies(CONTEXTS))
    np.testing.assert_array_equal(ours.cmi(CONTEXTS), blocks.cmi(CONTEXTS))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (-0.1, "returned -0.1"),
        (math.nan, "returned nan"),
        (math.inf, "returned inf"),
        (None, "returned None"),
        (np.ones(3), "returned array"),
        ("1.0", "returned '1.0'"),
    ],
)
def test_what_is_no_entropy_is_refused_with_the_function_and_the_table(answer, message):
    def wrong(counts):
        return answer

    with pytest.raises(tamis.PluginError, match=message) as refused:
        tamis.TAM("node", entropy=wrong).fit(table())
    assert "wrong of the table of 'a', whose counts begin with [" in str(refused.value)


def test_an_exception_inside_a_function_is_named_and_kept():
    with pytest.raises(tamis.PluginError, match="failed with ZeroDivisionError") as error:
        tamis.TAM("node", entropy=lambda counts: 1 / 0).fit(table())
    assert isinstance(error.value.__cause__, ZeroDivisionError)


def test_rows_that_are_not_whole_tables_refuse_a_function():
    gapped = table().astype(float)
    gapped.iloc[3, 1] = np.nan
    with pytest.raises(tamis.SettingError, match=r"chao_shen .*missing='pairwise' needs a sum"):
        tamis.TAM("node", entropy=chao_shen, missing="pairwise").fit(gapped)
    weights = np.random.default_rng(1).random(300)
    with pytest.raises(tamis.SettingError, match=r"chao_shen .*survey weights needs a sum"):
        tamis.TAM("node", entropy=chao_shen).fit(table(), sample_weight=weights)


class Halved(tamis.EntropyEstimator):
    """An additive estimator from outside."""

    name = "halved"

    def __init__(self, share: float) -> None:
        self.share = share

    def parameters(self):
        return {"share": self.share}

    def terms(self, counts, n_rows, support):
        return self.share * entr(counts / n_rows)


@pytest.mark.parametrize(
    ("entropy", "written"),
    [
        (chao_shen, {"estimator": f"{__name__}.chao_shen"}),
        (partial(chao_shen), {"estimator": f"{__name__}.chao_shen"}),
        (Halved(0.5), {"estimator": f"{__name__}.Halved", "share": 0.5}),
    ],
    ids=["function", "partial function", "estimator"],
)
def test_what_estimated_is_recorded_and_read_back(tmp_path, entropy, written):
    model = tamis.TAM("node", entropy=entropy).fit(table())
    assert model.result_.settings["entropy"] == written
    model.save(tmp_path / "run.json")
    assert tamis.load(tmp_path / "run.json") == model.result_


def test_the_fast_path_is_the_naive_one():
    rows = [tuple(row) for row in table(40).to_numpy().tolist()]
    found = source(plugin, table(40)).entropies([Context(0, (1,))])[0]
    H, _ = naive.from_rows(rows)
    assert found == pytest.approx(H(0, (1,)), abs=1e-12)
