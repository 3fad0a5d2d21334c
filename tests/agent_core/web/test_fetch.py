"""A page is fetched within limits of time, size, redirects and types, and without any of our credentials."""

import asyncio
import gzip
import zlib
from pathlib import Path

import pytest
from aiohttp import web

from agent_core.tools.tool import RetryableToolError, ToolFailed
from agent_core.tools.web.fetch import MOST_BYTES, MOST_REDIRECTS, Fetched, Fetcher
from tests.agent_core.web.site import Answer, Names, Site, moved, sends
from tests.process import python


async def get(site: Site, path: str = "/", *, seconds: float = 10.0) -> Fetched:
    return await Fetcher(site.may_reach, seconds=seconds).get(site.url + path)


async def failure(site: Site, path: str = "/", *, seconds: float = 10.0) -> ToolFailed:
    with pytest.raises(ToolFailed) as caught:
        await get(site, path, seconds=seconds)
    assert len(caught.value.fact) <= 200
    assert len(caught.value.advice) <= 80
    return caught.value


async def test_a_page_is_fetched_with_what_it_says_of_itself() -> None:
    async with Site({"/a": sends("ä".encode("latin-1"), "Text/HTML; Charset=ISO-8859-1")}) as site:
        found = await get(site, "/a#part")

    assert found == Fetched(f"{site.url}/a", 200, "text/html", "ISO-8859-1", b"\xe4", whole=True)


async def test_redirects_are_followed_to_the_final_address() -> None:
    async with Site({"/": moved("/b", 301), "/b": moved("c?x=1", 308), "/c": "<p>here"}) as site:
        found = await get(site)

    assert (found.url, found.body) == (f"{site.url}/c?x=1", b"<p>here")


async def test_too_many_redirects_end_it() -> None:
    async with Site({"/": moved("/")}) as site:
        error = await failure(site)

        assert "redirects more than 5 times" in error.fact
        assert len(site.calls) == MOST_REDIRECTS + 1


@pytest.mark.parametrize(
    "place", ["file:///etc/passwd", "gopher://127.0.0.1/", "ftp://a.b/", "http://u:p@127.0.0.1/", "http://[", "data:,x"]
)
async def test_a_redirect_out_of_the_web_is_not_followed(place: str) -> None:
    async with Site({"/": moved(place)}) as site:
        await failure(site)

        assert len(site.calls) == 1


@pytest.mark.parametrize(
    "url",
    [
        *(
            "",
            " ",
            "example",
            "example.org/x",
            "/etc/passwd",
            "file:///etc/passwd",
            "ftp://example.org",
            "data:text/html,x",
        ),
        *("javascript:alert(1)", "http://", "https:///x", "http://[::1", "http://a b/", "http://user@example.org/"),
        *(
            "http://user:secret@example.org/",
            "http://:pw@example.org/",
            "http://example.org:99999/",
            "http://\ud800.org/",
        ),
        *("http://example.org/" + "x" * 3000, "http://exa\nmple.org:x/", "unix:///run/docker.sock", "http://-.-/"),
    ],
)
async def test_what_is_no_address_of_the_web_is_told_in_words(url: str) -> None:
    def nowhere(_address: object, _port: int) -> bool:
        raise AssertionError("nothing is to be connected")

    with pytest.raises(ToolFailed) as caught:
        await Fetcher(nowhere).get(url)

    assert len(caught.value.fact) <= 200


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 429, 451, 500, 503, 599])
async def test_a_refusal_is_told_with_its_status(status: int) -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(status=status, reason="<script>", text="secret words")

    async with Site({"/": answer}) as site:
        error = await failure(site)

    assert f"answers {status}" in error.fact
    assert "script" not in error.fact


@pytest.mark.parametrize(
    "kind", ["application/pdf", "image/png", "image/svg+xml", "video/mp4", "application/zip", "font/woff2"]
)
async def test_what_is_no_text_is_refused_by_its_kind(kind: str) -> None:
    async with Site({"/": sends(b"<p>x", kind)}) as site:
        error = await failure(site)

    assert kind in error.fact
    assert "only text" in error.fact


