"""Linear algebra on one thread: libraries share out even small products among all cores, which on
a busy machine takes many times as long as the products themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock

from threadpoolctl import LibController, ThreadpoolController

_changing = Lock()
_inside = 0
_libraries: Sequence[LibController] = ()
_before: Sequence[int] | None = None
"""On how many threads the libraries are to work again; None where nothing was changed."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Have products of matrices worked out on one thread within a ``with`` block, in the whole
    process; the last of several threads to leave it sets back what was.

    What an interrupt leaves as it is while it is being set back, the next block sets back.
    """
    global _inside, _libraries, _before
    is_counted = False
    try:
        with _changing:
            if _inside == 0:
                _libraries = _libraries or _of_matrices()
                _before = _before or [one.num_threads for one in _libraries]
                for one in _libraries:
                    one.set_num_threads(1)
            _inside += 1
            is_counted = True
        yield
    finally:
        with _changing:
            _inside -= is_counted
            if _inside == 0 and _before is not None:
                _set_back(_before)
                _before = None


def _of_matrices() -> Sequence[LibController]:
    found: Sequence[LibController] = ThreadpoolController().select(user_api="blas").lib_controllers
    return found


def _set_back(before: Sequence[int]) -> None:
    for one, number in zip(_libraries, before, strict=True):
        one.set_num_threads(number)
