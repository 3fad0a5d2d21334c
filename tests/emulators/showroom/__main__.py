"""`./run emulators`: run the showroom until Ctrl-C."""

import argparse
import asyncio
import logging
import signal
import sys
from contextlib import suppress

from tests.emulators.showroom.nodes import MOST
from tests.emulators.showroom.showroom import NEXT_PORTS, PORT, PortTaken, Showroom
from tests.process import REPOSITORY

FOLDER = ".showroom"
REFUSED = 2
LAST_PORT = 65535 - NEXT_PORTS
"""The page's highest port."""


def main() -> int:
    """Run the showroom. Returns 2 with a message if a port is taken."""
    parser = argparse.ArgumentParser(
        prog="./run emulators",
        description="Telegram, Slack and Discord, emulated on this machine, and a page to talk on all three; a model "
        "of each provider, emulated as well, is chosen by /model NAME.",
    )
    parser.add_argument(
        "--port",
        type=int,
        default=PORT,
        metavar="N",
        help=f"the page's port, {PORT} unless told otherwise; the emulators and Parley's own page take the next six",
    )
    parser.add_argument(
        "--nodes",
        type=int,
        choices=range(1, MOST + 1),
        default=0,
        metavar="N",
        help=f"also run so many Parleys, 1 to {MOST}, over a PostgreSQL of their own; the page has a button that kills "
        "each",
    )
    given = parser.parse_args()
    if not 0 <= given.port <= LAST_PORT:
        parser.error(f"argument --port: {given.port} is none of 1 to {LAST_PORT}; 0 takes free ones")
    logging.basicConfig(level=logging.ERROR)  # the server of the calendar would tell of each of its steps
    try:
        asyncio.run(_stand(given.port, given.nodes))
    except PortTaken as error:
        sys.stderr.write(f"emulators: {error}\n")
        return REFUSED
    return 0


async def _stand(port: int, nodes: int) -> None:
    """Run until a signal; one that comes while it starts ends what has been started."""
    standing = asyncio.ensure_future(_until_cancelled(port, nodes))
    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, standing.cancel)
    with suppress(asyncio.CancelledError):
        await standing


async def _until_cancelled(port: int, nodes: int) -> None:
    async with Showroom(REPOSITORY / FOLDER, port=port, shown_as=FOLDER, nodes=nodes) as showroom:
        sys.stdout.write(_welcome(showroom, nodes))
        sys.stdout.flush()
        await asyncio.Event().wait()


def _welcome(showroom: Showroom, nodes: int) -> str:
    lines = ["Telegram, Slack and Discord are emulated on this machine.", f"  Page     {showroom.page.url}"]
    lines.append(f"  Models   {len(showroom.models.dialects)}, each as its provider speaks; /model NAME chooses one")
    if nodes:
        several = f"{nodes} nodes, whose output is" if nodes > 1 else "one node, whose output is"
        lines.append(f"  Parley   {several} in {FOLDER}/node-1.txt{' and so on' if nodes > 1 else ''}")
    else:
        lines.append(f"  Calendar {showroom.adds_calendar}        adds one to sign in to; ask a model for tomorrow")
        lines.append(f"  Parley   {showroom.command}        (in another terminal)")
    home = showroom.home
    if home.fresh:
        lines.append(f"  Settings {FOLDER}/{home.file.name}, written just now; yours to change")
    if home.differing:
        lines.append(
            f"  {FOLDER}/{home.file.name} has other values than these emulators for {', '.join(home.differing)}: "
            "correct them, or delete the file to have it written anew."
        )
    return "\n".join([*lines, "Stop with Ctrl-C.", ""])


if __name__ == "__main__":
    sys.exit(main())
