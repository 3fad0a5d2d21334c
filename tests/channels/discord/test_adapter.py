"""The real adapter and the real SDK against an emulated Discord, over sockets."""

import time
from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from channels.attachments import Attachment
from channels.base import (
    Addressed,
    Button,
    Channel,
    ChannelError,
    ChatKey,
    MessageDeleted,
    MessageEdited,
    MessageGone,
    OutboundMessage,
    Posted,
)
from channels.capabilities import CatchesUp, Deletes, Downloads, LinksToMessages, ReadsHistory, ShowsTyping
from channels.discord.adapter import DiscordChannel, open_channel
from channels.discord.attachments import MAX_DOWNLOAD
from channels.discord.config import Config
from channels.values import Known
from parley.testing.emulators.discord import DiscordEmulator
from tests.channels.discord.conftest import Inbox, config_for, key_of, listening, opened
from tests.channels.discord.payloads import TOKEN

SOMEWHERE = Posted(chat=ChatKey(platform="discord", account="@me", chat="1"), message_id="2")
PNG = bytes.fromhex("89504e470d0a1a0a") + b"picture"


async def test_it_is_a_channel_with_further_powers() -> None:
    channel = open_channel(Config(bot_token=SecretStr(TOKEN)))
    plain: Channel = channel

    assert plain.name == "discord"
    assert isinstance(channel, ShowsTyping)
    assert isinstance(channel, Downloads)
    assert isinstance(channel, Deletes)
    assert isinstance(channel, ReadsHistory)
    assert isinstance(channel, CatchesUp)


@pytest.mark.parametrize("token", ["", "abc", "a.b.c", TOKEN + " ", TOKEN.replace(".", ""), "Bot " + TOKEN])
def test_a_token_that_cannot_be_one_is_refused_with_the_fix(token: str) -> None:
    with pytest.raises(ValidationError, match=r"discord\.com/developers/applications.*Bot, Reset Token"):
        Config(bot_token=SecretStr(token))


@pytest.mark.parametrize("listed", ["general", "1;2", "all,1"])
def test_channels_that_are_no_ids_are_refused_with_the_fix(listed: str) -> None:
    with pytest.raises(ValidationError, match="Copy Channel ID"):
        Config(bot_token=SecretStr(TOKEN), thread_channels=listed)


async def test_a_message_comes_in_and_an_answer_goes_out(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox
) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    await chat.says(ann, "hello")

    event = await inbox.message()
    assert (event.text, event.sender.name, event.addressed) == ("hello", "Ann", Addressed.DIRECT)
    assert not channel.is_group(event.chat)
    await channel.typing(event.chat)
    await channel.send(event.chat, OutboundMessage(markdown="**Hi** `Ann`"), "k1")

    assert chat.actions[-1].action == "typing"
    assert chat.screen == ["Hi Ann"]


async def test_a_mention_in_a_server_is_answered_in_place(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox
) -> None:
    ann, ben = discord.person("Ann"), discord.person("Ben")
    chat = discord.group("Team", [ann, ben])
    asked = await chat.says(ann, "@parley_bot when do we meet?")

    event = await inbox.message()
    assert (event.text, event.addressed) == ("when do we meet?", Addressed.MENTION)
    assert channel.is_group(event.chat)
    assert event.group == "Team #general"
    await channel.send(event.chat, OutboundMessage(markdown="At ten.", reply_to=asked.id), "k")
    answer = chat.bot_messages[-1]
    await chat.says(ben, "thanks", reply_to=answer)

    reply = await inbox.message()
    assert (reply.addressed, reply.quoted) == (Addressed.REPLY, "parley_bot: At ten.")
    assert reply.chat == event.chat
    assert answer.reply_to is asked
    assert not answer.pings_author


async def test_the_first_send_needs_no_run(discord: DiscordEmulator, channel: DiscordChannel) -> None:
    chat = discord.private(discord.person("Ann"))
    await channel.send(key_of(chat), OutboundMessage(markdown="good morning", silent=True), "k")

    assert (chat.screen, chat.bot_messages[0].silent) == (["good morning"], True)


async def test_the_same_key_is_the_same_message(discord: DiscordEmulator, channel: DiscordChannel) -> None:
    chat = discord.private(discord.person("Ann"))
    message = OutboundMessage(markdown="once")
    first = await channel.send(key_of(chat), message, "run:answer:0")
    again = await channel.send(key_of(chat), message, "run:answer:0")
    await channel.send(key_of(chat), message, "run:answer:1")

    assert first == again
    assert chat.screen == ["once", "once"]


