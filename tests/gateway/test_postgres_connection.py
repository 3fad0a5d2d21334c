"""A connection to PostgreSQL that breaks, by a server that speaks as little of its protocol as that takes."""

import socket
import sqlite3
import struct
from concurrent.futures import ThreadPoolExecutor

import pytest

from gateway.store.postgres import PostgresConnection, PostgresError

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
    """Let a client in without a password, and close the connection at its first statement, which is returned."""
    connection, _ = server.accept()
    with connection:
        while len(connection.recv(8192)) == ASKS_FOR_ENCRYPTION:
            connection.sendall(b"N")
        connection.sendall(told(b"R", bytes(4)) + b"".join(told(b"S", each) for each in WRITABLE) + told(b"Z", b"I"))
        return connection.recv(8192)


def told(kind: bytes, content: bytes) -> bytes:
    return kind + struct.pack("!I", len(content) + 4) + content
