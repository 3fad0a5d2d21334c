"""Tests for compaction: when it is due, how much it shortens, and what happens when no model can summarise."""

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest

from agent_core.context.compaction.plan import COMPACT_AT
from agent_core.events import CompactionEnd, CompactionStart
from agent_core.loop.state import effective
from agent_core.messages import (
    AgentMessage,
    ImageContent,
    StopReason,
    SummaryMessage,
    ToolResultMessage,
    UserMessage,
    text_of,
)
from agent_core.models.llm import FailureKind, ModelInfo
from agent_core.models.scripted import Failure, Waits, calls
from agent_core.models.tokens import estimate, message_tokens
from agent_core.origin import CLEAN
from agent_core.skills.chat_skills import ChatSkills
from agent_core.tools.tool import tool
from tests.agent_core.context.compacting import (
    SENTENCE,
    SUMMARY,
    Talker,
    asks_for_summary,
    page,
    reported,
    start_chat,
    state_of,
    turns,
    words,
)
from tests.agent_core.context.conftest import StartChat
from tests.agent_core.kit import end_of, kinds
from tests.agent_core.over_a_wire import MakeWireModel
from tests.agent_core.skills.making import library_of, write_skill
from tests.emulators.model_script import Usage
from tests.messages import user

# When compaction is due


@pytest.mark.parametrize(("tokens", "is_due"), [(25_000, False), (26_300, True), (40_000, True)])
def test_it_is_due_above_four_fifths_of_the_window(tokens: int, is_due: bool) -> None:  # noqa: FBT001 - a table
    # S0-26, C-08
    chat = start_chat(window=32_768)

    assert COMPACT_AT == 0.8
    assert chat.is_due(state_of([*turns(30), reported(tokens)])) is is_due


def test_it_is_due_where_no_room_for_an_answer_is_left() -> None:  # C-08
    chat = start_chat(window=16_384)

    assert chat.is_due(state_of([*turns(20), reported(12_400)]))
    assert not chat.is_due(state_of([*turns(20), reported(12_200)]))


def test_a_small_window_leaves_a_quarter_for_the_answer() -> None:  # C-08
    assert ModelInfo(id="m", context_window=8_192).answer_tokens(4_096) == 2_048
    assert ModelInfo(id="m", context_window=200_000).answer_tokens(4_096) == 4_096


def test_what_an_answer_before_the_boundary_reported_does_not_count() -> None:  # U-12
    chat = start_chat()
    said = [*turns(30), user("q"), reported(100_000)]
    boundary = SummaryMessage(summary="s", first_kept_id=said[50].id, tokens_before=1, origin=CLEAN)
    compacted = effective([*said, boundary])

    assert chat.is_due(state_of(said))
    assert not chat.is_due(state_of(compacted))
    assert chat.is_due(state_of([*compacted, reported(100_000)]))


def test_what_a_failed_answer_reported_does_not_count() -> None:  # U-12
    chat = start_chat()
    failed = reported(100_000).model_copy(update={"stop_reason": StopReason.ERROR})

    assert chat.agent.context.tokens(state_of([user("q"), reported(700), failed, user("r")])) < 1_000


async def test_what_the_server_counted_makes_it_due_and_not_again_afterwards(
    model_of: MakeWireModel,
) -> None:  # S0-26, U-12, D-12
    llm = model_of()
    llm.usage = Usage(input=27_000)
    chat = start_chat(over=llm, window=32_768)
    chat.agent.replace_messages(turns(50))

    await chat.says("one")
    assert not chat.talker.summarised
    llm.usage = Usage(input=500)
    await chat.says("two")
    await chat.says("three")

    assert len(chat.talker.summarised) == 1


# Steps of a compaction


async def test_old_results_are_shortened_first_and_that_may_be_enough(
    starts_chat: StartChat,
) -> None:  # S0-27, C-24, S3-28
    chat = starts_chat(None, *[calls(("page", {"text": str(number)})) for number in range(6)], "read", tools=[page])

    await chat.says("Read the pages.")
    await chat.says("And now?" + " really" * 900)

    assert not chat.talker.summarised
    assert chat.boundary.summary == ""
    assert not chat.boundary.origin.is_data
    results = [message for message in chat.history if isinstance(message, ToolResultMessage)]
    assert [len(text_of(message.content)) < 500 for message in results] == [True] * 6
    assert all(message.origin.is_data for message in results)


