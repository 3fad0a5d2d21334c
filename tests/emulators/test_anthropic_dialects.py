"""Each Anthropic dialect refuses what the provider refuses, in its words; asked by plain HTTP."""

import aiohttp
import pytest
from pydantic import JsonValue

from tests.emulators.dialects.anthropic import (
    ANTHROPIC_ADAPTIVE,
    ANTHROPIC_BOUND,
    ANTHROPIC_BUDGET,
    ANTHROPIC_EITHER,
)
from tests.emulators.dialects.anthropic_messages import AnthropicMessagesServer
from tests.emulators.dialects.anthropic_thoughts import BINDING_HEADER
from tests.emulators.dialects.dialect import Dialect
from tests.emulators.model_script import Answer, Json, ToolUse, Turn, says

BUDGET: Json = {"type": "enabled", "budget_tokens": 2000}
ADAPTIVE: Json = {"type": "adaptive", "display": "summarized"}
ASKED: Json = {"role": "user", "content": "What time is it?"}
CLOCK: Json = {"name": "clock", "input_schema": {"type": "object", "properties": {}}}
LOOKS = Turn(tools=(ToolUse("clock"),), thinking="Let me look.")
MODELS = [ANTHROPIC_BUDGET, ANTHROPIC_EITHER, ANTHROPIC_ADAPTIVE, ANTHROPIC_BOUND]
THINKING = {each.name: BUDGET if each is ANTHROPIC_BUDGET else ADAPTIVE for each in MODELS}


def served(dialect: Dialect, *script: Answer) -> AnthropicMessagesServer:
    server = dialect.server(script)
    assert isinstance(server, AnthropicMessagesServer)
    return server


async def posted(
    server: AnthropicMessagesServer, *messages: JsonValue, beta: str = "", **parameters: JsonValue
) -> tuple[int, Json]:
    body: Json = {"model": server.model, "max_tokens": 4000, "messages": [*messages], "tools": [CLOCK], **parameters}
    headers = {"anthropic-version": "2023-06-01", **({"anthropic-beta": beta} if beta else {})}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(f"{server.base_url}/v1/messages", json=body) as it,
    ):
        return it.status, await it.json()


async def refused(
    server: AnthropicMessagesServer, *messages: JsonValue, beta: str = "", **parameters: JsonValue
) -> str:
    """Return the words with which a request is refused."""
    status, body = await posted(server, *messages, beta=beta, **parameters)
    error = body.get("error")
    assert (status, isinstance(error, dict) and error["type"]) == (400, "invalid_request_error")
    assert isinstance(error, dict)
    return str(error["message"])


def blocks_of(answer: Json) -> list[Json]:
    content = answer["content"]
    assert isinstance(content, list)
    return [each for each in content if isinstance(each, dict)]


def result_of(*blocks: Json) -> Json:
    calls = [each["id"] for each in blocks if each["type"] == "tool_use"]
    results: list[JsonValue] = [{"type": "tool_result", "tool_use_id": each, "content": "noon"} for each in calls]
    return {"role": "user", "content": results}


def said(*blocks: Json) -> Json:
    return {"role": "assistant", "content": [*blocks]}


@pytest.mark.parametrize("dialect", MODELS, ids=lambda each: each.name)
async def test_an_answer_that_comes_back_as_it_was_is_taken(dialect: Dialect) -> None:
    async with served(dialect, LOOKS, says("Noon.")) as server:
        _, answer = await posted(server, ASKED, thinking=THINKING[dialect.name])
        blocks = blocks_of(answer)
        status, _ = await posted(server, ASKED, said(*blocks), result_of(*blocks), thinking=THINKING[dialect.name])

    kinds = [each["type"] for each in blocks]
    assert kinds == ["thinking", "redacted_thinking", "thinking", "tool_use"]
    assert (status, server.violations) == (200, [])


