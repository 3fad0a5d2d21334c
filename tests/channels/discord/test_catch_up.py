"""Messages sent while Discord could not be reached, through the whole gateway: none lost, none doubled."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from agent_core.clock import SystemClock, new_id
from agent_core.messages import UserMessage, text_of
from agent_core.models.scripted import SCRIPTED_MODEL, ScriptedLlm
from channels.discord.adapter import DiscordChannel
from gateway.app.app import App
from gateway.app.app_settings import AppSettings, System
from gateway.app.chosen_plugins import own_plugins
from gateway.app.composition import composed
from gateway.app.plugins import tables_of
from gateway.permissions.roles import People
from gateway.runs.agents import AgentParts
from gateway.settings.current import CurrentSettings
from gateway.settings.settings import Settings
from gateway.store.store import Extras, Store
from gateway.texts.about import About
from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.discord_state import Person
from tests.channels.discord.conftest import config_for, opened

SOON = 30


@asynccontextmanager
async def running(home: Path, channel: DiscordChannel, llm: ScriptedLlm, person: Person) -> AsyncIterator[App]:
    clock = SystemClock()
    about = About(model="scripted", why="a test", is_ai=True, version="0", started=clock.time())
    async with (
        Store.open(home, clock, new_id, extras=Extras(plugins=tables_of(own_plugins()))) as store,
        composed(
            AppSettings(
                CurrentSettings(Settings(home=home)),
                people=People(owners=frozenset({f"discord:{person.id}"}), allow=frozenset()),
            ),
            store,
            [channel],
            AgentParts(llm=llm, model=SCRIPTED_MODEL),
            about,
            system=System(clock=clock),
        ) as made,
    ):
        running = asyncio.create_task(made.app.run())
        try:
            yield made.app
        finally:
            running.cancel()
            await asyncio.wait([running])


def heard(llm: ScriptedLlm) -> list[str]:
    """Return the user messages of the model's last request."""
    if not llm.requests:
        return []
    return [text_of(message.content) for message in llm.requests[-1].messages if isinstance(message, UserMessage)]


async def test_a_refused_resume_loses_nothing_and_doubles_nothing(discord: DiscordEmulator, tmp_path: Path) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    llm = ScriptedLlm(*["ok"] * 60)
    discord.gateway.max_concurrency = 20  # its next session need not wait five seconds
    async with opened(config_for(discord)) as channel, running(tmp_path, channel, llm, ann):
        await discord.wait_for(lambda: discord.connected, SOON)
        await chat.says(ann, "0")
        await discord.wait_for(lambda: chat.screen == ["ok"], SOON)
        discord.forget_sessions()
        discord.kill_connections()
        for number in range(1, 21):
            await chat.says(ann, str(number))
        await discord.wait_for(lambda: discord.connected, SOON)
        for number in range(21, 31):
            await chat.says(ann, str(number))
        discord.redeliver(5)
        await discord.wait_for(lambda: "30" in "\n".join(heard(llm)).split(), SOON)

    assert "\n".join(heard(llm)).split() == [str(number) for number in range(31)]
    assert discord.identifies_left == 998


async def test_what_was_said_before_the_program_started_is_heard_once(discord: DiscordEmulator, tmp_path: Path) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    llm = ScriptedLlm(*["ok"] * 20)
    async with opened(config_for(discord)) as channel, running(tmp_path, channel, llm, ann) as app:
        await discord.wait_for(lambda: discord.connected, SOON)
        await chat.says(ann, "0")
        await discord.wait_for(lambda: chat.screen == ["ok"], SOON)
        await app.settled()
    await discord.wait_for(lambda: not discord.connected, SOON)
    for number in range(1, 6):
        await chat.says(ann, str(number))
    async with opened(config_for(discord)) as channel, running(tmp_path, channel, llm, ann):
        await discord.wait_for(lambda: discord.connected, SOON)
        await chat.says(ann, "6")
        await discord.wait_for(lambda: "6" in "\n".join(heard(llm)).split(), SOON)

    assert "\n".join(heard(llm)).split() == [str(number) for number in range(7)]
