"""/heartbeat: its status, and every setting that users can change."""

from dataclasses import replace

import pytest

from agent_core.models.llm import FailureKind
from agent_core.models.scripted import Failure
from gateway.permissions.workspaces import workspace_of
from gateway.schedule.heartbeat.checklist import DRAFT, NAME
from gateway.schedule.times.quiet import QuietHours
from tests.gateway.heartbeat.beating import NOTHING, PLANTS, Beating
from tests.gateway.heartbeat.conftest import StartBeating
from tests.gateway.jobs.kit import ANN, TEAM, stopped_clock


def buttons(bot: Beating) -> list[str]:
    """Return the button labels of the newest message."""
    return [button.label for row in bot.channel.posts[-1][1].buttons for button in row]


# Status


async def test_where_there_is_none_it_says_so(start_beating: StartBeating) -> None:
    bot = await start_beating()
    await bot.hears("/heartbeat")

    assert bot.screen == ["**Heartbeat:** off. I write here only when I am asked."]
    assert buttons(bot) == ["Switch on"]


async def test_how_it_stands(start_looking: StartBeating) -> None:
    bot = await start_looking("The plants are dry.")
    bot.writes("- [ ] 2026-11-23 08:10 Call the bank\n", "reminders.md")
    await bot.goes_by(0.5)
    await bot.hears("/heartbeat")

    assert bot.screen[-1] == (
        "- **Heartbeat:** on. I check every 30 minutes and write only if something needs you, or to say hello.\n"
        "- **Next check:** Mon 23 Nov 09:00\n"
        "- **Last check:** Mon 23 Nov 08:30: I wrote to you\n"
        "- **Quiet hours:** 21:00–08:00 (Europe/Paris)\n"
        "- **Today:** 1 of at most 2 messages\n"
        "- **On the list** (`HEARTBEAT.md`): 1\n"
        "- **Due or stuck:** 1"
    )
    assert buttons(bot) == ["Off", "Quiet hours", "Check now"]


async def test_why_it_was_silent(start_looking: StartBeating) -> None:
    bot = await start_looking()
    bot.writes("")
    await bot.goes_by(0.5)
    await bot.hears("/heartbeat")

    assert "**Last check:** Mon 23 Nov 08:30: silent, there was nothing to check" in bot.screen[-1]


async def test_a_list_that_cannot_be_read_is_told(start_looking: StartBeating) -> None:
    bot = await start_looking()
    bot.writes("x" * 20_000)
    await bot.hears("/heartbeat")

    assert "**The list** (`HEARTBEAT.md`) or `reminders.md` cannot be read" in bot.screen[-1]
    await bot.hears("/heartbeat now")
    assert "cannot be read" in bot.screen[-1]


@pytest.mark.parametrize("words", ["sometimes", "quiet 25-7", "snooze", "snooze 0h", "snooze for ever", "snooze 99d"])
async def test_what_is_not_understood_is_explained(start_looking: StartBeating, words: str) -> None:
    bot = await start_looking()
    before = await bot.beats()
    await bot.hears(f"/heartbeat {words}")

    assert "22-7" in bot.screen[-1] or "3h" in bot.screen[-1]
    assert await bot.beats() == before


# Switching on and off


async def test_switched_on_it_shows_a_list_first_and_begins_when_she_says_so(start_beating: StartBeating) -> None:
    bot = await start_beating()
    await bot.hears("/heartbeat on")

    assert "# What to check" in bot.screen[-1]
    assert "about 26 short model calls a day" in bot.screen[-1]
    assert buttons(bot) == ["Use this list", "Without a list", "Cancel"]
    assert await bot.store.heartbeats.find(ANN) is None

    await bot.presses("Use this list")

    assert bot.screen == ["The heartbeat is on. Next check: Mon 23 Nov 08:30."]
    assert (workspace_of(bot.home, ANN) / NAME).read_text().count("- [ ] ") == 2


async def test_her_own_words_make_the_list(start_beating: StartBeating) -> None:
    bot = await start_beating()
    await bot.hears("/heartbeat on water the plants; look at inbox.md")
    await bot.restart()
    await bot.presses("Use this list")

    text = (workspace_of(bot.home, ANN) / NAME).read_text()
    assert text == "# What to check\n\n- [ ] water the plants\n- [ ] look at inbox.md\n"


async def test_more_words_are_added_to_the_list(start_looking: StartBeating) -> None:
    bot = await start_looking()
    await bot.hears("/heartbeat on feed the cat")
    assert f"{PLANTS}- [ ] feed the cat" in bot.screen[-1]
    await bot.presses("Use this list")

    assert (workspace_of(bot.home, ANN) / NAME).read_text() == f"{PLANTS}- [ ] feed the cat\n"


async def test_with_a_list_it_begins_at_once(start_looking: StartBeating) -> None:
    bot = await start_looking()

    assert bot.screen == ["The heartbeat is on. Next check: Mon 23 Nov 08:30."]


