"""`web_fetch` as the model sees it: text with its address, in parts, and no access to this machine."""

import asyncio
import json

import pytest

from agent_core.models.scripted import calls
from agent_core.tools.tool import Tool, ToolFailed
from agent_core.tools.web.fetch import MOST_BYTES, Fetcher
from agent_core.tools.web.tools import MOST_KEPT, PAGE_CHARS, web_fetch_tool, web_tools
from tests.agent_core.kit import results, start_agent
from tests.agent_core.web.site import Site, moved, run, sends, trap
from tests.agent_core.web.test_search import Shelf
from tests.process import python


def fetch_of(site: Site) -> Tool:
    return web_fetch_tool(Fetcher(site.may_reach))


async def test_a_page_is_told_with_its_title_and_its_final_address() -> None:
    page = "<title>News</title><h1>Today</h1><p>It <a href=/more>rains</a>."
    async with Site({"/": moved("/today"), "/today": page}) as site:
        told = await run(fetch_of(site), url=site.url)

    assert told == (f"Title: News\nAddress: {site.url}/today (status 200)\n\n# Today\n\nIt [rains]({site.url}/more).")


async def test_a_long_page_is_told_in_parts_that_join_to_the_whole() -> None:
    words = [f"Paragraph {number} of a long page." for number in range(1500)]
    async with Site({"/": "<p>" + "<p>".join(words)}) as site:
        tool = fetch_of(site)
        parts, offset = [], 0
        while True:
            told = await run(tool, url=site.url, offset=offset)
            assert len(told) < PAGE_CHARS + 200
            parts.append(told.split("\n\n", 1)[1].rsplit("\n\n[characters ", 1)[0])
            if "go on with offset=" not in told:
                break
            offset = int(told.rsplit("go on with offset=", 1)[1].rstrip("]"))

        assert len(site.calls) == 1
    assert "\n\n".join(parts).split("\n\n") == words
    assert told.endswith(" of 46888]")


async def test_text_without_lines_is_told_in_parts_too() -> None:
    async with Site({"/": sends(b"x" * (PAGE_CHARS + 5), "text/plain")}) as site:
        tool = fetch_of(site)

        assert f"go on with offset={PAGE_CHARS}]" in await run(tool, url=site.url)
        assert f"\nxxxxx\n\n[characters {PAGE_CHARS}-" in await run(tool, url=site.url, offset=PAGE_CHARS)


async def test_an_offset_behind_the_end_is_told() -> None:
    async with Site({"/": "<p>short"}) as site:
        for offset in (5, 10**9, -1):
            with pytest.raises(ToolFailed, match="the text has 5 characters"):
                await run(fetch_of(site), url=site.url, offset=offset)


async def test_reading_from_the_start_fetches_anew_and_few_pages_are_kept() -> None:
    async with Site({f"/{number}": "<p>" + "word " * 9000 for number in range(MOST_KEPT + 1)}) as site:
        tool = fetch_of(site)
        await run(tool, url=f"{site.url}/0")
        await run(tool, url=f"{site.url}/0")
        assert len(site.calls) == 2

        for number in range(1, MOST_KEPT + 1):
            await run(tool, url=f"{site.url}/{number}")
        await run(tool, url=f"{site.url}/0", offset=100)
        assert len(site.calls) == 2 + MOST_KEPT + 1


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        (json.dumps({"a": "ä\u200b"}, ensure_ascii=False).encode(), "application/json", '{"a": "ä"}'),
        (b"a,b\r\n1,2\r\n", "text/csv", "a,b\n1,2"),
        ("größer".encode("latin-1"), "text/plain; charset=iso-8859-1", "größer"),
        ("你好".encode("gbk"), "text/html; charset=gb2312", "你好"),
        (b"<meta charset=windows-1251><p>" + "Привет".encode("cp1251"), "text/html", "Привет"),
        (b"<meta http-equiv=x content='text/html; charset=Shift_JIS'>" + "日本".encode("cp932"), "text/html", "日本"),
        ("<p>hello €".encode("utf-16"), "text/html; charset=utf-8", "hello €"),
        (b"\xef\xbb\xbfhello", "text/plain", "hello"),
        (b"<p>caf\xe9 \xed\xa0\x80", "text/html", "café í\xa0€"),
        (b"<p>+2AA- \\ud800", "text/html; charset=utf-7", "+2AA- \\ud800"),
        (b"<p>\\ud800", "text/html; charset=unicode_escape", "\\ud800"),
        (b"<p>xn--a", "text/html; charset=idna", "xn--a"),
        (b"<p>x", "text/html; charset=base64", "x"),
        (b"<p>x", "text/html; charset=\"no such'thing", "x"),
        (
            b"<?xml version='1.0' encoding='latin1'?><a>\xe4</a>",
            "application/xml",
            "<?xml version='1.0' encoding='latin1'?><a>ä</a>",
        ),
        (b" <!doctype html><p>sniffed", "", "sniffed"),
        (b"words <p>", "", "words <p>"),
        (b"<p>", "text/html", "(there is nothing to read; the page may need a browser that runs its scripts)"),
    ],
)
async def test_text_is_read_in_its_encoding(body: bytes, kind: str, text: str) -> None:
    async with Site({"/p": sends(body, kind)}) as site:
        told = await run(fetch_of(site), url=f"{site.url}/p")

    assert told == f"Address: {site.url}/p (status 200)\n\n{text}"
    told.encode()


