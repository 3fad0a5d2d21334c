"""The tables of chats and of the skills that are loaded in them."""

import asyncio
from functools import partial

import structlog

from agent_core.clock import Clock, NewId
from agent_core.skills.skill_state import SkillStates
from channels.base import ChatKey
from gateway.security.secrets import Secrets
from gateway.store.connection import Connection, Reads
from gateway.store.rows import Chat
from gateway.store.table import Table, chat_of, readable
from gateway.store.topics import Topic
from gateway.store.writer import Writer

log = structlog.get_logger(__name__)


class Chats(Table):
    """The session and settings of each chat."""

    def __init__(self, writer: Writer, reader: Reads, clock: Clock, secrets: Secrets, new_id: NewId) -> None:
        super().__init__(writer, reader, clock, secrets)
        self._new_id = new_id

    async def get(self, key: ChatKey) -> Chat:
        """Return a chat's row; a new chat gets a new session."""
        query = "SELECT session, language, zone FROM chats WHERE chat = ?"

        def read(connection: Connection) -> Chat | None:
            rows = connection.execute(query, (str(key),))
            return next((Chat(key, session, language, zone) for session, language, zone in rows), None)

        found = await self._reader.run(read)
        if found is None:
            found = Chat(key, session=self._new_id())
            self._writer.submit(partial(_save, chat=found), later=True)
        return found

    async def save(self, chat: Chat) -> None:
        """Insert a chat's row or replace it."""

        def change(connection: Connection) -> None:
            _save(connection, chat)

        await self._writer.submit(change)

    async def save_zone(self, chat: Chat) -> None:
        """Save a chat's row as `save` does, with another time zone, of which other nodes are told."""

        def change(connection: Connection) -> None:
            self._changed(connection, Topic.ZONES)
            _save(connection, chat)

        await self._writer.submit(change)

    async def zones(self) -> dict[str, str]:
        """Return the time zones of the chats that have one, by chat key, in order with the changes made here."""

        def read(connection: Connection) -> dict[str, str]:
            return dict(connection.execute("SELECT chat, zone FROM chats WHERE zone IS NOT NULL"))

        return await self._writer.submit(read)

    async def known(self) -> list[ChatKey]:
        """Return all chats and threads, sorted."""

        def read(connection: Connection) -> list[ChatKey]:
            rows = connection.execute("SELECT chat FROM chats ORDER BY chat")
            return list(readable(rows, chat_of, "chats"))

        return await self._reader.run(read)

    async def language_of(self, chat: ChatKey, person: str) -> str | None:
        """Return the chat's language tag, or else that of the user in their last message there."""
        query = (
            "SELECT coalesce((SELECT language FROM chats WHERE chat = :chat),"
            " (SELECT json_extract(payload, '$.sender.language') FROM inbox"
            " WHERE chat = :chat AND json_extract(payload, '$.sender.id') = :person ORDER BY seq DESC LIMIT 1))"
        )

        def read(connection: Connection) -> str | None:
            (language,) = connection.execute(query, {"chat": str(chat), "person": person}).fetchone()
            return str(language) if language else None

        return await self._reader.run(read)

    async def spoken_in(self) -> set[str]:
        """Return the keys, as text, of all chats where the bot has spoken."""

        def read(connection: Connection) -> set[str]:
            return {chat for (chat,) in connection.execute("SELECT chat FROM chats WHERE spoke = 1")}

        return await self._reader.run(read)


class LoadedSkills(Table):
    """The skills that are loaded in each chat."""

    async def of(self, chat: ChatKey) -> SkillStates:
        """Return a chat's loaded skills. A thread without a row starts with those that users loaded in its channel."""

        def read(connection: Connection) -> SkillStates:
            own = _skills(connection, chat)
            if own is not None or chat.thread is None:
                return own or SkillStates()
            outer = _skills(connection, chat.without_thread) or SkillStates()
            # Skills from the channel's own folder do not exist in the thread's.
            return SkillStates(skills=tuple(skill for skill in outer.held.skills if skill.digest is None))

        return await self._reader.run(read)

    def save(self, chat: ChatKey, skills: SkillStates) -> "asyncio.Future[None]":
        """Insert or replace a chat's loaded skills."""
        row = (str(chat), skills.model_dump_json())

        def change(connection: Connection) -> None:
            connection.execute(_SAVE_SKILLS, row)

        return self._writer.submit(change, later=True)

    async def by_people(self) -> dict[str, list[ChatKey]]:
        """Return the chats in which people have loaded each skill."""

        def read(connection: Connection) -> dict[str, list[ChatKey]]:
            found: dict[str, list[ChatKey]] = {}
            rows = connection.execute("SELECT chat FROM chat_skills ORDER BY chat").fetchall()
            for chat in readable(rows, chat_of, "chat_skills"):
                states = _skills(connection, chat)
                for each in states.held.skills if states else ():
                    found.setdefault(each.name, []).append(chat)
            return found

        return await self._reader.run(read)

    async def renew(self, chat: ChatKey) -> None:
        """Unload all skills except those that users loaded."""

        def change(connection: Connection) -> None:
            found = _skills(connection, chat)
            if found is not None:
                connection.execute(_SAVE_SKILLS, (str(chat), found.held.model_dump_json()))

        await self._writer.submit(change)


_SAVE_SKILLS = (
    "INSERT INTO chat_skills (chat, shelved) VALUES (?, ?) ON CONFLICT (chat) DO UPDATE SET shelved = excluded.shelved"
)


def _save(connection: Connection, chat: Chat) -> None:
    connection.execute(
        "INSERT INTO chats (chat, session, language, zone) VALUES (?, ?, ?, ?) ON CONFLICT (chat) DO UPDATE"
        " SET session = excluded.session, language = excluded.language, zone = excluded.zone",
        (str(chat.key), chat.session, chat.language, chat.zone),
    )


def _skills(connection: Connection, chat: ChatKey) -> SkillStates | None:
    row = connection.execute("SELECT shelved FROM chat_skills WHERE chat = ?", (str(chat),)).fetchone()
    if row is None:
        return None
    (states,) = row
    try:
        return SkillStates.model_validate_json(states)
    except ValueError:
        log.warning("a stored row cannot be read; nothing is loaded", table="chat_skills", row=str(chat))
        return SkillStates()
