"""The real adapter and the real SDK against an emulated Telegram, over sockets."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest
from aiohttp import web
from pydantic import SecretStr, ValidationError
from telegram.error import BadRequest, ChatMigrated, Conflict, Forbidden, NetworkError, TelegramError

from channels.attachments import Attachment
from channels.base import (
    Addressed,
    Button,
    ButtonPressed,
    Channel,
    ChannelError,
    ChatKey,
    CommandInvoked,
    EditsRefused,
    MessageEdited,
    MessageGone,
    MessageReceived,
    OutboundMessage,
    Posted,
    ReactionAdded,
)
from channels.capabilities import Deletes, Downloads, LinksToMessages, ShowsTyping
from channels.moved import MovedAway
from channels.telegram.adapter import TelegramChannel, open_channel
from channels.telegram.client import BadEntities, Moved, NotModified, Polled, translate
from channels.telegram.config import Config
from parley.testing.emulators.telegram import TelegramEmulator
from tests.channels.telegram.conftest import Inbox, key_of

PNG = bytes.fromhex("89504e470d0a1a0a") + b"picture"


FAILURES = [
    (BadRequest("Message is not modified: specified new message content..."), NotModified),
    (BadRequest("Can't parse entities: unsupported start tag at byte offset 3"), BadEntities),
    (BadRequest("Message to edit not found"), MessageGone),
    (BadRequest("Message can't be edited"), EditsRefused),
    (ChatMigrated(-100), Moved),
    (Conflict("terminated by other getUpdates request"), Polled),
]


@pytest.mark.parametrize(("failure", "meaning"), FAILURES)
def test_failures_mean_what_telegram_says_in_words(failure: TelegramError, meaning: type[ChannelError]) -> None:
    assert type(translate(failure)) is meaning


@pytest.mark.parametrize(
    "failure",
    [BadRequest("Chat not found"), Forbidden("bot was blocked by the user"), NetworkError("Request Entity Too Large")],
)
def test_what_cannot_become_better_is_permanent(failure: TelegramError) -> None:
    assert translate(failure).permanent


def test_it_is_a_channel_with_three_further_powers() -> None:
    channel = open_channel(Config(bot_token=SecretStr("1:x")))
    plain: Channel = channel

    assert plain.name == "telegram"
    assert isinstance(channel, ShowsTyping)
    assert isinstance(channel, Downloads)
    assert isinstance(channel, Deletes)


@pytest.mark.parametrize("token", ["", "abc", "123:", ":abc", "12a:b", "123:a b"])
def test_a_token_that_cannot_be_one_is_refused_with_the_fix(token: str) -> None:
    with pytest.raises(ValidationError, match="@BotFather"):
        Config(bot_token=SecretStr(token))


async def test_a_message_comes_in_and_an_answer_goes_out(
    telegram: TelegramEmulator, channel: TelegramChannel, inbox: Inbox
) -> None:
    ann = telegram.person("Ann", language="de")
    chat = telegram.private(ann)
    await chat.says(ann, "hello")

    event = await inbox.next()
    assert isinstance(event, MessageReceived)
    assert (event.text, event.sender.name, event.sender.language) == ("hello", "Ann", "de")
    await channel.typing(event.chat)
    await channel.send(event.chat, OutboundMessage(markdown="**Hi** `Ann`"), "k1")

    assert chat.actions[-1].action == "typing"
    assert chat.bot_messages[-1].text == "Hi Ann"
    assert [entity.type for entity in chat.bot_messages[-1].entities] == ["bold", "code"]


async def test_a_private_chat_is_where_its_person_writes(telegram: TelegramEmulator, channel: TelegramChannel) -> None:
    ann = telegram.person("Ann")

    assert await channel.private_chat(str(ann.id)) == key_of(telegram, telegram.private(ann))


async def test_a_photo_and_a_file_can_be_downloaded(
    telegram: TelegramEmulator, channel: TelegramChannel, inbox: Inbox
) -> None:
    ann = telegram.person("Ann")
    chat = telegram.private(ann)
    await chat.says(ann, "look", photo=PNG)
    await chat.says(ann, document=("../../.env", b"SECRET=1", "text/plain"))

    photo, file = await inbox.next(), await inbox.next()
    assert isinstance(photo, MessageReceived)
    assert isinstance(file, MessageReceived)
    assert photo.attachments[0].is_image
    assert await channel.download(photo.attachments[0]) == PNG
    assert (file.attachments[0].safe_name, await channel.download(file.attachments[0])) == ("env", b"SECRET=1")


async def test_a_file_over_20_mib_is_refused_in_a_sentence(channel: TelegramChannel) -> None:
    with pytest.raises(ChannelError, match="too large: Telegram gives bots files of at most 20 MB") as refused:
        await channel.download(Attachment(name="film.mp4", size=21 * 1024 * 1024, reference="x"))
    assert refused.value.permanent


async def test_pictures_go_as_photos_and_files_as_documents(
    telegram: TelegramEmulator, channel: TelegramChannel, tmp_path: Path
) -> None:
    chat = telegram.private(telegram.person("Ann"))
    await chat.says(telegram.person("Ann"), "hi")
    for name, content in (("chart.png", PNG), ("data.csv", b"a,b")):
        (tmp_path / name).write_bytes(content)
    files = (
        Attachment(name="chart.png", mime_type="image/png", path=str(tmp_path / "chart.png")),
        Attachment(name="data.csv", mime_type="text/csv", path=str(tmp_path / "data.csv")),
    )
    await channel.send(key_of(telegram, chat), OutboundMessage(markdown="The *chart*", attachments=files), "k")

    picture, document = chat.bot_messages
    assert picture.photo is not None
    assert (picture.photo.content, picture.text) == (PNG, "The chart")
    assert document.document is not None
    assert (document.document.name, document.document.content) == ("data.csv", b"a,b")


async def test_a_file_that_is_gone_is_said_so(telegram: TelegramEmulator, channel: TelegramChannel) -> None:
    chat = telegram.private(telegram.person("Ann"))
    message = OutboundMessage(markdown="", attachments=(Attachment(name="a.txt", path="/nowhere/a.txt"),))
    with pytest.raises(ChannelError, match=r"a\.txt cannot be read") as failure:
        await channel.send(key_of(telegram, chat), message, "k")
    assert failure.value.permanent


async def test_a_mention_in_a_topic_of_a_group(
    telegram: TelegramEmulator, channel: TelegramChannel, inbox: Inbox
) -> None:
    ann, ben = telegram.person("Ann"), telegram.person("Ben")
    topic = telegram.group("Team", [ann, ben], forum=True).topic("Plans")
    asked = await topic.says(ann, "@parley_bot when do we meet?")

    event = await inbox.next()
    assert isinstance(event, MessageReceived)
    assert (event.text, event.addressed) == ("when do we meet?", Addressed.MENTION)
    assert event.chat.thread is not None
    assert channel.is_group(event.chat)
    await channel.send(event.chat, OutboundMessage(markdown="At ten.", reply_to=str(asked.message_id)), "k")
    await topic.says(ben, "thanks", reply_to=topic.bot_messages[-1])

    reply = await inbox.next()
    assert isinstance(reply, MessageReceived)
    assert (reply.addressed, reply.quoted) == (Addressed.REPLY, "Parley: At ten.")
    assert reply.chat == event.chat


async def test_commands_edits_buttons_and_reactions(
    telegram: TelegramEmulator, channel: TelegramChannel, inbox: Inbox
) -> None:
    ann = telegram.person("Ann")
    chat = telegram.private(ann)
    asked = await chat.says(ann, "/help me")
    await chat.edits(asked, "help me please")
    buttons = ((Button(label="Stop", action="stop:1"),),)
    await channel.send(key_of(telegram, chat), OutboundMessage(markdown="Working", buttons=buttons), "k")
    press = await chat.presses(ann, "Stop")
    await chat.reacts(ann, chat.bot_messages[-1], "👍")

    command, edit, button, reaction = [await inbox.next() for _ in range(4)]
    assert isinstance(command, CommandInvoked)
    assert (command.name, command.arguments) == ("help", "me")
    assert isinstance(edit, MessageEdited)
    assert (edit.text, edit.message_id) == ("help me please", command.message_id)
    assert isinstance(button, ButtonPressed)
    assert button.action == "stop:1"
    assert isinstance(reaction, ReactionAdded)
    assert reaction.emoji == "👍"
    await telegram.wait_for(lambda: press.answered)


async def test_an_edit_that_changes_nothing_is_a_success(telegram: TelegramEmulator, channel: TelegramChannel) -> None:
    chat = telegram.private(telegram.person("Ann"))
    posted = await channel.send(key_of(telegram, chat), OutboundMessage(markdown="one"), "k")
    await channel.edit(posted, OutboundMessage(markdown="**two**"))
    await channel.edit(posted, OutboundMessage(markdown="**two**"))

    assert chat.screen == ["two"]


async def test_a_message_that_is_gone_cannot_be_edited(telegram: TelegramEmulator, channel: TelegramChannel) -> None:
    chat = telegram.private(telegram.person("Ann"))
    posted = await channel.send(key_of(telegram, chat), OutboundMessage(markdown="one"), "k")
    await channel.delete(posted)

    assert chat.screen == []
    with pytest.raises(MessageGone):
        await channel.edit(posted, OutboundMessage(markdown="two"))
    with pytest.raises(MessageGone):
        await channel.delete(posted)


async def test_429_tells_when_to_try_again(telegram: TelegramEmulator, channel: TelegramChannel) -> None:
    chat = telegram.private(telegram.person("Ann"))
    telegram.faults.rate_limit("sendMessage", retry_after=7)
    with pytest.raises(ChannelError) as refused:
        await channel.send(key_of(telegram, chat), OutboundMessage(markdown="x"), "k")

    assert (refused.value.retry_after, refused.value.permanent, refused.value.ambiguous) == (7, False, False)


@pytest.mark.parametrize("method", ["sendMessage", "editMessageText", "deleteMessage", "sendChatAction"])
async def test_what_was_told_to_wait_is_not_called_again_meanwhile(
    telegram: TelegramEmulator, channel: TelegramChannel, method: str
) -> None:
    chat, other = (key_of(telegram, telegram.private(telegram.person(name))) for name in ("Ann", "Ben"))
    calls: dict[str, Callable[[ChatKey], Awaitable[object]]] = {
        "sendMessage": lambda where: channel.send(where, OutboundMessage(markdown="x"), "k"),
        "editMessageText": lambda where: channel.edit(
            Posted(chat=where, message_id="1"), OutboundMessage(markdown="x")
        ),
        "deleteMessage": lambda where: channel.delete(Posted(chat=where, message_id="1")),
        "sendChatAction": channel.typing,
    }
    telegram.faults.rate_limit(method, retry_after=30)
    for _ in range(2):
        with pytest.raises(ChannelError) as refused:
            await calls[method](chat)
        assert 20 < (refused.value.retry_after or 0) <= 30
    with suppress(MessageGone):
        await calls[method](other)

    assert [call.params["chat_id"] for call in telegram.calls_of(method)] == [int(chat.chat), int(other.chat)]
    assert telegram.calls_in_window == 0


async def test_a_lost_answer_is_ambiguous_and_a_server_error_is_not(
    telegram: TelegramEmulator, channel: TelegramChannel
) -> None:
    chat = telegram.private(telegram.person("Ann"))
    telegram.faults.lose_answer("sendMessage")
    with pytest.raises(ChannelError) as lost:
        await channel.send(key_of(telegram, chat), OutboundMessage(markdown="x"), "k")
    telegram.faults.fail("sendMessage")
    with pytest.raises(ChannelError) as failed:
        await channel.send(key_of(telegram, chat), OutboundMessage(markdown="x"), "k")

    assert (lost.value.ambiguous, lost.value.permanent) == (True, False)
    assert (failed.value.ambiguous, failed.value.permanent) == (False, False)


async def test_nobody_there_is_not_ambiguous(unused_tcp_port: int) -> None:
    channel = open_channel(Config(bot_token=SecretStr("1:x"), base_url=f"http://127.0.0.1:{unused_tcp_port}"))
    with pytest.raises(ChannelError) as failed:
        await channel.typing(ChatKey(platform="telegram", account="1", chat="2"))
    await channel.close()

    assert (failed.value.ambiguous, failed.value.permanent) == (False, False)


async def test_a_blocked_bot_is_told_for_good(telegram: TelegramEmulator, channel: TelegramChannel) -> None:
    chat = telegram.private(telegram.person("Ann"))
    await chat.blocks()
    with pytest.raises(ChannelError, match="blocked") as refused:
        await channel.send(key_of(telegram, chat), OutboundMessage(markdown="x"), "k")

    assert refused.value.permanent


async def test_a_long_answer_with_code_comes_in_whole_parts(
    telegram: TelegramEmulator, channel: TelegramChannel
) -> None:
    telegram.flood.on = False
    chat = telegram.private(telegram.person("Ann"))
    code = "\n".join(f"line_{number} = {number}" for number in range(600))
    answer = OutboundMessage(
        markdown=f"# Program\n\n```python\n{code}\n```\n\nDone.", buttons=((Button(label="OK", action="ok"),),)
    )
    parts = channel.split(answer)
    for part in parts:
        assert channel.split(part) == (part,)
        await channel.send(key_of(telegram, chat), part, "k")

    shown = chat.bot_messages
    assert len(shown) == len(parts) == 3
    assert all([entity.type for entity in message.entities].count("pre") == 1 for message in shown)
    assert "".join(message.text for message in shown).count("line_") == 600
    assert [bool(message.button("OK")) for message in shown] == [False, False, True]


@pytest.mark.parametrize("page", ["page", "page/" + "x" * 200])
async def test_an_answer_of_many_links_keeps_all_of_them(
    telegram: TelegramEmulator, channel: TelegramChannel, page: str
) -> None:
    telegram.flood.on = False
    chat = telegram.private(telegram.person("Ann"))
    addresses = [f"https://example.org/{page}/{number}" for number in range(130)]
    answer = OutboundMessage(markdown="\n".join(f"- [one]({address})" for address in addresses))
    for number, part in enumerate(channel.split(answer)):
        await channel.send(key_of(telegram, chat), part, f"k{number}")

    shown = [entity.url for message in chat.bot_messages for entity in message.entities if entity.url]
    assert shown == addresses


async def test_calls_in_a_group_that_became_a_supergroup_tell_its_new_id(
    telegram: TelegramEmulator, channel: TelegramChannel
) -> None:
    ann = telegram.person("Ann")
    group = telegram.group("Team", [ann], supergroup=False)
    posted = await channel.send(key_of(telegram, group), OutboundMessage(markdown="here"), "k")
    moved = await group.migrate()
    calls = (
        channel.send(key_of(telegram, group), OutboundMessage(markdown="still here"), "k"),
        channel.edit(posted, OutboundMessage(markdown="changed")),
        channel.delete(posted),
    )

    for call in calls:
        with pytest.raises(MovedAway) as refused:
            await call
        assert (refused.value.event.chat, refused.value.event.to) == (key_of(telegram, group), key_of(telegram, moved))
        assert not refused.value.permanent
    assert moved.screen == []


async def test_an_answer_of_nothing_visible_is_shown_as_a_dot_or_three(
    telegram: TelegramEmulator, channel: TelegramChannel
) -> None:
    chat = telegram.private(telegram.person("Ann"))
    posted = await channel.send(key_of(telegram, chat), OutboundMessage(markdown="\u200b"), "k")

    assert chat.screen == ["…"]
    assert posted.chat == key_of(telegram, chat)


async def test_a_caption_is_edited_though_the_chat_must_wait_after_the_look_for_a_text(
    telegram: TelegramEmulator, channel: TelegramChannel, tmp_path: Path
) -> None:
    chat = telegram.private(telegram.person("Ann"))
    (tmp_path / "chart.png").write_bytes(PNG)
    chart = Attachment(name="chart.png", mime_type="image/png", path=str(tmp_path / "chart.png"))
    posted = await channel.send(key_of(telegram, chat), OutboundMessage(markdown="", attachments=(chart,)), "k")
    telegram.faults.rate_limit("editMessageCaption")
    await channel.edit(posted, OutboundMessage(markdown="Here it is."))

    assert "Here it is." in chat.screen[0]
    assert [call.status for call in telegram.calls_of("editMessageCaption")] == [429, 200]
    assert telegram.calls_in_window == 0


async def test_formatting_that_telegram_refuses_is_left_away(unused_tcp_port: int) -> None:
    async def refuse_entities(request: web.Request) -> web.Response:
        asked = await request.json()
        if "entities" in asked:
            reason = "Bad Request: can't parse entities: byte offset 3"
            return web.json_response({"ok": False, "error_code": 400, "description": reason}, status=400)
        return web.json_response({"ok": True, "result": {"message_id": 9, "text": asked["text"]}})

    app = web.Application()
    app.router.add_post("/bot1:x/sendMessage", refuse_entities)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", unused_tcp_port).start()
    channel = open_channel(Config(bot_token=SecretStr("1:x"), base_url=f"http://127.0.0.1:{unused_tcp_port}"))
    posted = await channel.send(
        ChatKey(platform="telegram", account="1", chat="2"), OutboundMessage(markdown="**x**"), "k"
    )
    await channel.close()
    await runner.cleanup()

    assert posted.message_id == "9"


@pytest.mark.parametrize(
    ("chat", "link"),
    [("-1001234", "https://t.me/c/1234/56"), ("-77", None), ("42", None)],
    ids=["supergroup", "group", "private"],
)
def test_messages_of_supergroups_have_an_address(chat: str, link: str | None) -> None:
    channel = open_channel(Config(bot_token=SecretStr("1:x")))

    assert isinstance(channel, LinksToMessages)
    assert channel.link(ChatKey(platform="telegram", account="1", chat=chat), "56") == link
