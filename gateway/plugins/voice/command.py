"""The command that turns spoken answers on and off: /voice."""

from channels.base import OutboundMessage
from gateway.commands.command import Command, Invocation, reply
from gateway.permissions.rights import LOOK, OTHERWISE, Right, Rights
from gateway.permissions.roles import Role
from gateway.plugins.voice.speaker import ON, SETTING, Speaker
from gateway.store.chat_settings import ChatSettings
from gateway.texts.say import say


class VoiceCommands:
    """The command /voice."""

    def __init__(self, speaker: Speaker, settings: ChatSettings) -> None:
        self._speaker = speaker
        self._settings = settings

    async def voice(self, given: Invocation) -> OutboundMessage:
        """Say if answers are spoken here, or switch that on or off."""
        language, wanted = given.language, given.arguments.strip().lower()
        if not self._speaker.is_configured:
            return reply(say("speech_not_set_up_owner" if given.is_owner else "speech_not_set_up", language))
        if wanted not in ("", "on", "off"):
            return reply(say("speech_how", language, slash=given.slash))
        if wanted:
            await self._settings.set(self._settings.places(given.chat)[0], SETTING, wanted, given.sender.id)
        is_on = await self._settings.get(given.chat, SETTING) == ON
        return reply(say("speech_on" if is_on else "speech_off", language, slash=given.slash))

    @property
    def command(self) -> Command:
        return Command(
            "voice",
            {"en": "Speak answers here as well", "zh": "同时朗读这里的回答"},
            self.voice,
            rights=Rights({"": LOOK, OTHERWISE: Right("write", group=Role.ADMIN, refusal="speech_not_yours")}),
            arguments="[on|off]",
            example="on",
            after="skill",
            offered_to=Role.MEMBER,
        )
