"""Writes what is told of the commands from the one table: `python -m bench commands`.

These are docs/commands.md, the tables in the README and in docs/people.md, and in Slack's manifest the usage hint of
`/parley` and the shortcuts on messages.
"""

import json
import re
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from bench import rights
from bench.modules import REPOSITORY
from channels.slack.interactions import ASK, COMMAND_ON_MESSAGE
from gateway.commands.command import Command
from tests.gateway.bot import Bot

README = REPOSITORY / "README.md"
PAGE = REPOSITORY / "docs" / "commands.md"
MANIFEST = REPOSITORY / "channels" / "slack" / "manifest.json"
COMMAND = ".venv/bin/python -m bench commands"
_ASK_PARLEY = {"name": "Ask Parley", "type": "message", "callback_id": ASK, "description": "Ask about this message"}
MOST_HINT = 1_000
"""Characters that Slack allows in a usage hint."""
_TABLE = re.compile(r"(?<=\n)\| command \| what it does \|\n\| --- \| --- \|\n(?:\|.*\n)+")

TEXT = """\
# Commands

On Telegram, Discord, the page and in the terminal a command begins with `/`. On Slack it is `/parley help`, or `!help`
in threads. Capitals stand for what you write, brackets for what may be left out. `/help NAME` explains one in a chat.

This page is made from the program's table of commands: `{command}` writes it anew.

| command | what it does | example |
| --- | --- | --- |
{rows}
"""


async def commands() -> tuple[Command, ...]:
    """Return the commands that a running Parley shows."""
    with tempfile.TemporaryDirectory() as folder:
        bot = Bot(Path(folder), ())
        await bot.start()
        try:
            return tuple(command for command in bot.made.commands.table.commands if not command.hidden)
        finally:
            await bot.stop()


def pages(shown: Iterable[Command]) -> Mapping[Path, str]:
    """Return the new text of each file that tells of the commands."""
    listed = tuple(shown)
    main = [command for command in listed if command.main]
    return {
        PAGE: TEXT.format(command=COMMAND, rows="\n".join(map(_row, listed))),
        rights.PAGE: rights.page(listed),
        README: _TABLE.sub(lambda _: _short_table(main), README.read_text("utf-8"), count=1),
        MANIFEST: _manifest(main, listed),
    }


def _row(command: Command) -> str:
    usage = f"/{command.name} {command.arguments}".rstrip().replace("|", "\\|")
    about = command.about["en"]
    words = command.example if isinstance(command.example, str) else command.example["en"]
    example = f"`/{command.name} {words}`" if words else ""
    return f"| `{usage}` | {about[0].lower()}{about[1:]} | {example} |"


def _short_table(main: Iterable[Command]) -> str:
    rows = (f"| `/{each.name}` | {each.about['en'][0].lower()}{each.about['en'][1:]} |\n" for each in main)
    return "".join(["| command | what it does |\n| --- | --- |\n", *rows])


def _shortcut(command: Command) -> dict[str, str]:
    return {
        "name": command.on_messages["en"],
        "type": "message",
        "callback_id": f"{COMMAND_ON_MESSAGE}{command.name}",
        "description": command.about["en"],
    }


def _manifest(main: Iterable[Command], shown: Iterable[Command]) -> str:
    manifest = json.loads(MANIFEST.read_text("utf-8"))
    names = ["help", *(each.name for each in main)]
    manifest["features"]["slash_commands"][0]["usage_hint"] = " | ".join(names)[:MOST_HINT]
    manifest["features"]["shortcuts"] = [_ASK_PARLEY, *(_shortcut(each) for each in shown if each.on_messages)]
    return json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
