"""The screens of models and MCP servers: what they show, and that their forms are commands."""

from pathlib import Path

from aiohttp import ClientSession

from agent_core.loop.model_chain import Candidate
from agent_core.mcp.left_out import LeftOut
from agent_core.models.llm import FailureKind
from agent_core.models.scripted import SCRIPTED_MODEL, Failure, ScriptedLlm
from gateway.runs.model_set import ModelMenu
from gateway.store.budget import ALL
from tests.gateway.admin.desk import admin_world
from tests.gateway.admin.test_costs import DEAR
from tests.gateway.admin.test_pages import act
from tests.gateway.test_approved_tools import EVIL, PLAIN, approved_in, described

OTHER = SCRIPTED_MODEL.model_copy(update={"id": "other/model", "input_price": 1.0, "output_price": 2.0})


def menu(*turns: object) -> ModelMenu:
    llm = ScriptedLlm()
    llm.add(*turns)  # type: ignore[arg-type]
    return ModelMenu((Candidate(OTHER, llm),), {"gone/model": "GONE_KEY is not set"})


async def get(client: ClientSession, path: str) -> str:
    async with client.get(f"/admin/{path}") as answer:
        assert answer.status == 200, await answer.text()
        return await answer.text()


# Models


async def test_models_are_shown_with_price_use_and_the_reason_that_one_cannot_be_used(tmp_path: Path) -> None:
    async with admin_world(tmp_path, models=menu()) as world, world.client() as client:
        text = await get(client, "models")
        assert "<code>other/model</code>" in text
        assert "the default" in text
        assert "cannot be used: GONE_KEY is not set" in text
        assert "No chat has chosen a model" in text


async def test_a_model_is_chosen_for_a_chat_and_everywhere_and_taken_back(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hello!", models=menu()) as world, world.client() as client:
        await world.bot.hears("hi")
        chat, models = world.bot.channel.chat("ann"), world.bot.made.agents.chat_models
        await act(client, "/model", "other/model", "here", chat=str(chat))
        await act(client, "/think", "high", "everywhere")
        chosen = await models.chosen(chat)
        assert (chosen.model.id, chosen.thinking) == ("other/model", "high")
        text = await get(client, "models")
        assert f"channel {chat}" in text
        assert 'value="/model default channel"' in text
        await act(client, "/model default channel", chat=str(chat))
        await act(client, "/think default everywhere")
        assert (await models.chosen(chat)).model.id == SCRIPTED_MODEL.id
        assert "No chat has chosen a model" in await get(client, "models")


async def test_a_test_call_tells_its_time_and_price_and_is_charged(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "ready", model=DEAR) as world, world.client() as client:
        answer = await act(client, "/model test scripted")
        assert "answered after 0.0 s" in answer
        assert "USD: ready" in answer
        sums = await world.bot.made.base.store.spending.sums(0)
        assert sums[ALL].tokens > 0


async def test_a_test_call_that_fails_says_why_and_asks_no_other_model(tmp_path: Path) -> None:
    failing = menu(Failure(FailureKind.AUTH, "the key was revoked"))
    async with admin_world(tmp_path, "not asked", models=failing) as world, world.client() as client:
        assert "did not answer" in (answer := await act(client, "/model test other/model"))
        assert "the key was revoked" in answer
        assert world.bot.llm.requests == []
        assert "no model" in await act(client, "/model test nonsense")


async def test_only_owners_test_models_and_budgets_are_respected(tmp_path: Path) -> None:
    async with admin_world(tmp_path, model=DEAR) as world, world.client() as client:
        await world.bot.hears("/role memory:bob admin")
        await world.bot.hears("/model test scripted", sender="bob")
        assert world.bot.screen[-1] == "Only owners can test models."
        await act(client, "/budget all 0.0001 USD a day")
        assert "has no room for the test" in await act(client, "/model test scripted")
        assert world.bot.llm.requests == []


# MCP servers


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
