"""What loops need of numba to read arrays by their addresses and to call each other by pointers.

This file imports numba, so it is imported when a loop is made (``compiled.pointed_at``).
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir as llvm
from numba import carray as carray  # type: ignore[attr-defined, unused-ignore]
from numba import types
from numba.extending import get_cython_function_address, intrinsic

INTS, FLOATS = types.int64[::1], types.float64[::1]
ANSWER = types.int64(INTS, types.int64, INTS, types.int64, types.int64, FLOATS, types.int64)
"""The signature of ``direct.answer``."""
ADVANCE = types.void(
    types.FunctionType(ANSWER), INTS, INTS, INTS, INTS, FLOATS, FLOATS, INTS, types.int64
)
"""And of ``order_loops.advance``, which calls it."""


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def pointer(typing_context: Any, address: Any) -> Any:  # noqa: ANN401 - numba's own protocol
    """What is at an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401
        return builder.inttoptr(arguments[0], context.get_value_type(types.voidptr))

    return types.voidptr(types.int64), generate


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def law_at(typing_context: Any, address: Any, shape: Any, at: Any) -> Any:  # noqa: ANN401
    """The value of a cython function of two numbers that is at an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401
        number, last = llvm.DoubleType(), llvm.IntType(32)
        law = llvm.FunctionType(number, [number, number, last])
        found = builder.inttoptr(arguments[0], law.as_pointer())
        return builder.call(found, [arguments[1], arguments[2], llvm.Constant(last, 0)])

    return types.float64(types.int64, types.float64, types.float64), generate


def gamma_address() -> int:
    """Where scipy's upper tail of gamma laws is."""
    found: int = get_cython_function_address("scipy.special.cython_special", "gammaincc")
    return found
