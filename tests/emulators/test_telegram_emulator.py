"""The emulated Telegram through the real SDK."""

import asyncio
import re
from collections.abc import Sequence

import pytest
from aiohttp import ClientSession
from telegram import (
    Bot,
    BotCommand,
    BotCommandScopeChat,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InputMediaDocument,
    InputMediaPhoto,
    MessageEntity,
    ReplyParameters,
    Update,
)
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
)

from parley.testing.emulators.telegram import TelegramEmulator
from tests.emulators.sdk import telegram_bot


def refused(because: str) -> pytest.RaisesExc[BadRequest]:
    """Expect a refusal, ignoring case, because the SDK changes it."""
    return pytest.raises(BadRequest, match=f"(?i){re.escape(because)}")


ASK = InlineKeyboardMarkup(
    [[InlineKeyboardButton("Yes", callback_data="y"), InlineKeyboardButton("No", url="https://a.example")]]
)


async def all_updates(bot: Bot) -> Sequence[Update]:
    return await bot.get_updates(allowed_updates=Update.ALL_TYPES)


async def test_a_poll_waits_until_somebody_speaks(telegram: TelegramEmulator, bot: Bot) -> None:
    ann = telegram.person("Ann", language="en")
    chat = telegram.private(ann)
    poll = asyncio.create_task(bot.get_updates(timeout=20))
    await telegram.wait_for(lambda: telegram.polling)

    await chat.says(ann, "/start@parley_bot 😀 @somebody")
    (update,) = await poll

    assert update.message is not None
    assert update.message.text == "/start@parley_bot 😀 @somebody"
    assert update.message.from_user is not None
    assert update.message.from_user.language_code == "en"
    found = {(each.type, each.offset, each.length) for each in update.message.entities}
    assert found == {("bot_command", 0, 17), ("mention", 21, 9)}


async def test_an_update_comes_again_until_a_higher_offset_confirms_it(telegram: TelegramEmulator, bot: Bot) -> None:
    ann = telegram.person("Ann")
    chat = telegram.private(ann)
    await chat.says(ann, "one")
    await chat.says(ann, "two")

    first, second = await bot.get_updates()
    assert [first, second] == list(await bot.get_updates())
    assert list(await bot.get_updates(offset=second.update_id)) == [second]
    assert list(await bot.get_updates(offset=second.update_id + 1)) == []
    assert telegram.updates.unconfirmed == 0


async def test_a_second_poller_ends_the_first(telegram: TelegramEmulator, bot: Bot) -> None:
    older = asyncio.create_task(bot.get_updates(timeout=20))
    await telegram.wait_for(lambda: telegram.polling)

    async with telegram_bot(telegram) as second:
        assert list(await second.get_updates(timeout=0)) == []
    with pytest.raises(Conflict, match="only one bot instance"):
        await older


async def test_a_webhook_shuts_the_poll_out(bot: Bot) -> None:
    await bot.set_webhook("https://parley.example/hook")
    assert (await bot.get_webhook_info()).url == "https://parley.example/hook"

    with pytest.raises(Conflict, match="webhook is active"):
        await bot.get_updates()
    await bot.delete_webhook()
    assert list(await bot.get_updates()) == []


async def test_the_screen_shows_edits_and_forgets_what_was_deleted(telegram: TelegramEmulator, bot: Bot) -> None:
    telegram.flood.on = False
    chat = telegram.private(telegram.person("Ann"))
    working = await bot.send_message(chat.id, "working…")
    answer = await bot.send_message(chat.id, "almost")
    await bot.edit_message_text("42", chat.id, answer.message_id)
    await bot.delete_message(chat.id, working.message_id)

    assert chat.screen == ["42"]
    assert chat.messages[0].history == ["almost", "42"]
    with refused("message is not modified"):
        await bot.edit_message_text("42", chat.id, answer.message_id)
    with refused("message to edit not found"):
        await bot.edit_message_text("x", chat.id, working.message_id)


