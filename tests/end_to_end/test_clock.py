"""A program with a set clock uses it in its messages too, also after a restart."""

from tests.emulators.model_script import calls, says
from tests.end_to_end.clock import Setting
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage, ends_with

pytestmark = only("telegram")


async def test_it_goes_by_the_clock_that_is_set_also_after_it_was_killed(own_stage: Stage) -> None:
    own_stage.set_clock("2027-03-28 01:50")
    await own_stage.start()
    ann, chat = own_stage.private("Ann")

    own_stage.script.then(calls("clock"), says("Late."))
    await chat.says(ann, "what time is it?")
    await chat.until(ends_with("Late."))
    assert "Sunday, 2027-03-28 01:5" in own_stage.model.requests[-1].last_text

    await own_stage.program.kill()
    own_stage.clock.move(hours=1)
    await own_stage.start()
    own_stage.script.then(calls("clock"), says("Later."))
    await chat.says(ann, "and now?")
    await chat.until(ends_with("Later."))
    assert "Sunday, 2027-03-28 03:5" in own_stage.model.requests[-1].last_text


def test_a_quick_clock_goes_on_from_the_time_that_it_showed() -> None:
    setting = Setting(ahead=3_600, since=1_000, pace=4)

    assert [setting.at(system) for system in (1_000, 1_010)] == [4_600, 4_640]
