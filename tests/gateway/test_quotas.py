"""Quotas: files, versions and uploads count towards a limit, so that no chat fills the disk."""

import os
from pathlib import Path

import pytest

from agent_core.clock import SystemClock
from agent_core.models.scripted import calls
from agent_core.sandbox.probe import NAMES
from agent_core.sandbox.process import ProcessSandbox
from agent_core.sandbox.usage import usage_of
from agent_core.tools.catalogue import file_tools
from agent_core.tools.shell import run_command_tool
from agent_core.workspace.keeper import CannotKeep
from channels.base import ChatKey
from gateway.permissions.quotas import PEOPLE
from gateway.permissions.workspaces import FOLDER, Versions
from gateway.settings.limits import QuotaSettings
from gateway.upkeep.doctor.home import look_at_home
from tests.agent_core.sandbox.running import PlainLauncher, launcher_called
from tests.agent_core.versions.kit import by
from tests.clock import FakeClock
from tests.end_to_end.forks import parley
from tests.gateway.approving import asked, last_result
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot

ANN = ChatKey(platform="memory", account="here", chat="ann")
OF_A_PERSON = QuotaSettings(person_mb=1, person_files=9, reserve_mb=0)
SMALL = QuotaSettings(chat_mb=1, reserve_mb=0)
TOOLS = (*file_tools(), run_command_tool(ProcessSandbox(PlainLauncher(), SystemClock())))


def workspace(bot: Bot) -> Path:
    return bot.made.files.workspaces.folder(ANN)


def test_a_larger_memory_quota_raises_what_a_single_process_may_map() -> None:
    limits = QuotaSettings(command_memory_mb=8_000).of_a_command

    assert limits.memory_bytes == limits.all_memory_bytes == 8_000_000_000


async def test_a_file_tool_writes_no_more_than_there_is_room_for(start_bot: StartBot) -> None:
    write = calls(("write_file", {"path": "big.txt", "content": "x" * 1_100_000}))
    bot = await start_bot(write, "Too large.", tools=TOOLS, quotas=SMALL)
    await bot.hears("write it")
    assert "no room left for the files of this chat" in last_result(bot)


async def test_a_program_is_ended_where_its_chat_is_full(start_bot: StartBot) -> None:
    script = "import time; open('big', 'wb').write(b'x' * 3_000_000); time.sleep(60)"
    run = calls(("run_command", {"argv": ["python3", "-c", script]}))
    bot = await start_bot(run, "Ended.", tools=TOOLS, quotas=SMALL)
    await bot.hears(f"/approve {await asked(bot)}")
    assert "killed for using more than 1 MB of disk" in last_result(bot)


async def test_runs_in_a_row_never_fill_a_chat_beyond_its_quota(start_bot: StartBot, tmp_path: Path) -> None:
    """The growth is looked at four times a second, and a program writes much in that time."""
    launcher = await launcher_called(NAMES[0], tmp_path / "scratch")
    script = "import time; open('big-' + str(time.time()), 'wb').write(b'x' * 60_000_000)"
    run = calls(("run_command", {"argv": ["python3", "-c", script]}))
    small = "import time; open('rest-' + str(time.time()), 'wb').write(b'x' * 9_990_000)"
    fill = calls(("run_command", {"argv": ["python3", "-c", small]}))
    tools = (*file_tools(), run_command_tool(ProcessSandbox(launcher, SystemClock())))
    bot = await start_bot(
        *[run, "Cut."] * 2, *[fill, "Full."] * 3, tools=tools, quotas=QuotaSettings(chat_mb=10, reserve_mb=0)
    )
    said = []
    for _ in range(5):
        await bot.hears(f"/approve {await asked(bot)}")
        said.append(last_result(bot))
        assert usage_of(bot.home / "workspaces").bytes <= 11_000_000

    assert "File too large" in said[0] or "killed for using more than 10 MB of disk" in said[0]
    assert "it was not started: there is no room left for files in this chat" in said[-1]
    assert "no room left for the files of this chat" in await told_of_a_file(bot)