async def test_text_is_measured_in_utf16_after_its_entities(telegram: TelegramEmulator, bot: Bot) -> None:
    telegram.flood.on = False
    chat = telegram.private(telegram.person("Ann"))
    await bot.send_message(chat.id, "😀" * 2048)

    with refused("message is too long"):
        await bot.send_message(chat.id, "😀" * 2048 + "x")
    with refused("message text is empty"):
        await bot.send_message(chat.id, "\u200b \n")
    await bot.send_message(chat.id, "😀 bold", entities=[MessageEntity("bold", 3, 4)])
    assert chat.messages[-1].entities[0].offset == 3


@pytest.mark.parametrize(
    "entities",
    [
        [MessageEntity("bold", 3, 5)],
        [MessageEntity("bold", 1, 3)],
        [MessageEntity("bold", 0, 4), MessageEntity("italic", 3, 4)],
    ],
    ids=["past the end", "inside a character", "crossing"],
)
async def test_entities_that_do_not_fit_are_refused(
    telegram: TelegramEmulator, bot: Bot, entities: list[MessageEntity]
) -> None:
    chat = telegram.private(telegram.person("Ann"))
    with refused("can't parse entities"):
        await bot.send_message(chat.id, "😀 bold", entities=entities)


async def test_formatting_beyond_the_hundredth_is_lost_and_too_much_of_it_refused(
    telegram: TelegramEmulator, bot: Bot
) -> None:
    chat = telegram.private(telegram.person("Ann"))
    many = [MessageEntity("bold", place, 1) for place in range(110)]
    await bot.send_message(chat.id, "b" * 110, entities=many)
    assert [entity.offset for entity in chat.bot_messages[-1].entities] == list(range(100))

    long = [MessageEntity("text_link", place, 1, url="https://example.org/" + "x" * 200) for place in range(50)]
    with refused("ENTITIES_TOO_LONG"):
        await bot.send_message(chat.id, "l" * 50, entities=long)


async def test_files_travel_both_ways(telegram: TelegramEmulator, bot: Bot) -> None:
    ann = telegram.person("Ann")
    chat = telegram.private(ann)
    await chat.says(ann, "look", photo=b"pixels")
    await chat.says(ann, document=("big.bin", bytes(20 * 2**20 + 1), "application/zip"))
    photo, big = [update.message for update in await bot.get_updates()]
    assert photo is not None
    assert big is not None
    assert big.document is not None

    assert await (await photo.photo[-1].get_file()).download_as_bytearray() == b"pixels"
    with refused("file is too big"):
        await big.document.get_file()

    await bot.send_photo(chat.id, b"drawn", caption="a drawing")
    await bot.send_document(chat.id, b"a,b", filename="table.csv")
    assert chat.screen == ["[photo] a drawing", "[table.csv]"]
    assert chat.messages[-1].document is not None
    assert chat.messages[-1].document.content == b"a,b"


