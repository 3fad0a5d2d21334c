"""The command `parley replay`."""

import re
from argparse import ArgumentParser, ArgumentTypeError

from gateway.subcommand import Subcommand


def _replay(parser: ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", metavar="RUN", help="its id, or how that begins; without it: a list")
    parser.add_argument("--full", action="store_true", help="show texts and results whole")
    parser.add_argument("--last", type=_count, metavar="N", help="only the last N steps")


def _count(text: str) -> int:
    if not re.fullmatch("[1-9][0-9]{0,8}", text):
        raise ArgumentTypeError(f"{text!r} is no number of steps, such as 20")
    return int(text)


SUBCOMMANDS = {
    "replay": Subcommand("show what a run did, also while Parley runs", "gateway.plugins.replay.program:run", _replay)
}
