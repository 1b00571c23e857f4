"""Numbers beside levels with missing values: each question has the rows that know its columns."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from tamis.errors import TamisWarning
from tamis.information.catalogue import open_source, source_settings
from tamis.information.interface import Context, Group, Query
from tamis.information.own_rows import OwnRows
from tamis.tables import read_table
from tamis.tables.table import in_canonical_order

SOURCES = ("conditional-gaussian", "copula", "mixed", "neighbours")


def columns(seed: int, n: int = 200, share: float = 0.15, *, levels: bool = True):
    """Four columns in a chain, two of them levels, the last complete."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    b = a + rng.normal(size=n)
    c = b + rng.normal(size=n)
    d = c + rng.normal(size=n)
    found = {"a": a, "b": np.digitize(b, [-0.7, 0.7]) if levels else b, "c": c}
    found["d"] = (d > 0).astype(int) if levels else d
    words = np.array(["low", "mid", "high"])
    data: dict[str, list[object]] = {}
    for name, values in found.items():
        gone = rng.random(n) < (share if name != "d" else 0)
        texts = words[values] if values.dtype.kind == "i" else values
        data[name] = [None if g else v for g, v in zip(gone, texts.tolist(), strict=True)]
    return data


def read(data, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TamisWarning)
        return in_canonical_order(
            read_table(data, continuous=True, **({"missing": "pairwise"} | more))
        )


def rows_with(data, names):
    """The rows that have all of these columns, of which the last of the table is complete."""
    n = len(next(iter(data.values())))
    kept = [i for i in range(n) if all(data[name][i] is not None for name in names)]
    return {name: [data[name][i] for i in kept] for name in sorted({*names, "d"})}


def made(information, table):
    return open_source(information, table, source_settings(information, None), 1)


@pytest.mark.parametrize("information", SOURCES)
def test_every_test_is_that_of_a_table_of_its_rows(information):
    data = columns(1, levels=information in ("conditional-gaussian", "mixed"))
    table = read(data)
    source = OwnRows(table, lambda part: made(information, part))
    for target, other, given_ in ((0, 2, ()), (0, 1, (2,)), (1, 3, (0, 2)), (3, 2, (1,))):
        names = [table.names[k] for k in (target, other, *given_)]
        part = read(rows_with(data, names), missing="error")
        place = part.names.index
        alone = made(information, part)
        asked = Query(
            place(names[0]), tuple(sorted(map(place, names[2:]))), np.array([place(names[1])])
        )
        wanted = alone.tests([asked])
        found = source.tests([Query(target, given_, np.array([other]))])
        np.testing.assert_allclose(found.cmi, wanted.cmi, rtol=1e-9, atol=1e-12)
        if information not in ("mixed", "neighbours"):
            # Shuffles are dealt out to rows, whose order differs.
            np.testing.assert_allclose(found.log_p, wanted.log_p, rtol=1e-9, atol=1e-9)
        assert found.n_rows.tolist() == [part.n_rows]
        gains = source.cmi([Context(target, given_)])[0]
        assert gains[other] == pytest.approx(wanted.cmi[0])
        group = Group(target, given_, (other,))
        assert source.joint_tests([group]).cmi[0] == pytest.approx(found.cmi[0])
        assert source.rows_behind(group) in (part.n_rows, None)


def test_a_single_edge_scores_the_same_in_both_directions():
    table = read(columns(2))
    source = OwnRows(table, lambda part: made("conditional-gaussian", part))
    for k, other in ((0, 1), (0, 2), (1, 3)):
        one = source.penalised_likelihoods([Context(k, ()), Context(other, (k,))]).sum()
        turned = source.penalised_likelihoods([Context(other, ()), Context(k, (other,))]).sum()
        assert one == pytest.approx(turned, abs=1e-6)


def test_scores_and_entropies_are_nearer_to_those_of_complete_rows_than_own_rows_alone():
    """What whose rows were asked does to a mean is taken off, as far as it is linear."""
    asked = [Context(2, (1,)), Context(0, (1,)), Context(3, (1, 2)), Context(2, (0, 1))]
    apart, plain = [], []
    for seed in range(8):
        whole = made("conditional-gaussian", read(columns(seed, 400, 0.0)))
        source = OwnRows(
            read(columns(seed, 400, 0.25)), lambda part: made("conditional-gaussian", part)
        )
        gains = whole.entropies([Context(k, ()) for k, _ in asked]) - whole.entropies(asked)
        own = source.entropies([Context(k, ()) for k, _ in asked]) - source.entropies(asked)
        control = [source._apart(*context) for context in asked]
        apart.append(own - gains)
        plain.append(own - control - gains)
    assert np.std(apart) < 0.8 * np.std(plain)


def test_no_column_tells_more_of_levels_than_they_have_to_tell():
    """Days of treatment are 0 in one stratum, and their density there has no bound."""
    rng = np.random.default_rng(4)
    stratum = rng.integers(0, 3, 400)
    days = stratum * rng.uniform(50, 100, 400)
    later = np.where(rng.random(400) < 0.3, np.nan, days + rng.normal(size=400))
    data = {"stratum": [f"s{k}" for k in stratum], "days": days, "later": later}
    source = made("conditional-gaussian", read(data))
    gains = source.cmi([Context(0, ()), Context(0, (2,)), Context(1, (2,))])
    assert gains[:, :2].max() <= np.log(3)


def fitted(data, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TamisWarning)
        return tamis.TAM(**({"missing": "pairwise"} | options)).fit(data).result_


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=6)
def test_names_of_levels_and_the_order_of_rows_and_columns_play_no_part(seed):
    data = columns(seed, 120)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(120)
    other_words = {"low": "zero", "mid": "one", "high": "two", None: None}
    turned = {name: [data[name][i] for i in rows] for name in rng.permutation(list(data)).tolist()}
    for name in ("b", "d"):
        turned[name] = [other_words[v] for v in turned[name]]
    one, other = fitted(data), fitted(turned)
    assert {name: set(one.parents[name]) for name in data} == {
        name: set(other.parents[name]) for name in data
    }


@pytest.mark.parametrize("missing", ["pairwise", "level"])
def test_the_chain_is_found_next_to_that_of_complete_rows(missing):
    truth = {frozenset("ab"), frozenset("bc"), frozenset("cd")}
    result = fitted(columns(6, 1200, 0.15), missing=missing)
    found = {frozenset((e.parent, e.child)) for e in result.edges}
    assert result.settings["information"] == "conditional-gaussian"
    assert result.n_rows == 1200
    assert len(truth - found) <= (missing == "level")
    assert len(found - truth) <= (1 if missing == "pairwise" else 3)
    verdicts = list(result.trace.verdicts())
    assert any(v.n_rows is not None and v.n_rows < 1200 for v in verdicts)
    if missing == "pairwise":
        assert "No row was left out" in " ".join(result.warnings)
