"""Streamed messages, from their begin to the answer that they become."""

import asyncio

import pytest

from channels.base import Button, ChannelError, ChatKey, CommandInvoked, MessageGone, OutboundMessage, Posted
from channels.slack import stream as slack_stream
from channels.slack.adapter import SlackChannel
from channels.slack.stream import SlackStream
from channels.streams import Live, StreamEnded
from channels.values import CallRow, Known
from parley.testing.emulators.slack import SlackEmulator
from parley.testing.emulators.slack_chat import Chat
from parley.testing.emulators.slack_state import Message, Person
from tests.channels.slack.conftest import Inbox, key_of

KEY = "run:progress:0"
STOP = ((Button(label="Stop", action="/stop run"),),)


class Scene:
    """A question in a thread of a channel, which is to be answered there."""

    def __init__(self, slack: SlackEmulator, channel: SlackChannel, chat: Chat, root: Message) -> None:
        self.slack, self.channel = slack, channel
        self.ann: Person = root.sender
        self.thread = chat.thread(root)
        self.key: ChatKey = key_of(slack, chat, root.ts)

    def stream(self) -> SlackStream:
        made = self.channel.stream(self.key, person=self.ann.id, reply_to=None, key=KEY)
        assert made is not None
        return made

    @property
    def answer(self) -> Message:
        (only,) = self.thread.bot_messages
        return only

    def calls(self, method: str) -> int:
        return sum(call.method == method for call in self.slack.calls)


@pytest.fixture
async def scene(slack: SlackEmulator, channel: SlackChannel) -> Scene:
    ann = slack.person("Ann")
    chat = slack.group("general", [ann])
    return Scene(slack, channel, chat, await chat.says(ann, "@parley_bot count"))


def live(words: str = "", *calls: CallRow, note: str = "") -> Live:
    return Live(text=words or "…", words=words, calls=calls, note=note)


def call(number: int, state: str = "running", **more: object) -> CallRow:
    return CallRow.model_validate({"id": str(number), "label": f"Read {number}", "state": state, **more})


def posted(stream: SlackStream) -> Posted:
    assert stream.posted is not None
    return stream.posted


async def test_words_grow_and_become_the_answer(scene: Scene) -> None:
    stream = scene.stream()
    await stream.show(live("One, **tw"))
    assert scene.thread.screen == ["One,"]
    await stream.show(live("One, **two**, thr"))
    assert scene.thread.screen == ["One, two, thr"]
    await scene.channel.edit(posted(stream), OutboundMessage(markdown="One, **two**, three.", buttons=STOP))

    assert scene.thread.screen == ["One, two, three."]
    assert [[each.text for each in row] for row in scene.answer.buttons] == [["Stop"]]
    assert scene.answer.metadata == {"event_type": "parley_message", "event_payload": {"key": KEY}}
    assert (scene.thread.streaming, scene.thread.broken) == ([], [])
    assert scene.calls("chat.update") == 0


async def test_tool_calls_are_tasks_of_a_plan_which_ends_folded_above_the_answer(scene: Scene) -> None:
    stream = scene.stream()
    await stream.show(live("", call(1)))
    plan = scene.answer.plan
    assert plan is not None
    assert (plan.title, [(each.title, each.status) for each in plan.tasks]) == ("Read 1", [("Read 1", "in_progress")])
    done = call(1, "done", note="3 lines", ms=2_100)
    await stream.show(live("", done, call(2, "waiting"), note="Waiting for a model"))
    assert scene.answer.plan is not None
    assert scene.answer.plan.title == "Waiting for a model"
    failed = call(2, "failed")
    await stream.show(live("", done, failed))
    assert scene.answer.plan.title == "Working"
    await stream.show(live("It is", done, failed))
    await scene.channel.edit(posted(stream), OutboundMessage(markdown="It is done.", calls=(done, failed)))

    plan = scene.answer.plan
    assert plan is not None
    assert plan.title == "Used 2 tools, 1 failed"
    assert [(each.title, each.status, each.output) for each in plan.tasks] == [
        ("Read 1 (2 s)", "complete", "3 lines"),
        ("Read 2", "error", ""),
    ]
    assert scene.thread.screen == ["It is done."]
    assert scene.calls("chat.update") == 0


async def test_a_plan_of_a_message_that_was_never_streamed_looks_the_same(scene: Scene) -> None:
    calls = (call(1, "done", note="3 lines", ms=2_100), call(2, "done"))
    await scene.channel.send(scene.key, OutboundMessage(markdown="Done.", calls=calls), "run:0")
    plan = scene.answer.plan
    assert plan is not None
    assert (plan.title, len(plan.tasks), plan.tasks[0].output) == ("Used 2 tools", 2, "3 lines")
    assert scene.thread.screen == ["Done."]