@pytest.mark.parametrize("kind", ["", "text/plain", "text/html"])
async def test_what_says_it_is_text_and_is_not_is_refused(kind: str) -> None:
    async with Site({"/": sends(b"\x7fELF\0\0\1", kind)}) as site:
        with pytest.raises(ToolFailed, match="no text"):
            await run(fetch_of(site), url=site.url)


async def test_of_a_page_without_end_the_beginning_is_told() -> None:
    async with Site({"/": sends(b"<p>word</p>" + b" " * MOST_BYTES)}) as site:
        told = await run(fetch_of(site), url=site.url)

    assert told.endswith("word\n\n[characters 0-4 of 4; the rest is too long to read]")


async def test_the_loop_goes_on_while_a_hostile_page_is_read() -> None:
    """Other chats wait for the interpreter no longer than one slice of the parsing takes."""
    async with Site({"/": "<table><tr><td>" * 130_000}) as site:
        for _ in range(5):  # the machine itself may keep the loop waiting for a moment
            reading = asyncio.create_task(run(fetch_of(site), url=site.url))
            turns = 0
            while not reading.done():
                await asyncio.sleep(0.001)
                turns += 1
            await reading
            if turns > 20:
                break

    assert turns > 20


async def test_nothing_that_reads_pages_is_imported_before_there_is_one() -> None:
    program = "import sys, agent_core.tools.web.tools; print([name for name in sys.modules if 'web.page' in name])"

    assert (await python("-c", program)).out == "[]\n"


async def test_a_failure_reaches_the_model_as_one_line() -> None:
    async with trap() as caught, Site() as site:
        talk = start_agent(
            calls(("web_fetch", {"url": f"http://127.0.0.1:{caught.port}/"})),
            calls(("web_fetch", {"url": f"{site.url}/gone"})),
            "sorry",
            tools=[fetch_of(site)],
        )
        told = results(await talk.says("read it"))

        assert caught.connections == 0
    assert told == [
        "Error: 127.0.0.1 leads to a private or special address, or to a port other than 80 and 443. "
        "Next: only pages of the open web can be read; tell the person",
        "Error: 127.0.0.1 answers 404 Not Found. Next: check the address, or try another page",
    ]


async def test_the_tools_say_what_they_can_do_at_worst() -> None:
    fetch, search = web_tools(searcher=Shelf())

    assert [tool.name for tool in web_tools()] == ["web_fetch"]
    assert (fetch.name, fetch.acts, fetch.untrusted, fetch.execution) == ("web_fetch", "net", True, "parallel")
    assert (search.name, search.acts, search.untrusted, search.execution) == ("web_search", "net", True, "parallel")
    assert fetch.describe({"url": "https://example.org"}) == "Reading https://example.org"
    assert search.describe({"query": "oslo"}) == "Searching the web: oslo"
