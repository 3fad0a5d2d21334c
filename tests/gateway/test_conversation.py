"""Whole conversations on an in-memory platform."""

import asyncio
import sqlite3
from contextlib import closing

import pytest

from agent_core.messages import text_of
from agent_core.models.llm import FailureKind
from agent_core.models.scripted import Failure, Waits, calls
from agent_core.tools.tool import tool
from channels.base import Accepted, Addressed, ChannelError, ChatKey, OutboundMessage, Posted
from channels.memory import LOST, NO_PACE, MemoryChannel
from gateway.store.opening import FILE
from tests.gateway.conftest import StartBot
from tests.gateway.taking_in import taken_in
from tests.process import until


@tool()
async def weather(city: str) -> str:
    """Tell the weather."""
    return f"rain in {city}"


async def test_a_message_is_answered(start_bot: StartBot) -> None:
    bot = await start_bot("Good morning, Ann.")

    await bot.hears("good morning")

    assert bot.screen == ["Good morning, Ann."]


async def test_a_quick_tool_leaves_one_message(start_bot: StartBot) -> None:
    bot = await start_bot(calls(("weather", {"city": "Oslo"})), "Take an umbrella.", tools=(weather,))

    await bot.hears("what is it like in Oslo?")

    assert bot.screen == ["Take an umbrella."]


async def test_the_same_event_twice_is_answered_once(wired_bot: StartBot) -> None:  # S2-43, C-30
    bot = await wired_bot("Once.")

    await bot.hears("hello")
    again = await bot.channel.deliver(bot.channel.heard[-1])
    await bot.app.settled()

    assert again is Accepted.DUPLICATE
    assert bot.screen == ["Once."]


async def test_the_same_words_twice_are_two_messages(start_bot: StartBot) -> None:  # S2-43
    bot = await start_bot("One.", "Two.")

    await bot.hears("yes")
    await bot.hears("yes")

    assert bot.screen == ["One.", "Two."]


async def test_a_stranger_hears_nothing(start_bot: StartBot) -> None:
    bot = await start_bot()

    accepted = await bot.hears("hello", sender="mallory")

    assert accepted is Accepted.REFUSED
    assert bot.screen == []
    assert bot.channel.calls == []


async def test_the_next_message_knows_the_last(start_bot: StartBot) -> None:  # S0-24
    bot = await start_bot("Hi.", "You said hello.")

    await bot.hears("hello")
    await bot.hears("what did I say?")

    asked = [text_of(message.content) for message in bot.llm.requests[1].messages]
    assert asked == ["hello", "Hi.", "what did I say?"]


async def test_a_message_during_a_run_steers_it(start_bot: StartBot) -> None:  # C-18
    said = asyncio.Event()
    bot = await start_bot(Waits(said, "Oslo it is."), "Bergen then.")

    await bot.channel.hears("plan a trip to Oslo")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)
    await bot.channel.hears("no, Bergen")
    await taken_in(bot)
    said.set()
    await bot.app.settled()

    assert "Bergen then." in bot.screen[-1]
    assert len(bot.llm.requests) == 2


async def test_in_a_group_others_wait_for_a_turn_of_their_own(start_bot: StartBot) -> None:  # D-11
    said = asyncio.Event()
    bot = await start_bot(Waits(said, "For Bob."), "For Carl.")

    await bot.channel.hears("mine first", sender="bob", group="team")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)
    await bot.channel.hears("and mine", sender="carl", group="team")
    said.set()
    await bot.app.settled()

    assert bot.screen == ["For Bob.", "For Carl."]


async def test_stop_stops_at_once(start_bot: StartBot) -> None:  # C-15
    never = asyncio.Event()
    bot = await start_bot(Waits(never, "never said"))

    await bot.channel.hears("think for ever")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)
    await bot.hears("/stop")

    assert bot.screen == ["Stopped."]


async def test_a_failing_model_is_told_in_one_sentence(start_bot: StartBot) -> None:  # C-25
    bot = await start_bot(Failure(FailureKind.QUOTA, "insufficient_quota sk-secret"))

    await bot.hears("hello")

    assert len(bot.screen) == 1
    assert "no quota left" in bot.screen[0]
    assert "sk-secret" not in bot.screen[0]


async def test_a_run_goes_on_after_a_restart(start_bot: StartBot) -> None:  # S3-17
    never = asyncio.Event()
    bot = await start_bot(
        calls(("weather", {"city": "Oslo"})), Waits(never, "lost"), "Take an umbrella.", tools=(weather,)
    )

    await bot.channel.hears("what is it like in Oslo?")
    await bot.channel.until(lambda: len(bot.llm.requests) == 2)
    await bot.restart()
    await bot.app.settled()

    assert bot.screen == ["Take an umbrella."]


