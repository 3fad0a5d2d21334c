"""An answer to a report, by thread or reply, has the report as context, also for the model."""

from typing import Protocol, cast

import pytest

from tests.emulators.model_script import says
from tests.end_to_end.jobs import REPORT, SECONDS, Cast, confirmed, is_read, tells, waits_for_a_yes
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.platforms.platform import Chat, Message
from tests.end_to_end.stage import Stage


class HasThreads(Protocol):
    def thread(self, message: Message) -> Chat: ...


@only("slack", "discord")
@pytest.mark.timeout(120)
async def test_a_thread_under_a_report_is_about_it(own_stage: Stage) -> None:  # S2-48
    stage = own_stage
    stage.script.respond = Cast(says("Because of Friday."), runs=(says(REPORT),))
    stage.set_clock("2026-11-22 18:00")
    await stage.start()
    ann, _ = stage.private("Ann")
    team = stage.net.emulator.group("Team", [ann])
    await team.says(ann, "/cron add every weekday 9:00 report the sales")
    await team.until(lambda c: waits_for_a_yes(c) is not None, SECONDS)
    await confirmed(ann, team)
    stage.clock.move_to("2026-11-23 09:00:01")
    await team.until(tells(REPORT), SECONDS)
    await is_read(stage.program.home)

    thread = cast("HasThreads", team).thread(team.bot_messages[-1])
    await thread.says(ann, "why is it lower?")
    await thread.until(tells("Because of Friday."), SECONDS)

    assert stage.model.requests[-1].texts("user")[-1].count(REPORT) == 1


@only("telegram", "discord")
@pytest.mark.timeout(120)
async def test_a_reply_to_a_report_in_a_new_talk_is_about_it(own_stage: Stage) -> None:  # S2-48
    stage = own_stage
    stage.script.respond = Cast(says("Because of Friday."), runs=(says(REPORT),))
    stage.set_clock("2026-11-22 18:00")
    await stage.start()
    ann, chat = stage.private("Ann")
    await chat.says(ann, "/cron add every weekday 9:00 report the sales")
    await chat.until(lambda c: waits_for_a_yes(c) is not None, SECONDS)
    await confirmed(ann, chat)
    stage.clock.move_to("2026-11-23 09:00:01")
    await chat.until(tells(REPORT), SECONDS)
    await is_read(stage.program.home)
    report = chat.bot_messages[-1]

    await chat.says(ann, "/new")
    await chat.until(lambda c: len(c.bot_messages) > 2, SECONDS)
    await chat.says(ann, "why is it lower?", reply_to=report)
    await chat.until(tells("Because of Friday."), SECONDS)

    assert "".join(stage.model.requests[-1].texts("user")).count(REPORT) == 1
