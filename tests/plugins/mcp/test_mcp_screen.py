"""The screen of MCP servers shows which there are and what they say of their tools, and owners add others there."""

from pathlib import Path

from agent_core.mcp.left_out import LeftOut
from tests.agent_core.mcp.serving import over_http
from tests.gateway.admin.desk import admin_world
from tests.gateway.admin.test_models import get
from tests.gateway.admin.test_pages import act
from tests.gateway.test_approved_tools import EVIL, PLAIN, approved_in, described
from tests.plugins.mcp.serving import local


async def test_a_servers_changed_words_are_shown_and_approved(tmp_path: Path) -> None:
    approved = approved_in(tmp_path)
    approved.see("words", (described(PLAIN),))
    now = described(EVIL + "<img src=x onerror=alert(1)>")
    approved.see("words", (now,))
    async with admin_world(tmp_path, approved=approved, others=lambda: (now,)) as world, world.client() as client:
        text = await get(client, "mcp")
        assert "connected" in text
        assert "not approved yet" in text
        assert "<img src=x" not in text
        assert 'value="/mcp words"' in text
        await act(client, "/mcp approve words", approved.code("words"))
        assert "not approved yet" not in await get(client, "mcp")


async def test_a_tool_that_cannot_be_offered_is_shown_with_its_reason(tmp_path: Path) -> None:
    approved = approved_in(tmp_path)
    now = described(PLAIN)
    approved.see("words", (now,), (LeftOut("<img src=x>", "too_large"),))
    async with admin_world(tmp_path, approved=approved, others=lambda: (now,)) as world, world.client() as client:
        text = await get(client, "mcp")
        assert "Tools that cannot be used: 1" in text
        assert "<code>&lt;img src=x&gt;</code>: the schema of its arguments is too large" in text


async def test_a_server_that_is_down_and_none_at_all_are_told(tmp_path: Path) -> None:
    async with admin_world(tmp_path / "a", approved=approved_in(tmp_path)) as world, world.client() as client:
        assert "not connected" in await get(client, "mcp")
    async with admin_world(tmp_path / "b") as world, world.client() as client:
        assert "No MCP server is set up." in await get(client, "mcp")


async def test_an_owner_adds_a_server_in_a_form_and_removes_it(tmp_path: Path) -> None:
    async with (
        over_http() as (url, _),
        admin_world(tmp_path, settings=local()) as world,
        world.client() as client,
    ):
        assert 'value="/mcp add notion https://mcp.notion.com/mcp"' in await get(client, "mcp")

        assert "`lab`" not in await act(client, "/mcp add", "lab", url)

        text = await get(client, "mcp")
        assert "connected" in text
        assert "lab_echo" in text
        assert "not approved yet" in text
        await act(client, "/mcp rm lab")
        assert "No MCP server is set up." in await get(client, "mcp")


async def test_admins_see_servers_and_no_form(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world:
        text = await world.seen_by_admin("mcp")
        assert "MCP servers" in text
        assert "/mcp add" not in text


async def test_admins_see_no_key_in_the_address_of_a_server(tmp_path: Path) -> None:
    async with admin_world(tmp_path, settings=local()) as world, world.client() as client:
        await act(client, "/mcp add", "lab", "http://127.0.0.1:9/mcp?api_key=s3cr3t")
        text = await world.seen_by_admin("mcp")
        assert "http://127.0.0.1:9/mcp?…" in text
        assert "s3cr3t" not in text
