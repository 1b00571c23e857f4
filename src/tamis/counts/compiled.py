"""How the counting loops are compiled, and the types of what they pass around."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

Words = NDArray[np.uint64]
"""Bit planes or masks, one a row, 64 rows of the table in a word."""
Codes = NDArray[np.unsignedinteger[Any]]
Ints = NDArray[np.int64]
Pairs = NDArray[np.int32]
Floats = NDArray[np.float64]
Tables = tuple[Ints, int, Ints, Ints, np.int64, bool, bool]
"""A lookup of f, as the loops unpack it: terms, where their tail begins, supports, f(0) of
each support, constant, whether the support is what occurs, whether negatives are clipped."""

Loop = TypeVar("Loop", bound=Callable[..., Any])


def compiled(loop: Loop) -> Loop:
    """Compile without the interpreter's lock, so that threads can share the work, and keep
    the machine code on disk, so that only the first use waits for it.

    Where there is no place to keep it (a read-only install without a home), every run compiles.
    """
    try:
        return cast(Loop, njit(cache=True, nogil=True, error_model="numpy")(loop))
    except RuntimeError as error:
        if "no locator" not in str(error):
            raise
        return cast(Loop, njit(nogil=True, error_model="numpy")(loop))


def inner(loop: Loop) -> Loop:
    """Compile a loop that only other loops call: no way in from Python and nothing kept of its
    own, which shortens what the first use waits for."""
    no_way_in: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast(Loop, njit(nogil=True, error_model="numpy", **no_way_in)(loop))


def wide_loop(loop: Loop) -> Loop:
    """Like ``inner``, for sums that may be added up in any order, so that they use the processor's
    wide registers."""
    no_way_in: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    order: Any = {"reassoc", "contract", "nsz", "nnan", "ninf"}
    return cast(Loop, njit(nogil=True, error_model="numpy", fastmath=order, **no_way_in)(loop))


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def _popcount(typing_context: Any, word: Any) -> Any:  # noqa: ANN401 - numba's own protocol
    """The number of ones in a 64-bit word, as the LLVM instruction that loops vectorise."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


popcount = cast(Callable[[np.uint64], np.uint64], _popcount)
