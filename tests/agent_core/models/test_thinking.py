"""Tests for thinking: the levels a model knows, token budgets, and room for the answer."""

from dataclasses import replace
from typing import get_args

import pytest

from agent_core.models.llm import LlmOptions, ModelInfo, ThinkingLevel
from agent_core.models.model_table import look_up
from agent_core.models.openai_wire import BUDGETS, thinking_for
from agent_core.models.selection import choose_model, make_client
from tests.agent_core.models.clients import (
    HELLO,
    KEY,
    OPTIONS,
    OVER_A_WIRE,
    Meeting,
    Talk,
    light,
    litellm_anthropic,
    litellm_openai,
    model_info,
)
from tests.emulators.dialects.table import DIALECTS
from tests.emulators.model_script import says

pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")

THINKER = ModelInfo(id="thinker", reasoning=True, max_output=64_000)


def level(wanted: ThinkingLevel, *known: ThinkingLevel) -> str | None:
    thinking = thinking_for(THINKER.model_copy(update={"thinking_levels": known}), LlmOptions(thinking=wanted))
    return thinking.level if thinking else None


def test_off_is_the_default_and_says_nothing() -> None:  # S4-27
    assert LlmOptions().thinking == "off"
    assert thinking_for(THINKER, LlmOptions()) is None
    assert thinking_for(ModelInfo(id="plain"), LlmOptions(thinking="high")) is None


@pytest.mark.parametrize(
    ("wanted", "known", "asked"),
    [
        ("minimal", ("minimal", "low"), "minimal"),
        ("minimal", ("low", "medium", "high"), "low"),
        ("xhigh", ("low", "medium", "high"), "high"),
        ("max", ("high", "xhigh"), "xhigh"),
        ("max", ("low", "max"), "max"),
        ("medium", ("low", "high"), "low"),
        ("high", (), "high"),
    ],
)
def test_a_level_that_the_model_does_not_know_becomes_one_that_it_knows(
    wanted: ThinkingLevel, known: tuple[ThinkingLevel, ...], asked: str
) -> None:  # S4-27
    assert level(wanted, *known) == asked


def test_the_budgets_are_those_of_the_decision_and_each_may_be_another() -> None:  # S4-28, D-08
    assert [BUDGETS[each] for each in ("minimal", "low", "medium", "high")] == [1024, 2048, 8192, 16384]
    own = LlmOptions(thinking="low", thinking_budgets={"low": 5000})
    thinking = thinking_for(THINKER, own)
    assert thinking is not None
    assert (thinking.budget, thinking.max_tokens) == (5000, 5000 + 4096)


@pytest.mark.parametrize("most", [2048, 4096, 10_000, 64_000])
@pytest.mark.parametrize("wanted", ["minimal", "low", "medium", "high", "xhigh", "max"])
def test_the_answer_keeps_its_room(most: int, wanted: ThinkingLevel) -> None:  # S4-28
    thinking = thinking_for(THINKER.model_copy(update={"max_output": most}), LlmOptions(thinking=wanted))

    assert thinking is not None
    assert thinking.max_tokens <= most
    assert thinking.max_tokens - thinking.budget >= 1024


async def asked(talk: Talk, thinking: ThinkingLevel, **changes: object) -> dict[str, object]:
    """Return the body of the last request."""
    model = talk.model.model_copy(update={"max_output": 64_000, **changes})
    await replace(talk, model=model).done(options=LlmOptions(thinking=thinking))
    assert talk.server is not None
    return dict(talk.server.requests[-1].body)


@pytest.mark.parametrize("meeting", OVER_A_WIRE.values(), ids=OVER_A_WIRE)
async def test_every_server_is_asked_to_think_only_where_it_is_wanted_and_to_leave_room(
    meeting: Meeting,
) -> None:  # S4-27, S4-28, D-08
    async with meeting([says("4"), says("4")]) as met:
        known = model_info("anthropic/claude-sonnet-4-5", "anthropic")
        talk = replace(met, model=known if met.model.provider == "anthropic" else met.model)
        await asked(talk, "off")
        await asked(talk, "medium")
        assert met.server is not None
        requests = met.server.requests

    assert [(each.thinks, each.limit) for each in requests] == [(False, 4096), (True, 8192 + 4096)]


async def test_over_the_light_wire_goes_a_level_and_room_for_it() -> None:  # S4-27, S4-28
    async with light([says("4"), says("4")]) as talk:
        thinks, plain = await asked(talk, "xhigh"), await asked(talk, "off")

    assert (thinks["reasoning_effort"], thinks["max_tokens"]) == ("high", 16384 + 4096)
    assert "reasoning_effort" not in plain
    assert plain["max_tokens"] == 4096


async def test_over_litellm_goes_a_level_too() -> None:  # S4-27
    async with litellm_openai([says("4"), says("4")]) as talk:
        thinks = await asked(talk, "minimal")
        plain = await asked(talk, "off")

    assert thinks["reasoning_effort"] == "low"
    assert "reasoning_effort" not in plain


async def test_anthropics_older_models_get_the_budget_of_the_level() -> None:  # S4-27, S4-28, D-08
    async with litellm_anthropic([says("4", thinking="2 + 2")]) as talk:
        older = replace(talk, model=model_info("anthropic/claude-sonnet-4-5", "anthropic"))
        body = await asked(older, "medium")

    assert body["thinking"] == {"type": "enabled", "budget_tokens": 8192}
    assert body["max_tokens"] == 8192 + 4096


async def test_what_a_model_can_tell_apart_stands_in_the_table() -> None:  # S4-27
    newer = await look_up("anthropic/claude-sonnet-5", "anthropic")
    older = await look_up("anthropic/claude-sonnet-4-5", "anthropic")

    assert newer.adaptive
    assert newer.thinking_levels == ("low", "medium", "high", "xhigh", "max")
    assert not older.adaptive
    assert older.thinking_levels == ("low", "medium", "high")


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "claude-sonnet-4-6", "claude-opus-4-8", "claude-fable-5-1"])
async def test_every_level_is_taken_by_every_generation_of_claude(model: str) -> None:  # S4-27
    dialect = next(each for each in DIALECTS if each.model == model)
    levels = [each for each in get_args(ThinkingLevel) if each != "off"]
    async with dialect.server([says("4", thinking="2 + 2")] * len(levels), api_key=KEY) as server:
        choice = await choose_model(dialect.setting, dialect.environ(server.base_url, KEY))
        client = make_client(choice)
        try:
            for each in levels:
                events = client.stream(choice.model, HELLO, OPTIONS.model_copy(update={"thinking": each}))
                assert [event.failure for event in [event async for event in events] if event.type == "done"] == [None]
        finally:
            await client.close()

    assert server.violations == []
    assert server.taught == []
