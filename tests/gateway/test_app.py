"""Several channels at once: a failing one does not affect the others."""

import asyncio
from pathlib import Path

import pytest

from agent_core.clock import SystemClock, new_id
from agent_core.models.scripted import SCRIPTED_MODEL, ScriptedLlm
from agent_core.supervise import FIRST_PAUSE
from channels.base import ChannelError, ChatKey, Inbox, Menu
from channels.memory import MemoryChannel
from gateway.app.app_settings import AppSettings, System
from gateway.app.chosen_plugins import own_plugins
from gateway.app.composition import composed
from gateway.app.peers import SharedDatabase, opened
from gateway.app.plugins import tables_of
from gateway.permissions.roles import People
from gateway.runs.agents import AgentParts
from gateway.security.secrets import Secrets
from gateway.settings.current import CurrentSettings
from gateway.settings.settings import Settings
from gateway.store.store import Extras, Store
from gateway.texts.about import About
from tests.postgres import UrlOf

REVOKED = ChannelError("the token was revoked; make a new one", permanent=True)
ABOUT = About(model="scripted", why="a test", is_ai=True, version="0", started=0.0)
ANN = People(owners=frozenset({"well:ann"}), allow=frozenset())
PLUGINS = Extras(plugins=tables_of(own_plugins()))


class FailingChannel(MemoryChannel):
    """Serves until the test makes it fail."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name)
        self.broken = asyncio.Event()

    async def run(self, inbox: Inbox, menu: Menu) -> None:
        serving = asyncio.create_task(super().run(inbox, menu))
        try:
            await self.broken.wait()
            raise REVOKED
        finally:
            serving.cancel()


async def test_the_console_tells_no_secret(tmp_path: Path) -> None:
    ill, well = FailingChannel("ill"), FailingChannel("well")
    console: list[str] = []
    async with (
        Store.open(tmp_path, SystemClock(), new_id, extras=PLUGINS) as store,
        composed(
            AppSettings(CurrentSettings(Settings(home=tmp_path)), people=ANN, secrets=Secrets(["make a new one"])),
            store,
            [ill, well],
            AgentParts(llm=ScriptedLlm(), model=SCRIPTED_MODEL),
            ABOUT,
            system=System(console=console.append),
        ) as made,
    ):
        running = asyncio.create_task(made.app.run())
        ill.broken.set()
        await well.until(lambda: bool(console))
        running.cancel()
        await asyncio.wait([running])

    assert console == ["ill has stopped, and the others go on: the token was revoked; [secret]"]


async def test_a_store_that_nodes_share_is_refused_without_the_other_nodes(tmp_path: Path, url_of: UrlOf) -> None:
    shared = SharedDatabase(url_of(tmp_path), has_engine=False)
    async with opened(tmp_path, SystemClock(), new_id, None, shared=shared) as (store, _, clock):
        settings = AppSettings(CurrentSettings(Settings(home=tmp_path)), people=ANN)
        parts = AgentParts(llm=ScriptedLlm(), model=SCRIPTED_MODEL)
        with pytest.raises(ValueError, match="pass `peers`"):
            async with composed(settings, store, [], parts, ABOUT, system=System(clock)):
                pass


async def test_one_channel_that_fails_leaves_the_others_be(tmp_path: Path) -> None:
    ill, well = FailingChannel("ill"), FailingChannel("well")
    console: list[str] = []
    async with (
        Store.open(tmp_path, SystemClock(), new_id, extras=PLUGINS) as store,
        composed(
            AppSettings(CurrentSettings(Settings(home=tmp_path)), people=ANN),
            store,
            [ill, well],
            AgentParts(llm=ScriptedLlm("Still here."), model=SCRIPTED_MODEL),
            ABOUT,
            system=System(console=console.append),
        ) as made,
    ):
        running = asyncio.create_task(made.app.run())
        ill.broken.set()
        await well.until(lambda: bool(console))
        await well.hears("are you there?")
        await well.until(lambda: well.screen == ["Still here."])
        assert console == ["ill has stopped, and the others go on: the token was revoked; make a new one"]

        well.broken.set()
        with pytest.raises(ChannelError, match="revoked"):
            await running


class StumblingChannel(MemoryChannel):
    """Fails once, by a bug."""

    def __init__(self) -> None:
        super().__init__(name="stumbling")
        self.starts = 0

    async def run(self, inbox: Inbox, menu: Menu) -> None:
        self.starts += 1
        if self.starts == 1:
            raise RuntimeError("sk-secret")
        await super().run(inbox, menu)

    async def private_chat(self, person: str) -> ChatKey:
        return ChatKey(platform=self.name, account="here", chat=person)


class Hasty(SystemClock):
    """Shortens the pause before work is started again. Other waits, such as time limits, are as long as they are."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(0.01 if seconds == FIRST_PAUSE else seconds)


@pytest.mark.usefixtures("no_progress")
async def test_a_channel_that_fails_by_a_mistake_is_started_again_and_the_owners_hear_of_it(tmp_path: Path) -> None:
    channel = StumblingChannel()
    async with (
        Store.open(tmp_path, SystemClock(), new_id, extras=PLUGINS) as store,
        composed(
            AppSettings(
                CurrentSettings(Settings(home=tmp_path, heartbeat=False)),
                people=People(owners=frozenset({"stumbling:ann", "elsewhere:ann"}), allow=frozenset()),
            ),
            store,
            [channel],
            AgentParts(llm=ScriptedLlm("Still here."), model=SCRIPTED_MODEL),
            ABOUT,
            system=System(clock=Hasty()),
        ) as made,
    ):
        running = asyncio.create_task(made.app.run())
        await channel.until(lambda: len(channel.screen) == 1 and channel.starts == 2)
        await channel.hears("are you there?")
        await channel.until(lambda: len(channel.screen) == 2)
        running.cancel()
        await asyncio.wait([running])

    told, answer = channel.screen
    assert "was restarted: stumbling (RuntimeError)" in told
    assert answer == "Still here."
