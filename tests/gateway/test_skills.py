"""A chat's loaded skills survive restarts, pass to threads, and if held to a new conversation."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent_core.clock import SystemClock, new_id
from agent_core.models.scripted import Waits, calls
from agent_core.skills.skill_state import SkillState, SkillStates
from channels.base import ChatKey, OutboundMessage, Posted
from channels.memory import MemoryChannel
from gateway.store.opening import FILE
from gateway.store.store import Store
from tests.agent_core.skills.making import library_of, write_skill
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot

CHANNEL = ChatKey(platform="slack", account="T1", chat="C1")
THREAD = ChatKey(platform="slack", account="T1", chat="C1", thread="17.5")
HELD = SkillState(name="chart", references=("reference.md",), held=True)
STAYS = SkillState(name="chart", held=True)
"""The part that a new conversation or thread inherits."""
LOADED = SkillState(name="flights")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_skill(tmp_path / "library", "chart", "CHARTS", files={"reference.md": "COLOURS"})
    write_skill(tmp_path / "library", "flights", "FLIGHTS")
    return tmp_path / "library"


def prompt(bot: Bot) -> str:
    return bot.llm.requests[-1].system


LOADS = (
    calls(("load_skill", {"name": "chart"})),
    calls(("load_skill_reference", {"skill": "chart", "reference": "reference.md"})),
)


async def test_what_the_model_has_loaded_survives_a_restart(start_bot: StartBot, folder: Path) -> None:  # S0-24
    bot = await start_bot(*LOADS, "Loaded.", "Still here.", skills=library_of(folder))
    await bot.hears("draw")
    before = prompt(bot)

    await bot.restart()
    await bot.hears("again")

    assert "CHARTS" in prompt(bot)
    assert "COLOURS" in prompt(bot)
    assert prompt(bot) == before


async def test_a_new_conversation_begins_without_it(start_bot: StartBot, folder: Path) -> None:
    bot = await start_bot(*LOADS, "Loaded.", "Gone.", "Gone.", skills=library_of(folder))
    await bot.hears("draw")

    await bot.hears("/new")
    await bot.hears("hello")
    assert "CHARTS" not in prompt(bot)

    await bot.restart()
    await bot.hears("hello")
    assert "CHARTS" not in prompt(bot)


async def test_a_new_conversation_right_after_a_restart_begins_without_it(start_bot: StartBot, folder: Path) -> None:
    bot = await start_bot(*LOADS, "Loaded.", "Gone.", skills=library_of(folder))
    await bot.hears("draw")
    await bot.restart()

    await bot.hears("/new")
    await bot.hears("hello")

    assert "CHARTS" not in prompt(bot)


class Looking(MemoryChannel):
    """Reads the disk before a message is sent."""

    def __init__(self, store: Path) -> None:
        super().__init__()
        self.stored: list[str] = []
        self._store = store

    async def send(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        with closing(sqlite3.connect(f"file:{self._store}?mode=ro", uri=True)) as connection:
            self.stored += [row[0] for row in connection.execute("SELECT shelved FROM chat_skills")]
        return await super().send(chat, message, key)


async def test_what_a_person_loads_is_on_disk_before_they_are_told(
    start_bot: StartBot, folder: Path, tmp_path: Path
) -> None:
    """No restart can take it back."""
    channel = Looking(tmp_path / FILE)
    bot = await start_bot(skills=library_of(folder), channel=channel)

    await bot.hears("/skill load chart")

    assert [SkillStates.model_validate_json(row) for row in channel.stored] == [SkillStates(skills=(STAYS,))]


async def test_chats_do_not_share_what_is_loaded(start_bot: StartBot, folder: Path) -> None:
    bot = await start_bot(*LOADS, "Loaded.", "Hello.", skills=library_of(folder))

    await bot.hears("draw")
    await bot.hears("hello", sender="bob")

    assert "CHARTS" not in prompt(bot)
    assert "- [○] **chart**" in prompt(bot)


async def test_a_run_that_was_cut_off_goes_on_with_its_skills(start_bot: StartBot, folder: Path) -> None:  # S3-17
    bot = await start_bot(LOADS[0], Waits(asyncio.Event()), "Drawn.", skills=library_of(folder))
    await bot.channel.hears("draw")
    await bot.channel.until(lambda: len(bot.llm.requests) == 2)

    await bot.restart()
    await bot.app.settled()

    assert bot.screen[-1] == "Drawn."
    assert "CHARTS" in prompt(bot)


async def test_a_thread_begins_with_what_people_hold_in_its_channel(tmp_path: Path) -> None:  # D-13
    own = SkillState(name="mine", held=True, digest="0")
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        assert await store.skills.of(THREAD) == SkillStates()
        await store.skills.save(CHANNEL, SkillStates(skills=(HELD, LOADED, own)))

        assert await store.skills.of(CHANNEL) == SkillStates(skills=(HELD, LOADED, own))
        assert await store.skills.of(THREAD) == SkillStates(skills=(STAYS,))

        await store.skills.save(THREAD, SkillStates(skills=(LOADED,)))
        assert await store.skills.of(THREAD) == SkillStates(skills=(LOADED,))
        assert await store.skills.of(CHANNEL) == SkillStates(skills=(HELD, LOADED, own))


async def test_only_what_people_hold_is_kept_for_a_new_conversation(tmp_path: Path) -> None:  # D-10
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.skills.save(CHANNEL, SkillStates(skills=(HELD, LOADED)))

        await store.skills.renew(CHANNEL)
        await store.skills.renew(THREAD)

        assert await store.skills.of(CHANNEL) == SkillStates(skills=(STAYS,))
        await store.skills.save(CHANNEL, SkillStates())
        assert await store.skills.of(THREAD) == SkillStates()


async def test_a_row_that_nobody_can_read_harms_nobody(tmp_path: Path) -> None:
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.skills.save(CHANNEL, SkillStates(skills=(HELD,)))
        with closing(sqlite3.connect(tmp_path / FILE)) as connection, connection:
            connection.execute("""UPDATE chat_skills SET shelved = '{"later": 1}'""")

        assert await store.skills.of(CHANNEL) == SkillStates()
