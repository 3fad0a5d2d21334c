"""Broken MCP servers, in every known way, affect nothing else, and the log says how to fix them."""

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from agent_core.mcp.config import McpServer
from agent_core.mcp.servers import PACKAGE, McpServers
from agent_core.mcp.stdio import trouble_of
from agent_core.tools.tool import ToolFailed
from tests.agent_core.mcp.serving import (
    ENVIRON,
    PROGRAM,
    connected,
    connecting,
    emulated,
    is_alive,
    shell,
    told,
    use,
)
from tests.cpu import cpu_seconds_at_most
from tests.end_to_end.program import START_SECONDS
from tests.process import REPOSITORY, python, until

NOBODY = "http://127.0.0.1:9/mcp"
"""The discard port, where no server listens."""


@pytest.mark.parametrize(
    ("server", "trouble", "fix"),
    [
        (McpServer(command=("no-such-program",)), "there is no program no-such-program", "install it"),
        (McpServer(command=(__file__,)), f"{__file__} may not be run", "make it executable"),
        (shell("echo no key >&2; exit 4"), "it ended with exit code 4; its last words: no key", "in a terminal: sh -c"),
        (shell("yes hello"), "it prints what is not MCP: hello", "in a terminal"),
        (shell("head -c 40000000 /dev/zero"), "it sent a message of more than 32 MB", "in a terminal"),
        (shell("exec >&-; cat >/dev/null"), "it closed its output", "in a terminal"),
        (McpServer(url=NOBODY), "127.0.0.1:9 cannot be reached", "whether it runs"),
    ],
)
async def test_what_is_wrong_is_said_with_the_fix(server: McpServer, trouble: str, fix: str) -> None:
    (looked,) = await McpServers({"x": server}, ENVIRON).look(30.0)

    assert (looked.trouble, looked.tools) == (trouble, 0)
    assert fix in looked.fix


async def test_one_that_says_nothing_is_not_waited_for_longer_than_wanted() -> None:
    (looked,) = await McpServers({"x": shell("cat >/dev/null")}, ENVIRON).look(1.0)

    assert (looked.trouble, looked.tools) == ("it started, and does not answer", 0)
    assert "is it an MCP server" in looked.fix


async def test_one_that_works_is_counted() -> None:
    (looked,) = await McpServers({"emu": emulated()}, ENVIRON).look(START_SECONDS)

    assert looked.trouble == ""
    assert looked.tools > 10


async def test_the_loop_is_free_while_the_sdk_is_imported() -> None:
    program = """
import asyncio, sys, threading
from agent_core.mcp.config import McpServer
from agent_core.mcp.servers import McpServers

threads = set()

class Watch:
    def find_spec(name, path=None, target=None):
        if name.startswith("mcp."):
            threads.add(threading.current_thread() is threading.main_thread())

async def main():
    sys.meta_path.insert(0, Watch)
    servers = McpServers({"gone": McpServer(command=("no-such-program",))}, {})
    servers.begin()
    while not threads or "agent_core.mcp.connection" not in sys.modules:
        await asyncio.sleep(0.001)
    await servers.close()
    print("on the thread of the loop:", threads)

asyncio.run(main())
"""
    ran = await python("-c", program)

    assert ran.err == ""
    assert ran.out.splitlines()[-1] == "on the thread of the loop: {False}"


def test_a_folder_of_path_that_may_not_be_read_hides_no_missing_program() -> None:
    """With an unreadable folder in PATH the system reports "permission denied" for a missing program."""
    denied = PermissionError(13, "Permission denied")

    assert trouble_of(denied, McpServer(command=("no-such-program",))).fact == "there is no program no-such-program"
    assert trouble_of(denied, McpServer(command=(__file__,))).fact == f"{__file__} may not be run"


async def test_beginning_takes_no_time() -> None:
    servers = McpServers({"silent": shell("cat >/dev/null"), "gone": McpServer(url=NOBODY)}, ENVIRON)

    with cpu_seconds_at_most(0.3):  # importing the SDK takes twice as long
        servers.begin()
    await servers.close()


