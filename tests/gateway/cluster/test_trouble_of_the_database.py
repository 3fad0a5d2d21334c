"""A database that is full, slow, or moves to another address, with several nodes on it."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from structlog.testing import capture_logs

from agent_core.clock import SystemClock, new_id
from agent_core.messages import text_of
from agent_core.models.scripted import Waits
from channels.base import NotTakenIn
from gateway.store.nodes import Nodes as NodeRows
from gateway.store.rule import Once
from gateway.store.store import Store
from tests.gateway.bot import Bot
from tests.gateway.cluster.nodes import Nodes
from tests.gateway.jobs.kit import a_job
from tests.gateway.test_store import message
from tests.postgres import UrlOf, rows
from tests.process import until
from tests.tunnel import Tunnel

ALIVE = "SELECT count(*) FROM nodes WHERE NOT fenced"
BEATEN = "SELECT count(*), bool_and(beat > clock_timestamp() - interval '5 seconds') FROM nodes"
IN_TROUBLE = """
CREATE TABLE trouble (name TEXT);
CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF EXISTS (SELECT FROM trouble WHERE name = 'full') THEN
    RAISE EXCEPTION 'could not extend file "base/1/2": No space left on device'
      USING ERRCODE = 'disk_full', HINT = 'Check free disk space.';
  END IF;
  RETURN NULL;
END $$;
CREATE FUNCTION slow_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF current_setting('trouble.slow', TRUE) IS DISTINCT FROM 'once' AND EXISTS (SELECT FROM trouble WHERE name = 'slow')
  THEN
    PERFORM set_config('trouble.slow', 'once', TRUE), pg_sleep(0.3);
  END IF;
  RETURN NULL;
END $$;
DO $$ DECLARE each text; BEGIN
  FOR each IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'trouble' LOOP
    EXECUTE format('CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON %I EXECUTE FUNCTION full_disk()', each);
    EXECUTE format('CREATE CONSTRAINT TRIGGER slow_commit AFTER INSERT OR UPDATE OR DELETE ON %I'
      ' DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow_commit()', each);
  END LOOP;
END $$;
"""
"""Tables that take nothing while they are full, and of which each commit takes 300 ms while they are slow."""


@pytest.fixture
async def nodes(tmp_path: Path, url_of: UrlOf) -> AsyncIterator[Nodes]:
    found = Nodes(tmp_path, url_of(tmp_path))
    rows(found.url, IN_TROUBLE)
    async with found.life:
        yield found


@contextmanager
def trouble(url: str, name: str) -> Iterator[None]:
    """Let the database be full, or slow, meanwhile."""
    rows(url, f"INSERT INTO trouble VALUES ('{name}')")  # noqa: S608
    yield
    rows(url, "DELETE FROM trouble")


def texts(bot: Bot) -> list[str]:
    """Return what a node's model was told, of all chats."""
    last = {str(request.messages[0].content): request for request in bot.llm.requests}
    return [text_of(each.content) for request in last.values() for each in request.messages if each.role == "user"]


async def test_a_full_database_takes_no_messages_says_what_to_do_and_goes_on_when_there_is_room(
    nodes: Nodes,
) -> None:
    writing = asyncio.Event()
    one = await nodes.start(Waits(writing, "Hello."), "And you.")
    await one.channel.hears("hello")
    await until(lambda: len(one.llm.requests) == 1)
    other = await nodes.start()  # not before: a node that starts may take the chat

    with trouble(nodes.url, "full"):
        with capture_logs() as logs, pytest.raises(NotTakenIn):
            await other.channel.hears("is anybody there?", sender="bob")
        unready = await other.made.serving.readiness.unready()
        assert "make room on the disk of the PostgreSQL server" in unready["store"]
        assert any("make room on the disk of the PostgreSQL server" in str(each) for each in logs)
        writing.set()
        with pytest.raises(NotTakenIn):
            await one.channel.hears("are you?")
    await until(lambda: nodes.platform.screen == ["Hello."])
    await other.channel.hears("and now?")
    await nodes.settled()

    assert nodes.platform.screen == ["Hello.", "And you."]
    assert "store" not in await other.made.serving.readiness.unready()
    assert rows(nodes.url, ALIVE) == [(2,)]


