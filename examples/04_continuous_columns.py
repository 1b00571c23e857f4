"""Learn numbers, with coefficients.

Continuous columns are read by their moments. Two independent causes meet in `growth`, which
settles all three directions. The fitted network has a regression for each column, to compare with
the coefficients that the rows were drawn with.
"""

import numpy as np

import tamis

rng = np.random.default_rng(1)
sun = rng.normal(20, 5, 2000)
water = rng.normal(10, 5, 2000)
growth = 0.5 * sun + 0.8 * water + rng.normal(0, 3, 2000)
harvest = 2.0 * growth + rng.normal(0, 3, 2000)
table = {"sun": sun, "water": water, "growth": growth, "harvest": harvest}

model = tamis.TAM().fit(table)
print(model.network_)
model.plot().figure.savefig("numbers.png", dpi=110, bbox_inches="tight")
