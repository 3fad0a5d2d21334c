"""Sessions that are released free their memory and lose no data."""

import gc
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.messages import AgentMessage, text_of
from channels.base import ChatKey
from gateway.chat.held_history import HeldHistory, weight_of
from gateway.chat.session import ChatSession
from gateway.chat.sessions import A_FEW, MOST_HELD, MOST_IDLE, Sessions
from tests.gateway.conftest import StartBot
from tests.messages import user
from tests.process import until


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Disables the garbage collector, so that objects in a reference cycle stay."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


async def test_a_chat_that_is_let_go_is_gone_without_the_collector(start_bot: StartBot, no_collector: None) -> None:
    bot = await start_bot(*["yes"] * (MOST_IDLE + 2))
    await bot.hears("first", sender="carl")
    chats = bot.made.chats.sessions
    session = chats.of(bot.channel.chat("carl"))
    agent = await session.conversation.agent()
    held = [weakref.ref(each) for each in (session, session.conversation, agent, agent.loop)]
    del session, agent

    for number in range(MOST_IDLE):
        chats.of(bot.channel.chat("ann", thread=str(number)))
    await until(lambda: not any(each() for each in held))


async def test_chats_with_a_heavy_history_are_let_go_and_go_on_where_they_were(start_bot: StartBot) -> None:
    bot = await start_bot("one", "two")
    await bot.hears("first", sender="carl")
    chats = bot.made.chats.sessions
    carl = bot.channel.chat("carl")
    session = weakref.ref(chats.of(carl))
    agent = await chats.of(carl).conversation.agent()
    agent.append_message(user("x" * MOST_HELD))
    del agent

    for number in range(A_FEW - 1):
        chats.of(bot.channel.chat("ann", thread=str(number)))
    assert session() is not None  # the newest stay, whatever their size
    chats.of(bot.channel.chat("ann", thread="one more"))
    await until(lambda: session() is None)

    await bot.hears("second", sender="carl")
    said = [text_of(message.content) for message in bot.llm.requests[-1].messages]
    assert [any(word in text for text in said) for word in ("first", "one", "second")] == [True, True, True]


@given(st.lists(st.integers(0, 500), max_size=20), st.integers(0, 20), st.integers(0, 20))
def test_what_is_weighed_as_it_grows_weighs_as_much_as_all_at_once(lengths: list[int], at: int, gone: int) -> None:
    messages: list[AgentMessage] = [user("x" * length) for length in lengths]
    held = HeldHistory()
    held.weigh(messages[:at])
    messages = messages[gone:]

    assert held.weigh(messages) == sum(map(weight_of, messages))
    assert held.weigh([]) == 0


@dataclass(eq=False)
class Weighed:
    """Stands for a session and its conversation."""

    weight: int = 0
    is_idle: bool = True

    @property
    def conversation(self) -> "Weighed":
        return self

    def read_again(self) -> None:
        self.weight = 0


CHATS = [ChatKey(platform="telegram", account="1", chat=str(number)) for number in range(A_FEW + 5)]
Use = tuple[Literal["grows", "is busy", "is compacted", "is dropped", "is read again", "is used"], int]
uses = st.tuples(
    st.sampled_from(["grows", "is busy", "is compacted", "is dropped", "is read again", "is used"]),
    st.integers(0, len(CHATS) - 1),
)


def happens(sessions: Sessions, use: Use) -> None:
    """Let a chat be used, which changes its history."""
    what, number = use
    if what == "is dropped":
        sessions.drop(CHATS[number])
    elif what == "is read again":
        sessions.forget_agents(CHATS[number])
    else:
        session = cast(Weighed, sessions.of(CHATS[number]))
        session.is_idle = what != "is busy"
        session.weight = {"grows": session.weight + MOST_HELD // 10, "is compacted": 1}.get(what, session.weight)


@given(st.lists(uses, max_size=200))
def test_the_weight_of_all_chats_is_the_sum_of_their_weights(used: list[Use]) -> None:
    made: dict[ChatKey, Weighed] = {}
    sessions = Sessions(lambda chat: cast(ChatSession, made.setdefault(chat, Weighed())))
    for chat in CHATS:
        sessions.of(chat)
    for use in used:
        happens(sessions, use)
    for _ in range(len(CHATS)):
        sessions.of(CHATS[0])  # a quiet while

    if len(sessions.loaded) > A_FEW:
        assert sessions.weight == sum(session.weight for session in cast(list[Weighed], sessions.loaded))
    assert (
        len(sessions.loaded) <= A_FEW
        or sessions.weight <= MOST_HELD
        or not all(session.is_idle for session in sessions.loaded)
    )
