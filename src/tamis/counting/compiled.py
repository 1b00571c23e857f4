"""How the counting loops are compiled, and the types of what they pass around.

Nothing is compiled, and numba is not imported, before a loop is called whose work is worth it:
a small answer takes less time without.
"""

from __future__ import annotations

import gc
import hashlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, update_wrapper
from importlib import import_module
from pathlib import Path
from threading import RLock, current_thread, main_thread
from types import FrameType, FunctionType
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from tamis.errors import TamisError

Words = NDArray[np.uint64]
"""Bit planes or masks, one a row, 64 rows of the table in a word."""
Codes = NDArray[np.unsignedinteger[Any]]
Ints = NDArray[np.int64]
Pairs = NDArray[np.int32]
Shorts = NDArray[np.uint16]
Floats = NDArray[np.float64]
Tables = tuple[Ints, int, Ints, Ints, np.int64, bool, bool]
"""A lookup of f, as the loops unpack it: terms, where their tail begins, supports, f(0) of
each support, constant, whether the support is what occurs, whether negatives are clipped."""


Columns = tuple[Words, Ints, Pairs, Ints, Ints, Ints, Ints, int, int]
"""The columns of a table as the loops unpack them: planes, the rows of each, the rows of each pair
of planes (or nothing where these are too many), the first plane of each column and the number of
planes, arities, classes of columns with the same supports, -p ln p in fixed point by the number of
rows of which p is the share, the number of rows, and the most levels of a column with planes.
Python hands such tuples to loops faster than named ones."""

Rows = tuple[Codes, Ints, Pairs, Ints, int]
"""The rows of a table, or what stands for them: codes, where each column is among them, the number
of rows that each stands for, the rows of each context (from the first on to the one after the last;
or one for all), and how many times as many cells as rows a table may have to be laid out."""

Asked = tuple[Ints, Ints, Ints, Ints, Ints, Ints, Ints]
"""Contexts and their candidates, laid end to end: variables, starts, candidates, starts, parts, the
heads of the lookup for S and (S, X_k) by context (or once for all), and those for (S, X_l) and
(S, X_k, X_l) by context and class of candidate (or once for all).

The variables of context b, its conditioning set and then its target, are
``variables[starts[b] : starts[b + 1]]``, and candidates likewise. A candidate c is one column, or,
where there are parts, the columns ``candidates[parts[c] : parts[c + 1]]`` taken together."""

Scratch = tuple[Ints, Ints, Floats]
"""Room for the rows, the columns and the reciprocals of the columns of a stratum."""

States = tuple[Codes, Ints, Pairs, Ints]
"""The joint states of sets of columns that occur, end to end: their levels, a line a column if they
are wanted; which line is a column's; how many rows have each; and where those of each set begin."""


class Judgements(NamedTuple):
    """The answers to a batch: one entropy a context, one row a (context, candidate).

    ``stats`` is empty where no tests were wanted.
    """

    entropies: Floats
    gains: Floats
    stats: Floats


whole = cast(Callable[[int], int], np.int64)
"""Makes a number of a constant: for constants numba would compile a version of their own."""

Loop = TypeVar("Loop", bound=Callable[..., Any])

LOOP_FILES = (
    "counting/block_loops.py",
    "counting/by_rows.py",
    "counting/compiled.py",
    "counting/in_planes.py",
    "counting/independence.py",
    "counting/pointers.py",
    "counting/set_loops.py",
    "information/cell_algebra.py",
    "information/elimination.py",
    "information/incomplete.py",
    "information/logistic_loops.py",
    "information/neighbour_space.py",
    "information/real_count_loops.py",
)
"""Every file that defines loops."""


class LazyLoop:
    """A loop that becomes a dispatcher of numba when it is first called, from Python or from
    another loop that is being compiled."""

    def __init__(
        self,
        py_func: Callable[..., Any],
        make: Callable[[Callable[..., Any]], Any],
        seconds: Callable[..., float] | None = None,
    ) -> None:
        self.py_func = py_func
        self._make = make
        self._seconds = seconds
        self._made: Any = None
        self._is_at_hand = False
        update_wrapper(self, py_func)

    def __call__(self, *arguments: Any) -> Any:  # noqa: ANN401 - as the loop has it
        """Run it; where it takes little, as Python does."""
        if self._seconds is not None and uncompiled.allows(self):
            seconds = self._seconds(*arguments)
            if uncompiled.allows(self, seconds):
                uncompiled.spent += seconds
                return interpreted(self)(*arguments)
        return self.dispatcher(*arguments)

    @property
    def dispatcher(self) -> Any:  # noqa: ANN401 - numba has no types
        """What numba calls a loop with all its compiled versions."""
        if self._made is None:
            with _making:
                self._made = self._made or self._make(self.py_func)
        return self._made

    @property
    def _numba_type_(self) -> Any:  # noqa: ANN401 - numba's own protocol
        return self.dispatcher._numba_type_

    @property
    def n_versions(self) -> int:
        """How many have been compiled or loaded."""
        return len(self.dispatcher.signatures)

    @property
    def is_at_hand(self) -> bool:
        """Whether it has been compiled, in this process or in an earlier one."""
        if not self._is_at_hand:
            folder = self.dispatcher.stats.cache_path
            self._is_at_hand = self.n_versions > 0 or _is_kept(self.py_func.__name__, folder)
        return self._is_at_hand

    def __reduce__(self) -> str:
        return self.py_func.__qualname__


