"""Plugins open paths to programs on other machines, and open nothing else by that."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

import pytest
from aiohttp import ClientConnectionError, ClientPayloadError, ClientSession, web
from structlog.testing import capture_logs

from gateway.app.plugin_routes import paths_of
from gateway.plugin import Plugin, Running
from gateway.settings.web import WebSettings
from gateway.web.address import Address
from gateway.web.route import Answer, Asked, Opening, Refused, Route
from tests.entering import opened_store, page_server
from tests.gateway.conftest import StartBot
from tests.gateway.operation import watched
from tests.page_server import PLAYED
from tests.process import until

FORWARDED = {"X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https"}
MOST = 10_000


class Echo(Plugin):
    """Repeats what was posted to it."""

    name = "echo"
    paths: ClassVar[frozenset[str]] = frozenset({"/here"})
    open_paths: ClassVar[Mapping[str, Opening]] = {
        "/echo": Opening(methods=("POST",), most_bytes=MOST, is_named=True),
        "/pieces": Opening(),
        "/waits": Opening(is_waited_for=True),
        "/goes-on": Opening(),
    }
    closings: ClassVar[list[str]] = []
    """Outcomes of answers that take long."""
    going_on: ClassVar[asyncio.Event] = asyncio.Event()

    def routes(self, running: Running) -> Mapping[str, Route]:
        return {"/echo": self._echo, "/pieces": self._pieces, "/here": self._here} | dict.fromkeys(
            ("/waits", "/goes-on"), self._wait
        )

    async def _wait(self, asked: Asked) -> Answer:
        self.closings.append("begun")
        try:
            await self.going_on.wait()
        except asyncio.CancelledError:
            self.closings.append("cancelled")
            raise
        self.closings.append("done")
        return Answer(b"done")

    async def _here(self, asked: Asked) -> Answer:
        return Answer(b"for this machine")

    async def _echo(self, asked: Asked) -> Answer:
        if asked.headers.get("X-Key") != "right":
            raise Refused(Answer(b"which key?", status=401))
        body = await asked.body()
        asked.showed_key()
        return Answer(f"{asked.method} {asked.name} {asked.place} {len(body)}".encode())

    async def _pieces(self, asked: Asked) -> Answer:
        fails, endless, silent = asked.headers.get("X-Fails", ""), "X-Endless", "X-Silent"
        more = self._more(fails, endless=endless in asked.headers, silent=silent in asked.headers)
        return Answer(b"one ", chunks=more)

    async def _more(self, fails: str, *, endless: bool, silent: bool) -> AsyncGenerator[bytes, None]:
        try:
            yield b"two "
            if fails:
                raise RuntimeError(fails)
            while endless:
                yield b"and on "
                await asyncio.sleep(0)
            if silent:
                await self.going_on.wait()
            yield b"three"
        finally:
            self.closings.append("closed")


def opened(**settings: object) -> Address:
    return Address.of(WebSettings.model_validate({"proxy": "127.0.0.1", **settings}))


HOOKS = opened(programs_url="https://hooks.example")
BOTH = opened(programs_url="https://hooks.example", url="https://parley.example")


async def connected(client: ClientSession) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    base = client._base_url  # noqa: SLF001 (that of the server)
    assert base is not None
    return await asyncio.open_connection("127.0.0.1", base.port)


async def posted(client: ClientSession, host: str = "", path: str = "/echo/builds", **headers: str) -> tuple[int, str]:
    sent = {"X-Key": "right", **({"Host": host, **FORWARDED} if host else {}), **headers}
    async with client.post(path, data=b"x" * 20, headers=sent) as answer:
        return answer.status, await answer.text()


@pytest.mark.parametrize(
    ("address", "host"), [(HOOKS, "hooks.example"), (BOTH, "hooks.example"), (BOTH, "parley.example")]
)
async def test_an_open_path_is_reached_from_elsewhere_under_a_name_that_is_set(
    start_bot: StartBot, tmp_path: Path, address: Address, host: str
) -> None:
    bot = await start_bot(plugins=(Echo,))
    async with watched(bot, tmp_path, (Echo,), address) as client:
        assert await posted(client, host) == (200, "POST builds 203.0.113.7 20")
        assert await posted(client) == (200, "POST builds 127.0.0.1 20")


async def test_a_connection_of_the_proxy_is_not_cut_off_for_who_showed_no_key_on_it(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start_bot(plugins=(Echo,))
    head = b"POST /echo/a HTTP/1.1\r\nHost: hooks.example\r\nX-Forwarded-For: 203.0.113.7\r\nContent-Length: 0\r\n"
    async with watched(bot, tmp_path, (Echo,), HOOKS, idle_seconds=2.0) as client:
        reader, writer = await connected(client)
        stranger, other = await connected(client)
        was_cut = asyncio.ensure_future(asyncio.gather(stranger.read(), return_exceptions=True))
        while not was_cut.done():
            writer.write(head + b"\r\n")
            assert (await reader.readline()).split()[1] == b"401"
            await reader.readuntil(b"which key?")

        writer.write(head + b"X-Key: right\r\n\r\n")
        assert (await reader.readline()).split()[1] == b"200"
        writer.close()
        other.close()


async def test_the_address_of_programs_shows_nothing_of_the_page(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start_bot(plugins=(Echo,))
    headers = {"Host": "hooks.example", **FORWARDED}
    async with watched(bot, tmp_path, (Echo,), HOOKS) as client:
        for path in ("/", "/api/about", "/sign-in", "/here", "/readyz", "/index.html?token=x"):
            async with client.get(path, headers=headers) as answer:
                assert answer.status in (403, 404), path


@pytest.mark.parametrize("host", ["evil.example", "", "10.0.0.7:8765"])
async def test_no_plugin_is_asked_under_another_name(start_bot: StartBot, tmp_path: Path, host: str) -> None:
    bot = await start_bot(plugins=(Echo,))
    async with watched(bot, tmp_path, (Echo,), HOOKS) as client:
        status, _ = await posted(client, "evil.example", Host=host)
        assert status == 403


async def test_without_an_address_only_this_machine_reaches_it(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start_bot(plugins=(Echo,))
    async with watched(bot, tmp_path, (Echo,)) as client:
        assert (await posted(client))[0] == 200
        assert (await posted(client, "hooks.example"))[0] == 403


async def test_other_methods_and_other_paths_are_refused(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start_bot(plugins=(Echo,))
    async with watched(bot, tmp_path, (Echo,)) as client:
        async with client.get("/echo/builds") as answer:
            assert (answer.status, answer.headers["Allow"]) == (405, "POST")
        for path in ("/echo", "/echo/", "/echo/a/b"):
            assert (await posted(client, path=path))[0] in (401, 403, 404), path


async def test_a_body_that_is_too_long_is_refused_before_it_is_read(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start_bot(plugins=(Echo,))
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(1_000):
            sent += 10_000
            yield b"x" * 10_000
            await asyncio.sleep(0)

    async with watched(bot, tmp_path, (Echo,)) as client:
        reader, writer = await connected(client)
        writer.write(b"POST /echo/a HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Key: right\r\nContent-Length: 10000000\r\n\r\n")
        assert (await reader.readline()).split()[1] == b"413"  # though not one byte of it was sent
        writer.close()
        with suppress(ClientConnectionError):
            async with client.post("/echo/a", data=endless(), headers={"X-Key": "right"}) as answer:
                assert answer.status == 413
    assert sent < 10_000_000


async def test_without_the_key_no_body_is_read(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start_bot(plugins=(Echo,))
    async with watched(bot, tmp_path, (Echo,)) as client:
        reader, writer = await connected(client)
        writer.write(b"POST /echo/a HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 500\r\n\r\n")
        assert (await reader.readline()).split()[1] == b"401"
        writer.close()


async def test_an_answer_in_pieces_is_closed_when_it_is_over_or_its_reader_gone(
    start_bot: StartBot, tmp_path: Path
) -> None:
    Echo.closings.clear()
    bot = await start_bot(plugins=(Echo,))
    async with watched(bot, tmp_path, (Echo,)) as client, client.get("/pieces") as answer:
        assert await answer.text() == "one two three"
        assert Echo.closings == ["closed"]
        reader, writer = await connected(client)
        writer.write(b"GET /pieces HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Endless: yes\r\n\r\n")
        await reader.readuntil(b"and on")
        writer.close()
        async with asyncio.timeout(30):
            while len(Echo.closings) < 2:  # noqa: ASYNC110 (the server tells nobody)
                await asyncio.sleep(0.01)


@pytest.mark.both_loops
@pytest.mark.parametrize(
    ("path", "became"), [("/pieces", ["closed"]), ("/waits", ["begun", "cancelled"]), ("/goes-on", ["begun", "done"])]
)
async def test_what_is_done_for_the_answer_alone_ends_when_the_reader_leaves_in_silence(
    start_bot: StartBot, tmp_path: Path, path: str, became: list[str]
) -> None:
    Echo.closings, Echo.going_on = [], asyncio.Event()
    bot = await start_bot(plugins=(Echo,))
    async with watched(bot, tmp_path, (Echo,)) as client:
        reader, writer = await connected(client)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Silent: yes\r\n\r\n".encode())
        if path == "/pieces":
            await reader.readuntil(b"two ")
        else:
            await until(lambda: Echo.closings == ["begun"])

        writer.close()

        if path == "/goes-on":
            async with client.get("/here") as answer:  # what was begun outlasts its reader, as a webhook does
                assert answer.status == 200
            Echo.going_on.set()
        await until(lambda: Echo.closings == became)


async def test_an_answer_in_pieces_that_fails_is_logged_by_name(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start_bot(plugins=(Echo,))
    async with watched(bot, tmp_path, (Echo,)) as client:
        with capture_logs() as logs, suppress(ClientPayloadError):
            async with client.get("/pieces", headers={"X-Fails": "badly"}) as answer:
                assert (await answer.text()).startswith("one two")
    assert [each["plugin"] for each in logs if each["log_level"] == "error"] == ["echo"]


def test_an_open_path_lifts_no_check_of_another() -> None:
    for path in ("/API", "/", "/a/{b}"):
        wrong = type("Wrong", (Echo,), {"open_paths": {path: Opening()}})
        with pytest.raises(ValueError, match="which is no path such as /echo"):
            paths_of((wrong,))


async def test_a_path_with_a_name_behind_it_hides_none_of_the_page(tmp_path: Path) -> None:
    async def secret(_: web.Request) -> web.Response:
        return web.Response(text="private")

    async with opened_store(tmp_path) as store:
        with pytest.raises(ValueError, match="two routes of the page have the path /api/about, /api/history"):
            page_server(
                store,
                [web.post("/api/history", secret)],
                public_routes=[web.route("*", "/api/{name}", secret)],
                about=lambda: PLAYED,
            )
