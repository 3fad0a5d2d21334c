"""The buttons under messages sent by Parley itself, with and without a file, on every emulated platform."""

import pytest

from tests.emulators.model_script import ToolUse, calls, says
from tests.end_to_end.jobs import PROPOSED, REPORT, SECONDS, Cast, agreed, is_read, proposes, tells
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.platforms.platform import Chat, Message, Person
from tests.end_to_end.stage import Stage

pytestmark = [pytest.mark.quick_clock, where(lambda facts: facts.emulated), pytest.mark.timeout(120)]

WRITE = calls(ToolUse("write_file", {"path": "sales.csv", "content": "day,sold\nFri,128\n"}))
SEND = calls(ToolUse("send_file", {"path": "sales.csv"}))


async def reported(stage: Stage) -> tuple[Person, Chat]:
    """Start, and let Ann get her report with a file, on Monday at nine."""
    stage.script.respond = Cast(proposes(), says(PROPOSED), runs=(WRITE, SEND, says(REPORT)))
    stage.net.lift_limits()
    stage.set_clock("2026-11-22 18:00")
    await stage.start()
    ann, chat = stage.private("Ann")
    await agreed(stage, ann, chat)
    stage.clock.move_to("2026-11-23 09:00:01")
    await chat.until(tells(REPORT), SECONDS)
    await chat.until(lambda c: any(each.button("Done") for each in c.bot_messages), SECONDS)
    await is_read(stage.program.home)
    return ann, chat


def texts(chat: Chat) -> list[str]:
    """Return the messages but the one with the file, which may come after the report."""
    return [each.shown for each in chat.bot_messages if each.shown != "[sales.csv]"]


def the_report(chat: Chat) -> Message:
    return next(each for each in chat.bot_messages if REPORT in each.shown)


async def test_done_marks_the_report_and_leaves_its_words_and_its_file(own_stage: Stage) -> None:
    ann, chat = await reported(own_stage)
    before = len(texts(chat))

    await chat.presses(ann, "Done")
    await chat.until(lambda c: "✓ Done" in the_report(c).shown and not the_report(c).buttons, SECONDS)

    assert REPORT in the_report(chat).shown
    assert len(texts(chat)) == before


async def test_less_makes_it_weekly_where_it_stands(own_stage: Stage) -> None:
    ann, chat = await reported(own_stage)
    before = len(texts(chat))

    await chat.presses(ann, "Less like this")
    await chat.until(lambda c: the_report(c).button("Weekly") is not None, SECONDS)
    await chat.presses(ann, "Weekly")
    await chat.until(lambda c: "Every week now. Next Mon 30 Nov 09:00" in the_report(c).shown, SECONDS)

    assert not the_report(chat).buttons
    assert len(texts(chat)) == before