async def test_a_plan_speaks_the_language_of_the_chat(scene: Scene, inbox: Inbox) -> None:
    chinese = scene.slack.person("Bo", language="zh-CN")
    await scene.thread.says(chinese, "@parley_bot 你好")
    await inbox.until(lambda events: len(events) == 2)
    message = OutboundMessage(markdown="好。", calls=(call(1, "done"), call(2, "done")))
    await scene.channel.send(scene.key, message, "run:0")
    assert scene.answer.plan is not None
    assert scene.answer.plan.title == "使用了 2 个工具"


async def test_words_before_a_tool_call_go_when_the_answer_is_there(scene: Scene) -> None:
    stream = scene.stream()
    await stream.show(live("I will look"))
    await stream.show(live("I will look.", call(1)))
    assert stream.has_news(live("", call(1, "done")))
    await stream.show(live("", call(1, "done")))
    await stream.show(live("It is", call(1, "done")))
    await stream.show(live("It is quite", call(1, "done")))
    assert scene.answer.source == "I will look.\n\nIt is quite"
    await scene.channel.edit(posted(stream), OutboundMessage(markdown="It is quite done.", calls=(call(1, "done"),)))
    assert scene.thread.screen == ["It is quite done."]
    assert (scene.thread.streaming, scene.thread.broken) == ([], [])


async def test_an_answer_that_begins_anew_takes_the_place_of_what_was_streamed(scene: Scene) -> None:
    stream = scene.stream()
    await stream.show(live("", call(1, "done")))
    await stream.show(live("It was", call(1, "done")))
    assert stream.has_news(live("It is", call(1, "done")))
    with pytest.raises(StreamEnded):
        await stream.show(live("It is", call(1, "done")))
    await scene.channel.edit(posted(stream), OutboundMessage(markdown="It is done.", calls=(call(1, "done"),)))
    assert scene.thread.screen == ["It is done."]
    assert (scene.thread.streaming, scene.thread.broken) == ([], [])


async def test_an_answer_with_a_table_has_it_as_a_block(scene: Scene) -> None:
    stream = scene.stream()
    await stream.show(live("Look at this"))
    table = "Look at this:\n\n| a | b |\n|--|--|\n| 1 | 2 |"
    await scene.channel.edit(posted(stream), OutboundMessage(markdown=table))
    assert [each["type"] for each in scene.answer.blocks] == ["markdown", "table"]
    assert scene.thread.streaming == []


async def test_another_process_edits_and_deletes_what_is_still_streamed(scene: Scene, another: SlackChannel) -> None:
    edited, deleted = scene.stream(), scene.stream()
    await edited.show(live("Half of"))
    await another.edit(posted(edited), OutboundMessage(markdown="Half of it, and the rest."))
    assert scene.thread.screen == ["Half of it, and the rest."]
    with pytest.raises(StreamEnded):
        await edited.show(live("Half of it, and"))
    await deleted.show(live("Half of"))
    await another.delete(posted(deleted))
    assert scene.thread.screen == ["Half of it, and the rest."]
    with pytest.raises(MessageGone):
        await another.delete(posted(deleted))


async def test_a_message_that_was_deleted_under_the_stream_is_gone(scene: Scene) -> None:
    stream = scene.stream()
    await stream.show(live("Half of"))
    await scene.thread.deletes(scene.answer)
    with pytest.raises(MessageGone):
        await stream.show(live("Half of it"))
    with pytest.raises(MessageGone):
        await scene.channel.edit(posted(stream), OutboundMessage(markdown="Half of it."))


async def test_the_own_stream_is_ended_before_its_message_is_deleted(scene: Scene) -> None:
    stream = scene.stream()
    await stream.show(live("Half of"))
    await scene.channel.delete(posted(stream))
    assert scene.thread.bot_messages == []
    assert scene.calls("chat.delete") == 1


@pytest.mark.parametrize("error", ["feature_not_enabled", "missing_scope", "channel_type_not_supported"])
async def test_a_chat_that_refuses_streams_has_none(scene: Scene, error: str) -> None:
    scene.slack.refuse_streams(error)
    with pytest.raises(StreamEnded):
        await scene.stream().show(live("Half of"))
    assert scene.channel.stream(scene.key, person=scene.ann.id, reply_to=None, key=KEY) is None


async def test_a_begin_that_would_have_to_wait_is_left(scene: Scene) -> None:
    scene.slack.faults.rate_limit("chat.startStream", retry_after=20)
    stream = scene.stream()
    with pytest.raises(StreamEnded):
        await stream.show(live("Half of"))
    assert stream.posted is None


