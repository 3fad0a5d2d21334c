"""Servers on loopback."""

import asyncio
import socket
from contextlib import closing

import pytest

from tests.emulators.openai import OpenAiEmulator


async def test_the_port_of_a_server_that_left_is_closed_and_nobody_else_gets_it() -> None:
    async with OpenAiEmulator([]) as server:
        port = int(server.base_url.split(":")[2].partition("/")[0])
        await server.leave()

        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", port)
        with closing(socket.socket()) as other, pytest.raises(OSError, match="in use"):
            other.bind(("127.0.0.1", port))
