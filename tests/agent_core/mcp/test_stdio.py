"""An MCP server by command: the official SDK's, over real pipes."""

import asyncio
import os
import signal
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from agent_core.loop.limits import LoopLimits
from agent_core.messages import ImageContent, text_of
from agent_core.models.scripted import calls
from agent_core.tools.registry import ToolRegistry
from agent_core.tools.tool import InvalidArguments, ToolFailed
from tests.agent_core.kit import results, start_agent
from tests.agent_core.mcp.serving import (
    connected,
    context,
    emulated,
    is_alive,
    surroundings,
    told,
    tool_of,
    use,
)
from tests.process import until


async def test_its_tools_are_tools_whose_words_are_those_of_strangers() -> None:
    async with connected(emu=emulated()) as servers:
        tools = {tool.name: tool for tool in servers.tools()}

    echo, injected = tools["emu_echo"], tools["emu_injected"]
    assert echo.spec.parameters == {
        "type": "object",
        "properties": {"text": {"type": "string"}, "times": {"default": 1, "type": "integer"}},
        "required": ["text"],
    }
    assert echo.spec.description == "A tool of the MCP server emu, in its own words: Say it again."
    assert echo.describe({"text": "{x}"}) == "emu: echo"
    assert {tool.untrusted for tool in tools.values()} == {True}
    assert {(tool.acts, tool.retry, tool.idempotent, tool.timeout_s) for tool in tools.values()} == {
        ("exec", "never", False, 60.0)
    }
    assert tools["emu_harmless"].execution == "sequential", "what it says of itself is what it says of itself"
    assert injected.spec.description.isprintable()
    assert len(injected.spec.description) < 360
    assert "emu_odd_name_with_spaces" in tools


async def test_results_of_each_kind_are_results() -> None:
    async with connected(emu=emulated("--greets")) as servers:
        assert await told(servers, "emu_echo", text="hi", times=2) == "hi hi"
        (picture,) = (await use(servers, "emu_picture")).content
        mixed = await use(servers, "emu_mixed")
        assert '"degrees": 21.5' in await told(servers, "emu_weather", city="Oslo")
        assert await told(servers, "emu_bare") == '{"total": 3}'
        assert await told(servers, "emu_odd_name_with_spaces") == "ok"
        assert len(await told(servers, "emu_huge", characters=5_000_000)) == 5_000_000
        failed = await use(servers, "emu_fails", reason="the sea is dry")

    assert isinstance(picture, ImageContent)
    assert picture.mime_type == "image/png"
    assert text_of(mixed.content).splitlines() == [
        "first",
        "[a picture (image/png) that cannot be shown is left out]",
        "[notes: file:///notes.txt]",
        "file:///a.txt:",
        "inside",
        "[file:///b.bin, which is no text, is left out]",
        "last",
    ]
    assert [part.mime_type for part in mixed.content if isinstance(part, ImageContent)] == ["image/png"], "not jpeg"
    assert failed.is_error
    assert "the sea is dry" in text_of(failed.content)


async def test_arguments_are_held_against_the_schema_before_anything_is_sent() -> None:  # S4-21
    async with connected(emu=emulated()) as servers:
        echo = tool_of(servers, "emu_echo")
        with pytest.raises(InvalidArguments, match="times: 'two' is not of type 'integer'"):
            echo.validate({"text": "x", "times": "two"})
        with pytest.raises(InvalidArguments, match="'text' is a required property"):
            echo.validate({})
        assert await told(servers, "emu_echo", text="x", times=None) == "x"


async def test_the_program_sees_nothing_of_ours_but_what_it_was_given_and_ends_with_us() -> None:
    async with connected(emu=emulated()) as servers:
        seen = await surroundings(servers, "emu")
        assert is_alive(int(seen["pid"]))

    assert seen.keys() - {"pid", "LC_CTYPE"} == {"PATH", "HOME", "LANG", "PYTHONPATH"}
    await until(lambda: not is_alive(int(seen["pid"])))


async def test_what_it_says_on_standard_error_is_a_line_of_our_log(capfd: pytest.CaptureFixture[str]) -> None:
    with capture_logs() as logged:
        async with connected(emu=emulated()) as servers:
            await told(servers, "emu_complains", line="the disk is full")
            await until(lambda: any(entry.get("line") == "the disk is full" for entry in logged))

    assert {entry["log_level"] for entry in logged if "line" in entry} == {"debug"}
    assert capfd.readouterr() == ("", "")


async def test_a_call_that_is_stopped_is_stopped_there_too_and_the_session_lives(tmp_path: Path) -> None:
    begun, ended = tmp_path / "begun", tmp_path / "ended"
    async with connected(emu=emulated()) as servers:
        pid = (await surroundings(servers, "emu"))["pid"]
        slow = tool_of(servers, "emu_slow")
        arguments = slow.validate({"seconds": 60, "begun": str(begun), "ended": str(ended)})
        call = asyncio.create_task(slow.execute(arguments, context()))
        await until(begun.exists)

        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

        await until(ended.exists)
        await until(lambda: ended.read_text() == "cancelled")
        assert await told(servers, "emu_echo", text="still here") == "still here"
        assert (await surroundings(servers, "emu"))["pid"] == pid


async def test_after_a_kill_the_next_call_works_again() -> None:
    async with connected(emu=emulated()) as servers:
        first = int((await surroundings(servers, "emu"))["pid"])
        with capture_logs() as logged:
            os.kill(first, signal.SIGKILL)
            await until(lambda: any(entry.get("why", "").startswith("it ended with exit code -9") for entry in logged))

        second = int((await surroundings(servers, "emu"))["pid"])
        assert second != first

        with pytest.raises(ToolFailed, match="went away during this call, so its outcome is unknown"):
            await use(servers, "emu_dies")
        assert await told(servers, "emu_echo", text="again") == "again"


@pytest.mark.parametrize("protocol", [(), ("--legacy",)])
async def test_a_tool_that_comes_later_is_there_in_the_next_turn(protocol: tuple[str, ...]) -> None:  # D-02
    async with connected(emu=emulated(*protocol)) as servers:
        registry = ToolRegistry(others=servers.tools)
        assert "emu_later" not in {spec.name for spec in registry.specs()}

        await told(servers, "emu_grow", name="later")

        await until(lambda: "emu_later" in {spec.name for spec in registry.specs()})
        assert await told(servers, "emu_later") == "new"


@pytest.mark.parametrize("protocol", [(), ("--legacy",)])
async def test_a_tool_that_comes_while_the_first_list_is_read_is_there_too(protocol: tuple[str, ...]) -> None:
    async with connected(emu=emulated("--hurries", *protocol)) as servers:
        await until(lambda: "emu_late" in {tool.name for tool in servers.tools()})


async def test_an_agent_uses_one_and_its_huge_result_is_cut() -> None:  # C-24
    async with connected(emu=emulated()) as servers:
        talk = start_agent(
            calls(("emu_echo", {"text": "hello"})),
            calls(("emu_huge", {"characters": 300_000})),
            calls(("emu_injected", {})),
            "done",
            tools=servers.tools(),
            limits=LoopLimits(result_chars=1_000),
        )
        events = await talk.says("go")

    echoed, huge, injected = results(events)
    assert echoed == "hello"
    assert len(huge) < 1_100
    assert injected == "ok"
