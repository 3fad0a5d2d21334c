"""Search over what was said in a chat, and the list of its sessions."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    NotificationMessage,
    StopReason,
    TextContent,
    ToolResultMessage,
)
from agent_core.origin import CLEAN
from agent_core.reasons import TerminalReason
from channels.base import ChatKey
from gateway.store.budget import Payer, Spent
from gateway.store.opening import FILE
from gateway.store.rows import Run, RunEnd
from gateway.store.search import AT_ONCE, TOGETHER
from gateway.store.store import Store
from gateway.texts.amounts import USD
from tests.agent_core.kit import numbered
from tests.clock import FakeClock
from tests.gateway.test_task_recovery import COUNT
from tests.messages import user

ANN = ChatKey(platform="memory", account="here", chat="ann")
BOB = ChatKey(platform="memory", account="here", chat="bob")


@pytest.fixture
async def store(tmp_path: Path, database: str | None) -> AsyncIterator[Store]:
    async with Store.open(tmp_path, FakeClock(), numbered(), url=database) as store:
        yield store


def answer(text: str) -> AssistantMessage:
    return AssistantMessage(content=(TextContent(text=text),), stop_reason=StopReason.STOP, origin=CLEAN)


async def says(store: Store, *messages: str | AgentMessage, chat: ChatKey = ANN, session: str = "s1") -> None:
    run = Run("run-1", chat, session, "ann", 1.0)
    for message in messages:
        await store.transcript.append(run, 0, user(message) if isinstance(message, str) else message)


async def found(store: Store, words: str, *chats: ChatKey, before: int | None = None) -> list[str]:
    return [each.text for each in (await store.search.find(chats or (ANN,), words, 10, before)).found]


async def test_a_chats_messages_and_answers_are_found_newest_first(store: Store) -> None:
    note = NotificationMessage(
        kind="job", text="You have posted this:", quoted="Report: the plants are dry", origin=CLEAN
    )
    await says(store, "Water the plants", answer("The plants are watered"), "thanks", note)

    assert await found(store, "PLANTS the") == [
        "Report: the plants are dry",
        "The plants are watered",
        "Water the plants",
    ]


async def test_what_was_said_is_indexed_with_others_and_found_at_once(tmp_path: Path) -> None:
    async with Store.open(tmp_path, FakeClock(), numbered()) as store:
        await says(store, *["Water the plants"] * (TOGETHER + 3))
        assert indexed(tmp_path) == TOGETHER
        assert await found(store, "plants") == ["Water the plants"] * 10
        assert indexed(tmp_path) == TOGETHER + 3

        await says(store, "And the trees")

    async with Store.open(tmp_path, FakeClock(), numbered()) as store:
        assert await found(store, "trees") == ["And the trees"]


def indexed(home: Path) -> int:
    """Return the number of the last row of the transcript that is in the index."""
    with closing(sqlite3.connect(home / FILE)) as database:
        return int(database.execute("SELECT after FROM search_progress").fetchone()[0])


async def test_two_characters_of_chinese_are_found(store: Store) -> None:
    await says(store, "今天数据库备份完成了吗", answer("备份已经完成。"))

    assert await found(store, "数据") == ["今天数据库备份完成了吗"]
    assert await found(store, "备份") == ["备份已经完成。", "今天数据库备份完成了吗"]


async def test_another_chats_messages_are_not_found(store: Store) -> None:
    await says(store, "my secret plan", chat=BOB, session="s2")

    assert await found(store, "secret") == []
    assert await found(store, "secret", ANN, BOB) == ["my secret plan"]


@pytest.mark.parametrize(
    "words", ['"; DROP TABLE said', "chat : *", "secret OR plants", "NEAR(a b)", "plant*", "-secret"]
)
async def test_the_words_are_never_read_as_a_query(store: Store, words: str) -> None:
    await says(store, "water the plants")
    await says(store, "my secret plan", chat=BOB, session="s2")

    assert await found(store, words) == []
    assert await found(store, "plants") == ["water the plants"]


@pytest.mark.parametrize("words", ["", "  ", "?!", "\0", "*"])
async def test_a_search_without_a_word_is_refused(store: Store, words: str) -> None:
    with pytest.raises(ValueError, match="no word"):
        await found(store, words)


async def test_results_and_what_tasks_and_jobs_say_among_themselves_are_not_found(store: Store) -> None:
    result = ToolResultMessage(
        tool_call_id="c", tool_name="t", content=(TextContent(text="plants in a file"),), origin=CLEAN
    )
    await says(store, result)
    await store.tasks.add(COUNT)
    await store.tasks.start(COUNT)
    await store.transcript.append(COUNT.run, 0, user("look at the plants"))

    assert await found(store, "plants") == []


async def test_pages_follow_each_other_without_a_gap(store: Store) -> None:
    await says(store, *[f"plant number {number}" for number in range(25)])

    pages, before = [], None
    while True:
        page = await store.search.find([ANN], "plant", 10, before)
        pages.append([each.text for each in page.found])
        if (before := page.before) is None:
            break

    assert [len(page) for page in pages] == [10, 10, 5]
    assert [text for page in pages for text in page] == [f"plant number {number}" for number in reversed(range(25))]


async def test_messages_from_before_the_index_are_indexed_in_steps(tmp_path: Path) -> None:
    async with Store.open(tmp_path, FakeClock(), numbered()) as store:
        await says(store, *[f"plant number {number}" for number in range(AT_ONCE + 5)])
    with closing(sqlite3.connect(tmp_path / FILE)) as connection, connection:
        connection.execute("INSERT INTO said (said) VALUES ('delete-all')")
        connection.execute(
            "UPDATE search_progress SET (before, after) = (SELECT max(seq) + 1, max(seq) FROM transcript)"
        )

    async with Store.open(tmp_path, FakeClock(), numbered()) as store:
        await says(store, "the newest plant")
        page = await store.search.find([ANN], "plant", 500)
        assert (len(page.found), page.is_complete) == (1, False)
        await store.search.catch_up()
        page = await store.search.find([ANN], "plant", 500)

    assert (len(page.found), page.is_complete) == (AT_ONCE + 6, True)


async def test_sessions_are_listed_by_their_last_use_with_a_title_and_their_cost(store: Store) -> None:
    for number, session in enumerate(("aaaa1", "bbbb2", "aaaa1")):
        run = Run(f"run-{number}", ANN, session, "ann", float(number))
        store.runs.begin(run)
        await store.transcript.append(run, 0, user(f"  Question {number}\nand more"))
        await store.spending.reserve(f"call-{number}", float(number), Payer(ANN, run.id), "m", Spent(10, USD // 2))
        await store.runs.end(run, RunEnd(TerminalReason.COMPLETED, "m"), [])
    await store.sessions.rename(ANN, "bbbb2", "  Garden\n plans ")

    first, second = await store.sessions.of(ANN, 10)

    assert (first.id, first.title, first.runs, first.tokens, first.cost_usd) == (
        "aaaa1",
        "Question 0 and more",
        2,
        20,
        1.0,
    )
    assert (second.id, second.title) == ("bbbb2", "Garden plans")
    assert (first.began, first.last) == (0.0, 2.0)
    assert await store.sessions.of(BOB, 10) == []
    assert [each.id for each in await store.sessions.of(ANN, 1, after=1)] == ["bbbb2"]


async def test_a_session_is_found_by_the_start_of_its_id_in_its_own_chat_only(store: Store) -> None:
    for session in ("aaaa1", "aaaa2", "bbbb1"):
        await store.runs.begin(Run(f"run-{session}", ANN, session, "ann", 1.0))

    assert await store.sessions.find(ANN, "bbbb") == "bbbb1"
    assert await store.sessions.find(ANN, "aaaa1") == "aaaa1"
    assert [await store.sessions.find(ANN, start) for start in ("aaaa", "b", "%", "cccc")] == [None] * 4
    assert await store.sessions.find(BOB, "bbbb1") is None
