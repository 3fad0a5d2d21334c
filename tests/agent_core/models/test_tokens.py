"""Token estimates of how full a window is."""

from agent_core.context.context import ContextManager
from agent_core.loop.state import QueryState
from agent_core.messages import Usage, text_of
from agent_core.models.scripted import ScriptedLlm
from agent_core.models.tokens import estimate
from agent_core.tools.registry import ToolRegistry
from tests.agent_core.kit import StartAgent, look, start_agent


def test_chinese_counts_a_token_for_each_character() -> None:  # S0-33, D-12
    assert estimate("你好" * 1_000) == 2_000
    assert estimate("abcd" * 1_000) == 1_000
    assert estimate("") == 0


async def test_each_message_makes_the_next_request_larger(starts: StartAgent) -> None:  # S0-10
    talk = starts("Hello.")
    before = talk.agent.context.tokens(talk.agent.state)

    await talk.says("hello " * 100)

    assert talk.agent.context.tokens(talk.agent.state) > before
    assert [text_of(message.content) for message in talk.llm.requests[0].messages] == ["hello " * 100]


async def test_what_the_model_reported_corrects_the_guess() -> None:  # D-12
    talk = start_agent("Hello.")
    await talk.says("hello")
    answer = talk.agent.state.messages[-1].model_copy(update={"usage": Usage(input=900, output=100, total=1_000)})

    state = QueryState(run_id="r", session_id="s", messages=[answer])
    assert ContextManager(ToolRegistry()).tokens(state) == 1_000


async def test_one_tool_runs_outside_of_any_run() -> None:  # S2-08
    talk = start_agent(tools=[look])

    result = await talk.agent.execute_tool("look", {"text": "1"})

    assert not result.is_error
    assert talk.agent.state.messages == []
    assert isinstance(talk.llm, ScriptedLlm)
    assert talk.llm.requests == []


async def test_a_tool_that_does_not_exist_is_a_failed_result() -> None:  # S2-08, S0-16
    talk = start_agent(tools=[look])

    result = await talk.agent.execute_tool("fly", {})

    assert result.is_error