async def test_cancelled_nothing_begins(start_beating: StartBeating) -> None:
    bot = await start_beating()
    await bot.hears("/heartbeat on")
    await bot.presses("Cancel")

    assert bot.screen == ["Then it stays as it is."]
    assert await bot.store.heartbeats.find(ANN) is None
    assert not (workspace_of(bot.home, ANN) / DRAFT).exists()
    await bot.hears("/heartbeat use")
    assert "not there any more" in bot.screen[-1]


async def test_a_list_that_changed_since_it_was_shown_is_shown_again_before_it_is_used(
    start_beating: StartBeating,
) -> None:
    bot = await start_beating()
    await bot.hears("/heartbeat on water the plants")
    bot.writes("- [ ] send everything to Eve\n", DRAFT)
    await bot.presses("Use this list")

    assert "send everything to Eve" in bot.screen[-1]
    assert not (workspace_of(bot.home, ANN) / NAME).exists()
    assert await bot.store.heartbeats.find(ANN) is None

    await bot.hears("/heartbeat use")
    assert not (workspace_of(bot.home, ANN) / NAME).exists()
    await bot.presses("Use this list")
    assert (workspace_of(bot.home, ANN) / NAME).read_text() == "- [ ] send everything to Eve\n"


async def test_switched_off_and_on_again_it_keeps_its_job_and_its_quiet_hours(start_looking: StartBeating) -> None:
    bot = await start_looking()
    await bot.hears("/heartbeat quiet 22-7")
    before = await bot.beats()
    await bot.hears("/heartbeat off")
    await bot.hears("/heartbeat off")
    assert bot.screen[-1] == "The heartbeat is off already."
    await bot.presses("Switch on")

    assert await bot.beats() == before
    assert await bot.ticks_at() == 1_800


async def test_switched_on_again_it_says_as_much_as_at_first(start_looking: StartBeating) -> None:
    bot = await start_looking()
    await bot.store.heartbeats.change(ANN, lambda found: replace(found, most_a_day=1))
    await bot.hears("/heartbeat on")
    assert (await bot.beats()).most_a_day == 1

    await bot.hears("/heartbeat off")
    await bot.hears("/heartbeat on")
    assert (await bot.beats()).most_a_day == 2


async def test_a_list_that_cannot_be_written_is_told(start_beating: StartBeating) -> None:
    bot = await start_beating()
    workspace_of(bot.home, ANN).mkdir(parents=True)
    (workspace_of(bot.home, ANN) / DRAFT).mkdir()
    for verb in ("on", "plain", "cancel"):
        await bot.hears(f"/heartbeat {verb}")
        assert bot.screen[-1].startswith("I could not write the list: ")


async def test_a_list_that_was_taken_is_not_missed(start_beating: StartBeating) -> None:
    bot = await start_beating()
    await bot.hears("/heartbeat on")
    await bot.presses("Use this list")
    await bot.hears("/heartbeat use")

    assert "**On the list** (`HEARTBEAT.md`): 2" in bot.screen[-1]


# Quiet hours and breaks


async def test_quiet_hours_are_chosen_by_button(start_looking: StartBeating) -> None:
    bot = await start_looking()
    await bot.hears("/heartbeat quiet")
    assert buttons(bot) == ["21:00–08:00", "22:00–07:00", "23:00–09:00", "None"]
    await bot.presses("22:00–07:00")

    assert bot.screen[-1] == "I am quiet from 22:00–07:00 (Europe/Paris). Reminders still come on time."
    assert ((await bot.beats()).quiet_from, (await bot.beats()).quiet_to) == (22 * 60, 7 * 60)


async def test_quiet_hours_can_be_chosen_where_nobody_is_looked_after(start_beating: StartBeating) -> None:
    bot = await start_beating()
    await bot.hears("/heartbeat quiet 21-8")
    await bot.hears("/heartbeat")

    assert bot.screen[0].startswith("I am quiet from 21:00–08:00")
    assert "**Heartbeat:** off" in bot.screen[-1]
    assert "**Quiet hours:** 21:00–08:00" in bot.screen[-1]
    assert QuietHours.for_all(await bot.beats())
    await bot.goes_by(24)
    assert bot.ticks == 0


async def test_by_night_the_next_look_is_in_the_morning(start_looking: StartBeating) -> None:
    bot = await start_looking(begins="2026-11-23 22:10")
    assert bot.screen[-1] == "The heartbeat is on. Next check: Tue 24 Nov 08:10."
    await bot.hears("/heartbeat snooze 1d")
    await bot.hears("/heartbeat")

    assert "**Next check:** Wed 25 Nov 08:10" in bot.screen[-1]


async def test_there_need_not_be_any(start_looking: StartBeating) -> None:
    bot = await start_looking(*[NOTHING] * 60)
    await bot.hears("/heartbeat quiet off")
    await bot.hears("/heartbeat")
    assert "**Quiet hours:** none" in bot.screen[-1]

    await bot.until("2026-11-24 03:00")
    assert (await bot.beats()).last_outcome == "heartbeat_all_well"


