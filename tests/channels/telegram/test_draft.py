"""Drafts, through the real SDK."""

import time

import pytest

from channels.base import OutboundMessage
from channels.streams import Live, StreamEnded
from channels.telegram.adapter import TelegramChannel, open_channel
from channels.telegram.draft import LONGEST
from channels.values import CallRow
from parley.testing.emulators.telegram import TelegramEmulator
from parley.testing.emulators.telegram_chat import DRAFT_SECONDS, Chat
from parley.testing.emulators.telegram_methods import DRAFT
from tests.channels.telegram.conftest import config_for, key_of

THINKING = Live(text="Working…")


async def begun(telegram: TelegramEmulator) -> Chat:
    ann = telegram.person("Ann")
    chat = telegram.private(ann)
    await chat.says(ann, "hi")
    return chat


def words(text: str, *calls: CallRow) -> Live:
    return Live(text=text, words=text, calls=calls)


async def test_words_are_a_draft_until_the_message_is_sent(
    telegram: TelegramEmulator, channel: TelegramChannel
) -> None:
    chat = await begun(telegram)
    stream = channel.stream(key_of(telegram, chat), person="1", reply_to=None, key="run-1:progress:0")
    assert stream is not None

    await stream.show(words("It is"))
    await stream.show(words("It is **391**"))
    assert chat.draft is not None
    assert chat.draft.text == "It is 391"
    assert [each.type for each in chat.draft.entities] == ["bold"]
    assert len({each.draft_id for each in chat.drafts}) == 1
    assert chat.screen == []
    await channel.send(key_of(telegram, chat), OutboundMessage(markdown="It is **391**."), "k")

    assert chat.draft is None
    assert chat.screen == ["It is 391."]
    assert stream.posted is None


async def test_before_the_first_words_telegram_shows_that_the_bot_thinks(
    telegram: TelegramEmulator, channel: TelegramChannel
) -> None:
    chat = await begun(telegram)
    stream = channel.stream(key_of(telegram, chat), person="1", reply_to=None, key="k")
    assert stream is not None

    await stream.show(THINKING)

    assert [each.text for each in chat.drafts] == [""]
    assert not stream.has_news(THINKING)
    assert stream.has_news(words("It"))


async def test_what_takes_long_and_running_tools_are_shown_by_a_message_with_a_button_to_stop(
    telegram: TelegramEmulator,
) -> None:
    chat, now = await begun(telegram), 1_000.0
    channel = open_channel(config_for(telegram), lambda: now)
    stream = channel.stream(key_of(telegram, chat), person="1", reply_to=None, key="k")
    assert stream is not None
    await stream.show(words("It is", CallRow(id="1", label="Looking", state="done", ms=10)))

    with pytest.raises(StreamEnded):
        await stream.show(words("It is", CallRow(id="2", label="Looking", state="running")))
    now += LONGEST + 1
    for live in (THINKING, words("It is")):
        assert stream.has_news(live)
        with pytest.raises(StreamEnded):
            await stream.show(live)
    assert len(chat.drafts) == 1
    assert LONGEST < DRAFT_SECONDS, "Telegram drops a draft that was not sent again"
    await channel.close()


async def test_groups_have_no_drafts(telegram: TelegramEmulator, channel: TelegramChannel) -> None:
    group = telegram.group("Team", [telegram.person("Ann")])

    assert channel.stream(key_of(telegram, group), person="1", reply_to=None, key="k") is None


async def test_a_server_that_has_no_drafts_ends_the_stream_and_is_not_asked_again(
    telegram: TelegramEmulator, channel: TelegramChannel
) -> None:
    chat = await begun(telegram)
    stream = channel.stream(key_of(telegram, chat), person="1", reply_to=None, key="k")
    assert stream is not None

    telegram.lacks = frozenset({"sendMessageDraft"})

    with pytest.raises(StreamEnded):
        await stream.show(words("It is"))
    assert channel.stream(key_of(telegram, chat), person="1", reply_to=None, key="k2") is None, "asked once only"


@pytest.mark.parametrize("fault", ["rate limit", "error"])
async def test_a_draft_that_is_refused_for_now_only_pauses_and_no_message_waits_for_it(
    telegram: TelegramEmulator, fault: str
) -> None:
    chat, now = await begun(telegram), 1_000.0
    channel = open_channel(config_for(telegram), lambda: now)
    stream = channel.stream(key_of(telegram, chat), person="1", reply_to=None, key="k")
    assert stream is not None
    if fault == "error":
        telegram.faults.fail(DRAFT)
    else:
        telegram.faults.rate_limit(DRAFT, retry_after=3)

    await stream.show(words("It is"))
    assert not stream.has_news(words("It is 391"))
    await channel.send(key_of(telegram, chat), OutboundMessage(markdown="Something else."), "k")
    assert chat.screen == ["Something else."]
    assert telegram.calls_in_window == 0

    now += 3
    assert stream.has_news(words("It is 391"))
    now += LONGEST
    with pytest.raises(StreamEnded):
        await stream.show(words("It is 391"))
    await channel.close()


@pytest.mark.parametrize("renewals", ["not needed", "refused"])
async def test_a_draft_that_telegram_has_dropped_in_mid_answer_is_followed_by_the_whole_message(renewals: str) -> None:
    began, ahead = time.monotonic(), 0.0

    def clock() -> float:
        return began + ahead

    async with TelegramEmulator(clock=clock) as telegram:
        chat = await begun(telegram)
        channel = open_channel(config_for(telegram), clock)
        stream = channel.stream(key_of(telegram, chat), person="1", reply_to=None, key="k")
        assert stream is not None
        await stream.show(words("It is"))
        ahead = LONGEST / 2
        if renewals == "refused":
            telegram.faults.fail(DRAFT)
            await stream.show(words("It is a long"))
        ahead = DRAFT_SECONDS + 1
        assert chat.draft is None
        assert chat.screen == []

        assert stream.has_news(words("It is a long"))
        with pytest.raises(StreamEnded):
            await stream.show(words("It is a long"))
        message = await channel.send(key_of(telegram, chat), OutboundMessage(markdown="It is a long"), "k")
        await channel.edit(message, OutboundMessage(markdown="It is a long story."))
        assert chat.screen == ["It is a long story."]
        await channel.close()
        assert telegram.violations == []
