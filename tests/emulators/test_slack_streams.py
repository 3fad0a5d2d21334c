"""Streamed messages of the emulated Slack, called by the real SDK: what it refuses, and what users see."""

import pytest
from pydantic import JsonValue
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from parley.testing.emulators.slack import SlackEmulator
from parley.testing.emulators.slack_chat import Chat
from parley.testing.emulators.slack_clients import slack_client
from parley.testing.emulators.slack_state import Message
from parley.testing.emulators.slack_wire import Json
from tests.clock import FakeClock
from tests.emulators.showroom.shown import Part
from tests.emulators.showroom.slack_parts import parts_of

OVER = "message_not_in_streaming_state"
Chunk = dict[str, JsonValue]


@pytest.fixture
def client(slack: SlackEmulator) -> AsyncWebClient:
    return slack_client(slack)


def error_of(caught: pytest.ExceptionInfo[SlackApiError]) -> str:
    return str(caught.value.response["error"])


async def asked(slack: SlackEmulator) -> tuple[Chat, Message]:
    """Return a channel, and a question in it."""
    ann = slack.person("Ann")
    chat = slack.group("general", [ann])
    return chat, await chat.says(ann, "@parley_bot count")


async def begun(client: AsyncWebClient, chat: Chat, root: Message, **more: object) -> str:
    where = {"channel": chat.id, "thread_ts": root.ts}
    recipient = {"recipient_team_id": "T0PARLEY", "recipient_user_id": root.sender.id}
    answer = await client.api_call("chat.startStream", json={**where, **recipient, **more})
    return str(answer["ts"])


def task(title: str, status: str = "in_progress", *, id: str = "1", **more: JsonValue) -> Chunk:  # noqa: A002
    return {"type": "task_update", "id": id, "title": title, "status": status, **more}


async def test_a_stream_grows_and_ends(slack: SlackEmulator, client: AsyncWebClient) -> None:
    chat, root = await asked(slack)
    stream = await client.chat_stream(
        channel=chat.id,
        thread_ts=root.ts,
        recipient_team_id="T0PARLEY",
        recipient_user_id=root.sender.id,
        buffer_size=4,
    )
    await stream.append(markdown_text="One, **tw")
    await stream.append(markdown_text="o**, three")
    assert chat.screen == ["One, two, three"]
    assert chat.streaming == chat.bot_messages
    good: Chunk = {"type": "button", "action_id": "v", "value": "v", "text": {"type": "plain_text", "text": "Good"}}
    await stream.stop(
        blocks=[{"type": "actions", "elements": [good]}], metadata={"event_type": "answer", "event_payload": {}}
    )
    assert [[each.text for each in row] for row in chat.bot_messages[0].buttons] == [["Good"]]
    assert chat.bot_messages[0].metadata == {"event_type": "answer", "event_payload": {}}
    assert (chat.streaming, chat.broken) == ([], [])


async def test_an_open_stream_is_neither_edited_nor_deleted(slack: SlackEmulator, client: AsyncWebClient) -> None:
    chat, root = await asked(slack)
    ts = await begun(client, chat, root, markdown_text="Hi")
    with pytest.raises(SlackApiError) as caught:
        await client.chat_update(channel=chat.id, ts=ts, text="Mine")
    assert error_of(caught) == "streaming_state_conflict"
    with pytest.raises(SlackApiError) as caught:
        await client.chat_delete(channel=chat.id, ts=ts)
    assert error_of(caught) == "cant_delete_message"
    await client.chat_stopStream(channel=chat.id, ts=ts)
    await client.chat_update(channel=chat.id, ts=ts, text="Mine")
    await client.chat_delete(channel=chat.id, ts=ts)


@pytest.mark.parametrize("method", ["chat.appendStream", "chat.stopStream"])
async def test_a_stream_that_is_not_open_takes_nothing(
    slack: SlackEmulator, client: AsyncWebClient, method: str
) -> None:
    chat, root = await asked(slack)
    streamed = await begun(client, chat, root, markdown_text="Hi")
    await client.chat_stopStream(channel=chat.id, ts=streamed)
    posted = await client.chat_postMessage(channel=chat.id, text="Hi")
    for ts in (streamed, str(posted["ts"])):
        with pytest.raises(SlackApiError) as caught:
            await client.api_call(method, json={"channel": chat.id, "ts": ts, "markdown_text": "more"})
        assert error_of(caught) == OVER


