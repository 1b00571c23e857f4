"""How the counting loops are compiled, and the types of what they pass around."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType
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

whole = cast(Callable[[int], int], np.int64)
"""Makes a number of a constant: for constants numba would compile a version of their own."""

Loop = TypeVar("Loop", bound=Callable[..., Any])

LOOP_FILES = (
    "counting/block_loops.py",
    "counting/by_rows.py",
    "counting/compiled.py",
    "counting/direct.py",
    "counting/fold.py",
    "counting/independence.py",
    "counting/interactions.py",
    "counting/judge.py",
    "counting/row_sample.py",
    "counting/screening.py",
    "counting/tables.py",
    "information/cell_algebra.py",
    "information/elimination.py",
    "information/incomplete_moments.py",
    "information/logistic_loops.py",
    "information/neighbours/loops.py",
    "information/neighbours/shuffles.py",
    "information/real_count_loops.py",
    "search/order_loops.py",
    "search/paths.py",
)
"""Every file that defines loops."""


def compiled(loop: Loop) -> Loop:
    """Compile without the interpreter's lock, so that threads can share the work, and keep
    the machine code on disk, so that only the first use waits for it.

    Where there is no place to keep it (a read-only install without a home), every run compiles,
    and `place_of_code` says so.
    """
    return _kept(loop)


def _kept(loop: Loop, *signature: Any) -> Loop:  # noqa: ANN401
    compile_loop: Any = njit
    own_name = loop.__qualname__
    # numba keeps code by the file and name of a loop and does not see when a loop that it calls
    # has changed: the state of all loops becomes part of the name while it looks for a place.
    loop.__qualname__ = f"{own_name}_{state_of_loops()}"
    try:
        kept = compile_loop(*signature, cache=True, nogil=True, error_model="numpy")(loop)
        _places.append(str(kept.stats.cache_path))
        return cast(Loop, kept)
    except RuntimeError as error:
        if "no locator" not in str(error):
            raise
        return cast(Loop, compile_loop(*signature, nogil=True, error_model="numpy")(loop))
    finally:
        loop.__qualname__ = own_name


@cache
def pointed_at(loop: Loop, signature: Any) -> Loop:  # noqa: ANN401 - numba's signatures have no type
    """A compiled loop with one signature. Others call it through a pointer, so that it is neither
    compiled nor optimised again with each of them."""
    dispatcher: Any = loop
    return cast(Loop, _kept(dispatcher.py_func, signature))


_places: list[str] = []
"""The folders of all that is kept."""


def place_of_code() -> str | None:
    """The folder below which machine code is kept, or None where it cannot be."""
    return os.path.commonpath(_places) if _places else None


def is_at_hand(loop: Callable[..., Any]) -> bool:
    """Whether a loop has been compiled, in this process or in an earlier one."""
    dispatcher: Any = loop
    return bool(dispatcher.overloads) or _is_kept(loop.__name__, dispatcher.stats.cache_path)


@cache
def interpreted(loop: Loop) -> Loop:
    """A loop as Python runs it, with those of its file that it calls: where compiling would take
    longer than a small answer."""
    dispatcher: Any = loop
    names = dict(dispatcher.py_func.__globals__)
    own = {name: one.py_func for name, one in names.items() if hasattr(one, "py_func")}
    plain = {name: FunctionType(one.__code__, names, name) for name, one in own.items()}
    names.update(plain)
    return cast(Loop, plain[loop.__name__])


@cache
def _is_kept(name: str, folder: str | None) -> bool:
    if folder is None:
        return False
    return any(Path(folder).glob(f"*.{name}_{state_of_loops()}-*.nbi"))


@cache
def state_of_loops() -> str:
    """A name for what all loops look like now."""
    package = Path(__file__).parent.parent
    contents = b"".join((package / name).read_bytes() for name in LOOP_FILES)
    return hashlib.blake2b(contents, digest_size=6).hexdigest()


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
