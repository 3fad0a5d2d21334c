"""The poll loop against an emulated Telegram: no update is lost or confirmed too early, and it reconnects."""

import asyncio

import pytest
from pydantic import SecretStr

from channels.base import ChannelError, Menu, MessageReceived
from channels.telegram.adapter import TelegramChannel, open_channel
from channels.telegram.config import Config
from channels.telegram.render import converter
from parley.testing.emulators.telegram import TelegramEmulator
from tests.channels.telegram.conftest import COMMANDS, Inbox, config_for, said
from tests.process import until

PNG = bytes.fromhex("89504e470d0a1a0a") + b"picture"


async def test_a_burst_keeps_its_order(telegram: TelegramEmulator, inbox: Inbox) -> None:
    ann = telegram.person("Ann")
    chat = telegram.private(ann)
    for number in range(30):
        await chat.says(ann, str(number))

    await inbox.until(lambda events: len(events) == 30)
    assert [said(event) for event in inbox.events] == [str(number) for number in range(30)]


async def test_nothing_is_confirmed_before_it_is_accepted(telegram: TelegramEmulator, inbox: Inbox) -> None:
    ann = telegram.person("Ann")
    chat = telegram.private(ann)
    inbox.refusals = 1
    await chat.says(ann, "one")
    await chat.says(ann, "two")

    await inbox.until(lambda events: len(events) == 2)
    assert sorted(said(event) for event in inbox.events) == ["one", "two"]


async def test_an_event_delivered_twice_has_one_id(telegram: TelegramEmulator, inbox: Inbox) -> None:
    ann = telegram.person("Ann")
    chat = telegram.private(ann)
    await chat.says(ann, "one")
    await inbox.until(lambda events: len(events) == 1)
    telegram.redeliver()
    await chat.says(ann, "two")

    await inbox.until(lambda events: len(events) == 2)
    assert [said(event) for event in inbox.events] == ["one", "two"]


async def test_malformed_and_unknown_updates_are_passed_over(telegram: TelegramEmulator, inbox: Inbox) -> None:
    ann = telegram.person("Ann")
    chat = telegram.private(ann)
    await telegram.push({"message": {"chat": "what"}})
    await telegram.push({"message": {"message_id": 5, "chat": {"id": 7, "type": "private"}}})
    await chat.says(ann, "still there?")

    assert said(await inbox.next()) == "still there?"
    await telegram.wait_for(lambda: telegram.updates.unconfirmed == 0)


async def test_an_album_is_one_message(telegram: TelegramEmulator, inbox: Inbox) -> None:
    ann = telegram.person("Ann")
    chat = telegram.private(ann)
    await chat.says(ann, "our trip", photo=PNG, album="a")
    await inbox.until(lambda _: bool(telegram.calls_of("getUpdates")))
    await chat.says(ann, photo=PNG, album="a")
    await chat.says(ann, photo=PNG, album="a")

    event = await inbox.next()
    assert isinstance(event, MessageReceived)
    assert (event.text, len(event.attachments)) == ("our trip", 3)


@pytest.mark.parametrize("before", [97, 98, 99])
async def test_an_album_that_begins_at_the_end_of_a_full_batch_is_one_message(
    telegram: TelegramEmulator, channel: TelegramChannel, before: int
) -> None:
    ann, ben = telegram.person("Ann"), telegram.person("Ben")
    chat, other = telegram.private(ann), telegram.private(ben)
    for number in range(before):
        await other.says(ben, str(number))
    for number in range(4):
        await chat.says(ann, "" if number else "our trip", photo=PNG, album="a")
    await other.says(ben, "last")

    heard = Inbox(telegram)
    running = asyncio.create_task(channel.run(heard, Menu(COMMANDS)))
    await heard.until(lambda events: len(events) >= before + 2 and telegram.updates.unconfirmed == 0)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    albums = [event for event in heard.events if isinstance(event, MessageReceived) and event.attachments]
    assert [(event.text, len(event.attachments)) for event in albums] == [("our trip", 4)]
    assert len(heard.events) == before + 2


async def test_a_text_that_the_client_cut_is_one_message(telegram: TelegramEmulator, inbox: Inbox) -> None:
    ann = telegram.person("Ann")
    chat = telegram.private(ann)
    await chat.says(ann, "a" * 4_096)
    await chat.says(ann, "b" * 100)

    assert said(await inbox.next()) == "a" * 4_096 + "b" * 100


