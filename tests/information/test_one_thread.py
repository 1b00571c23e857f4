"""Products of small matrices stay on one thread, and what was set comes back."""

from threading import Barrier, Thread

import scipy.linalg  # noqa: F401 - loads its library, whose threads are counted
from threadpoolctl import ThreadpoolController

from tamis.information.one_thread import one_thread


def threads() -> list[int]:
    libraries = ThreadpoolController().select(user_api="blas")
    return [one["num_threads"] for one in libraries.info()]


def test_one_thread_within_and_what_was_set_after():
    before = threads()
    with one_thread():
        assert set(threads()) <= {1}
        with one_thread():
            assert set(threads()) <= {1}
        assert set(threads()) <= {1}
    assert threads() == before


def test_of_several_threads_the_last_sets_back_what_was():
    before = threads()
    all_in, first_out = Barrier(2), Barrier(2)
    seen = []

    def first():
        with one_thread():
            all_in.wait()
        first_out.wait()

    def last():
        with one_thread():
            all_in.wait()
            first_out.wait()
            seen.append(threads())

    both = [Thread(target=first), Thread(target=last)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert set(seen[0]) <= {1}
    assert threads() == before
