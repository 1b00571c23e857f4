"""Linear algebra on one thread: libraries share out even small products among all cores, which on
a busy machine takes many times as long as the products themselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

_changing = Lock()
_inside = 0
_libraries: ThreadpoolController | None = None
_limit: Any = None


@contextmanager
def one_thread() -> Iterator[None]:
    """Have products of matrices worked out on one thread within a ``with`` block, in the whole
    process; the last of several threads to leave it sets back what was."""
    global _inside, _libraries, _limit
    with _changing:
        if _inside == 0:
            _libraries = _libraries or ThreadpoolController()
            _limit = _libraries.limit(limits=1, user_api="blas")
        _inside += 1
    try:
        yield
    finally:
        with _changing:
            _inside -= 1
            if _inside == 0:
                _limit.restore_original_limits()
