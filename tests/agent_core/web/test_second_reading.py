"""An address is fetched once per user message, because the number and order of requests can leak data."""

import asyncio
from pathlib import Path

from aiohttp import web

from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    StopReason,
    TextContent,
    ToolCall,
    ToolResultMessage,
    text_of,
)
from agent_core.origin import CLEAN, NOT_KNOWN
from agent_core.tools.tool import Tool, ToolContext, ToolEnvironment, ToolFailed
from agent_core.tools.web.fetch import Fetcher
from agent_core.tools.web.tools import MOST_KEPT, web_fetch_tool
from tests.agent_core.web.site import Site
from tests.messages import user


async def breaks_off(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def read(fetch: Tool, url: str, messages: list[AgentMessage], session: str = "s") -> str:
    call = ToolCall(id=f"c{len(messages)}", name="web_fetch", arguments={"url": url})
    messages.append(AssistantMessage(content=(call,), stop_reason=StopReason.TOOL_USE, origin=CLEAN))
    context = ToolContext(call.id, ToolEnvironment(session, Path("no-such-workspace")), messages=messages)
    try:
        said = text_of((await fetch.execute(fetch.validate({"url": url}), context)).content)
    except ToolFailed as error:
        said = error.fact
    messages.append(
        ToolResultMessage(
            tool_call_id=call.id, tool_name="web_fetch", content=(TextContent(text=said),), origin=NOT_KNOWN
        )
    )
    return said


async def test_a_page_that_is_read_again_for_the_same_message_is_not_asked_for_again() -> None:
    async with Site({"/a": "one", "/b": "two"}) as site:
        fetch = web_fetch_tool(Fetcher(site.may_reach))
        talk: list[AgentMessage] = [user("compare them")]
        said = [await read(fetch, f"{site.url}/{page}", talk) for page in "abba" * 5]
        spellings = [f"{site.url}/a#{part}" for part in "xyz"] + [site.url.upper().replace("HTTP", "http") + "/a"]
        for spelling in spellings:
            assert "one" in await read(fetch, spelling, talk)

        assert [request.path for request in site.requests] == ["/a", "/b"]
        assert ["one" in each for each in said[:4]] == [True, False, False, True]


async def at_once(fetch: Tool, url: str, count: int) -> list[str]:
    """Return what so many calls of one answer say."""
    talk: list[AgentMessage] = [user("read it")]
    made = tuple(ToolCall(id=f"c{each}", name="web_fetch", arguments={"url": url}) for each in range(count))
    talk.append(AssistantMessage(content=made, stop_reason=StopReason.TOOL_USE, origin=CLEAN))

    async def called(call: ToolCall) -> str:
        context = ToolContext(call.id, ToolEnvironment("s", Path("no-such-workspace")), messages=talk)
        try:
            return text_of((await fetch.execute(fetch.validate({"url": url}), context)).content)
        except ToolFailed as error:
            return error.fact

    return await asyncio.gather(*map(called, made))


async def test_calls_of_one_answer_for_the_same_page_ask_for_it_once() -> None:
    async with Site({"/a": "one"}) as site:
        said = await at_once(web_fetch_tool(Fetcher(site.may_reach)), f"{site.url}/a", 7)

        assert len(site.calls) == 1
        assert all("one" in each for each in said)


async def test_nor_do_they_where_a_server_breaks_off_each_connection() -> None:
    async with Site({"/a": breaks_off}) as site:
        fetch = web_fetch_tool(Fetcher(site.may_reach))
        said = await at_once(fetch, f"{site.url}/a", 1)
        once = len(site.calls)  # the client itself tries a broken connection again
        said += await at_once(web_fetch_tool(Fetcher(site.may_reach)), f"{site.url}/a", 7)

        assert len(site.calls) == 2 * once
        assert set(said) == {"no connection to 127.0.0.1"}


async def test_what_cannot_be_read_is_not_asked_for_again_either() -> None:
    async with Site() as site:
        fetch = web_fetch_tool(Fetcher(site.may_reach))
        talk: list[AgentMessage] = [user("read it")]
        assert await read(fetch, f"{site.url}/gone", talk) == await read(fetch, f"{site.url}/gone", talk)

        assert len(site.calls) == 1


async def test_a_new_message_and_another_chat_get_the_page_as_it_is_now() -> None:
    async with Site({"/a": "one"}) as site:
        fetch = web_fetch_tool(Fetcher(site.may_reach))
        talk: list[AgentMessage] = [user("read it")]
        await read(fetch, f"{site.url}/a", talk)
        site.pages["/a"] = "two"
        assert "two" in await read(fetch, f"{site.url}/a", [*talk, user("once more")])
        assert "two" in await read(fetch, f"{site.url}/a", talk[:1], session="another")


async def test_so_many_pages_that_they_cannot_be_kept_are_not_asked_for_again() -> None:
    pages = {f"/{number}": f"page {number}" for number in range(MOST_KEPT + 2)}
    async with Site(pages) as site:
        fetch = web_fetch_tool(Fetcher(site.may_reach))
        talk: list[AgentMessage] = [user("read them")]
        for path in pages:
            await read(fetch, site.url + path, talk)

        assert "already" in await read(fetch, f"{site.url}/0", talk)
        assert len(site.calls) == len(pages)
