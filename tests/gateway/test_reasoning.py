"""The reasoning shown for a run: all its turns, only the newest part if it is long, without secrets."""

from agent_core.events import AgentEvent, MessageEnd, MessageStart, MessageUpdate
from agent_core.messages import AssistantMessage, StopReason, TextContent, ThinkingContent
from agent_core.models.llm import TextDelta, ThinkingDelta
from agent_core.origin import CLEAN
from gateway.delivery.reasoning import MOST, Reasoning, reasoning_of
from gateway.security.secrets import Secrets

KEY = "correct-horse%battery"


def message(*thoughts: str) -> AssistantMessage:
    parts = [ThinkingContent(thinking=thought) for thought in thoughts]
    return AssistantMessage(content=(*parts, TextContent(text="Oslo.")), stop_reason=StopReason.STOP, origin=CLEAN)


def begins() -> AgentEvent:
    return MessageStart(message=message())


def ends(*thoughts: str) -> AgentEvent:
    return MessageEnd(message=message(*thoughts))


def thinks(piece: str) -> AgentEvent:
    return MessageUpdate(message_id="1", delta=ThinkingDelta(index=0, delta=piece))


def says(piece: str) -> AgentEvent:
    return MessageUpdate(message_id="1", delta=TextDelta(index=1, delta=piece))


def after(*events: AgentEvent, secrets: tuple[str, ...] = ()) -> Reasoning:
    reasoning = Reasoning(Secrets(secrets))
    for event in events:
        reasoning.apply(event)
    return reasoning


def test_pieces_are_joined_and_the_answer_is_no_part_of_them() -> None:
    assert after(begins(), thinks("Oslo is "), thinks("north."), says("Oslo.")).text == "Oslo is north."


def test_it_has_not_begun_before_the_model_reasons() -> None:
    assert not after(begins(), says("Oslo.")).has_begun
    assert after(begins(), thinks("Hm")).has_begun


def test_each_turn_adds_a_paragraph_and_one_that_broke_off_is_replaced() -> None:
    reasoning = after(begins(), thinks("One."), ends("One."), begins(), thinks("Two"), begins(), thinks("Two anew."))

    assert reasoning.text == "One.\n\nTwo anew."


def test_it_reads_the_same_while_it_comes_and_when_it_is_there() -> None:
    assert after(begins(), ends("One.", " Two. "), begins(), ends("Three.")).text == "One.\n\nTwo.\n\nThree."
    assert reasoning_of([message("One.", " Two. "), message("Three.")], Secrets(())) == "One.\n\nTwo.\n\nThree."


def test_a_secret_is_masked_though_it_comes_in_pieces_or_is_cut_where_the_newest_begins() -> None:
    live = after(begins(), thinks("It is correct-ho"), secrets=(KEY,))
    assert live.text == "It is [secret]"

    long = f"{KEY} {'x' * (MOST - 4)}"
    assert reasoning_of([message(long)], Secrets([KEY])).startswith("…t] xxx")
    assert len(reasoning_of([message(long)], Secrets([KEY]))) == MOST