async def test_an_album_is_of_one_kind_and_of_two_to_ten(telegram: TelegramEmulator, bot: Bot) -> None:
    telegram.flood.on = False
    chat = telegram.private(telegram.person("Ann"))
    photo, table = InputMediaPhoto(b"\x89PNG", caption="Both"), InputMediaDocument(b"a,b", filename="a.csv")
    sent = await bot.send_media_group(chat.id, [photo, InputMediaPhoto(b"\x89PNG")])
    assert chat.screen == ["[photo] Both", "[photo]"]
    assert {each.media_group_id for each in sent} == {chat.bot_messages[0].album}

    with refused("Document can't be mixed with other media types"):
        await bot.send_media_group(chat.id, [photo, table])
    for count in (1, 11):
        with refused("album"):
            await bot.send_media_group(chat.id, [table] * count)
    wide = InputMediaPhoto(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x27\x10\0\0\x01\0")
    with refused('failed to send message #2 with the error message "PHOTO_INVALID_DIMENSIONS"'):
        await bot.send_media_group(chat.id, [photo, wide])
    assert len(chat.bot_messages) == 2


async def test_a_voice_message_is_opus_or_mp3_and_not_for_everybody(telegram: TelegramEmulator, bot: Bot) -> None:
    telegram.flood.on = False
    chat = telegram.private(telegram.person("Ann"))
    await bot.send_voice(chat.id, b"OggS...")
    await bot.send_voice(chat.id, b"RIFF...", filename="a.wav")
    await bot.send_audio(chat.id, b"ID3...", filename="a.mp3")
    assert [[*message.files] for message in chat.bot_messages] == [["voice"], ["document"], ["audio"]]

    chat.forbid_voice_messages()
    with refused("VOICE_MESSAGES_FORBIDDEN"):
        await bot.send_voice(chat.id, b"OggS...")


async def test_a_pressed_button_is_heard_and_answered_in_time(bot: Bot, telegram: TelegramEmulator) -> None:
    ann = telegram.person("Ann")
    chat = telegram.private(ann)
    await bot.send_message(chat.id, "Shall I?", reply_markup=ASK)

    press = await chat.presses(ann, "Yes")
    (update,) = await bot.get_updates()

    assert update.callback_query is not None
    assert update.callback_query.data == "y"
    await update.callback_query.answer("Done")
    assert press.answer == "Done"


async def test_a_press_waits_for_its_button(bot: Bot, telegram: TelegramEmulator) -> None:
    ann = telegram.person("Ann")
    chat = telegram.private(ann)
    press = asyncio.create_task(chat.presses(ann, "Yes"))

    await bot.send_message(chat.id, "… Asking: Shall I?")
    await bot.send_message(chat.id, "Shall I?", reply_markup=ASK)

    assert (await press).message == chat.bot_messages[-1]


async def test_a_press_has_an_id_that_no_earlier_emulator_gave() -> None:
    ids = set()
    for first_id in (1, 1_000):
        async with TelegramEmulator(first_id=first_id) as telegram:
            ann = telegram.person("Ann")
            chat = telegram.private(ann)
            async with telegram_bot(telegram) as bot:
                await bot.send_message(chat.id, "Shall I?", reply_markup=ASK)
            ids.add((await chat.presses(ann, "Yes")).id)

    assert len(ids) == 2


async def test_buttons_carry_at_most_64_bytes(telegram: TelegramEmulator, bot: Bot) -> None:
    chat = telegram.private(telegram.person("Ann"))
    too_much = InlineKeyboardMarkup([[InlineKeyboardButton("Yes", callback_data="é" * 33)]])
    with refused("button_data_invalid"):
        await bot.send_message(chat.id, "Shall I?", reply_markup=too_much)


async def test_buttons_have_one_of_three_colours(telegram: TelegramEmulator, bot: Bot) -> None:
    telegram.flood.on = False
    chat = telegram.private(telegram.person("Ann"))
    for style in ("primary", "success", "danger"):
        button = InlineKeyboardButton("Go", callback_data="go", style=style)
        await bot.send_message(chat.id, "?", reply_markup=InlineKeyboardMarkup([[button]]))
    assert [message.buttons[0][0].style for message in chat.bot_messages] == ["primary", "success", "danger"]

    odd = InlineKeyboardButton("Go", callback_data="go", style="warning")
    with refused("Invalid button style specified"):
        await bot.send_message(chat.id, "?", reply_markup=InlineKeyboardMarkup([[odd]]))


async def test_topics_and_reply_threads_are_told_apart(telegram: TelegramEmulator, bot: Bot) -> None:
    ann = telegram.person("Ann")
    forum, team = telegram.group("Forum", [ann], forum=True), telegram.group("Team", [ann])
    topic = forum.topic("News")
    await topic.says(ann, "in the topic")
    question = await team.says(ann, "hello")
    await team.says(ann, "go on", reply_to=question, quote="ell")

    _, in_topic, _, reply = [update.message for update in await bot.get_updates()]
    assert in_topic is not None
    assert reply is not None
    assert (in_topic.message_thread_id, in_topic.is_topic_message) == (topic.thread, True)
    assert in_topic.reply_to_message is not None
    assert in_topic.reply_to_message.forum_topic_created is not None
    assert (reply.message_thread_id, reply.is_topic_message) == (question.message_id, None)
    assert reply.quote is not None
    assert (reply.quote.text, reply.quote.position) == ("ell", 1)

    await bot.send_message(forum.id, "answer", message_thread_id=topic.thread)
    assert (topic.screen, forum.screen) == (["answer"], [])
    with refused("message thread not found"):
        await bot.send_message(team.id, "answer", message_thread_id=question.message_id)


async def test_a_reply_needs_its_message_unless_told_otherwise(telegram: TelegramEmulator, bot: Bot) -> None:
    chat = telegram.private(telegram.person("Ann"))
    with refused("message to be replied not found"):
        await bot.send_message(chat.id, "a", reply_parameters=ReplyParameters(99))
    await bot.send_message(chat.id, "b", reply_parameters=ReplyParameters(99, allow_sending_without_reply=True))
    assert chat.screen == ["b"]


async def test_chats_end_in_several_ways(telegram: TelegramEmulator, bot: Bot) -> None:
    ann = telegram.person("Ann")
    chat, old = telegram.private(ann), telegram.group("Team", [ann], supergroup=False)
    await chat.blocks()
    new = await old.migrate()

    with pytest.raises(Forbidden, match="blocked by the user"):
        await bot.send_message(chat.id, "hello?")
    with pytest.raises(ChatMigrated) as moved:
        await bot.send_message(old.id, "hello?")
    assert moved.value.new_chat_id == new.id
    with refused("chat not found"):
        await bot.send_message(1, "hello?")
    assert [bool(update.my_chat_member) for update in await all_updates(bot)] == [True, False, False]


async def test_the_command_menu_is_kept_per_scope_and_language(telegram: TelegramEmulator, bot: Bot) -> None:
    await bot.set_my_commands([BotCommand("help", "What I can do")])
    chat = telegram.private(telegram.person("Ann"))
    await bot.set_my_commands([BotCommand("help", "Hilfe")], BotCommandScopeChat(chat.id), language_code="de")

    assert telegram.commands == {"help": "What I can do"}
    assert telegram.command_menus[f"chat:{chat.id}", "de"] == {"help": "Hilfe"}
    assert [each.command for each in await bot.get_my_commands()] == ["help"]
    with refused("bot_command_invalid"):
        await bot.set_my_commands([("Help!", "no")])
    with refused("chat not found"):
        await bot.set_my_commands([BotCommand("help", "Hilfe")], BotCommandScopeChat(1))


async def test_typing_reactions_and_drafts_are_seen(telegram: TelegramEmulator, bot: Bot) -> None:
    ann = telegram.person("Ann")
    chat = telegram.private(ann)
    message = await chat.says(ann, "hi")
    await bot.send_chat_action(chat.id, "typing")
    await bot.set_message_reaction(chat.id, message.message_id, "👀")
    await bot.send_message_draft(chat.id, 1, "so far")

    assert [each.action for each in chat.actions] == ["typing"]
    assert message.reactions == ["👀"]
    assert [each.text for each in chat.drafts] == ["so far"]
    with refused("reaction_invalid"):
        await bot.set_message_reaction(chat.id, message.message_id, "🦄🦄")


async def test_people_and_membership_are_told(telegram: TelegramEmulator, bot: Bot) -> None:
    ann, ben = telegram.person("Ann"), telegram.person("Ben")
    chat = telegram.group("Team", [ann])
    await chat.joins(ben)
    message = await chat.says(ben, "hi")
    await chat.edits(message, "hello")
    await chat.reacts(ann, message, "👍")
    await chat.leaves(ben)

    kinds = [(update.message or update.edited_message or update.message_reaction) for update in await all_updates(bot)]
    assert len(kinds) == 4, "the first poll names the kinds too late for the reaction"
    assert (await bot.get_chat(chat.id)).title == "Team"
    assert (await bot.get_chat_member(chat.id, ann.id)).status == "member"


async def test_json_bodies_and_plain_get_are_understood(telegram: TelegramEmulator) -> None:
    chat = telegram.private(telegram.person("Ann"))
    url = f"{telegram.bot_url}{telegram.token}"
    async with ClientSession() as session:
        async with session.get(f"{url}/getMe") as answer:
            assert (await answer.json())["result"]["username"] == "parley_bot"
        body = {"chat_id": chat.id, "text": "hi", "entities": [{"type": "bold", "offset": 0, "length": 2}]}
        async with session.post(f"{url}/sendMessage", json=body) as answer:
            assert (await answer.json())["ok"] is True
        async with session.post(f"{url}/sendMessage", json={"chat_id": chat.id, "text": "\ud800"}) as answer:
            assert answer.status == 400
    assert chat.screen == ["hi"]
