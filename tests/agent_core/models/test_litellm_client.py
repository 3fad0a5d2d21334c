"""Tests for the arguments that litellm is given, and for its silence."""

import asyncio
import importlib
import sys
import threading
from dataclasses import replace

import pytest

from agent_core.models import litellm_client
from agent_core.models.litellm_client import LitellmClient
from agent_core.models.llm import LlmOptions, ThinkingLevel, ToolSpec
from tests.agent_core.models.clients import HELLO, KEY, OPTIONS, litellm_anthropic, litellm_openai, model_info
from tests.emulators.model_script import Failure, calls, says
from tests.messages import user

pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")


async def test_it_prints_nothing_whatever_happens(capfd: pytest.CaptureFixture[str]) -> None:
    async with litellm_anthropic([says("Hello."), Failure("bad_request"), Failure("server")]) as talk:
        for _ in range(3):
            await talk.done()

    assert capfd.readouterr() == ("", "")


async def test_importing_it_needs_no_network_and_reads_no_dotenv() -> None:
    code = (
        "import asyncio, os; from agent_core.models.litellm_client import LitellmClient; "
        "asyncio.run(LitellmClient().warm_up()); "
        "assert os.environ['LITELLM_LOCAL_MODEL_COST_MAP'] == 'True'; assert os.environ['LITELLM_MODE'] == 'PRODUCTION'"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    output, _ = await process.communicate()
    assert (process.returncode, output) == (0, b"")


async def test_a_warm_client_answers() -> None:
    async with litellm_openai([says("Hello.")]) as talk:
        assert isinstance(talk.client, LitellmClient)
        await talk.client.warm_up()
        assert (await talk.done()).message.text == "Hello."


async def test_litellm_is_corrected_once_however_many_clients_use_it() -> None:
    await LitellmClient(KEY).warm_up()
    before = corrected()
    await asyncio.gather(*(LitellmClient(KEY).warm_up() for _ in range(3)))

    assert corrected() == before


async def test_clients_that_begin_at_once_leave_threads_to_other_work(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = threading.Event()
    monkeypatch.setattr(litellm_client, "_corrected_litellm", lambda: imported.wait(30))
    monkeypatch.setattr(litellm_client, "_warm", lambda _: None)
    starts = asyncio.gather(*(LitellmClient(KEY).warm_up() for _ in range(40)))
    try:
        assert await asyncio.wait_for(asyncio.to_thread(lambda: "done"), 10) == "done"
    finally:
        imported.set()
        await starts


def corrected() -> tuple[object, ...]:
    """Return what Parley replaces in litellm."""
    gemini = importlib.import_module("litellm.llms.vertex_ai.gemini.vertex_and_google_ai_studio_gemini")
    studio = importlib.import_module("litellm.llms.gemini.chat.transformation")
    lines = importlib.import_module("litellm.llms.base_llm.base_model_iterator").BaseModelResponseIterator
    reasons = importlib.import_module("litellm.litellm_core_utils.core_helpers")
    return (
        *vars(gemini.VertexGeminiConfig).values(),
        *vars(gemini.ModelResponseIterator).values(),
        *vars(lines).values(),
        vars(studio)["gemini_convert_messages_with_history"],
        id(vars(reasons)["_FINISH_REASON_MAP"]),
    )


@pytest.mark.parametrize("model", ["xai/grok-4", "openai/test-model"])
async def test_a_tool_is_offered_in_the_same_words_again_and_again(model: str) -> None:
    parameters = {
        "type": "object",
        "properties": {"of": {"type": "string", "strict": True}},
        "additionalProperties": False,
    }
    tool = ToolSpec(name="photo", description="Takes one.", parameters=parameters)
    before = tool.model_dump_json()
    async with litellm_openai([says("Hello."), says("Hello.")]) as talk:
        other = replace(talk, model=model_info(model, model.partition("/")[0]))
        for _ in range(2):
            await other.done(HELLO.model_copy(update={"tools": (tool,)}))
        assert talk.server is not None
        first, second = talk.server.requests

    assert first.body["tools"] == second.body["tools"]
    assert tool.model_dump_json() == before


async def test_anthropic_is_asked_to_keep_the_prompt_and_the_conversation() -> None:
    async with litellm_anthropic([says("Hello.")]) as talk:
        await talk.done()
        assert talk.server is not None
        (request,) = talk.server.requests

    assert str(request.body["system"]).count("cache_control") == 1
    assert str(request.messages[-1]).count("cache_control") == 1


async def test_openai_is_told_the_chat_so_that_it_finds_its_cache() -> None:  # S4-42
    async with litellm_openai([says("Hello.")]) as talk:
        await talk.done(options=OPTIONS.model_copy(update={"session_id": "chat-7"}))
        assert talk.server is not None
        (request,) = talk.server.requests

    assert request.body["prompt_cache_key"] == "chat-7"


async def test_a_budget_for_thinking_leaves_room_for_the_answer() -> None:  # S4-27, S4-28, C-23, S2-37
    options = LlmOptions(max_tokens=500, thinking="high", thinking_budgets={"high": 2000})
    async with litellm_anthropic([says("4", thinking="2 + 2"), says("4")]) as talk:
        thinker = replace(talk, model=model_info("anthropic/claude-sonnet-4-5", "anthropic"))
        await thinker.done(options=options)
        await thinker.done()
        assert talk.server is not None
        thinks, plain = talk.server.requests

    assert thinks.body["thinking"] == {"type": "enabled", "budget_tokens": 2000}
    assert thinks.body["max_tokens"] == 3024
    assert "temperature" not in thinks.body
    assert "thinking" not in plain.body
    assert plain.body["temperature"] == 0.7


async def test_signed_thinking_goes_back_to_anthropic() -> None:
    options = LlmOptions(thinking="low", thinking_budgets={"low": 1024})
    async with litellm_anthropic([says("4", thinking="2 + 2"), says("Yes.")]) as talk:
        first = (await talk.done(options=options)).message
        history = (*HELLO.messages, first, user("Sure?"))
        again = await talk.done(HELLO.model_copy(update={"messages": history}), options)
        assert talk.server is not None
        messages = talk.server.requests[1].messages

    assert again.failure is None
    assert "'signature': 'c2lnbmVk'" in str(messages[1])


@pytest.mark.parametrize("thinking", ["off", "low"])
async def test_openais_newest_models_stay_in_the_chat_protocol_with_tools(thinking: ThinkingLevel) -> None:
    clock = ToolSpec(name="clock", description="The time.", parameters={"type": "object", "properties": {}})
    request = HELLO.model_copy(update={"tools": (clock,)})
    async with litellm_openai([calls("clock")]) as talk:
        newest = replace(talk, model=model_info("openai/gpt-5.4-mini", "openai"))
        done = await newest.done(request, LlmOptions(thinking=thinking))
        assert talk.server is not None
        (asked,) = talk.server.requests

    assert [call.name for call in done.message.tool_calls] == ["clock"]
    assert asked.body["reasoning_effort"] == "none"
