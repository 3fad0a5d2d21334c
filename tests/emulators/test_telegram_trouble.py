"""Telegram's limits, faults and strictness, as the real SDK sees them."""

import asyncio
import time

import pytest
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup
from telegram.error import BadRequest, EndPointNotFound, InvalidToken, NetworkError, RetryAfter

from parley.testing.emulators.telegram import TelegramEmulator
from tests.emulators.sdk import telegram_bot

ASK = InlineKeyboardMarkup([[InlineKeyboardButton("Yes", callback_data="y")]])


async def one_a_second(bot: Bot, chat: int, now: list[float]) -> None:
    for number in range(60):
        await bot.send_message(chat, str(number))
        now[0] += 1


async def test_a_button_pressed_too_long_ago_cannot_be_answered() -> None:
    now = [0.0]
    async with TelegramEmulator(clock=lambda: now[0]) as telegram, telegram_bot(telegram) as bot:
        ann = telegram.person("Ann")
        chat = telegram.private(ann)
        await bot.send_message(chat.id, "Shall I?", reply_markup=ASK)
        press = await chat.presses(ann, data="y")
        now[0] = 151
        with pytest.raises(BadRequest, match="Query is too old"):
            await bot.answer_callback_query(press.id)


async def test_a_burst_of_three_then_one_a_second() -> None:
    now = [0.0]
    async with TelegramEmulator(clock=lambda: now[0]) as telegram, telegram_bot(telegram) as bot:
        chat, other = telegram.private(telegram.person("Ann")), telegram.private(telegram.person("Ben"))
        for number in range(3):
            await bot.send_message(chat.id, str(number))
        with pytest.raises(RetryAfter, match="Retry in 0:00:01"):
            await bot.send_message(chat.id, "too fast")
        assert telegram.calls_in_window == 0
        await bot.send_message(other.id, "another chat is free")

        now[0] = 0.5
        with pytest.raises(RetryAfter):
            await bot.edit_message_text("impatient", chat.id, 1)
        assert telegram.calls_in_window == 1

        now[0] = 1.0
        await bot.send_message(chat.id, "3")
        assert chat.screen == ["0", "1", "2", "3"]


async def test_a_group_takes_twenty_a_minute() -> None:
    now = [0.0]
    async with TelegramEmulator(clock=lambda: now[0]) as telegram, telegram_bot(telegram) as bot:
        chat = telegram.group("Team")
        with pytest.raises(RetryAfter):
            await one_a_second(bot, chat.id, now)
        assert 20 <= len(chat.screen) <= 30


async def test_faults_meet_the_calls_they_were_meant_for(telegram: TelegramEmulator, bot: Bot) -> None:
    telegram.flood.on = False
    chat = telegram.private(telegram.person("Ann"))
    telegram.faults.rate_limit("sendMessage", retry_after=7)
    telegram.faults.fail("sendMessage", status=502)
    telegram.faults.drop("editMessageText")
    with pytest.raises(RetryAfter, match="Retry in 0:00:07"):
        await bot.send_message(chat.id, "a")
    with pytest.raises(NetworkError):
        await bot.send_message(chat.id, "b")
    with pytest.raises(NetworkError):
        await bot.edit_message_text("c", chat.id, 1)

    assert telegram.faults.pending == 0
    assert [(call.method, call.status) for call in telegram.calls[1:]] == [
        ("sendMessage", 429),
        ("sendMessage", 502),
        ("editMessageText", None),
    ]
    assert telegram.calls_in_window == 2
    assert chat.screen == []


async def test_an_answer_can_get_lost_after_the_message_was_sent(telegram: TelegramEmulator, bot: Bot) -> None:
    chat = telegram.private(telegram.person("Ann"))
    telegram.faults.lose_answer("sendMessage")
    with pytest.raises(NetworkError):
        await bot.send_message(chat.id, "did it arrive?")
    assert chat.screen == ["did it arrive?"]


async def test_a_held_call_waits_for_the_test(telegram: TelegramEmulator, bot: Bot) -> None:
    chat = telegram.private(telegram.person("Ann"))
    gate = telegram.faults.hold("sendMessage")
    sending = asyncio.create_task(bot.send_message(chat.id, "late"))
    await telegram.wait_for(lambda: len(telegram.calls_of("sendMessage")) == 1)
    assert chat.screen == []

    gate.set()
    await chat.until(lambda c: c.screen[-1] == "late")
    await sending


