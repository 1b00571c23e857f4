"""What the rules promise, by simulation: false-positive rates, and dependence that is found."""

from __future__ import annotations

import math

import numpy as np
import pytest
from decision_tables import evidence_of, tables_of_independent

import naive
from tamis.information.interface import Tests
from tamis.rules import BIC, ChiSquared, Fixed, Permutation, Rule

SEED = 20211
ONE = [1.0]


def uniform(size: int) -> np.ndarray:
    return np.full(size, 1 / size)


def fading(size: int, ratio: float) -> np.ndarray:
    """Probabilities in geometric progression: few strata hold most of the rows."""
    p = ratio ** np.arange(size)
    return p / p.sum()


# rows, then the probabilities of the strata, of x and of y; cells a row from .008 to 3.4.
DENSE = {
    "2x2": (500, ONE, [0.3, 0.7], [0.5, 0.5]),
    "3x4": (1000, ONE, [0.2, 0.3, 0.5], [0.1, 0.2, 0.3, 0.4]),
    "2x3 in 4 strata": (2000, [0.1, 0.2, 0.3, 0.4], [0.3, 0.7], [0.2, 0.3, 0.5]),
}
SPARSE = {
    "10x10 of 60 rows": (60, ONE, uniform(10), uniform(10)),
    "2x2 in 64 strata of 6 rows": (400, uniform(64), [0.3, 0.7], [0.4, 0.6]),
    "2x2 in 256 strata of 2 rows": (500, uniform(256), [0.3, 0.7], [0.4, 0.6]),
    "4x4 in 64 strata of 5 rows": (300, uniform(64), [0.1, 0.2, 0.3, 0.4], uniform(4)),
    "3x3 in 128 uneven strata": (1000, fading(128, 0.95), [0.1, 0.2, 0.7], [0.05, 0.35, 0.6]),
}


def null(setting: tuple, size: int) -> Tests:
    """Tests of independent columns."""
    return evidence_of(tables_of_independent(np.random.default_rng(SEED), size, *setting))


def share(rule: Rule, found: Tests, tests: int = 1) -> float:
    return float(rule.accepts(rule.strengths(found), tests).mean())


def error(p: float, size: int) -> float:
    """Four standard errors of a share."""
    return 4 * math.sqrt(p * (1 - p) / size)


# --- the evidence itself -------------------------------------------------------------------


@pytest.mark.parametrize("setting", [*DENSE.values(), *SPARSE.values()], ids=[*DENSE, *SPARSE])
def test_the_evidence_simulated_here_is_the_naive_one(setting: tuple):
    tables = tables_of_independent(np.random.default_rng(SEED), 3, *setting)
    comp = evidence_of(tables)
    for test, table in enumerate(tables):
        rows = [cell for cell in np.ndindex(table.shape) for _ in range(table[cell])]
        ref = naive.strata_evidence(rows, 1, 2, (0,))
        for field, value in ref.items():
            assert getattr(comp, field)[test] == pytest.approx(value, rel=1e-9, abs=1e-12)


def test_the_permutation_moments_are_those_of_all_permutations():
    rng = np.random.default_rng(SEED)
    for n_rows in (3, 4, 5, 6):
        for _ in range(10 if n_rows < 6 else 4):
            shape = rng.integers(2, 4, size=2)
            table = rng.multinomial(n_rows, uniform(shape.prod())).reshape(shape)
            occupied = table[table.any(axis=1)][:, table.any(axis=0)]
            comp = evidence_of(table[None, None])
            ref = naive.permutation_moments_by_enumeration(occupied)
            if ref[1] < 1e-12:  # such a table is left out
                ref = (0.0, 0.0)
            assert comp.null_mean[0] == pytest.approx(ref[0], abs=1e-12)
            assert comp.null_variance[0] == pytest.approx(ref[1], abs=1e-12)


# --- false positives -----------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("kind", [ChiSquared, Permutation])
@pytest.mark.parametrize("setting", DENSE.values(), ids=DENSE)
def test_well_filled_tables_give_false_positives_at_the_level(setting, kind, alpha):
    size = 10_000
    assert share(kind(alpha), null(setting, size)) == pytest.approx(alpha, abs=error(alpha, size))


