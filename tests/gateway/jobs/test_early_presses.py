"""Presses and answers to messages that Parley sent by itself, before their send is acknowledged."""

import asyncio

import pytest

from agent_core.models.scripted import Call, Calls
from gateway.store.job import JobState, Reaction
from tests.gateway.answering_late import LateChannel, buttons, channel_of, come_of_it, seen, unanswered
from tests.gateway.jobs.asking import typed_ids
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import TimedBot, a_job
from tests.gateway.jobs.test_digest import AT_THREE, AT_TWO, NOTES, SALES, at_night, morning, sleeps

REMINDED = "⏰ Call the bank"
PROPOSES = Calls((Call("schedule", {"kind": "reminder", "what": "Call the bank", "when": "0 9 * * *"}),))


async def reminded(start_bot: StartTimedBot) -> tuple[TimedBot, asyncio.Event]:
    """Return a bot whose reminder is on the screen; its send is acknowledged once the event is set."""
    bot = await start_bot(channel=LateChannel())
    job = a_job("Call the bank")
    await bot.has(job)
    answered = channel_of(bot).answers_late("Done")
    await bot.fires(job)
    await seen(bot, "Done")
    return bot, answered


@pytest.mark.parametrize(
    ("button", "reads", "reaction", "left"),
    [
        ("Done", "✓ Done", Reaction.DONE, []),
        ("Snooze 1 h", "💤 Again Mon 23 Nov 09:00", Reaction.SNOOZED, ["In 3 h instead", "Tomorrow morning", "Done"]),
        (
            "Less like this",
            "↓ What shall become of it?",
            Reaction.LESS,
            ["Pause it", "Weekly", "Remove it", "Leave it"],
        ),
    ],
)
async def test_a_button_marks_the_message_on_which_it_is(
    start_bot: StartTimedBot, button: str, reads: str, reaction: Reaction, left: list[str]
) -> None:
    bot, answered = await reminded(start_bot)
    await bot.channel.presses(button)
    await come_of_it(bot, answered)

    assert bot.screen == [f"{REMINDED}\n\n{reads}"]
    assert buttons(bot) == left
    assert (await bot.firing("abc123")).reaction is reaction


async def test_pressed_twice_it_is_done_once(start_bot: StartTimedBot) -> None:
    bot, answered = await reminded(start_bot)
    await bot.channel.presses("Done")
    await bot.channel.presses("Done")
    await come_of_it(bot, answered)

    assert bot.screen == [f"{REMINDED}\n\n✓ Done"]


async def test_one_of_several_reports_in_a_message_is_marked(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Two notes.", "**Sales**\n\nUp.", channel=LateChannel())
    await sleeps(bot)
    await bot.has(a_job(NOTES, AT_TWO, name="notes1"), a_job(SALES, AT_THREE, name="sales1"))
    await at_night(bot)
    answered = channel_of(bot).answers_late("2 · Done")
    waking = asyncio.create_task(morning(bot))
    await seen(bot, "2 · Done")
    await bot.channel.presses("2 · Done")
    await come_of_it(bot, answered)
    await waking

    assert "**2. ✓ Done**" in bot.screen[0]
    assert buttons(bot) == ["1 · Snooze 1 h", "1 · Done", "1 · Less like this"]


async def test_who_answers_it_asks_about_it(start_bot: StartTimedBot) -> None:
    bot, answered = await reminded(start_bot)
    bot.llm.add("The bank on the corner.")
    await bot.channel.hears("which one?")
    await come_of_it(bot, answered)

    assert bot.screen == [REMINDED, "The bank on the corner."]
    assert REMINDED in str(bot.llm.requests[-1].messages)


@pytest.mark.parametrize("answer", ["Confirm", "yes"])
async def test_a_proposal_is_set(start_bot: StartTimedBot, answer: str) -> None:
    bot = await start_bot(PROPOSES, "Have a look.", channel=LateChannel(), new_request_id=typed_ids())
    async with unanswered(bot, "Confirm"):
        await bot.channel.hears("remind me of the bank every day at nine")
        await seen(bot, "Confirm")
        await (bot.channel.presses if answer == "Confirm" else bot.channel.hears)(answer)

    outcome = bot.screen[-1]  # a written word is answered below the card
    assert outcome.startswith("✓ Set (`ab0001`)")
    assert len(bot.screen) == (1 if answer == "Confirm" else 2)
    assert (await bot.job("ab0001")).state is JobState.ACTIVE
    assert "Confirm" not in buttons(bot)


@pytest.mark.parametrize("answer", ["Cancel", "no"])
async def test_a_proposal_is_dropped(start_bot: StartTimedBot, answer: str) -> None:
    bot = await start_bot(PROPOSES, "Have a look.", channel=LateChannel(), new_request_id=typed_ids())
    async with unanswered(bot, "Confirm"):
        await bot.channel.hears("remind me of the bank every day at nine")
        await seen(bot, "Confirm")
        await (bot.channel.presses if answer == "Cancel" else bot.channel.hears)(answer)

    assert "Have a look." not in bot.screen
    assert (await bot.job("ab0001")).state is JobState.REMOVED
    assert buttons(bot) == []


async def test_a_reminder_that_was_set_at_once_is_taken_back(start_bot: StartTimedBot) -> None:
    sets = Calls((Call("schedule", {"kind": "reminder", "what": "call the bank", "when": "in 20 minutes"}),))
    bot = await start_bot(sets, "It is set.", channel=LateChannel(), new_request_id=typed_ids())
    async with unanswered(bot, "Undo"):
        await bot.channel.hears("remind me in 20 minutes to call the bank")
        await seen(bot, "Undo")
        await bot.channel.presses("Undo")

    assert bot.screen == ["✗ Taken back, it will not come: call the bank"]
    assert buttons(bot) == []
