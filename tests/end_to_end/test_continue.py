"""An answer that ended at a limit, or after repeated kills, can be continued by a button."""

import asyncio

from tests.emulators.model_script import Answer, ModelRequest, ToolUse, calls, says
from tests.end_to_end.platforms.catalogue import only, where
from tests.end_to_end.stage import Stage, ends_with, newest
from tests.end_to_end.tables import stored
from tests.process import until

RESULTS = """SELECT count(*) FROM transcript WHERE message LIKE '%"role":"tool_result"%'"""


def number(stage: Stage, query: str) -> int:
    """Return the result of a query to the program's store."""
    return int(stored(stage.program.home, query)[0][0])


def held(stage: Stage, done: int) -> bool:
    """Return True while a request with so many tool results waits for the model."""
    return bool(stage.model.requests) and len(stage.model.requests[-1].texts("tool")) == done


WAIT = calls(ToolUse("wait", {"seconds": 30}))


@where(lambda facts: facts.emulated)
async def test_at_a_limit_the_button_goes_on_with_the_conversation(own_stage: Stage) -> None:
    stage = own_stage
    stage.program.set("PARLEY_LIMITS_MODEL_CALLS", "1")
    stage.script.then(calls("clock"), says("So far."), says("It is late."))
    await stage.start()
    ann, chat = stage.private("Ann")

    await chat.says(ann, "what time is it?")
    await chat.until(lambda c: bool(c.screen) and newest(c).button("Continue") is not None)
    await chat.presses(ann, "Continue")
    await chat.until(ends_with("It is late."))
    await chat.until(lambda c: all(message.button("Continue") is None for message in c.bot_messages))

    assert stage.said == ["what time is it?", "Please continue where you stopped."]


@only("telegram")
async def test_killed_three_times_in_the_same_call_it_is_set_aside_and_can_be_continued(own_stage: Stage) -> None:
    stage = own_stage
    stage.script.then(WAIT, says("Waited."))
    stage.net.lift_limits()
    await stage.start()
    ann, chat = stage.private("Ann")

    await chat.says(ann, "wait for me")
    await chat.until(lambda c: "Waiting" in c.screen[0])
    for life in range(3):
        await until(lambda life=life: number(stage, "SELECT resumed FROM runs") == life)  # type: ignore[misc]
        await stage.program.kill()
        await stage.start()
    await chat.until(lambda c: "three times at the same point" in c.screen[-1])
    await chat.presses(ann, "Continue")

    await chat.until(ends_with("Waited."))
    assert len(stage.model.requests) == 2


@only("telegram")
async def test_killed_again_and_again_a_run_that_advances_in_each_life_comes_to_its_answer(own_stage: Stage) -> None:
    stage, lives, life = own_stage, 5, 1

    def respond(asked: ModelRequest) -> Answer:
        done = len(asked.texts("tool"))
        if done < life:
            return calls(ToolUse("write_file", {"path": f"fact{done}.txt", "content": "a fact"}))
        return says("All done.") if done == lives else says("never said", hold=asyncio.Event())

    stage.script.respond = respond
    stage.net.lift_limits()
    await stage.start()
    ann, chat = stage.private("Ann")
    await chat.says(ann, "remember a lot")
    while life < lives:  # each process gets one more result, and is killed in the request after it
        await until(lambda done=life: number(stage, RESULTS) == done and held(stage, done))  # type: ignore[misc]
        await stage.program.kill()
        life += 1
        await stage.start()

    await chat.until(ends_with("All done."))
    assert stage.said == ["remember a lot"]
