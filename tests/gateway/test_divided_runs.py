"""A run that waits for a budget is divided: words of others neither wait with it nor get into the run of a third."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.clock import SystemClock, new_id
from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    StopReason,
    TextContent,
    ToolCall,
    ToolResultMessage,
    user,
)
from agent_core.origin import CLEAN, named
from channels.base import ChatKey, MessageReceived, Sender
from gateway.store.rows import Run
from gateway.store.store import Store
from tests.gateway.memory_store import MemoryDatabase

TEAM = ChatKey.parse("memory:here:#team")
WORKS, READS_A_PAGE = "works", "reads a page"
OTHERS = ("ann", "carl")


class Told:
    """What happened in a run of Bob's, as a transcript."""

    def __init__(self, store: Store, what: Sequence[str]) -> None:
        self._store = store
        self._what = what
        self.run = Run(new_id(), TEAM, "session", "bob", 1.0)
        self.words: dict[str, str] = {}
        """The speaker of each message of a person, by its id."""
        self.misled: set[str] = set()
        """Ids of answers that a page may have led."""

    async def tell(self) -> None:
        await self._store.runs.begin(self.run)
        has_read = False
        for number, each in enumerate(("bob", *self._what)):
            if each in (WORKS, READS_A_PAGE):
                for message in _work(number, page=each == READS_A_PAGE):
                    if has_read and isinstance(message, AssistantMessage):
                        self.misled.add(message.id)
                    await self._store.transcript.append(self.run, number, message)
                has_read |= each == READS_A_PAGE
                continue
            event = MessageReceived(
                event_id=f"e{number}",
                chat=TEAM,
                sender=Sender(id=each, name=each),
                at=float(number),
                message_id=f"m{number}",
                text=f"{each} {number}",
            )
            seq = await self._store.inbox.accept(event)
            message = user(f"{each} {number}", origin=CLEAN).model_copy(update={"id": f"inbox-{seq}"})
            self.words[message.id] = each
            await self._store.transcript.append(self.run, number, message, [seq or 0])


def _work(number: int, *, page: bool) -> tuple[AgentMessage, AgentMessage]:
    call = ToolCall(id=f"call{number}", name="look", arguments={})
    answer = AssistantMessage(id=f"a{number}", content=(call,), stop_reason=StopReason.TOOL_USE, origin=CLEAN)
    seen = TextContent(text="seen")
    origin = named("page.example") if page else CLEAN
    return answer, ToolResultMessage(tool_call_id=call.id, tool_name="look", content=(seen,), origin=origin)


async def _is_divided(store: Store, what: Sequence[str]) -> None:
    told = Told(store, what)
    await told.tell()

    left = await store.runs.pause(told.run, new_id)

    waiting = {f"inbox-{item.seq}" for item in await store.inbox.waiting()}
    assert waiting == {f"inbox-{seq}" for seq in left.items}
    said = {run: await store.transcript.said_in(run) for run in (told.run, *left.runs)}
    for run, messages in said.items():
        words = {each.id for each in messages if each.role == "user"}
        assert words
        assert words.isdisjoint(waiting)
        assert {told.words[each] for each in words} == {run.person}
        calls = [call.id for each in messages if isinstance(each, AssistantMessage) for call in each.tool_calls]
        assert calls == [each.tool_call_id for each in messages if isinstance(each, ToolResultMessage)]
    everything = [each.id for messages in said.values() for each in messages]
    assert len(everything) == len(set(everything))
    assert told.words.keys() <= {*everything, *waiting}
    if left.runs:
        answers = {each.id: each for messages in said.values() for each in messages if each.role == "assistant"}
        assert all(answers[each].origin.is_tainted for each in told.misled)
    for run in reversed(said):
        assert await store.runs.take_up(run)
    history = [each.id for each in await store.transcript.history(told.run.session)]
    assert sorted(history) == sorted(everything)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(("bob", *OTHERS, WORKS, READS_A_PAGE)), max_size=12))
def test_whatever_was_said_and_done_in_it(what: list[str]) -> None:
    async def check() -> None:
        memory = MemoryDatabase()
        try:
            await _is_divided(memory.store(SystemClock(), new_id), what)
        finally:
            memory.close()

    asyncio.run(check())


async def test_on_both_databases(tmp_path: Path, database: str | None) -> None:
    async with Store.open(tmp_path, SystemClock(), new_id, url=database) as store:
        await _is_divided(store, ("ann", READS_A_PAGE, "bob", "carl", WORKS, "carl", "ann"))


async def test_what_followed_words_of_several_goes_on_once_and_the_others_are_asked_anew(tmp_path: Path) -> None:
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        told = Told(store, ("ann", "carl", WORKS))
        await told.tell()

        left = await store.runs.pause(told.run, new_id)

        (run,) = left.runs
        assert (run.person, run.reply_to) == ("ann", "m1")
        assert [each.role for each in await store.transcript.said_in(run)] == ["user", "assistant", "tool_result"]
        assert [item.event.sender.id for item in await store.inbox.waiting()] == ["carl"]