async def test_old_turns_become_a_summary_and_the_last_stay_word_for_word(
    starts_chat: StartChat,
) -> None:  # S0-27, S0-29, C-09, S3-14
    chat = starts_chat()
    history = turns(20)
    chat.agent.replace_messages(history)

    events = await chat.says("And what now?")

    assert kinds(events)[:6] == [
        "agent_start",
        "turn_start start",
        "+user",
        "-user",
        "compaction_start",
        "+summary",
    ]
    assert chat.boundary.summary == SUMMARY
    kept = chat.history[1:-2]
    assert kept == history[-len(kept) :]
    assert 2 <= len(kept) < 12
    asked = chat.llm.requests[-1]
    assert words(asked).startswith("<summary>\n## Goal")
    assert words(asked).endswith("And what now?")


async def test_afterwards_it_fills_at_most_half_of_the_window(starts_chat: StartChat) -> None:  # D-07
    chat = starts_chat()

    state, end = await chat.compact([*turns(20), user("now")])

    assert end.tokens_before > 0.5 * 8_192
    assert end.tokens_after <= 0.5 * 8_192
    assert chat.agent.context.tokens(state) <= 0.5 * 8_192
    assert not chat.is_due(state)


async def test_the_summary_costs_are_told_and_counted(starts_chat: StartChat) -> None:  # S3-19
    chat = starts_chat()
    chat.agent.replace_messages(turns(20))

    events = await chat.says("now")

    [end] = [event for event in events if isinstance(event, CompactionEnd)]
    assert end.usage.total > 0
    assert chat.agent.state.usage.total > end.usage.total


async def test_each_compaction_goes_on_from_the_last_and_updates_its_summary(
    starts_chat: StartChat,
) -> None:  # U-13, S2-18
    chat = starts_chat()
    state, _ = await chat.compact([*turns(20), user("one")])
    more = [*state.messages, *turns(20), user("two")]

    state, _ = await chat.compact(more)

    first, second = chat.talker.summarised
    assert "<earlier> holds" not in first.system
    assert "<earlier> holds the summary so far" in second.system
    assert f"<earlier>\n{SUMMARY}\n</earlier>" in words(second)
    assert [message.role for message in state.messages].count("summary") == 1


async def test_eight_thousand_tokens_are_enough_to_talk_for_ever() -> None:  # C-08
    chat = start_chat(Talker(answer="Well, " + SENTENCE * 10), window=8_192)

    for number in range(60):
        end = end_of(await chat.says(f"Question {number}: {SENTENCE * 8}"))
        assert end.failure is None

    assert chat.agent.context.tokens(chat.agent.state) <= 0.8 * 8_192
    assert 1 <= len(chat.talker.summarised) <= 12


@pytest.mark.parametrize("window", [4_096, 8_192, 32_000])
async def test_a_run_of_long_results_stays_within_the_window(window: int) -> None:  # C-08, C-24, S3-14
    @tool()
    async def read() -> str:
        """Read much."""
        return "data " * 9_000

    chat = start_chat(None, *[calls(("read", {}))] * 12, window=window, tools=[read])

    end = end_of(await chat.says("Read all the pages."))

    assert end.failure is None
    sizes = [estimate(asked.system) + sum(map(message_tokens, asked.messages)) for asked in chat.llm.requests]
    assert max(sizes) < window


async def test_one_huge_message_is_asked_about_once_and_the_next_works(starts_chat: StartChat) -> None:  # C-08, C-09
    chat = starts_chat(window=8_192)

    events = await chat.says("word " * 9_000)

    assert len([event for event in events if isinstance(event, CompactionStart)]) <= 1
    assert end_of(events).failure is None  # this model accepts the long message
    assert len(chat.talker.summarised) <= 1
    await chat.says("And in short?")
    assert len(chat.talker.summarised) <= 2
    assert chat.agent.context.tokens(chat.agent.state) < 4_096


async def test_what_cannot_be_made_shorter_is_not_tried_at_every_turn() -> None:  # C-08
    chat = start_chat(window=8_192)
    chat.agent.set_system_prompt("rule " * 6_000)

    for number in range(10):
        await chat.says(f"Question {number}: {SENTENCE * 4}")

    assert len(chat.talker.summarised) <= 4


async def test_pictures_count_and_old_ones_go() -> None:  # S2-15, C-22
    picture = ImageContent(data="aGk=", mime_type="image/png")
    chat = start_chat()
    many: list[AgentMessage] = []
    for number in range(7):
        many += [user(f"see {number}", picture), reported(0)]

    state, end = await chat.compact([*many, user("now")])

    assert end.tokens_before > 7_000
    shown = [part for message in state.messages if isinstance(message, UserMessage) for part in message.content]
    assert 0 < len([part for part in shown if isinstance(part, ImageContent)]) < 3
    assert end.tokens_after <= 4_096


