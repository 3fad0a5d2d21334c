"""Each tool call gets exactly one result, in the order of the calls, whatever happens to it."""

import asyncio

import pytest

from agent_core.events import ToolExecutionEnd, ToolExecutionStart, ToolExecutionUpdate
from agent_core.loop.limits import LoopLimits
from agent_core.messages import ImageContent, StopReason, TextContent, ToolResultMessage
from agent_core.models.scripted import Call, Calls, ScriptedLlm, Turn, calls
from agent_core.origin import CLEAN
from agent_core.reasons import TerminalReason
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import ToolContext, ToolFailed, tool
from tests.agent_core.kit import StartAgent, Talk, agent_over, broken, echo, end_of, kinds, look, results
from tests.clock import FakeClock


async def test_an_unknown_tool_is_announced_and_answered_with_what_there_is(starts: StartAgent) -> None:  # S0-16, S4-20
    talk = starts(calls(("fly", {"to": "Oslo"})), "I cannot fly.", tools=[echo, look])

    events = await talk.says("fly")

    assert kinds(events)[7:9] == [">fly", "<fly"]
    assert results(events) == ["Error: there is no tool 'fly'. Next: use one of: echo, look"]


async def test_arguments_that_do_not_fit_are_answered_with_the_field_and_what_came(
    starts: StartAgent,
) -> None:  # S4-21, S2-30
    ran: list[int] = []

    @tool()
    async def add(first: int, second: int = 0) -> str:
        """Add."""
        ran.append(first)
        return str(first + second)

    talk = starts(
        calls(("add", {"first": "four"})), calls(("add", {"first": "42", "second": None})), "42.", tools=[add]
    )

    events = await talk.says("add")

    assert "first: " in results(events)[0]
    assert "'four'" in results(events)[0]
    assert results(events)[1] == "42"
    assert ran == [42]


async def test_coercion_leaves_the_arguments_of_the_message_as_the_model_sent_them(
    starts: StartAgent,
) -> None:  # S4-21, S0-15
    talk = starts(calls(("echo", {"text": "it's"})), "ok", tools=[echo])

    events = await talk.says("go")

    start = next(event for event in events if isinstance(event, ToolExecutionStart))
    assert start.args == {"text": "it's"}


async def test_broken_json_is_not_run_and_the_model_is_told_what_arrived(starts: StartAgent) -> None:  # S2-30, S0-15
    talk = starts(calls(("echo", '{"text": "wel')), "again", tools=[echo])

    events = await talk.says("go")

    (told,) = results(events)
    assert '{"text": "wel' in told
    assert len(told) <= 300
    assert talk.agent.state.tool_call_count == 0


@pytest.mark.parametrize("reason", ["x" * 1000, "two\nlines\n\nof it", "Error: said before"])
async def test_a_failure_is_one_line_of_at_most_300_characters(starts: StartAgent, reason: str) -> None:  # S2-28
    @tool()
    async def fails() -> str:
        """Fail."""
        raise ToolFailed(reason, "rest " * 50)

    talk = starts(calls(("fails", {})), "ok", tools=[fails])

    (told,) = results(await talk.says("go"))

    assert told.startswith("Error: ")
    assert "Error: Error:" not in told
    assert "\n" not in told
    assert len(told) <= 300


@pytest.mark.parametrize("silence", ["", "  \n", ToolResult(origin=CLEAN)])
async def test_a_silent_success_is_said_in_fixed_words(starts: StartAgent, silence: str | ToolResult) -> None:  # S0-17
    @tool()
    async def quiet() -> str | ToolResult:
        """Say nothing."""
        return silence

    talk = starts(calls(("quiet", {})), "ok", tools=[quiet])

    (told,) = results(await talk.says("go"))

    assert "completed successfully" in told


async def test_a_silent_failure_is_no_success(starts: StartAgent) -> None:  # S0-17
    @tool()
    async def quiet() -> ToolResult:
        """Fail without a word."""
        return ToolResult(is_error=True, origin=CLEAN)

    talk = starts(calls(("quiet", {})), "ok", tools=[quiet])

    (told,) = results(await talk.says("go"))

    assert told.startswith("Error: ")


async def test_a_result_message_has_everything_the_call_had(starts: StartAgent) -> None:  # S4-25, S4-10
    picture = ImageContent(data="aGk=", mime_type="image/png")

    @tool()
    async def draw() -> ToolResult:
        """Draw."""
        return ToolResult(content=(TextContent(text="a picture"), picture), details={"pixels": 4}, origin=CLEAN)

    talk = starts(calls(("draw", {})), "ok", tools=[draw])
    await talk.says("draw")

    message = next(item for item in talk.agent.state.messages if isinstance(item, ToolResultMessage))
    assert message.content == (TextContent(text="a picture"), picture)
    assert (message.tool_call_id, message.tool_name, message.is_error) == ("call_1", "draw", False)
    assert message.details == {"pixels": 4}
    assert message.duration_ms == 0
    assert message.created_at == talk.clock.now


