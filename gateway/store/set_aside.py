"""The table of messages from before a restore that turned up after it: reported to owners, not answered."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from channels.base import ButtonPressed, CommandInvoked, InboundEvent, MessageEdited, MessageReceived
from gateway.store import inbox
from gateway.store.writer import Change


@dataclass(frozen=True)
class Restored:
    """The restore of a store from a backup."""

    at: float
    taken_at: float
    """The time at which the backup was made."""


@dataclass(frozen=True)
class SetAside:
    """A message that was reported instead of answered."""

    seq: int
    at: float
    chat: str
    who: str
    words: str


def restored(connection: sqlite3.Connection) -> Restored | None:
    """Return the store's last restore; None if it was never restored."""
    at, taken_at = connection.execute("SELECT restored, restored_from FROM store").fetchone()
    return None if at is None else Restored(at, taken_at)


def add(connection: sqlite3.Connection, event: InboundEvent) -> None:
    """Record an event if a user caused it; ignore all others."""
    match event:
        case MessageReceived():
            words = event.text or ", ".join(file.name for file in event.attachments)
        case MessageEdited():
            words = event.text
        case CommandInvoked():
            words = f"/{event.name} {event.arguments}".strip()
        case ButtonPressed():
            words = event.action
        case _:
            return
    note(connection, event.at, str(event.chat), event.sender.name or event.sender.id, words)


def note(connection: sqlite3.Connection, at: float, chat: str, who: str, words: str) -> None:
    connection.execute("INSERT INTO set_aside (at, chat, who, words) VALUES (?, ?, ?, ?)", (at, chat, who, words))


def take_in(event: InboundEvent, now: float) -> Change[bool]:
    """Accept an event that is not to be answered. Returns False if it was accepted before."""
    accept = inbox.accepting(event, now)

    def change(connection: sqlite3.Connection) -> bool:
        seq = accept(connection)
        if seq is None:
            return False
        inbox.mark_done(connection, [seq])
        add(connection, event)
        return True

    return change


def untold(connection: sqlite3.Connection) -> list[SetAside]:
    """Return the messages that were not reported to owners yet, oldest first."""
    rows = connection.execute("SELECT seq, at, chat, who, words FROM set_aside WHERE told = 0 ORDER BY at, seq")
    return [SetAside(*row) for row in rows]


def tell(seqs: Sequence[int]) -> Change[None]:
    """Mark messages as reported."""

    def change(connection: sqlite3.Connection) -> None:
        connection.executemany("UPDATE set_aside SET told = 1 WHERE seq = ?", [(seq,) for seq in seqs])

    return change
