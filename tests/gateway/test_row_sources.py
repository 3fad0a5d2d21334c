"""Taint is stored per row: each answer names its untrusted sources, in whichever conversation it is read."""

from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.clock import new_id
from agent_core.messages import TextContent, ToolResultMessage
from agent_core.origin import CLEAN, DATA, NOT_KNOWN, Origin, joined, named
from agent_core.sources import UNKNOWN
from channels.base import ChatKey, OutboundMessage, Posted, Sender, TaskEnded
from channels.memory import MemoryChannel
from gateway.permissions.sources import author_of, origin_of_post, speaker_of
from gateway.runs.tasks.report import notice
from gateway.schedule.jobs.recent_messages import Lines, RecentMessages
from gateway.store.rows import InboxItem, Post, Run
from gateway.store.store import Store
from tests.clock import FakeClock
from tests.messages import user

ANN = ChatKey(platform="memory", account="here", chat="ann")
EVE = named("page:eve.example")


@pytest.fixture
async def store(tmp_path: Path, database: str | None) -> AsyncIterator[Store]:
    async with Store.open(tmp_path, FakeClock(), new_id, url=database) as opened:
        yield opened


async def answered(store: Store, run: str, session: str, origin: Origin = DATA) -> Post:
    """Store a run that has read from there, and return its answer."""
    row = Run(run, ANN, session, "ann", 1.0)
    await store.runs.begin(row)
    read = ToolResultMessage(tool_call_id="1", tool_name="web_fetch", content=(TextContent(text="x"),), origin=origin)
    await store.transcript.append(row, 0, user("read it"))
    await store.transcript.append(row, 0, read)
    post = Post(f"{run}:answer:0", run, ANN, OutboundMessage(markdown=f"said in {run}"), origin=CLEAN)
    await store.outbox.add([post])
    await store.outbox.sent(post, Posted(chat=post.chat, message_id=f"m-{run}", at=2.0))
    return post


async def history(store: Store, since: float = 0.0) -> Lines:
    talk = RecentMessages(store, MemoryChannel(), ANN, lambda _, __: True)
    return await talk.since(since, ZoneInfo("UTC"))


async def test_what_was_said_after_a_page_is_the_pages_also_in_a_new_conversation(store: Store) -> None:
    clean = await answered(store, "r1", "before")
    tainted = await answered(store, "r2", "before", EVE)
    after = await answered(store, "r3", "before")
    new = await answered(store, "r4", "after /new")

    assert [await origin_of_post(store, post) for post in (clean, tainted, after, new)] == [DATA, EVE, EVE, DATA]
    said = await history(store)
    assert "said in r2" in said.text
    assert said.origin == EVE


async def test_a_row_of_an_earlier_version_is_of_nobody_knows_whom(store: Store) -> None:
    row = Run("old", ANN, "s", "ann", 1.0)
    await store.runs.begin(row)
    await store.transcript.append(row, 0, user("look").model_copy(update={"origin": NOT_KNOWN}))
    post = Post("old:answer:0", "old", ANN, OutboundMessage(markdown="hm"), origin=CLEAN)

    assert await origin_of_post(store, post) == NOT_KNOWN


async def test_what_a_tool_sent_is_of_its_session(store: Store) -> None:
    await answered(store, "r1", "s1", EVE)

    assert (
        await origin_of_post(store, Post("s1:file:c1", "", ANN, OutboundMessage(markdown="here"), origin=CLEAN)) == EVE
    )
    assert (
        await origin_of_post(store, Post("s2:file:c1", "", ANN, OutboundMessage(markdown="here"), origin=CLEAN))
        == CLEAN
    )


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([DATA, EVE, named("file:x")])), max_size=8))
@settings(max_examples=10, deadline=None)
async def test_nothing_is_washed_by_another_conversation(steps: list[tuple[str, Origin]]) -> None:
    with TemporaryDirectory() as home:
        async with Store.open(Path(home), FakeClock(), new_id) as store:
            truth: dict[str, Origin] = {}
            for number, (session, origin) in enumerate(steps):
                post = await answered(store, f"r{number}", session, origin)
                truth[session] = truth.get(session, CLEAN) | origin
                assert await origin_of_post(store, post) == truth[session]
            assert (await history(store)).origin == joined(truth.values())


def test_whoever_is_quoted_or_passed_on_is_named() -> None:
    assert author_of("Forwarded from Eve:\nrun this") == "person:Eve"
    assert author_of("From [Sales] Eve:\nrun this") == "person:[Sales] Eve"
    assert author_of("Forwarded from Eve:") == "person:Eve"
    assert speaker_of("Eve: run this") == "person:Eve"
    assert speaker_of("[Sales] Eve: run this") == "person:[Sales] Eve"
    assert speaker_of("run this") == UNKNOWN


@pytest.mark.parametrize(
    "words",
    [
        "[sticker: Run it all]",
        "[notes: https://docs.example/1]",
        "https://g.example/chart.png",
        "Open (https://o.example)",
        "Poll: Tea?",
        "Checklist: Trip",
        "Invoice: Trip, 7 of the smallest unit of EUR",
        "Game: Chess",
        "Forwarded:\nrun this",
        "CPU: 40 %",
        "Status: failing\nFrom Eve:\nrun this",
        "From Eve: run this",
    ],
)
def test_what_comes_along_without_an_author_is_of_nobody_knows_whom(words: str) -> None:
    assert author_of(words) == UNKNOWN


def test_news_of_a_task_that_an_earlier_version_stored_are_of_nobody_knows_whom() -> None:
    news = TaskEnded.model_validate(
        {
            "event_id": "task:abc123",
            "chat": ANN,
            "sender": Sender(id="ann", name="Ann"),
            "at": 1.0,
            "task_id": "abc123",
            "outcome": "completed",
            "prompt": "look",
            "report": "obey",
            "untrusted": True,
        }
    )

    assert notice(InboxItem(1, news), news).origin == NOT_KNOWN
