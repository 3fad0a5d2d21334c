"""/forget on PostgreSQL: others' messages go on, and the next night the files hold nothing of what was erased."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from gateway.store import rewrites
from gateway.upkeep import upkeep
from tests.gateway.bot import Bot
from tests.gateway.cluster.nodes import Nodes
from tests.postgres import rows

WORD = "zebrafinch"
_HOLDING = (
    "SELECT relname FROM pg_class WHERE relkind IN ('r', 't', 'i')"
    " AND position(%s::bytea IN pg_read_binary_file(pg_relation_filepath(oid))) > 0 ORDER BY 1"
)

MANY = (
    "INSERT INTO inbox (event_id, chat, payload, at, state)"
    " SELECT n, 'memory:here', '', 0, 'done' FROM generate_series(1, 20000) AS n"
)
"""Messages that take longer than a millisecond to copy."""


def in_files(url: str, word: str = WORD) -> list[str]:
    """Return the tables and indexes whose files on the server hold a word."""
    rows(url, "CHECKPOINT")
    return [str(name) for (name,) in rows(url, _HOLDING, word.encode())]


@contextmanager
def reading(url: str, query: str) -> Iterator[None]:
    """Keep a transaction open that has read something, as pg_dump does."""
    with psycopg.connect(url) as connection:
        connection.execute("SET idle_in_transaction_session_timeout = 0")
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        connection.execute(query.encode())
        yield


async def talked(nodes: Nodes) -> Bot:
    """Bob has said the word in his chat and in a group, on a node beside another one."""
    bot = await nodes.start(f"I noted {WORD}.", "Nice.", "Hello Carl.", "Hello again.", nightly=True)
    await bot.hears(f"my bird is a {WORD}", sender="bob")
    await bot.hears(f"it is a {WORD}", sender="bob", group="birds")
    return bot


async def erases(bot: Bot) -> str:
    await bot.hears("/forget me", sender="bob")
    await bot.channel.presses("Erase for good", sender="bob")
    await bot.app.settled()
    return bot.screen[-1]


async def test_others_go_on_while_a_person_is_erased_and_at_night_the_bytes_go(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = await talked(nodes)
    erasures = bot.made.base.store.erasures
    with reading(nodes.url, "SELECT 1 FROM transcript"):  # VACUUM FULL would wait for it, and all others for that
        assert (await erases(bot)).startswith("Erased. Messages: 2; direct chats: 1")
        await bot.hears("carl was here", sender="carl")
        assert bot.screen[-1] == "Hello Carl."
        assert "transcript" in await erasures.rewrite()
        await bot.hears("and here", sender="carl")
        assert bot.screen[-1] == "Hello again."
    assert in_files(nodes.url) != []
    with reading(nodes.url, "SELECT 1"):
        await erases(bot)
        assert "inbox" in await erasures.rewrite(), "somebody could still see what was erased, so it was copied"
    rows(nodes.url, "VACUUM")  # as PostgreSQL does at times: it leaves the words of the index
    monkeypatch.setattr(rewrites, "REWRITE_WITHIN", "1ms")
    rows(nodes.url, MANY)
    assert "inbox" in await erasures.rewrite(), "a table that is too large stays"
    monkeypatch.undo()
    monkeypatch.setattr(upkeep, "LOOK_EVERY", 0.5)

    await bot.made.serving.upkeep.look()

    assert in_files(nodes.url) == []
    assert await erasures.rewrite() == []
    assert in_files(nodes.url, "carl was here") != []
    search, bob, carl = bot.made.base.store.search, bot.channel.chat("bob"), bot.channel.chat("carl")
    assert (await search.find([bob], WORD, 1)).found == []
    assert "carl was here" in [each.text for each in (await search.find([carl], "here", 5)).found]


async def test_a_night_tries_more_than_once_and_says_what_is_left(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bot = await talked(nodes)
    await erases(bot)
    monkeypatch.setattr(upkeep, "LOOK_EVERY", 0.01)

    with reading(nodes.url, "SELECT 1 FROM transcript"):
        await bot.made.serving.upkeep.look()

    said = capsys.readouterr().out
    assert said.count('VACUUM (FULL) "transcript"') == upkeep.TRIES
    assert "files of the database still hold what was erased" in said
