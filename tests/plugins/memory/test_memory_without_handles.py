"""For want of file handles /memory waits, and is obeyed once, also by the next start."""

import sys

import pytest

from tests.emulators.model_script import says
from tests.end_to_end.jobs import SECONDS
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage, is_finished
from tests.end_to_end.test_few_handles import no_more_handles
from tests.process import until

pytestmark = [
    only("telegram"),
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux sets the limits of another process"),
    pytest.mark.one_process("it limits one process"),
]


async def test_it_waits_for_handles_and_is_obeyed_once(own_stage: Stage) -> None:
    stage = own_stage
    stage.script.respond = lambda asked: says("Hello!")
    await stage.start()
    ann, chat = stage.private("Ann")
    await chat.says(ann, "/memory add the sea is blue")
    await chat.until(lambda c: len(c.screen) == 1, SECONDS)
    with no_more_handles(stage.program.pid):
        await chat.says(ann, "/memory add tea is green")
        await until(lambda: "an event waits for file handles" in stage.log)
        assert len(chat.screen) == 1
        await chat.says(ann, "and again")

    await chat.until(lambda c: len(c.screen) == 3 and "Hello!" in c.screen[1:] and is_finished(c), SECONDS)
    assert sum("Remembered" in text for text in chat.screen[1:]) == 1


async def test_one_that_waits_is_obeyed_by_the_next_start(own_stage: Stage) -> None:
    stage = own_stage
    await stage.start()
    ann, chat = stage.private("Ann")
    with no_more_handles(stage.program.pid):
        await chat.says(ann, "/memory add tea is green")
        await until(lambda: "an event waits for file handles" in stage.log)
        await stage.program.kill()

    await stage.start()
    await chat.until(lambda c: len(c.screen) == 1 and "Remembered" in c.screen[0], SECONDS)
