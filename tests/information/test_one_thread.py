"""Products of small matrices stay on one thread, and what was set comes back."""

from threading import Barrier, Thread

import pytest
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


def test_an_error_sets_back_what_was():
    before = threads()
    with pytest.raises(KeyError), one_thread():
        raise KeyError
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


class Library:
    """A library that can be interrupted while its threads are set."""

    def __init__(self) -> None:
        self.num_threads, self.left = 2, -1

    def set_num_threads(self, number: int) -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        self.num_threads = number


@pytest.mark.parametrize("moment", [1, 2, 3, 4])
def test_what_an_interrupt_leaves_is_set_back_by_the_next_block(moment, monkeypatch):
    libraries = [Library(), Library()]
    monkeypatch.setattr("tamis.information.one_thread._libraries", libraries)
    libraries[1 - moment % 2].left = (moment + 1) // 2
    with pytest.raises(KeyboardInterrupt), one_thread():
        pass
    with one_thread():
        assert [one.num_threads for one in libraries] == [1, 1]
    assert [one.num_threads for one in libraries] == [2, 2]
