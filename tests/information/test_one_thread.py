"""Products of small matrices stay on one thread, and what was set comes back."""

import os
import subprocess
import sys

SCRIPT = """
import scipy.linalg  # loads its library, whose threads are counted
from threadpoolctl import ThreadpoolController
from tamis.information.one_thread import one_thread

def threads():
    return {one["num_threads"] for one in ThreadpoolController().select(user_api="blas").info()}

before = threads()
with one_thread():
    within = threads()
    with one_thread():
        within |= threads()
    within |= threads()
print(before, within, threads())
"""


def test_one_thread_within_and_what_was_set_after():
    """In a process of its own: here the libraries were given one thread from the start."""
    several = {f"{library}_NUM_THREADS": "2" for library in ("OMP", "OPENBLAS", "MKL")}
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, **several},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout == "{2} {1} {2}\n"
