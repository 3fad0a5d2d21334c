"""Several channels at once: one that fails leaves the others be."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from agent_core.clock import SystemClock, new_id
from agent_core.models.scripted import SCRIPTED_MODEL, ScriptedLlm
from channels.base import ChannelError, CommandSpec, Inbox
from channels.memory import MemoryChannel
from gateway.about import About
from gateway.access import People
from gateway.agents import AgentParts
from gateway.house import House
from gateway.secrets import Secrets
from gateway.store.store import Store

REVOKED = ChannelError("the token was revoked; make a new one", permanent=True)
ABOUT = About(name="Ada", model="scripted", why="a test", demo=False, vision=True, version="0", started=0.0)
ANN = People(owners=frozenset({"well:ann"}), allow=frozenset())


class FailingChannel(MemoryChannel):
    """Serves until the test lets it fail."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name)
        self.broken = asyncio.Event()

    async def run(self, inbox: Inbox, commands: Sequence[CommandSpec]) -> None:
        serving = asyncio.create_task(super().run(inbox, commands))
        try:
            await self.broken.wait()
            raise REVOKED
        finally:
            serving.cancel()


async def test_the_console_tells_no_secret(tmp_path: Path) -> None:
    ill, well = FailingChannel("ill"), FailingChannel("well")
    console: list[str] = []
    async with (
        Store.open(tmp_path, SystemClock(), new_id) as store,
        House.open(
            store=store,
            channels=[ill, well],
            parts=AgentParts(llm=ScriptedLlm(), model=SCRIPTED_MODEL),
            people=ANN,
            about=ABOUT,
            home=tmp_path,
            zone=ZoneInfo("UTC"),
            secrets=Secrets(["make a new one"]),
            console=console.append,
        ) as house,
    ):
        running = asyncio.create_task(house.run())
        ill.broken.set()
        await well.until(lambda: bool(console))
        running.cancel()
        await asyncio.wait([running])

    assert console == ["ill has stopped, and the others go on: the token was revoked; [secret]"]


async def test_one_channel_that_fails_leaves_the_others_be(tmp_path: Path) -> None:
    ill, well = FailingChannel("ill"), FailingChannel("well")
    console: list[str] = []
    async with (
        Store.open(tmp_path, SystemClock(), new_id) as store,
        House.open(
            store=store,
            channels=[ill, well],
            parts=AgentParts(llm=ScriptedLlm("Still here."), model=SCRIPTED_MODEL),
            people=ANN,
            about=ABOUT,
            home=tmp_path,
            zone=ZoneInfo("UTC"),
            console=console.append,
        ) as house,
    ):
        running = asyncio.create_task(house.run())
        ill.broken.set()
        await well.until(lambda: bool(console))
        await well.hears("are you there?")
        await well.until(lambda: well.screen == ["Still here."])
        assert console == ["ill has stopped, and the others go on: the token was revoked; make a new one"]

        well.broken.set()
        with pytest.raises(ChannelError, match="revoked"):
            await running
