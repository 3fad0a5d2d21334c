"""Parley embedded in another program, on Telegram, with a tool whose effect must not be repeated."""

import asyncio
import os
import sys
from pathlib import Path

from agent_core.tools.tool import tool
from channels.discovery import open_channel
from gateway.app.app_settings import AppSettings, System
from gateway.app.composition import composed
from gateway.app.resources import prepare
from gateway.app.start import launch
from gateway.permissions.roles import People
from gateway.runs.agents import AgentParts
from gateway.settings.current import CurrentSettings
from gateway.settings.settings import Settings

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
        model = ground.models.now.default
        channel = open_channel("telegram", settings.channels["telegram"], ground.clock.time)
        async with composed(
            AppSettings(CurrentSettings(settings), people=People(settings.owners, settings.allow)),
            ground.store,
            [channel],
            AgentParts(llm=model.llm, model=model.model, tools=(launch_rocket,)),
            ground.about(),
            system=System(ground.clock, peers=ground.peers),
        ) as made:
            await made.app.run()
    return 0


if __name__ == "__main__":
    sys.exit(launch(os.environ, Path.cwd(), serve))
