"""Answers with tables are rich messages in the chats that have them, and ordinary ones where Telegram refuses."""

from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr, ValidationError

from channels.base import Button, MessageGone, OutboundMessage
from channels.telegram.adapter import TelegramChannel, open_channel
from channels.telegram.config import Config
from channels.telegram.rich_answer import rich_html
from parley.testing.emulators.telegram import TelegramEmulator
from parley.testing.emulators.telegram_chat import Chat
from tests.channels.telegram.conftest import key_of

TABLE = "| town | cost |\n| --- | --: |\n| **Oslo** | 5 & 6 |"
SHOWN = "town | cost\nOslo | 5 & 6"


@pytest.fixture
def chat(telegram: TelegramEmulator) -> Chat:
    telegram.flood.on = False
    return telegram.private(telegram.person("Ann"))


@pytest.fixture
async def rich(telegram: TelegramEmulator, chat: Chat) -> AsyncIterator[TelegramChannel]:
    """Yield a channel for which this chat has rich messages."""
    token = SecretStr(telegram.token)
    opened = open_channel(
        Config.model_validate({"bot_token": token, "base_url": telegram.url, "rich_chats": f"{chat.id},5"})
    )
    yield opened
    await opened.close()


def shown(chat: Chat) -> list[str]:
    return ["\n".join(filter(None, words.splitlines())) for words in chat.screen]


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("no table | here", None),
        (f"{TABLE}\n\nand \\(x^2\\)", None),
        ("|" + " a |" * 21 + "\n|" + " --- |" * 21, None),
        (
            TABLE,
            '<table bordered>\n\n<tr>\n<th>town</th>\n<th align="right">cost</th>\n</tr>\n\n\n<tr>\n'
            '<td><b>Oslo</b></td>\n<td align="right">5 &amp; 6</td>\n</tr>\n\n</table>',
        ),
    ],
)
def test_only_a_text_with_a_table_becomes_one(markdown: str, html: str | None) -> None:
    assert rich_html(markdown) == html


async def test_an_answer_with_a_table_is_one_where_the_chat_has_them(
    telegram: TelegramEmulator, chat: Chat, rich: TelegramChannel
) -> None:
    other = telegram.private(telegram.person("Ben"))
    buttons = ((Button(label="Again", action="again"),),)
    text = f"# Costs\n\n{TABLE}\n\n- [x] one\n- two ![dot](https://example.org/dot.png)\n\n> `x < 1`\n\n---"

    posted = await rich.send(key_of(telegram, chat), OutboundMessage(markdown="working", buttons=buttons), "k")
    await rich.edit(posted, OutboundMessage(markdown=text))
    await rich.edit(posted, OutboundMessage(markdown=text))
    await rich.send(key_of(telegram, chat), OutboundMessage(markdown=TABLE, buttons=buttons), "k2")
    await rich.send(key_of(telegram, other), OutboundMessage(markdown=TABLE), "k3")

    first, second = chat.bot_messages
    assert shown(chat) == [f"Costs\n{SHOWN}\n☑ one\ntwo dot\nx < 1", SHOWN]
    assert '<a href="https://example.org/dot.png">dot</a>' in first.rich
    assert "<img" not in first.rich
    assert second.rich
    assert second.button("Again")
    assert other.bot_messages[0].rich == ""


async def test_what_telegram_refuses_is_an_ordinary_message(
    telegram: TelegramEmulator, chat: Chat, rich: TelegramChannel
) -> None:
    deep = TABLE + "\n\n" + "\n".join("  " * level + "- x" for level in range(12))
    await rich.send(key_of(telegram, chat), OutboundMessage(markdown=deep), "k")
    await rich.send(key_of(telegram, chat), OutboundMessage(markdown=TABLE), "k")

    assert [bool(message.rich) for message in chat.bot_messages] == [False, True]


async def test_a_server_without_rich_messages_is_asked_once(
    telegram: TelegramEmulator, chat: Chat, rich: TelegramChannel
) -> None:
    telegram.lacks = frozenset({"sendRichMessage"})
    for number in range(2):
        await rich.send(key_of(telegram, chat), OutboundMessage(markdown=TABLE), str(number))

    assert [message.rich for message in chat.bot_messages] == ["", ""]
    assert len(telegram.calls_of("sendRichMessage")) == 1


async def test_an_edit_of_a_message_that_is_gone_says_so(
    telegram: TelegramEmulator, chat: Chat, rich: TelegramChannel
) -> None:
    posted = await rich.send(key_of(telegram, chat), OutboundMessage(markdown=TABLE), "k")
    await chat.deletes(chat.bot_messages[0])

    with pytest.raises(MessageGone):
        await rich.edit(posted, OutboundMessage(markdown=f"{TABLE}\n\nmore"))


@pytest.mark.parametrize("chats", ["all", "12,x", "@team"])
def test_what_is_no_chat_is_refused(chats: str) -> None:
    with pytest.raises(ValidationError, match="no id of a chat"):
        Config.model_validate({"bot_token": SecretStr("1:x"), "rich_chats": chats})
