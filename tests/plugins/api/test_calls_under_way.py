"""A key has no more runs than it may, though those who asked for them have left."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import pytest
from openai import AsyncStream, RateLimitError
from openai.types.chat import ChatCompletionMessageParam

from agent_core.models.scripted import calls
from agent_core.tools.tool import tool
from gateway.plugins.api.plugin import ApiPlugin
from gateway.plugins.api.route import AT_ONCE
from tests.gateway.conftest import StartBot
from tests.gateway.tasking import rows
from tests.plugins.api.conftest import Connect
from tests.process import until

HELLO: Sequence[ChatCompletionMessageParam] = [{"role": "user", "content": "hello"}]


def served() -> list[str]:
    """Return the requests that the server works on."""
    return [each for each in map(repr, asyncio.all_tasks()) if "RequestHandler.start" in each]


@pytest.mark.parametrize("is_stream", [True, False])
async def test_a_call_counts_until_its_run_is_over_though_its_reader_has_left(
    start_bot: StartBot, connect: Connect, monkeypatch: pytest.MonkeyPatch, *, is_stream: bool
) -> None:
    monkeypatch.setattr("agent_core.background.ENDS_WITHIN", 0.0)
    begun: list[str] = []
    may_end = asyncio.Event()

    @tool()
    async def dawdle() -> str:
        """Go on for a while when told to end."""
        begun.append("once more")
        with suppress(asyncio.CancelledError):
            await may_end.wait()
        await may_end.wait()
        return "done"

    turns = [calls(("dawdle", {})) for _ in range(AT_ONCE)]
    bot = await start_bot(*turns, plugins=(ApiPlugin,), tools=(dawdle,))
    client = await connect(bot)
    asking = [
        asyncio.create_task(client.chat.completions.create(model="parley", messages=HELLO, stream=is_stream))
        for _ in range(AT_ONCE)
    ]
    await until(lambda: len(begun) == AT_ONCE)

    for each in asking:
        if is_stream:
            stream = await each
            assert isinstance(stream, AsyncStream)
            await stream.close()
        else:
            each.cancel()
    await until(lambda: is_stream or not served())

    with pytest.raises(RateLimitError):
        await client.chat.completions.create(model="parley", messages=HELLO)
    may_end.set()
    await until(lambda: rows(bot.home, "SELECT state FROM runs") == [("done",)] * AT_ONCE)
