"""Killed between a question and its notification, or while the push service answers: the device shows it once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import ClientSession, CookieJar

from tests.emulators.model_script import Answer, ModelRequest, ToolUse, calls
from tests.emulators.openai import OpenAiEmulator
from tests.end_to_end.opened_page import link_of
from tests.end_to_end.program import Program
from tests.end_to_end.tables import stored
from tests.entering import sign_in
from tests.page_server import say
from tests.plugins.push.push_server import LoopbackPushServer, Phone, push_service
from tests.plugins.push.telling import Owner
from tests.process import until

pytestmark = pytest.mark.timeout(180)


def _asks(_: ModelRequest) -> Answer:
    return calls(ToolUse("ask_user", {"question": "Red or blue?", "choices": ["Red", "Blue"]}))


@asynccontextmanager
async def _told(folder: Path, port: int) -> AsyncIterator[tuple[Program, Owner, Phone]]:
    """Run the program with a page whose owner has switched notifications on."""
    async with push_service() as service, OpenAiEmulator(_asks, models=("test-model",)) as model:
        environ = {"OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": "sk-test", "PARLEY_WEB_PORT": str(port)}
        program = Program(folder, environ)
        program.module, program.forked = "tests.plugins.push.loopback_program", True
        await program.launch()
        try:
            async with ClientSession(f"http://127.0.0.1:{port}/", cookie_jar=CookieJar(unsafe=True)) as client:
                await sign_in(client, await link_of(program))
                await until_ready(client)
                told = Owner(client, service)
                yield program, told, await told.phone()
        finally:
            await program.kill()


async def until_ready(client: ClientSession) -> None:
    """Wait until the program runs."""
    async with asyncio.timeout(60):
        while True:
            async with client.get("/push") as answer:
                if answer.status == 200:
                    return
            await asyncio.sleep(0.1)


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_question_is_on_the_device_once_though_the_program_was_killed(
    tmp_path: Path, unused_tcp_port: int, moment: str
) -> None:
    async with _told(tmp_path, unused_tcp_port) as (program, told, phone):
        told.service.silent.append(moment)
        await say(told.client, "paint it")
        await is_waited_for(told.service)
        await program.kill()
        await program.launch()

        await told.service.until(1 if moment == "before" else 2, phone)
        await until(lambda: stored(program.home, "SELECT kind FROM owed") == [])
        [shown] = phone.shown.values()
        assert (shown["title"], shown["body"], shown["tag"]) == ("A question for you", "Red or blue?", "main")
        assert len({each["Topic"] for each in phone.headers}) == 1
        assert told.service.asked == 2


async def is_waited_for(service: LoopbackPushServer) -> None:
    """Wait until the program waits for the push service, which has done what it does and does not answer."""
    await until(lambda: service.unanswered == 1)
