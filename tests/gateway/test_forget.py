"""/forget erases a person's words from every file on the disk, and says which backups still hold them."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from agent_core.models.scripted import calls
from agent_core.origin import CLEAN
from agent_core.tools.catalogue import file_tools
from agent_core.tools.tool import ToolContext, tool
from channels.buttons import fits_a_button
from channels.memory import NO_PACE, MemoryChannel
from gateway.commands.forget import LONGEST_WHO
from gateway.records.audit_check import check
from gateway.store.erasures import ERASED, OF_CHAT, Erasures
from gateway.store.opening import FILE, migrate
from gateway.store.person import Account
from gateway.upkeep.backup import Wanted, make
from gateway.upkeep.forgetting import FILE as CONFIRMED
from gateway.upkeep.restore import restore
from tests.clock import OffsetClock
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.facts import memory_of
from tests.process import until

WORD = "zebrafinch"
CHINESE = "斑马雀"


@tool()
async def note(text: str, context: ToolContext) -> str:
    """Write a file."""
    assert context.workspace is not None
    context.workspace.mkdir(parents=True, exist_ok=True)
    (context.workspace / "note.txt").write_text(text)
    return f"{text} noted"


def on_disk(home: Path, *words: str) -> list[str]:
    """Return the files in which one of the words stands, in any case. The store's log counts as its file."""
    sought = [word.lower().encode() for word in words or (WORD, CHINESE)]
    return sorted(
        {
            str(file.relative_to(home)).removesuffix("-wal")
            for file in home.rglob("*")
            if file.is_file() and any(word in file.read_bytes().lower() for word in sought)
        }
    )


def plain() -> MemoryChannel:
    return MemoryChannel(limits=NO_PACE)


async def erases(bot: Bot, what: str = "me", *, sender: str = "bob") -> str:
    """Give /forget and press its button; returns the answer."""
    await bot.hears(f"/forget {what}", sender=sender)
    await bot.channel.presses("Erase for good", sender=sender)
    await bot.app.settled()
    return bot.screen[-1]


async def talked(start_bot: StartBot, **how: object) -> Bot:
    """Bob has said the words, had a call made, and a fact and a file kept, in his direct chat and in a group."""
    work = calls(("note", {"text": f"{WORD} {CHINESE}"}))
    bot = await start_bot(
        *(work, f"I noted {WORD}.", f"Yes, {WORD}.", "Hello Carl.", "Again."),
        tools=(note,),
        channel=plain(),
        **how,
    )
    await bot.hears(f"my bird is a {WORD}, {CHINESE}", sender="bob")
    await bot.hears("and more", sender="bob")
    await bot.hears("carl was here", sender="carl")
    await memory_of(bot, bot.channel.chat("bob")).keep([f"likes the {WORD}"], CLEAN)
    places = {"audit", "memory", "workspaces"}
    await until(lambda: places <= {name.partition("/")[0] for name in on_disk(bot.home)})
    return bot


async def test_no_file_holds_the_words_of_a_direct_chat_any_more(start_bot: StartBot) -> None:
    bot = await talked(start_bot)
    answer = await erases(bot)

    assert answer.startswith("Erased. Messages: 2; direct chats: 1; audit entries without content now: 2.")
    assert "No backup on this machine" in answer
    assert on_disk(bot.home) == []
    assert on_disk(bot.home, "carl was here") != [], "others keep theirs"
    assert (bot.home / f"{FILE}-wal").stat().st_size < 100_000
    await bot.stop()
    assert on_disk(bot.home) == []
    verdict = check(bot.home, "2026-01-01", is_running=False)
    assert (verdict.faults, verdict.erased) == ([], 2)


async def test_former_versions_of_files_go_with_them(start_bot: StartBot) -> None:
    written = [calls(("write_file", {"path": "bird.txt", "content": each})) for each in (WORD, "a sparrow")]
    turns = (written[0], "Done.", written[1], "Done.")
    bot = await start_bot(*turns, tools=file_tools(), channel=plain())
    await bot.hears(f"write down my bird, a {WORD}", sender="bob")
    await bot.hears("no, another one", sender="bob")
    kept = [name for name in on_disk(bot.home) if name.startswith("versions/") and "groups" not in name]
    assert kept, "what was overwritten is there to be undone"

    await erases(bot)
    assert on_disk(bot.home) == []


