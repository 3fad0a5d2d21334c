"""Runs Parley in the terminal alone, without other channels."""

from collections.abc import Mapping
from pathlib import Path

from channels.terminal.adapter import TerminalChannel
from gateway.app.serve import open_app, prepare, say_hello
from gateway.app.start import launch
from gateway.settings.settings import Settings


def chat(environ: Mapping[str, str], cwd: Path) -> int:
    """Chat in the terminal. Return the exit code; raise ParleyError."""
    return launch(environ, cwd, talk, quiet=True)


async def talk(settings: Settings) -> int:
    """Run the terminal chat until the user leaves or the input ends."""
    async with prepare(settings) as resources:

        async def answered() -> None:
            app.input_ended(TerminalChannel.name)
            await app.settled()

        async with open_app(resources, [TerminalChannel(idle=answered)]) as made:
            app = made.app
            lines = ["  Files  name one with an @ before it: @~/sales.csv", "  Leave  /exit or Ctrl-D"]
            say_hello(resources.about, settings.files, lines)
            await app.run()
    return 0
