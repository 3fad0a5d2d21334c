"""Connections that are given up, on each event loop."""

import asyncio
import os
import socket

import pytest

pytestmark = pytest.mark.both_loops


async def test_a_connection_that_is_given_up_closes_no_other_file() -> None:
    loop = asyncio.get_running_loop()
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as given_up:
        given_up.settimeout(0)
        await loop.sock_connect(given_up, server.getsockname())
        connecting = asyncio.create_task(loop.create_connection(asyncio.Protocol, sock=given_up))
        await asyncio.sleep(0)  # it waits for the connection to be made
        connecting.cancel()
        await asyncio.wait([connecting])
        assert connecting.cancelled()
        others = [os.open(os.devnull, os.O_RDONLY) for _ in range(2)]  # one of them takes its number

        given_up.close()

        for other in others:
            os.fstat(other)
            os.close(other)
