"""Connections to PostgreSQL that break as they begin, or that nobody waits for any more."""

import asyncio
import socket
import sqlite3
import struct
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from gateway.store.postgres import PostgresConnection, PostgresError, PostgresWriter
from tests.postgres import UrlOf, rows
from tests.process import until

ASKS_FOR_ENCRYPTION = 8
"""Bytes of such a request."""
WRITABLE = (b"default_transaction_read_only\0off\0", b"in_hot_standby\0off\0")


def test_a_connection_that_is_lost_as_it_begins_may_be_made_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as thread:
        asked = thread.submit(greet_and_hang_up, server)
        with pytest.raises(PostgresError) as failed:
            PostgresConnection(f"postgresql://ann@127.0.0.1:{server.getsockname()[1]}/parley").execute("SELECT 1")

    assert b"SET" in asked.result()
    assert failed.value.sqlite_errorcode == sqlite3.SQLITE_BUSY


def greet_and_hang_up(server: socket.socket) -> bytes:
    """Let a client in without a password, and close the connection at its first statement, which is returned.

    It speaks as little of the protocol as that takes.
    """
    connection, _ = server.accept()
    with connection:
        while len(connection.recv(8192)) == ASKS_FOR_ENCRYPTION:
            connection.sendall(b"N")
        connection.sendall(told(b"R", bytes(4)) + b"".join(told(b"S", each) for each in WRITABLE) + told(b"Z", b"I"))
        return connection.recv(8192)


def told(kind: bytes, content: bytes) -> bytes:
    return kind + struct.pack("!I", len(content) + 4) + content


async def test_a_connection_is_closed_although_the_wait_for_its_end_is_cut_off(
    tmp_path: Path, url_of: UrlOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, closed, close = url_of(tmp_path), list[PostgresConnection](), PostgresConnection.close
    waits = "SELECT pg_advisory_lock(71)"
    works = f"SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query = '{waits}'"  # noqa: S608

    def noted(connection: PostgresConnection) -> None:
        close(connection)
        closed.append(connection)

    async def work() -> None:
        async with PostgresWriter.open(url) as database:
            await database.run(lambda connection: connection.execute(waits))

    monkeypatch.setattr(PostgresConnection, "close", noted)
    with closing(psycopg.connect(url, autocommit=True)) as other:
        other.execute(waits)
        working = asyncio.create_task(work())
        await until(lambda: rows(url, works))
        for _ in range(2):
            working.cancel()
            await asyncio.sleep(0)
        await asyncio.wait([working])

    await until(lambda: closed)
