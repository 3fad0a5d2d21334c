"""A backup made while Parley runs is restored whole; messages since then are listed instead of answered."""

import asyncio
import sqlite3
import stat
import time
import zipfile
from contextlib import closing
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.origin import CLEAN
from agent_core.reasons import TerminalReason
from channels.base import Accepted, ChatKey, MessageReceived, OutboundMessage
from channels.memory import MemoryChannel
from gateway.errors import ParleyError
from gateway.store.job import Job, JobState, Reminder
from gateway.store.opening import FILE, StoreBusy, StoreDamaged, check_store
from gateway.store.owed import Owed
from gateway.store.rows import Post, Run, RunEnd
from gateway.store.rule import Once
from gateway.store.side_file import read_mark
from gateway.store.store import Store
from gateway.upkeep.backup import MANIFEST, Wanted, make
from gateway.upkeep.kept import kept, last_night, too_many
from gateway.upkeep.restore import restore
from tests.agent_core.kit import numbered
from tests.clock import FakeClock, OffsetClock
from tests.end_to_end.forks import parley
from tests.gateway.bot import Bot, BotOptions
from tests.gateway.conftest import StartBot
from tests.gateway.test_damage import kept as messages_in
from tests.gateway.test_damage import message
from tests.process import SILENT

CHAT = ChatKey(platform="memory", account="here", chat="ann")
PARIS = ZoneInfo("Europe/Paris")


def no_secret(_: str) -> bool:
    return False


async def filled(home: Path, count: int) -> None:
    async with Store.open(home, FakeClock(), numbered()) as store:
        for number in range(count):
            await store.inbox.accept(message(number))


def query(home: Path, text: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(home / FILE)) as connection:
        return connection.execute(text).fetchall()


async def test_the_commands_back_up_and_bring_back_everything(tmp_path: Path) -> None:
    home = tmp_path / ".parley"
    environ = {"HOME": str(tmp_path), **SILENT}
    talked = await parley("chat", cwd=tmp_path, environ=environ, says="/language zh\n")
    assert talked.code == 0, talked.err
    (home / "parley.toml").write_text('ai_name = "Ada"\n')
    (home / "workspaces" / "a").mkdir(parents=True)
    (home / "workspaces" / "a" / "notes.txt").write_text("notes")
    (home / "workspaces" / "a" / "elsewhere").symlink_to("/etc/passwd")

    made = await parley("backup", "all.zip", "--files", cwd=tmp_path, environ=environ)
    assert (made.code, made.err) == (0, "")
    assert stat.S_IMODE((tmp_path / "all.zip").stat().st_mode) == 0o600
    assert "elsewhere" in made.out
    again = await parley("backup", "all.zip", cwd=tmp_path, environ=environ)
    assert (again.code, again.err) == (
        2,
        f"parley: {tmp_path}/all.zip is there already. Name another file, or move it away.\n",
    )

    (home / FILE).write_bytes(b"")
    (home / "workspaces" / "a" / "notes.txt").write_text("spoiled")
    refused = await parley("chat", cwd=tmp_path, environ=environ, says="/help\n")
    assert refused.code == 2
    assert "parley restore" in refused.err

    back = await parley("restore", "all.zip", cwd=tmp_path, environ=environ)
    assert (back.code, back.err) == (0, "")
    assert (home / "workspaces" / "a" / "notes.txt").read_text() == "notes"
    remembered = await parley("chat", cwd=tmp_path, environ=environ, says="/help\n")
    assert remembered.code == 0, remembered.err
    assert "常用命令：" in remembered.out


async def test_secrets_are_in_a_backup_only_where_they_are_asked_for(tmp_path: Path) -> None:
    home = tmp_path / "home"
    await filled(home, 1)
    (home / ".env").write_text("OPENAI_API_KEY=sk-1")
    (home / "parley.toml").write_text("token")

    made = make(home, tmp_path / "bare.zip", "0", Wanted(), lambda text: "token" in text)
    make(home, tmp_path / "secret.zip", "0", Wanted(secrets=True), lambda text: "token" in text)

    with zipfile.ZipFile(tmp_path / "bare.zip") as bare, zipfile.ZipFile(tmp_path / "secret.zip") as secret:
        assert sorted(bare.namelist()) == ["backup.json", FILE]
        assert sorted(secret.namelist()) == [".env", "backup.json", FILE, "parley.toml"]
    assert made.has_secret_settings


