"""A program that is to be run is asked for in the chat, on every platform."""

from collections.abc import Callable

import pytest

from tests.emulators.model_script import ToolUse, Turn, says
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.platforms.platform import Chat
from tests.end_to_end.stage import Stage

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]

RUNS = Turn(tools=(ToolUse("run_command", {"argv": ["sh", "-c", "echo run >> made; wc -l < made"]}),))
LINE = "sh -c 'echo run >> made; wc -l < made'"


def says_at_last(words: str) -> Callable[[Chat], bool]:
    return lambda chat: chat.screen[-1].endswith(words)


def asks(chat: Chat) -> bool:
    return any("May I do this?" in text for text in chat.screen)


async def is_asked(stage: Stage, chat: Chat) -> None:
    """Or there is nothing on this machine that programs could be shut in with."""
    await stage.asked(1)
    if "run_command" not in stage.model.requests[0].tools:
        pytest.skip("nothing here shuts programs in")
    await chat.until(asks, timeout=20)


async def test_a_program_runs_when_its_question_is_approved_by_button(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(RUNS, says("It ran."))

    await chat.says(ann, "run it")
    await is_asked(stage, chat)
    assert any(LINE in text for text in chat.screen)
    press = await chat.presses(ann, "Approve")

    await chat.until(says_at_last("It ran."), timeout=20)
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

    await chat.until(says_at_last("As you like."), timeout=20)
    await chat.until(lambda c: any("✗ Denied by" in text for text in c.screen))
    assert "the person refused this call" in stage.model.requests[-1].texts("tool")[-1]


@where(lambda facts: facts.groups)
async def test_a_second_person_in_the_group_cannot_approve(stage: Stage) -> None:  # D-11
    ann, bob = stage.net.person("Ann"), stage.net.person("Bob")
    team = await stage.net.room("Team", [ann, bob])
    stage.script.then(RUNS, says("It ran."))

    await team.says(bob, "@parley_bot run it")
    await is_asked(stage, team)
    await team.presses(ann, "Approve")
    await team.until(lambda c: any("Only the person who asked" in text for text in c.screen), timeout=20)
    assert len(stage.model.requests) == 1
    await team.presses(bob, "Approve")

    await team.until(lambda c: any("✓ Approved by Bob" in text for text in c.screen), timeout=20)
    await team.until(says_at_last("It ran."), timeout=20)


@where(lambda facts: facts.emulated)
async def test_killed_while_it_asked_it_asks_no_second_time_and_runs_once(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(RUNS, says("It ran."))

    await chat.says(ann, "run it")
    await is_asked(stage, chat)
    await stage.program.kill()
    await stage.start()
    await chat.presses(ann, "Approve")

    await chat.until(says_at_last("It ran."), timeout=30)
    assert sum("✓ Approved by" in text for text in chat.screen) == 1
    # Where the program died before it could note that the question had arrived, Telegram does not tell that it had.
    assert sum("May I do this?" in text for text in chat.screen) <= 1
    assert "\n1\n" in stage.model.requests[-1].texts("tool")[-1]