_making = RLock()
"""Held while loops are made and compiled: making one makes those that it calls."""


class Uncompiled:
    """How long a process has worked without compiled loops, in estimated CPU seconds, so that the
    same work is always done the same way."""

    before_loading = 0.3
    """So long numba is not imported, which takes as long."""
    before_compiling = 1.2
    """So long nothing is compiled that has not been kept."""

    def __init__(self) -> None:
        self.spent = 0.0

    def allows(self, loop: Callable[..., Any], seconds: float = 0.0) -> bool:
        """Whether work for a loop is to be done without it, as it takes so little more time."""
        if self.spent + seconds > self.before_compiling:
            return False
        if self.spent + seconds <= self.before_loading and "numba" not in sys.modules:
            return True
        return not cast(LazyLoop, loop).is_at_hand


uncompiled = Uncompiled()


def compiled(loop: Loop) -> Loop:
    """Compile without the interpreter's lock, so that threads can share the work, and keep
    the machine code on disk, so that only the first use waits for it.

    Where there is no place to keep it (a read-only install without a home), every run compiles,
    and `place_of_code` says so.
    """
    return cast(Loop, LazyLoop(loop, _kept))


def interpretable(seconds: Callable[..., float]) -> Callable[[Loop], Loop]:
    """Like ``compiled``, for a loop that Python can run too, within so many seconds for given
    arguments."""

    def decorate(loop: Loop) -> Loop:
        return cast(Loop, LazyLoop(loop, _kept, seconds))

    return decorate


def _kept(loop: Callable[..., Any]) -> Any:  # noqa: ANN401 - numba has no types
    own_name = loop.__qualname__
    # numba keeps code by the file and name of a loop and does not see when a loop that it calls
    # has changed: the state of all loops becomes part of the name while it looks for a place.
    loop.__qualname__ = f"{own_name}_{state_of_loops()}"
    try:
        kept = _njit(loop, cache=True, pipeline_class=_lean())
        _compile_in_turn(kept, own_name, Path(kept.stats.cache_path))
        _places.append(str(kept.stats.cache_path))
        return kept
    except RuntimeError as error:
        if "no locator" not in str(error):
            raise
        made = _njit(loop, pipeline_class=_lean())
        _compile_in_turn(made, own_name, None)
        return made
    finally:
        loop.__qualname__ = own_name


def _compile_in_turn(loop: Any, name: str, folder: Path | None) -> None:  # noqa: ANN401 - as above
    """Let one process at a time compile a loop, and others wait and load what it kept in a folder;
    and let interrupts wait for it.

    numba lets all of them compile, and where two write the list of the versions of a loop at the
    same time, one version is lost, or taken for the other.
    """
    compile_now = loop.compile

    def compile_in_turn(signature: Any) -> Any:  # noqa: ANN401 - numba has no types
        # The lock of this process comes first for all: whoever compiles a loop makes others, and
        # threads that took these locks in different orders would wait for each other for ever.
        with _making, _turn(folder, name), interrupts_wait(), garbage_waits():
            return compile_now(signature)

    loop.compile = compile_in_turn


@contextmanager
def _turn(folder: Path | None, name: str) -> Iterator[None]:
    """Hold the lock on a loop, which goes with the process; Windows has none such."""
    if folder is None or sys.platform == "win32":
        yield
        return
    import fcntl

    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / f"{name}.lock", "w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        yield


