"""The table of skills that are loaded in a chat."""

import sqlite3

import structlog

from agent_core.skills.skill_state import Shelved
from channels.base import ChatKey
from gateway.store.writer import Change

log = structlog.get_logger(__name__)


def of(connection: sqlite3.Connection, chat: ChatKey) -> Shelved:
    """Return a chat's loaded skills. A thread without a row starts with those that users loaded in its channel."""
    own = _row(connection, chat)
    if own is not None or chat.thread is None:
        return own or Shelved()
    outer = _row(connection, chat.model_copy(update={"thread": None})) or Shelved()
    # Skills from the channel's own folder do not exist in the thread's.
    return Shelved(skills=tuple(skill for skill in outer.held.skills if skill.digest is None))


def save(chat: ChatKey, shelved: Shelved) -> Change[None]:
    row = (str(chat), shelved.model_dump_json())

    def change(connection: sqlite3.Connection) -> None:
        connection.execute(
            "INSERT INTO chat_skills (chat, shelved) VALUES (?, ?)"
            " ON CONFLICT (chat) DO UPDATE SET shelved = excluded.shelved",
            row,
        )

    return change


def renew(chat: ChatKey) -> Change[None]:
    """Unload all skills except those that users loaded."""

    def change(connection: sqlite3.Connection) -> None:
        found = _row(connection, chat)
        if found is not None:
            save(chat, found.held)(connection)

    return change


def _row(connection: sqlite3.Connection, chat: ChatKey) -> Shelved | None:
    row = connection.execute("SELECT shelved FROM chat_skills WHERE chat = ?", (str(chat),)).fetchone()
    if row is None:
        return None
    try:
        return Shelved.model_validate_json(row[0])
    except ValueError:
        log.warning("a stored row cannot be read; nothing is loaded", table="chat_skills", row=str(chat))
        return Shelved()
