"""An MCP server by address: the official SDK's, over streamable HTTP on loopback."""

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest
from pydantic import SecretStr

from agent_core.mcp.config import McpServer
from agent_core.mcp.http import CheckedTransport
from agent_core.messages import ImageContent
from agent_core.tools.tool import ToolFailed
from tests.agent_core.mcp.serving import connected, connecting, context, over_http, told, tool_of, use
from tests.cpu import cpu_seconds_at_most
from tests.process import until

BOTH = pytest.mark.parametrize("protocol", [(), ("--legacy",)])


@BOTH
async def test_its_tools_work_as_those_of_a_program(protocol: tuple[str, ...]) -> None:
    async with over_http(*protocol) as (url, _), connected(web=McpServer(url=url)) as servers:
        assert await told(servers, "web_echo", text="hi") == "hi"
        assert tool_of(servers, "web_echo").acts == "net"
        (picture,) = (await use(servers, "web_picture")).content
        assert isinstance(picture, ImageContent)
        assert (await use(servers, "web_fails", reason="no")).is_error
        assert len(await told(servers, "web_huge", characters=3_000_000)) == 3_000_000

        await told(servers, "web_grow", name="later")
        await until(lambda: "web_later" in {tool.name for tool in servers.tools()})


@BOTH
async def test_a_call_that_is_stopped_is_stopped_there_too_and_the_session_lives(
    tmp_path: Path, protocol: tuple[str, ...]
) -> None:
    begun, ended = tmp_path / "begun", tmp_path / "ended"
    async with over_http(*protocol) as (url, _), connected(web=McpServer(url=url)) as servers:
        slow = tool_of(servers, "web_slow")
        arguments = slow.validate({"seconds": 60, "begun": str(begun), "ended": str(ended)})
        call = asyncio.create_task(slow.execute(arguments, context()))
        await until(begun.exists)

        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

        await until(ended.exists)
        await until(lambda: ended.read_text() == "cancelled")
        assert await told(servers, "web_echo", text="still here") == "still here"


@BOTH
async def test_when_it_is_back_the_next_calls_work_again(protocol: tuple[str, ...], unused_tcp_port: int) -> None:
    async with (
        over_http(*protocol, port=unused_tcp_port) as (url, server),
        connected(web=McpServer(url=url)) as servers,
    ):
        await server.kill()
        with pytest.raises(ToolFailed, match="the MCP server web "):
            await use(servers, "web_echo", text="anybody?")

        async with over_http(*protocol, port=unused_tcp_port):
            # A call may be told that the server has forgotten the session; then it had no effect.
            with suppress(ToolFailed):
                await use(servers, "web_echo", text="first")
            assert await told(servers, "web_echo", text="back") == "back"


async def test_a_token_goes_along_in_a_header() -> None:
    async with over_http("--token", "t-0123456789") as (url, _):
        server = McpServer(url=url, headers={"Authorization": SecretStr("Bearer t-0123456789")})
        async with connected(web=server) as servers:
            assert await told(servers, "web_echo", text="hi") == "hi"

        async with connecting(web=McpServer(url=url)) as servers:
            (looked,) = await servers.look(30)
            assert looked.trouble == f"{url.removeprefix('http://').removesuffix('/mcp')} refuses us (HTTP 401)"
            assert looked.fix == "check its headers: is the token there, and valid?"


def test_the_certificates_of_the_system_are_read_once() -> None:
    CheckedTransport(lambda *_: True)

    with cpu_seconds_at_most(0.05):  # reading them takes a third of that, and each transport read them twice
        for _ in range(20):
            CheckedTransport(lambda *_: True)