async def test_once_discord_has_forgotten_the_key_a_message_is_found_by_its_author_and_words(
    discord: DiscordEmulator, channel: DiscordChannel
) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    message = OutboundMessage(markdown="**once** and <@1>  \nfor all\n")
    earlier = await channel.send(key_of(chat), message, "earlier")
    await chat.says(ann, "**once** and <@1>  \nfor all")
    known = Known(others=frozenset({earlier.message_id}), since=time.time())
    assert await channel.find_sent(key_of(chat), message, "k", known) is None
    discord.faults.lose_answer("POST message")
    with pytest.raises(ChannelError):
        await channel.send(key_of(chat), message, "k")
    discord.forget_nonces()

    found = await channel.find_sent(key_of(chat), message, "k", known)
    assert found is not None
    assert found.message_id == chat.bot_messages[-1].id != earlier.message_id
    long_after = known.model_copy(update={"since": time.time() + 3_600})
    assert await channel.find_sent(key_of(chat), message, "k", long_after) is None
    assert await channel.find_sent(key_of(chat), OutboundMessage(markdown=""), "k", known) is None


async def test_another_file_of_the_same_name_is_not_taken_for_the_one_that_was_sent(
    discord: DiscordEmulator, channel: DiscordChannel, tmp_path: Path
) -> None:
    chat = discord.private(discord.person("Ann"))
    file = tmp_path / "a.csv"
    message = OutboundMessage(markdown="Here.", attachments=(Attachment(name="a.csv", path=str(file)),))
    file.write_bytes(b"a,b,c")
    await channel.send(key_of(chat), message, "another")
    file.write_bytes(b"a,b")
    assert await channel.find_sent(key_of(chat), message, "k", Known()) is None

    sent = await channel.send(key_of(chat), message, "k")
    found = await channel.find_sent(key_of(chat), message, "k", Known())

    assert found is not None
    assert found.message_id == sent.message_id
    file.unlink()
    assert await channel.find_sent(key_of(chat), message, "k", Known()) is not None


async def test_a_server_error_after_the_message_was_made_shows_it_once(
    discord: DiscordEmulator, channel: DiscordChannel
) -> None:
    chat = discord.private(discord.person("Ann"))
    discord.faults.lose_answer("POST message")
    with pytest.raises(ChannelError) as lost:
        await channel.send(key_of(chat), OutboundMessage(markdown="x"), "k")
    discord.faults.fail("POST message", status=502)
    await channel.send(key_of(chat), OutboundMessage(markdown="x"), "k")

    assert (lost.value.ambiguous, lost.value.permanent) == (True, False)
    assert chat.screen == ["x"]


async def test_nobody_there_is_not_ambiguous(unused_tcp_port: int) -> None:
    nowhere = Config(bot_token=SecretStr(TOKEN), base_url=f"http://127.0.0.1:{unused_tcp_port}")
    async with opened(nowhere) as channel:
        with pytest.raises(ChannelError) as failed:
            await channel.delete(SOMEWHERE)
    assert (failed.value.ambiguous, failed.value.permanent) == (False, False)


async def test_a_long_answer_is_several_messages_and_the_first_is_named(
    discord: DiscordEmulator, channel: DiscordChannel
) -> None:
    chat = discord.private(discord.person("Ann"))
    posted = await channel.send(key_of(chat), OutboundMessage(markdown="word " * 700), "k")

    assert len(chat.bot_messages) == 2
    assert posted.message_id == chat.bot_messages[0].id


async def test_nobody_is_woken_by_what_a_model_writes(discord: DiscordEmulator, channel: DiscordChannel) -> None:
    chat = discord.group("Team", [discord.person("Ann")])
    posted = await channel.send(key_of(chat), OutboundMessage(markdown="@everyone @here <@7000000001> <@&5>"), "k")
    await channel.edit(posted, OutboundMessage(markdown="@everyone again"))

    calls = [*discord.calls_of("POST message"), *discord.calls_of("PATCH message")]
    assert [call.params["allowed_mentions"] for call in calls] == [{"parse": [], "replied_user": False}] * 2


