"""An agent works with each dialect, through the client that people get, and is never refused."""

import asyncio
from collections import deque
from dataclasses import replace
from itertools import dropwhile

import pytest

from agent_core.loop.model_chain import Candidate, ModelChain
from agent_core.loop.state import state_adapter
from agent_core.tools.tool import tool
from gateway.connect.model_trial import chosen, tried
from tests.agent_core.context.compacting import SENTENCE, SUMMARY
from tests.agent_core.kit import echo
from tests.agent_core.models.at_provider import PICTURE, at, last
from tests.agent_core.models.clients import KEY, OPTIONS
from tests.emulators.dialects.dialect import Dialect
from tests.emulators.dialects.openai import OPENAI
from tests.emulators.dialects.table import DIALECTS
from tests.emulators.model_script import Answer, Break, Failure, Held, ModelRequest, ToolUse, Turn, Usage, says

# litellm silences this warning on import; pytest undoes that.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning"),
    pytest.mark.parametrize("dialect", DIALECTS, ids=lambda each: each.name),
]


@tool()
async def write(text: str) -> str:
    """Write a page."""
    return f"{len(text)} characters written"


def asks(*texts: str) -> Turn:
    """Return a thought and calls of `echo`."""
    return Turn(tools=tuple(ToolUse("echo", {"text": text}) for text in texts), thinking=f"I need {texts}.")


CHARACTERS = 4
"""In a token."""


