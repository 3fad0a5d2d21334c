"""A database that is full, slow, or moves to another address, with several nodes on it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent_core.models.scripted import Waits
from channels.base import NotTakenIn
from gateway.store.on_server import Server
from tests.gateway.cluster.nodes import Nodes
from tests.postgres import UrlOf, rows
from tests.process import until

ALIVE = "SELECT count(*) FROM nodes WHERE NOT fenced"
MAY_BE_FULL = """
CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF EXISTS (SELECT FROM is_full) THEN
    RAISE EXCEPTION 'could not extend file "base/1/2": No space left on device'
      USING ERRCODE = 'disk_full', HINT = 'Check free disk space.';
  END IF;
  RETURN NULL;
END $$;
DO $$ DECLARE each text; BEGIN
  FOR each IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
    EXECUTE format('CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON %I EXECUTE FUNCTION full_disk()', each);
  END LOOP;
END $$;
CREATE TABLE is_full (yes BOOLEAN);
"""


@pytest.fixture
async def nodes(tmp_path: Path, url_of: UrlOf) -> AsyncIterator[Nodes]:
    found = Nodes(tmp_path, url_of(tmp_path))
    async with found.life:
        yield found


@contextmanager
def full_disk(url: str) -> Iterator[None]:
    """Let the database refuse whatever needs room meanwhile."""
    rows(url, "INSERT INTO is_full VALUES (TRUE)")
    yield
    rows(url, "DELETE FROM is_full")


async def test_a_full_database_takes_no_messages_says_what_to_do_and_goes_on_when_there_is_room(
    nodes: Nodes, capsys: pytest.CaptureFixture[str]
) -> None:
    await Server(nodes.url).migrate()
    rows(nodes.url, MAY_BE_FULL)
    writing = asyncio.Event()
    one, other = await nodes.start(Waits(writing, "Hello."), "And you."), await nodes.start()
    await one.channel.hears("hello")
    await until(lambda: len(one.llm.requests) == 1)

    with full_disk(nodes.url):
        with pytest.raises(NotTakenIn):
            await other.channel.hears("is anybody there?", sender="bob")
        unready = await other.made.vitals.unready()
        assert "make room on the disk of the PostgreSQL server" in unready["store"]
        assert "make room on the disk of the PostgreSQL server" in capsys.readouterr().out
        writing.set()
        with pytest.raises(NotTakenIn):
            await one.channel.hears("are you?")
    await until(lambda: nodes.platform.screen == ["Hello."])
    await other.channel.hears("and now?")
    await nodes.settled()

    assert nodes.sent() == ["Hello.", "And you."]
    assert "store" not in await other.made.vitals.unready()
    assert rows(nodes.url, ALIVE) == [(2,)]