async def test_a_broken_one_leaves_the_others_alone_and_is_one_line_of_the_log() -> None:
    with capture_logs() as logged:
        async with connecting(bad=shell("exit 1"), emu=emulated()) as servers:
            await until(lambda: len(servers.tools()) > 0, within=START_SECONDS)
            await until(lambda: any(entry["log_level"] == "warning" for entry in logged))
            assert await told(servers, "emu_echo", text="hi") == "hi"

    assert [entry["server"] for entry in logged if entry["log_level"] == "warning"] == ["bad"]
    assert [entry for entry in logged if entry["log_level"] in ("error", "critical")] == []


async def test_two_servers_have_the_same_tools_under_two_names() -> None:
    async with connected(one=emulated(), two=emulated()) as servers:
        names = [tool.name for tool in servers.tools()]
        assert len(names) == len(set(names))
        assert await told(servers, "one_echo", text="1") == "1"
        assert await told(servers, "two_echo", text="2") == "2"


async def test_a_tool_of_one_that_does_not_come_back_says_why(tmp_path: Path) -> None:
    """The server's second start fails."""
    once = f"test -e {tmp_path}/once && exit 7; touch {tmp_path}/once; exec {' '.join(PROGRAM)}"
    server = shell(once).model_copy(update={"env": {"PYTHONPATH": str(REPOSITORY)}})
    async with connected(emu=server) as servers:
        with pytest.raises(ToolFailed, match="outcome is unknown"):
            await use(servers, "emu_dies")

        with pytest.raises(ToolFailed, match="cannot be used now: it ended with exit code 7"):
            await use(servers, "emu_echo", text="hi")


async def test_a_program_that_does_not_want_to_end_is_ended_with_its_children(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    stubborn = shell(
        f"trap '' TERM; sleep 300 & echo $$ $! > {pids}.new; mv {pids}.new {pids}; while :; do sleep 1; done"
    )
    async with connecting(stubborn=stubborn):
        await until(pids.exists)
        started = [int(word) for word in pids.read_text().split()]
        assert all(map(is_alive, started))

    await until(lambda: not any(map(is_alive, started)))


async def test_without_the_package_one_warning_says_how_to_install_it() -> None:
    program = """
import asyncio, sys
sys.modules["mcp"] = None
from agent_core.mcp.config import McpServer
from agent_core.mcp.servers import McpServers

async def main():
    servers = McpServers({"x": McpServer(command=("cat",))}, {})
    servers.begin()
    await servers.tried(30)
    print(servers.tools())
    await servers.close()

asyncio.run(main())
"""
    ran = await python("-c", program)

    assert ran.err == ""
    assert ran.code == 0
    line, rest = ran.out.splitlines()
    assert "the package mcp is not installed" in line
    assert PACKAGE in line
    assert rest == "()"


async def test_a_start_imports_nothing_of_the_sdk() -> None:
    program = (
        "import sys, gateway.app.serve, gateway.upkeep.doctor.report\n"
        "print([n for n in ('mcp', 'httpx2') if n in sys.modules])\n"
    )

    assert (await python("-c", program)).out.strip() == "[]"


async def test_who_needs_their_tools_can_wait_for_the_first_try_of_each_and_no_longer() -> None:
    both = McpServers({"good": McpServer(command=PROGRAM), "bad": McpServer(url=NOBODY)}, ENVIRON)
    silent = McpServers({"silent": shell("cat >/dev/null")}, ENVIRON)
    await both.tried(0.01)
    both.begin()
    silent.begin()
    try:
        await both.tried(START_SECONDS)
        assert {tool.name.partition("_")[0] for tool in both.tools()} == {"good"}

        await silent.tried(0.01)
        assert silent.tools() == ()
    finally:
        await both.close()
        await silent.close()
