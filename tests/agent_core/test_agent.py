"""The agent of one conversation: who may run it and when, its listeners, and its settings."""

import asyncio

import pytest

from agent_core.agent import AgentBusy
from agent_core.cancel import CancelToken
from agent_core.events import AgentEnd, AgentEvent, MessageUpdate
from agent_core.loop.event_stream import stream_events
from agent_core.loop.execution import CallScope
from agent_core.loop.queues import MessageQueues
from agent_core.loop.state import QueryState
from agent_core.messages import AssistantMessage, ImageContent, TextContent, UserMessage
from agent_core.models.llm import FailureKind, ModelInfo
from agent_core.models.scripted import Failure, Waits, calls
from agent_core.tools.tool import ToolEnvironment
from tests.agent_core.kit import WORKSPACE, StartAgent, echo, look, record
from tests.messages import user

PICTURE = ImageContent(data="aGk=", mime_type="image/png")


async def test_a_second_prompt_while_running_is_refused_and_the_first_goes_on(
    starts: StartAgent,
) -> None:  # S4-34, C-18
    waits = Waits(asyncio.Event(), "Done.")
    talk = starts(waits)
    running = asyncio.create_task(talk.agent.prompt("first"))
    await waits.reached.wait()

    with pytest.raises(AgentBusy, match="steer"):
        await talk.agent.prompt("second")
    with pytest.raises(AgentBusy):
        await talk.agent.continue_()
    with pytest.raises(AgentBusy):
        talk.agent.reset()

    assert talk.agent.is_running
    waits.event.set()
    end = await running
    assert isinstance(end.messages[-1], AssistantMessage)
    assert end.messages[-1].text == "Done."


async def test_a_prompt_is_text_with_pictures_or_messages(starts: StartAgent) -> None:  # S4-33, S2-09
    talk = starts("a", "b", "c")

    await talk.agent.prompt("look", images=[PICTURE])
    await talk.agent.prompt(user("one"))
    await talk.agent.prompt([user("two"), user("three")])

    said = [message for message in talk.agent.state.messages if isinstance(message, UserMessage)]
    assert said[0].content == (PICTURE, TextContent(text="look"))
    assert len(said) == 4


async def test_the_answer_can_be_read_while_it_streams(starts: StartAgent) -> None:  # S4-19, S4-36, C-17
    talk = starts("Hello World.")
    seen: list[str] = []

    def read(event: AgentEvent) -> None:
        if isinstance(event, MessageUpdate) and talk.agent.streaming_message:
            seen.append(talk.agent.streaming_message.text)
            assert [message.role for message in talk.agent.state.messages] == ["user"]

    talk.agent.subscribe(read)

    await talk.says("hi")

    assert seen[-1] == "Hello World."
    assert all(seen[-1].startswith(each) for each in seen)
    assert talk.agent.streaming_message is None


async def test_listeners_hear_every_event_in_order_and_before_the_caller(starts: StartAgent) -> None:  # S4-37, C-33
    talk = starts("Hello.")
    heard: list[str] = []

    async def slow(event: AgentEvent) -> None:
        await asyncio.sleep(0)
        heard.append(f"slow {event.seq}")

    talk.agent.subscribe(slow)
    stop = talk.agent.subscribe(lambda event: heard.append(f"fast {event.seq}"))
    assert heard == []

    async for event in talk.agent.stream("hi"):
        assert heard[-2:] == [f"slow {event.seq}", f"fast {event.seq}"]

    stop()
    stop()
    await talk.agent.prompt([])
    assert heard[-1].startswith("slow")


async def test_a_listener_that_fails_stops_neither_the_run_nor_the_others(starts: StartAgent) -> None:  # C-33
    talk = starts("Hello.")
    heard: list[int] = []

    def fail(_: AgentEvent) -> None:
        raise ValueError("not me")

    talk.agent.subscribe(fail)
    talk.agent.subscribe(lambda event: heard.append(event.seq))

    events = await talk.says("hi")

    assert heard == [event.seq for event in events]


async def test_it_is_idle_once_the_listeners_have_heard_the_end(starts: StartAgent) -> None:  # S4-39
    talk = starts("Hello.")
    may_end, heard = asyncio.Event(), asyncio.Event()

    async def slow(event: AgentEvent) -> None:
        if isinstance(event, AgentEnd):
            heard.set()
            await may_end.wait()

    talk.agent.subscribe(slow)
    await asyncio.wait_for(talk.agent.wait_for_idle(), 30)
    running = asyncio.create_task(talk.agent.prompt("hi"))
    await heard.wait()
    idle = asyncio.create_task(talk.agent.wait_for_idle())
    await asyncio.sleep(0)
    assert not idle.done()

    may_end.set()
    await asyncio.wait_for(idle, 30)
    await running