async def test_an_edit_changes_words_and_buttons_and_one_without_change_is_a_success(
    discord: DiscordEmulator, channel: DiscordChannel
) -> None:
    chat = discord.private(discord.person("Ann"))
    stop = ((Button(label="Stop", action="/stop"),),)
    posted = await channel.send(key_of(chat), OutboundMessage(markdown="Working", buttons=stop), "k")
    assert chat.bot_messages[0].button("Stop")
    await channel.edit(posted, OutboundMessage(markdown="**Done**"))
    await channel.edit(posted, OutboundMessage(markdown="**Done**"))

    assert chat.screen == ["Done"]
    assert not chat.bot_messages[0].button("Stop")


async def test_a_message_that_is_gone_cannot_be_edited(discord: DiscordEmulator, channel: DiscordChannel) -> None:
    chat = discord.private(discord.person("Ann"))
    posted = await channel.send(key_of(chat), OutboundMessage(markdown="one"), "k")
    await channel.delete(posted)

    assert chat.screen == []
    with pytest.raises(MessageGone):
        await channel.edit(posted, OutboundMessage(markdown="two"))
    with pytest.raises(MessageGone):
        await channel.delete(posted)


async def test_edits_and_deletions_by_people_come_in(discord: DiscordEmulator, inbox: Inbox) -> None:
    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    asked = await chat.says(ann, "@parley_bot one")
    await chat.edits(asked, "@parley_bot two")
    await chat.deletes(asked)

    said = await inbox.message()
    edit, deletion = await inbox.next(), await inbox.next()
    assert isinstance(edit, MessageEdited)
    assert (edit.text, edit.message_id, edit.chat) == ("two", said.message_id, said.chat)
    assert isinstance(deletion, MessageDeleted)
    assert (deletion.message_id, deletion.sender.id, deletion.chat) == (asked.id, ann.id, said.chat)


async def test_what_a_moderator_takes_away_at_once_is_deleted_one_by_one(
    discord: DiscordEmulator, inbox: Inbox
) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    said = [(await chat.says(ann, text)).id for text in ("one", "two", "three")]
    await inbox.until(lambda events: len(events) == 3)
    inbox.events.clear()
    await discord.push({"t": "MESSAGE_DELETE_BULK", "d": {"ids": ["x", 5, *said[:2]], "channel_id": chat.id}})
    await inbox.until(lambda events: len(events) == 2)

    assert [event.message_id for event in inbox.events if isinstance(event, MessageDeleted)] == said[:2]


async def test_what_we_and_other_bots_say_is_no_event(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox
) -> None:
    ann, robot = discord.person("Ann"), discord.person("Robot", is_bot=True)
    chat = discord.group("Team", [ann, robot])
    await chat.says(robot, "@parley_bot beep")
    posted = await channel.send(key_of(chat), OutboundMessage(markdown="one"), "k")
    await channel.edit(posted, OutboundMessage(markdown="two"))
    await chat.says(ann, "hi")

    assert (await inbox.message()).text == "hi"
    assert inbox.events == []


# Files


async def test_files_can_be_downloaded_also_when_their_address_has_run_out(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox
) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    await chat.says(ann, "look", photo=PNG)
    await chat.says(ann, document=(".env", b"SECRET=1", "text/plain"))
    photo, file = await inbox.message(), await inbox.message()

    assert photo.attachments[0].is_image
    assert await channel.download(photo.attachments[0]) == PNG
    discord.faults.fail("GET attachment", status=404)
    assert (file.attachments[0].safe_name, await channel.download(file.attachments[0])) == ("env", b"SECRET=1")
    assert len(discord.calls_of("GET message")) == 1


async def test_a_file_that_is_too_large_is_refused_in_a_sentence(channel: DiscordChannel) -> None:
    with pytest.raises(ChannelError, match="at most 25 MB") as refused:
        await channel.download(Attachment(name="film.mp4", size=MAX_DOWNLOAD + 1, reference="1 2 3 x"))
    assert refused.value.permanent


