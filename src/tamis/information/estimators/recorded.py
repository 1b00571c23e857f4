"""An entropy estimator from outside as a file tells of it: readable, and not to be run."""

from __future__ import annotations

from typing import NoReturn, final

import numpy as np
from numpy.typing import NDArray

from tamis.errors import SettingError
from tamis.information.estimators.estimator import EntropyEstimator
from tamis.plugins import Plain


@final
class RecordedEstimator(EntropyEstimator):
    """The qualified name and the parameters of an estimator; nothing is imported for it."""

    def __init__(self, name: str, parameters: dict[str, Plain]) -> None:
        self.name = name
        self._parameters = parameters

    def parameters(self) -> dict[str, Plain]:
        """What the file says."""
        return dict(self._parameters)

    def terms(self, counts: NDArray[np.int64], n_rows: int, support: int) -> NoReturn:
        """Refused."""
        raise SettingError(
            f"{self.name} was read from a file, which says what it is called and not what it does: "
            "pass the estimator itself"
        )
