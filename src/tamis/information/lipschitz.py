"""Information from smoothed densities: the paper's choice for continuous data (App. C.6).

Y. Han, J. Jiao, T. Weissman and Y. Wu, "Optimal rates of entropy estimation over Lipschitz
balls", Annals of Statistics 48 (2020), estimate the differential entropy of a density on [0, 1]^d
of smoothness s in (0, 2] at the best possible rate, (n ln n)^(-s/(s+d)) + n^(-1/2), without a lower
bound on the density.

What follows the article:

- The entropy of the kernel-smoothed density f_h stands for that of f, with a bandwidth
  h = c (n ln n)^(-1/(s+d)).
- phi(f_h(x)), phi(x) = -x ln x, is integrated over x. Where a pilot estimate of the probability
  that the kernel sees at x is below a multiple of ln(n) / n, phi is replaced by its best
  polynomial approximation, of a degree that is a multiple of ln n, and the powers of f_h(x) are
  estimated without bias by U-statistics. Elsewhere phi is expanded to second order, the square
  again by a U-statistic.
- With ``split=True`` the pilot comes from other rows than the estimate.

What is chosen here:

- The kernel is a box. A U-statistic is then a falling factorial of a count, and the integral over
  x an average over shifted grids of sums over cells (``smoothed_entropy``), which is computed for
  ``shifts`` of them and not for all.
- The constants of the discrete estimator serve (degree 1.6 ln n, interval up to 3.5 ln(n) / n;
  Wu and Yang, 2016), and its polynomials. A cell without rows adds nothing, so that the size of the
  support need not be known.
- c = 0.7 and s = 2: see docs/lipschitz.md for the figures.
- ``split=False`` by default: one count is both pilot and estimate, and the expansion becomes the
  corrected plug-in -p ln p + 1/(2n), as Wu and Yang do. With ``split=True`` there are two
  halves, each the other's pilot, and the two estimates are averaged; a count too large for the
  pilot's verdict gets the corrected plug-in in the place of the article's truncation.
- Columns are scaled to [0, 1] by the range seen, widened at both ends by the mean distance of
  neighbours in a uniform sample, and the logarithm of the width is added back. The article's
  densities are smooth on the whole space, hence 0 at the walls; with ``boundary="cut"`` cells
  end at the walls, which serves densities that jump there as well. ``"open"`` is its case.
- ``bandwidth="shared"``: the entropies of one difference are smoothed alike. So a gain is
  estimated for the variables plus independent noise of the width of a cell, and what is
  independent without conditions stays so. With ``"own"`` each entropy has the bandwidth of its
  own dimension, as the paper has it; the biases of smoothing then differ and do not cancel.

There is no law for a gain under independence: the rules for this source are ``Fixed`` and ``Rate``,
the paper's thresholds, and the fields of other tests are nan.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tamis.errors import DataError, SettingError
from tamis.information.interface import NUMBERS, Context, Floats, Group, Source, Tests
from tamis.information.smoothed_entropy import DifferentialEntropy, Smoothing, to_cube
from tamis.tables.refusals import listed, shown
from tamis.tables.table import Table

__all__ = ["LipschitzInformation", "Smoothing"]

MOST_DIMENSIONS = 4
"""The largest set of columns whose entropy is estimated; docs/lipschitz.md shows why."""


class LipschitzInformation(Source):
    """H and I of continuous columns, from differential entropies of at most four columns.

    ``columns`` has a row for each name. A constant column has entropy 0 and informs nobody, as in
    every other source.
    """

    title = "smoothed densities"

    def __init__(
        self, names: Sequence[str], columns: Floats, smoothing: Smoothing | None = None
    ) -> None:
        self.smoothing = Smoothing() if smoothing is None else smoothing
        self._cube = to_cube(names, columns)
        self.names = self._cube.names
        self.n_rows = float(self._cube.n_rows)
        self._entropy = DifferentialEntropy(self._cube, self.smoothing)
        self._known: dict[tuple[frozenset[int], int], float] = {}

    @classmethod
    def from_table(cls, table: Table, smoothing: Smoothing | None = None) -> LipschitzInformation:
        """The continuous columns of a table; a column of several levels is refused."""
        levelled = [
            name
            for k, name in enumerate(table.names)
            if not table.is_continuous(k) and len(table.levels[k]) > 1
        ]
        if levelled:
            raise DataError(
                f"Column {listed(map(shown, levelled))} holds levels, which have no density. Leave "
                "it out, or make levels of the continuous columns too, with tamis.discretize, and "
                "use information='counts'."
            )
        columns = [_numbers(table, k) for k in range(table.n_variables)]
        return cls(table.names, np.array(columns), smoothing)

    def varies(self, k: int) -> bool:
        """Whether the column takes more than one value."""
        return bool(self._cube.varies[k])

    def entropy_kinds(self) -> Sequence[str | None]:
        """All columns are measured."""
        return [NUMBERS] * self.n_variables

    def entropies(self, contexts: Sequence[Context]) -> Floats:
        """H(target | given) in nats; it depends on the target's unit, and may be negative."""
        return np.array([self._conditional(k, given) for k, given in contexts], dtype=np.float64)

    def cmi(self, contexts: Sequence[Context]) -> Floats:
        """I(target ; l | given) for every variable l: a row of d values for each context."""
        everyone = range(self.n_variables)
        values = [[self._gain(k, given, {other}) for other in everyone] for k, given in contexts]
        return np.array(values, dtype=np.float64).reshape(len(contexts), self.n_variables)

    def joint_tests(self, groups: Sequence[Group]) -> Tests:
        """The cmi of each group: of its law under independence nothing is known."""
        found = [self._gain(target, given, set(members)) for target, given, members in groups]
        return Tests(np.array(found, dtype=np.float64), n_rows=self.n_rows)

    def _conditional(self, target: int, given: tuple[int, ...]) -> float:
        if target in given or not self.varies(target):
            return 0.0
        z = self._varying(given)
        both = z | {target}
        return self._of(both, len(both)) - self._of(z, len(both))

    def _gain(self, target: int, given: tuple[int, ...], others: set[int]) -> float:
        """I(target ; others | given) from four entropies, so that it is symmetric.

        The target itself and what is given have nothing to add, nor have constants.
        """
        z = self._varying(given)
        x = self._varying({target}) - z
        y = self._varying(others) - x - z
        if not x or not y:
            return 0.0
        n = len(x | y | z)
        return (self._of(x | z, n) + self._of(y | z, n)) - (self._of(x | y | z, n) + self._of(z, n))

    def _varying(self, variables: Iterable[int]) -> frozenset[int]:
        return frozenset(k for k in variables if self.varies(k))

    def _of(self, variables: frozenset[int], dimension: int) -> float:
        """h of a set of variables in a difference of this dimension, remembered."""
        self._check_dimension(variables)
        if self.smoothing.bandwidth == "own":
            dimension = len(variables)
        key = (variables, dimension)
        if key not in self._known:
            width = self.smoothing.width(self._cube.n_rows, dimension)
            self._known[key] = self._entropy.estimate(sorted(variables), width)
        return self._known[key]

    def _check_dimension(self, variables: frozenset[int]) -> None:
        if len(variables) > MOST_DIMENSIONS:
            names = listed(shown(self.names[k]) for k in sorted(variables))
            raise SettingError(
                f"the joint entropy of {len(variables)} columns ({names}) cannot be estimated by "
                f"smoothing, which serves at most {MOST_DIMENSIONS}: set "
                f"max_boundary={MOST_DIMENSIONS - 2}, or choose information='gaussian'"
            )


def _numbers(table: Table, k: int) -> Floats:
    # What is not measured is constant here, and may be a label.
    return table.numbers(k) if table.is_continuous(k) else np.zeros(table.n_rows)