@contextmanager
def interrupts_wait() -> Iterator[None]:
    """Heed Ctrl-C at the end of this block, not within.

    numba and LLVM, left in the middle of a loop, keep half of it, which later loops stumble over;
    and where LLVM has called back, the interrupt itself is lost. A loop takes seconds at most.
    """
    heeded = signal.getsignal(signal.SIGINT)
    if current_thread() is not main_thread() or not callable(heeded):
        yield
        return
    waiting: list[FrameType | None] = []
    signal.signal(signal.SIGINT, lambda _, frame: waiting.append(frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, heeded)
        if waiting:
            heeded(signal.SIGINT, waiting[-1])


@contextmanager
def garbage_waits() -> Iterator[None]:
    """Look for no garbage in this block: a compiler makes none, but so much else that looking takes
    a fifth of its time."""
    looked = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if looked:
            gc.enable()


def _njit(loop: Callable[..., Any], **options: Any) -> Any:  # noqa: ANN401 - numba has no types
    return _numba().njit(nogil=True, error_model="numpy", **options)(loop)


_places: list[str] = []
"""The folders of all that is kept."""


def place_of_code() -> str | None:
    """The folder below which machine code is kept, or None where it cannot be."""
    return os.path.commonpath(_places) if _places else None


_hearers: list[Callable[[], None]] = []


@contextmanager
def hearing(hear: Callable[[], None]) -> Iterator[None]:
    """Be told whenever something is compiled; what was kept and is loaded does not count."""
    _hearers.append(hear)
    try:
        yield
    finally:
        _hearers.remove(hear)


def _numba() -> Any:  # noqa: ANN401 - numba has no types
    """numba, all of it: half an import could not be mended."""
    try:
        with interrupts_wait():
            numba = _numba_with_popcount()
    except OSError as error:
        raise unloaded() from error
    if numba.config.DISABLE_JIT:
        raise TamisError(
            "NUMBA_DISABLE_JIT is set, and the counting loops are made for the compiler that it "
            "turns off: unset it"
        )
    return numba


def unloaded() -> TamisError:
    """The refusal where llvmlite says that its library cannot be found, whatever keeps it from
    being loaded."""
    return TamisError(
        "numba, which compiles the counting loops, cannot be loaded. If memory is limited, as by "
        "ulimit -v, allow 1 GB more; otherwise install llvmlite again"
    )


@cache
def _numba_with_popcount() -> Any:  # noqa: ANN401 - numba has no types
    """numba, which tells those who hear, and knows ``popcount`` as the LLVM instruction."""
    from numba.core.event import Listener

    numba, event, extending = map(import_module, ("numba", "numba.core.event", "numba.extending"))

    class Telling(Listener):
        def on_start(self, event: Any) -> None:  # noqa: ANN401
            for hear in _hearers:
                hear()

        def on_end(self, event: Any) -> None:  # noqa: ANN401
            """Nothing to say."""

    def typed(context: Any) -> Callable[[Any], Any]:  # noqa: ANN401
        return lambda word: numba.types.uint64

    def generated(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401
        return builder.ctpop(arguments[0])

    event.register("numba:compile", Telling())
    extending.type_callable(popcount)(typed)
    extending.lower_builtin(popcount, numba.types.uint64)(generated)
    return numba


def popcount(word: np.uint64) -> np.uint64:
    """The number of ones in a word."""
    return np.uint64(int(word).bit_count())


@cache
def interpreted(loop: Loop) -> Loop:
    """A loop as Python runs it, with those of its file that it calls."""
    names = dict(cast(LazyLoop, loop).py_func.__globals__)
    own = {name: one.py_func for name, one in names.items() if isinstance(one, LazyLoop)}
    plain = {name: FunctionType(one.__code__, names, name) for name, one in own.items()}
    names.update(plain)

    def run(*arguments: Any) -> Any:  # noqa: ANN401 - as the loop has it
        with np.errstate(all="ignore"):  # as compiled loops do; hashes go round
            return plain[loop.__name__](*arguments)

    return cast(Loop, run)


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


def _lean() -> Any:  # noqa: ANN401 - numba has no types
    from tamis.counting.pointers import Lean

    return Lean


def inner(loop: Loop) -> Loop:
    """Compile a loop that only other loops call: no way in from Python and nothing kept of its
    own, which shortens what the first use waits for."""
    return cast(Loop, LazyLoop(loop, _inner))


def wide_loop(loop: Loop) -> Loop:
    """Like ``inner``, for sums that may be added up in any order, so that they use the processor's
    wide registers."""
    return cast(Loop, LazyLoop(loop, _wide))


def _inner(loop: Callable[..., Any], **options: Any) -> Any:  # noqa: ANN401 - numba has no types
    # In which order wide loops add must not hang on who calls them: all loops of their files are
    # optimised one by one.
    from tamis.counting.pointers import Part, Piece

    how = Piece if "wide_loop" in loop.__globals__ else Part
    return _njit(
        loop, pipeline_class=how, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options
    )


def _wide(loop: Callable[..., Any]) -> Any:  # noqa: ANN401 - numba has no types
    return _inner(loop, fastmath={"reassoc", "contract", "nsz", "nnan", "ninf"})
