"""What loops need of numba beyond its decorator: a compiler that leaves out what loops do without,
a way to read arrays by their addresses, and to call each other by pointers.

A first run waits for the compiler, and most of its time is numba's own, in Python: at each of
thousands of operations it tries what the operation may mean, looks whether places are counted from
the end, and counts references; and it makes machine code of every loop that is only ever a part of
others. Loops ask for none of this (``Lean``), and so compile in half the time.

This file imports numba, so it is imported when a loop is made (``compiled``).
"""

# ruff: noqa: ANN401 - numba has no types

from __future__ import annotations

from copy import copy
from functools import cache
from importlib import import_module
from typing import Any, cast

import numpy as np

from tamis.counting.compiled import unloaded


def loaded(module: str) -> Any:
    """A module, of whose types nothing is known."""
    return import_module(module)


try:
    llvm, types, arrays, cgutils, codegen, compiler, imputils, lowering = map(
        loaded,
        (
            "llvmlite.ir", "numba.types", "numba.np.arrayobj", "numba.core.cgutils",
            "numba.core.codegen", "numba.core.compiler", "numba.core.imputils",
            "numba.core.lowering",
        ),
    )  # fmt: skip
    machinery, typed, untyped, extending, typing, templates, functions = map(
        loaded,
        (
            "numba.core.compiler_machinery", "numba.core.typed_passes",
            "numba.core.untyped_passes", "numba.extending", "numba.core.typing.context",
            "numba.core.typing.templates", "numba._dynfunc",
        ),
    )  # fmt: skip
except OSError as error:
    raise unloaded() from error

ARRAY_FIELDS = 4, 5
"""Where the address and the shape are among the fields of an array."""


class Flags(compiler.Flags):  # type: ignore[name-defined, misc]
    """numba's options of a loop, which it compares whenever it types an operation."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Flags) and self._values == other._values

    def __hash__(self) -> int:
        return hash(Flags)


class Operator(types.Function):  # type: ignore[name-defined, misc]
    """An operator that remembers what it makes of which numbers: numba tries many ways at each of
    its occurrences."""

    known: dict[Any, Any]

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """The signature for these arguments."""
        if not all(isinstance(one, types.Number | types.Boolean) for one in args):
            return super().get_call_type(context, args, kws)
        if args not in self.known:
            self.known[args] = super().get_call_type(context, args, kws)
        return self.known[args]


operators: dict[Any, Operator] = {}


def array_kind(shape: Any, dtype: Any) -> Any:
    """The type of an array of this shape, a number or a tuple."""
    return types.Array(dtype, 1 if isinstance(shape, types.Integer) else len(shape), "C")


def laid_out(
    context: Any, builder: Any, kind: Any, of_shape: Any, shape: Any, own: Any = None
) -> tuple[Any, Any]:
    """An array of this type and shape, at an address of its own or in fresh memory; its bytes."""
    single = kind.ndim == 1 and isinstance(of_shape, types.Integer)
    given = [shape] if single else cgutils.unpack_tuple(builder, shape)
    of_axes = [of_shape] if single else of_shape.types
    sides = [
        context.cast(builder, side, of_axis, types.intp)
        for side, of_axis in zip(given, of_axes, strict=True)
    ]
    itemsize = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    size = context.get_constant(types.intp, itemsize)
    steps: list[Any] = []
    for side in reversed(sides):
        steps.insert(0, size)
        size = builder.mul(size, side)
    memory = None
    if own is None:
        align = context.get_preferred_array_alignment(kind.dtype)
        memory = context.nrt.meminfo_alloc_aligned(builder, size, align)
        own = context.nrt.meminfo_data(builder, memory)
    array = context.make_array(kind)(context, builder)
    data = builder.bitcast(own, context.get_value_type(types.CPointer(kind.dtype)))
    arrays.populate_array(array, data, sides, steps, itemsize, memory)
    return array._getvalue(), (own, size)


def made_of(fills: bool) -> Any:
    """``np.empty`` or ``np.zeros`` in loops: numba would compile a function for each type."""

    class Made(templates.CallableTemplate):  # type: ignore[name-defined, misc]
        key = f"tamis.{'zeros' if fills else 'empty'}"

        def generic(self) -> Any:
            def typer(shape: Any, dtype: Any = None) -> Any:
                return array_kind(shape, types.float64 if dtype is None else dtype.dtype)

            return typer

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, (data, size) = laid_out(
            context, builder, signature.return_type, signature.args[0], arguments[0]
        )
        if fills:
            cgutils.memset(builder, data, size, 0)
        return array

    imputils.lower_builtin(Made.key, types.Any)(generate)
    imputils.lower_builtin(Made.key, types.Any, types.Any)(generate)
    return types.Function(Made)


MADE = {np.empty: made_of(fills=False), np.zeros: made_of(fills=True)}


class Typing(typing.Context):  # type: ignore[name-defined, misc]
    """What types the operations of loops."""

    def _lookup_global(self, gv: Any) -> Any:
        if gv is np.empty or gv is np.zeros:
            return MADE[gv]
        found = super()._lookup_global(gv)
        if getattr(gv, "__module__", None) != "_operator" or not isinstance(found, types.Function):
            return found
        if gv not in operators:
            operators[gv] = copy(found)
            operators[gv].__class__ = Operator
            operators[gv].known = {}
        return operators[gv]


@cache
def typing_like(given: Any) -> Typing:
    """What types loops where numba's own typing of functions is this."""
    own = copy(given)
    own.__class__ = Typing
    return cast(Typing, own)


