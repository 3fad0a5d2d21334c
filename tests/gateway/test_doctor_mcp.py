"""The doctor connects to each MCP server."""

import sys
from pathlib import Path

from agent_core.mcp.config import McpServer
from channels.checkup import ok
from gateway.settings.settings import Settings
from gateway.texts.findings import finding_in
from gateway.upkeep.doctor.connections import look_at_mcp
from tests.agent_core.mcp.serving import emulated
from tests.end_to_end.forks import parley
from tests.process import python


async def test_without_servers_there_is_nothing_to_say(tmp_path: Path) -> None:
    assert await look_at_mcp(Settings(home=tmp_path)) == []


async def test_each_server_is_one_line_with_its_tools_or_its_trouble(tmp_path: Path) -> None:
    servers = {"emu": emulated(), "gone": McpServer(command=("no-such-program",))}

    working, gone = await look_at_mcp(Settings(home=tmp_path, mcp=servers))

    assert working == ok("MCP server emu: 16 tools")
    assert (gone.mark, gone.what) == ("problem", "MCP server gone: there is no program no-such-program")
    assert gone.fix == "install it, or correct its command"


async def test_a_tool_that_cannot_be_offered_is_named_with_its_reason(tmp_path: Path) -> None:
    working, left_out, *_ = await look_at_mcp(Settings(home=tmp_path, mcp={"emu": emulated("--odd")}))

    assert working.mark == "ok"
    assert left_out.mark == "note"
    assert left_out.what == "MCP server emu: its tool list is left out: its arguments are not an object"
    assert finding_in(left_out.what, "zh") == "MCP server emu：工具 list 未启用：其参数不是对象"
    assert finding_in(left_out.fix, "zh") == "需要由该服务器的维护者修正"


def _home(folder: Path) -> Path:
    home = folder / ".parley"
    home.mkdir()
    return home


async def test_the_report_shows_them_and_what_they_say_stays_out_of_the_terminal(tmp_path: Path) -> None:
    (_home(tmp_path) / "parley.toml").write_text(
        '[web]\nenabled = false\n[mcp.bad]\ncommand = ["sh", "-c", "echo NOISE >&2; exit 3"]\n'
    )

    report = await parley("doctor", cwd=tmp_path, environ={"HOME": str(tmp_path)})

    assert report.code == 1
    assert report.err == ""
    assert "✗ MCP server bad: it ended with exit code 3; its last words: NOISE → try it in a terminal" in report.out


async def test_without_the_package_the_fix_is_its_installation(tmp_path: Path) -> None:
    (_home(tmp_path) / "parley.toml").write_text('[mcp.notes]\ncommand = ["cat"]\n')
    program = (
        "import sys; sys.modules['mcp'] = None; from pathlib import Path; from gateway.upkeep.doctor.report import run;"
        f"run({{'HOME': {str(tmp_path)!r}, 'PARLEY_WEB': 'off'}}, Path({str(tmp_path)!r}))"
    )

    report = await python("-c", program)

    assert "✗ MCP servers are set up (notes), and cannot be used: the package mcp is not installed → " in report.out
    assert f"{sys.executable}" in report.out
