"""A code that is handled again after a crash is no further try, and its answer is right. Codes are stored nowhere."""

import sqlite3
from contextlib import closing
from pathlib import Path

from gateway.permissions.roles import People, Role
from gateway.security.masking import MASK
from gateway.store.opening import FILE
from gateway.store.pairing import MOST_OF_SENDER
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.peopled import NOBODY, code_of
from tests.gateway.test_links import code_from, role_of

NO_OWNER = People(owners=frozenset(), allow=frozenset({"memory:bob"}))


def rows(home: Path, query: str, *values: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(home / FILE)) as store, store:
        return store.execute(query, values).fetchall()


async def handled_again(bot: Bot) -> None:
    """Let the last event of a user be handled again, as after a crash right before its reply was stored."""
    await bot.stop()
    [(last,)] = rows(bot.home, "SELECT max(seq) FROM inbox")
    rows(bot.home, "UPDATE inbox SET state = 'new' WHERE seq = ?", str(last))
    await bot.restart()
    await bot.app.settled()


def screen(bot: Bot, person: str) -> list[str]:
    return bot.channel.screen_of(bot.channel.chat(person))


async def test_a_pairing_that_is_handled_again_says_again_that_it_succeeded(start_bot: StartBot) -> None:
    bot = await start_bot(people=NO_OWNER)
    await bot.hears(f"/pair {await code_of(bot)}", sender="bob")
    done = screen(bot, "bob")[-1]
    assert role_of(bot, "bob") is Role.OWNER

    await handled_again(bot)

    assert screen(bot, "bob")[-1] == done
    assert rows(bot.home, "SELECT * FROM pairing_tries") == []


async def test_a_wrong_code_that_is_handled_again_counts_once(start_bot: StartBot) -> None:
    bot = await start_bot(people=NO_OWNER)
    await bot.hears("/pair wrong000", sender="bob")
    for _ in range(MOST_OF_SENDER):
        await handled_again(bot)
    assert [wrong for _, wrong, _ in rows(bot.home, "SELECT * FROM pairing_tries")] == [1]

    await bot.hears(f"/pair {await code_of(bot)}", sender="bob")
    assert role_of(bot, "bob") is Role.OWNER


async def test_a_code_that_was_never_looked_at_is_asked_for_again_and_counts_as_no_try(start_bot: StartBot) -> None:
    bot = await start_bot(people=NO_OWNER)
    await bot.hears("/whoami", sender="bob")
    command = bot.channel.heard[-1]
    for name in ("pair", "link"):
        stored = command.model_copy(update={"event_id": f"memory:{name}", "name": name, "arguments": MASK})
        await bot.made.base.store.inbox.accept(stored)  # and then it was killed
        await bot.restart()
        await bot.app.settled()
        assert "I was interrupted before I looked at your code" in screen(bot, "bob")[-1]
    assert rows(bot.home, "SELECT * FROM pairing_tries") == []


async def test_a_strangers_pairing_that_comes_again_is_answered_by_the_same_message(start_bot: StartBot) -> None:
    bot = await start_bot(people=NOBODY)
    await bot.hears(f"/pair {await code_of(bot)}", sender="eve")
    await bot.channel.until(lambda: screen(bot, "eve") != [])
    before = screen(bot, "eve")
    assert "owner now" in before[-1]

    await bot.channel.deliver(bot.channel.heard[-1])  # as a platform does after a kill
    await bot.app.settled()

    assert screen(bot, "eve") == before
    assert role_of(bot, "eve") is Role.OWNER
    assert rows(bot.home, "SELECT * FROM pairing_tries") == []


async def test_a_pairing_that_is_handled_again_gives_nothing_back_that_was_taken_since(start_bot: StartBot) -> None:
    bot = await start_bot(people=NO_OWNER)
    await bot.hears(f"/pair {await code_of(bot)}", sender="bob")
    await bot.stop()
    rows(bot.home, "UPDATE people SET role = 'guest'")
    rows(bot.home, "UPDATE inbox SET state = 'new' WHERE seq = (SELECT max(seq) FROM inbox)")
    await bot.restart()
    await bot.app.settled()
    assert role_of(bot, "bob") is not Role.OWNER


async def test_a_link_that_is_handled_again_says_again_that_it_succeeded(start_bot: StartBot) -> None:
    bot = await start_bot()
    code = await code_from(bot, "bob")
    await bot.hears(f"/link {code}", sender="carl")
    await bot.channel.presses("Yes, link it", sender="carl")
    await bot.app.settled()
    done = screen(bot, "carl")
    assert done[-1].startswith("Linked: `memory:bob`, `memory:carl`")

    await handled_again(bot)

    assert screen(bot, "carl") == done


async def test_a_button_links_nobody_but_who_said_the_code(start_bot: StartBot) -> None:
    bot = await start_bot()
    code = await code_from(bot, "ann")
    await bot.hears(f"/link {code}", sender="bob")
    [(key,)] = rows(bot.home, "SELECT id FROM links")

    await bot.hears(f"/link yes {key}", sender="carl")

    assert "That code is not valid" in screen(bot, "carl")[-1]
    assert role_of(bot, "carl") is Role.MEMBER


async def test_a_code_is_kept_nowhere_once_its_message_has_arrived(start_bot: StartBot) -> None:
    bot = await start_bot()
    code = await code_from(bot, "bob")
    await bot.hears(f"/link {code}", sender="carl")
    await bot.channel.presses("Yes, link it", sender="carl")
    await bot.hears("/pair")
    pairing = bot.screen[-1].partition("/pair ")[2][:8]
    await bot.app.settled()

    tables = [str(name) for (name,) in rows(bot.home, "SELECT name FROM pragma_table_list WHERE type = 'table'")]
    kept = {table: str(rows(bot.home, f"SELECT * FROM [{table}]")) for table in tables}  # noqa: S608
    assert [table for table, text in kept.items() if code in text] == []
    assert [table for table, text in kept.items() if pairing in text] == ["pairing"], "the console shows it again"


async def test_a_code_that_was_not_sent_before_a_crash_is_sent_after_it(start_bot: StartBot) -> None:
    bot = await start_bot()
    code = await code_from(bot, "bob")
    await bot.stop()
    rows(bot.home, "UPDATE outbox SET state = 'pending', message_id = NULL, body = replace(body, '…', ?)", code)
    await bot.restart()
    await bot.app.settled()
    assert code in screen(bot, "bob")[-1]