async def test_a_reset_forgets_history_queues_and_error_but_keeps_what_was_set(
    starts: StartAgent,
) -> None:  # S4-40, C-20
    talk = starts()
    talk.agent.set_system_prompt("Be brief.")
    await talk.says("no script")
    talk.agent.steer("a")
    talk.agent.follow_up("b")
    assert talk.agent.error

    talk.agent.reset()

    assert talk.agent.state.messages == []
    assert not talk.agent.has_queued_messages
    assert talk.agent.error is None
    assert talk.agent.context.system_prompt == "Be brief."


async def test_changes_hold_from_the_next_run_and_emit_nothing(starts: StartAgent) -> None:  # S4-41, S4-37, D-09
    talk = starts("a", "b", tools=[echo])
    heard: list[AgentEvent] = []
    talk.agent.subscribe(heard.append)

    talk.agent.set_system_prompt("Be brief.")
    talk.agent.set_model(ModelInfo(id="other"))
    talk.agent.set_thinking_level("high")
    talk.agent.set_tools([look])

    assert heard == []
    await talk.says("hi")
    assert talk.llm.requests[0].system == "Be brief."
    assert [spec.name for spec in talk.llm.requests[0].tools] == ["look"]
    assert talk.llm.options[0].thinking == "high"
    last = talk.agent.state.messages[-1]
    assert isinstance(last, AssistantMessage)
    assert last.model == "other"

    talk.agent.set_system_prompt(None)
    await talk.says("hi")
    assert "# Safety" in talk.llm.requests[1].system


async def test_replacing_the_history_copies_it(starts: StartAgent) -> None:  # S4-41, S4-09
    talk = starts("ok")
    mine = [user("one")]

    talk.agent.replace_messages(mine)
    talk.agent.append_message(user("two"))
    talk.agent.state.messages.clear()

    assert len(mine) == 1
    assert len(talk.agent.state.messages) == 2
    talk.agent.clear_messages()
    assert talk.agent.state.messages == []


async def test_it_starts_with_the_defaults_of_the_seeds(starts: StartAgent) -> None:  # S4-26, S4-29, S2-06
    talk = starts()

    assert (talk.agent.is_running, talk.agent.streaming_message, talk.agent.error) == (False, None, None)
    assert talk.agent.pending_tool_calls == ()
    options = talk.agent.loop.models.options
    assert (options.temperature, options.max_tokens, options.thinking) == (0.7, 4096, "off")


async def test_the_queues_it_is_given_are_the_ones_it_uses(starts: StartAgent) -> None:  # S4-31
    queues = MessageQueues(steering_mode="all")

    talk = starts(queues=queues)

    assert talk.agent.queues is queues


def test_what_was_said_earlier_steers_first_if_it_arrives_late() -> None:
    queues = MessageQueues(steering_mode="all")

    first, last, late, later = (user("hi").model_copy(update={"created_at": at}) for at in (10.0, 12.0, 11.0, 11.0))
    for message in (first, last, late, later):
        queues.steer(message)

    assert [message.id for message in queues.drain_steering()] == [first.id, late.id, later.id, last.id]


async def test_text_is_streamed_piece_by_piece_without_the_talk_of_tools(
    starts: StartAgent,
) -> None:  # S2-02, S0-35, S2-07
    talk = starts(calls(("echo", {}), text="One moment."), "There it is.", tools=[echo])

    pieces = [piece async for piece in talk.agent.stream_text("go")]

    assert "".join(pieces) == "One moment.\n\nThere it is."
    assert any(each.startswith("\n\nThere") for each in pieces)  # what comes in one packet is one piece


async def test_collected_text_of_a_failed_run_ends_with_the_error(starts: StartAgent) -> None:  # S2-07, S2-33
    talk = starts(Failure(FailureKind.AUTH))

    text = await talk.agent.run_direct("hi")

    assert talk.agent.error
    assert text.endswith(talk.agent.error)


async def test_any_number_of_agents_run_at_once_over_their_own_conversations(
    starts: StartAgent,
) -> None:  # S4-01, S3-06
    talks = [starts(calls(("echo", {"text": str(number)})), str(number), tools=[echo]) for number in range(50)]

    texts = await asyncio.gather(*(talk.agent.run_direct(f"say {number}") for number, talk in enumerate(talks)))

    assert texts == [str(number) for number in range(50)]


async def test_the_loop_runs_alone_without_an_agent(starts: StartAgent) -> None:  # S4-01, S4-09, S3-06
    loop = starts("Hello.").agent.loop
    state = QueryState(run_id="run-7", session_id="chat")
    scope = CallScope(ToolEnvironment("chat", WORKSPACE), MessageQueues(), CancelToken())

    events = await record(stream_events(lambda emit: loop.run(loop.begin(state, scope, emit), [user("hi")])))

    assert {event.run_id for event in events} == {"run-7"}
    assert [message.role for message in state.messages] == ["user", "assistant"]