async def test_a_long_result_keeps_its_head_and_its_tail(starts: StartAgent) -> None:  # C-24
    @tool()
    async def long() -> str:
        """Talk."""
        return "head" + "-" * 1000 + "tail"

    talk = starts(calls(("long", {})), "ok", tools=[long], limits=LoopLimits(result_chars=100))

    (told,) = results(await talk.says("go"))

    assert told.startswith("head")
    assert told.endswith("tail")
    assert "940 characters cut" in told


async def test_updates_come_before_the_end_and_none_after_it(starts: StartAgent) -> None:  # S4-22
    late: list[ToolContext] = []

    @tool(execution="parallel")
    async def works(context: ToolContext) -> str:
        """Work."""
        context.on_update(ToolResult.of("half", CLEAN))
        late.append(context)
        return "whole"

    @tool(execution="parallel")
    async def lingers() -> str:
        """Outlast the first tool, then speak with its voice."""
        await asyncio.sleep(0)
        late[0].on_update(ToolResult.of("too late", CLEAN))
        return "ok"

    talk = starts(calls(("works", {}), ("lingers", {})), "ok", tools=[works, lingers])

    events = await talk.says("go")

    assert kinds(events)[7:12] == [">works", ">lingers", "=works", "<works", "<lingers"]
    assert len([event for event in events if isinstance(event, ToolExecutionUpdate)]) == 1


async def test_a_call_that_was_sent_twice_is_made_once(starts: StartAgent) -> None:  # S2-22
    sent: list[str] = []

    @tool(acts="write")
    async def mail(to: str) -> str:
        """Send it."""
        sent.append(to)
        return "sent"

    once = Call("mail", {"to": "ann"}, id="x")
    talk = starts(Calls((once, once)), "ok", tools=[mail])

    assert results(await talk.says("go")) == ["sent"]
    assert sent == ["ann"]


@pytest.mark.parametrize("other", [Call("echo", {"text": "b"}, id="x"), Call("look", {"text": "a"}, id="x")])
async def test_two_different_calls_with_one_id_are_both_made(starts: StartAgent, other: Call) -> None:  # S2-22
    talk = starts(Calls((Call("echo", {"text": "a"}, id="x"), other)), "ok", tools=[echo, look])

    events = await talk.says("go")

    assert len(results(events)) == 2
    assert results(events)[0] == "echo a"
    ids = {event.tool_call_id for event in events if isinstance(event, ToolExecutionEnd)}
    assert len(ids) == 2


@pytest.mark.parametrize("own", ["chatcmpl-tool-" + "0123456789abcdef" * 2, "a.b:c", "x" * 300, "caf\u00e9"])
async def test_a_call_id_that_not_every_provider_takes_reaches_none(starts: StartAgent, own: str) -> None:  # S2-22
    talk = starts(Calls((Call("echo", {"text": "a"}, id=own),)), "ok", "again", tools=[echo])

    events = await talk.says("go")
    await talk.says("and now?")

    assert results(events) == ["echo a"]
    assert end_of(events).reason is TerminalReason.COMPLETED


async def test_of_arguments_that_are_no_json_the_model_sees_200_characters_of_what_it_sent(
    starts: StartAgent,
) -> None:  # S2-30
    raw = '{"text": "' + "".join(f"{number} " for number in range(300))
    talk = starts(Calls((Call("echo", raw),)), "I see.", tools=[echo])

    events = await talk.says("go")

    assert raw[:200] in results(events)[0]
    assert raw[:210] not in results(events)[0]


async def test_an_id_of_an_earlier_answer_is_renamed_and_calls_without_ids_get_their_own(
    starts: StartAgent,
) -> None:  # S2-22
    talk = starts(
        Calls((Call("echo", {"text": "a"}, id="call_0"),)),
        Calls((Call("echo", {"text": "b"}, id="call_0"),)),
        "ok",
        tools=[echo],
    )
    llm = ScriptedLlm(calls(("echo", {"text": "a"}), ("echo", {"text": "b"})), "ok", new_id=str)
    unnamed = Talk(agent_over(llm, FakeClock(), tools=[echo]), llm, FakeClock())

    assert results(await talk.says("go")) == ["echo a", "echo b"]
    assert results(await unnamed.says("go")) == ["echo a", "echo b"]
    for conversation in (talk, unnamed):
        ids = [item.tool_call_id for item in conversation.agent.state.messages if isinstance(item, ToolResultMessage)]
        assert len(set(ids)) == 2


