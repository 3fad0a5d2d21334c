"""Programs need an approval in the chat, on every platform."""

import pytest

from tests.emulators.model_script import ToolUse, Turn, says
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.platforms.platform import Chat
from tests.end_to_end.stage import Stage, says_last
from tests.process import until

pytestmark = [pytest.mark.quick_clock, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]

RUNS = Turn(tools=(ToolUse("run_command", {"argv": ["sh", "-c", "echo run >> made; wc -l < made; rm made"]}),))
LINE = "sh -c 'echo run >> made; wc -l < made; rm made'"


def asks(chat: Chat) -> bool:
    return any("May I do this?" in text for text in chat.screen)


async def is_asked(stage: Stage, chat: Chat) -> None:
    """Wait for the question, or skip the test where this machine has no sandbox."""
    await stage.asked(1)
    if "run_command" not in stage.model.requests[0].tools:
        pytest.skip("no sandbox here")
    await chat.until(asks)


async def test_a_program_runs_when_its_question_is_approved_by_button(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(RUNS, says("It ran."))

    await chat.says(ann, "run it")
    await is_asked(stage, chat)
    assert any(LINE in text for text in chat.screen)
    press = await chat.presses(ann, "Allow once")

    await chat.until(says_last("It ran."))
    await chat.until(lambda c: any("✓ Approved by" in text and LINE in text for text in c.screen))
    await chat.until(lambda _: press.answered)
    assert "\n1\n" in stage.model.requests[-1].texts("tool")[-1]


async def test_a_program_does_not_run_when_its_question_is_denied_by_command(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(RUNS, says("As you like."))

    await chat.says(ann, "run it")
    await is_asked(stage, chat)
    asked = next(text for text in chat.screen if "May I do this?" in text)
    request = asked.partition("deny ")[2][:6]
    await chat.says(ann, f"/deny {request}")

    await chat.until(says_last("As you like."))
    await chat.until(lambda c: any("✗ Denied by" in text for text in c.screen))
    assert "the person refused this call" in stage.model.requests[-1].texts("tool")[-1]


@where(lambda facts: facts.groups)
async def test_a_second_person_in_the_group_cannot_approve(stage: Stage) -> None:  # D-11
    ann, bob = stage.net.person("Ann"), stage.net.person("Bob")
    team = await stage.net.room("Team", [ann, bob])
    stage.script.then(RUNS, says("It ran."))

    await team.says(bob, "@parley_bot run it")
    await is_asked(stage, team)
    await team.presses(ann, "Allow once")
    await team.until(lambda c: any("Only the person who asked" in text for text in c.screen))
    assert len(stage.model.requests) == 1
    await team.presses(bob, "Allow once")

    await team.until(lambda c: any("✓ Approved by Bob" in text for text in c.screen))
    await team.until(says_last("It ran."))


@where(lambda facts: facts.emulated)
async def test_killed_while_it_asked_it_asks_no_second_time_and_runs_once(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(RUNS, says("It ran."))

    await chat.says(ann, "run it")
    await is_asked(stage, chat)
    await stage.program.kill()
    await stage.start()
    await chat.presses(ann, "Allow once")

    await chat.until(says_last("It ran."))
    await chat.until(lambda c: sum("✓ Approved by" in text for text in c.screen) == 1)
    # If the program was killed before it stored that the question had arrived, Telegram cannot tell that it had.
    assert sum("May I do this?" in text for text in chat.screen) <= 1
    assert "\n1\n" in stage.model.requests[-1].texts("tool")[-1]


async def test_a_plain_yes_of_the_person_who_was_asked_lets_the_program_run(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(RUNS, says("It ran."))

    await chat.says(ann, "run it")
    await is_asked(stage, chat)
    asked = stage.clock.now
    await until(lambda: int(stage.clock.now) > asked)  # Telegram's dates have a resolution of one second
    await chat.says(ann, "yes")

    await chat.until(says_last("It ran."))
    await chat.until(lambda c: any("✓ Approved by" in text and LINE in text for text in c.screen))
    assert "\n1\n" in stage.model.requests[-1].texts("tool")[-1]
