"""Talks to Parley in the terminal: to the one that runs, or else to one without other channels."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from channels.base import Menu, OutboundMessage
from channels.tasks import until_one_ends
from channels.terminal.adapter import TerminalChannel
from channels.terminal.frames import FILE, connected
from channels.terminal.program import Connected, RunningProgram
from gateway.app.resources import prepare
from gateway.app.serve import open_app, say_hello
from gateway.app.start import launch
from gateway.cluster.protocols import Peers
from gateway.errors import ParleyError
from gateway.records.own_screen import FILE as LOG
from gateway.records.own_screen import OwnScreen
from gateway.settings.local_node import with_local_node
from gateway.settings.settings import Settings
from gateway.store.opening import StoreBusy
from gateway.texts.about import About

STARTING_SECONDS = 5.0
"""Time that a Parley that is just starting gets until terminals can join it."""


def chat(environ: Mapping[str, str], cwd: Path) -> int:
    """Chat in the terminal. Return the exit code; raise ParleyError."""
    screen = OwnScreen()
    return launch(environ, cwd, lambda settings: talk(settings, screen.output), screen)


async def talk(settings: Settings, output: TextIO) -> int:
    """Run the terminal chat until the user leaves or the input ends. Raises ParleyError."""
    settings = await with_local_node(settings)
    if (first := await _running(settings.local)) is not None:
        return await _join(settings, output, first)
    try:
        return await _talk_alone(settings, output)
    except StoreBusy:
        if (first := await _running(settings.local, STARTING_SECONDS)) is None:
            raise
        return await _join(settings, output, first)


def _help(settings: Settings) -> Sequence[str]:
    return (
        "  Files  name one with an @ before it: @~/sales.csv",
        "  Leave  /exit or Ctrl-D",
        f"  Log    {settings.home / LOG}",
    )


async def _running(folder: Path, within: float = 0.0) -> Connected | None:
    """Connect to the Parley that listens in this folder. None if there is none within so many seconds."""
    until = time.monotonic() + within
    while True:
        try:
            return await connected(folder / FILE)
        except OSError:
            if time.monotonic() >= until:
                return None
            await asyncio.sleep(0.1)


async def _join(settings: Settings, output: TextIO, first: Connected) -> int:
    """Be a terminal of the running Parley; it goes on when the user leaves."""

    async def say(text: str) -> None:
        await terminal.write(OutboundMessage(markdown=text))

    program = RunningProgram(settings.local / FILE, first, say)
    terminal = TerminalChannel(idle=program.settled, output=output)

    async def converse() -> None:
        about = About.model_validate(await program.about())
        joins = "  Joins  the Parley that runs here, which goes on when you leave"
        say_hello(about, settings.files, [joins, *_help(settings)], output)
        await terminal.run(program.accept, Menu())

    await until_one_ends(converse(), program.run(terminal))
    return 0


async def _talk_alone(settings: Settings, output: TextIO) -> int:
    async with prepare(settings, takes_chats=False) as resources:

        async def answered() -> None:
            app.input_ended(TerminalChannel.name)
            await app.settled()

        async with open_app(resources, [TerminalChannel(idle=answered, output=output)]) as made:
            app = made.app
            say_hello(made.base.about(), settings.files, _help(settings), output)
            await until_one_ends(app.run(), _taken_over(resources.peers))
    return 0


async def _taken_over(peers: Peers) -> None:
    """Raise ParleyError once other processes have taken over."""
    await peers.wait_fenced()
    raise ParleyError(
        "Others go on with the chats of this Parley: it was away from its database for too long, or a newer Parley has "
        "changed the tables. Start it again."
    )