@pytest.mark.parametrize("setting", SPARSE.values(), ids=SPARSE)
def test_permutation_keeps_its_level_in_sparse_tables(setting: tuple):
    size = 4000
    found = null(setting, size)
    assert share(Permutation(0.05), found) == pytest.approx(0.05, abs=error(0.05, size))
    assert share(Permutation(0.2), found) == pytest.approx(0.2, abs=error(0.2, size))


@pytest.mark.parametrize("setting", SPARSE.values(), ids=SPARSE)
def test_chi_squared_loses_its_level_in_sparse_tables_as_documented(setting: tuple):
    size = 4000
    off = abs(share(ChiSquared(0.05), null(setting, size)) - 0.05)
    assert off > error(0.05, size)


@pytest.mark.parametrize("rule", [ChiSquared(0.05), Permutation(0.05)], ids=repr)
def test_the_best_of_twenty_candidates_is_a_false_positive_at_the_level(rule: Rule):
    families, candidates = 2000, 20
    found = null(DENSE["3x4"], families * candidates)
    best = rule.strengths(found).reshape(families, candidates).max(axis=1)
    level = 1 - (1 - 0.05 / candidates) ** candidates
    seen = rule.accepts(best, candidates).mean()
    assert seen == pytest.approx(level, abs=error(level, families))
    uncorrected = rule.accepts(best, 1).mean()
    assert uncorrected > 0.5


def test_the_far_tail_of_permutation_is_heavier_when_levels_are_uneven_as_documented():
    # Rare levels on both sides, a few expected rows or less in most of their cells.
    uneven = (1000, ONE, [0.003, 0.007, 0.19, 0.8], [0.002, 0.008, 0.02, 0.07, 0.2, 0.7])
    seen = share(Permutation(0.05), null(uneven, 20_000), tests=50)
    assert 0.001 + error(0.001, 20_000) < seen < 0.02


def test_a_fixed_threshold_has_a_false_positive_rate_that_drifts_with_n():
    _, *columns = DENSE["2x2"]
    size = 10_000
    for n_rows, p in [(500, 0.3173), (2000, 0.0455), (10_000, 7.7e-6)]:
        # p is P(chi2_1 > 2 n 0.001)
        seen = share(Fixed(0.001), null((n_rows, *columns), size))
        assert seen == pytest.approx(p, abs=error(p, size))


def test_false_positives_of_bic_vanish_as_rows_are_added():
    _, *columns = DENSE["2x2"]
    size = 10_000
    for n_rows, p in [(100, 0.0319), (1000, 0.0086), (30_000, 0.0013)]:
        # p is P(chi2_1 > ln n)
        seen = share(BIC(), null((n_rows, *columns), size))
        assert seen == pytest.approx(p, abs=error(p, size))


# --- power ---------------------------------------------------------------------------------


def dependent(setting: tuple, size: int, lift: float) -> Tests:
    """Tests of columns whose first levels go together more often, by this factor."""
    n_rows, z, x, y = setting
    p = np.einsum("z,x,y->zxy", np.asarray(z), np.asarray(x), np.asarray(y))
    p[:, 0, 0] *= lift
    rng = np.random.default_rng(SEED)
    tables = rng.multinomial(n_rows, p.ravel() / p.sum(), size=size).reshape(size, *p.shape)
    return evidence_of(tables)


@pytest.mark.parametrize("rule", [ChiSquared(), Permutation(), BIC()], ids=repr)
def test_dependence_in_well_filled_tables_is_found(rule: Rule):
    found = dependent(DENSE["2x2"], 1000, lift=3.0)
    assert share(rule, found, tests=20) > 0.95


def test_dependence_in_sparse_tables_is_found_by_permutation_and_starves_bic():
    found = dependent(SPARSE["2x2 in 64 strata of 6 rows"], 1000, lift=5.0)
    assert share(Permutation(), found) > 0.95
    assert share(BIC(), found) < 0.05
