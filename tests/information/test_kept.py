"""What is kept is what was asked for last."""

from tamis.information.kept import Kept


def test_what_was_not_asked_for_the_longest_goes_first():
    kept = Kept[str, int](10)
    for name, size in (("a", 4), ("b", 4)):
        kept.keep(name, ord(name), size)
    assert kept.get("a") == ord("a")
    kept.keep("c", ord("c"), 4)
    assert [kept.get(name) for name in "abc"] == [ord("a"), None, ord("c")]


def test_one_value_is_kept_however_large():
    kept = Kept[str, int](10)
    kept.keep("a", 1, 100)
    assert kept.get("a") == 1


def test_the_least_recent_is_forgotten_first():
    memory, made = Kept(2), []

    def make(key):
        made.append(key)
        return key.upper()

    assert [memory.recall(key, make) for key in "abacab"] == list("ABACAB")
    assert made == ["a", "b", "c", "b"]
