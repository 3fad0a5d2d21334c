"""The emulated Discord through the real SDK: messages, threads, files and refusals."""

import io
from collections.abc import AsyncIterator

import discord as sdk
import pytest

from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.discord_sdk import Ear, listening


@pytest.fixture
async def ear(discord: DiscordEmulator) -> AsyncIterator[Ear]:
    async with listening(discord) as connected:
        yield connected


async def heard(ear: Ear, count: int = 1) -> sdk.Message:
    """Wait for so many user messages and return the last one."""
    await ear.until(lambda: len(ear.messages) >= count)
    return ear.messages[-1]


def refused(code: int) -> "pytest.RaisesExc[sdk.HTTPException]":
    return pytest.raises(sdk.HTTPException, match=rf"error code: {code}\b")


async def test_a_message_in_a_server_names_its_author_and_mentions_the_bot(discord: DiscordEmulator, ear: Ear) -> None:
    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    said = await chat.says(ann, "hello @parley_bot")
    message = await heard(ear)

    assert (ann.id, str(message.id)) == ("7000000001", said.id)
    assert message.content == f"hello <@{discord.bot.id}>"
    assert said.text == "hello @parley_bot"
    assert message.guild is not None
    assert isinstance(message.author, sdk.Member)
    assert ear.user in message.mentions
    assert str(message.channel.id) == chat.id


async def test_direct_messages_have_a_channel_of_their_own(discord: DiscordEmulator, ear: Ear) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    await chat.says(ann, "psst")
    message = await heard(ear)

    assert message.guild is None
    assert chat.id != ann.id
    user = await ear.fetch_channel(int(chat.id))
    assert isinstance(user, sdk.DMChannel)
    assert user.recipient is not None
    assert user.recipient.id == int(ann.id)


async def test_an_answer_is_seen_without_its_marks_and_edits_are_remembered(discord: DiscordEmulator, ear: Ear) -> None:
    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    question = await chat.says(ann, "17 * 23?")
    message = await heard(ear)

    answer = await message.reply("It is **391**.\n```python\nprint(391)\n```\nSee `calc` \\*there\\*.")
    assert chat.screen == ["It is 391.\nprint(391)\nSee calc *there*."]
    await answer.edit(content="Wrong")
    (shown,) = chat.bot_messages
    assert shown.history == ["It is 391.\nprint(391)\nSee calc *there*.", "Wrong"]
    assert shown.reply_to is question
    await answer.delete()
    assert chat.screen == []


async def test_a_reply_brings_the_message_that_it_answers(discord: DiscordEmulator, ear: Ear) -> None:
    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    first = await chat.says(ann, "first")
    await chat.says(ann, "second", reply_to=first)
    message = await heard(ear, 2)

    assert message.type is sdk.MessageType.reply
    assert message.reference is not None
    assert isinstance(message.reference.resolved, sdk.Message)
    assert message.reference.resolved.content == "first"


async def test_without_the_content_intent_only_what_is_meant_for_the_bot_has_words(discord: DiscordEmulator) -> None:
    ann = discord.person("Ann")
    group, private = discord.group("Team", [ann]), discord.private(ann)
    intents = sdk.Intents(guilds=True, guild_messages=True, dm_messages=True)
    async with listening(discord, intents) as ear:
        await group.says(ann, "not for you")
        await group.says(ann, "@parley_bot for you")
        await private.says(ann, "for you too")
        await heard(ear, 3)
        words = [each.content for each in ear.messages]

    assert words == ["", f"<@{discord.bot.id}> for you", "for you too"]
    assert discord.intents_used == {"GUILDS", "GUILD_MESSAGES", "DIRECT_MESSAGES"}


async def test_files_go_both_ways(discord: DiscordEmulator, ear: Ear) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    await chat.says(ann, "my plan", document=("plan.txt", b"buy milk", "text/plain"))
    message = await heard(ear)
    (attachment,) = message.attachments
    assert (message.content, attachment.filename, await attachment.read()) == ("my plan", "plan.txt", b"buy milk")

    await message.channel.send("done", file=sdk.File(io.BytesIO(b"1,2"), "figures.csv"))
    (sent,) = chat.bot_messages
    assert chat.screen == ["[figures.csv] done"]
    assert sent.document is not None
    assert (sent.document.name, sent.document.mime, sent.document.content) == ("figures.csv", "text/csv", b"1,2")


async def test_a_file_that_is_too_large_for_the_server_is_refused(discord: DiscordEmulator, ear: Ear) -> None:
    ann = discord.person("Ann")
    await discord.private(ann).says(ann, "hi")
    message = await heard(ear)
    with refused(40005):
        await message.channel.send(file=sdk.File(io.BytesIO(b"x" * (10 * 2**20 + 1)), "big.bin"))


async def test_the_same_nonce_makes_one_message_and_history_does_not_tell_it(
    discord: DiscordEmulator, ear: Ear
) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    await chat.says(ann, "hi")
    message = await heard(ear)

    first = await message.channel.send("once", nonce="part-1")
    again = await message.channel.send("once", nonce="part-1")
    assert first.id == again.id
    assert again.nonce == "part-1"
    assert chat.screen == ["once"]
    assert (await message.channel.fetch_message(first.id)).nonce is None


async def test_history_after_a_message_gives_those_that_follow(discord: DiscordEmulator, ear: Ear) -> None:
    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    said = [await chat.says(ann, f"{number}") for number in range(5)]
    message = await heard(ear, 5)

    after = [each async for each in message.channel.history(after=sdk.Object(said[1].id), limit=2)]
    assert [each.content for each in after] == ["2", "3"]
    newest = [each async for each in message.channel.history(limit=2)]
    assert [each.content for each in newest] == ["4", "3"]
    assert discord.permissions_used == {"VIEW_CHANNEL", "READ_MESSAGE_HISTORY"}


