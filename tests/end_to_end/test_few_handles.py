"""For want of file handles nothing fails: messages wait, jobs run again, and a start says what it lacks."""

import asyncio
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from tests.emulators.model_script import Break, says
from tests.end_to_end.jobs import PROPOSED, REPORT, SECONDS, Cast, agreed, proposes, tells
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage, ends_with, is_finished, shows
from tests.process import SILENT, python, until

pytestmark = [
    only("telegram"),
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux sets the limits of another process"),
    pytest.mark.one_process("it limits one process"),
]


async def test_what_is_due_is_said_once_files_can_be_opened_again(own_stage: Stage) -> None:
    stage = own_stage
    stage.net.lift_limits()
    stage.set_clock("2026-11-22 18:00")
    await stage.start()
    ann, chat = stage.private("Ann")
    for when, words in (("1h", "drink some water"), ("3h", "go home")):
        await chat.says(ann, f"/remind in {when} {words}")
        await chat.until(lambda c, words=words: words in c.screen[-1], SECONDS)  # type: ignore[misc]
    await stage.program.terminate()
    stage.clock.move(hours=2)

    await stage.start()
    usual = resource.prlimit(stage.program.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(stage.program.pid, resource.RLIMIT_NOFILE, (3, usual[1]))
    stage.net.emulator.kill_connections()
    await until(lambda: "no updates from Telegram" in stage.log)
    resource.prlimit(stage.program.pid, resource.RLIMIT_NOFILE, usual)
    await chat.until(tells("⏰ drink some water"), SECONDS)
    stage.clock.move(hours=2)
    await chat.until(tells("⏰ go home"), SECONDS)


@contextmanager
def no_more_handles(pid: int) -> Iterator[None]:
    """Let a process open nothing more."""
    usual = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, usual[1]))
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_NOFILE, usual)


async def test_messages_wait_for_handles_and_are_answered_once(own_stage: Stage) -> None:
    stage = own_stage
    stage.script.respond = lambda asked: says("Hello!")
    await stage.start()
    ann, chat = stage.private("Ann")
    with no_more_handles(stage.program.pid):
        await chat.says(ann, "hello")
        await until(lambda: "a run waits for file handles" in stage.log)
        assert chat.screen == []

    await chat.until(shows("Hello!"), SECONDS)
    await chat.says(ann, "and again")
    await chat.until(shows("Hello!", "Hello!"), SECONDS)
    assert "raise the limit on open files" in stage.log


async def test_a_message_that_waits_for_handles_is_answered_by_the_next_start(own_stage: Stage) -> None:
    stage = own_stage
    stage.script.respond = lambda asked: says("Hello!")
    await stage.start()
    ann, chat = stage.private("Ann")
    with no_more_handles(stage.program.pid):
        await chat.says(ann, "hello")
        await until(lambda: "a run waits for file handles" in stage.log)
        await stage.program.kill()

    await stage.start()
    await chat.until(shows("Hello!"), SECONDS)


async def test_a_message_that_waits_for_handles_can_be_stopped(own_stage: Stage) -> None:
    stage = own_stage
    stage.script.respond = lambda asked: says("Hello!")
    await stage.start()
    ann, chat = stage.private("Ann")
    with no_more_handles(stage.program.pid):
        await chat.says(ann, "hello")
        await until(lambda: "a run waits for file handles" in stage.log)
        await chat.says(ann, "/stop")

    await chat.until(lambda c: any("Stopped" in each for each in c.screen), SECONDS)
    await chat.says(ann, "hello again")
    await chat.until(ends_with("Hello!"), SECONDS)
    assert chat.screen.count("Hello!") == 1


async def test_an_answer_that_cannot_ask_its_model_again_goes_on_once_there_are_handles(own_stage: Stage) -> None:
    stage = own_stage
    hold = asyncio.Event()
    cut = says("This is cut off.", chunk=4, hold=hold, breaks=Break("cut"))
    stage.script.then(says("Good morning."), cut, says("Hello!"))
    await stage.start()
    ann, chat = stage.private("Ann")
    await chat.says(ann, "good morning")  # so that what writes answers is imported
    await chat.until(shows("Good morning."))
    await chat.says(ann, "hello")
    await until(lambda: len(stage.model.requests) == 2)
    with no_more_handles(stage.program.pid):
        hold.set()
        await until(lambda: "a run waits for file handles" in stage.log)

    await chat.until(ends_with("Hello!"), SECONDS)
    assert len(stage.model.requests) == 3


async def test_a_command_waits_for_handles_and_is_obeyed_once(own_stage: Stage) -> None:
    stage = own_stage
    stage.script.respond = lambda asked: says("Hello!")
    ann, chat = stage.private("Ann")
    stage.program.set("PARLEY_OWNERS", f"{stage.platform.facts.name}:{ann.id}")
    await stage.start()
    await chat.says(ann, "/whoami")
    await chat.until(lambda c: len(c.screen) == 1, SECONDS)
    with no_more_handles(stage.program.pid):
        await chat.says(ann, "/btw why?")
        await until(lambda: "an event waits for file handles" in stage.log)
        assert len(chat.screen) == 1
        await chat.says(ann, "and again")

    told = ["Aside, not part of the conversation:\n\nHello!", "Hello!"]
    await chat.until(lambda c: sorted(c.screen[1:]) == told and is_finished(c), SECONDS)


async def test_a_report_waits_for_handles_and_is_made_once(own_stage: Stage) -> None:
    stage = own_stage
    stage.set_clock("2026-11-22 18:00")
    stage.script.respond = cast = Cast(proposes(), says(PROPOSED), runs=(says(REPORT),))
    await stage.start()
    ann, chat = stage.private("Ann")
    await agreed(stage, ann, chat)
    stage.clock.move_to("2026-11-23 08:59:40")
    soon = stage.clock.now + 2.0  # the program has read the file by then, for which it needs a handle
    await until(lambda: stage.clock.now > soon)
    with no_more_handles(stage.program.pid):
        await until(lambda: "a run waits for file handles" in stage.log, within=60)

    await chat.until(tells(REPORT), SECONDS)
    assert len(cast.asked) == 1


@pytest.mark.parametrize("limit", [8, 12, 16, 20, 24, 27])
async def test_a_start_with_too_few_handles_is_one_sentence(own_stage: Stage, limit: int) -> None:
    program = (
        f"import os, resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, ({limit}, {limit}));"
        "os.closerange(3, 256); from gateway.cli import main; sys.exit(main(['run']))"
    )
    ran = await python("-c", program, environ={"HOME": str(own_stage.program.home.parent), **SILENT})

    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.startswith(f"parley: Parley may open too few files at a time: the limit is {limit}")
    assert ran.err.count("\n") == 1


async def test_a_start_raises_a_limit_that_it_may_raise(own_stage: Stage) -> None:
    program = (
        "import resource; from gateway.runs.handles import check_at_start;"
        "most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]; resource.setrlimit(resource.RLIMIT_NOFILE, (20, most));"
        "check_at_start(); print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
    )
    ran = await python("-c", program)

    assert int(ran.out) >= 256, ran.err
