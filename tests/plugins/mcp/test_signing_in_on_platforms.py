"""On each platform an owner adds a server, signs in by a button and a browser, and its tools are used."""

import re
import socket

import aiohttp
import pytest

from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.stage import Stage, newest
from tests.end_to_end.tables import stored
from tests.plugins.mcp.sign_in_server import comes_back, sign_in_server
from tests.process import until

ADDRESS = re.compile(r"\((http://127\.0\.0\.1:\d+/authorize[^)\s]+)\)")

pytestmark = pytest.mark.timeout(120)


def link_of(stage: Stage) -> str:
    """Return the address of the sign-in in the newest message."""
    bodies = " ".join(str(row) for row in stored(stage.program.home, "SELECT body FROM outbox ORDER BY at"))
    return str(ADDRESS.findall(bodies)[-1])


@where(lambda facts: facts.name in {"telegram", "slack", "discord"})
async def test_an_owner_signs_in_by_a_button_and_a_browser(own_stage: Stage) -> None:
    stage, program = own_stage, own_stage.program
    ann, chat = stage.private("Ann")
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    program.set("PARLEY_OWNERS", f"{stage.platform.facts.name}:{ann.id}")
    program.set("PARLEY_PLUGIN_MCP_LOCAL", "on")
    program.set("PARLEY_WEB", "on")
    program.set("PARLEY_WEB_PORT", str(port))
    await stage.start()
    async with sign_in_server() as garden, aiohttp.ClientSession(f"http://127.0.0.1:{port}") as browser:
        garden.who = "ann"
        await chat.says(ann, f"/mcp add garden {garden.url}")
        await chat.until(lambda seen: newest(seen).button("Sign in") is not None)

        await chat.presses(ann, "Sign in")
        await until(lambda: "authorize" in str(stored(program.home, "SELECT body FROM outbox")))
        brought = await comes_back(link_of(stage))
        async with browser.get("/mcp-sign-in", params=brought) as asked:
            page = await asked.text()
            assert (asked.status, "<form" in page) == (200, True), page
        async with browser.post("/mcp-sign-in", data=brought) as done:
            assert done.status == 200, await done.text()

        await chat.until(lambda seen: "can be used now" in seen.screen[-1])
        assert garden.access
