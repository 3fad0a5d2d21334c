"""Errors of the store while a history is read, or a message is taken in, hide nothing and change no order."""

import sqlite3

import pytest

from channels.base import Accepted, InboundEvent
from gateway.app.admission import Admission
from gateway.store.read_marks import ReadMark, ReadMarks
from gateway.store.rows import InboxItem
from tests.gateway.conftest import StartBot
from tests.gateway.remembering import RememberingChannel
from tests.gateway.test_catch_up import heard, talked
from tests.process import until


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> list[sqlite3.Error]:
    """The errors of the store with which the next messages are refused."""
    errors, take = list[sqlite3.Error](), Admission.take

    async def failing(admission: Admission, event: InboundEvent) -> InboxItem | Accepted:
        if errors:
            raise errors.pop()
        return await take(admission, event)

    monkeypatch.setattr(Admission, "take", failing)
    monkeypatch.setattr("gateway.app.gap_reader.FIRST_DELAY", 0.01)
    return errors


def no_answer() -> sqlite3.Error:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR
    return error


async def test_a_gap_is_read_again_after_an_error_of_the_store(
    start_bot: StartBot, refused: list[sqlite3.Error]
) -> None:
    channel = RememberingChannel()
    bot = await start_bot("Hello.", "Here I am.", channel=channel)
    await talked(bot, channel)

    refused.append(no_answer())
    channel.writes("are you there?")
    channel.reconnect()

    await channel.until(lambda: bot.screen == ["Hello.", "Here I am."])


async def test_messages_wait_for_one_that_an_error_of_the_store_has_refused(
    start_bot: StartBot, refused: list[sqlite3.Error]
) -> None:
    channel = RememberingChannel()
    bot = await start_bot("Hello.", "One.", "Two.", channel=channel)
    await talked(bot, channel)

    refused.append(no_answer())
    with pytest.raises(sqlite3.Error):
        await channel.brings(channel.writes("first"))
    await channel.brings(channel.writes("second"))
    await channel.until(lambda: len(bot.llm.requests) > 1 and heard(bot)[-1] == "second")

    assert heard(bot) == ["hello", "first", "second"]


async def test_the_history_is_read_although_the_gaps_could_not_be_noted_at_first(
    start_bot: StartBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent_core.supervise.FIRST_PAUSE", 0.01)
    errors, newest = [sqlite3.OperationalError("disk I/O error")], ReadMarks.newest

    async def failing(rows: ReadMarks, platform: str, since: float, most: int) -> list[ReadMark]:
        if errors:
            raise errors.pop()
        return await newest(rows, platform, since, most)

    monkeypatch.setattr(ReadMarks, "newest", failing)
    channel = RememberingChannel()
    bot = await start_bot("Yes.", channel=channel)

    await until(lambda: not errors)
    await until(lambda: not bot.made.chats.gaps.is_open(channel.chat("ann")))
    await talked(bot, channel)
    assert bot.screen == ["Yes."]
