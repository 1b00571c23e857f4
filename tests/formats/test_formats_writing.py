"""Files are written whole or not at all, and only where they can be."""

from __future__ import annotations

import os
import stat
from dataclasses import replace

import pytest

from tamis.errors import SettingError
from tamis.formats import check_outputs, load, save

ENDINGS = (".json", ".dot", ".graphml", ".csv")


@pytest.fixture
def old(tmp_path):
    """Two files from an earlier run."""
    paths = [tmp_path / "a.json", tmp_path / "b.csv"]
    for path in paths:
        path.write_text("old")
    return paths


def files_in(directory):
    return {path.name: path.read_text() for path in directory.iterdir()}


def test_all_formats_are_written_by_their_endings(result, tmp_path):
    paths = [tmp_path / f"r{ending}" for ending in ENDINGS]
    save(result, *paths)
    opening = ["{", "digraph", "<?xml", '"parent"']
    for path, start in zip(paths, opening, strict=True):
        assert path.read_text().startswith(start)
    assert len(list(tmp_path.iterdir())) == 4


def test_endings_may_be_in_capitals(result, tmp_path):
    save(result, tmp_path / "R.JSON")
    assert load(tmp_path / "R.JSON") == result


@pytest.mark.parametrize("name", ["r.gif", "r", ".json", "r.json.gz"])
def test_an_unknown_ending_is_refused_before_anything_is_written(result, tmp_path, name):
    with pytest.raises(SettingError, match=r"one of \.json, \.dot, \.graphml, \.csv"):
        save(result, tmp_path / "good.json", tmp_path / name)
    assert files_in(tmp_path) == {}


def test_places_that_cannot_be_written_are_refused_before_anything_is_written(result, tmp_path):
    (tmp_path / "d.json").mkdir()
    (tmp_path / "f").write_text("a file")
    (tmp_path / "loop.json").symlink_to("loop.json")
    os.mkfifo(tmp_path / "pipe.csv")
    for name, why in (
        ("d.json", "it is a directory"),
        ("nowhere/r.json", "there is no directory"),
        ("f/r.json", "there is no directory"),
        ("pipe.csv", "not an ordinary file"),
        ("nul\0.json", "cannot be the path"),
        ("\ud800.json", "cannot be the path"),
        ("loop.json", "symbolic links"),
        ("x" * 300 + ".json", "too long"),
    ):
        with pytest.raises(SettingError, match=why):
            save(result, tmp_path / "good.json", str(tmp_path / name))
    assert not (tmp_path / "good.json").exists()


@pytest.mark.parametrize("path", [None, 3, b"r.json", ["r.json"]])
def test_what_is_no_path_is_refused_before_anything_is_written(result, tmp_path, path):
    with pytest.raises(SettingError, match="a path must be a string"):
        save(result, tmp_path / "good.json", path)
    assert files_in(tmp_path) == {}


def test_one_file_under_two_paths_is_refused_before_anything_is_written(result, old, tmp_path):
    (tmp_path / "soft.csv").symlink_to("a.json")
    (tmp_path / "dangling.csv").symlink_to("new.json")
    os.link(old[0], tmp_path / "hard.dot")
    for first, second in (
        ("a.json", "a.json"),
        ("a.json", "soft.csv"),
        ("a.json", "hard.dot"),
        ("soft.csv", "hard.dot"),
        ("new.json", "dangling.csv"),
        ("new.json", f"../{tmp_path.name}/new.json"),
    ):
        with pytest.raises(SettingError, match="are the same file"):
            save(result, tmp_path / first, tmp_path / second)
    assert not (tmp_path / "new.json").exists()
    assert old[0].read_text() == "old"


def test_write_protection_is_respected(result, old, tmp_path, monkeypatch):
    # By hand, because root may write anywhere.
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) != str(tmp_path))
    with pytest.raises(SettingError, match="is write-protected"):
        check_outputs([tmp_path / "r.json"])
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) != str(old[0]))
    with pytest.raises(SettingError, match="it is write-protected"):
        check_outputs(old)


@pytest.mark.parametrize(
    ("ending", "name"), [(".graphml", "bell\a"), (".dot", "nul\0"), (".json", "\ud800")]
)
def test_a_name_that_a_format_cannot_hold_is_refused(result, tmp_path, ending, name):
    renamed = replace(result, names=(*result.names, name))
    with pytest.raises(SettingError, match="cannot hold the column name"):
        save(renamed, tmp_path / "good.csv", tmp_path / f"r{ending}")
    assert files_in(tmp_path) == {}


@pytest.mark.parametrize("failing", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left"), KeyboardInterrupt()])
def test_after_a_failure_the_old_files_stand_and_nothing_else(
    result, old, tmp_path, monkeypatch, failing, error
):
    def fail(*_):
        raise error

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(type(error)):
        save(result, *old)
    assert files_in(tmp_path) == {"a.json": "old", "b.csv": "old"}


def test_a_disk_that_fills_up_at_the_second_file_leaves_the_first_as_it_was(
    result, old, tmp_path, monkeypatch
):
    calls = []

    def fail_late(descriptor):
        calls.append(descriptor)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail_late)
    with pytest.raises(OSError, match="No space left on device") as caught:
        save(result, *old)
    assert caught.value.filename == str(old[1])
    assert files_in(tmp_path) == {"a.json": "old", "b.csv": "old"}


def test_a_renderer_that_fails_leaves_everything_as_it_was(result, old, tmp_path):
    broken = replace(result, settings={"search": object()})
    with pytest.raises(SettingError):
        save(broken, old[1], old[0])
    assert files_in(tmp_path) == {"a.json": "old", "b.csv": "old"}


def test_links_and_permissions_stay(result, tmp_path):
    target = tmp_path / "target.json"
    target.write_text("old")
    target.chmod(0o640)
    link = tmp_path / "link.json"
    link.symlink_to(target)
    save(result, link)
    assert link.is_symlink()
    assert load(target) == result
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_new_file_has_the_permissions_that_the_user_gives_new_files(result, tmp_path):
    before = os.umask(0o027)
    try:
        save(result, tmp_path / "r.json")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "r.json").stat().st_mode) == 0o640
