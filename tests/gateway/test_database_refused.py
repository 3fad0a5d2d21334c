"""An address with a mistake that only a person can mend: each command says at once which, without the password."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from psycopg.conninfo import conninfo_to_dict

from gateway.cli import main
from gateway.store.postgres_opening import STARTS_WITHIN, DatabaseUnusable
from gateway.store.server import PostgresServer
from tests.gateway.cluster.test_nodes_shown import use_home
from tests.logs import restored_logs
from tests.postgres import GIVEN, GUARDED, UrlOf, rows
from tests.process import REPOSITORY, python

PASSWORD = "close-sesame"  # noqa: S105 - a wrong one
REFUSED = f'password authentication failed for user "{GUARDED}"'
ADDRESS = "PARLEY_DATABASE_URL"


@pytest.fixture
def wrong(postgres_server: str, tmp_path: Path, url_of: UrlOf) -> Iterator[str]:
    """The address of a database with a wrong password."""
    if os.environ.get(GIVEN):
        pytest.skip(f"the server of {GIVEN} asks for passwords as it likes")
    rows(postgres_server, f"CREATE ROLE {GUARDED} LOGIN PASSWORD 'open-sesame'")
    parts = urlsplit(url_of(tmp_path))
    yield parts._replace(netloc=f"{GUARDED}:{PASSWORD}@").geturl()
    rows(postgres_server, f"DROP ROLE {GUARDED}")


async def test_a_start_with_a_wrong_password_ends_at_once_with_a_sentence_that_has_cause_and_fix(
    tmp_path: Path, wrong: str
) -> None:
    began = time.monotonic()
    starts = [
        python("-m", "gateway.cli", command, environ={"PARLEY_HOME": str(tmp_path / command), ADDRESS: wrong})
        for command in ("run", "chat")
    ]

    ended = await asyncio.gather(*starts)

    assert time.monotonic() - began < STARTS_WITHIN / 2
    for done in ended:
        assert done.code == 2
        assert "Parley waits" not in done.out
        [sentence] = done.err.splitlines()
        assert REFUSED in sentence
        assert sentence.endswith("that PARLEY_DATABASE_URL has the right user, password and database.")
        assert PASSWORD not in done.out + done.err


@pytest.mark.parametrize(
    ("command", "code"),
    [("nodes", 2), ("doctor", 1)],
)
def test_each_command_tells_of_a_wrong_password_in_one_line_without_it(
    tmp_path: Path,
    wrong: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    command: str,
    code: int,
) -> None:
    use_home(monkeypatch, tmp_path)
    monkeypatch.setenv(ADDRESS, wrong)
    tells_in_one_line(command, code, capfd)


def tells_in_one_line(command: str, code: int, capfd: pytest.CaptureFixture[str]) -> None:
    """Give a command of the program, and look that it tells of the wrong password."""
    with restored_logs():
        assert main([command]) == code
    told = capfd.readouterr()
    [line] = [each for each in (told.out + told.err).splitlines() if REFUSED in each]
    assert ADDRESS in line.partition(REFUSED)[2]
    assert PASSWORD not in told.out + told.err
    assert "Traceback" not in told.err


def test_a_move_and_the_check_of_the_way_tell_of_a_wrong_password_too(wrong: str) -> None:
    server = PostgresServer(wrong)

    with pytest.raises(DatabaseUnusable) as moving, server.alone():
        pass
    with pytest.raises(DatabaseUnusable) as checking:
        server.pooler_problem()

    for refused in (moving, checking):
        assert REFUSED in refused.value.sentence
        assert "\n" not in refused.value.sentence
        assert PASSWORD not in refused.value.sentence


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ann:p@sesame@host/parley",
        "postgresql://ann:p/sesame@host/parley",
        "postgresql://ann:1/sesame@host/parley",
        "postgresql://ann:p@x/sesame@host/parley",
        "postgresql://ann@cloud:sesame@host/parley",
        "postgresql://ann:p@x:sesame@host/parley",
        "postgresql://ann:sesame@host:54321x/parley",
        "postgresql://ann:sesame@host:99999/parley",
    ],
)
async def test_a_sign_in_a_password_that_splits_the_address_otherwise_is_told_without_the_password(
    address: str,
) -> None:
    assert conninfo_to_dict(address), "libpq takes it for an address"

    for trial in (PostgresServer(address).wait_available, PostgresServer(address).migrate):
        with pytest.raises(DatabaseUnusable, match=r"cannot be read.*@ is written as %40") as refused:
            await trial()
        assert "sesame" not in refused.value.sentence
        assert refused.value.exit_code == 2


FORWARD = """
import asyncio, sys
from tests.tunnel import Tunnel

async def main():
    async with Tunnel.to(sys.argv[1]) as tunnel:
        print(tunnel.url, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""
"""A program that makes a server reachable by TCP, as tests start one on a socket in a folder."""


@contextmanager
def by_tcp(url: str) -> Iterator[str]:
    command = [sys.executable, "-P", "-c", FORWARD, url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY) as forward:  # noqa: S603 - our own
        assert forward.stdout is not None
        yield forward.stdout.readline().strip()
        forward.kill()


async def test_a_server_whose_certificate_or_lack_of_one_is_refused_is_not_waited_for(
    tmp_path: Path, url_of: UrlOf
) -> None:
    with by_tcp(url_of(tmp_path)) as url:
        server = PostgresServer(f"{url}?sslmode=verify-full")
        await asyncio.wait_for(server.wait_available(), STARTS_WITHIN / 2)

        with pytest.raises(DatabaseUnusable, match="does not support SSL, but SSL was required") as refused:
            await server.migrate()
        assert refused.value.exit_code == 2
