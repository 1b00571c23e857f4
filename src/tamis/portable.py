"""Random words, logarithm, exponential, logistic and normal quantile, with the same last bit
everywhere.

The functions of the system's mathematical library, and numpy's own, differ in the last bit
from one processor to the next. Those here use nothing but sums, products, quotients, square
roots and roundings, which every machine does alike, and sums are taken in a stated order. They
are good to a few units in the last place.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# ln 2 in two parts: the first has 32 bits, so that small multiples of it are exact.
_LN2_HIGH = 2977044471 * 2.0**-32
_LN2_LOW = 1.9082149292705877e-10
_LN2 = _LN2_HIGH + _LN2_LOW
_SQRT_HALF = 0.7071067811865476
_LOG_TERMS = tuple(2.0 / (2 * k + 1) for k in range(12))
_LARGEST = 700.0
"""Where exp is cut off, on both sides: beyond it floats end."""


def _factorials(count: int) -> tuple[float, ...]:
    values = [1.0]
    for k in range(1, count):
        values.append(values[-1] * k)
    return tuple(values)


_EXP_TERMS = tuple(1.0 / factorial for factorial in _factorials(14))


def random_words(seed: int | np.random.SeedSequence, key: bytes, n: int) -> NDArray[np.uint64]:
    """The first words of the stream that belongs to a key: PCG64, seeded by the seed and the
    SHA-256 of the key. Words are what numpy keeps the same on every machine and in every version.
    """
    root = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    digest = hashlib.sha256(key).digest()
    own = tuple(int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4))
    child = np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, *own))
    return np.asarray(np.random.PCG64(child).random_raw(n), dtype=np.uint64)


def log(x: Floats) -> Floats:
    """The natural logarithm of positive numbers.

    With x = m 2^e and m around 1, ln m = 2 artanh s for s = (m - 1) / (m + 1), |s| < 0.172.
    """
    m, e = np.frexp(x)
    small = m < _SQRT_HALF
    m, e = np.where(small, 2.0 * m, m), e - small
    s = (m - 1.0) / (m + 1.0)
    return np.asarray(e * _LN2_HIGH + (e * _LN2_LOW + s * _polynomial(_LOG_TERMS, s * s)))


def exp(x: Floats) -> Floats:
    """The exponential, cut off at e^700 and e^-700; Taylor's series within half of ln 2."""
    x = np.clip(x, -_LARGEST, _LARGEST)
    k = np.rint(x / _LN2)
    rest = (x - k * _LN2_HIGH) - k * _LN2_LOW
    return np.asarray(np.ldexp(_polynomial(_EXP_TERMS, rest), k.astype(np.int32)))


def sigmoid(x: Floats) -> Floats:
    """1 / (1 + exp(-x)), the paper's sigma."""
    return 1.0 / (1.0 + exp(-x))


def sums(x: Floats) -> Floats:
    """Sums over the last axis, from left to right."""
    return np.asarray(np.add.accumulate(x, axis=-1)[..., -1])


def entropy(rows: Floats) -> Floats:
    """-sum p ln p over the last axis, in nats; every p must be positive."""
    return -sums(rows * log(rows))


def normal_quantile(u: Floats) -> Floats:
    """Where the standard normal law has u to its left, for u in (0, 1).

    Wichura (1988), "Algorithm AS 241: The percentage points of the normal distribution",
    Applied Statistics 37: three quotients of polynomials, one for the middle and two for the
    tails, with a relative error of 1e-16.
    """
    q = u - 0.5
    r = 0.180625 - q * q
    values = q * _polynomial(_MIDDLE[0], r) / _polynomial(_MIDDLE[1], r)
    outside = np.abs(q) > 0.425
    values[outside] = np.copysign(_tail(np.minimum(u, 1.0 - u)[outside]), q[outside])
    return values


def _tail(beyond: Floats) -> Floats:
    r = np.sqrt(-log(beyond))
    near = _polynomial(_NEAR[0], r - 1.6) / _polynomial(_NEAR[1], r - 1.6)
    far = _polynomial(_FAR[0], r - 5.0) / _polynomial(_FAR[1], r - 5.0)
    return np.where(r <= 5.0, near, far)


def _polynomial(coefficients: Sequence[float], x: Floats) -> Floats:
    """Horner's rule; the constant term comes first."""
    value = np.full_like(x, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        value *= x
        value += coefficient
    return value


_MIDDLE = (
    (
        3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
        1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
        3.3430575583588128105e4, 2.5090809287301226727e3,
    ),
    (
        1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
        2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
        5.2264952788528545610e3,
    ),
)  # fmt: skip
_NEAR = (
    (
        1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
        3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
        2.27238449892691845833e-2, 7.74545014278341407640e-4,
    ),
    (
        1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
        1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
        1.05075007164441684324e-9,
    ),
)  # fmt: skip
_FAR = (
    (
        6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
        2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
        2.71155556874348757815e-5, 2.01033439929228813265e-7,
    ),
    (
        1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
        7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
        2.04426310338993978564e-15,
    ),
)  # fmt: skip
