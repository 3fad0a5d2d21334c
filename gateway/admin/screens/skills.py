"""The screen of skills: the shared ones, what they contain, and where they are loaded."""

import asyncio
from collections.abc import Mapping

from msgspec import Struct

from agent_core.skills.header import BadSkill
from agent_core.skills.installed import Approval
from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import FILE, Origin, Skill
from channels.base import ChatKey
from gateway.admin.screen import Group, NoSuchItem, View, Visit
from gateway.chat.conversation import ON, SKILL
from gateway.commands.skill_contents import details
from gateway.commands.skill_levels import LEVELS
from gateway.delivery.delivery import Delivery
from gateway.store.chat_settings import Level, places
from gateway.store.store import Store
from gateway.texts.say import skill_reason

_WORDS = {word_level: word for word, word_level in LEVELS.items()}
"""The words of levels in commands."""
MOST_CHATS = 200
MOST_SHOWN = 30_000
"""Characters of the instructions."""


class Loaded(Struct, frozen=True):
    """A level at which a skill is kept loaded, or a chat where somebody loaded it."""

    where: str
    command: str
    """Command that unloads it."""
    chat: str
    """Chat in which that command is given; empty for the visitor's own."""


class Row(Struct, frozen=True):
    """A shared skill."""

    name: str
    description: str
    version: str
    origin: str
    """Text key."""
    reason: str
    """Reason that it is not available; empty if it is."""
    always: bool
    is_locked: bool
    approval: Approval | None
    loaded: list[Loaded]


class SkillsScreen:
    """Shows the shared skills, and installs, updates, locks, removes and loads them by /skill."""

    name = "skills"
    group = Group.WORK
    icon = "book-open"

    def __init__(self, library: SkillLibrary, store: Store, delivery: Delivery) -> None:
        self._library = library
        self._store = store
        self._delivery = delivery

    async def view(self, visit: Visit) -> View:
        """Return all skills, or one with its files. Raises NoSuchItem."""
        await asyncio.to_thread(self._library.refresh)
        by_people = await self._store.skills.by_people()
        if visit.item:
            skill = self._library.find(visit.item)
            if skill is None:
                raise NoSuchItem
            row = await self._row(visit, skill, by_people)
            about, instructions = await asyncio.to_thread(_contents, skill, visit)
            facts = {
                "skill": row,
                "about": about,
                "instructions": instructions,
                "chats": (await self._chats())[:MOST_CHATS],
            }
            return View("skill.html", facts)
        rows = [await self._row(visit, each, by_people) for each in self._library.skills]
        problems = [f"{each}" for each in self._library.diagnostics]
        can_install = self._library.installed is not None
        return View("skills.html", {"skills": rows, "problems": problems, "can_install": can_install})

    async def _row(self, visit: Visit, skill: Skill, by_people: Mapping[str, list[ChatKey]]) -> Row:
        installed = self._library.installed
        return Row(
            name=skill.name,
            description=skill.description,
            version=skill.header.version,
            origin=f"page_skills_{skill.origin}",
            reason=skill_reason(self._library.reason(skill), visit.language),
            always=skill.header.always,
            is_locked=self._library.is_locked(skill),
            approval=installed.approval(skill.name) if installed and skill.origin is not Origin.SHIPPED else None,
            loaded=[
                *await self._levels(visit, skill.name),
                *(
                    Loaded(f"{each}", f"/skill unload {skill.name}", f"{each}")
                    for each in by_people.get(skill.name, ())
                ),
            ],
        )

    async def _levels(self, visit: Visit, name: str) -> list[Loaded]:
        """Return where the skill is kept loaded, with the chat in which it can be unloaded there."""
        found = [place for place, _, value in await self._store.chat_settings.named(f"{SKILL}{name}") if value == ON]
        chats = {place.key: (place.level, chat) for chat in await self._chats() for place in places(chat)}
        loaded = []
        for key in found:
            level, chat = chats.get(key, (Level.INSTALLATION, None))
            where = f"{visit.say(f'page_level_{level}')} {key}".strip()
            of_chat = "" if chat is None or not key else f"{chat}"
            loaded.append(Loaded(where, f"/skill unload {name} {_WORDS[level]}", of_chat))
        return loaded

    async def _chats(self) -> list[ChatKey]:
        """Return the chats of connected platforms."""
        return [chat for chat in await self._store.chats.known() if self._delivery.knows(chat)]


def _loaded_by_hand(skill: Skill, chat: ChatKey) -> Loaded:
    return Loaded(f"{chat}", f"/skill unload {skill.name}", f"{chat}")


def _contents(skill: Skill, visit: Visit) -> tuple[str, str]:
    """Return what a skill asks for, contains, and a scan found; and its instructions. Blocks."""
    try:
        files = skill.read_all()
    except (BadSkill, OSError) as error:
        return visit.say("skill_failed", fact=str(error)), ""
    instructions = files.get(FILE, b"").decode("utf-8", "backslashreplace")
    return details(skill.header, files, visit.language), instructions[:MOST_SHOWN]
