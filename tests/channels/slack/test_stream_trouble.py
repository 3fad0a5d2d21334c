"""Streamed messages that are refused, stopped, lost, deleted or ended too soon."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from channels.backoff import replacement_call
from channels.base import ChannelError, CommandInvoked, MessageGone, OutboundMessage
from channels.slack import open_streams
from channels.slack import stream as slack_stream
from channels.slack.adapter import SlackChannel
from channels.streams import StreamEnded
from channels.values import Known
from tests.channels.slack.conftest import Inbox
from tests.channels.slack.streaming import KEY, STOP, Scene, call, live, posted


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


async def test_nothing_is_kept_of_streams_that_have_ended_whoever_ended_them(
    scene: Scene, another: SlackChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slack_stream, "QUIET", 0.2)
    open_now = scene.channel._streams._open  # noqa: SLF001
    taken, answered, stopped, deleted = (scene.stream() for _ in range(4))
    for stream in (taken, answered, stopped, deleted):
        await stream.show(live("Half of", call(1)))
    assert len(open_now) == 4

    await another.edit(posted(taken), OutboundMessage(markdown="Half of it."))
    await scene.channel.edit(posted(answered), OutboundMessage(markdown="Half of it.", calls=(call(1, "done"),)))
    await scene.channel.delete(posted(deleted))
    with pytest.raises(StreamEnded):
        await taken.show(live("Half of it", call(1)))
    await stopped.end("for a test")

    assert open_now == {}


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


@pytest.mark.parametrize("error", ["thread_not_found", "restricted_action_thread_locked", "message_not_found"])
async def test_a_thread_that_refuses_a_stream_leaves_those_of_others(scene: Scene, error: str) -> None:
    scene.slack.refuse_streams(error)
    with pytest.raises(StreamEnded):
        await scene.stream().show(live("Half of"))
    scene.slack.refuse_streams("")
    await scene.stream().show(live("Half of"))
    assert scene.thread.screen == ["Half of"]


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


async def test_a_stream_that_slack_ended_in_mid_answer_loses_no_word(scene: Scene) -> None:
    scene.slack.stream_ttl = -1.0
    stream = scene.stream()
    await stream.show(live("One"))
    with pytest.raises(StreamEnded):
        await stream.show(live("One, two"))
    await scene.channel.edit(posted(stream), OutboundMessage(markdown="One, two, three"))
    assert scene.thread.screen == ["One, two, three"]


async def test_an_append_that_has_to_wait_comes_later(scene: Scene) -> None:
    stream = scene.stream()
    await stream.show(live("One"))
    scene.slack.faults.rate_limit("chat.appendStream", retry_after=4)
    with pytest.raises(ChannelError) as caught:
        await stream.show(live("One, two"))
    assert (caught.value.retry_after, isinstance(caught.value, StreamEnded)) == (4, False)
    with pytest.raises(ChannelError):
        await stream.show(live("One, two, three"))
    assert scene.calls("chat.appendStream") == 1, "Slack is not asked before its time"
    await accepted(lambda: stream.show(live("One, two, three")))
    assert scene.thread.screen == ["One, two, three"]


async def accepted(call: Callable[[], Awaitable[object]]) -> None:
    """Make a call again as long as it has to wait."""
    async with asyncio.timeout(30):
        while True:
            try:
                await replacement_call(call)
            except ChannelError as error:
                if error.retry_after is None:
                    raise
            else:
                return


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
    await replacement_call(lambda: scene.channel.edit(posted(stream), answer))
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
    monkeypatch.setattr(slack_stream, "LONGEST", 4.0)
    stream = scene.stream()
    await stream.show(live("", call(1)))
    await scene.slack.wait_for(lambda: scene.calls("chat.appendStream") >= 3, 30)
    assert scene.thread.streaming
    await scene.thread.until(lambda chat: not chat.streaming)
    assert scene.thread.broken == []


async def test_no_answer_waits_where_slack_takes_no_more_parts_for_long(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slack_stream, "QUIET", 0.2)
    stream, other = scene.stream(), scene.stream()
    await stream.show(live("", call(1)))
    await other.show(live("Half of"))
    scene.slack.faults.rate_limit("chat.appendStream", retry_after=60)
    with pytest.raises(ChannelError):
        await other.show(live("Half of it"))
    await scene.thread.until(lambda chat: not chat.streaming)
    with pytest.raises(StreamEnded):
        await stream.show(live("", call(1, "done")))
    async with asyncio.timeout(10):
        await scene.channel.edit(posted(stream), OutboundMessage(markdown="Done.", calls=(call(1, "done"),)))
    assert "Done." in scene.thread.screen
    assert scene.thread.broken == []


async def test_no_stream_is_left_open_when_the_channel_closes(scene: Scene) -> None:
    await scene.stream().show(live("Half of", call(1)))
    await scene.channel.close()
    assert (scene.thread.streaming, len(scene.thread.bot_messages)) == ([], 1)


async def test_a_stop_does_not_wait_for_long_where_slack_does_not_answer(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_streams, "CLOSE_WITHIN", 0.1)
    await scene.stream().show(live("Half of", call(1)))
    held = scene.slack.faults.hold("chat.stopStream")
    async with asyncio.timeout(10):
        await scene.channel.close()
    held.set()


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


async def test_a_run_that_failed_ends_its_stream_with_an_alert_or_plainly_where_slack_has_none(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = scene.stream()
    await stream.show(live("It is a long story."))
    failed = OutboundMessage(markdown="It is a long story.\n\nThe model broke off.", trouble="The model broke off.")
    await scene.channel.edit(posted(stream), failed)
    assert [each["type"] for each in scene.answer.blocks] == ["markdown", "alert"]
    assert scene.thread.screen == ["It is a long story.\nThe model broke off."]

    monkeypatch.setattr("parley.testing.emulators.slack_blocks.KNOWN", {"markdown", "actions"})
    await scene.channel.edit(posted(stream), failed)
    assert [each["type"] for each in scene.answer.blocks] == ["markdown"]


async def test_a_plan_that_slack_refuses_is_left_out(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parley.testing.emulators.slack_blocks.KNOWN", {"markdown", "actions"})
    message = OutboundMessage(markdown="Done.", calls=(call(1, "done"),), buttons=STOP)
    sent = await scene.channel.send(scene.key, message, "run:0")
    assert scene.thread.screen == ["Done."]
    assert scene.answer.buttons
    await scene.channel.edit(sent, OutboundMessage(markdown="", calls=(call(1), call(2, "done"))))
    assert scene.thread.screen == ["… Read 1\n✓ Read 2"]
    assert scene.answer.plan is None
