"""Skills that a channel, a workspace or the whole installation keeps loaded."""

from channels.base import OutboundMessage
from channels.text import literal
from gateway.chat.conversation import OFF, ON, SKILL
from gateway.commands.command import Invocation, reply
from gateway.store.chat_settings import ChatSettings, Level, Place
from gateway.texts.say import say

LEVELS = {"channel": Level.CHANNEL, "workspace": Level.WORKSPACE, "everywhere": Level.INSTALLATION}
"""Words that follow a skill's name; without one the command is for this chat."""
_PLACES = {
    Level.CHANNEL: "in_this_channel",
    Level.WORKSPACE: "in_this_workspace",
    Level.INSTALLATION: "everywhere",
}


class SkillLevels:
    """Loads and unloads skills at levels wider than a chat, which the chats there inherit."""

    def __init__(self, settings: ChatSettings) -> None:
        self._settings = settings

    async def change(self, given: Invocation, verb: str, name: str, level: Level) -> OutboundMessage:
        """Load or unload a skill for all chats of a level."""
        chat_skills = await given.session.conversation.skills()
        chat_skills.refresh(now=True)
        where, shown = say(_PLACES[level], given.language), literal(name[:64])
        setting, place = f"{SKILL}{name}", self._place(given, level)
        if verb == "load" and chat_skills.library.find(name) is None:
            return reply(say("skill_unknown", given.language, name=shown, slash=given.slash))
        if verb == "unload" and await self._settings.at(place, setting) is None:
            return reply(say("skill_not_loaded_there", given.language, name=shown, where=where))
        await self._settings.set(place, setting, ON if verb == "load" else None, given.sender.id)
        if verb == "load":
            await self._drop_overrides(given, setting, level)
        await given.session.conversation.skills()  # which takes effect here at once, elsewhere with the next run
        done = "skill_loaded" if verb == "load" else "skill_unloaded"
        return reply(say(done, given.language, name=shown, where=where))

    async def override(self, given: Invocation, verb: str, name: str) -> None:
        """Make an exception for this chat from what wider levels keep loaded, or drop it."""
        setting, here = f"{SKILL}{name}", self._settings.places(given.chat)[0]
        if verb == "load":
            if (found := await self._settings.at(here, setting)) is not None and found.value == OFF:
                await self._settings.set(here, setting, None, given.sender.id)
        elif await self._settings.get(given.chat, setting) == ON:
            await self._settings.set(here, setting, OFF, given.sender.id)

    def _place(self, given: Invocation, level: Level) -> Place:
        return next(place for place in self._settings.places(given.chat) if place.level is level)

    async def _drop_overrides(self, given: Invocation, setting: str, level: Level) -> None:
        """Drop the exceptions of this chat, so that it loads what the user has just loaded for it, too."""
        for place in self._settings.places(given.chat):
            if place.level is level:
                return
            await self._settings.set(place, setting, None, given.sender.id)
