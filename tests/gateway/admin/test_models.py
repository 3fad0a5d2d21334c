"""The screens of models and MCP servers: what they show, and that their forms are commands."""

import re
from pathlib import Path

from aiohttp import ClientSession

from agent_core.loop.model_chain import Candidate
from agent_core.models.llm import FailureKind
from agent_core.models.scripted import SCRIPTED_MODEL, Failure, ScriptedLlm
from gateway.runs.model_set import ModelMenu
from gateway.store.budget import ALL
from tests.gateway.admin.desk import admin_world
from tests.gateway.admin.test_pages import act
from tests.gateway.spent import DEAR

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
        assert re.search(r"answered after \d+\.\d s", answer)
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
