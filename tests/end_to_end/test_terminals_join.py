"""`parley chat` beside a running Parley joins it; neither a crash nor a departure loses a word."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from channels.terminal.frames import FILE
from channels.terminal.program import BACK
from gateway.settings.files import NODES
from tests.emulators.model_script import says
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.platforms.inbox import taken_in
from tests.end_to_end.platforms.terminal import Terminal
from tests.end_to_end.program import Program
from tests.end_to_end.stage import Stage, shows
from tests.postgres import UrlOf, rows
from tests.process import until

pytestmark = where(lambda facts: facts.name == "terminal")


@pytest.fixture
async def server(own_stage: Stage) -> AsyncIterator[Program]:
    """Yield a Parley that runs with the page, in the home of the stage."""
    program = own_stage.program.twin()
    program.set("PARLEY_WEB", "on")
    program.set("PARLEY_WEB_PORT", "0")
    await _started(program)
    yield program
    await program.kill()


async def _started(program: Program) -> None:
    pages = program.console.count("  Page ")
    await program.launch()
    await until(lambda: program.console.count("  Page ") > pages and (program.home / FILE).exists())


async def test_it_joins_and_looks_as_alone_and_its_end_is_not_that_of_the_program(
    own_stage: Stage, server: Program
) -> None:
    own_stage.script.then(says("Hello Ann."))
    await own_stage.start()
    ann, chat = own_stage.private("Ann")
    await chat.says(ann, "hello")
    await chat.until(shows("Hello Ann."))

    leaving = asyncio.create_task(chat.says(ann, "/exit"))
    assert await own_stage.program.ended() == 0
    leaving.cancel()
    assert server.is_running


async def test_it_joins_the_node_on_its_machine_whatever_the_name_of_that_is(own_stage: Stage, url_of: UrlOf) -> None:
    own_stage.program.set("PARLEY_DATABASE_URL", url := url_of(own_stage.program.home))
    own_stage.script.then(says("Hello Ann."))
    node = own_stage.program.twin("kitchen.txt")
    for name, value in (("PARLEY_NODE_NAME", "kitchen"), ("PARLEY_WEB", "on"), ("PARLEY_WEB_PORT", "0")):
        node.set(name, value)
    await node.launch()
    try:
        await until((node.home / NODES / "kitchen" / FILE).exists)
        await own_stage.start()
        ann, chat = own_stage.private("Ann")
        await chat.says(ann, "hello")

        await chat.until(shows("Hello Ann."))
        assert rows(url, "SELECT name FROM nodes") == [("kitchen",)]
    finally:
        await node.kill()


async def test_the_program_is_killed_in_the_middle_of_an_answer_and_each_line_is_answered_once(
    own_stage: Stage, server: Program
) -> None:
    own_stage.script.then(says("never said", hold=asyncio.Event()))
    await own_stage.start()
    ann, chat = own_stage.private("Ann")
    await chat.says(ann, "first")
    await own_stage.asked(1)
    await server.kill()
    await chat.says(ann, "second")
    own_stage.script.respond = lambda asked: says(f"Heard {len(asked.texts('user'))} lines.")
    await _started(server)

    def shown(words: str) -> int:
        return "\n".join(chat.screen).count(words)

    # While an answer is written its lines are drawn anew. The second line steers the run if it comes before the answer.
    await chat.until(lambda _: (shown("Heard 2 lines."), shown(BACK)) == (1, 1) and shown("Heard 1 lines.") <= 1)
    assert sum((await taken_in(server.home)).values()) == 2
    await chat.until(lambda _: shown("Heard") in {1, 2})


async def test_two_terminals_show_the_same_answers(own_stage: Stage, server: Program) -> None:
    own_stage.script.then(says("For both."))
    await own_stage.start()
    second = own_stage.twin()
    second.program.arguments = ("chat",)
    second.platform = other = Terminal()
    async with other:
        other.settle(second.program)
        await second.start()
        ann, chat = own_stage.private("Ann")
        _, beside = second.private("Ann")
        await chat.says(ann, "hello")
        await chat.until(shows("For both."))
        await beside.until(shows("For both."))
        await second.program.kill()
    assert server.is_running


async def test_an_answer_that_came_while_no_terminal_was_open_is_shown_in_the_next(
    own_stage: Stage, server: Program
) -> None:
    held = asyncio.Event()
    own_stage.script.then(says("You were away.", hold=held))
    await own_stage.start()
    ann, chat = own_stage.private("Ann")
    await chat.says(ann, "hello")
    await own_stage.asked(1)
    await own_stage.program.kill()
    held.set()
    await until(lambda: "post kept for later" in server.console)

    await own_stage.platform.launch()  # it may come before the first prompt, down to which `start` ignores all
    _, again = own_stage.private("Ann")
    await again.until(lambda c: any("You were away." in text for text in c.screen))
    assert server.is_running
