"""The window of Ask Parley: it asks once, also late and after a restart, and keeps what is not taken in."""

import time
from collections.abc import AsyncIterator

import pytest

from channels.base import MessageReceived
from channels.slack.adapter import SlackChannel
from parley.testing.emulators.slack import SlackEmulator
from parley.testing.emulators.slack_chat import Chat
from parley.testing.emulators.slack_state import Message, Person, View
from tests.channels.slack.conftest import Inbox, listening

HOUR = 3_600.0


class SlacksClock:
    """Time at Slack, which goes on by itself and is put forward by tests."""

    ahead = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.ahead


@pytest.fixture
def clock() -> SlacksClock:
    return SlacksClock()


@pytest.fixture
async def slack(clock: SlacksClock) -> AsyncIterator[SlackEmulator]:
    async with SlackEmulator(clock=clock) as emulator:
        yield emulator
    assert emulator.violations == []


async def shortcut_used(slack: SlackEmulator, inbox: Inbox, language: str = "en") -> tuple[Person, Chat, Message]:
    """Let Ann choose Ask Parley in the menu of Ben's message."""
    ann, ben = slack.person("Ann", language=language), slack.person("Ben")
    chat = slack.group("plans", [ann, ben])
    await chat.says(ann, "hello all")
    said = await chat.says(ben, "Ship it on friday")
    await inbox.until(lambda events: len(events) == 2)
    await chat.shortcut(ann, said, "ask_parley")
    return ann, chat, said


async def window_opened(slack: SlackEmulator) -> View:
    await slack.wait_for(lambda: bool(slack.views))
    return slack.views[0]


def questions(inbox: Inbox) -> list[MessageReceived]:
    return [event for event in inbox.events if isinstance(event, MessageReceived) and ":view:" in event.event_id]


async def test_a_window_asks_once_however_often_it_is_submitted(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox
) -> None:
    ann, _, _ = await shortcut_used(slack, inbox)
    window = await window_opened(slack)

    for _ in range(2):
        await slack.submits(ann, window, {"question": "is that wise?"})
    await slack.submits(slack.person("Eve"), window, {"question": "really?"})
    await inbox.until(lambda _: inbox.offered == 5)

    [asked] = questions(inbox)
    assert (asked.sender.id, asked.text) == (ann.id, "is that wise?")


async def test_a_window_that_is_submitted_an_hour_later_and_after_a_restart_asks_all_of_it(
    slack: SlackEmulator, channel: SlackChannel, another: SlackChannel, clock: SlacksClock
) -> None:
    async with listening(slack, channel) as inbox:
        ann, _, said = await shortcut_used(slack, inbox)
        window = await window_opened(slack)
    await slack.wait_for(lambda: not slack.connected)
    clock.ahead += HOUR
    async with listening(slack, another) as inbox_later:
        submission = await slack.submits(ann, window, {"question": "is that wise?"})
        await slack.wait_for(lambda: submission.answered)

    [asked] = questions(inbox_later)
    assert (asked.text, asked.quoted, asked.chat.thread) == ("is that wise?", "Ben: Ship it on friday", said.ts)
    assert window.closed


@pytest.mark.parametrize(("language", "words"), [("en", "Your words are kept"), ("zh-CN", "您写的内容仍保留")])
async def test_words_that_cannot_be_taken_in_stay_in_the_window_with_a_sentence_and_are_asked_the_next_time(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox, language: str, words: str
) -> None:
    ann, _, _ = await shortcut_used(slack, inbox, language)
    window = await window_opened(slack)
    inbox.refusals = 1
    refused = await slack.submits(ann, window, {"question": "is that wise?"})
    await slack.wait_for(lambda: refused.answered)

    assert isinstance(refused.answer, dict)
    assert refused.answer["response_action"] == "errors"
    assert words in str(refused.answer["errors"])
    assert not window.closed
    again = await slack.submits(ann, window, {"question": "is that wise?"})
    await slack.wait_for(lambda: again.answered)
    assert window.closed
    assert [each.text for each in questions(inbox)] == ["is that wise?"]


@pytest.mark.parametrize(("language", "words"), [("en", "choose Ask Parley again"), ("zh-CN", "请再次选择")])
async def test_a_window_that_comes_too_late_is_told_of_to_the_person_alone(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox, clock: SlacksClock, language: str, words: str
) -> None:
    gate = slack.faults.hold("views.open")
    ann, chat, _ = await shortcut_used(slack, inbox, language)
    await slack.wait_for(lambda: bool(slack.calls_of("views.open")))
    clock.ahead += 4.0
    gate.set()

    await chat.until(lambda c: any(words in text for text in c.screen))
    [told] = [message for message in chat.bot_messages if words in message.shown]
    assert (told.ephemeral_to, slack.views) == (ann.id, [])