async def test_a_wrong_token_says_what_to_do(telegram: TelegramEmulator) -> None:
    wrong = Config(bot_token=SecretStr("99:WRONG"), base_url=telegram.url)
    channel = open_channel(wrong)
    with pytest.raises(ChannelError, match=r"@BotFather .* TELEGRAM_BOT_TOKEN") as refused:
        await channel.run(Inbox(telegram), Menu())
    await channel.close()

    assert refused.value.permanent


async def test_polling_goes_on_after_the_network_was_away_and_the_token_stays_secret(
    telegram: TelegramEmulator, inbox: Inbox, caplog: pytest.LogCaptureFixture
) -> None:
    ann = telegram.person("Ann")
    chat = telegram.private(ann)
    telegram.faults.drop("getUpdates")
    telegram.faults.fail("getUpdates")
    telegram.kill_connections()
    await chat.says(ann, "are you back?")

    assert said(await inbox.next()) == "are you back?"
    assert telegram.faults.pending == 0
    assert "EMULATED" not in caplog.text


async def test_a_second_poller_is_told_once_and_nothing_is_lost(
    telegram: TelegramEmulator, inbox: Inbox, caplog: pytest.LogCaptureFixture
) -> None:
    ann = telegram.person("Ann")
    chat = telegram.private(ann)
    telegram.faults.fail("getUpdates", status=409, times=1)
    telegram.kill_connections()
    await chat.says(ann, "one")

    await inbox.until(lambda events: len(events) == 1)
    assert sum("only one may" in record.message for record in caplog.records) == 1


async def test_a_webhook_is_removed(telegram: TelegramEmulator) -> None:
    ann = telegram.person("Ann")
    chat = telegram.private(ann)
    telegram.webhook = "https://example.org/hook"
    channel = open_channel(config_for(telegram))
    inbox = Inbox(telegram)
    running = asyncio.create_task(channel.run(inbox, Menu()))
    await chat.says(ann, "one")
    assert said(await inbox.next()) == "one"
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await channel.close()


async def test_the_menu_is_set_once_in_both_languages(telegram: TelegramEmulator, inbox: Inbox) -> None:
    await telegram.wait_for(lambda: len(telegram.command_menus) == 4)
    assert telegram.commands == {"help": "What I can do", "stop": "Stop at once"}
    assert {"help": "我能做什么", "stop": "Stop at once"} in telegram.command_menus.values()

    channel = open_channel(config_for(telegram))
    again = asyncio.create_task(channel.run(Inbox(telegram), Menu(COMMANDS)))
    await telegram.wait_for(lambda: len(telegram.calls_of("getMyCommands")) == 8)
    await telegram.wait_for(lambda: telegram.calls_of("getMyCommands")[-1].status == 200)
    again.cancel()
    await asyncio.gather(again, return_exceptions=True)
    await channel.close()
    assert len(telegram.calls_of("setMyCommands")) == 4


async def test_two_that_poll_with_one_token_lose_nothing(
    telegram: TelegramEmulator, inbox: Inbox, caplog: pytest.LogCaptureFixture
) -> None:
    other = open_channel(config_for(telegram))
    heard = Inbox(telegram)
    running = asyncio.create_task(other.run(heard, Menu()))
    await telegram.wait_for(lambda: any(call.status == 409 for call in telegram.calls_of("getUpdates")))
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await other.close()
    ann = telegram.person("Ann")
    await telegram.private(ann).says(ann, "one")

    assert said(await inbox.next()) == "one"
    assert sum("only one may" in record.message for record in caplog.records) == 1


async def test_it_knows_when_its_polls_fail(telegram: TelegramEmulator, channel: TelegramChannel, inbox: Inbox) -> None:
    await until(lambda: channel.is_connected)
    telegram.faults.drop("getUpdates", times=2)
    telegram.kill_connections()
    await until(lambda: not channel.is_connected)
    ann = telegram.person("Ann")
    await telegram.private(ann).says(ann, "are you back?")

    assert said(await inbox.next()) == "are you back?"
    await until(lambda: channel.is_connected)


async def test_what_converts_answers_is_there_before_one_is_written(telegram: TelegramEmulator) -> None:
    """With no file handles left it could not be imported any more."""
    converter.cache_clear()
    channel = open_channel(config_for(telegram))
    running = asyncio.create_task(channel.run(Inbox(telegram), Menu()))

    await until(lambda: converter.cache_info().currsize == 1)

    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await channel.close()
