"""Told to stop, Parley finishes its answers before it exits, unless it is told again."""

import asyncio
import signal

import pytest

from tests.emulators.model_script import says
from tests.end_to_end.platforms.catalogue import only, where
from tests.end_to_end.stage import Stage, ends_with, shows
from tests.process import until

LONG = "600"
FINISHING = "Finishing 1 answer, at most 600 s; press again to stop now"


@where(lambda facts: facts.emulated)
@pytest.mark.one_process("nodes that all end leave what comes meanwhile at the platform", on=("telegram", "discord"))
async def test_the_answer_goes_out_and_what_is_said_meanwhile_waits_for_the_next_life(own_stage: Stage) -> None:
    stage, writing = own_stage, asyncio.Event()
    stage.program.set("PARLEY_DRAIN_SECONDS", LONG)
    stage.script.then(says("Hello Ann.", hold=writing), says("Still here."))
    await stage.start()
    ann, chat = stage.private("Ann")
    await chat.says(ann, "hello")
    await stage.asked(1)

    stage.program.send(signal.SIGTERM)
    await until(lambda: FINISHING in stage.log)
    await chat.says(ann, "are you there?")
    await stage.heard()
    writing.set()
    assert await stage.program.ended() == 0
    assert len(chat.screen) == 1
    assert "Hello Ann." in chat.screen[0]
    assert len(stage.model.requests) == 1

    await stage.start()
    await chat.until(ends_with("Still here."))
    assert len(stage.model.requests) == 2
    assert not any("Took" in text for text in chat.screen)


@only("telegram")
@pytest.mark.parametrize(
    ("which", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)], ids=["terminated", "interrupted"]
)
async def test_a_second_signal_ends_it_at_once_and_the_next_life_answers(
    own_stage: Stage, which: signal.Signals, code: int
) -> None:
    stage = own_stage
    stage.program.set("PARLEY_DRAIN_SECONDS", LONG)
    stage.script.then(says("never said", hold=asyncio.Event()), says("Hello Ann."))
    await stage.start()
    ann, chat = stage.private("Ann")
    await chat.says(ann, "hello")
    await stage.asked(1)

    stage.program.send(which)
    await until(lambda: FINISHING in stage.log)
    stage.program.send(which)
    assert await stage.program.ended() == code
    await stage.start()

    await chat.until(shows("Hello Ann."))
