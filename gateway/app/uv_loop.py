"""The event loop of uvloop, mended. Needs uvloop, an extra."""

import asyncio
import socket
from collections.abc import Callable

import uvloop


class UvLoop(uvloop.Loop):
    """uvloop's loop, in which a connection that is given up closes no file but its own."""

    async def create_connection(  # type: ignore[override]  # its overloads tell host and port from a socket
        self,
        protocol_factory: Callable[[], asyncio.BaseProtocol],
        host: str | None = None,
        port: int | None = None,
        *,
        sock: socket.socket | None = None,
        **how: object,
    ) -> tuple[asyncio.Transport, asyncio.BaseProtocol]:
        """Connect, as any loop does.

        A call that is cancelled has closed the socket's file, but the socket does not know. It would close that number
        again when it is freed: by then the file of another connection, which hangs for good, and whose number no new
        connection can use ("File exists"). See https://github.com/MagicStack/uvloop/issues/738.
        """
        try:
            return await super().create_connection(protocol_factory, host, port, sock=sock, **how)  # type: ignore[call-overload, no-any-return]
        except asyncio.CancelledError:
            if sock is not None:
                sock.detach()
            raise