@pytest.mark.parametrize(
    "kind", ["text/plain", "text/csv", "application/json", "application/ld+json", "application/rss+xml", "nonsense", ""]
)
async def test_text_of_every_kind_is_taken(kind: str) -> None:
    async with Site({"/": sends(b"words", kind)}) as site:
        assert (await get(site)).body == b"words"


async def test_of_a_long_page_two_mebibytes_are_read() -> None:
    async with Site({"/": sends(b"x" * (MOST_BYTES + 5)), "/fits": sends(b"x" * MOST_BYTES)}) as site:
        long, fits = await get(site), await get(site, "/fits")

    assert (len(long.body), long.whole) == (MOST_BYTES, False)
    assert (len(fits.body), fits.whole) == (MOST_BYTES, True)


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
async def test_a_packed_bomb_is_unpacked_no_further_than_that(coding: str) -> None:
    packed = zlib.compressobj(wbits=31 if coding == "gzip" else 15)
    bomb = b"".join(packed.compress(bytes(2**20)) for _ in range(64)) + packed.flush()

    async with Site({"/": sends(bomb, Content_Encoding=coding)}) as site:
        found = await get(site)

    assert len(bomb) < 2**17
    assert (len(found.body), found.whole) == (MOST_BYTES, False)


@pytest.mark.parametrize(
    "answer",
    [
        sends(b"this is not packed", Content_Encoding="gzip"),
        sends(gzip.compress(b"x" * 1000)[:-20], Content_Encoding="deflate"),
        sends(b"brotli?", Content_Encoding="br"),
        sends(b"x", X_Long="x" * 100_000),
    ],
)
async def test_an_answer_that_cannot_be_read_is_told(answer: Answer) -> None:
    async with Site({"/": answer}) as site:
        assert "cannot be read" in (await failure(site)).fact


async def test_a_page_that_trickles_is_given_up() -> None:
    async def trickle(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/html"})
        await response.prepare(request)
        while True:
            await response.write(b"x")
            await asyncio.sleep(0.02)

    async with Site({"/": trickle}) as site:
        assert "no whole page within 0.3 s" in (await failure(site, seconds=0.3)).fact


async def test_a_dropped_connection_may_be_tried_again() -> None:
    async def drop(request: web.Request) -> web.StreamResponse:
        return site.kill(request)

    async with Site({"/": drop}) as site:
        assert isinstance(await failure(site), RetryableToolError)
        await site.leave()
        assert isinstance(await failure(site), RetryableToolError)


async def test_a_name_that_does_not_exist_is_told() -> None:
    with pytest.raises(ToolFailed, match="there is no server named nowhere"):
        await Fetcher(resolver=Names()).get("https://nowhere.invalid/")


async def test_neither_cookies_nor_keys_go_along() -> None:
    async def cookie(_: web.Request) -> web.StreamResponse:
        return web.Response(status=302, headers={"Set-Cookie": "a=b; Path=/", "Location": "/next"})

    async with Site({"/": cookie, "/next": "<p>x"}) as site:
        await get(site)
        await get(site, "/next")

        assert len(site.requests) == 3
        for request in site.requests:
            assert not {"Cookie", "Authorization", "Referer"} & set(request.headers)


FETCHES = """
import asyncio, sys
from agent_core.tools.web.fetch import Fetcher
print(asyncio.run(Fetcher(lambda address, port: str(port) in sys.argv[1]).get(sys.argv[1])).body)
"""


async def test_a_proxy_of_the_environment_is_not_used(tmp_path: Path) -> None:
    """A proxy would connect where the address guard cannot see it."""
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login somebody password secret\n")
    proxy = "http://127.0.0.1:9"
    environ = {"HTTP_PROXY": proxy, "http_proxy": proxy, "ALL_PROXY": proxy, "HOME": str(tmp_path)}

    async with Site({"/": "<p>x"}) as site:
        ran = await python("-c", FETCHES, site.url, environ=environ)

        assert (ran.out, ran.err) == ("b'<p>x'\n", "")
        assert "Authorization" not in site.requests[0].headers