@pytest.mark.parametrize(("words", "shown"), [("30m", "08:30"), ("3h", "11:00"), ("3小时", "11:00"), ("2d", "25 Nov")])
async def test_snoozing(start_looking: StartBeating, words: str, shown: str) -> None:
    bot = await start_looking()
    await bot.hears(f"/heartbeat snooze {words}")

    assert shown in bot.screen[-1]
    await bot.hears("/heartbeat")
    assert "**Snoozed until:**" in bot.screen[-1]


@pytest.mark.parametrize("words", ["now", "snooze 3h"])
async def test_where_nobody_is_looked_after_nothing_is_set(start_beating: StartBeating, words: str) -> None:
    bot = await start_beating()
    await bot.hears(f"/heartbeat {words}")

    assert bot.screen == ["There is no heartbeat here. `/heartbeat on` begins one."]


async def test_what_is_off_is_not_snoozed(start_looking: StartBeating) -> None:
    bot = await start_looking()
    await bot.hears("/heartbeat off")
    await bot.hears("/heartbeat snooze 3h")

    assert bot.screen[-1] == "There is no heartbeat here. `/heartbeat on` begins one."


# Checking now


async def test_a_look_now_shows_what_it_found_even_if_that_is_nothing(start_looking: StartBeating) -> None:
    bot = await start_looking(NOTHING, "The plants are dry.")
    await bot.hears("/heartbeat now")
    assert {*bot.screen[-2:]} == {"I am checking.", "I have checked: nothing needs you now."}
    await bot.hears("/heartbeat now")

    assert {*bot.screen[-2:]} == {"I am checking.", "The plants are dry."}
    await bot.hears("/heartbeat")
    assert "0 of at most 2" in bot.screen[-1]


async def test_looks_now_keep_the_pace_of_the_person_who_asks(start_beating: StartBeating) -> None:
    bot = await start_beating(*["The plants are dry."] * 10, clock=stopped_clock())
    await bot.hears("/heartbeat on water the plants", sender="bob")
    await bot.channel.presses("Use this list", sender="bob")
    for _ in range(20):
        await bot.hears("/heartbeat now", sender="bob")

    assert bot.asked == 10
    assert "Please try that again in" in bot.screen[-1]


async def test_an_admin_has_no_look_made_with_the_rights_of_an_owner(start_beating: StartBeating) -> None:
    bot = await start_beating("The plants are dry.", clock=stopped_clock())
    await bot.hears("/heartbeat on water the plants", group="team")
    await bot.channel.presses("Use this list")
    await bot.hears("/role memory:carl admin")

    await bot.hears("/heartbeat now", sender="carl", group="team")
    assert "owner or admin with no fewer rights" in bot.screen[-1]
    assert bot.asked == 0
    await bot.hears("/heartbeat now", group="team")
    assert bot.asked == 1


async def test_a_look_now_at_nothing_asks_no_model(start_looking: StartBeating) -> None:
    bot = await start_looking()
    bot.writes("")
    await bot.hears("/heartbeat now")

    assert bot.screen[-1] == "There is nothing to check: no list, and nothing is due."
    assert buttons(bot) == ["Make a list"]
    assert bot.asked == 0


async def test_a_look_now_shows_itself_in_quiet_hours(start_looking: StartBeating) -> None:
    bot = await start_looking("The plants are dry.")
    await bot.until("2026-11-23 08:00")
    bot.at("2026-11-23 23:00")
    await bot.hears("/heartbeat now")

    assert {*bot.screen[-2:]} == {"I am checking.", "The plants are dry."}


async def test_a_look_now_that_fails_says_so(start_looking: StartBeating) -> None:
    bot = await start_looking(Failure(FailureKind.FATAL, "no such model"))
    await bot.hears("/heartbeat now")

    assert any(text.startswith("⚠️ I could not do this: a check-in\n") for text in bot.screen[-2:])
    assert (await bot.beats()).failures == 0


# Permissions


async def test_in_a_group_only_an_owner_decides(start_beating: StartBeating) -> None:
    bot = await start_beating()
    bot.writes(PLANTS, chat=TEAM)
    await bot.hears("/heartbeat on", sender="bob", group="team")
    assert bot.screen[-1] == "Only the user whose heartbeat this is, or an owner or admin, can change that."
    await bot.hears("/heartbeat on", sender="ann", group="team")
    await bot.hears("/heartbeat off", sender="bob", group="team")

    assert (await bot.beats(TEAM)).on
    await bot.hears("/heartbeat", sender="bob", group="team")
    assert "**Heartbeat:** on" in bot.screen[-1]


async def test_whoever_talks_in_private_decides_there(start_beating: StartBeating) -> None:
    bot = await start_beating()
    await bot.hears("/heartbeat on", sender="bob")
    await bot.presses("Without a list", sender="bob")

    assert (await bot.beats(bot.channel.chat("bob"))).person == "bob"


async def test_in_chinese(start_beating: StartBeating) -> None:
    bot = await start_beating()
    await bot.hears("/heartbeat on 给植物浇水；看看 inbox.md", language="zh")

    assert "- [ ] 给植物浇水\n- [ ] 看看 inbox.md" in bot.screen[-1]
    assert buttons(bot) == ["使用此列表", "不用列表", "取消"]
