"""No route of the page answers with a secret of the settings, and slow or broken requests hold nothing up."""

import asyncio
import random
import secrets
from pathlib import Path

import pytest
from pydantic import SecretStr

from channels.telegram.config import Config
from channels.web.routes import routes_of
from gateway.admin.pages import AdminPages
from gateway.app import screens as screens_of
from gateway.records.recent_log import RecentLog
from gateway.security.secrets import Secrets
from gateway.web import access
from tests.examples import examples
from tests.gateway.admin.desk import admin_world
from tests.page_server import Page, history

ITEMS = ("1", "run-1", "slack:T1:U2", "x" * 300, "%00", "..%2f..%2f.env")


def settings_with(chance: random.Random) -> tuple[dict[str, object], list[str]]:
    """Return settings of which some are secrets, and the secrets."""
    canaries = [f"sk-{secrets.token_urlsafe(chance.randint(12, 40))}" for _ in range(3)]
    key, token, password = canaries
    return {
        "environ": {"OPENAI_API_KEY": key, "MY_PASSWORD": password, "HTTPS_PROXY": f"http://u:{password}@proxy:1"},
        "channels": {"telegram": Config(bot_token=SecretStr(f"12345:{token:x<35}"))},
        "openai_base_url": f"http://user:{password}@127.0.0.1:9/v1",
        "ai_name": "Ada",
    }, canaries


@pytest.mark.parametrize("seed", range(examples(3)))
async def test_no_route_answers_with_a_secret(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)  # noqa: S311 - the same in every run
    settings, canaries = settings_with(chance)
    monkeypatch.setattr(screens_of, "RECENT", RecentLog())  # other tests log tracebacks, which owners may read
    known = Secrets(canaries)
    page = Page(tmp_path / "page")
    routes = {(route.method, route.path) for route in (*AdminPages().routes(), *routes_of(page.channel))}
    tried = 0
    async with admin_world(tmp_path / "bot", "Hello.", secrets=known, settings=settings) as world:
        await world.bot.hears(f"my key is {canaries[0]}, and the other {canaries[2]}")
        screens = [each.name for each in world.desk.screens]
        async with world.client() as client:
            for method, path in sorted({*routes, ("GET", "/"), ("GET", "/api/about"), ("GET", "/nowhere")}):
                for item in chance.sample(ITEMS, 2):
                    for screen in screens if "{screen}" in path else [""]:
                        address = path.replace("{item:.+}", item).replace("{screen}", screen)
                        address = address.replace("{reference}", item)
                        if "stream" in address or "events" in address or "news" in address:
                            continue  # these do not end; what they send is the same as in the history
                        async with client.request(method, address, json={"id": "x"}) as answer:
                            text = await answer.text(errors="replace")
                            assert not known.are_in(text), address
                            assert not known.are_in(str(answer.headers)), address
                            assert "Traceback" not in text
                            tried += 1
    assert tried > 50


async def dribble(page: Page, request: bytes, *, every: float = 0.05) -> float:
    """Send a request byte by byte; return after how many seconds the server has cut the connection."""
    begun = asyncio.get_running_loop().time()
    reader, writer = await asyncio.open_connection("127.0.0.1", page.server.port)
    try:
        for byte in request:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(every)
            if reader.at_eof():
                break
        await reader.read()
    except ConnectionError:
        pass
    finally:
        writer.close()
    return asyncio.get_running_loop().time() - begun


@pytest.mark.parametrize(
    "request_",
    [
        b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: y\r\n" % number for number in range(1_000)),
        b"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        b"Content-Length: 4000\r\n\r\n" + b"a" * 3_000,
        b"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\na\r\n" * 1_000,
    ],
    ids=["headers", "body", "chunks"],
)
async def test_a_stranger_who_sends_slowly_is_cut_while_the_owner_goes_on(tmp_path: Path, request_: bytes) -> None:
    page = Page(tmp_path, idle_seconds=1.0)
    async with page.open(), page.browser() as client:
        slow = [asyncio.create_task(dribble(page, request_)) for _ in range(20)]
        assert (await history(client))["messages"] == []
        async with asyncio.timeout(30):
            assert max(await asyncio.gather(*slow)) < 25
        assert (await history(client))["messages"] == []


async def test_a_browser_that_sends_the_body_of_a_change_slowly_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Page(tmp_path)
    async with page.open(), page.browser() as client:
        monkeypatch.setattr(access, "BODY_SECONDS", 0.2)  # once the browser has signed in, which sends a body, too

        async def never_ends() -> "asyncio.AsyncIterator[bytes]":  # type: ignore[name-defined]
            yield b"{"
            await asyncio.Event().wait()

        async with client.post("/api/messages", data=never_ends()) as answer:
            assert answer.status == 408
