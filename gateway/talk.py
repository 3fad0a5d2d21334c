"""Parley in the terminal, and nowhere else."""

from collections.abc import Mapping
from pathlib import Path

from channels.terminal.adapter import TerminalChannel
from gateway.app import open_house, prepare, say_hello
from gateway.settings import Settings
from gateway.start import launch


def chat(environ: Mapping[str, str], cwd: Path) -> int:
    """Returns the exit code, or raises ParleyError."""
    return launch(environ, cwd, talk, quiet=True)


async def talk(settings: Settings) -> int:
    """Talk until the person leaves or the input ends."""
    async with prepare(settings) as ground:

        async def answered() -> None:
            house.handler.nobody_answers(TerminalChannel.name)
            await house.handler.settled()

        async with open_house(ground, [TerminalChannel(idle=answered)]) as house:
            say_hello(ground.about, ["  Files  name one with an @ before it: @~/sales.csv", "  Leave  Ctrl-D"])
            await house.run()
    return 0
