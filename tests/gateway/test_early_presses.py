"""Presses and answers to a message whose send is not acknowledged yet."""

import asyncio
import time
from pathlib import Path

import pytest

from agent_core.clock import SystemClock, new_id
from agent_core.loop.limits import LoopLimits
from agent_core.models.llm import FailureKind
from agent_core.models.scripted import Failure, calls
from agent_core.tools.tool import Tool, tool
from channels.base import Addressed, ButtonPressed
from channels.memory import LOST, Reply
from gateway.runs.attempts import MOST_DEATHS
from gateway.store.store import Store
from tests.gateway.answering_late import LateChannel, buttons, channel_of, come_of_it, seen, unanswered
from tests.gateway.approving import APPROVED, BY_ANN, CHART, QUESTION, recorder
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.dying import died
from tests.gateway.taking_in import taken_in
from tests.gateway.tasking import Cast
from tests.gateway.test_skill_commands import library, write_skill
from tests.gateway.test_task_recovery import COUNT

SUNNY = "It is sunny."
LIMIT = "limit of 1 model calls"
NO_KEY = Failure(FailureKind.AUTH, "Incorrect API key provided")
LOOKS = calls(("look", {}))


@pytest.fixture
def start_bot(start_bot: StartBot) -> StartBot:
    async def start(*turns: object, keeps_keys: bool = True, **how: object) -> Bot:
        return await start_bot(*turns, **{"channel": LateChannel(keeps_keys=keeps_keys), **how})

    return start


def looking(looked: asyncio.Event) -> Tool:
    @tool(idempotent=True)
    async def look() -> str:
        """Look, until the event is set."""
        await looked.wait()
        return "clouds"

    return look


async def limited(start_bot: StartBot) -> tuple[Bot, asyncio.Event]:
    """Return a bot whose first answer ends at a limit, once the event is set."""
    looked = asyncio.Event()
    return await start_bot(LOOKS, SUNNY, tools=(looking(looked),), limits=LoopLimits(max_turns=1)), looked


# Answers that ended early


async def test_continue_goes_on_and_is_used_up(start_bot: StartBot) -> None:
    bot, looked = await limited(start_bot)
    looked.set()
    async with unanswered(bot, "Continue"):
        await bot.channel.hears("look again and again")
        await seen(bot, "Continue")
        await bot.channel.presses("Continue")

    assert LIMIT in bot.screen[0]
    assert bot.screen[1:] == [SUNNY]
    assert buttons(bot) == []


async def test_continue_leaves_the_answer_that_progress_became(start_bot: StartBot) -> None:
    bot, looked = await limited(start_bot)
    async with unanswered(bot, "Continue"):
        await bot.channel.hears("look again and again")
        await seen(bot, "Stop")
        looked.set()
        await seen(bot, "Continue")
        await bot.channel.presses("Continue")

    assert LIMIT in bot.screen[0]
    assert bot.screen[1:] == [SUNNY]
    assert buttons(bot) == []


async def test_continue_pressed_twice_goes_on_once(start_bot: StartBot) -> None:
    bot, looked = await limited(start_bot)
    looked.set()
    async with unanswered(bot, "Continue"):
        await bot.channel.hears("look again and again")
        await seen(bot, "Continue")
        await bot.channel.presses("Continue")
        await bot.channel.presses("Continue")

    assert bot.screen.count(SUNNY) == 1
    assert len(bot.llm.requests) == 2


async def test_try_again_does_and_is_used_up(start_bot: StartBot) -> None:
    bot = await start_bot(NO_KEY, "Oslo.")
    async with unanswered(bot, "Try again"):
        await bot.channel.hears("the capital of Norway?")
        await seen(bot, "Try again")
        await bot.channel.presses("Try again")

    assert bot.screen[1:] == ["Oslo."]
    assert buttons(bot) == []


@pytest.mark.usefixtures("no_progress")
async def test_a_button_on_a_message_whose_answer_was_lost_for_good_is_used_up(start_bot: StartBot) -> None:
    channel = LateChannel(keeps_keys=False)
    bot = await start_bot(NO_KEY, "Oslo.", channel=channel)
    channel.fails("send", LOST, times=2, lost=True)
    await bot.hears("the capital of Norway?")
    assert buttons(bot) == ["Try again", "Try again"]  # it is unknown whether either has arrived

    await channel.presses("Try again")
    await bot.app.settled()

    assert bot.screen[-1] == "Oslo."
    assert buttons(bot) == ["Try again"]


@pytest.mark.usefixtures("no_progress")
async def test_the_copy_whose_acknowledgement_was_lost_is_used_up_too(start_bot: StartBot) -> None:
    channel = LateChannel(keeps_keys=False)
    bot = await start_bot(NO_KEY, "Oslo.", channel=channel)
    channel.fails("send", LOST, lost=True)
    await bot.hears("the capital of Norway?")
    [lost, message], [known, _] = channel.posts
    button = message.buttons[0][0]

    await channel.deliver(
        ButtonPressed(
            event_id="press",
            chat=lost.chat,
            sender=BY_ANN,
            at=time.time(),
            message_id=lost.message_id,
            action=button.action,
        )
    )
    await bot.app.settled()

    assert bot.screen[-1] == "Oslo."
    assert [posted for posted, message in channel.posts if message.buttons] == [known]


