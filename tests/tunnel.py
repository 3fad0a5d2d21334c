"""A tunnel to a PostgreSQL server that a test can cut, at any point of a commit too."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import Enum, auto
from pathlib import Path
from typing import Self
from urllib.parse import parse_qs, urlsplit

from tests.process import until

PORT = 5432


class Loss(Enum):
    """What of the next COMMIT is lost, and the connection with it."""

    REQUEST = auto()
    ANSWER = auto()


class Tunnel:
    """Forwards connections from a port on this machine to a server."""

    def __init__(self, url: str) -> None:
        self._target = urlsplit(url)
        self._links: set[asyncio.StreamWriter] = set()
        self._flows = [_flowing()]
        """Of the links made before each stall and after the last one: set while what is sent by them arrives."""
        self._server: asyncio.Server
        self._is_cut = False
        self.lose: Loss | None = None
        self.losses = 0
        """COMMITs of which something was lost."""
        self.url: str
        """The address of the database through the tunnel."""

    @classmethod
    @asynccontextmanager
    async def to(cls, url: str, port: int = 0) -> AsyncIterator[Self]:
        """Open a tunnel from a port, or from any that is free."""
        tunnel = cls(url)
        tunnel._server = await asyncio.start_server(tunnel._link, "127.0.0.1", port)
        port = tunnel._server.sockets[0].getsockname()[1]
        user = tunnel._target.username or "postgres"
        tunnel.url = f"postgresql://{user}@127.0.0.1:{port}{tunnel._target.path}"
        try:
            yield tunnel
        finally:
            tunnel._server.close()
            tunnel.cut()
            await until(lambda: not tunnel._links)

    def cut(self) -> None:
        """Break all connections, and refuse others until it is mended."""
        self._is_cut = True
        self._break()

    def mend(self) -> None:
        self._is_cut = False

    def stall(self) -> None:
        """Let nothing pass on the connections that stand, as if what they lead to was gone behind a proxy."""
        self._flows[-1].clear()
        self._flows.append(_flowing())

    def _break(self) -> None:
        for writer in self._links:
            writer.transport.abort()
        for flows in self._flows:
            flows.set()

    async def _link(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            writer.transport.abort()
            return
        there, back = await self._connect()
        if self._is_cut:  # meanwhile
            for each in (writer, back):
                each.transport.abort()
            return
        self._links |= {writer, back}
        pumps = self._requests(reader, back, self._flows[-1]), self._answers(there, writer, self._flows[-1])
        await asyncio.gather(*pumps, return_exceptions=True)
        for each in (writer, back):
            each.transport.abort()
            self._links.discard(each)

    async def _requests(self, reader: asyncio.StreamReader, back: asyncio.StreamWriter, flows: asyncio.Event) -> None:
        while data := await reader.read(65_536):
            await flows.wait()
            if b"COMMIT" in data and self.lose is Loss.REQUEST:
                self.lose = None
                self.losses += 1
                self.cut()
                return
            back.write(data)
            if b"COMMIT" in data and self.lose is Loss.ANSWER:
                self._is_cut = True  # the answer breaks the connections
        back.close()

    async def _answers(self, there: asyncio.StreamReader, writer: asyncio.StreamWriter, flows: asyncio.Event) -> None:
        while data := await there.read(65_536):
            await flows.wait()
            if self._is_cut and self.lose is Loss.ANSWER:
                self.lose = None
                self.losses += 1
                self.cut()
                return
            writer.write(data)
        writer.close()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        folder = parse_qs(self._target.query).get("host")
        if folder:
            return await asyncio.open_unix_connection(str(Path(folder[0]) / f".s.PGSQL.{self._target.port or PORT}"))
        return await asyncio.open_connection(self._target.hostname, self._target.port or PORT)


def _flowing() -> asyncio.Event:
    flows = asyncio.Event()
    flows.set()
    return flows
