"""After a reload the page shows each message once, in its latest version."""

from pathlib import Path

from agent_core.clock import SystemClock, new_id
from agent_core.origin import CLEAN
from channels.base import (
    Button,
    ButtonPressed,
    ChatKey,
    CommandInvoked,
    MessageEdited,
    MessageReceived,
    OutboundMessage,
    Sender,
)
from gateway.security.secrets import Secrets
from gateway.store.rows import InboxItem, Post, PostState
from gateway.store.store import Store
from gateway.web.page import page_history, shown_on_the_page
from tests.gateway.conftest import StartBot

Rows = list[tuple[float, InboxItem | Post]]
CHAT = ChatKey(platform="web", account="local", chat="page")
ANN = Sender(id="owner", name="Ann")


def says(seq: int, text: str) -> InboxItem:
    message_id = f"m{seq}"
    return InboxItem(
        seq, MessageReceived(event_id=f"e{seq}", chat=CHAT, sender=ANN, at=float(seq), text=text, message_id=message_id)
    )


def ours(key: str, text: str, message_id: str | None, *buttons: Button) -> Post:
    message = OutboundMessage(markdown=text, buttons=(buttons,) if buttons else ())
    return Post(key, "run", CHAT, message, CLEAN, message_id, PostState.SENT)


def test_both_sides_are_shown_in_order() -> None:
    shown = shown_on_the_page([(1.0, says(1, "hello")), (2.0, ours("a", "hi", "p1"))])

    assert [(each.who, each.markdown) for each in shown] == [("person", "hello"), ("parley", "hi")]


def test_a_progress_message_that_became_the_answer_stands_once_in_its_place() -> None:
    rows: Rows = [
        (1.0, ours("run:progress:0", "Working…", "p1", Button(label="Stop", action="/stop"))),
        (2.0, says(1, "and another thing")),
        (3.0, ours("run:answer:0", "hi", "p1")),
    ]

    first, second = shown_on_the_page(rows)

    assert (first.markdown, first.at, first.buttons) == ("hi", 1.0, ())
    assert second.markdown == "and another thing"


async def test_what_became_a_secret_after_it_was_said_is_not_shown(tmp_path: Path) -> None:
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.inbox.accept(says(1, "the key is sk-0123456789-very-secret").event)

    async with Store.open(tmp_path, SystemClock(), new_id, Secrets(["sk-0123456789-very-secret"])) as store:
        assert [each.markdown for each in (await page_history(store, CHAT)).messages] == ["the key is [secret]"]


def test_commands_are_shown_as_they_were_typed() -> None:
    command = CommandInvoked(
        event_id="c", chat=CHAT, sender=ANN, at=1.0, message_id="m", name="language", arguments="zh"
    )

    assert [each.markdown for each in shown_on_the_page([(1.0, InboxItem(1, command))])] == ["/language zh"]


def test_words_said_by_a_button_are_the_person_s_and_take_nothing_from_its_message() -> None:
    press = ButtonPressed(event_id="web:x", chat=CHAT, sender=ANN, at=2.0, message_id="p1", action="Plan my day")

    shown = shown_on_the_page([(1.0, ours("a", "try one", "p1")), (2.0, InboxItem(1, press))])

    assert [(each.who, each.markdown) for each in shown] == [("parley", "try one"), ("person", "Plan my day")]


def test_what_was_never_a_message_is_not_shown() -> None:
    stop = ButtonPressed(event_id="b", chat=CHAT, sender=ANN, at=1.0, message_id="p1", action="/stop")
    edit = MessageEdited(event_id="d", chat=CHAT, sender=ANN, at=1.0, message_id="m", text="new")

    rows: Rows = [(1.0, InboxItem(1, stop)), (2.0, InboxItem(2, edit)), (3.0, ours("a", "not sent yet", None))]

    assert shown_on_the_page(rows) == []


async def test_a_conversation_is_shown_as_it_was(start_bot: StartBot) -> None:
    bot = await start_bot("Hi.", "Fine.")
    await bot.hears("hello")
    await bot.hears("how are you?")
    await bot.restart()

    shown = shown_on_the_page(await bot.made.base.store.outbox.screen(bot.channel.chat("ann")))

    assert [each.markdown for each in shown] == ["hello", "Hi.", "how are you?", "Fine."]


def test_what_was_taken_away_is_not_shown() -> None:
    rows: Rows = [(1.0, ours("run:progress:0", "Working…", "p1")), (2.0, ours("run:progress:gone", "1 s", "p1"))]
    assert shown_on_the_page(rows) == []