async def test_a_lost_append_ends_the_stream_and_loses_no_word(scene: Scene) -> None:
    stream = scene.stream()
    await stream.show(live("One"))
    scene.slack.faults.lose_answer("chat.appendStream")
    with pytest.raises(StreamEnded):
        await stream.show(live("One, two"))
    await scene.channel.edit(posted(stream), OutboundMessage(markdown="One, two, three"))
    assert scene.thread.screen == ["One, two, three"]


async def test_an_append_that_has_to_wait_comes_later(scene: Scene) -> None:
    stream = scene.stream()
    await stream.show(live("One"))
    scene.slack.faults.rate_limit("chat.appendStream", retry_after=1)
    with pytest.raises(ChannelError) as caught:
        await stream.show(live("One, two"))
    assert (caught.value.retry_after, isinstance(caught.value, StreamEnded)) == (1, False)
    await stream.show(live("One, two, three"))
    assert scene.thread.screen == ["One, two, three"]


async def test_an_end_that_was_not_confirmed_is_completed_by_an_edit(scene: Scene) -> None:
    stream = scene.stream()
    await stream.show(live("One"))
    scene.slack.faults.lose_answer("chat.stopStream")
    await scene.channel.edit(posted(stream), OutboundMessage(markdown="One, two"))
    assert scene.thread.screen == ["One, two"]
    assert (scene.thread.streaming, scene.thread.broken) == ([], [])


async def test_an_end_that_has_to_wait_is_repeated(scene: Scene) -> None:
    stream = scene.stream()
    await stream.show(live("One"))
    scene.slack.faults.rate_limit("chat.stopStream", retry_after=1)
    answer = OutboundMessage(markdown="One, two")
    with pytest.raises(ChannelError):
        await scene.channel.edit(posted(stream), answer)
    await asyncio.sleep(1)  # the time that Slack has named
    await scene.channel.edit(posted(stream), answer)
    assert scene.thread.screen == ["One, two"]
    assert scene.calls("chat.update") == 0


async def test_a_begin_that_was_not_confirmed_is_found(scene: Scene, another: SlackChannel) -> None:
    earlier = await scene.channel.send(scene.key, OutboundMessage(markdown="Earlier"), "run:early")
    scene.slack.faults.lose_answer("chat.startStream")
    stream = scene.stream()
    with pytest.raises(ChannelError) as caught:
        await stream.show(live("Half of"))
    assert caught.value.ambiguous
    message, known = OutboundMessage(markdown="Half of"), Known(others=frozenset((earlier.message_id,)))
    begun = scene.thread.streaming[0].ts

    found = await scene.channel.find_sent(scene.key, message, KEY, known)
    assert found is not None
    assert found.message_id == begun
    after_restart = await another.find_sent(scene.key, OutboundMessage(markdown=""), KEY, known)
    assert after_restart is not None
    assert after_restart.message_id == begun
    assert await another.find_sent(scene.key, message, "run:0", known) is None  # an answer is no stream
    await another.edit(found, OutboundMessage(markdown="Half of it."))
    assert scene.thread.screen == ["Earlier", "Half of it."]


async def test_a_reader_who_stops_the_message_stops_the_run(scene: Scene, inbox: Inbox) -> None:
    stream = scene.stream()
    await stream.show(live("Half of"))
    await scene.thread.stops(scene.ann)
    with pytest.raises(StreamEnded):
        await stream.show(live("Half of it"))
    await inbox.until(lambda events: any(isinstance(each, CommandInvoked) for each in events))
    (stop,) = [each for each in inbox.events if isinstance(each, CommandInvoked)]  # told twice, heard once
    assert (stop.name, stop.chat, stop.sender.id) == ("stop", scene.key, scene.ann.id)


async def test_a_stream_that_tells_nothing_more_is_ended_before_slack_breaks_it(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slack_stream, "QUIET", 0.2)
    stream = scene.stream()
    await stream.show(live("Half of"))
    await scene.thread.until(lambda chat: bool(chat.bot_messages) and not chat.streaming)
    with pytest.raises(StreamEnded):
        await stream.show(live("Half of"))
    assert stream.has_news(live("Half of"))


async def test_a_stream_is_kept_open_while_tools_run_but_not_for_ever(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slack_stream, "QUIET", 0.1)
    monkeypatch.setattr(slack_stream, "LONGEST", 1.0)
    stream = scene.stream()
    await stream.show(live("", call(1)))
    await scene.slack.wait_for(lambda: scene.calls("chat.appendStream") >= 3, 30)
    assert scene.thread.streaming
    await scene.thread.until(lambda chat: not chat.streaming)
    assert scene.thread.broken == []


async def test_no_stream_is_left_open_when_the_channel_closes(scene: Scene) -> None:
    await scene.stream().show(live("Half of", call(1)))
    await scene.channel.close()
    assert (scene.thread.streaming, len(scene.thread.bot_messages)) == ([], 1)


