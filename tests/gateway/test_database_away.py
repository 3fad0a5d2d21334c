"""A start while the PostgreSQL server is starting, restarting or away, and one with settings that no waiting mends."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.pq import PGconn

from gateway.cli import main
from gateway.store import postgres_opening
from gateway.store.postgres_opening import DatabaseAway, DatabaseUnusable
from gateway.store.server import PostgresServer
from tests.gateway.cluster.test_nodes_shown import use_home
from tests.postgres import UrlOf, rows
from tests.process import until
from tests.tunnel import Tunnel

WAITS = "Parley waits up to a minute for its database"
NOBODY = "postgresql://ann:sesame@127.0.0.1:1/parley"


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_opening, "TRY_AGAIN_EVERY", 0.02)


@pytest.fixture
def timid(postgres_server: str) -> Iterator[None]:
    """A user who may create nothing."""
    rows(postgres_server, "CREATE ROLE parley_timid LOGIN")
    yield
    rows(postgres_server, "DROP ROLE parley_timid")


async def test_a_start_waits_for_the_server_and_says_so_once(
    tmp_path: Path,
    url_of: UrlOf,
    unused_tcp_port: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url, tries = url_of(tmp_path), list[bytes]()

    class Counted:
        @staticmethod
        def ping(conninfo: bytes) -> int:
            tries.append(conninfo)
            return PGconn.ping(conninfo)

    monkeypatch.setattr(postgres_opening, "PGconn", Counted)
    way = urlsplit(url)._replace(netloc=f"{urlsplit(url).username}@127.0.0.1:{unused_tcp_port}", query="").geturl()
    waiting = asyncio.create_task(PostgresServer(way).wait_available())
    await until(lambda: len(tries) > 3)
    async with Tunnel.to(url, unused_tcp_port):
        await asyncio.wait_for(waiting, 30)

    told = capsys.readouterr().out
    assert told.count(WAITS) == 1
    assert "See that PostgreSQL runs there, and PARLEY_DATABASE_URL." in told


STARTING_UP = """
import socket, struct
with socket.create_server(("127.0.0.1", 0)) as server:
    print(server.getsockname()[1], flush=True)
    while True:
        with server.accept()[0] as client:
            client.recv(10_000)
            text = b"SFATAL\\0VFATAL\\0C57P03\\0Mthe database system is starting up\\0\\0"
            client.sendall(b"E" + struct.pack("!i", len(text) + 4) + text)
"""
"""A program that answers as PostgreSQL does while it recovers; it prints its port."""


@contextmanager
def starting_up() -> Iterator[str]:
    """Run a server that only starts; yields the address."""
    command = [sys.executable, "-c", STARTING_UP]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603 - our own
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        yield f"postgresql://ann:sesame@127.0.0.1:{port}/parley?sslmode=disable&gssencmode=disable"
        server.kill()


async def test_a_server_that_starts_for_too_long_ends_the_start_in_a_way_that_lets_it_be_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(postgres_opening, "STARTS_WITHIN", 0.1)
    refused = pytest.raises(DatabaseAway, match=r"starting up.*See that PostgreSQL runs there")
    with starting_up() as url, refused as away:
        await asyncio.wait_for(PostgresServer(url).wait_available(), 30)

    assert away.value.exit_code == 75
    assert "sesame" not in away.value.sentence


async def test_a_start_waits_while_the_address_leads_to_a_standby(tmp_path: Path, url_of: UrlOf) -> None:
    url = url_of(tmp_path)
    name = urlsplit(url).path[1:]
    rows(url, f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    waiting = asyncio.create_task(PostgresServer(url).wait_available())
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.shield(waiting), 0.3)
    with closing(psycopg.connect(url, autocommit=True)) as raw:
        raw.execute("SET default_transaction_read_only = off")
        raw.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only".encode())

    await asyncio.wait_for(waiting, 30)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"user": "parley_nobody"}, "parley_nobody"),
        ({"dbname": "parley_nothing"}, "does not exist"),
        ({"user": "parley_timid"}, "permission denied"),
        ({"sslmode": "sometimes"}, "invalid sslmode value"),
    ],
    ids=["user", "database", "rights", "option"],
)
@pytest.mark.usefixtures("timid")
async def test_a_start_does_not_wait_for_what_only_a_person_can_mend(
    tmp_path: Path, url_of: UrlOf, wrong: dict[str, str], reason: str
) -> None:
    server = PostgresServer(make_conninfo(url_of(tmp_path), **wrong))
    await asyncio.wait_for(server.wait_available(), 20)

    with pytest.raises(DatabaseUnusable, match=reason) as refused:
        await server.migrate()
    assert refused.value.exit_code == 2


async def test_a_server_that_goes_away_during_a_start_ends_it_in_a_way_that_lets_it_be_tried_again() -> None:
    with pytest.raises(DatabaseAway, match="Connection refused") as away:
        await PostgresServer(NOBODY).migrate()

    assert away.value.exit_code == 75


@pytest.mark.parametrize("command", ["nodes"])
def test_commands_that_look_at_the_database_do_not_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    use_home(monkeypatch, tmp_path)
    tells_at_once(command, monkeypatch, capsys)


def tells_at_once(command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Give a command of the program while the database is away, and look that it says so without waiting."""
    monkeypatch.setenv("PARLEY_DATABASE_URL", NOBODY)

    assert main([command]) == 2
    told = capsys.readouterr()
    assert "Connection refused" in told.err
    assert WAITS not in told.out