@pytest.mark.parametrize("dialect", MODELS, ids=lambda each: each.name)
async def test_thoughts_that_come_back_otherwise_are_refused(dialect: Dialect) -> None:
    thinking = THINKING[dialect.name]
    async with served(dialect, LOOKS) as server:
        _, answer = await posted(server, ASKED, thinking=thinking)
        first, hidden, second, call = blocks_of(answer)
        done = result_of(call)
        forged = await refused(server, ASKED, said(first | {"signature": "YQ=="}, call), done, thinking=thinking)
        reworded = await refused(server, ASKED, said(first | {"thinking": "Hm."}, call), done, thinking=thinking)
        unsigned = await refused(server, ASKED, said({**first, "signature": ""}, call), done, thinking=thinking)
        altered = await refused(server, ASKED, said(hidden | {"data": "YQ=="}, call), done, thinking=thinking)

    assert forged == reworded == "messages.1.content.0: Invalid `signature` in `thinking` block"
    assert unsigned == "messages.1.content.0.thinking.signature: Field required"
    assert altered == "messages.1.content.0: Invalid `data` in `redacted_thinking` block"
    assert second["signature"] != first["signature"]


@pytest.mark.parametrize(
    "dialect", [ANTHROPIC_BUDGET, ANTHROPIC_EITHER, ANTHROPIC_ADAPTIVE], ids=lambda each: each.name
)
async def test_thoughts_that_are_left_out_or_moved_are_missed(dialect: Dialect) -> None:
    thinking = THINKING[dialect.name]
    async with served(dialect, LOOKS) as server:
        _, answer = await posted(server, ASKED, thinking=thinking)
        first, hidden, second, call = blocks_of(answer)
        done = result_of(call)
        for blocks in ([first, second, call], [first, second, hidden, call], [hidden, first, second, call]):
            assert "cannot be modified" in await refused(server, ASKED, said(*blocks), done, thinking=thinking)
        ends = await refused(server, ASKED, said(call, first), done, thinking=thinking)

    assert ends == "messages.1: The final block in an assistant message cannot be `thinking`."


async def test_older_models_want_one_kind_of_thinking_in_a_turn() -> None:
    async with served(ANTHROPIC_BUDGET, LOOKS) as server:
        _, answer = await posted(server, ASKED, thinking=BUDGET)
        blocks = blocks_of(answer)
        without = await refused(server, ASKED, said(blocks[-1]), result_of(*blocks), thinking=BUDGET)
        off = await refused(server, ASKED, said(*blocks), result_of(*blocks))

    assert without.startswith("messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool")
    assert off.startswith("messages.1.content.0: When thinking is disabled, an `assistant` message in the final")


@pytest.mark.parametrize(
    ("dialect", "parameters", "words"),
    [
        (ANTHROPIC_BUDGET, {"thinking": {"type": "enabled", "budget_tokens": 4000}}, "`max_tokens` must be greater"),
        (ANTHROPIC_BUDGET, {"thinking": {"type": "enabled", "budget_tokens": 9}}, "greater than or equal to 1024"),
        (ANTHROPIC_BUDGET, {"thinking": BUDGET, "temperature": 0.7}, "may only be set to 1 when thinking is enabled"),
        (ANTHROPIC_BUDGET, {"thinking": BUDGET, "tool_choice": {"type": "any"}}, "tool_choice forces tool use"),
        (ANTHROPIC_BUDGET, {"thinking": ADAPTIVE}, "adaptive thinking is not supported on this model"),
        (ANTHROPIC_BUDGET, {"output_config": {"effort": "low"}}, "does not support the effort parameter"),
        (ANTHROPIC_BUDGET, {"max_tokens": 64_001}, "max_tokens: 64001 > 64000"),
        (ANTHROPIC_BUDGET, {"temperature": 0.7, "top_p": 0.9}, "`temperature` and `top_p` cannot both be specified"),
        (ANTHROPIC_EITHER, {"temperature": 0.7, "top_p": 0.9}, "`temperature` and `top_p` cannot both be specified"),
        (ANTHROPIC_EITHER, {"thinking": ADAPTIVE, "temperature": 0.7}, "enabled or in adaptive mode"),
        (ANTHROPIC_EITHER, {"output_config": {"effort": "xhigh"}}, "output_config.effort: Input should be 'low' or"),
        (ANTHROPIC_ADAPTIVE, {"thinking": BUDGET}, '"thinking.type.enabled" is not supported for this model'),
        (ANTHROPIC_ADAPTIVE, {"temperature": 0.7}, "`temperature` is deprecated for this model."),
        (ANTHROPIC_BOUND, {"thinking": {**ADAPTIVE, "block_binding": {"prefix_mismatch_behavior": "x"}}}, "binding"),
    ],
)
async def test_parameters_that_the_model_does_not_take_are_refused(
    dialect: Dialect, parameters: Json, words: str
) -> None:
    async with served(dialect) as server:
        assert words in await refused(server, ASKED, beta="", **parameters)


