"""The constants that decide results: what each does, and how it was chosen.

Constants that decide only time or memory stay where they are used, and those of the order search
in ``core``. The others that decide which graph is learned, or what is said of it, are here, so that
a researcher can list and vary them::

    for one in tamis.constants.listed():
        print(one.name, one.value, one.what, one.chosen)
    with tamis.constants.varied(alike=1.0, nats_per_doubt=5.0):
        tamis.TAM().fit(table)

"Choosing seeds" are 5000 and up and tables 700 to 769 of the published networks; figures in the
docs are of other seeds. All were measured for version 0.2; see study/results/README.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from threading import RLock
from typing import Any, NamedTuple

from tamis.errors import SettingError

__all__ = ["Constant", "Constants", "changed", "listed", "varied"]


SMALLEST, LARGEST = 1e-6, 1e12
"""No constant means anything beyond."""


def _constant(value: float, what: str, chosen: str) -> Any:  # noqa: ANN401 - a dataclass field
    return field(default=value, metadata={"what": what, "chosen": chosen})


@dataclass
class Constants:
    """Everything that decides results and is not a parameter of ``TAM``."""

    # The score.
    moment_price: float = _constant(
        2.0,
        "what a parameter of a Gaussian column costs, in halves of ln(n); BIC's is 1",
        "1, 1.5, 2 on choosing seeds: mean CPDAG distance 0.90, 0.69, 0.69; 2 is that of FLOP",
    )
    heavy_tails: float = _constant(
        6.0,
        "numbers beside categories enter by their ranks if their kurtosis is larger; a normal law "
        "has 3",
        "a test of variances is then off by a factor of 2.5; 9 is the kurtosis of an exponential "
        "law, and a mixture of normal laws of one variance has less than 3",
    )
    mixed_price: float = _constant(
        1.5,
        "what a mean, a coefficient or a variance in a cell of levels costs, in halves of ln(n); a "
        "probability of a level costs BIC's",
        "1, 1.5, 2 on 108 tables of choosing seeds: skeleton F1 0.890, 0.895, 0.893, CPDAG "
        "distance 6.14, 6.18, 6.27, alike up to noise; false edges and search time decided",
    )

    ranks_share: float = _constant(
        0.2,
        "the share of alpha with which ordinal columns are tested for what is monotone; the rest "
        "is for counting their levels",
        "0.5, 0.2, 0.1 on choosing seeds, 200 rows: 91, 84, 79 of a hundred monotone dependences "
        "found and 56, 63, 65 U-shaped ones; as categories 50 and 66",
    )

    # Between classes and searches.
    alike: float = _constant(
        3.0,
        "classes whose scores differ by fewer nats fit alike",
        "odds of one in twenty; the two classes of app. C.7 differ by more in one table of fifty",
    )
    more_even: float = _constant(
        1.0,
        "noise is clearly spread more evenly if the logarithms of the weights differ by more",
        "app. C.7 on choosing seeds: gaps of 1 to 2.7",
    )
    independent: float = _constant(
        0.01,
        "columns look independent by themselves if the p-value of their test is larger",
        "a customary alpha",
    )

    misfit: float = _constant(
        1.5,
        "how much of the logarithm of the turns a score may rise, for every column, because a "
        "linear model does not fit whole numbers exactly",
        "whole numbers are searched as levels too unless they are farther behind on the same DAG",
    )

    # Directions.
    nats_per_doubt: float = _constant(
        2.5,
        "a direction has the odds e : 1 if the likelihood loses this number of nats without it",
        "seeds 5000 to 5011: losses of 0 to 1, 1 to 2, 2 to 5, 5 to 8 nats and more went with 60, "
        "82, 84, 92 and 97 right directions in a hundred",
    )
    most_members: int = _constant(
        1000,
        "members listed of a chain component that is no tree",
        "a bound on time; those of most weight come first",
    )
    arbitrary_spread: float = _constant(
        2.0,
        "the standard deviation of noise entropies in arbitrary units, in nats",
        "units differ by a decade or so from column to column; not fitted",
    )
    finest_spread: float = _constant(
        0.01,
        "the least standard deviation of noise entropies in units that can be compared",
        "below the noise of estimates; not fitted",
    )
    standardised: float = _constant(
        0.01,
        "columns whose standard deviations are equal up to this share say nothing by them",
        "the rounding of published tables; not fitted",
    )

    # Looking ahead.
    largest_set: int = _constant(
        6,
        "the most candidates that are taken together",
        "a table has at least 2^6 strata for them",
    )
    set_levels: int = _constant(
        4,
        "columns with more levels take no part in looking ahead",
        "their planes are many, and each holds few rows",
    )
    sets_listed: int = _constant(16, "the strongest sets kept for a column", "a bound on memory")
    false_sets: float = _constant(
        0.01,
        "sets of each size expected to pass by chance where all is independent",
        "sets are judged again by their own tables",
    )
    counted_words: int = _constant(
        2**23,
        "words that counting sets may read whatever the columns",
        "a bound on time: 2^23 and 2^25 have the same scores on tables 700 to 702 of four networks "
        "and the same distances for MOD, d = 20 to 50",
    )
    counted_passes: int = _constant(
        100,
        "in addition, words that counting sets may read, in passes over all pairs of columns",
        "a bound on time",
    )
    screened_sets: int = _constant(
        10**8,
        "sets of one size that may be screened whatever the columns",
        "a bound on time: six candidates of fifty columns of two levels are within",
    )
    screened_passes: int = _constant(
        2,
        "in addition, sets that may be screened, in passes over all pairs of columns",
        "a bound on time",
    )
    stands_out: float = _constant(
        3.5,
        "standard errors by which a set must stand out on 128 rows to be looked at on 512",
        "of parities that hold in 80, 75, 70 rows of 100 it misses 1 in 50 000, 150 and 8",
    )
    still_stands_out: float = _constant(
        4.5,
        "standard errors by which a set must stand out on 512 rows to be judged on the sample",
        "few sets of independent columns pass",
    )
    least_shown: float = _constant(
        0.1,
        "sets of four planes and more are counted if their planes are even enough for a parity "
        "that shows in no part to have this correlation; less in tables of many rows",
        "for version 0.2 no answer of a corpus of tables changed with 0.1; with 0.125 and 0.15 one "
        "did, of a table of 300 rows",
    )
    least_screened: float = _constant(
        0.15,
        "sets of four planes and more are screened if a parity could have this correlation",
        "half of what stands out on 128 rows",
    )
    always_screened: int = _constant(
        2**20,
        "sets of a size are always screened if no more are even enough",
        "a bound on time: about five thousandths of a second",
    )
    least_looked: int = _constant(
        2048,
        "how many sets with one largest plane that stand out are looked at on more rows",
        "a bound on time where everything depends on everything",
    )
    one_more_looked: int = _constant(
        64, "one more than ``least_looked`` for each such number of sets", "a bound on time"
    )
    fewer_judged: int = _constant(
        8, "how many times fewer sets are judged than may be looked at", "a bound on time"
    )


constants = Constants()
"""The constants in force."""
_USUAL = Constants()


class Constant(NamedTuple):
    """One constant: its value now, what it does, and how it was chosen."""

    name: str
    value: float
    what: str
    chosen: str


def listed() -> list[Constant]:
    """All constants, as they are in force."""
    return [
        Constant(
            one.name, getattr(constants, one.name), one.metadata["what"], one.metadata["chosen"]
        )
        for one in fields(Constants)
    ]


def changed() -> dict[str, float]:
    """The constants in force that are not the default's."""
    usual = vars(_USUAL)
    return {name: value for name, value in vars(constants).items() if value != usual[name]}


