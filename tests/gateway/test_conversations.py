"""The stored list of conversations: its order, its pages, its search, and the work that a page of it costs."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.clock import SystemClock, new_id
from channels.base import ChatKey
from gateway.security.secrets import Secrets
from gateway.store.conversations import UNDO_SECONDS
from gateway.store.rows import Run
from gateway.store.store import Store
from tests.messages import user

MANY = 10_000
OWNER = ChatKey(platform="web", account="local", chat="main")
OTHER = ChatKey(platform="web", account="telegram.1", chat="main")


def thread(number: int, owner: ChatKey = OWNER) -> ChatKey:
    return owner.model_copy(update={"thread": f"conversation-{number}"})


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with Store.open(tmp_path, SystemClock(), new_id, Secrets(["hunter2-hunter2"])) as opened:
        yield opened


async def titles(store: Store, owner: ChatKey = OWNER) -> list[str]:
    return [each.title for each in (await store.conversations.of(owner)).entries]


async def test_pinned_ones_come_first_then_those_used_last(store: Store) -> None:
    for number, words in enumerate(("oldest", "older", "newest")):
        store.conversations.heard(thread(number), words, at=float(number))
    await store.conversations.pin(thread(0), pinned=True)
    store.conversations.heard(thread(1), "said later", at=9.0)
    await store.check_writable()

    assert await titles(store) == ["oldest", "older", "newest"]
    assert await titles(store, OTHER) == []


async def test_the_title_is_what_was_said_first_until_there_is_another_and_has_no_secrets(store: Store) -> None:
    store.conversations.heard(thread(1), "the key is\n hunter2-hunter2, keep it " + "x" * 200, at=1.0)
    await store.check_writable()
    (entry,) = (await store.conversations.of(OWNER)).entries
    assert entry.title.startswith("the key is [secret], keep it xxx")
    assert len(entry.title) == 80

    assert await store.conversations.rename(thread(1), "  My\nkeys hunter2-hunter2 ") == "My keys [secret]"
    assert await titles(store) == ["My keys [secret]"]
    assert (await store.conversations.rename(thread(1), "")).startswith("the key is")


async def test_a_name_of_300_emoji_is_cut_between_two(store: Store) -> None:
    store.conversations.heard(thread(1), "hello", at=1.0)
    assert await store.conversations.rename(thread(1), "🦊" * 300) == "🦊" * 80


async def test_an_answer_is_unread_until_it_is_seen(store: Store) -> None:
    store.conversations.heard(thread(1), "hello", at=1.0)
    store.conversations.answered(thread(1), at=2.0)
    await store.check_writable()
    assert [each.is_unread for each in (await store.conversations.of(OWNER)).entries] == [True]

    await store.conversations.see(thread(1))
    assert [each.is_unread for each in (await store.conversations.of(OWNER)).entries] == [False]


async def test_a_deleted_one_comes_back_by_undo_by_writing_and_by_a_later_reminder(store: Store) -> None:
    store.conversations.heard(thread(1), "hello", at=1.0)
    await store.conversations.delete(thread(1), deleted=True)
    now = SystemClock().time()
    store.conversations.answered(thread(1), at=now)  # of a run that was still going on
    await store.check_writable()
    assert await titles(store) == []

    await store.conversations.delete(thread(1), deleted=False)
    assert await titles(store) == ["hello"]

    await store.conversations.delete(thread(1), deleted=True)
    store.conversations.heard(thread(1), "again", at=now)
    await store.check_writable()
    assert await titles(store) == ["hello"]

    await store.conversations.delete(thread(1), deleted=True)
    store.conversations.answered(thread(1), at=now + 2 * UNDO_SECONDS)
    await store.check_writable()
    assert await titles(store) == ["hello"]


async def test_a_command_names_a_conversation_only_until_something_is_said(store: Store) -> None:
    titles: list[str] = []
    for at, words in enumerate(("/start", "/help", "Book a flight", "/status", "To Tokyo")):
        store.conversations.heard(thread(1), words, at=float(at))
        await store.conversations.see(thread(1))
        titles += (await store.conversations.titles([thread(1)])).values()

    assert titles == ["/start", "/start", *["Book a flight"] * 3]


async def test_the_search_finds_titles_and_words_of_the_owner_only(store: Store) -> None:
    for owner in (OWNER, OTHER):
        store.conversations.heard(thread(1, owner), "About zebras", at=1.0)
        store.conversations.heard(thread(2, owner), "Something else", at=2.0)
        run = Run(f"run-{owner.account}", thread(2, owner), f"s-{owner.account}", "ann", 1.0)
        store.runs.begin(run)
        said = f"{'long words ' * 30} the Zebra of {owner.account} {'and on ' * 40}"
        await store.transcript.append(run, 0, user(said))

    titles_, words = await store.conversations.find(OWNER, "zebra")
    assert (titles_.entry.title, titles_.words) == ("About zebras", "")
    assert words.entry.chat == thread(2)
    assert words.words.startswith("…")
    assert "the Zebra of local" in words.words
    assert len(words.words) < 200
    assert await store.conversations.find(OWNER, "telegram") == []
    assert await store.conversations.find(OWNER, " ") == []


async def test_a_page_of_ten_thousand_costs_as_many_steps_as_one_of_a_hundred(tmp_path: Path) -> None:
    steps: dict[int, int] = {}
    for many in (100, MANY):
        async with Store.open(tmp_path / f"{many}", SystemClock(), new_id) as store:
            for number in range(many):
                store.conversations.heard(thread(number), f"conversation {number}", at=float(number))
            await store.check_writable()
            page = await store.conversations.of(OWNER)
            assert [each.title for each in page.entries[:2]] == [f"conversation {many - 1}", f"conversation {many - 2}"]
            seen = {each.chat for each in page.entries}
            while page.more:
                page = await store.conversations.of(OWNER, page.more)
                seen |= {each.chat for each in page.entries}
            assert len(seen) == many
            steps[many] = await _steps(store)
    assert steps[MANY] < 1.2 * steps[100]


async def _steps(store: Store) -> int:
    """Count the instructions of SQLite for one page."""
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        return 0

    def watch(connection: sqlite3.Connection) -> None:
        connection.set_progress_handler(step, 1)

    await store.conversations._reader.run(watch)  # type: ignore[arg-type]  # noqa: SLF001 (SQLite's own connection)
    await store.conversations.of(OWNER)
    return count