async def test_a_stream_that_its_reader_stopped_takes_nothing(slack: SlackEmulator, client: AsyncWebClient) -> None:
    chat, root = await asked(slack)
    ts = await begun(client, chat, root, markdown_text="Hi")
    await chat.thread(root).stops(root.sender)
    with pytest.raises(SlackApiError) as caught:
        await client.chat_appendStream(channel=chat.id, ts=ts, markdown_text="more")
    assert error_of(caught) == "stopped_by_user"
    await client.chat_update(channel=chat.id, ts=ts, text="Stopped")
    assert (chat.streaming, chat.broken) == ([], [])


@pytest.mark.parametrize(("wait", "times"), [(31, 1), (29, 11)], ids=["nothing comes for long", "it takes too long"])
async def test_a_stream_ends_by_itself_and_keeps_an_error_mark(wait: float, times: int) -> None:
    clock = FakeClock()
    async with SlackEmulator(clock=clock.monotonic) as slack:
        client = slack_client(slack)
        chat, root = await asked(slack)
        ts = await begun(client, chat, root, markdown_text="Hi")
        for _ in range(times - 1):
            await clock.sleep(wait)
            await client.chat_appendStream(channel=chat.id, ts=ts, markdown_text=".")
        assert chat.broken == []
        await clock.sleep(wait)
        with pytest.raises(SlackApiError) as caught:
            await client.chat_appendStream(channel=chat.id, ts=ts, markdown_text=".")
        assert error_of(caught) == OVER
        await client.chat_update(channel=chat.id, ts=ts, text="Hi")
        assert chat.broken == chat.bot_messages


async def test_a_stream_needs_a_recipient_outside_of_direct_messages(
    slack: SlackEmulator, client: AsyncWebClient
) -> None:
    chat, root = await asked(slack)
    with pytest.raises(SlackApiError) as caught:
        await client.chat_startStream(channel=chat.id, thread_ts=root.ts, markdown_text="Hi")
    assert error_of(caught) == "missing_recipient_team_id"
    with pytest.raises(SlackApiError) as caught:
        await client.chat_startStream(
            channel=chat.id, thread_ts=root.ts, recipient_team_id="T0PARLEY", markdown_text="Hi"
        )
    assert error_of(caught) == "missing_recipient_user_id"


async def test_only_channels_have_streams_outside_of_threads(slack: SlackEmulator, client: AsyncWebClient) -> None:
    chat, root = await asked(slack)
    recipient = {"recipient_team_id": "T0PARLEY", "recipient_user_id": root.sender.id}
    await client.api_call("chat.startStream", json={"channel": chat.id, "markdown_text": "Hi", **recipient})
    direct = slack.private(root.sender)
    with pytest.raises(SlackApiError):
        await client.api_call("chat.startStream", json={"channel": direct.id, "markdown_text": "Hi"})
    said = await direct.says(root.sender, "Hello")
    await client.chat_startStream(channel=direct.id, thread_ts=said.ts, markdown_text="Hi")


async def test_a_stream_begins_without_metadata(slack: SlackEmulator, client: AsyncWebClient) -> None:
    chat, root = await asked(slack)
    with pytest.raises(SlackApiError) as caught:
        await begun(client, chat, root, markdown_text="Hi", metadata={"event_type": "a", "event_payload": {}})
    assert error_of(caught) == "invalid_arguments"
    slack.violations.clear()


async def test_a_workspace_may_refuse_streams(slack: SlackEmulator, client: AsyncWebClient) -> None:
    chat, root = await asked(slack)
    slack.refuse_streams("feature_not_enabled")
    with pytest.raises(SlackApiError) as caught:
        await begun(client, chat, root, markdown_text="Hi")
    assert error_of(caught) == "feature_not_enabled"
    slack.refuse_streams("")
    slack.scopes.discard("chat:write")
    with pytest.raises(SlackApiError) as caught:
        await begun(client, chat, root, markdown_text="Hi")
    assert error_of(caught) == "missing_scope"