class WithSummaries:
    """A model that gives answers in order, and a summary to each request for one; its usage is that of the request."""

    def __init__(self, *answers: Turn) -> None:
        self.summaries = 0
        self._answers = deque(answers)

    def __call__(self, asked: ModelRequest) -> Answer:
        if "You shorten a conversation" not in f"{asked.system}{asked.messages[0]['content']}":
            return replace(self._answers.popleft(), usage=Usage(asked.size // CHARACTERS))
        self.summaries += 1
        return says(SUMMARY, thinking="I leave out what is done.")


async def test_an_answer_comes(dialect: Dialect) -> None:
    async with at(dialect, says("Noon.", thinking="Look at the clock.")) as place:
        agent = place.agent()
        await agent.prompt("What time is it?")
        assert last(agent) == "Noon."


async def test_the_test_call_of_the_guide_is_answered(dialect: Dialect) -> None:
    async with dialect.server([says("Hello.", thinking="They greet.")], api_key=KEY) as server:
        given = {"PARLEY_MODEL": dialect.setting, **dialect.environ(server.base_url, KEY)}
        trial = await tried(await chosen(given, {}))
        assert (trial.failure, trial.answer) == (None, "Hello.")
        assert server.violations == []


async def test_two_tools_one_after_the_other_then_an_answer_and_another_question(dialect: Dialect) -> None:
    async with at(dialect, asks("one"), asks("two"), says("Done."), says("Gladly.")) as place:
        agent = place.agent()
        await agent.prompt("Say one, then two.")
        assert last(agent) == "Done."
        await agent.prompt("Thank you.")
        assert last(agent) == "Gladly."
        assert place.server.unused == 0


async def test_parallel_calls_are_all_answered(dialect: Dialect) -> None:
    async with at(dialect, asks("one", "two", "three"), says("Done.")) as place:
        agent = place.agent()
        await agent.prompt("Say all three.")
        assert last(agent) == "Done."
        assert place.server.results(place.server.requests[-1]) == ["echo one", "echo two", "echo three"]


async def test_a_call_without_a_thought_is_answered(dialect: Dialect) -> None:
    without = Turn(tools=(ToolUse("echo", {"text": "two"}),))
    async with at(dialect, asks("one"), without, says("Done.")) as place:
        agent = place.agent()
        await agent.prompt("Say one, then two.")
        assert last(agent) == "Done."


async def test_a_picture_is_seen(dialect: Dialect) -> None:
    async with at(dialect, says("A dot.")) as place:
        agent = place.agent()
        await agent.prompt("What is this?", images=[PICTURE])
        assert last(agent) == "A dot."
        assert place.server.pictures(place.server.requests[-1]) == 1


async def test_a_picture_from_a_tool_is_seen(dialect: Dialect) -> None:
    both = Turn(tools=(ToolUse("photo", {"of": "one"}), ToolUse("photo", {"of": "two"})), thinking="I look.")
    async with at(dialect, both, says("Two dots."), says("Gladly.")) as place:
        agent = place.agent()
        await agent.prompt("Take photos.")
        assert last(agent) == "Two dots."
        assert place.server.pictures(place.server.requests[-1]) == 2
        await agent.prompt("Thank you.")
        assert last(agent) == "Gladly."


async def test_a_stop_before_the_first_word_after_a_tool_leaves_a_conversation_that_goes_on(dialect: Dialect) -> None:
    held = Held()
    async with at(dialect, asks("one"), says("Too late.", hold=held), says("Gladly.")) as place:
        agent = place.agent()
        running = asyncio.create_task(agent.prompt("Say one."))
        await held.reached.wait()
        agent.abort()
        await running
        await agent.prompt("Something else?")
        assert last(agent) == "Gladly."


async def test_a_stop_in_mid_stream_ends_the_request_and_the_next_question_is_answered(dialect: Dialect) -> None:
    slow = Turn("Word after word after word.", per_chunk=0.2, chunk=1)
    async with at(dialect, asks("one"), slow, says("Gladly.")) as place:
        agent = place.agent()
        begun = asyncio.Event()
        agent.subscribe(lambda _: begun.set() if agent.streaming_message and agent.streaming_message.text else None)
        running = asyncio.create_task(agent.prompt("Say one."))
        await begun.wait()
        agent.abort()
        await running
        await agent.prompt("Something else?")
        assert last(agent) == "Gladly."
        await place.server.wait_for(lambda: place.server.requests[-2].abandoned)


@pytest.mark.parametrize("pieces", [0, 2])
async def test_a_cut_stream_is_asked_again(dialect: Dialect, pieces: int) -> None:
    cut = says("Half an answer that ends before anybody knows how", breaks=Break("cut", pieces))
    async with at(dialect, asks("one"), cut, says("Whole.")) as place:
        agent = place.agent()
        await agent.prompt("Say one.")
        assert last(agent) == "Whole."


async def test_an_error_in_mid_stream_is_asked_again(dialect: Dialect) -> None:
    overloaded = says("Half an answer that ends before anybody knows how", breaks=Break("error", 2))
    async with at(dialect, asks("one"), overloaded, says("Whole.")) as place:
        agent = place.agent()
        await agent.prompt("Say one.")
        assert last(agent) == "Whole."


async def test_every_way_in_which_an_answer_ends_is_understood(dialect: Dialect) -> None:
    for reason, ending in dialect.endings.items():
        begun = Turn("One, two.", tools=asks("one").tools if ending == "calls" else (), finish=reason)
        rest = [] if ending in ("whole", "refused") else [says("Three.")]
        async with at(dialect, begun, *rest) as place:
            agent = place.agent()
            await agent.prompt("Count.")
            assert last(agent) == ("Three." if rest else "One, two."), reason
            assert place.server.unused == 0, reason
            assert ("does not allow this content" in (agent.error or "")) is (ending == "refused"), reason


async def test_a_conversation_read_from_the_disk_goes_on(dialect: Dialect) -> None:
    async with at(dialect, asks("one"), says("Done."), asks("two"), says("Done too.")) as place:
        agent = place.agent()
        await agent.prompt("Say one.")
        stored = state_adapter.dump_json(agent.state)
        other = place.agent()
        other.replace_messages(state_adapter.validate_json(stored).messages)
        await other.prompt("Say two.")
        assert last(other) == "Done too."


async def test_a_conversation_goes_on_with_other_tools(dialect: Dialect) -> None:
    async with at(dialect, asks("one"), says("Done."), asks("two"), says("Done too."), says("Gladly.")) as place:
        agent = place.agent()
        await agent.prompt("Say one.")
        other = place.agent(tools=[echo])
        other.replace_messages(agent.messages)
        await other.prompt("Say two.")
        await other.prompt("Thank you.")
        assert last(other) == "Gladly."


async def test_thinking_is_turned_off_and_on_between_two_tools(dialect: Dialect) -> None:
    unwell = Failure("auth")
    async with at(dialect, asks("one"), unwell, asks("two"), says("Done."), asks("three"), says("Gladly.")) as place:
        agent = place.agent()
        await agent.prompt("Say one, then two.")
        quick = place.agent(options=OPTIONS)
        quick.replace_messages([*dropwhile(lambda said: said.role == "assistant", reversed(agent.messages))][::-1])
        await quick.continue_()
        assert last(quick) == "Done."
        again = place.agent()
        again.replace_messages(quick.messages)
        await again.prompt("Say three.")
        assert last(again) == "Gladly."


async def test_a_fallback_takes_over_in_mid_run_and_the_first_goes_on_later(dialect: Dialect) -> None:
    unwell = Failure("auth")
    async with (
        at(OPENAI, asks("two"), says("Done.")) as other,
        at(dialect, asks("one"), unwell, says("Back.")) as place,
    ):
        chain = ModelChain([Candidate(other.model.model_copy(update={"id": "openai/gpt-4.1-mini"}), other.client)])
        agent = place.agent(chain)
        await agent.prompt("Say one, then two.")
        assert last(agent) == "Done."
        again = place.agent()
        again.replace_messages(agent.messages)
        await again.prompt("Are you back?")
        assert last(again) == "Back."


async def test_a_conversation_goes_on_after_a_summary_of_its_beginning(dialect: Dialect) -> None:
    model = WithSummaries(asks("one"), says("Done."), asks("two"), says("Done too."), asks("three"), says("Gladly."))
    async with at(dialect, script=model) as place:
        agent = place.with_window(8_192).agent()
        await agent.prompt(f"Say one. {SENTENCE * 300}")
        await agent.prompt("Say two.")
        await agent.compact()
        await agent.prompt("Say three.")
        assert last(agent) == "Gladly."
        assert model.summaries == 1


async def test_a_run_whose_first_calls_are_summarised_goes_on_with_the_last_ones_as_they_came(dialect: Dialect) -> None:
    pages = [
        Turn(tools=(ToolUse("write", {"text": f"{each}. {SENTENCE * 60}"}),), thinking=f"Page {each}.", chunk=400)
        for each in range(12)
    ]
    model = WithSummaries(*pages, says("All written."), says("Gladly."))
    async with at(dialect, script=model) as place:
        agent = place.with_window(8_192).agent(tools=[write])
        await agent.prompt("Write all pages.")
        assert last(agent) == "All written."
        assert model.summaries > 0
        assert 0 < len(place.server.results(place.server.requests[-1])) < len(pages)
        await agent.prompt("Thank you.")
        assert last(agent) == "Gladly."
