"""Threads as chats of their own: created for a conversation where configured, or deleted meanwhile."""

from collections.abc import AsyncIterator

import pytest

from channels.base import Addressed, ChannelError, ChatKey, OutboundMessage
from channels.discord.adapter import DiscordChannel
from parley.testing.emulators.discord import DiscordEmulator
from tests.channels.discord.conftest import Inbox, config_for, key_of, listening, opened


@pytest.fixture
async def threading(discord: DiscordEmulator) -> AsyncIterator[DiscordChannel]:
    """A channel that opens a thread for each conversation."""
    async with opened(config_for(discord, thread_channels="all")) as made:
        yield made


async def say(channel: DiscordChannel, chat: ChatKey, text: str) -> None:
    await channel.send(chat, OutboundMessage(markdown=text), f"key of {text}")


async def test_a_thread_that_people_made_is_a_chat_of_its_own(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox
) -> None:
    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    first = await chat.says(ann, "plans")
    await inbox.message()
    thread = chat.thread(first)
    await thread.says(ann, "@parley_bot hello")

    event = await inbox.message()
    assert event.chat == key_of(chat, thread.id)
    await say(channel, event.chat, "hi there")
    assert thread.screen == ["hi there"]


async def test_a_mention_gets_a_thread_named_from_its_words(
    discord: DiscordEmulator, threading: DiscordChannel
) -> None:
    async with listening(discord, threading) as inbox:
        ann = discord.person("Ann")
        chat = discord.group("Team", [ann])
        asked = await chat.says(ann, "@parley_bot When do we meet?\nI forgot.")
        event = await inbox.message()
        assert event.chat == key_of(chat, asked.id)
        await threading.typing(event.chat)
        await threading.send(event.chat, OutboundMessage(markdown="At ten.", reply_to=asked.id), "k")
        thread = chat.thread(asked)
        await thread.says(ann, "thanks")

        more = await inbox.message()
    assert thread.channel.name == "When do we meet?"
    assert thread.screen == ["At ten."]
    assert (more.chat, more.addressed) == (event.chat, Addressed.AMBIENT)
    assert len(discord.calls_of("POST thread")) == 1


async def test_a_thread_that_was_made_before_a_restart_is_found(
    discord: DiscordEmulator, threading: DiscordChannel
) -> None:
    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    asked = await chat.says(ann, "@parley_bot hi")
    thread = chat.thread(asked)
    await say(threading, key_of(chat, asked.id), "back again")

    assert thread.screen == ["back again"]


async def test_a_conversation_without_words_has_a_thread_with_a_name(
    discord: DiscordEmulator, threading: DiscordChannel
) -> None:
    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    asked = await chat.says(ann, "", document=("a.txt", b"x", "text/plain"))
    await say(threading, key_of(chat, asked.id), "what is it?")

    assert chat.thread(asked).channel.name == "Conversation"


async def test_direct_messages_have_no_threads(discord: DiscordEmulator, threading: DiscordChannel) -> None:
    async with listening(discord, threading) as inbox:
        ann = discord.person("Ann")
        await discord.private(ann).says(ann, "hi")
        assert (await inbox.message()).chat.thread is None


async def test_history_of_a_thread_begins_with_the_message_it_was_made_from(
    discord: DiscordEmulator, threading: DiscordChannel
) -> None:
    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    asked = await chat.says(ann, "@parley_bot hi")
    none_yet = await threading.history(key_of(chat, asked.id))
    thread = chat.thread(asked)
    said = await thread.says(ann, "more")
    found = await threading.history(key_of(chat, asked.id))
    newer = await threading.history(key_of(chat, asked.id), after=asked.id)

    assert none_yet == []
    assert [event.message_id for event in found] == [asked.id, said.id]
    assert {str(event.chat) for event in found} == {str(key_of(chat, asked.id))}
    assert [event.message_id for event in newer] == [said.id]


async def test_a_mention_while_nobody_listened_is_found_with_its_thread(
    discord: DiscordEmulator, threading: DiscordChannel
) -> None:
    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    before = await chat.says(ann, "ambient")
    asked = await chat.says(ann, "@parley_bot hi")

    (event,) = await threading.history(key_of(chat), after=before.id)
    assert (event.event_id, event.chat) == (f"discord:{asked.id}", key_of(chat, asked.id))


async def test_a_thread_whose_channel_was_not_told_is_asked_for(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox
) -> None:
    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    thread = chat.thread(await chat.says(ann, "old"))
    await inbox.message()
    await discord.push({"t": "THREAD_DELETE", "d": {"id": thread.id, "type": 11}})
    await thread.says(ann, "wake up")

    assert (await inbox.message()).chat == key_of(chat, thread.id)
    assert len(discord.calls_of("GET channel")) == 1


async def test_an_archived_thread_opens_again_when_we_write(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox
) -> None:
    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    thread = chat.thread(await chat.says(ann, "old"))
    await thread.archive_thread()
    await say(channel, key_of(chat, thread.id), "still here")

    assert thread.screen == ["still here"]


async def test_a_thread_that_is_locked_or_deleted_under_a_run_is_said_so_for_good(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox
) -> None:
    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    thread = chat.thread(await chat.says(ann, "old"))
    where = key_of(chat, thread.id)
    posted = await channel.send(where, OutboundMessage(markdown="working"), "k")
    await thread.lock_thread()
    with pytest.raises(ChannelError, match="the thread is locked") as locked:
        await say(channel, where, "x")
    await thread.delete_channel()
    with pytest.raises(ChannelError, match="channel or thread no longer exists") as gone:
        await channel.edit(posted, OutboundMessage(markdown="y"))

    assert locked.value.permanent
    assert gone.value.permanent


async def test_a_thread_of_a_conversation_that_is_locked_or_deleted_under_a_run_is_not_made_again(
    discord: DiscordEmulator, threading: DiscordChannel
) -> None:
    async with listening(discord, threading) as inbox:
        ann = discord.person("Ann")
        chat = discord.group("Team", [ann])
        asked = await chat.says(ann, "@parley_bot hi")
        where = (await inbox.message()).chat
        posted = await threading.send(where, OutboundMessage(markdown="working"), "k")
        thread = chat.thread(asked)
        await thread.lock_thread()
        with pytest.raises(ChannelError, match="the thread is locked") as locked:
            await say(threading, where, "x")
        await thread.delete_channel()
        for call in (say(threading, where, "y"), threading.edit(posted, OutboundMessage(markdown="z"))):
            with pytest.raises(ChannelError, match="channel or thread no longer exists") as gone:
                await call
        again = await chat.says(ann, "@parley_bot again")

        assert locked.value.permanent
        assert gone.value.permanent
        assert (await inbox.message()).chat == key_of(chat, again.id)
        await say(threading, key_of(chat, again.id), "here")
    assert chat.thread(again).screen == ["here"]
    assert len(discord.calls_of("POST thread")) == 2


async def test_a_message_waits_while_discord_does_not_tell_whose_thread_it_is_in(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox
) -> None:
    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    thread = chat.thread(await chat.says(ann, "old"))
    await inbox.message()
    await discord.push({"t": "THREAD_DELETE", "d": {"id": thread.id, "type": 11}})
    discord.faults.fail("GET channel", status=503)
    await thread.says(ann, "one")
    await thread.says(ann, "two")

    said = [await inbox.message() for _ in range(2)]
    assert [(event.text, event.chat) for event in said] == [(text, key_of(chat, thread.id)) for text in ("one", "two")]