async def test_a_task_that_was_set_aside_goes_on(start_bot: StartBot, tmp_path: Path) -> None:
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.tasks.add(COUNT)
        await store.tasks.start(COUNT)
        await died(store, COUNT.run, MOST_DEATHS - 1)
    channel, cast = LateChannel(), Cast(tasks={"count": ["42 files."]})
    answered = channel.answers_late("Continue")
    bot = await start_bot(*cast.turns, channel=channel)
    await seen(bot, "Continue")
    await channel.presses("Continue")
    await come_of_it(bot, answered)

    assert "42 files." in cast.told[-1]
    assert cast.asked == {"count": 1}


# Questions


@pytest.mark.parametrize("answer", ["Allow once", "yes", "/approve", "/approve abc123"])
async def test_what_is_allowed_is_done(start_bot: StartBot, answer: str) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "Here is the chart.", tools=(run,), new_request_id=lambda: "abc123")
    async with unanswered(bot, "Allow once"):
        await bot.channel.hears("draw it")
        await seen(bot, "Allow once")
        await (bot.channel.presses if answer == "Allow once" else bot.channel.hears)(answer)

    assert ran == [["python3", "chart.py"]]
    assert APPROVED in bot.screen
    assert bot.screen[-1] == "Here is the chart."
    assert buttons(bot) == []


@pytest.mark.parametrize("answer", ["Deny", "no", "/deny", "/deny abc123"])
async def test_what_is_denied_is_not_done(start_bot: StartBot, answer: str) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "As you like.", tools=(run,), new_request_id=lambda: "abc123")
    async with unanswered(bot, "Allow once"):
        await bot.channel.hears("draw it")
        await seen(bot, "Allow once")
        await (bot.channel.presses if answer == "Deny" else bot.channel.hears)(answer)

    assert ran == []
    assert bot.screen[-1] == "As you like."
    assert buttons(bot) == []


@pytest.mark.parametrize("words", ["/stop", "stop"])
async def test_a_stop_ends_the_run_that_asks(start_bot: StartBot, words: str) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, tools=(run,))
    async with unanswered(bot, "Allow once"):
        await bot.channel.hears("draw it")
        await seen(bot, "Allow once")
        await bot.channel.hears(words)

    assert ran == []
    assert any("Stopped" in text for text in bot.screen)
    assert buttons(bot) == []


async def test_other_words_than_a_yes_are_heard_in_a_thread_that_begins_with_a_question(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "Another one, then.", tools=(run,))
    async with unanswered(bot, "Allow once"):
        await bot.channel.hears("draw it", group="team", thread="7")
        await seen(bot, "Allow once")
        await bot.channel.hears("not that one", group="team", thread="7", addressed=Addressed.AMBIENT)

    assert ran == []
    assert bot.screen[-1] == "Another one, then."
    assert "not that one" in str(bot.llm.requests[-1].messages)


async def test_a_question_of_an_earlier_life_is_closed_by_the_answer_to_it(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "Here is the chart.", tools=(run,))
    answered = channel_of(bot).answers_late("Allow once")
    await bot.channel.hears("draw it")
    await seen(bot, "Allow once")
    await bot.restart()

    await bot.channel.presses("Allow once")
    await come_of_it(bot, answered)

    assert ran == [["python3", "chart.py"]]
    assert APPROVED in bot.screen
    assert buttons(bot) == []


# Messages


async def test_a_message_under_an_answer_is_answered_below_it(start_bot: StartBot) -> None:
    bot = await start_bot(SUNNY, "Yes.")
    async with unanswered(bot, SUNNY):
        await bot.channel.hears("how is it?")
        await seen(bot, SUNNY)
        await bot.channel.hears("really?")

    assert bot.screen == [SUNNY, "Yes."]


async def test_progress_under_which_somebody_writes_does_not_become_the_answer(start_bot: StartBot) -> None:
    looked = asyncio.Event()
    bot = await start_bot(LOOKS, SUNNY, tools=(looking(looked),))
    async with unanswered(bot, "Stop"):
        await bot.channel.hears("how is it?")
        await seen(bot, "Stop")
        progress = bot.channel.posts[0][0].message_id
        await bot.channel.hears("quick")
        await taken_in(bot)
        looked.set()

    assert bot.screen == [SUNNY]
    assert bot.channel.posts[0][0].message_id != progress