async def test_a_thread_has_the_id_of_its_message_and_there_is_only_one(discord: DiscordEmulator, ear: Ear) -> None:
    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    asked = await chat.says(ann, "long story")
    message = await heard(ear)

    thread = await message.create_thread(name="Story")
    await thread.send("inside")
    await chat.thread(asked).says(ann, "in there too")
    inside = await heard(ear, 2)

    assert str(thread.id) == asked.id
    assert isinstance(inside.channel, sdk.Thread)
    assert chat.thread(asked).screen == ["inside"]
    assert chat.screen == ["inside"]
    assert chat.bot_messages[0].reply_to is asked
    with refused(160004):
        await message.create_thread(name="Again")
    assert {"CREATE_PUBLIC_THREADS", "SEND_MESSAGES_IN_THREADS"} <= discord.permissions_used


async def test_a_thread_that_a_person_made_can_be_locked_or_go_to_sleep(discord: DiscordEmulator, ear: Ear) -> None:
    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    thread = chat.thread(await chat.says(ann, "topic"))
    await thread.says(ann, "hi")
    message = await heard(ear, 2)
    sent = await message.channel.send("one")

    await thread.archive_thread()
    with refused(50083):
        await sent.edit(content="late")
    await message.channel.send("wakes it")
    await sent.edit(content="in time")
    await thread.lock_thread()
    with refused(160005):
        await message.channel.send("two")
    assert thread.screen == ["in time", "wakes it"]


async def test_reactions_and_typing_are_seen(discord: DiscordEmulator, ear: Ear) -> None:
    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    said = await chat.says(ann, "hi")
    message = await heard(ear)
    await message.add_reaction("👀")
    await message.channel.typing()
    await message.remove_reaction("👀", sdk.Object(discord.bot.id))
    await chat.reacts(ann, said, "👍")
    await ear.until(lambda: len(ear.of("raw_reaction_add")) == 2)

    assert [each.action for each in chat.actions] == ["👀", "typing"]
    assert list(said.reactions) == ["👍"]


async def test_edits_and_deletions_of_people_are_told(discord: DiscordEmulator, ear: Ear) -> None:
    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    said = await chat.says(ann, "helo")
    await chat.edits(said, "hello")
    await chat.deletes(said)
    await ear.until(lambda: len(ear.of("raw_message_delete")) == 1)

    (edit,) = ear.of("raw_message_edit")
    assert isinstance(edit[0], sdk.RawMessageUpdateEvent)
    assert edit[0].message.content == "hello"
    assert edit[0].message.edited_at is not None


@pytest.mark.parametrize(("content", "code"), [("x" * 2001, 50035), (" \n ", 50006)])
async def test_messages_too_long_or_empty_are_refused(
    discord: DiscordEmulator, ear: Ear, content: str, code: int
) -> None:
    ann = discord.person("Ann")
    await discord.private(ann).says(ann, "hi")
    message = await heard(ear)
    with refused(code):
        await message.channel.send(content)


async def test_a_reply_to_what_is_gone_is_refused_unless_it_may_be_missing(discord: DiscordEmulator, ear: Ear) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    await chat.deletes(await chat.says(ann, "hi"))
    message = await heard(ear)
    with refused(50035):
        await message.reply("where?")
    await message.channel.send("here", reference=message.to_reference(fail_if_not_exists=False))
    assert [each.reply_to for each in chat.bot_messages] == [None]


async def test_what_the_bot_may_not_do_is_refused_by_code(discord: DiscordEmulator, ear: Ear) -> None:
    ann = discord.person("Ann")
    chat, direct, other = discord.group("Team", [ann]), discord.private(ann), discord.group("Other", [ann])
    for each in (chat, direct, other):
        await each.says(ann, "hi")
    await heard(ear, 3)
    here, person, there = [each.channel for each in ear.messages]

    with refused(50005):
        await ear.http.edit_message(here.id, ear.messages[0].id, params=sdk.http.handle_message_parameters("mine"))
    with refused(10008):
        await here.fetch_message(1)
    chat.denies("SEND_MESSAGES")
    with refused(50013):
        await here.send("may I?")
    await direct.blocks()
    with refused(50007):
        await person.send("hello?")
    discord.kick_bot(other)
    with refused(50001):
        await there.send("hello?")
    await chat.delete_channel()
    with refused(10003):
        await here.send("hello?")
    await ear.until(lambda: bool(ear.of("guild_remove") and ear.of("guild_channel_delete")))
    assert discord.invalid_requests == 4


async def test_a_message_over_an_hour_old_is_not_edited_any_more() -> None:
    now = 100.0
    async with DiscordEmulator(clock=lambda: now) as discord, listening(discord) as ear:
        ann = discord.person("Ann")
        await discord.private(ann).says(ann, "hi")
        message = await heard(ear)
        sent = await message.channel.send("working")
        now += 3_601
        with refused(30046):
            await sent.edit(content="done")
        assert discord.violations == []


async def test_what_could_wake_everybody_is_a_violation() -> None:
    async with DiscordEmulator() as discord, listening(discord) as ear:
        ann = discord.person("Ann")
        await discord.private(ann).says(ann, "hi")
        message = await heard(ear)
        await message.channel.send("@everyone", allowed_mentions=sdk.AllowedMentions.all())
        assert discord.violations == ["POST message: its allowed_mentions would ping everyone or roles"]
