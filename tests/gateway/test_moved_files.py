"""The files of a chat move with it to its new id, and what cannot be moved keeps nothing else back."""

from pathlib import Path

import pytest

from agent_core.tools.memory import FILE
from channels.base import ChatKey
from channels.memory import NO_PACE, MemoryChannel
from channels.moved import chat_moved
from gateway.permissions.moved_folders import move_folders
from gateway.permissions.workspaces import folder_name
from tests.gateway.conftest import StartBot
from tests.gateway.ruling import EXEC, limits, rule

OLD = ChatKey(platform="memory", account="here", chat="#team")
NEW = ChatKey(platform="memory", account="here", chat="#crew")
MOVED = chat_moved(OLD, NEW.chat, 0)


def folder_of(home: Path, chat: ChatKey, kind: str = "workspaces") -> Path:
    """Return the folder of a chat, which exists."""
    folder = home / kind / folder_name(chat)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def written(folder: Path, name: str, text: str) -> None:
    """Write a file, and the folders above it."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def content_of(folder: Path) -> dict[str, str]:
    return {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("name", ["plan.txt", "docs/plan.txt"])
def test_a_file_is_never_overwritten_however_often_a_chat_moves(tmp_path: Path, name: str) -> None:
    written(folder_of(tmp_path, NEW), name, "there before")
    for text in ("first", "second", "third"):
        written(folder_of(tmp_path, OLD), name, text)
        move_folders(tmp_path, OLD, NEW)

    found = content_of(folder_of(tmp_path, NEW))
    assert sorted(found.values()) == ["first", "second", "there before", "third"]
    assert found[name] == "there before"


def test_a_link_that_leads_nowhere_keeps_no_file_back(tmp_path: Path) -> None:
    written(folder_of(tmp_path, OLD), "docs/plan.txt", "the plan")
    written(folder_of(tmp_path, OLD), "other.txt", "another")
    (folder_of(tmp_path, NEW) / "docs").symlink_to("nowhere")

    move_folders(tmp_path, OLD, NEW)

    assert content_of(folder_of(tmp_path, NEW)) == {"docs (older)/plan.txt": "the plan", "other.txt": "another"}


def test_a_file_that_cannot_be_moved_stays_and_keeps_no_other_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.rename

    def refused(path: Path, target: Path) -> Path:
        if path.name == "b.txt":
            raise OSError("it is in use")
        return real(path, target)

    for name in ("a.txt", "b.txt", "c.txt"):
        written(folder_of(tmp_path, OLD), name, name)
    written(folder_of(tmp_path, NEW), "d.txt", "d.txt")
    written(folder_of(tmp_path, OLD, "memory"), "notes.txt", "a note")
    monkeypatch.setattr(Path, "rename", refused)

    move_folders(tmp_path, OLD, NEW)

    assert sorted(content_of(folder_of(tmp_path, NEW))) == ["a.txt", "c.txt", "d.txt"]
    assert content_of(folder_of(tmp_path, OLD)) == {"b.txt": "b.txt"}
    assert content_of(folder_of(tmp_path, NEW, "memory")) == {"notes.txt": "a note"}


async def test_limits_hold_under_the_new_id_although_no_file_can_be_moved(
    start_bot: StartBot, database: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: Path, target: Path) -> Path:
        raise OSError("the disk is read-only")

    bot = await start_bot("Hello.", channel=MemoryChannel(limits=NO_PACE), database=database)
    await rule(bot, EXEC, "deny")
    written(folder_of(bot.home, OLD), "plan.txt", "the plan")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", refused)
        await bot.channel.deliver(MOVED)
        await bot.app.settled()

    assert limits(bot, "crew")["exec"] == "deny"
    assert content_of(folder_of(bot.home, OLD)) == {"plan.txt": "the plan"}


@pytest.mark.parametrize(("before", "after"), [(2, 1), (1, 2)])
def test_the_longer_history_of_undo_stays(tmp_path: Path, before: int, after: int) -> None:
    for chat, groups in ((OLD, before), (NEW, after)):
        for number in range(groups):
            written(folder_of(tmp_path, chat, "versions"), f"{number + 1}.json", str(chat))

    move_folders(tmp_path, OLD, NEW)

    longer = OLD if before > after else NEW
    assert content_of(folder_of(tmp_path, NEW, "versions")) == {"1.json": str(longer), "2.json": str(longer)}
    assert not (tmp_path / "versions" / folder_name(OLD)).exists()


def test_facts_are_not_doubled_by_a_death_between_two_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(path: Path) -> None:
        raise KeyboardInterrupt

    for chat, fact in ((OLD, "- It is old.\n"), (NEW, "- It is new.\n")):
        written(folder_of(tmp_path, chat, "memory"), FILE, fact)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", dies)
        with pytest.raises(KeyboardInterrupt):
            move_folders(tmp_path, OLD, NEW)

    move_folders(tmp_path, OLD, NEW)

    assert content_of(folder_of(tmp_path, NEW, "memory")) == {FILE: "- It is old.\n- It is new.\n"}