async def test_a_node_listens_again_after_a_guide_of_another_one_that_ended_while_the_database_was_full(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    noting, note = asyncio.Event(), NodeRows.note_settings

    async def noted(table: NodeRows, node: str, settings: str) -> None:
        noting.set()
        await note(table, node, settings)

    monkeypatch.setattr(NodeRows, "note_settings", noted)
    bot = await nodes.start("Hello.", "I am still here.")
    await bot.hears("hello")
    with trouble(nodes.url, "full"):
        await bot.made.serving.connections.follow("memory")
        await noting.wait()
        with pytest.raises(NotTakenIn):  # and what was to be written before
            await bot.made.base.store.inbox.accept(message(1))

    async with asyncio.timeout(30):
        await bot.hears("and now?")
    assert nodes.platform.screen == ["Hello.", "I am still here."]


async def test_where_each_commit_takes_long_no_node_is_taken_for_dead_and_each_message_is_answered_once(
    nodes: Nodes,
) -> None:
    one = await nodes.start("1", "2", "3", "4")
    other = await nodes.start("5", "6", "7", "8")
    with trouble(nodes.url, "slow"):
        hearing = [
            bot.channel.hears(f"{sender} {number}", sender=sender)
            for number in range(2)
            for bot, sender in ((one, "ann"), (other, "bob"))
        ]
        await asyncio.gather(
            *hearing, one.channel.hears("hello", sender="carl"), other.channel.hears("?", sender="carl")
        )
        await nodes.settled()

    said = [each for bot in nodes.bots for each in texts(bot)]
    assert sorted(said) == ["?", "ann 0", "ann 1", "bob 0", "bob 1", "hello"]
    assert len(nodes.sent()) == len(set(nodes.sent())) == len(nodes.platform.screen)
    assert rows(nodes.url, ALIVE) == [(2,)]
    assert rows(nodes.url, "SELECT count(*) FROM outbox WHERE state <> 'sent'") == [(0,)]


async def test_all_goes_on_when_the_database_moves_to_another_address(nodes: Nodes) -> None:
    writing = asyncio.Event()
    async with Tunnel.to(nodes.url) as first, Tunnel.to(nodes.url) as second:
        second.cut()
        hosts = f"{urlsplit(first.url).netloc},{urlsplit(second.url).netloc.rpartition('@')[2]}"
        url = urlsplit(first.url)._replace(netloc=hosts).geturl()
        one = await nodes.start(Waits(writing, "Hello."), "Here I am.", url=url)
        await one.channel.hears("hello")
        await until(lambda: len(one.llm.requests) == 1)
        other = await nodes.start(url=url)  # not before: a node that starts may take the chat

        first.cut()
        second.mend()
        writing.set()
        await until(lambda: nodes.platform.screen == ["Hello."])
        await other.channel.hears("and now?")
        await nodes.settled()

        assert nodes.platform.screen == ["Hello.", "Here I am."]  # on a slow machine the first was its run's progress
        assert rows(nodes.url, ALIVE) == [(2,)]
        for bot in nodes.bots:
            await bot.stop()


async def test_an_outage_of_half_a_minute_takes_no_node_and_what_was_due_meanwhile_comes_once(nodes: Nodes) -> None:
    writing = asyncio.Event()
    async with Tunnel.to(nodes.url) as tunnel:
        one = await nodes.start(Waits(writing, "Hello."), "Here I am.", url=tunnel.url, look_every=0.05)
        other = await nodes.start(url=tunnel.url, look_every=0.05)
        await one.channel.hears("hello")
        await until(lambda: len(one.llm.requests) == 1)

        tunnel.cut()
        rows(nodes.url, "UPDATE nodes SET beat = beat - interval '35 seconds'")
        job = a_job("tea", Once(at=time.time()), name="tea", created="2026-01-01 00:00")
        async with Store.open(nodes.home, SystemClock(), new_id, url=nodes.url) as store:
            assert await store.jobs.add(replace(job, next_at=time.time()))
        writing.set()
        with pytest.raises(NotTakenIn):
            await other.channel.hears("is anybody there?")
        tunnel.mend()
        await until(lambda: rows(nodes.url, BEATEN) == [(2, True)])
        await until(lambda: sorted(nodes.platform.screen) == ["Hello.", "⏰ tea"])
        await other.channel.hears("and now?")
        await nodes.settled()

        assert sorted(nodes.sent()) == ["Hello.", "Here I am.", "⏰ tea"]
        assert rows(nodes.url, ALIVE) == [(2,)]
        assert rows(nodes.url, "SELECT count(*) FROM firings") == [(1,)]
        for bot in nodes.bots:
            await bot.stop()
