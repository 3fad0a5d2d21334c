"""The conversation as text for the model that summarises it, with long parts clipped."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import assert_never

from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    CustomMessage,
    NotificationMessage,
    StopReason,
    SummaryMessage,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    text_of,
)
from agent_core.models.tokens import clipped, estimate
from agent_core.untrusted import harmless, marked, name_of, passed_on

CUT = "[... {} characters cut ...]"


@dataclass(frozen=True)
class Lengths:
    """Maximum characters of each kind of content."""

    result: int
    said: int
    arguments: int


LENGTHS = (Lengths(2_000, 8_000, 400), Lengths(500, 2_000, 200), Lengths(160, 500, 80))
"""Tried in order; the first that fits is used."""


def told(messages: Sequence[AgentMessage], room: int) -> str:
    """Return the messages as text of at most about `room` tokens.

    Long results are clipped first, then messages; then the middle is left out.
    """
    lines: list[str] = []
    for lengths in LENGTHS:
        lines = _lines(messages, lengths)
        if estimate("\n".join(lines)) <= room:
            break
    return "\n".join(_without_middle(lines, room))


def said_by_person(messages: Iterable[AgentMessage], most: int) -> str:
    """Return the users' messages only, verbatim, clipped to `most` tokens."""
    words = (text_of(message.content) for message in messages if isinstance(message, UserMessage))
    return clipped(harmless("\n".join(words)), most)


def short(text: str, most: int) -> str:
    """Return head and tail of the text."""
    if len(text) <= most:
        return text
    return f"{text[: most // 2]} {CUT.format(len(text) - most)} {text[-(most // 2) :]}"


def _lines(messages: Iterable[AgentMessage], lengths: Lengths) -> list[str]:
    """Return the lines without exact repetitions: a tool that is called again and again says the same."""
    lines: dict[str, None] = {}
    for message in messages:
        if line := _line(message, lengths):
            if isinstance(message, UserMessage):
                lines.pop(line, None)
            lines[line] = None
    return list(lines)


def _line(message: AgentMessage, lengths: Lengths) -> str:
    match message:
        case UserMessage():
            return _user_line(message, lengths)
        case AssistantMessage():
            return _answer_line(message, lengths)
        case ToolResultMessage():
            text = short(text_of(message.content), lengths.result)
            text = marked(text, message.id) if message.untrusted else harmless(text)
            return f"[{'failure' if message.is_error else 'result'} of {message.tool_name}] {_set_in(text)}"
        case NotificationMessage():
            return f"[notice] {_set_in(short(passed_on(message), lengths.result))}" if message.to_model else ""
        case SummaryMessage() | CustomMessage():
            return ""
        case _:
            assert_never(message)


def _user_line(message: UserMessage, lengths: Lengths) -> str:
    words = harmless(short(text_of(message.content), lengths.said))
    line = f"[{name_of(message.source or '') or 'person'}] {_set_in(words)}"
    if message.untrusted and message.context:
        line += f"\n[with it came] {_set_in(marked(short(message.context, lengths.result), message.id))}"
    return line


def _set_in(words: str) -> str:
    """Indent continuation lines, so that none can imitate a line that names a speaker."""
    return "\n  ".join(words.splitlines())


def _answer_line(message: AssistantMessage, lengths: Lengths) -> str:
    """Return the answer without its reasoning; empty for a failed answer."""
    if message.stop_reason is StopReason.ERROR:
        return ""
    parts = [f"[assistant] {_set_in(short(message.text, lengths.said))}"] if message.text else []
    parts += [f"[assistant calls] {call_words(call, lengths.arguments)}" for call in message.tool_calls]
    if message.stop_reason is StopReason.ABORTED:
        parts.append("[the person stopped this]")
    return "\n".join(parts)


def call_words(call: ToolCall, most: int) -> str:
    return f"{call.name} {short(json.dumps(call.arguments, ensure_ascii=False), most)}"


def _without_middle(lines: Sequence[str], room: int) -> list[str]:
    """Return the first lines, up to a quarter of the room, and the last ones."""
    sizes = [estimate(line) + 1 for line in lines]
    if sum(sizes) <= room:
        return list(lines)
    first = _fitting(sizes, room // 4)
    last = _fitting(sizes[:first:-1], room - room // 4 - 10)
    left = len(lines) - first - last
    return [*lines[:first], f"[... {left} messages are left out here ...]", *lines[len(lines) - last :]]


def _fitting(sizes: Iterable[int], room: int) -> int:
    """Return how many of the first lines fit."""
    count = 0
    for size in sizes:
        room -= size
        if room < 0:
            break
        count += 1
    return count
