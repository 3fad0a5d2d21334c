"""Whatever a program does to a workspace can be undone, and the undo can be undone too."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.versions.group import SETTLED_NS
from agent_core.versions.undo import undo
from agent_core.versions.versions import KeepLimits
from agent_core.workspace.keeper import CannotKeep
from tests.agent_core.versions.kit import ANN, Kept, by, kept_in

STRANGE = "so\nwas -- 'x' \u202e" + os.fsdecode(b"\xff")


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return kept_in(tmp_path)


def change(folder: Path) -> None:
    (folder / "notes.txt").write_text("new")


def append_with_the_old_times(folder: Path) -> None:
    file = folder / "notes.txt"
    about = file.stat()
    file.write_text("wen")  # the same size
    os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))


def delete(folder: Path) -> None:
    (folder / "notes.txt").unlink()


def create(folder: Path) -> None:
    (folder / "new" / "deep").mkdir(parents=True)
    (folder / "new" / "deep" / "file").write_text("x")


def change_the_mode(folder: Path) -> None:
    (folder / "notes.txt").chmod(0o755)


def delete_a_tree(folder: Path) -> None:
    shutil.rmtree(folder / "tree")


def file_for_a_folder(folder: Path) -> None:
    shutil.rmtree(folder / "tree")
    (folder / "tree").write_text("a file now")


def folder_for_a_file(folder: Path) -> None:
    (folder / "notes.txt").unlink()
    (folder / "notes.txt").mkdir()
    (folder / "notes.txt" / "inside").write_text("x")


def link_for_a_file(folder: Path) -> None:
    (folder / "notes.txt").unlink()
    (folder / "notes.txt").symlink_to("/etc/passwd")


def another_link(folder: Path) -> None:
    (folder / "link").unlink()
    (folder / "link").symlink_to("elsewhere")


def no_link(folder: Path) -> None:
    (folder / "link").unlink()


def second_name(folder: Path) -> None:
    (folder / "second").hardlink_to(folder / "notes.txt")
    (folder / "second").write_text("changed under the other name")


def in_place(folder: Path) -> None:
    with (folder / "notes.txt").open("r+b") as file:
        file.write(b"N")


def change_strange_names(folder: Path) -> None:
    (folder / STRANGE).write_text("new")
    (folder / "tree" / STRANGE).unlink()


ALL = (
    *(change, append_with_the_old_times, delete, create, change_the_mode, delete_a_tree, file_for_a_folder),
    *(folder_for_a_file, link_for_a_file, another_link, no_link, second_name, in_place, change_strange_names),
)


def furnish(kept: Kept) -> None:
    kept.put("notes.txt", "old", 0o640)
    kept.put("tree/inner/file", "in the tree")
    kept.put(f"tree/{STRANGE}", "strange")
    kept.put(STRANGE, "strange")
    (kept.workspace / "tree" / "empty").mkdir()
    (kept.workspace / "link").symlink_to("/etc/hostname")


@pytest.mark.parametrize("destroy", ALL, ids=lambda destroy: destroy.__name__)
async def test_what_a_program_did_is_undone_and_done_again(kept: Kept, destroy: Callable[[Path], None]) -> None:
    furnish(kept)
    before = kept.tree()
    async with kept.versions.everything(by()):
        destroy(kept.workspace)
    after = kept.tree()
    assert after != before
    done = kept.undo()
    assert (done.changed_since, done.failed) == ((), ())
    assert kept.tree() == before
    assert done.by is not None
    kept.undo(done.by)
    assert kept.tree() == after
    kept.undo()
    assert kept.tree() == before


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "c/d", "c/e"]), min_size=1, max_size=6), st.data())
async def test_undoing_one_after_another_leads_back_through_every_state(
    tmp_path_factory: pytest.TempPathFactory, paths: list[str], data: st.DataObject
) -> None:
    kept = kept_in(tmp_path_factory.mktemp("kept"))
    states = [kept.tree()]
    for number, path in enumerate(paths):
        async with kept.versions.everything(by(f"call-{number}")):
            file = kept.workspace / path
            if file.exists() and data.draw(st.booleans()):
                file.unlink()
            else:
                kept.put(path, f"version {number}")
        states.append(kept.tree())
    for state in reversed(states[:-1]):
        done = kept.undo()
        assert done.changed_since == ()
        files = {path: told for path, told in kept.tree().items() if "folder" not in told}
        assert files == {path: told for path, told in state.items() if "folder" not in told}


async def test_a_file_that_was_changed_since_is_not_overwritten_unasked(kept: Kept) -> None:
    kept.put("notes.txt", "old")
    kept.put("other.txt", "old")
    async with kept.versions.everything(by()):
        kept.put("notes.txt", "by the program")
        kept.put("other.txt", "by the program")
    kept.put("notes.txt", "by a person")
    group = kept.newest()
    done = kept.undo(group)
    assert (done.changed_since, done.by) == (("notes.txt",), None)
    assert (kept.workspace / "other.txt").read_text() == "by the program"
    again = kept.undo(group, anyway=True)
    assert (kept.workspace / "notes.txt").read_text() == "old"
    assert again.by is not None
    kept.undo(again.by)
    assert (kept.workspace / "notes.txt").read_text() == "by a person"


async def test_a_file_that_was_shown_just_after_it_changed_is_put_back_a_moment_later(kept: Kept) -> None:
    kept.put("notes.txt", "old")
    async with kept.versions.everything(by()):
        kept.put("notes.txt", "by the program")
    group = kept.newest()
    kept.put("notes.txt", "by a person")
    shown = undo(kept.versions, group, ANN, anyway="")
    time.sleep(2 * SETTLED_NS / 1e9)  # noqa: ASYNC251 - file systems have no other clock

    done = undo(kept.versions, group, ANN, anyway=shown.mark)

    assert done.by is not None
    assert (kept.workspace / "notes.txt").read_text() == "old"


async def test_who_was_killed_in_the_middle_of_a_program_can_undo_what_it_did(kept: Kept) -> None:
    kept.put("notes.txt", "old")
    running = kept.versions.everything(by())
    await running.__aenter__()
    kept.put("notes.txt", "half")
    life = kept.next_life()
    async with life.versions.everything(by("call-2")):
        pass
    life.undo()
    assert (life.workspace / "notes.txt").read_text() == "old"
    await running.__aexit__(None, None, None)


async def test_a_file_that_looks_as_before_is_not_read_again(kept: Kept) -> None:
    kept.put("notes.txt", "old")
    time.sleep(2 * SETTLED_NS / 1e9)  # noqa: ASYNC251 - file systems have no other clock
    assert not kept.versions.why_not(by())
    kept.versions.blobs.drop_all_but(())
    assert not kept.versions.why_not(by())
    assert kept.versions.size() == 0


async def test_what_is_kept_is_for_nobody_else(kept: Kept) -> None:
    kept.put("notes.txt", "old", 0o666)
    async with kept.versions.everything(by()):
        kept.put("notes.txt", "new")
    places = list((kept.place / "versions").rglob("*"))
    assert {path.stat().st_mode & 0o777 for path in places if path.is_file()} == {0o600}
    assert {path.stat().st_mode & 0o777 for path in places if path.is_dir()} == {0o700}
    assert not any(path.stat().st_nlink > 1 for path in places if path.is_file())


@pytest.mark.parametrize("limits", [KeepLimits(bytes=10), KeepLimits(files=2), KeepLimits(seconds=-1)])
async def test_what_is_too_much_to_keep_is_said_before_a_program_runs(tmp_path: Path, limits: KeepLimits) -> None:
    kept = kept_in(tmp_path, limits=limits)
    for name in "abc":
        kept.put(name, "five!")
    assert kept.versions.why_not(by())
    async with kept.versions.everything(by()):  # a user was asked and said yes
        pass
    with pytest.raises(CannotKeep):
        async with kept.versions.everything(by()):
            raise AssertionError("nobody was asked for this one")


async def test_versions_older_than_a_day_give_way_to_new_ones(tmp_path: Path) -> None:
    kept = kept_in(tmp_path, limits=KeepLimits(bytes=500_000))
    for number in range(4):
        kept.put("big", str(number) * 200_000)
        async with kept.versions.everything(by(f"call-{number}")):
            kept.put("big", "gone")
        kept.clock.now += 90_000
    assert kept.versions.size() <= 500_000
    kept.undo()
    assert (kept.workspace / "big").read_text() == "3" * 200_000


async def test_after_thirty_days_versions_are_gone(kept: Kept) -> None:
    kept.put("notes.txt", "old")
    async with kept.versions.everything(by()):
        kept.put("notes.txt", "new")
    kept.clock.now += 31 * 86_400
    kept.versions.prune()
    assert kept.versions.groups.numbers() == []


async def test_a_program_that_changed_nothing_leaves_nothing_to_undo(kept: Kept) -> None:
    kept.put("notes.txt", "old")
    async with kept.versions.everything(by()):
        (kept.workspace / "notes.txt").read_text()
    assert kept.versions.groups.numbers() == []


async def test_nothing_is_put_back_through_a_link(kept: Kept, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    kept.put("folder/notes.txt", "old")
    async with kept.versions.everything(by()):
        shutil.rmtree(kept.workspace / "folder")
    group = kept.newest()
    (kept.workspace / "folder").symlink_to(outside)
    kept.undo(group, anyway=True)
    assert list(outside.iterdir()) == []
