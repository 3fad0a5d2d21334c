"""A budget is used up, and raised by its button, on every platform; kill -9 loses nothing."""

import pytest

from tests.emulators.model_script import says
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.platforms.platform import Chat
from tests.end_to_end.stage import Stage, has
from tests.end_to_end.tables import stored
from tests.process import until

pytestmark = [pytest.mark.quick_clock, pytest.mark.timeout(120)]


def _raises(chat: Chat) -> list[str]:
    labels = [button.text for message in chat.bot_messages for row in message.buttons for button in row]
    return [label for label in labels if label.startswith("Raise to")]


def _states(stage: Stage) -> list[str]:
    return [state for (state,) in stored(stage.program.home, "SELECT state FROM spending ORDER BY at")]


@where(lambda facts: facts.emulated)
async def test_a_run_waits_through_a_kill_for_the_button_that_raises_its_budget(own_stage: Stage) -> None:
    stage = own_stage
    ann, chat = stage.private("Ann")
    stage.program.set("PARLEY_OWNERS", f"{stage.platform.facts.name}:{ann.id}")
    stage.program.set("PARLEY_BUDGETS_CHAT", "10 tokens a day")
    stage.script.then(says("Hello."))
    await stage.start()
    await chat.says(ann, "hi")
    await chat.until(lambda c: bool(_raises(c)))
    assert not stage.model.requests

    await stage.program.kill()
    await stage.start()
    label = _raises(chat)[0]  # Telegram, which cannot be asked, may have got it twice
    await chat.presses(ann, label)

    await chat.until(lambda c: any(text.endswith("Hello.") for text in c.screen))
    await chat.until(lambda c: any("The budget is set" in text for text in c.screen))
    await until(lambda: _states(stage) == ["settled"])


@where(lambda facts: facts.emulated and facts.groups)
async def test_in_a_group_others_go_on_while_a_run_waits_through_a_kill(own_stage: Stage) -> None:  # D-11, D-23
    stage = own_stage
    ann, private = stage.private("Ann")
    bob = stage.net.person("Bob")
    stage.program.set("PARLEY_OWNERS", f"{stage.platform.facts.name}:{ann.id}")
    stage.program.set("PARLEY_BUDGETS_PERSON", "10 tokens a day")
    stage.script.then(says("For Ann."), says("Still for Ann."), says("For Bob."))
    await stage.start()
    await private.says(ann, "/budget me 5m tokens a day")
    await private.until(lambda c: any("The budget is set" in text for text in c.screen))
    team = await stage.net.room("Team", [ann, bob])

    await team.says(bob, "@parley_bot and me?")
    await team.until(lambda c: bool(_raises(c)))
    await team.says(ann, "@parley_bot who is first?")
    await team.until(has("For Ann."))
    await stage.program.kill()
    await stage.start()
    await team.says(ann, "@parley_bot and now?")
    await team.until(has("Still for Ann."))
    assert [asked.last_text.rpartition(": ")[2] for asked in stage.model.requests] == ["who is first?", "and now?"]

    await team.presses(ann, _raises(team)[0])
    await team.until(has("For Bob."))
    assert stage.model.requests[-1].last_text.endswith("Bob: and me?")
    assert len(stage.model.requests) == 3