async def test_skills_that_nobody_speaks_of_are_put_away_last(tmp_path: Path) -> None:  # S0-27, C-14, D-02
    write_skill(tmp_path, "tea", "Brew it. " * 2_400)
    chat_skills = ChatSkills(library_of(tmp_path))
    chat_skills.load("tea")
    chat_skills.begin_run()
    chat = start_chat(skills=chat_skills)

    assert chat.is_due(state_of([*turns(3), user("now")]))
    _, end = await chat.compact([*turns(3), user("now")])

    assert chat_skills.names == ()
    assert end.tokens_after <= 4_096
    assert not chat.is_due(state_of([user("now")]))


async def test_skills_that_are_in_use_stay(tmp_path: Path) -> None:  # S0-27, C-14, D-10
    write_skill(tmp_path, "tea", "Brew it. " * 2_400)
    chat_skills = ChatSkills(library_of(tmp_path))
    chat_skills.load("tea", held=True)
    chat = start_chat(skills=chat_skills)

    await chat.compact([*turns(3), user("now")])

    assert chat_skills.names == ("tea",)
    assert not chat.is_due(state_of([user("now")]))  # nothing is left that could be shortened


async def test_a_skill_that_wants_room_gets_it(starts_chat: StartChat) -> None:  # S1-19
    chat = starts_chat()
    chat_skills = chat.agent.context.skills
    chat_skills.tokens_wanted = 4_000

    assert chat.is_due(state_of([*turns(9), user("now")]))
    _, end = await chat.compact([*turns(9), user("now")])

    assert end.tokens_after + 4_000 <= 0.9 * 8_192
    assert chat_skills.tokens_wanted == 0


async def test_a_stop_leaves_the_conversation_as_it_was(starts_chat: StartChat) -> None:  # S0-28, S2-32
    never = Waits(asyncio.Event())
    chat = starts_chat(Talker(summary=never))
    chat.agent.replace_messages(turns(20))

    running = asyncio.create_task(chat.says("now"))
    await never.reached.wait()
    chat.agent.abort()
    events = await running

    assert end_of(events).reason == "aborted"
    assert [message.role for message in chat.history].count("summary") == 0
    assert len(chat.history) >= 41


async def test_messages_that_wait_survive_and_are_heard_after_it(starts_chat: StartChat) -> None:  # U-15
    slow = Waits(asyncio.Event(), SUMMARY)
    chat = starts_chat(Talker(summary=slow))
    chat.agent.replace_messages(turns(20))

    running = asyncio.create_task(chat.says("now"))
    await slow.reached.wait()
    chat.agent.steer("and quickly")
    slow.event.set()
    events = await running

    assert end_of(events).failure is None
    assert "and quickly" in words(chat.llm.requests[-1])


async def test_an_overflow_is_answered_by_a_shorter_conversation(starts_chat: StartChat) -> None:  # S3-16, U-11
    full = Failure(FailureKind.OVERFLOW)
    chat = starts_chat(None, full)
    chat.agent.replace_messages(turns(8))

    events = await chat.says("now")

    assert end_of(events).failure is None
    assert len(chat.talker.summarised) == 1
    assert chat.boundary.summary == SUMMARY


# Compaction on request, and the request cache


async def test_what_is_told_of_it_is_measured_before_and_after_in_the_same_way() -> None:
    chat = start_chat(window=128_000)
    for _ in range(2):
        await chat.says("extraordinarily-long-words-of-which-the-model-reports-few " * 20)

    end = await chat.agent.compact("")

    assert end is not None
    assert end.boundary is not None
    assert end.tokens_after < end.tokens_before


async def test_a_person_may_have_it_done_and_say_what_matters(starts_chat: StartChat) -> None:  # D-09
    chat = starts_chat(window=128_000)
    chat.agent.replace_messages(turns(12))

    end = await chat.agent.compact("the flight number")

    assert end is not None
    assert end.tokens_after < end.tokens_before
    assert "keep above all: the flight number" in chat.talker.summarised[0].system
    assert chat.history[0] == end.boundary
    assert not chat.agent.is_running
    assert len(chat.history) < 12


async def test_where_there_is_nothing_to_shorten_nothing_is_asked() -> None:  # D-09
    chat = start_chat()
    chat.agent.replace_messages([user("hi")])

    end = await chat.agent.compact()

    assert end is not None
    assert end.boundary is None
    assert not chat.llm.requests


async def test_two_requests_share_the_whole_of_the_earlier_one_until_it_is_compacted(
    starts_chat: StartChat,
) -> None:  # S3-34, U-18
    chat = starts_chat(window=8_192, tools=[page])
    for number in range(14):
        await chat.says(f"Question {number}: {SENTENCE * 48}")

    asked = [request for request in chat.llm.requests if not asks_for_summary(request)]
    texts = [[message.model_dump_json(exclude={"usage"}) for message in request.messages] for request in asked]
    broken = sum(later[: len(earlier)] != earlier for earlier, later in pairwise(texts))
    assert broken == len(chat.talker.summarised) == 1
    assert len({request.system for request in asked}) == 1
