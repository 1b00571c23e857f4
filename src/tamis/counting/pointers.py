"""What loops need of numba beyond its decorator: a way to compile those that only others call, to
read arrays by their addresses, and to call each other by pointers.

This file imports numba, so it is imported when a loop is made (``compiled``).
"""

from __future__ import annotations

from typing import Any

from tamis.counting.compiled import unloaded

try:
    from llvmlite import ir as llvm
    from numba import carray as carray  # type: ignore[attr-defined, unused-ignore]
    from numba import types as numba_types
    from numba.core import cgutils as numba_building
    from numba.core import compiler as numba_compiler
    from numba.extending import get_cython_function_address, intrinsic
except OSError as error:
    raise unloaded() from error

types: Any = numba_types
cgutils: Any = numba_building
compiler: Any = numba_compiler
"""Without types, as all of numba."""

INT, INTS, INT_LINES = types.int64, types.int64[::1], types.int64[:, ::1]
FLOATS, FLOAT_LINES = types.float64[::1], types.float64[:, ::1]
CODES, PAIRS, PAIR_LINES = types.uint8[:, ::1], types.int32[::1], types.int32[:, ::1]
ANSWER = INT(INTS, INT, INTS, INT, INT, FLOATS, INT)
"""The signature of ``direct.answer``."""

COLUMNS = types.Tuple((types.uint64[:, ::1], INTS, PAIR_LINES, INTS, INTS, INTS, INTS, INT, INT))
ROWS = types.Tuple((CODES, INTS, PAIRS, INT_LINES, INT))
ASKED = types.Tuple((INTS, INTS, INTS, INTS, INTS, INT_LINES, types.int64[:, :, ::1]))
LOOKUP = types.Tuple((INTS, INT, INTS, INTS, INT, types.boolean, types.boolean))
JUDGEMENTS = FLOATS, FLOATS, FLOAT_LINES
STATES = types.Tuple((CODES, INTS, PAIRS, INTS))
JUDGE_PLANES = INT(COLUMNS, INT, ASKED, INT, INT, LOOKUP, *JUDGEMENTS)
JUDGE_ROWS = types.void(COLUMNS, ROWS, INT, ASKED, INT, INT, LOOKUP, *JUDGEMENTS)
COUNT_SETS = types.void(COLUMNS, ROWS, INT, INTS, INTS, FLOATS, STATES, FLOAT_LINES)
"""The signatures of the loops that count a table whose codes are bytes."""


class Part(compiler.CompilerBase):  # type: ignore[misc]
    """Compiles a loop that becomes part of those that call it. It is optimised with each of these,
    and not by itself before: that would be about a fifth of all compiling (`tamis warm-up`)."""

    def define_pipelines(self) -> list[Any]:
        """Those of numba, with a library that leaves optimising to the libraries it goes to."""
        library = self.state.targetctx.codegen().create_library(self.state.func_id.func_qualname)
        library.enable_object_caching()
        library._optimize_final_module = lambda: None
        self.state.library = library
        return [compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)]


def calling(loop: Any) -> Any:  # noqa: ANN401 - numba has no types
    """What calls a compiled loop of this signature: it takes the address (``compiled.address_of``)
    and a tuple of the arguments."""

    @intrinsic  # type: ignore[untyped-decorator, unused-ignore]
    def call(typing_context: Any, address: Any, arguments: Any) -> Any:  # noqa: ANN401
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
            convention = context.call_conv
            kind = convention.get_function_type(loop.return_type, loop.args)
            found = builder.inttoptr(values[0], kind.as_pointer())
            given = cgutils.unpack_tuple(builder, values[1], len(loop.args))
            status, value = convention.call_function(
                builder, found, loop.return_type, loop.args, given
            )
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return value

        return loop.return_type(INT, types.Tuple(loop.args)), generate

    return call


answer_at = calling(ANSWER)
judge_planes_at, judge_rows_at, count_sets_at = map(calling, (JUDGE_PLANES, JUDGE_ROWS, COUNT_SETS))


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
