"""`./run emulators`: run the showroom until Ctrl-C."""

import argparse
import asyncio
import signal
import sys

from tests.emulators.showroom.showroom import PORT, PortTaken, Showroom
from tests.process import REPOSITORY

FOLDER = ".showroom"
REFUSED = 2


def main() -> int:
    """Run the showroom. Returns 2 with a message if a port is taken."""
    parser = argparse.ArgumentParser(
        prog="./run emulators",
        description="Telegram, Slack and Discord, emulated on this machine, and a page to talk on all three.",
    )
    parser.add_argument(
        "--port",
        type=int,
        default=PORT,
        metavar="N",
        help=f"the page's port, {PORT} unless told otherwise; the platforms take the next three",
    )
    parser.add_argument(
        "--nodes",
        type=int,
        default=0,
        metavar="N",
        help="also run so many Parleys over a PostgreSQL of their own; the page has a button that kills each",
    )
    given = parser.parse_args()
    try:
        asyncio.run(_stand(given.port, given.nodes))
    except PortTaken as error:
        sys.stderr.write(f"emulators: {error}\n")
        return REFUSED
    return 0


async def _stand(port: int, nodes: int) -> None:
    async with Showroom(REPOSITORY / FOLDER, port=port, shown_as=FOLDER, nodes=nodes) as showroom:
        sys.stdout.write(_welcome(showroom, nodes))
        sys.stdout.flush()
        ended = asyncio.Event()
        for each in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(each, ended.set)
        await ended.wait()


def _welcome(showroom: Showroom, nodes: int) -> str:
    lines = ["Telegram, Slack and Discord are emulated on this machine.", f"  Page     {showroom.page.url}"]
    if nodes:
        lines.append(f"  Parley   {nodes} nodes, whose output is in {FOLDER}/node-1.txt and so on")
    else:
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
