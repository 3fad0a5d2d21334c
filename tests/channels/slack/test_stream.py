"""Streamed messages, from their begin to the answer that they become."""

import pytest

from channels.base import ChatKey, OutboundMessage
from channels.streams import StreamEnded
from tests.channels.slack.conftest import Inbox, key_of
from tests.channels.slack.streaming import KEY, STOP, Scene, call, live, posted


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


async def test_slack_clears_the_status_as_a_stream_begins_and_no_call_is_spent_on_it(scene: Scene) -> None:
    assert await scene.channel.typing(scene.key)
    assert scene.thread.status
    stream = scene.stream()
    await stream.show(live("It is a long "))
    assert not scene.thread.status

    await scene.channel.edit(posted(stream), OutboundMessage(markdown="It is a long story."))
    await scene.channel.close()
    assert scene.calls("assistant.threads.setStatus") == 1