async def test_the_end_of_a_long_answer_comes_with_the_message(scene: Scene) -> None:
    whole = "\n\n".join(f"Paragraph {number} {'of many words ' * 20}".strip() for number in range(200))
    assert len(whole) > 55_000
    scene.slack.pace.on = False
    stream = scene.stream()
    for end in (5_000, 9_500, 30_000, len(whole)):
        await stream.show(live(whole[:end]))
    parts = scene.channel.split(OutboundMessage(markdown=whole))
    await scene.channel.edit(posted(stream), parts[0])
    for number, part in enumerate(parts[1:]):
        await scene.channel.send(scene.key, part, f"run:{number}")
    assert "\n".join(scene.thread.screen).split() == whole.split()
    assert scene.calls("chat.update") == 0


async def test_more_tasks_than_a_plan_has_are_shown_by_edits(scene: Scene) -> None:
    stream = scene.stream()
    calls = [call(number, "done") for number in range(60)]
    await stream.show(live("", *calls[:50]))
    with pytest.raises(StreamEnded):
        await stream.show(live("", *calls))
    await scene.channel.edit(posted(stream), OutboundMessage(markdown="Done.", calls=tuple(calls)))
    assert scene.answer.plan is not None
    assert (scene.answer.plan.title, len(scene.answer.plan.tasks)) == ("Used 60 tools", 50)


async def test_mentions_of_a_model_call_nobody_wherever_the_text_breaks(scene: Scene) -> None:
    stream = scene.stream()
    for words in ("Dear <", "Dear <!chan", "Dear <!channel> and", "Dear <!channel> and <@U7>, hello"):
        await stream.show(live(words, call(1, "done", note="<!here>")))
    assert "<" not in scene.answer.source
    assert "@channel and @U7, hello" in scene.thread.screen[0]


async def test_no_address_is_streamed_since_slack_would_fetch_it_for_a_preview(scene: Scene) -> None:
    stream = scene.stream()
    where = call(1, "done", label="Reading https://a.example/x", note="see http://b.example")
    words = "Look at [this](https://a.example/?secret) and www.b.example."
    await stream.show(live("Look at [this](https://a", where))
    await stream.show(live(words, where))
    await scene.channel.edit(posted(stream), OutboundMessage(markdown=words, calls=(where,)))

    for each in scene.slack.calls:
        if each.method.endswith("Stream"):
            assert "://" not in str(each.params.get("chunks")), each.method
            assert "www" not in str(each.params.get("chunks")), each.method
    assert scene.thread.screen == ["Look at this and www.b.example."]
    assert "https://a.example/?secret" in scene.answer.blocks[1]["text"]  # type: ignore[operator]


async def test_words_behind_an_address_are_seen_to_grow_by_edits(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = scene.stream()
    await stream.show(live("See "))
    assert not stream.has_news(live("See https://a.example for more"))
    monkeypatch.setattr(slack_stream, "MOST_WAIT", 0.0)
    assert stream.has_news(live("See https://a.example for more"))
    with pytest.raises(StreamEnded):
        await stream.show(live("See https://a.example for more"))


async def test_a_long_thought_is_shown_by_a_message_with_a_button(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = scene.stream()
    assert not stream.has_news(live())
    monkeypatch.setattr(slack_stream, "MOST_THINKING", 0.0)
    assert stream.has_news(live())
    with pytest.raises(StreamEnded):
        await stream.show(live())
    assert stream.posted is None


async def test_which_chats_have_streams(scene: Scene) -> None:
    direct = scene.slack.private(scene.ann)
    pane = await direct.opens_assistant(scene.ann)
    channel = key_of(scene.slack, scene.thread)

    def has(chat: ChatKey, person: str = scene.ann.id) -> bool:
        return scene.channel.stream(chat, person=person, reply_to=None, key=KEY) is not None

    assert has(scene.key)
    assert has(channel)
    assert has(key_of(scene.slack, direct, pane.messages[0].ts))
    assert not has(key_of(scene.slack, direct))
    assert not has(scene.key, "schedule")
    stream = scene.channel.stream(channel, person=scene.ann.id, reply_to=None, key=KEY)
    assert stream is not None
    await stream.show(live("In the channel"))


async def test_a_plan_that_slack_refuses_is_left_out(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parley.testing.emulators.slack_blocks.KNOWN", {"markdown", "actions"})
    message = OutboundMessage(markdown="Done.", calls=(call(1, "done"),), buttons=STOP)
    sent = await scene.channel.send(scene.key, message, "run:0")
    assert scene.thread.screen == ["Done."]
    assert scene.answer.buttons
    await scene.channel.edit(sent, OutboundMessage(markdown="", calls=(call(1), call(2, "done"))))
    assert scene.thread.screen == ["… Read 1\n✓ Read 2"]
    assert scene.answer.plan is None