async def test_an_answer_can_be_late_for_a_message_that_stands_there(telegram: TelegramEmulator, bot: Bot) -> None:
    chat = telegram.private(telegram.person("Ann"))
    gate = telegram.faults.answer_late("sendMessage")
    sending = asyncio.create_task(bot.send_message(chat.id, "seen"))
    await chat.until(lambda c: c.screen == ["seen"])
    assert telegram.calls[-1].status is None
    assert not sending.done()

    gate.set()
    assert (await sending).text == "seen"


async def test_updates_come_twice_or_out_of_order_when_told_so(telegram: TelegramEmulator, bot: Bot) -> None:
    ann = telegram.person("Ann")
    chat = telegram.private(ann)
    telegram.faults.duplicate()
    await chat.says(ann, "twice")
    telegram.faults.reorder(2)
    await chat.says(ann, "first")
    await chat.says(ann, "second")

    updates = await bot.get_updates()
    assert [update.message.text for update in updates if update.message] == ["twice", "twice", "second", "first"]
    assert updates[0].update_id == updates[1].update_id

    following = updates[-1].update_id + 1
    assert list(await bot.get_updates(offset=following)) == []
    telegram.redeliver()
    assert [update.update_id for update in await bot.get_updates(offset=following)] == [following - 1]
    assert list(await bot.get_updates(offset=following)) == []


async def test_what_is_not_known_is_refused_and_written_down() -> None:
    async with TelegramEmulator() as telegram, telegram_bot(telegram) as bot:
        chat = telegram.private(telegram.person("Ann"))
        with pytest.raises(EndPointNotFound):
            await bot.do_api_request("sendThing", {"chat_id": chat.id})
        with pytest.raises(BadRequest, match="parse_mode"):
            await bot.send_message(chat.id, "*bold*", parse_mode="MarkdownV2")
        assert telegram.violations[0] == "unknown method sendThing"
        assert telegram.violations[1].startswith("sendMessage: parse_mode")


async def test_a_wrong_token_is_refused(telegram: TelegramEmulator) -> None:
    stranger = Bot("1:wrong", base_url=telegram.bot_url)
    with pytest.raises(InvalidToken):
        await stranger.initialize()
    await stranger.shutdown()


async def test_any_update_can_be_pushed_as_it_is(telegram: TelegramEmulator, bot: Bot) -> None:
    await telegram.push({"something_new": {"text": "?"}})
    (update,) = await bot.get_updates()
    assert update.effective_message is None


async def test_waiting_in_vain_tells_what_is_on_the_screen(telegram: TelegramEmulator, bot: Bot) -> None:
    chat = telegram.private(telegram.person("Ann"))
    await bot.send_message(chat.id, "hello")
    with pytest.raises(AssertionError, match="the screen shows \\['hello'\\]"):
        await chat.until(lambda c: "answer" in c.screen[-1], timeout=0.01)


async def test_leaving_does_not_wait_for_open_polls() -> None:
    async with TelegramEmulator() as telegram, telegram_bot(telegram) as bot:
        poll = asyncio.create_task(bot.get_updates(timeout=30))
        await telegram.wait_for(lambda: telegram.polling)
        left = time.monotonic()
        await telegram.__aexit__(None, None, None)
        with pytest.raises(NetworkError):
            await poll
    assert time.monotonic() - left < 20, "the poll would have lasted longer"


async def test_a_bot_that_dies_while_it_polls_loses_nothing(telegram: TelegramEmulator) -> None:
    ann = telegram.person("Ann")
    chat = telegram.private(ann)
    async with telegram_bot(telegram) as first:
        poll = asyncio.create_task(first.get_updates(timeout=30))
        await telegram.wait_for(lambda: telegram.polling)
        assert telegram.kill_connections() > 0
        with pytest.raises(NetworkError):
            await poll
    assert not telegram.polling
    await chat.says(ann, "anybody there?")

    async with telegram_bot(telegram) as second:
        (update,) = await second.get_updates(timeout=30)
    assert update.message is not None
    assert update.message.text == "anybody there?"