async def test_an_edit_of_what_is_answered_is_answered_again(start_bot: StartBot) -> None:
    bot = await start_bot(SUNNY, "Rainy.")
    async with unanswered(bot, SUNNY):
        await bot.channel.hears("how is it?")
        await seen(bot, SUNNY)
        question = bot.channel.heard[-1]
        assert question.type == "message"
        await bot.channel.changes(question, "how was it?")

    assert bot.screen == [SUNNY, "Rainy."]
    assert "how was it?" in str(bot.llm.requests[-1].messages)


async def test_an_edit_of_what_still_waits_changes_it(start_bot: StartBot) -> None:
    bot = await start_bot(SUNNY, "Rainy.")
    async with unanswered(bot, SUNNY):
        await bot.channel.hears("how is it?")
        await seen(bot, SUNNY)
        await bot.channel.hears("and tomorow?")
        question = bot.channel.heard[-1]
        assert question.type == "message"
        await bot.channel.changes(question, "and tomorrow?")

    assert bot.screen == [SUNNY, "Rainy."]
    assert "and tomorrow?" in str(bot.llm.requests[-1].messages)


async def test_a_stop_under_the_answer_finds_nothing_to_stop(start_bot: StartBot) -> None:
    bot = await start_bot(SUNNY)
    async with unanswered(bot, SUNNY):
        await bot.channel.hears("how is it?")
        await seen(bot, SUNNY)
        await bot.channel.hears("/stop")

    assert bot.screen == [SUNNY, "Nothing is running here."]


async def test_who_answers_in_a_thread_under_our_message_is_heard(start_bot: StartBot) -> None:
    bot = await start_bot(SUNNY, "Under it.")
    async with unanswered(bot, SUNNY):
        await bot.channel.hears("how is it?", group="team")
        await seen(bot, SUNNY)
        above = bot.channel.posts[-1][0].message_id
        said = asyncio.create_task(
            bot.channel.hears("really?", group="team", thread=above, addressed=Addressed.AMBIENT)
        )
    await said
    await bot.app.settled()

    assert bot.screen == [SUNNY, "Under it."]


async def test_who_quotes_our_question_quotes_no_stranger(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "Here is the chart.", tools=(run,))
    answered = channel_of(bot).answers_late("Allow once")
    await bot.channel.hears("draw it")
    await seen(bot, "Allow once")
    asked = bot.channel.posts[-1][0].message_id
    await bot.channel.hears("be quick", reply=Reply(asked, f"Ada: {QUESTION}"))
    await come_of_it(bot, answered)

    assert ran == []  # any other message is no approval
    [quick] = [each for each in bot.llm.requests[-1].messages if "be quick" in str(each)]
    assert quick.origin.sources == ()


# Commands


async def test_the_conversation_is_shortened_when_its_answer_is_seen(start_bot: StartBot) -> None:
    bot = await start_bot(SUNNY)
    async with unanswered(bot, SUNNY):
        await bot.channel.hears("how is it?")
        await seen(bot, SUNNY)
        await bot.channel.hears("/compact")
        await bot.channel.hears("/status")

    assert bot.screen[1] == "There is nothing to compact yet."
    assert "idle" in bot.screen[2]


async def test_a_skill_that_is_loaded_then_is_loaded_for_what_comes(start_bot: StartBot, tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "chart")
    bot = await start_bot(SUNNY, skills=library(tmp_path / "skills"))
    async with unanswered(bot, SUNNY):
        await bot.channel.hears("how is it?")
        await seen(bot, SUNNY)
        await bot.channel.hears("/skill load chart")

    assert bot.screen[1] == "**chart** is loaded in this chat, until it is unloaded by command."


@pytest.mark.parametrize(
    ("command", "button", "reads"),
    [
        ("/language", "中文", "我会在这里使用中文。"),
        ("/skills", "Load chart", "**chart** is loaded in this chat"),
        ("/cron add every day 9:00 report the sales", "Confirm", "✓ Set"),
        ("/remind in 20m stretch", "Undo", "✗ Taken back"),
        ("/heartbeat on water the plants", "Use this list", "The heartbeat is on."),
    ],
)
async def test_the_button_under_the_answer_to_a_command_does_what_it_says(
    start_bot: StartBot, tmp_path: Path, command: str, button: str, reads: str
) -> None:
    write_skill(tmp_path / "skills", "chart")
    bot = await start_bot(skills=library(tmp_path / "skills"))
    async with unanswered(bot, button):
        await bot.channel.hears(command)
        await seen(bot, button)
        await bot.channel.presses(button)

    assert reads in bot.screen[-1]
    assert button not in buttons(bot)


@pytest.mark.usefixtures("no_progress")
async def test_what_may_not_have_arrived_is_shown_again(start_bot: StartBot) -> None:
    channel = LateChannel(keeps_keys=False)
    bot = await start_bot(SUNNY, "Hello.", channel=channel)
    channel.fails("send", LOST, times=2)
    await bot.hears("how is it?")
    async with unanswered(bot, "Show last answer"):
        await channel.hears("hello?")
        await seen(bot, "Show last answer")
        await channel.presses("Show last answer")

    assert bot.screen.count(SUNNY) == 1