class Lower(lowering.Lower):  # type: ignore[name-defined, misc]
    """Makes LLVM code of a loop. Elements of arrays are where their places say: none is counted
    from the end. References are counted only where arrays are made."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        signatures = self.fndesc.calltypes.items()
        made = [one.return_type for expr, one in signatures if getattr(expr, "op", "") == "call"]
        if not any(map(holds_arrays, (*made, self.fndesc.restype))):
            self.context.enable_nrt = False

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """Read an element."""
        place = self._place(value, index)
        if place is None:
            return super().lower_getitem(resty, expr, value, index, signature)
        kind = self.typeof(value.name).dtype
        found = self.context.unpack_value(self.builder, kind, place)
        return self.context.cast(self.builder, found, kind, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        """Write an element."""
        place = self._place(target_var, index_var)
        if place is None:
            return super().lower_setitem(target_var, index_var, value_var, signature)
        kind, given = self.typeof(target_var.name).dtype, self.typeof(value_var.name)
        value = self.context.cast(self.builder, self.loadvar(value_var.name), given, kind)
        self.context.pack_value(self.builder, kind, value, place)
        return None

    def _place(self, array: Any, index: Any) -> Any:
        """Where an element is, if it is one, of an array that lies in a row."""
        kind, of_index = self.typeof(array.name), self.typeof(index.name)
        single = isinstance(of_index, types.Integer)
        of_axes = (of_index,) if single else getattr(of_index, "types", ())
        if (
            not isinstance(kind, types.Array)
            or kind.layout != "C"
            or not kind.aligned
            or kind.ndim != len(of_axes)
            or not all(isinstance(one, types.Integer) for one in of_axes)
        ):
            return None
        builder, found, where = self.builder, self.loadvar(array.name), self.loadvar(index.name)
        data_at, shape_at = ARRAY_FIELDS
        at = None
        for axis, of_axis in enumerate(of_axes):
            step = where if single else builder.extract_value(where, axis)
            step = self.context.cast(builder, step, of_axis, types.intp)
            if at is not None:
                at = builder.mul(at, builder.extract_value(found, (shape_at, axis)))
                step = builder.add(at, step)
            at = step
        return builder.gep(builder.extract_value(found, data_at), [at])


def holds_arrays(kind: Any) -> bool:
    """Whether values of this type hold arrays."""
    return isinstance(kind, types.Array) or any(map(holds_arrays, getattr(kind, "types", ())))


@machinery.register_pass(mutates_CFG=True, analysis_only=False)
class Lowering(typed.NativeLowering):  # type: ignore[name-defined, misc]
    """numba's pass that makes LLVM code."""

    _name = "lean_lowering"
    lowering_class = Lower


class Whole(codegen.JITCodeLibrary):  # type: ignore[name-defined, misc]
    """The code of a loop with that of all which it calls."""

    def add_linking_library(self, library: Any) -> None:
        """Add what it calls, with all that this calls."""
        if library in self._linking_libraries:
            return
        super().add_linking_library(library)
        if isinstance(library, Unlinked):
            for one in library._linking_libraries:
                self.add_linking_library(one)


class Unlinked(codegen.JITCodeLibrary):  # type: ignore[name-defined, misc]
    """The code of a loop that is optimised with those that call it, and not by itself before."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Leave it."""

    def finalize(self) -> None:
        """Say that this is all."""
        self._finalized = True


class Linked(Whole):
    """The code of a loop that is optimised by itself before it becomes part of others."""

    def _finalize_final_module(self) -> None:
        self._finalized = True


class Lean(compiler.CompilerBase):  # type: ignore[name-defined, misc]
    """Compiles a loop by those of numba's passes that loops need: no closures, no `with`, no
    arithmetic on whole arrays, no literals in the place of types."""

    passes = (
        untyped.TranslateByteCode, untyped.FixupArgs, untyped.IRProcessing,
        untyped.RewriteSemanticConstants, untyped.GenericRewrites, untyped.ReconstructSSA,
        typed.NopythonTypeInference, typed.PreLowerStripPhis, typed.IRLegalization,
        typed.AnnotateTypes, Lowering, typed.NoPythonBackend,
    )  # fmt: skip
    library: Any = Whole

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        state = self.state
        state.flags = Flags(state.flags)
        state.typingctx = state.targetctx.typing_context = typing_like(state.typingctx)

    def define_pipelines(self) -> list[Any]:
        """The passes, one after the other."""
        state = self.state
        state.library = state.targetctx.codegen().create_library(state.func_id.func_qualname)
        state.library.__class__ = self.library
        state.library.enable_object_caching()
        manager = machinery.PassManager("loops")
        for one in self.passes:
            manager.add_pass(one, one.__name__)
        manager.finalize()
        return [manager]


class Piece(Lean):
    """Compiles a loop that only other loops call: it becomes part of the machine code of these and
    has none of its own."""

    library = Linked

    def define_pipelines(self) -> list[Any]:
        """Those of a loop, with a library that ends where machine code would be made."""
        self.state.targetctx.get_executable = without_code
        return super().define_pipelines()


class Part(Piece):
    """Compiles a loop that is optimised with those that call it, and not by itself before."""

    library = Unlinked


def without_code(library: Any, description: Any, environment: Any) -> Any:
    """What numba knows a loop by of which there is no machine code."""
    name = description.qualname.rpartition(".")[2]
    return functions.make_function(
        description.lookup_module(), name, "", 0, environment, (library,)
    )
