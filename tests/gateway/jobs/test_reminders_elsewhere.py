"""A reminder is posted in another chat that agreed, as a report is."""

from agent_core.messages import JsonObject
from agent_core.models.scripted import calls
from tests.gateway.jobs.asking import press, typed_ids
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import ANN, TEAM
from tests.gateway.jobs.test_elsewhere import known_in_team, of, pressed


async def test_a_reminder_comes_in_the_other_chat_that_agreed(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Hi.", "Hi.", new_request_id=typed_ids())
    await known_in_team(bot)

    await bot.hears("/remind #team on Monday at 9 stand-up, reply to #1234")
    assert "> stand-up, reply to #1234\n" in of(bot, ANN)
    assert "- **Posted in:** #team on Memory (asked there first, with these words" in of(bot, ANN)
    await press(bot, "Confirm")
    assert of(bot, TEAM).startswith("**Ann would like a reminder to be posted here:**\n\n> stand-up, reply to #1234")
    await pressed(bot, "Allow")
    assert of(bot, ANN) == "✓ #team on Memory: Bob agreed. The reminder `ab0001` is posted there from now on."
    before = bot.channel.screen_of(ANN)
    bot.at("2026-11-30 09:00")
    await bot.look()

    told = of(bot, TEAM)
    assert told.startswith("⏰ stand-up, reply to #1234")
    assert told.endswith("_A reminder of Ann from another chat. `/cron stop ab0001` ends it here._")
    assert bot.channel.screen_of(ANN) == before


async def test_a_reminder_in_plain_words_names_the_other_chat_too(start_bot: StartTimedBot) -> None:
    asked: JsonObject = {"kind": "reminder", "what": "#team stand-up", "when": "2026-11-30 09:00"}
    bot = await start_bot("Hi.", "Hi.", calls(("schedule", asked)), "It is there.", new_request_id=typed_ids())
    await known_in_team(bot)

    await bot.hears("remind #team stand-up on 2026-11-30 09:00")
    await press(bot, "Confirm")

    assert of(bot, TEAM).startswith("**Ann would like a reminder to be posted here:**\n\n> stand-up")


async def test_a_reminder_comes_here_until_the_other_chat_agrees(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Hi.", "Hi.", new_request_id=typed_ids())
    await known_in_team(bot)

    await bot.hears("/remind to #team monday 9:00 stand-up")
    await press(bot, "Confirm")
    bot.at("2026-11-30 09:00")
    await bot.look()

    assert "⏰ stand-up" in of(bot, ANN)
    assert of(bot, TEAM).startswith("**Ann would like")


async def test_a_reminder_for_a_chat_that_is_not_known_is_refused_and_one_that_names_it_later_is_not(
    start_bot: StartTimedBot,
) -> None:
    bot = await start_bot("Hi.", "Hi.", new_request_id=typed_ids())
    await known_in_team(bot)

    await bot.hears("/remind #sales monday 9:00 stand-up")
    assert of(bot, ANN).startswith("I know no chat #sales in which you have talked to me.")
    await bot.hears("/remind tomorrow at 9 reply to #sales")
    assert "reply to #sales" in of(bot, ANN)
    assert await bot.store.job_targets.of("ab0001") == []
