"""Idle connections take up neither the owner's connections nor the disk."""

import asyncio
import socket
from pathlib import Path

import pytest

from channels.web.adapter import CHAT
from gateway.security.log_throttle import LogThrottle
from gateway.web.server import MOST_STRANGERS
from tests.page_server import Page, history, tab, text
from tests.process import until

pytestmark = pytest.mark.both_loops

FLOOD = 1_100
HALF = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"


async def half_open(page: Page, count: int) -> list[socket.socket]:
    """Open so many connections, each with a partial request and no key."""
    loop, opened = asyncio.get_running_loop(), []
    for _ in range(count):
        one = socket.socket()
        one.settimeout(0)
        await loop.sock_connect(one, ("127.0.0.1", page.server.port))
        await loop.sock_sendall(one, HALF)
        opened.append(one)
    return opened


def is_cut(one: socket.socket) -> bool:
    try:
        return one.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


async def test_the_owner_is_served_while_others_hold_more_connections_than_there_may_be(tmp_path: Path) -> None:
    page = Page(tmp_path, idle_seconds=300.0)
    async with page.open(), page.browser() as client, tab(client, (await history(client))["last"]) as stream:
        flood = await half_open(page, FLOOD)
        try:
            await until(lambda: sum(map(is_cut, flood)) == FLOOD - MOST_STRANGERS)
            assert not is_cut(flood[-1])
            async with page.browser() as another:  # a new connection
                assert (await history(another))["messages"] == []
            await page.channel.send(CHAT, text("still here"), "1")
            await stream.until(lambda screen: len(screen.html) == 1)  # and a connection opened before the flood
        finally:
            for one in flood:
                one.close()


async def test_a_connection_without_a_whole_request_is_closed_in_time(tmp_path: Path) -> None:
    page = Page(tmp_path, idle_seconds=0.1)
    async with page.open():
        (one,) = await half_open(page, 1)
        await until(lambda: is_cut(one))
        one.close()


def test_a_sentence_is_due_again_after_a_while() -> None:
    now = [0.0]
    seldom = LogThrottle(every=60, now=lambda: now[0])

    assert [seldom.is_due(), seldom.is_due()] == [True, False]
    now[0] = 61
    assert seldom.is_due()
