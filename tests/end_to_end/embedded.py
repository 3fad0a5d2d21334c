"""Parley embedded in another program, on Telegram, with a tool whose effect must not be repeated."""

import asyncio
import os
import sys
from pathlib import Path
from zoneinfo import ZoneInfo

from agent_core.tools import tool
from channels.registry import open_channel
from gateway.app import prepare
from gateway.house import House
from gateway.permissions.access import People
from gateway.runs.agents import AgentParts
from gateway.settings.settings import Settings
from gateway.startup.start import launch

ROCKETS = "rockets.txt"


@tool(label="Launching {rocket}")
async def launch_rocket(rocket: str) -> str:
    """Launch a rocket; nobody has seen the end of it."""
    with (Path(os.environ["PARLEY_HOME"]) / ROCKETS).open("a") as launched:
        launched.write(f"{rocket}\n")
    await asyncio.Event().wait()
    return "It flies."


async def serve(settings: Settings) -> int:
    async with prepare(settings) as ground:
        channel = open_channel("telegram", settings.channels["telegram"])
        async with House.open(
            store=ground.store,
            channels=[channel],
            parts=AgentParts(llm=ground.llm, model=ground.choice.model, tools=(launch_rocket,)),
            people=People(settings.owners, settings.allow),
            about=ground.about,
            home=settings.home,
            zone=ZoneInfo(settings.timezone),
        ) as house:
            await house.run()
    return 0


if __name__ == "__main__":
    sys.exit(launch(os.environ, Path.cwd(), serve))