async def test_tasks_of_a_plan_stand_above_the_text(slack: SlackEmulator, client: AsyncWebClient) -> None:
    chat, root = await asked(slack)
    ts = await begun(client, chat, root, markdown_text="Wait.", task_display_mode="plan")
    await client.chat_appendStream(channel=chat.id, ts=ts, chunks=[{"type": "plan_update", "title": "At work"}])
    await client.chat_appendStream(
        channel=chat.id, ts=ts, chunks=[task("Read", details="a.txt"), task("Write", id="2")]
    )
    await client.chat_appendStream(channel=chat.id, ts=ts, chunks=[task("Read", "complete", details="b", output="c")])
    plan = chat.bot_messages[0].plan
    assert plan is not None
    assert plan.title == "At work"
    assert [(each.title, each.status) for each in plan.tasks] == [("Read", "complete"), ("Write", "in_progress")]
    assert plan.tasks[0].details == "a.txtb"  # details are added to the earlier ones
    assert chat.screen == ["At work\n✓ Read a.txtb c\n… Write\nWait."]
    await client.chat_stopStream(channel=chat.id, ts=ts, chunks=[task("Write", "complete", id="2")])
    assert chat.screen == ["Wait."]  # the plan is folded


@pytest.mark.parametrize(
    ("chunks", "error"),
    [
        ([{"type": "markdown_text", "text": "x" * 12_001}], "msg_too_long"),
        ([task("x" * 257)], "invalid_chunks"),
        ([task("Read", details="x" * 256)], "invalid_chunks"),
        ([{"type": "plan_update", "title": "x" * 257}], "invalid_chunks"),
        ([task("")], "invalid_chunks"),
        ([task("Read", id=str(number)) for number in range(51)], "invalid_chunks"),
        ([{"type": "blocks", "blocks": [{"type": "divider"}] * 51}], "invalid_blocks"),
    ],
    ids=["text", "title", "details", "plan", "untitled", "tasks", "blocks"],
)
async def test_parts_that_are_too_large_are_refused_as_a_whole(
    slack: SlackEmulator, client: AsyncWebClient, chunks: list[Chunk], error: str
) -> None:
    chat, root = await asked(slack)
    ts = await begun(client, chat, root, markdown_text="Hi", task_display_mode="plan")
    before = chat.screen
    with pytest.raises(SlackApiError) as caught:
        await client.chat_appendStream(channel=chat.id, ts=ts, chunks=[{"type": "markdown_text", "text": "a"}, *chunks])
    assert error_of(caught) == error
    assert chat.screen == before


async def test_a_message_has_one_table_and_one_plan(slack: SlackEmulator, client: AsyncWebClient) -> None:
    chat, _ = await asked(slack)
    table: Chunk = {"type": "table", "rows": [[{"type": "raw_text", "text": "a"}, {"type": "raw_text", "text": "b"}]]}
    plan: Chunk = {"type": "plan", "title": "Done", "tasks": [{"task_id": "1", "title": "Read", "status": "complete"}]}
    await client.chat_postMessage(channel=chat.id, text="x", blocks=[plan, table])
    assert chat.screen == ["a | b"]
    for blocks in ([table, table], [plan, plan], [{**table, "rows": [[{"type": "raw_text", "text": "a"}] * 21]}]):
        with pytest.raises(SlackApiError):
            await client.chat_postMessage(channel=chat.id, text="x", blocks=blocks)


def test_the_showroom_draws_plans_and_tables() -> None:
    card: Json = {"task_id": "1", "title": "Read", "status": "complete"}
    (plan,) = parts_of({"type": "plan", "title": "Used 1 tool", "tasks": [card]})
    assert plan == Part("Used 1 tool\n✓ Read", role="plan")
    cells: list[JsonValue] = [{"type": "raw_text", "text": "a"}, {"type": "raw_text", "text": "b"}]
    (table,) = parts_of({"type": "table", "rows": [cells, cells]})
    assert table == Part("| a | b |\n| -- | -- |\n| a | b |", "markdown")