async def test_nothing_is_run_of_an_answer_that_was_cut_off(starts: StartAgent) -> None:  # C-27
    talk = starts("never said", tools=[echo])
    cut = starts(calls(("echo", {})), "ok", tools=[echo])
    await cut.says("go")
    whole = cut.agent.state.messages[1]
    talk.agent.replace_messages(
        [cut.agent.state.messages[0], whole.model_copy(update={"stop_reason": StopReason.LENGTH})]
    )

    end = await talk.agent.continue_()

    assert end.reason is TerminalReason.COMPLETED
    (told,) = [item for item in end.messages if isinstance(item, ToolResultMessage)]
    assert told.is_error
    assert "output token limit" in talk.heard[-1]


async def test_only_a_batch_of_readers_runs_side_by_side_and_at_most_four_at_once(
    starts: StartAgent,
) -> None:  # C-03, D-18, U-03
    running: list[int] = []
    most: list[int] = []

    async def work() -> str:
        running.append(1)
        most.append(len(running))
        await asyncio.sleep(0)
        running.pop()
        return "ok"

    @tool(execution="parallel")
    async def read() -> str:
        """Read."""
        return await work()

    @tool()
    async def write() -> str:
        """Write."""
        return await work()

    six = tuple(Call("read") for _ in range(6))
    talk = starts(Calls(six), "ok", tools=[read, write])
    await talk.says("go")
    assert max(most) == 4

    most.clear()
    mixed = starts(Calls((*six, Call("write"))), "ok", tools=[read, write])
    await mixed.says("go")
    assert max(most) == 1


async def test_parallel_calls_end_as_they_come_and_answer_in_their_order(
    starts: StartAgent,
) -> None:  # S4-46, C-03, S0-14, U-02
    second_done = asyncio.Event()

    @tool(execution="parallel")
    async def wait_for_other(place: int) -> str:
        """The first one waits for the second."""
        if place == 1:
            await second_done.wait()
        else:
            second_done.set()
        return f"place {place}"

    both: Turn = calls(("wait_for_other", {"place": 1}), ("wait_for_other", {"place": 2}))
    talk = starts(both, "ok", tools=[wait_for_other])

    events = await talk.says("go")

    assert [event.tool_call_id for event in events if isinstance(event, ToolExecutionEnd)] == ["call_2", "call_1"]
    assert results(events) == ["place 1", "place 2"]


async def test_the_run_ends_at_once_only_when_every_result_says_so(starts: StartAgent) -> None:
    @tool()
    async def finish() -> ToolResult:
        """Finish."""
        return ToolResult(content=(TextContent(text="bye"),), terminate=True, origin=CLEAN)

    alone = starts(calls(("finish", {})), tools=[finish, echo])
    assert end_of(await alone.says("go")).reason is TerminalReason.TOOL_TERMINATED

    together = starts(calls(("finish", {}), ("echo", {})), "ok", tools=[finish, echo])
    assert end_of(await together.says("go")).reason is TerminalReason.COMPLETED


async def test_a_tool_that_cancels_itself_is_a_failed_tool(starts: StartAgent) -> None:  # S4-23, S4-49
    @tool()
    async def gives_up() -> str:
        """Raise what only the loop may raise."""
        raise asyncio.CancelledError

    talk = starts(calls(("gives_up", {})), "ok", tools=[gives_up])

    events = await asyncio.wait_for(talk.says("go"), 30)

    assert results(events)[0].startswith("Error: gives_up was interrupted")


async def test_a_tool_that_returns_something_else_than_words_is_a_failed_tool(starts: StartAgent) -> None:  # S4-23
    @tool()
    async def odd() -> str:
        """Return a number where words were promised."""
        return 7  # type: ignore[return-value]

    talk = starts(calls(("odd", {}), ("broken", {})), "ok", tools=[odd, broken])

    events = await talk.says("go")

    assert all(text.startswith("Error: ") for text in results(events))
    assert "\n" not in results(events)[0]


async def test_a_tool_knows_on_whose_behalf_it_runs(starts: StartAgent) -> None:  # S3-06, S4-10
    seen: list[ToolContext] = []

    @tool(label="ask for {what}")
    async def who(what: str, context: ToolContext) -> str:
        """Remember the context."""
        seen.append(context)
        return "ok"

    talk = starts(calls(("who", {"what": "tea"})), "ok", tools=[who])
    events = [event async for event in talk.agent.stream("go", user_id="U1")]

    assert (seen[0].call_id, seen[0].session_id, seen[0].user_id) == ("call_1", "chat", "U1")
    assert seen[0].workspace == talk.agent.environment.workspace
    start = next(event for event in events if isinstance(event, ToolExecutionStart))
    assert start.label == "ask for tea"
    assert "context" not in str(talk.llm.requests[0].tools[0].parameters)
