"""The doctor behind a real PgBouncer that keeps sessions, or gives each transaction another one."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

from gateway.upkeep.doctor.database import look_at_database
from tests.gateway.cluster.test_nodes_shown import seen
from tests.postgres import UrlOf
from tests.process import until

POOLER = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
pytestmark = pytest.mark.skipif(POOLER is None, reason="needs pgbouncer (Debian: apt install pgbouncer)")
CONFIGURED = """
[databases]
* = host={host} port={server} user={login}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
"""
KEPT = "the way to the database keeps sessions, locks and news"


@contextmanager
def pooled(url: str, folder: Path, port: int, mode: str) -> Iterator[str]:
    """Run a pooler before a server; yields the address through it."""
    parts = urlsplit(url)
    host = parse_qs(parts.query).get("host", [parts.hostname or ""])[0]
    user = parts.username or "postgres"
    login = f"{user} password={parts.password}" if parts.password else user
    file = folder / "pgbouncer.ini"
    file.write_text(CONFIGURED.format(host=host, server=parts.port or 5432, login=login, port=port, mode=mode))
    command = [str(POOLER), "-q", str(file)]
    if os.geteuid() == 0:  # it refuses to run as root
        command[1:1] = ["-u", Path(host).owner() if Path(host).is_dir() else "nobody"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as pooler:  # noqa: S603 - a program of the machine
        try:
            yield f"postgresql://{user}@127.0.0.1:{port}{parts.path}"
        finally:
            pooler.kill()


def answers(url: str) -> bool:
    with suppress(psycopg.Error), psycopg.connect(url):
        return True
    return False


@pytest.mark.parametrize(("mode", "is_kept"), [("session", True), ("transaction", False)])
async def test_a_pooler_that_keeps_no_sessions_is_a_problem(
    tmp_path: Path, url_of: UrlOf, unused_tcp_port: int, mode: str, *, is_kept: bool
) -> None:
    url = url_of(tmp_path)
    with pooled(url, tmp_path, unused_tcp_port, mode) as way:
        await until(lambda: answers(way))
        found = list(look_at_database(way, tmp_path))

    assert (KEPT in seen(found, "ok")) is is_kept
    problems = [each for each in found if each.mark == "problem"]
    assert [each.what for each in problems] == [
        "the way to the database does not keep sessions: a lock is lost between two statements"
    ] * (not is_kept)
    assert all("through a pooler in session mode" in each.fix for each in problems)