@contextmanager
def varied(**values: float) -> Iterator[None]:
    """Put other values in force within a ``with`` block, for the whole process.

    What was counted before stays as it was: vary before a table is opened. A model keeps to the
    values it was fitted with, in `bootstrap` too; workers of Dask are other processes. Blocks in
    different threads wait for each other.
    """
    fresh = checked(values)
    with _one_at_a_time:
        before = {name: getattr(constants, name) for name in fresh}
        try:
            vars(constants).update(fresh)
            yield
        finally:
            vars(constants).update(before)


@contextmanager
def in_force(values: Mapping[str, float] | None) -> Iterator[None]:
    """These values, and the defaults for all others."""
    if changed() == (values or {}):
        yield
        return
    with varied(**{**vars(Constants()), **(values or {})}):
        yield


_one_at_a_time = RLock()


def checked(values: Mapping[str, object]) -> dict[str, float]:
    """These values, if each belongs to a constant and can be one."""
    return {name: _checked(name, value) for name, value in values.items()}


def _checked(name: str, value: object) -> float:
    known = {one.name: one.default for one in fields(Constants)}
    if name not in known:
        raise SettingError(f"there is no constant {name!r}: tamis.constants.listed() names all")
    whole = isinstance(known[name], int)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not SMALLEST <= value <= LARGEST or (whole and value != int(value)):  # type: ignore[operator,call-overload]
        what = "a whole number" if whole else "a number"
        raise SettingError(
            f"the constant {name} must be {what} from {1 if whole else SMALLEST:g} to "
            f"{LARGEST:g}, not {value!r}"
        )
    return int(value) if whole else float(value)  # type: ignore[call-overload,arg-type]