async def test_fields_and_places_that_nobody_knows_are_refused() -> None:
    call: Json = {"type": "tool_use", "id": "toolu_1", "name": "clock", "input": {}}
    first: Json = {"type": "text", "text": "Thanks."}
    async with served(ANTHROPIC_BUDGET) as server:
        field = await refused(server, ASKED, said({**call, "index": 0}), result_of(call))
        results = result_of(call)["content"]
        assert isinstance(results, list)
        late = await refused(server, ASKED, said(call), {"role": "user", "content": [first, *results]})
        open_call = await refused(server, ASKED, said(call), ASKED)
        kind = await refused(server, ASKED, said(first, {"type": "server_thing"}))

    assert field == "messages.1.content.0.tool_use.index: Extra inputs are not permitted"
    assert "`tool_result` blocks immediately after: toolu_1" in late
    assert "`tool_result` blocks immediately after: toolu_1" in open_call
    assert "does not match any of the expected tags" in kind


async def test_models_in_between_think_in_both_ways_and_only_for_a_budget_no_more_than_once_in_a_turn() -> None:
    looks_again = Turn(tools=(ToolUse("clock"),), thinking="Let me look again.")
    async with served(ANTHROPIC_EITHER, *[LOOKS, looks_again] * 2) as server:
        kinds = []
        for thinking in (BUDGET, ADAPTIVE):
            _, answer = await posted(server, ASKED, thinking=thinking)
            blocks = blocks_of(answer)
            _, second = await posted(server, ASKED, said(*blocks), result_of(*blocks), thinking=thinking)
            kinds.append((blocks[0]["type"], blocks_of(second)[0]["type"]))

    assert kinds == [("thinking", "tool_use"), ("thinking", "thinking")]
    assert server.violations == []


@pytest.mark.parametrize("dialect", [ANTHROPIC_EITHER, ANTHROPIC_ADAPTIVE], ids=lambda each: each.name)
async def test_newer_models_go_on_only_with_a_paused_answer(dialect: Dialect) -> None:
    paused = Turn("Half of", finish="pause_turn")
    async with served(dialect, paused, says(" it.")) as server:
        _, answer = await posted(server, ASKED)
        other = await refused(server, ASKED, said({"type": "text", "text": "Once"}))
        status, _ = await posted(server, ASKED, said(*blocks_of(answer)))

    assert other.startswith("This model does not support assistant message prefill.")
    assert status == 200


async def test_the_newest_models_bind_thoughts_to_all_that_came_before() -> None:
    drops: Json = {**ADAPTIVE, "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    async with served(ANTHROPIC_BOUND, LOOKS, says("Noon."), says("Noon.")) as server:
        _, answer = await posted(server, ASKED, thinking=ADAPTIVE)
        blocks = blocks_of(answer)
        back: list[JsonValue] = [ASKED, said(*blocks), result_of(*blocks)]
        changed = await refused(server, *back, thinking=ADAPTIVE, system="Be brief.")
        bare = await refused(server, ASKED, said(*blocks[1:]), result_of(*blocks), thinking=ADAPTIVE)
        dropped, _ = await posted(server, *back, thinking=drops, system="Be brief.", beta=BINDING_HEADER)
        same, _ = await posted(server, *back, thinking=ADAPTIVE)

    assert changed.startswith("messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a")
    assert "anthropic-beta" in changed
    assert "cannot be modified" in bare
    assert (dropped, server.dropped, same) == (200, 3, 200)
