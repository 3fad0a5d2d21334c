"""The store keeps what it has confirmed, commits together what arrived together, and locks others out."""

import asyncio
import os
import sqlite3
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.origin import CLEAN
from agent_core.reasons import TerminalReason
from channels.base import ChatKey, MessageReceived, OutboundMessage, Posted, Sender
from gateway.errors import HomeUnusable
from gateway.store.opening import FILE, NoFullTextSearch, StoreBusy, StoreDamaged, StoreTooNew, migrate
from gateway.store.rows import Chat, InboxItem, Post, Run, RunEnd
from gateway.store.runs import ToolRecord
from gateway.store.store import Store
from tests.agent_core.kit import numbered
from tests.clock import FakeClock
from tests.messages import user
from tests.postgres import execute
from tests.process import python

CHAT = ChatKey(platform="memory", account="here", chat="ann")
RUN = Run("run-1", CHAT, "session-1", "ann", 1_000.0, reply_to="m1")
END = RunEnd(TerminalReason.COMPLETED, "scripted")
LOOK = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
print(connection.execute("SELECT count(*) FROM inbox").fetchone()[0])
connection.close()
"""


def message(number: int, chat: ChatKey = CHAT) -> MessageReceived:
    who = Sender(id="ann", name="Ann")
    return MessageReceived(event_id=f"e{number}", chat=chat, sender=who, at=1.0, text=f"t{number}", message_id="m")


def post(part: int, text: str, message_id: str | None = None, slot: str = "answer") -> Post:
    return Post(f"run-1:{slot}:{part}", "run-1", CHAT, OutboundMessage(markdown=text), CLEAN, message_id)


@asynccontextmanager
async def opened(home: Path, url: str | None = None) -> AsyncIterator[Store]:
    async with Store.open(home, FakeClock(), numbered(), url=url) as store:
        yield store


@pytest.fixture
async def store(tmp_path: Path, database: str | None) -> AsyncIterator[Store]:
    async with opened(tmp_path, database) as store:
        yield store


def rows(home: Path, query: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(home / FILE)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


# Inbox


async def test_an_event_is_numbered_once(store: Store) -> None:  # C-30
    first = await store.inbox.accept(message(1))
    again = await store.inbox.accept(message(1))
    second = await store.inbox.accept(message(2))

    assert (first, again) == (1, None)
    assert second in (2, 3), "PostgreSQL uses up a number for the event that it has already"
    assert [item.event.event_id for item in await store.inbox.waiting()] == ["e1", "e2"]


async def test_what_arrives_together_keeps_its_order(store: Store) -> None:
    seqs = await asyncio.gather(*(store.inbox.accept(message(number)) for number in range(500)))

    assert seqs == list(range(1, 501))
    assert [item.event.event_id for item in await store.inbox.waiting()] == [f"e{number}" for number in range(500)]


async def test_what_was_settled_waits_no_more(store: Store) -> None:
    for number in (1, 2, 3):
        await store.inbox.accept(message(number))

    await store.inbox.settle([1])
    await store.transcript.append(RUN, 1, user("t3"), [3])

    assert [item.seq for item in await store.inbox.waiting()] == [2]


async def test_a_message_that_waits_can_change_its_words_and_a_settled_one_cannot(store: Store) -> None:
    await store.inbox.accept(message(1))
    await store.inbox.accept(message(2))
    waiting = await store.inbox.waiting()
    await store.inbox.settle([2])

    for item in waiting:
        await store.inbox.reword(InboxItem(item.seq, item.event.model_copy(update={"text": "new words"})))

    shown = [row.event for _, row in await store.outbox.screen(CHAT) if isinstance(row, InboxItem)]
    assert [event.text for event in shown if isinstance(event, MessageReceived)] == ["new words", "t2"]


# Runs


async def test_a_run_is_unfinished_until_it_ends(store: Store) -> None:
    await store.runs.begin(RUN)
    said = user("hello")
    await store.transcript.append(RUN, 1, said)
    assert await store.runs.unfinished() == [RUN]
    assert await store.transcript.said_in(RUN) == [said]

    await store.inbox.accept(message(1))
    await store.runs.end(RUN, END, [post(0, "hi")], [1])

    assert await store.runs.unfinished() == []
    assert [(owed.key, owed.message) for owed in await store.outbox.unsent()] == [
        (post(0, "hi").key, post(0, "hi").message)
    ]
    assert await store.inbox.waiting() == []


async def test_deaths_are_counted_for_each_step_of_a_run(store: Store) -> None:
    await store.runs.begin(RUN)

    assert [await store.runs.resume(RUN, ["call:a"]) for _ in range(3)] == [1, 2, 3]
    assert await store.runs.resume(RUN, ["request:b"]) == 1
    assert await store.runs.resume(RUN, ["request:c"]) == 1
    assert await store.runs.resume(RUN, ["request:b", "call:a"]) == 4
    assert await store.runs.resume(RUN, []) == 0


async def test_deaths_before_a_run_came_to_wait_for_a_budget_do_not_count(store: Store) -> None:
    await store.runs.begin(RUN)
    await store.runs.resume(RUN, ["request:b", "call:a"])
    await store.runs.reached_budget(RUN)

    assert await store.runs.resume(RUN, ["request:b"]) == 1
    assert await store.runs.resume(RUN, ["call:a"]) == 2


async def test_a_life_that_ended_as_it_should_is_no_death(store: Store) -> None:
    await store.runs.begin(RUN)
    await store.runs.note_shutdown([RUN.id])

    assert [await store.runs.resume(RUN, ["call:a"]) for _ in range(2)] == [0, 1]


async def test_a_tool_call_is_recorded(store: Store, tmp_path: Path, database: str | None) -> None:  # S2-26
    await store.runs.record_tool(ToolRecord("run-1", "session-1", None, "c1", "clock", "{}", 1, 12, result="noon"))

    query = "SELECT run, call, tool, result, error, duration_ms FROM tool_calls"
    assert execute(tmp_path, database, query) == [("run-1", "c1", "clock", "noon", None, 12)]


# Outbox


async def test_parts_go_out_in_the_order_of_their_numbers(store: Store) -> None:
    await store.outbox.add([post(number, f"part {number}") for number in range(12)])

    assert [unsent.message.markdown for unsent in await store.outbox.unsent()] == [
        f"part {number}" for number in range(12)
    ]


async def test_the_screen_shows_parts_in_the_order_of_their_numbers(store: Store) -> None:
    posts = [post(number, f"part {number}") for number in range(12)]
    await store.outbox.add(posts)
    for each in posts:
        await store.outbox.sent(each, Posted(chat=each.chat, message_id=f"m-{each.key}"))

    shown = [row.message.markdown for _, row in await store.outbox.screen(CHAT) if isinstance(row, Post)]
    assert shown == [f"part {number}" for number in range(12)]


async def test_what_was_sent_or_given_up_is_not_sent_again(store: Store) -> None:
    await store.outbox.add([post(0, "a"), post(1, "b"), post(2, "c")])
    await store.outbox.tried("run-1:answer:2", 1)
    await store.outbox.sent(post(0, "a"), Posted(chat=CHAT, message_id="m0"))
    await store.outbox.failed("run-1:answer:1", "blocked")

    assert [unsent.key for unsent in await store.outbox.unsent()] == ["run-1:answer:2"]


async def test_a_message_that_was_shown_is_found_and_folded_by_an_edit(store: Store) -> None:
    await store.outbox.shown(post(0, "Working", slot="progress"), Posted(chat=CHAT, message_id="m7"))
    found = await store.outbox.find("run-1:progress:0")
    assert found is not None
    assert found.message_id == "m7"

    await store.runs.end(RUN, END, [post(0, "2 tools", "m7", slot="progress")])

    [fold] = await store.outbox.unsent()
    assert (fold.message_id, fold.message.markdown, fold.is_progress) == ("m7", "2 tools", True)


# Chats


async def test_a_chat_keeps_its_session_and_its_language(store: Store) -> None:  # S2-41
    first = await store.chats.get(CHAT)
    await store.chats.save(Chat(CHAT, session=first.session, language="zh"))

    assert await store.chats.get(CHAT) == Chat(CHAT, session=first.session, language="zh")


async def test_a_chat_that_heard_from_us_is_known_after_a_restart(tmp_path: Path, database: str | None) -> None:
    thread = CHAT.model_copy(update={"thread": "7"})
    async with opened(tmp_path, database) as store:
        await store.chats.get(thread)
        answer = Post("r:answer:0", "r", thread, OutboundMessage(markdown="hi"), origin=CLEAN)
        await store.outbox.add([answer])
        await store.outbox.sent(answer, Posted(chat=answer.chat, message_id="m1"))

    async with opened(tmp_path, database) as store:
        assert await store.chats.spoken_in() == {str(thread)}


# Opening


async def test_a_second_instance_is_told_who_holds_the_store(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        with pytest.raises(StoreBusy) as refused:
            async with opened(tmp_path):
                pass

        assert f"Another Parley (pid {os.getpid()}) already uses {tmp_path}" in refused.value.sentence
        assert "PARLEY_HOME" in refused.value.sentence
        assert await store.inbox.accept(message(1)) == 1


async def test_whoever_looks_into_the_file_takes_nothing_away_when_they_leave(tmp_path: Path) -> None:
    """SQLite deletes the log with the last connection; a reader taken for it would lose all later writes."""
    async with opened(tmp_path):
        pass
    async with opened(tmp_path) as store:
        seen = []
        for number in (1, 2, 3):
            await store.inbox.accept(message(number))
            seen.append(await python("-c", LOOK, str(tmp_path / FILE)))

    assert [(look.out.strip(), look.err) for look in seen] == [("1", ""), ("2", ""), ("3", "")]


def test_a_python_without_full_text_search_is_refused_with_a_reason(tmp_path: Path) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.create_function("sqlite_compileoption_used", 1, lambda _: 0)

        with pytest.raises(NoFullTextSearch, match="with another Python"):
            migrate(connection, tmp_path)


async def test_a_store_of_a_later_version_is_left_alone(tmp_path: Path) -> None:
    async with opened(tmp_path):
        pass
    connection = sqlite3.connect(tmp_path / FILE)
    connection.execute("PRAGMA user_version = 999")
    connection.close()

    with pytest.raises(StoreTooNew, match="schema 999") as refused:
        async with opened(tmp_path):
            pass
    assert "newer version" in refused.value.sentence
    assert rows(tmp_path, "PRAGMA user_version") == [(999,)]


async def test_a_file_that_is_no_database_is_told_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"these are no pages of a database" * 500)

    with pytest.raises(StoreDamaged, match="parley restore"):
        async with opened(tmp_path):
            pass


async def test_a_damaged_page_is_told_with_what_to_do(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        for number in range(300):
            await store.inbox.accept(message(number))
    file = tmp_path / FILE
    content = bytearray(file.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    file.write_bytes(content)

    with pytest.raises(StoreDamaged, match="parley restore"):
        async with opened(tmp_path) as store:
            await store.inbox.waiting()


async def test_a_file_with_another_programs_tables_is_told_with_what_to_do(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / FILE)
    connection.execute("CREATE TABLE inbox (words)")
    connection.close()

    with pytest.raises(StoreDamaged, match=r"already exists.*move it and store.mark away"):
        async with opened(tmp_path):
            pass
    assert rows(tmp_path, "SELECT name FROM sqlite_master") == [("inbox",)]


@pytest.mark.parametrize("name", [FILE, "store.lock"])
async def test_a_folder_in_the_place_of_a_file_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()

    with pytest.raises(HomeUnusable) as refused:
        async with opened(tmp_path):
            pass
    assert refused.value.sentence.startswith(f"{tmp_path / name} cannot be used (")
    assert "PARLEY_HOME" in refused.value.sentence


async def test_a_file_in_the_place_of_the_home_is_named(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("no folder")

    with pytest.raises(HomeUnusable) as refused:
        async with opened(home):
            pass
    assert refused.value.sentence.startswith(f"{home} cannot be used (File exists)")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
async def test_a_store_that_cannot_be_written_is_refused_at_the_start(tmp_path: Path) -> None:
    async with opened(tmp_path):
        pass
    (tmp_path / FILE).chmod(0o400)

    with pytest.raises(HomeUnusable, match="readonly"):
        async with opened(tmp_path):
            pass


async def test_the_store_is_let_go_after_a_failed_start(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"these are no pages of a database" * 500)
    with pytest.raises(StoreDamaged):
        async with opened(tmp_path):
            pass
    (tmp_path / FILE).unlink()

    async with opened(tmp_path) as store:
        assert await store.inbox.accept(message(1)) == 1


# A kill


def copied(home: Path, target: Path) -> None:
    """Copy the files as a kill at this moment would leave them."""
    target.mkdir()
    for file in home.glob(f"{FILE}*"):
        if not file.name.endswith("-shm"):
            (target / file.name).write_bytes(file.read_bytes())


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=40), st.data())
def test_what_was_accepted_is_there_after_a_kill_at_any_moment(numbers: list[int], data: st.DataObject) -> None:
    kill_after = data.draw(st.integers(0, len(numbers)))

    async def live(home: Path) -> tuple[list[str], list[str]]:
        async with opened(home / "a") as store:
            promised = [f"e{number}" for number in numbers[:kill_after] if await store.inbox.accept(message(number))]
            unheard = [asyncio.ensure_future(store.inbox.accept(message(number))) for number in numbers[kill_after:]]
            copied(home / "a", home / "b")
            await asyncio.gather(*unheard)
        async with opened(home / "b") as store:
            kept = [item.event.event_id for item in await store.inbox.waiting()]
            for number in numbers:
                await store.inbox.accept(message(number))
            return promised, kept + [item.event.event_id for item in await store.inbox.waiting()][len(kept) :]

    with TemporaryDirectory() as home:
        promised, kept = asyncio.run(live(Path(home)))

    assert kept[: len(promised)] == promised
    assert sorted(kept) == sorted({f"e{number}" for number in numbers})


async def test_its_files_are_for_us_alone_even_where_an_earlier_version_left_them_open(tmp_path: Path) -> None:
    async with opened(tmp_path):
        pass
    (tmp_path / FILE).chmod(0o644)

    async with opened(tmp_path) as store:
        await store.inbox.accept(message(1))
        modes = [stat.S_IMODE((tmp_path / f"{FILE}{end}").stat().st_mode) for end in ("", "-wal", "-shm")]

    assert modes == [0o600, 0o600, 0o600]
