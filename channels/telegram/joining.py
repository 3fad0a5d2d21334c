"""Joining of messages that Telegram's clients send in pieces: albums, and texts longer than a message. Pure.

Each photo of an album is a message of its own, and clients split a text above 4,096 UTF-16 units.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from channels.base import Addressed, InboundEvent, MessageReceived
from channels.text import utf16_len

_NEARLY_FULL = 4_000
_FULL = 4_096
_ONE_BREATH = 2
"""Longest time in seconds between two pieces of one text."""


class Arrival(NamedTuple):
    """An update that has become an event."""

    update_id: int
    event: InboundEvent
    album: str | None = None


class Piece(NamedTuple):
    """Events joined into one."""

    event: InboundEvent
    updates: tuple[int, ...]
    unfinished: bool
    """True if further parts may follow."""


def join(arrivals: Sequence[Arrival]) -> list[Piece]:
    """Join events that belong together, each at the position of its first part."""
    groups: list[list[Arrival]] = []
    last_of_chat: dict[str, list[Arrival]] = {}
    for arrival in arrivals:
        chat = str(arrival.event.chat)
        group = last_of_chat.get(chat)
        if group is not None and _belongs(group[-1], arrival):
            group.append(arrival)
        else:
            last_of_chat[chat] = group = [arrival]
            groups.append(group)
    return [_piece(group, is_last=last_of_chat[str(group[0].event.chat)] is group) for group in groups]


def _belongs(before: Arrival, after: Arrival) -> bool:
    first, second = before.event, after.event
    if not isinstance(first, MessageReceived) or not isinstance(second, MessageReceived):
        return False
    if first.sender.id != second.sender.id or first.event_id == second.event_id:
        return False
    if before.album or after.album:
        return before.album == after.album
    return _is_cut_off(first) and not second.attachments and second.at - first.at <= _ONE_BREATH


def _is_cut_off(message: MessageReceived) -> bool:
    return not message.attachments and utf16_len(message.words) >= _NEARLY_FULL


def _piece(group: list[Arrival], *, is_last: bool) -> Piece:
    messages = [arrival.event for arrival in group if isinstance(arrival.event, MessageReceived)]
    updates = tuple(arrival.update_id for arrival in group)
    if not messages:
        return Piece(group[0].event, updates, unfinished=False)
    unfinished = is_last and (group[-1].album is not None or _is_cut_off(messages[-1]))
    return Piece(_joined(messages), updates, unfinished)


def _joined(messages: list[MessageReceived]) -> MessageReceived:
    """Join messages. The id names the first and the last: the same parts give the same event, later ones another."""
    first = messages[0]
    if len(messages) == 1:
        return first
    text = first.text
    for before, message in pairwise(messages):
        glue = "" if utf16_len(before.text) == _FULL or not text or not message.text else "\n"
        text += glue + message.text
    named = [message.addressed for message in messages if message.addressed is not Addressed.AMBIENT]
    return first.model_copy(
        update={
            "event_id": f"{first.event_id}-{messages[-1].message_id}",
            "text": text,
            "shared": "\n".join(message.shared for message in messages if message.shared),
            "attachments": tuple(file for message in messages for file in message.attachments),
            "addressed": named[0] if named else first.addressed,
        }
    )