async def told_of_a_file(bot: Bot) -> str:
    bot.llm.add("I see.")
    await bot.hears("look", files={"more.bin": b"x" * 1_100_000})
    return str(bot.llm.requests[-1].messages[-1])


def test_versions_older_than_a_day_make_room_for_a_program(tmp_path: Path) -> None:
    clock = FakeClock()
    versions = Versions(tmp_path, clock, quotas=lambda: SMALL).of(ANN)
    versions.workspace.mkdir(parents=True)
    for text in (b"x" * 450_000, b"y" * 450_000):
        with versions.file(by(), "file", 1):
            (versions.workspace / "file").write_bytes(text)
    (versions.workspace / "more").write_bytes(os.urandom(400_000))
    assert versions.quota.room(None).bytes == 0

    clock.now += 2 * 86_400
    with pytest.raises(CannotKeep), versions.file(by(), "other", 900_000):
        pass

    assert not versions.quota.room(None).is_used_up


async def test_an_upload_that_does_not_fit_is_not_kept_and_that_is_said(start_bot: StartBot) -> None:
    bot = await start_bot("Too large.", quotas=SMALL)
    await bot.hears("look", files={"big.bin": b"x" * 1_100_000})
    told = bot.llm.requests[-1].messages[-1]
    assert "big.bin could not be kept: there is no room left for the files of this chat" in str(told)


async def test_owners_read_in_status_which_chats_and_people_fill_most(start_bot: StartBot) -> None:
    bot = await start_bot("Thanks.", "Thanks.", tools=TOOLS)
    await bot.hears("keep it", files={"big.bin": b"x" * 300_000})
    await bot.hears("keep it", sender="bob", files={"small.bin": b"x" * 100_000})

    await bot.hears("/status more")
    [chats] = [line for line in bot.screen[-1].splitlines() if "Largest chats" in line]
    [people] = [line for line in bot.screen[-1].splitlines() if "Largest users" in line]
    assert chats.index("memory:here:ann") < chats.index("memory:here:bob")
    assert people.index("memory:ann 29") < people.index("memory:bob 9")

    await bot.hears("/status more", sender="bob")
    assert "Largest" not in bot.screen[-1]
    assert "Filled" not in bot.screen[-1]


async def test_below_the_reserve_the_doctor_says_what_does_not_work(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "PARLEY_WEB_PORT": "0"}
    report = await parley("doctor", environ=environ | {"PARLEY_QUOTAS_RESERVE_MB": "1000000000"})
    assert report.code == 0, report.out
    assert "· no program runs and no file is taken in" in report.out
    assert "or set PARLEY_QUOTAS_RESERVE_MB" in report.out


async def test_the_doctor_names_the_largest_chats_and_who_fills_most(start_bot: StartBot) -> None:
    bot = await start_bot("Thanks.", tools=TOOLS)
    await bot.hears("keep it", files={"big.bin": b"x" * 300_000})
    await bot.stop()

    [told] = [each.what for each in look_at_home(bot.home) if each.what.startswith("largest chats")]
    assert told.startswith("largest chats: memory:here:ann ")
    assert "; people: memory:ann 29" in told


def test_what_a_person_fills_is_counted_over_all_chats(tmp_path: Path) -> None:
    settings = QuotaSettings(person_mb=1, reserve_mb=0)
    for number in range(2):
        chat = ChatKey(platform="memory", account="here", chat=f"room{number}")
        versions = Versions(tmp_path, FakeClock(), quotas=lambda: settings).of(chat)  # as after a restart
        versions.workspace.mkdir(parents=True)
        with versions.file(by(person="bob"), "file", 450_000):
            (versions.workspace / "file").write_bytes(b"x" * 450_000)
    left = versions.quota.room("bob").bytes
    assert left is not None
    assert left <= 100_000
    other = versions.quota.room("carl").bytes
    assert other is not None
    assert other > 900_000


