"""Apps with Slack's agent view: each direct message begins a conversation, which is answered in its thread."""

from collections.abc import AsyncIterator

import pytest

from channels.base import CommandInvoked, OutboundMessage
from channels.slack.adapter import SlackChannel, open_channel
from channels.slack.sessions import SET_STATUS
from parley.testing.emulators.slack import SlackEmulator
from parley.testing.emulators.slack_session import Session
from tests.channels.slack.conftest import Inbox, config_for, key_of
from tests.channels.slack.streaming import live, posted

HELLO = OutboundMessage(markdown="hello")


@pytest.fixture
async def channel(slack: SlackEmulator) -> AsyncIterator[SlackChannel]:
    """Yield the channel of an app with the agent view."""
    opened = open_channel(config_for(slack).model_copy(update={"agent_view": True}))
    yield opened
    await opened.close()


async def test_each_direct_message_is_a_chat_of_its_own_with_its_thread(slack: SlackEmulator, inbox: Inbox) -> None:
    ann = slack.person("Ann")
    chat = slack.private(ann)
    first = await chat.says(ann, "hello")
    other = await chat.says(ann, "something else")
    await chat.thread(first).says(ann, "and more")
    await chat.edits(first, "hello again")
    await chat.deletes(other)

    await inbox.until(lambda events: len(events) == 5)
    threads = [event.chat.thread for event in inbox.events]
    assert (threads.count(first.ts), threads.count(other.ts)) == (3, 2)


async def test_an_answer_is_streamed_in_the_thread(slack: SlackEmulator, channel: SlackChannel, inbox: Inbox) -> None:
    ann = slack.person("Ann")
    chat = slack.private(ann)
    asked = await chat.says(ann, "hello")
    event = await inbox.message()

    stream = channel.stream(event.chat, person=ann.id, reply_to=None, key="run:progress:0")
    assert stream is not None
    await stream.show(live("Good morning, "))
    await channel.send(event.chat, OutboundMessage(markdown="Is there more?"), "k")

    assert chat.thread(asked).screen == ["Good morning,", "Is there more?"]


async def test_what_was_missed_begins_the_same_conversations(slack: SlackEmulator, channel: SlackChannel) -> None:
    ann = slack.person("Ann")
    chat = slack.private(ann)
    missed = [await chat.says(ann, text) for text in ("hello", "something else")]

    read = await channel.messages_since(key_of(slack, chat), float(missed[0].ts) - 1)

    assert [event.chat.thread for event in read] == [each.ts for each in missed]


async def test_a_command_and_a_question_on_a_message_belong_to_its_conversation(
    slack: SlackEmulator, inbox: Inbox
) -> None:
    ann = slack.person("Ann")
    chat = slack.private(ann)
    said = await chat.says(ann, "hello")
    await inbox.message()

    await chat.shortcut(ann, said, "command_help")

    command = await inbox.next()
    assert isinstance(command, CommandInvoked)
    assert command.chat == key_of(slack, chat, said.ts)


async def test_slack_shows_that_it_works_until_it_has_answered(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox
) -> None:
    ann = slack.person("Ann")
    asked = await slack.private(ann).says(ann, "Plan a <!channel> day\nin Oslo")
    thread = slack.private(ann).thread(asked)
    event = await inbox.message()
    for _ in range(2):
        assert await channel.typing(event.chat)

    assert thread.session == Session("processing", "Plan a @channel day in Oslo")
    assert len(slack.calls_of(SET_STATUS)) == 1, "it stays by itself"
    posted = await channel.send(event.chat, HELLO, "k")
    await thread.until(lambda c: c.session is not None and c.session.status == "active")
    assert await channel.typing(event.chat)
    await channel.edit(posted, OutboundMessage(markdown="done"))
    await thread.until(lambda c: c.session is not None and c.session.status == "active")
    assert slack.calls_of("assistant.threads.setStatus") == []


async def test_a_streamed_answer_goes_on_in_the_session_until_its_end(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox
) -> None:
    ann = slack.person("Ann")
    thread = slack.private(ann).thread(await slack.private(ann).says(ann, "hello"))
    event = await inbox.message()
    await channel.typing(event.chat)
    stream = channel.stream(event.chat, person=ann.id, reply_to=None, key="run:progress:0")
    assert stream is not None
    await stream.show(live("Good morning, "))
    assert thread.session is not None
    assert thread.session.status == "processing"

    await channel.edit(posted(stream), OutboundMessage(markdown="Good morning, Ann."))
    await thread.until(lambda c: c.session is not None and c.session.status == "active")
    assert thread.screen == ["Good morning, Ann."]


async def test_what_a_killed_process_has_left_at_work_is_over_with_the_next_message(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox
) -> None:
    ann = slack.person("Ann")
    thread = slack.private(ann).thread(await slack.private(ann).says(ann, "hello"))
    event = await inbox.message()
    await channel.typing(event.chat)
    later = open_channel(config_for(slack).model_copy(update={"agent_view": True}))
    await later.send(event.chat, HELLO, "k")
    await thread.until(lambda c: c.session is not None and c.session.status == "active")
    await later.send(event.chat, HELLO, "k2")
    assert len(slack.calls_of(SET_STATUS)) == 2, "it is known by then"
    await later.close()


async def test_an_app_that_slack_does_not_take_for_an_agent_shows_the_older_signs(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox
) -> None:
    slack.assistant_allowed = False
    ann = slack.person("Ann")
    chat = slack.private(ann)
    for text in ("hello", "and more"):
        await chat.says(ann, text)
        await channel.typing((await inbox.message()).chat)

    assert len(slack.calls_of(SET_STATUS)) == 1
    assert len(slack.calls_of("assistant.threads.setStatus")) == 1
    assert [action.action for action in chat.actions] == ["reaction", "reaction"]
