"""A chat's history as entries for readers, with the heading above them: messages, tool calls and files."""

import json
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, field

from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    CustomMessage,
    NotificationMessage,
    SummaryMessage,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    text_of,
)
from channels.base import ButtonPressed, MessageEdited, MessageReceived, ScheduleFired
from gateway.security.masking import masked
from gateway.security.secrets import Secrets
from gateway.store.archive import Archive, SaidRow, Unreadable
from gateway.store.rows import inbox_seqs

LONGEST_RESULT = 4_000
"""Characters of a tool result; the JSON export has all of it."""
SENDS_FILES = "send_file"


class Began(Struct, frozen=True):
    """The start of a session."""

    at: float


class Said(Struct, frozen=True):
    """A message of a user or of Parley."""

    at: float
    who: str
    """The user's name; empty for Parley."""
    text: str
    """Plain text from a user, Markdown from Parley."""
    files: tuple[str, ...] = ()
    quoted: str = ""
    """The text that the user replied to."""


class Called(Struct, frozen=True):
    """A tool call and its outcome."""

    at: float
    tool: str
    arguments: str
    """As JSON."""
    result: str
    is_error: bool
    duration_ms: int | None
    file: str = ""
    """The file that it sent to the user."""


class Noted(Struct, frozen=True):
    """A note about the conversation."""

    at: float | None
    text: str


Entry = Began | Said | Called | Noted


def entries(archive: Archive, chat: str, secrets: Secrets) -> Iterator[Entry]:
    """Yield the entries of all sessions with users, oldest first, with secrets masked.

    Sessions of sub-agents are left out, as their outcome is the result of a tool call.
    """
    for session in archive.sessions(chat):
        if _is_with_people(archive.said_at(chat, session)):
            yield from _Telling(archive, secrets).entries(archive.said_at(chat, session))


def _is_with_people(rows: Iterable[SaidRow | Unreadable]) -> bool:
    """Return True if the first message came from the inbox."""
    for row in rows:
        if isinstance(row, SaidRow) and isinstance(row.message, UserMessage):
            return bool(inbox_seqs([row.message.id]))
    return True


class _Telling(Struct):
    """Turns one session into entries."""

    archive: Archive
    secrets: Secrets
    calls: dict[str, ToolCall] = field(default_factory=dict)
    """The calls of the last answer that have no result yet."""

    def entries(self, rows: Iterable[SaidRow | Unreadable]) -> Iterator[Entry]:
        is_new = True
        for row in rows:
            if isinstance(row, Unreadable):
                yield Noted(None, f"A message that was here cannot be read (row {row.seq} of {row.table}).")
                continue
            message = masked(row.message, self.secrets.mask)
            if is_new:
                yield Began(message.created_at)
                is_new = False
            yield from self._of(message)

    def _of(self, message: AgentMessage) -> Iterator[Entry]:
        match message:
            case UserMessage():
                yield self._person(message)
            case AssistantMessage():
                yield from self._answer(message)
            case ToolResultMessage():
                yield self._called(message)
            case SummaryMessage():
                yield Noted(message.created_at, "From here on the model saw a summary of what was said before.")
            case NotificationMessage():
                yield Noted(message.created_at, message.text)
            case CustomMessage():
                pass

    def _person(self, message: UserMessage) -> Said:
        """Return the user's message as received if it is stored; the model may have been shown less of it."""
        seqs = inbox_seqs([message.id])
        heard = self.archive.heard(seqs[0]) if seqs else None
        event = masked(heard, self.secrets.mask) if heard is not None else None
        text, name = text_of(message.content), message.source or "Person"
        match event:
            case MessageReceived():
                files = tuple(attachment.safe_name for attachment in event.attachments)
                return Said(event.at, event.sender.name or name, event.words, files, event.quoted or "")
            case ButtonPressed():
                return Said(event.at, event.sender.name or name, event.action)
            case MessageEdited():
                return Said(event.at, event.sender.name or name, text)
            case ScheduleFired():
                return Said(event.at, f"Schedule {event.job}", text)
            case _:
                return Said(message.created_at, name, text)

    def _answer(self, message: AssistantMessage) -> Iterator[Entry]:
        self.calls = {call.id: call for call in message.tool_calls}
        if message.text.strip():
            yield Said(message.created_at, "", message.text)
        if message.error_message:
            yield Noted(message.created_at, f"The model failed: {message.error_message}")

    def _called(self, message: ToolResultMessage) -> Called:
        call = self.calls.pop(message.tool_call_id, None)
        arguments: Mapping[str, object] = call.arguments if call else {}
        sent = _sent_files(arguments) if message.tool_name == SENDS_FILES and not message.is_error else ""
        text = text_of(message.content)
        if len(text) > LONGEST_RESULT:
            text = f"{text[:LONGEST_RESULT]}… ({len(text)} characters)"
        return Called(
            at=message.created_at,
            tool=message.tool_name,
            arguments=json.dumps(arguments, ensure_ascii=False, indent=2),
            result=text,
            is_error=message.is_error,
            duration_ms=message.duration_ms,
            file=sent,
        )


def _sent_files(arguments: Mapping[str, object]) -> str:
    """Return the names of the files that a call sent."""
    also = arguments.get("also")
    return ", ".join(str(each) for each in [arguments.get("path", ""), *(also if isinstance(also, list) else [])])
