"""Tests for the history that remains after a compaction, at once and after a restart."""

from collections.abc import Sequence

from agent_core.loop.state import LONG, effective
from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    ImageContent,
    StopReason,
    SummaryMessage,
    TextContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
    text_of,
)
from agent_core.origin import CLEAN
from tests.messages import user

PICTURE = ImageContent(data="aGk=", mime_type="image/png")


def said(text: str, name: str, *images: ImageContent) -> UserMessage:
    return user(text, *images).model_copy(update={"id": name})


def result(text: str, name: str, *images: ImageContent) -> ToolResultMessage:
    return ToolResultMessage(
        id=name, tool_call_id=f"call-{name}", tool_name="look", content=(TextContent(text=text), *images), origin=CLEAN
    )


def call(name: str) -> AssistantMessage:
    return AssistantMessage(
        id=f"answer-{name}",
        content=(ToolCall(id=f"call-{name}", name="look", arguments={}),),
        stop_reason=StopReason.TOOL_USE,
        usage=Usage(input=900, output=100, total=1_000),
        origin=CLEAN,
    )


def boundary(first: str, *, until: str = "", text: str = "It was long.") -> SummaryMessage:
    return SummaryMessage(summary=text, first_kept_id=first, tokens_before=9, short_until=until, origin=CLEAN)


def texts(messages: Sequence[AgentMessage]) -> list[str]:
    return [
        message.summary if isinstance(message, SummaryMessage) else text_of(message.content)
        for message in messages
        if isinstance(message, SummaryMessage | UserMessage | ToolResultMessage)
    ]


def test_without_a_boundary_everything_counts() -> None:  # S3-17
    messages: list[AgentMessage] = [said("one", "1"), said("two", "2")]

    assert effective(messages) == messages


def test_the_summary_stands_before_what_it_kept_and_what_came_since() -> None:  # S3-17, C-10
    history: list[AgentMessage] = [said("one", "1"), said("two", "2"), boundary("2"), said("three", "3")]

    assert texts(effective(history)) == ["It was long.", "two", "three"]


def test_only_the_last_boundary_counts() -> None:  # S3-17
    history: list[AgentMessage] = [
        said("one", "1"),
        boundary("1", text="first"),
        said("two", "2"),
        boundary("2"),
        said("three", "3"),
    ]

    assert texts(effective(history)) == ["It was long.", "two", "three"]


def test_what_it_kept_and_nobody_finds_was_in_the_summary() -> None:  # S3-17
    assert texts(effective([said("one", "1"), boundary("gone"), said("two", "2")])) == ["It was long.", "two"]


def test_old_results_keep_their_ends_and_the_name_of_their_file() -> None:  # S0-27, C-24
    long = "a" * 300 + "\n[... 5 characters cut; the whole is in .output/3.txt ...]\n" + "z" * 300
    history: list[AgentMessage] = [
        said("go", "1"),
        call("2"),
        result(long, "2"),
        call("3"),
        result(long, "3"),
        boundary("1", until="2"),
    ]

    _, _, old, new = texts(effective(history))

    assert old.startswith("a" * 200)
    assert old.endswith("z" * 200)
    assert "; the whole is in .output/3.txt ...]" in old
    assert len(old) < LONG
    assert new == long


def test_old_pictures_become_a_note_and_new_ones_stay() -> None:  # S2-15
    history: list[AgentMessage] = [
        said("see", "1", PICTURE),
        call("2"),
        result("seen", "2", PICTURE),
        said("and", "3", PICTURE),
    ]

    first, _, second, third = effective([*history, boundary("1", until="2")])[1:]

    assert texts([first, second]) == ["[a picture, not shown any more]\nsee", "[a picture, not shown any more]\nseen"]
    assert third == history[3]


def test_what_was_kept_does_not_tell_how_full_the_window_was() -> None:  # U-12
    kept = effective([said("go", "1"), call("2"), result("x", "2"), boundary("1")])[2]

    assert isinstance(kept, AssistantMessage)
    assert kept.usage == Usage()
    assert kept.tool_calls == call("2").tool_calls


def test_what_was_made_short_is_not_changed_again() -> None:  # S0-27
    history: list[AgentMessage] = [
        said("go", "1", PICTURE),
        call("2"),
        result("x" * 900, "2"),
        boundary("1", until="2"),
        said("on", "3"),
    ]

    once = effective(history)

    assert effective(once) == once
    again = effective([*once, boundary("1", until="2")])
    assert again[1:-1] == once[1:-1]