async def test_the_model_knows_nothing_of_it_any_more(start_bot: StartBot) -> None:
    bot = await talked(start_bot)
    await erases(bot)
    await bot.hears("what do you know of me?", sender="bob")

    assert bot.screen[-1] == "Again."
    assert WORD not in str(bot.llm.requests[-1].messages)
    assert (await bot.made.base.store.search.find([bot.channel.chat("bob")], WORD, 1)).found == []


async def test_in_a_group_only_that_person_s_words_go(start_bot: StartBot) -> None:
    bot = await start_bot("Nice bird.", "Fine.", "Right.", channel=plain())
    await bot.hears(f"I have a {WORD}", sender="bob", group="birds")
    await bot.hears("carl was here", sender="carl", group="birds")

    answer = await erases(bot)

    assert answer.startswith("Erased. Messages: 1; direct chats: 1")
    assert on_disk(bot.home) == []
    await bot.hears("go on", sender="carl", group="birds")
    said = str(bot.llm.requests[-1].messages)
    assert ERASED in said
    assert "carl was here" in said
    assert "Nice bird." in said


@pytest.mark.parametrize("step", ["erase", "scrub", "complete"])
async def test_what_a_crash_cuts_off_is_carried_out_at_the_next_start(
    start_bot: StartBot, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    bot = await talked(start_bot)

    async def dies(*_: object) -> None:
        raise sqlite3.OperationalError("the disk is gone")

    with monkeypatch.context() as broken:
        broken.setattr(Erasures, step, dies)
        assert (await erases(bot)).startswith("I could not erase everything")
    await bot.restart()

    assert on_disk(bot.home) == []
    await bot.restart()
    assert len((bot.home / CONFIRMED).read_text().splitlines()) == 1


async def test_lines_about_erasures_that_cannot_be_read_keep_nobody_from_being_erased(start_bot: StartBot) -> None:
    bot = await talked(start_bot)
    await bot.stop()
    odd = ("[]", "7", "null", "{}", "[" * 100_000, '{"a":' * 100_000, '{"who": "nobody", "at": 1.0, "by": "x"}')
    confirmed = '{"who": "memory:bob", "at": 1.0, "by": "memory:bob"}'
    (bot.home / CONFIRMED).write_bytes("\n".join((*odd, confirmed)).encode() + b"\n\xff\xfe\n")

    with capture_logs() as logs:
        await bot.restart()

    events = [each["event"] for each in logs]
    assert "a line about an erasure cannot be read" in events
    assert events.count("an erasure was carried out") == 1


async def test_restoring_a_backup_repeats_the_erasure(start_bot: StartBot) -> None:
    bot = await talked(start_bot, nightly=True)
    backup = bot.home / "backups" / "parley-2026-11-22.zip"
    backup.parent.mkdir()
    make(bot.home, backup, "0", Wanted(files=True), lambda _: False)

    (bot.home / "replaced" / "2026-11-21T09-00-00").mkdir(parents=True)

    answer = (await erases(bot)).replace("\\", "")
    assert "- parley-2026-11-22.zip, until 2026-11-29" in answer
    assert "- replaced/2026-11-21T09-00-00, until an owner deletes it" in answer
    await bot.stop()
    restore(bot.home, backup, bot.clock.time())
    backup.unlink()
    assert FILE in on_disk(bot.home)
    await bot.restart()

    held = [name for name in on_disk(bot.home) if not name.startswith("replaced/")]
    assert held == []


async def test_what_is_said_after_it_stays_after_restarts(start_bot: StartBot) -> None:
    bot = await talked(start_bot)
    await erases(bot)
    await bot.hears("I am back", sender="bob")
    await bot.restart()
    await bot.restart()

    assert on_disk(bot.home, "i am back") != []


async def test_nothing_is_erased_without_the_button_of_the_person_who_asked(start_bot: StartBot) -> None:
    clock = OffsetClock()
    bot = await talked(start_bot, clock=clock)
    before = on_disk(bot.home)
    for words, answer in [
        ("/forget", "Write `/forget me|PERSON`, for example `/forget me`."),
        ("/forget everything please", "/forget me erases what you said"),
        ("/forget memory:ann", "Only owners and admins can erase what others said"),
        ("/forget yes memory:ann d1a383a1 2540be3ff", "Only the person who asked"),
        ("/forget yes memory:ann 475b1d10 2540be3ff", "Only owners and admins"),
        ("/forget yes memory:bob", "/forget me erases what you said"),
        (f"/forget {'x' * 99}", "/forget me erases what you said"),
        ("/forget yes memory:bob 475b1d10 c", "This question has expired"),
    ]:
        await bot.hears(words, sender="bob")
        assert bot.screen[-1].startswith(answer), words
    await bot.hears("/forget me", sender="bob")
    clock.ahead += 601
    await bot.channel.presses("Erase for good", sender="bob")
    await bot.app.settled()

    assert bot.screen[-1].startswith("This question has expired")
    assert on_disk(bot.home) == before


async def test_another_s_button_in_a_group_erases_nothing(start_bot: StartBot) -> None:
    bot = await start_bot("Nice.", channel=plain())
    await bot.hears(f"a {WORD}", sender="carl", group="birds")
    await bot.hears("/forget me", sender="bob", group="birds")
    await bot.channel.presses("Erase for good", sender="carl")
    await bot.app.settled()

    assert bot.screen[-1].startswith("Only the person who asked can confirm this.")
    assert on_disk(bot.home) != []


async def test_an_owner_erases_what_another_said_in_a_direct_chat_only(start_bot: StartBot) -> None:
    bot = await talked(start_bot)
    await bot.hears("/forget memory:bob", sender="ann", group="birds")
    assert bot.screen[-1] == "Other people can read this chat. Please ask me in a direct chat."

    answer = await erases(bot, "memory:bob", sender="ann")
    assert answer.startswith("Erased. Messages: 2; direct chats: 1")
    assert on_disk(bot.home) == []


NO_WORDS = {
    *("paused_runs", "page_commands", "page_links", "spending_sums", "nodes", "chat_owners", "leases", "rewrites"),
    *(
        "accounts",
        "browsers",
        "budgets",
        "rulings",
        "chat_settings",
        "chats",
        "erasures",
        "owed_erasures",
        "links",
        "code_outcomes",
        "spending",
        "people",
        "read_marks",
        "plugin_migrations",
        "rewinds",
        "runs",
        "standings",
        "store",
    ),
    *("pairing", "pairing_tries", "person_zones", "standings", "strangers"),
    *("inbox", "outbox", "said", "search_progress", "session_titles", "steps", "tool_calls"),
}
"""Tables with ids, roles, settings and costs only, and those that `erasures.py` names by themselves."""
OF_PLUGINS = {"menus", "reactions", "voice_recordings", "voice_notices"}
"""Tables that plugins erase: as the core once had them, each store is made with them."""


def test_every_table_is_erased_or_holds_no_words(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as connection:
        migrate(connection, tmp_path / FILE)
        found = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}

    assert {name for name in found if not name.startswith(("said_", "sqlite_"))} == NO_WORDS | OF_PLUGINS | set(OF_CHAT)


PEOPLE = ("telegram:12345678901", "discord:1234567890123456789", "slack:T0123ABCDEF:U0123ABCDEF")


@pytest.mark.parametrize("person", PEOPLE)
async def test_the_button_has_room_for_the_longest_names(start_bot: StartBot, person: str) -> None:
    bot = await start_bot()

    await bot.hears(f"/forget {person}")

    ((button,),) = bot.channel.posts[-1][1].buttons
    assert fits_a_button(button.action)


def test_a_button_has_room_for_the_longest_ids() -> None:
    assert len("slack:T0123456789A:U0123456789A") <= LONGEST_WHO
    assert len(f"/forget yes {'x' * LONGEST_WHO} d1a383a1 2540be3ff") <= 64


async def test_what_others_said_is_found_again_at_once(start_bot: StartBot) -> None:
    bot = await talked(start_bot)
    await erases(bot)

    async def found() -> bool:
        page = await bot.made.base.store.search.find([bot.channel.chat("carl")], "carl", 5)
        return page.is_complete and "carl was here" in [each.text for each in page.found]

    async with asyncio.timeout(30):
        while not await found():
            pass


async def test_accounts_that_were_linked_after_the_question_are_not_erased_by_its_button(start_bot: StartBot) -> None:
    bot = await talked(start_bot)
    await bot.hears("/forget memory:bob", sender="ann")
    bob, carl = Account("memory:bob"), Account("memory:carl")
    membership = bot.made.people.membership
    link = await membership.said(await membership.offer_link(bob), carl)
    assert link is not None
    await membership.link(link, carl, "linking")
    before = on_disk(bot.home)
    await bot.channel.presses("Erase for good", sender="ann")
    await bot.app.settled()

    assert bot.screen[-1].startswith("This question has expired")
    assert on_disk(bot.home) == before
    await bot.hears("/forget memory:bob", sender="ann")
    assert "memory:bob, memory:carl" in bot.screen[-1]
