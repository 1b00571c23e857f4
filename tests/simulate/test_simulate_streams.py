"""Streams are reproducible to the last bit, and the functions made for that are accurate."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy import special, stats
from simulated_fits import even

from tamis import portable
from tamis.errors import SettingError
from tamis.simulate.streams import Purpose, Stream


def numbers(low, high, n=100_000):
    return np.random.default_rng(1).uniform(low, high, n)


def test_the_logarithm_is_good_to_a_few_units_in_the_last_place():
    x = np.concatenate([10 ** numbers(-300, 300), 1 + numbers(-1e-3, 1e-3), numbers(1e-9, 4)])
    np.testing.assert_allclose(portable.log(x), np.log(x), rtol=1e-15, atol=0)
    assert portable.log(np.array([1.0, 2.0, 0.5])).tolist() == [0, np.log(2), -np.log(2)]


def test_the_exponential_is_good_to_a_few_units_in_the_last_place():
    x = np.concatenate([numbers(-700, 700), numbers(-1, 1)])
    np.testing.assert_allclose(portable.exp(x), np.exp(x), rtol=1e-15)
    assert portable.exp(np.zeros(1)) == 1
    assert np.isfinite(portable.exp(np.array([-1e9, 1e9]))).all()
    np.testing.assert_allclose(portable.sigmoid(x), special.expit(x), rtol=1e-15)


def test_the_normal_quantile_is_that_of_scipy():
    tails = 2.0 ** numbers(-53, -1)
    u = np.concatenate([numbers(0.01, 0.99), tails, 1 - tails])
    expected = special.ndtri(u)
    np.testing.assert_allclose(portable.normal_quantile(u), expected, rtol=2e-14, atol=1e-15)


@pytest.mark.parametrize(
    ("draw", "law"),
    [
        (lambda chance: chance.uniforms(20_000), stats.uniform()),
        (lambda chance: chance.inner_uniforms(20_000), stats.uniform()),
        (lambda chance: chance.between(-1, 3, 20_000), stats.uniform(-1, 4)),
        (lambda chance: chance.exponentials(20_000), stats.expon()),
        (lambda chance: chance.normals(20_000), stats.norm()),
    ],
)
def test_numbers_follow_their_laws(draw, law):
    assert stats.kstest(draw(Stream(5, Purpose.NOISE)), law.cdf).pvalue > 0.01


def test_whole_numbers_coins_and_permutations_are_fair():
    chance = Stream(6, Purpose.NOISE)
    assert even(Counter(chance.below(7, 7000).tolist()), 7)
    assert even(Counter(chance.signs(2000).tolist()), 2)
    assert even(Counter(tuple(chance.permutation(4).tolist()) for _ in range(2400)), 24)
    heads = int(chance.coins(0.3, 10_000).sum())
    assert stats.binomtest(heads, 10_000, 0.3).pvalue > 0.01
    assert not chance.coins(0.0, 1000).any()
    assert chance.coins(1.0, 1000).all()


def test_purposes_nodes_and_seeds_have_streams_of_their_own():
    keys = [(1, Purpose.GRAPH), (1, Purpose.LABELS), (2, Purpose.GRAPH), (1, Purpose.NOISE, 0, 0)]
    keys += [(1, Purpose.NOISE, 0, 1), (1, Purpose.NOISE, 1, 0), (1, Purpose.NOISE)]
    firsts = {tuple(Stream(*key).uniforms(3).tolist()) for key in keys}
    assert len(firsts) == len(keys)


@pytest.mark.parametrize("seed", [-1, 1.0, "1", None, True])
def test_a_seed_that_is_none_is_refused(seed):
    with pytest.raises(SettingError, match="seed must be a whole number from 0 on"):
        Stream(seed, Purpose.GRAPH)