def test_files_of_a_person_are_counted_over_all_chats(tmp_path: Path) -> None:
    settings = QuotaSettings(person_files=5, reserve_mb=0)
    for number in range(2):
        chat = ChatKey(platform="memory", account="here", chat=f"room{number}")
        versions = Versions(tmp_path, FakeClock(), quotas=lambda: settings).of(chat)  # as after a restart
        versions.workspace.mkdir(parents=True)
        for name in ("one", "two"):
            with versions.file(by(person="bob"), name, 3):
                (versions.workspace / name).write_text("new")
    assert versions.quota.room("bob").files == 1
    assert versions.quota.room("carl").files == 5
    with versions.file(by(person="bob"), "one", 3):
        (versions.workspace / "one").write_text("old")
    assert versions.quota.room("bob").files == 1
    with versions.file(by(person="bob"), "one", 0):
        (versions.workspace / "one").unlink()
    assert versions.quota.room("bob").files == 2


async def test_a_program_makes_no_more_files_than_its_person_has_left(start_bot: StartBot) -> None:
    script = "import time; [open(str(number), 'w') for number in range(50)]; time.sleep(60)"
    run = calls(("run_command", {"argv": ["python3", "-c", script]}))
    bot = await start_bot(run, "Ended.", tools=TOOLS, quotas=QuotaSettings(person_files=40, reserve_mb=0))
    await bot.hears(f"/approve {await asked(bot)}")
    assert "killed for using more than 40 new files" in last_result(bot)


def test_what_was_counted_in_bytes_alone_counts_on(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / PEOPLE).write_text('{"memory:bob": {"elsewhere": 600000}}')
    versions = Versions(tmp_path, FakeClock(), quotas=lambda: OF_A_PERSON).of(ANN)
    versions.workspace.mkdir(parents=True)
    with versions.file(by(person="bob"), "file", 300_000):
        (versions.workspace / "file").write_bytes(b"x" * 300_000)
    again = Versions(tmp_path, FakeClock(), quotas=lambda: OF_A_PERSON).of(ANN)
    left = again.quota.room("bob")
    assert (left.bytes, left.files) == (100_000, 8)


@pytest.mark.parametrize("odd", ["[]", "7", "null", '"text"', "[" * 100_000, '{"a":' * 100_000, "9" * 5_000])
def test_what_is_counted_for_others_stays_beside_values_that_cannot_be_read(tmp_path: Path, odd: str) -> None:
    (tmp_path / FOLDER).mkdir()
    file = tmp_path / FOLDER / PEOPLE
    file.write_text(odd)
    versions = Versions(tmp_path, FakeClock(), quotas=lambda: OF_A_PERSON).of(ANN)
    assert versions.quota.room("bob").bytes == 1_000_000
    for broken in ('"memory:eve": []', '"memory:eve": {"here": "much"}', '"memory:eve": {"here": [1, 2, 3]}'):
        file.write_text(f'{{"memory:bob": {{"elsewhere": [600000, 2]}}, {broken}}}')
        again = Versions(tmp_path, FakeClock(), quotas=lambda: OF_A_PERSON).of(ANN)
        assert again.quota.room("bob").bytes == 400_000


def test_versions_count(tmp_path: Path) -> None:
    versions = Versions(tmp_path, FakeClock(), quotas=lambda: SMALL).of(ANN)
    versions.workspace.mkdir(parents=True)
    (versions.workspace / "file").write_bytes(b"x" * 400_000)
    assert not versions.why_not(by())
    left = versions.quota.room(None).bytes
    assert left is not None
    assert left < 250_000


def test_below_the_reserve_nothing_is_written(tmp_path: Path) -> None:
    versions = Versions(tmp_path, FakeClock(), quotas=lambda: QuotaSettings(reserve_mb=10**9)).of(ANN)
    assert versions.quota.room(None).bytes == 0
