"""Check-ins on every emulated platform: offered first, sent by day, and switched off on request."""

import pytest

from gateway.schedule.heartbeat.settings import ANSWERS
from tests.emulators.model_script import Answer, ToolUse, calls, says
from tests.end_to_end.jobs import PROPOSED, REPORT, SECONDS, Cast, agreed, is_held, is_looked, is_read, proposes, tells
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.platforms.emulated import STRANGERS
from tests.end_to_end.platforms.platform import Chat, Person
from tests.end_to_end.stage import Stage

pytestmark = [where(lambda facts: facts.emulated), pytest.mark.timeout(120)]

MORNING = "2026-11-23 09:00"
DRY = "The plants are dry."
NOTHING = calls(ToolUse("nothing_to_report", {"why": "nothing new"}))


async def lives(stage: Stage, cast: Cast) -> tuple[Person, Chat]:
    """Start on Monday morning with Ann as the owner."""
    stage.script.respond = cast
    stage.net.lift_limits()
    stage.program.set("PARLEY_HEARTBEAT", "on")
    stage.program.set("PARLEY_OWNERS", f"{stage.platform.facts.name}:{stage.net.id_of(STRANGERS + 1)}")
    stage.set_clock(MORNING)
    await stage.start()
    return stage.private("Ann")


async def looked_after(stage: Stage, *runs: Answer, then: tuple[Answer, ...] = ()) -> tuple[Cast, Person, Chat]:
    """Start with a checklist of one item, which these runs check every half hour.

    The list is in use before 09:02.
    """
    cast = Cast(*then, runs=runs)
    ann, chat = await lives(stage, cast)
    await chat.says(ann, "/heartbeat on water the plants")
    await chat.until(lambda c: "water the plants" in c.screen[-1], SECONDS)
    await chat.presses(ann, "Use this list")
    await chat.until(tells("The heartbeat is on."), SECONDS)
    return cast, ann, chat


async def test_the_owner_is_offered_it_once_and_switches_it_on_by_button(own_stage: Stage) -> None:
    ann, chat = await lives(own_stage, Cast(*[says("Hello.")] * ANSWERS, says("Good.")))

    for heard in range(1, ANSWERS + 1):
        await chat.says(ann, "hello")
        await chat.until(tells("Hello.", heard), SECONDS)
    await chat.until(lambda c: any(each.button("Switch it on") for each in c.bot_messages), SECONDS)
    offer = chat.bot_messages[-1]
    assert offer.button("No, thanks")
    for words in ("every 30 minutes", "at most 2 times a day"):
        assert words in offer.shown
    await chat.presses(ann, "Switch it on")
    await chat.until(lambda c: any(each.button("Use this list") for each in c.bot_messages), SECONDS)
    await chat.presses(ann, "Use this list")
    await chat.until(tells("The heartbeat is on. Next check: Mon 23 Nov 09:30"), SECONDS)
    await chat.says(ann, "good")
    await chat.until(tells("Good."), SECONDS)

    assert sum("every 30 minutes" in text for text in chat.screen) <= 1


async def test_a_look_that_finds_something_speaks_and_snoozed_it_is_quiet_and_comes_again(own_stage: Stage) -> None:
    stage = own_stage
    cast, ann, chat = await looked_after(stage, says(DRY), NOTHING)

    stage.clock.move_to("2026-11-23 09:32")
    await chat.until(tells(DRY), SECONDS)
    assert "water the plants" in cast.asked[0].texts("user")[-1]
    await chat.presses(ann, "Snooze 1 h")
    await chat.until(lambda c: "10:32" in c.screen[-1] and not c.bot_messages[-1].button("Snooze 1 h"), SECONDS)
    stage.clock.move_to("2026-11-23 10:02")
    await is_looked(stage.program.home, "heartbeat_is_snoozed")
    assert len(cast.asked) == 1  # S2-46
    stage.clock.move_to("2026-11-23 10:32:10")
    await chat.until(tells(DRY, 2), SECONDS)
    await is_looked(stage.program.home, "heartbeat_all_well")

    assert cast.is_over
    assert len(chat.screen) == 3, chat.screen


async def test_what_comes_at_night_is_one_message_in_the_morning(own_stage: Stage) -> None:
    """The program may also be killed and restarted in between."""
    stage = own_stage
    proposed = (proposes("0 23 * * *"), says(PROPOSED))
    cast, ann, chat = await looked_after(stage, says(REPORT), NOTHING, then=proposed)

    await agreed(stage, ann, chat, "report the sales each night at eleven")
    assert any("21:00–08:00" in text for message in chat.bot_messages for text in message.history)
    stage.clock.move_to("2026-11-23 23:00:01")
    await is_held(stage.program.home)
    await stage.program.kill()
    stage.clock.move_to("2026-11-24 08:02")
    await stage.start()
    await chat.until(tells(REPORT), SECONDS)
    await is_looked(stage.program.home, "heartbeat_all_well")
    await is_read(stage.program.home)

    assert tells(REPORT)(chat)
    assert cast.is_over