async def test_files_go_out_as_large_as_the_server_takes(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox, tmp_path: Path
) -> None:
    ann = discord.person("Ann")
    boosted, plain = discord.group("Team", [ann], tier=2), discord.group("Other", [ann])
    await boosted.says(ann, "hi")
    await plain.says(ann, "hi")
    await inbox.until(lambda events: len(events) == 2)
    (tmp_path / "data.bin").write_bytes(b"x" * (11 * 1024 * 1024))
    (tmp_path / "a.csv").write_bytes(b"a,b")
    files = tuple(Attachment(name=name, path=str(tmp_path / name)) for name in ("a.csv", "data.bin"))
    await channel.send(key_of(boosted), OutboundMessage(markdown="The *data*", attachments=files), "k")
    with pytest.raises(ChannelError, match=r"data\.bin is too large: here Discord takes files of at most 10 MB") as no:
        await channel.send(key_of(plain), OutboundMessage(markdown="", attachments=files[1:]), "k")

    assert boosted.screen == ["[a.csv] The data", "[data.bin]"]
    assert no.value.permanent


async def test_a_file_that_is_gone_is_said_so(discord: DiscordEmulator, channel: DiscordChannel) -> None:
    chat = discord.private(discord.person("Ann"))
    message = OutboundMessage(markdown="", attachments=(Attachment(name="a.txt", path="/nowhere/a.txt"),))
    with pytest.raises(ChannelError, match=r"a\.txt cannot be read") as failure:
        await channel.send(key_of(chat), message, "k")
    assert failure.value.permanent


# History


async def test_history_is_the_newest_of_what_others_said_oldest_first(
    discord: DiscordEmulator, channel: DiscordChannel
) -> None:
    ann, robot = discord.person("Ann"), discord.person("Robot", is_bot=True)
    chat = discord.group("Team", [ann, robot])
    said = [await chat.says(ann if number % 2 else robot, f"line {number}") for number in range(6)]
    await channel.send(key_of(chat), OutboundMessage(markdown="mine"), "k")
    last = await chat.says(ann, "/help me")

    newest = await channel.history(key_of(chat), most=3)
    between = await channel.history(key_of(chat), after=said[1].id, before=said[4].id)
    assert [event.message_id for event in newest] == [said[4].id, said[5].id, last.id]
    assert [event.message_id for event in between] == [said[2].id, said[3].id]
    assert [event.sender.is_bot for event in newest] == [True, False, False]
    assert await channel.history(key_of(chat), after=last.id) == []


async def test_history_looks_behind_our_own_words(discord: DiscordEmulator, channel: DiscordChannel) -> None:
    discord.pace.on = False
    ann = discord.person("Ann")
    chat = discord.private(ann)
    asked = await chat.says(ann, "first")
    for number in range(60):
        await channel.send(key_of(chat), OutboundMessage(markdown=f"line {number}"), f"k{number}")
    found = await channel.history(key_of(chat), after="1", most=2)

    assert [event.message_id for event in found] == [asked.id]


# The command menu


async def test_slash_commands_are_set_once_in_both_languages(discord: DiscordEmulator, inbox: Inbox) -> None:
    await discord.wait_for(lambda: len(discord.commands) == 2)
    (put,) = discord.calls_of("PUT commands")
    assert discord.commands == {"help": "What I can do", "stop": "Stop at once"}
    assert "我能做什么" in str(put.params)
    async with opened(config_for(discord)) as again, listening(discord, again):
        await discord.wait_for(lambda: [call.status for call in discord.calls_of("GET commands")] == [200, 200])
    assert len(discord.calls_of("PUT commands")) == 1


async def test_slash_commands_are_set_although_discord_stumbles_at_first(
    discord: DiscordEmulator, channel: DiscordChannel
) -> None:
    discord.faults.fail("GET commands", status=503)
    discord.faults.drop("PUT commands")
    async with listening(discord, channel):
        await discord.wait_for(lambda: len(discord.commands) == 2)


async def test_a_private_chat_is_where_its_person_writes(discord: DiscordEmulator, channel: DiscordChannel) -> None:
    ann = discord.person("Ann")

    assert await channel.private_chat(ann.id) == key_of(discord.private(ann))


def test_messages_have_an_address_in_servers_threads_and_private_chats(channel: DiscordChannel) -> None:
    assert isinstance(channel, LinksToMessages)
    places = [
        ChatKey(platform="discord", account="77", chat="8"),
        ChatKey(platform="discord", account="77", chat="8", thread="9"),
        ChatKey(platform="discord", account="@me", chat="5"),
    ]

    assert [channel.link(place, "1") for place in places] == [
        "https://discord.com/channels/77/8/1",
        "https://discord.com/channels/77/9/1",
        "https://discord.com/channels/@me/5/1",
    ]
