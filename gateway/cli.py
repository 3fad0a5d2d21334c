"""The command line: `parley [run | chat | doctor | replay | export]`.

What a person can put right is one sentence on standard error and exit code 2; a traceback is a fault of ours.
"""

import argparse
import gc
import importlib
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from gateway.errors import ParleyError

Run = Callable[[Mapping[str, str], Path], int]
"""Takes the environment and the current folder, returns the exit code."""
RunGiven = Callable[[Mapping[str, str], Path, argparse.Namespace], int]
"""The same with what was given behind the command."""


@dataclass(frozen=True)
class Command:
    about: str
    function: str
    """Where its `Run` is, or its `RunGiven` where it takes arguments."""
    takes: Callable[[argparse.ArgumentParser], None] | None = None
    """Declares them."""


def _replay(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", metavar="RUN", help="its id, or how that begins; without it: a list")
    parser.add_argument("--full", action="store_true", help="show texts and results whole")
    parser.add_argument("--last", type=_count, metavar="N", help="only the last N steps")


def _count(text: str) -> int:
    if not re.fullmatch("[1-9][0-9]{0,8}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of steps, such as 20")
    return int(text)


def _export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("chat", nargs="?", metavar="CHAT", help="as /status prints it, or a part that only it has")
    form = parser.add_mutually_exclusive_group()
    forms = {"md": "Markdown (default)", "json": "JSON, every message whole", "html": "a page by itself"}
    for name, about in forms.items():
        form.add_argument(f"--{name}", dest="form", action="store_const", const=name, default="md", help=about)
    parser.add_argument("--out", metavar="FILE", help="write there rather than on standard output")


# Functions stand here by name, `module:function`, because importing the gateway takes ten times as long as printing the
# help: a module is imported when its command is wanted.
COMMANDS = {
    "run": Command("start Parley with the page and every channel that is set up (default)", "gateway.start:run"),
    "chat": Command("talk to Parley in this terminal, and nowhere else", "gateway.talk:chat"),
    "doctor": Command("look for what is wrong, and say how to put it right", "gateway.doctor.report:run"),
    "replay": Command("show what a run did, also while Parley runs", "gateway.replay.command:run", _replay),
    "export": Command("write out a chat, also while Parley runs", "gateway.export.command:run", _export),
}
VERSION = "gateway.version:version"
REFUSED = 2
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code: 0, 1 where the doctor found a problem, 2 for an expected error, 130 after Ctrl-C."""
    given = _parser().parse_args(arguments)
    command = COMMANDS[given.command or "run"]
    gc.disable()  # importing makes much and throws little away; what serves for long switches it on again
    try:
        if command.takes is not None:
            return cast(RunGiven, _named(command.function))(os.environ, Path.cwd(), given)
        return cast(Run, _named(command.function))(os.environ, Path.cwd())
    except ParleyError as error:
        sys.stderr.write(f"parley: {error.sentence}\n")
        return REFUSED
    except KeyboardInterrupt:
        return INTERRUPTED


def _named(function: str) -> object:
    module, _, name = function.partition(":")
    return getattr(importlib.import_module(module), name)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="parley",
        description="An AI agent that people message where they already talk.",
        epilog="Settings: the environment, .env and parley.toml, in ~/.parley (PARLEY_HOME) or the current folder.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="say which version this is")
    commands = parser.add_subparsers(dest="command", metavar="command")
    for name, command in COMMANDS.items():
        about = f"{command.about[0].upper()}{command.about[1:]}."
        its_parser = commands.add_parser(name, help=command.about, description=about)
        if command.takes is not None:
            command.takes(its_parser)
    return parser


class _Version(argparse.Action):
    """Finds the version out only when it is asked for."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        sys.stdout.write(f"parley {cast(Callable[[], str], _named(VERSION))()}\n")
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