async def test_a_backup_is_made_while_others_write_and_is_of_one_moment(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with Store.open(home, FakeClock(), numbered()) as store:
        await asyncio.gather(*(store.inbox.accept(message(number)) for number in range(200)))
        making = asyncio.create_task(asyncio.to_thread(make, home, tmp_path / "b.zip", "0", Wanted(), no_secret))
        number = 200
        while not making.done():
            await store.inbox.accept(message(number))
            number += 1
        await making
    restore(tmp_path / "other", tmp_path / "b.zip", 2_000.0)

    assert 200 <= messages_in(tmp_path / "other") <= number
    assert messages_in(home) == number


async def test_restore_is_refused_while_a_parley_runs_and_can_be_undone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    await filled(home, 3)
    (home / "memory").mkdir()
    (home / "memory" / "ann.md").write_text("old")
    make(home, tmp_path / "b.zip", "0", Wanted(), no_secret)
    async with Store.open(home, FakeClock(), numbered()) as store:
        await store.inbox.accept(message(4))
        with pytest.raises(StoreBusy):
            restore(home, tmp_path / "b.zip", 2_000.0)
    (home / "memory" / "ann.md").write_text("new")
    (home / "memory" / "bob.md").write_text("new")

    outcome = restore(home, tmp_path / "b.zip", 2_000.0)
    check_store(home)
    assert messages_in(home) == 3
    assert {file.name: file.read_text() for file in (home / "memory").iterdir()} == {"ann.md": "old"}

    restore(home, outcome.aside, 3_000.0)
    check_store(home)
    assert messages_in(home) == 4
    assert {file.name: file.read_text() for file in (home / "memory").iterdir()} == {"ann.md": "new", "bob.md": "new"}


async def test_a_damaged_store_comes_back_damaged_when_its_restore_is_undone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    await filled(home, 3)
    make(home, tmp_path / "b.zip", "0", Wanted(), no_secret)
    (home / FILE).write_bytes(b"no pages of a database" * 500)

    aside = restore(home, tmp_path / "b.zip", 2_000.0).aside
    assert messages_in(home) == 3
    restore(home, aside, 3_000.0)

    with pytest.raises(StoreDamaged):
        check_store(home)


@pytest.mark.parametrize("spoil", ["cut", "flipped", "words", "outside", "twice", "no name", "later", "manifest"])
async def test_what_is_no_whole_backup_changes_nothing(tmp_path: Path, spoil: str) -> None:
    home = tmp_path / "home"
    await filled(home, 3)
    file = tmp_path / "b.zip"
    make(home, file, "0", Wanted(), no_secret)
    content = bytearray(file.read_bytes())
    if spoil == "cut":
        file.write_bytes(content[: len(content) // 2])
    elif spoil == "flipped":
        content[len(content) // 2] ^= 4
        file.write_bytes(content)
    elif spoil == "words":
        file.write_text("a letter")
    elif spoil == "later":
        content[content.find(b"PK\x01\x02") + 6] = 200
        file.write_bytes(content)
    elif spoil == "manifest":
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(MANIFEST, b" " * 50_000_000)
    elif spoil in ("twice", "no name"):
        with zipfile.ZipFile(file, "a") as archive:
            archive.writestr("memory/a" if spoil == "twice" else ".", "x")
            archive.writestr("memory/a/b", "x")
    else:
        with zipfile.ZipFile(file, "a") as archive:
            archive.writestr("memory/../../outside.txt", "out")

    with pytest.raises(ParleyError, match="is no backup of Parley, or is damaged"):
        restore(home, file, 2_000.0)
    assert messages_in(home) == 3
    assert not (tmp_path / "outside.txt").exists()
    check_store(home)


@pytest.mark.parametrize("listed", ["{", "5", '["../../.ssh"]', '["elsewhere"]'])
async def test_a_folder_of_replaced_files_with_a_list_that_no_restore_makes_changes_nothing(
    tmp_path: Path, listed: str
) -> None:
    home = tmp_path / "home"
    await filled(home, 3)
    make(home, tmp_path / "b.zip", "0", Wanted(), no_secret)
    aside = restore(home, tmp_path / "b.zip", 2_000.0).aside
    (aside / "replaced.json").write_text(listed)
    (tmp_path / ".ssh").mkdir()

    with pytest.raises(ParleyError, match="replaced\\.json"):
        restore(home, aside, 3_000.0)
    assert messages_in(home) == 3
    assert (tmp_path / ".ssh").exists()


async def test_after_a_restore_nothing_that_is_older_is_sent_or_gone_on_with(tmp_path: Path) -> None:
    home = tmp_path / "home"
    clock = FakeClock()
    async with Store.open(home, clock, numbered()) as store:
        await store.inbox.accept(message(1))
        await store.runs.begin(Run("run-1", CHAT, "session-1", "ann", clock.time()))
        ended = Run("run-2", CHAT, "session-1", "ann", clock.time())
        await store.runs.begin(ended)
        done = RunEnd(TerminalReason.COMPLETED, "")
        await store.runs.end(ended, done, (), owes=lambda _: [Owed("speech", "run-2", CHAT)])
        await store.outbox.add([Post("run-1:answer:0", "run-1", CHAT, OutboundMessage(markdown="old"), origin=CLEAN)])
        soon = clock.time() + 60
        job = Job(
            "j1",
            CHAT,
            "ann",
            "en",
            "UTC",
            Once(at=soon),
            Reminder(text="stretch"),
            CLEAN,
            soon,
            JobState.ACTIVE,
            next_at=soon,
        )
        await store.jobs.add(job)
        make(home, tmp_path / "b.zip", "0", Wanted(), no_secret)
    restore(home, tmp_path / "b.zip", clock.time() + 3_600)

    async with Store.open(home, clock, numbered()) as store:
        assert await store.outbox.unsent() == []
        assert await store.runs.unfinished() == []
        assert await store.inbox.waiting() == []
        assert await store.owed.left() == []
        reminder = await store.jobs.find("j1")
        assert reminder is not None
        assert reminder.state is JobState.DONE
        assert [row.words.split()[0] for row in await store.restores.unreported()] == ["message", "stretch"]


async def test_a_restore_that_was_cut_off_is_no_new_store(tmp_path: Path) -> None:
    home = tmp_path / "home"
    await filled(home, 3)
    make(home, tmp_path / "b.zip", "0", Wanted(), no_secret)
    (home / FILE).rename(tmp_path / "moved aside")  # as far as the restore came

    with pytest.raises(StoreDamaged, match="missing"):
        check_store(home)
    restore(home, tmp_path / "b.zip", 2_000.0)
    check_store(home)
    assert read_mark(home) is not None


class Reachable(MemoryChannel):
    """A platform where owners have a private chat."""

    async def private_chat(self, person: str) -> ChatKey:
        return self.chat(person)


async def test_what_was_said_before_a_restore_is_listed_to_the_owners_and_not_answered(
    tmp_path: Path, start_bot: StartBot
) -> None:
    channel = Reachable()
    bot = await start_bot("one", "two", channel=channel, nightly=True)
    await bot.hears("first")
    make(bot.home, tmp_path / "b.zip", "0", Wanted(), no_secret)
    await bot.hears("second")
    await bot.stop()
    restore(bot.home, tmp_path / "b.zip", time.time())
    again = Bot(bot.home, ["three"], BotOptions(channel=channel, nightly=True))
    await again.start()
    try:
        said = [event for event in channel.heard if isinstance(event, MessageReceived)]
        assert [await channel.deliver(event) for event in said] == [Accepted.DUPLICATE, Accepted.NEW]
        assert await channel.deliver(said[1]) is Accepted.DUPLICATE
        await again.hears("third")
        assert again.screen[-1] == "three"

        await again.made.serving.upkeep.look()
        await again.made.serving.upkeep.look()
        await again.made.people.owners.settled()
        [listed] = [text for text in again.screen if "were not answered" in text]
        assert "second" in listed
        assert "first" not in listed
    finally:
        await again.stop()


# At night


async def test_a_backup_is_made_each_night_and_the_newest_are_kept(start_bot: StartBot) -> None:
    clock = OffsetClock()
    bot = await start_bot("one", clock=clock, nightly=True, settings={"backups": 2})
    await bot.hears("first")
    await bot.made.serving.upkeep.look()
    assert kept(bot.home) == []  # no night has passed yet

    names = []
    for _ in range(4):
        clock.ahead += 24 * 3600
        await bot.made.serving.upkeep.look()
        await bot.made.serving.upkeep.look()
        names.append(kept(bot.home)[0].name)

    assert len(set(names)) == 4
    assert [file.name for file in kept(bot.home)] == [names[3], names[2]]
    assert stat.S_IMODE(kept(bot.home)[0].stat().st_mode) == 0o600


def test_the_night_is_over_half_at_three_by_the_clocks_of_the_house() -> None:
    noon = datetime(2026, 11, 22, 12, tzinfo=PARIS).timestamp()
    early = datetime(2026, 11, 22, 2, 59, tzinfo=PARIS).timestamp()

    assert last_night(noon, PARIS) == datetime(2026, 11, 22, 3, tzinfo=PARIS).timestamp()
    assert last_night(early, PARIS) == datetime(2026, 11, 21, 3, tzinfo=PARIS).timestamp()


@given(st.lists(st.integers(1, 1000), max_size=12), st.integers(1, 9), st.integers(0, 100_000))
def test_backups_that_are_kept_fit_a_tenth_of_the_free_space_but_one(sizes: list[int], most: int, free: int) -> None:
    stay = sizes[: len(sizes) - too_many(sizes, most, free)]

    assert len(stay) <= most
    assert len(stay) >= min(1, len(sizes))
    assert len(stay) <= 1 or sum(stay) * 10 <= free
    if len(stay) < min(most, len(sizes)):
        assert sum(sizes[: len(stay) + 1]) * 10 > free
