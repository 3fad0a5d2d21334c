"""The socket in the home from which `parley link` gets a sign-in link of the running Parley.

Only the user who runs Parley, and root, can connect to it. Each connection gets one line, which is a link.
"""

import asyncio
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import structlog

from channels.terminal.frames import bound, connected, is_ours
from gateway.errors import ParleyError
from gateway.settings.local_node import node_names, with_local_node
from gateway.settings.settings import Settings, load_settings

FILE = "page.sock"
SECONDS = 10.0

log = structlog.get_logger(__name__)


class LinkSocket:
    """Gives a link to each program that connects."""

    def __init__(self, folder: Path, give: Callable[[], str]) -> None:
        self._file = folder / FILE
        self._give = give
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Start to listen. Where no socket can be made there is none, and the log says so."""
        try:
            listener = bound(self._file)
        except OSError as error:
            log.warning("parley link cannot be used", file=str(self._file), reason=error.strerror)
            return
        self._server = await asyncio.start_unix_server(self._answer, sock=listener)

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._file.unlink(missing_ok=True)

    async def _answer(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if is_ours(writer.get_extra_info("socket")):
            writer.write(f"{self._give()}\n".encode())
        else:
            log.warning("another user asked for a link and was refused")
        writer.close()


def run(environ: Mapping[str, str], cwd: Path) -> int:
    """Print a link that signs a browser in. Return the exit code; raise ParleyError."""
    link = asyncio.run(_link(load_settings(environ, cwd)))
    sys.stdout.write(f"{link}\n")
    return 0


async def _link(settings: Settings) -> str:
    folder = (await with_local_node(settings)).local
    try:
        async with asyncio.timeout(SECONDS):
            reader, writer = await connected(folder / FILE)
            line = await reader.readline()
            writer.close()
    except (OSError, TimeoutError) as error:
        names = [name for name in node_names(settings) if name != settings.node]
        others = f" Or give this command on the machine of another node: {', '.join(names)}." if names else ""
        raise ParleyError(
            f"No Parley with a page runs in {folder}. Start it with ./run, which prints a link; if its page is off, "
            f"set PARLEY_WEB=on.{others}"
        ) from error
    return line.decode().strip()