@pytest.mark.usefixtures("no_progress")
async def test_an_answer_that_could_not_be_sent_is_sent_after_a_restart(start_bot: StartBot) -> None:
    bot = await start_bot("Here it is.")
    bot.channel.fails("send", ChannelError("down", retry_after=3600))

    await bot.channel.hears("hello")
    await bot.channel.until(lambda: any(call.kind == "send" for call in bot.channel.calls))
    assert bot.screen == []
    await bot.restart()
    await bot.app.settled()

    assert bot.screen == ["Here it is."]


async def test_talk_in_a_group_is_not_for_us(start_bot: StartBot) -> None:
    bot = await start_bot()

    accepted = await bot.hears("lunch?", group="team", addressed=Addressed.AMBIENT)

    assert accepted is Accepted.IGNORED
    assert bot.llm.requests == []


async def test_status_tells_the_model(start_bot: StartBot) -> None:
    bot = await start_bot()

    await bot.hears("/status")

    assert "scripted" in bot.screen[0]
    assert "idle" in bot.screen[0]


async def test_a_message_right_behind_new_belongs_to_the_new_conversation(start_bot: StartBot) -> None:  # C-20
    bot = await start_bot("One.", "Two.")
    await bot.hears("first")

    await asyncio.gather(bot.channel.hears("/new"), bot.channel.hears("second"))
    await bot.app.settled()

    assert [text_of(message.content) for message in bot.llm.requests[1].messages] == ["second"]
    assert bot.screen == [
        "One.",
        "New conversation started. Of the last one I keep only what you asked me to remember.",
        "Two.",
    ]


class HeldProgress(MemoryChannel):
    """Sends the progress message of a run only after `let` is set."""

    def __init__(self) -> None:
        super().__init__(limits=NO_PACE)
        self.reached, self.let = asyncio.Event(), asyncio.Event()

    async def send(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        if ":progress:" in key:
            self.reached.set()
            await self.let.wait()
        return await super().send(chat, message, key)


async def test_an_answer_on_its_way_stands_above_the_new_conversation(start_bot: StartBot) -> None:
    said, channel = asyncio.Event(), HeldProgress()
    bot = await start_bot(Waits(said, "The answer."), channel=channel)
    await channel.hears("hi")
    await channel.reached.wait()
    said.set()
    session = bot.made.chats.sessions.of(channel.chat("ann"))
    await until(lambda: not session.current.is_open)
    before = session.conversation.settings_now.session

    await channel.hears("/new")
    await until(lambda: session.conversation.settings_now.session != before)
    channel.let.set()
    await bot.app.settled()

    assert [text.partition(".")[0] for text in bot.screen] == ["The answer", "New conversation started"]


async def test_every_tool_call_of_a_run_is_recorded_with_its_outcome(wired_bot: StartBot) -> None:  # S2-05, S2-26
    bot = await wired_bot(calls(("weather", {"city": "Oslo"}), ("fly", {})), "Take an umbrella.", tools=(weather,))

    await bot.hears("what is it like in Oslo?")
    await bot.stop()

    with closing(sqlite3.connect(bot.home / FILE)) as store:
        recorded = store.execute("SELECT tool, arguments, result, error IS NULL, attempts FROM tool_calls").fetchall()
    assert recorded == [("weather", '{"city": "Oslo"}', "rain in Oslo", 1, 1), ("fly", "{}", None, 0, 0)]


async def test_a_call_that_cannot_be_recorded_is_still_a_call(start_bot: StartBot) -> None:  # S2-05
    bot = await start_bot(calls(("weather", {"city": "Oslo"})), "Take an umbrella.", tools=(weather,))
    with closing(sqlite3.connect(bot.home / FILE)) as store:
        store.execute("DROP TABLE tool_calls")

    await bot.hears("what is it like in Oslo?")

    assert bot.screen == ["Take an umbrella."]


@pytest.mark.parametrize(
    ("language", "unsure", "button"),
    [
        ("en", "I'm not sure my last answer reached you.", "Show last answer"),
        ("zh", "不确定您有没有收到我的上一条回答。", "显示上一条回答"),
    ],
)
@pytest.mark.usefixtures("no_progress")
async def test_what_may_not_have_arrived_is_offered_when_the_person_next_writes(
    start_bot: StartBot, language: str, unsure: str, button: str
) -> None:
    channel = MemoryChannel(keeps_keys=False)
    bot = await start_bot("Take an umbrella.", "You are welcome.", channel=channel)
    channel.fails("send", LOST, times=2)
    await bot.hears("what is it like in Oslo?", language=language)
    assert bot.screen == []
    await bot.restart()

    await bot.hears("thanks", language=language)
    assert sorted(bot.screen) == sorted([unsure, "You are welcome."])
    await channel.presses(button)
    await bot.app.settled()

    assert bot.screen[-1] == "Take an umbrella."
    await bot.hears("/again")
    assert bot.screen[-1] == "Take an umbrella."
