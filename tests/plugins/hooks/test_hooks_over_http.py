"""Over the real server, behind a proxy and in a flood, a webhook takes what is signed and nothing else."""

import asyncio
import json
from collections import Counter
from io import BytesIO
from pathlib import Path

from aiohttp import ClientSession

from gateway.plugins.hooks.plugin import HooksPlugin
from gateway.settings.web import WebSettings
from gateway.web.address import Address
from tests.gateway.conftest import StartBot
from tests.gateway.operation import watched
from tests.plugins.hooks.sending import Hook, added, limited, of_others

HOOKS = WebSettings.model_validate({"proxy": "127.0.0.1", "programs_url": "https://hooks.example"})
PROXY = {"Host": "hooks.example", "X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https"}


async def posted(client: ClientSession, hook: Hook, body: bytes, **headers: str) -> int:
    signed = of_others(hook.secret, body, 0.0)
    async with client.post(f"/hooks/{hook.address}", data=BytesIO(body), headers={**signed, **headers}) as answer:
        return answer.status


async def test_behind_a_proxy_the_address_that_was_shown_takes_events_and_the_page_stays_shut(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start_bot(plugins=(HooksPlugin,), settings={"web": HOOKS})
    hook = await added(bot)
    assert f"https://hooks.example/hooks/{hook.address}" in bot.screen[-1]
    async with watched(bot, tmp_path, (HooksPlugin,), Address.of(HOOKS)) as client:
        assert await posted(client, hook, b'{"number": 1}', **PROXY) == 200
        assert await posted(client, hook, b'{"number": 2}', **{**PROXY, "Host": "evil.example"}) == 403
        assert await posted(client, hook, b'{"number": 3}', **{**PROXY, "X-Forwarded-Proto": "http"}) == 403
        async with client.get("/", headers=PROXY) as answer:
            assert answer.status == 403
    await bot.app.settled()

    assert sum("number" in each for each in bot.screen) == 1


async def test_ten_megabytes_are_refused(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    hook = await added(bot)
    async with watched(bot, tmp_path, (HooksPlugin,)) as client:
        assert await posted(client, hook, b"x" * 10 * 1024 * 1024) == 413
        assert await posted(client, hook, b"x" * 1024 * 1024) == 200


async def test_a_thousand_at_once_are_taken_once_each_or_told_to_come_again(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start_bot(plugins=(HooksPlugin,), settings=limited(a_minute=40))
    hook = await added(bot)
    before = len(bot.screen)
    async with watched(bot, tmp_path, (HooksPlugin,)) as client:
        bodies = [json.dumps({"number": number}).encode() for number in range(1_000)]
        found = Counter(await asyncio.gather(*(posted(client, hook, body) for body in bodies)))
    await bot.app.settled()

    assert found.keys() == {200, 429}
    assert len(bot.screen) - before == found[200]
    assert 40 <= found[200] < 100
