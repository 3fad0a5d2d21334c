"""An event over which a mistake happens is logged and stays in the inbox; all others are handled."""

import itertools

import pytest
from structlog.testing import capture_logs

from agent_core import supervise
from channels.base import ChatKey, InboundEvent, MessageReceived, ScheduleFired, Sender
from gateway.schedule.jobs.firings import Firings
from gateway.store.rows import InboxItem
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.process import until

ANN = ChatKey(platform="memory", account="here", chat="ann")
WHO = Sender(id="ann", name="Ann")
POISON = ScheduleFired(event_id="poison", chat=ANN, sender=WHO, at=1.0, job="j", slot="s")
numbers = itertools.count()


def says(text: str) -> MessageReceived:
    name = f"said {next(numbers)}"
    return MessageReceived(event_id=name, chat=ANN, sender=WHO, at=1.0, text=text, message_id=name)


async def stored(bot: Bot, event: InboundEvent) -> InboxItem:
    """Store an event that nobody has handled."""
    seq = await bot.made.base.store.inbox.accept(event)
    assert seq is not None
    return InboxItem(seq, event)


@pytest.fixture
def mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each firing of a job be a mistake."""

    def fire(_: Firings, item: InboxItem) -> None:
        raise TypeError(f"{item.seq} is no number")

    monkeypatch.setattr(Firings, "fire", fire)


@pytest.mark.usefixtures("mistake")
async def test_stored_events_after_it_are_handled(start_bot: StartBot) -> None:
    bot = await start_bot("One.")

    with capture_logs() as logs:
        for event in (POISON, says("one")):
            bot.made.base.stored_events.put_nowait(await stored(bot, event))
        await bot.app.settled()

    assert bot.screen == ["One."]
    assert [each["exc_info"][0] for each in logs if each["log_level"] == "error"] == [TypeError]
    assert [item.event for item in await bot.made.base.store.inbox.waiting()] == [POISON]


@pytest.mark.usefixtures("mistake")
async def test_a_start_goes_on_with_those_after_it(start_bot: StartBot) -> None:
    bot = await start_bot("One.", "Two.")
    for event in (POISON, says("one")):
        await stored(bot, event)

    await bot.restart()
    await bot.app.settled()
    await bot.hears("two")

    assert bot.screen == ["One.", "Two."]


async def test_stored_events_are_heard_after_a_mistake_over_who_may_speak(
    start_bot: StartBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervise, "FIRST_PAUSE", 0.01)
    bot = await start_bot("Two.")
    may_speak, mistakes = bot.made.people.access.may_speak, [TypeError("nobody")]

    def may(chat: ChatKey, sender: Sender) -> bool:
        if mistakes:
            raise mistakes.pop()
        return may_speak(chat, sender)

    monkeypatch.setattr(bot.made.people.access, "may_speak", may)
    for text in ("one", "two"):
        bot.made.base.stored_events.put_nowait(await stored(bot, says(text)))
    await until(lambda: "Two." in bot.screen)
