"""Commands about groups: /activation, and /speakers for who may speak there."""

import re
from collections.abc import Awaitable, Callable, Mapping

from channels.base import Button, Channel, OutboundMessage
from channels.capabilities import HasRoles
from channels.text import literal
from gateway.chat.replies import Answer, Rewritten
from gateway.commands.table import LONGEST_NAME, Command, Invocation, reply
from gateway.permissions.groups import ACTIVATION, SPEAKERS, Activation, Audience, Groups, Speakers
from gateway.permissions.roles import Role
from gateway.store.chat_settings import ChatSettings, Level, Place
from gateway.texts.say import say

MOST_ROLES = 20
_MENTION = re.compile(r"<@&(\d+)>")
_AUDIENCES = {
    "名单": Audience.LISTED,
    "所有人": Audience.EVERYBODY,
    "角色": Audience.ROLE,
    "工作区": Audience.WORKSPACE,
}
_RIGHTS = {"guest": Role.GUEST, "member": Role.MEMBER, "访客": Role.GUEST, "成员": Role.MEMBER}


class BadSpeakers(ValueError):
    """The arguments are wrong; the message is the reply."""


class GroupCommands:
    """The commands /activation and /speakers."""

    def __init__(self, groups: Groups, settings: ChatSettings, sweep: Callable[[], Awaitable[object]]) -> None:
        """`sweep` ends what is open for people who may no longer speak."""
        self._groups = groups
        self._settings = settings
        self._sweep = sweep

    async def activation(self, given: Invocation) -> Answer:
        """Show or set which messages are taken: for a thread where it is said in one, else for the whole group."""
        wanted = given.arguments.strip().lower()
        if (refused := _refused(given, wanted)) is not None:
            return refused
        if not wanted:
            return self._activation(given)
        if wanted not in set(Activation):
            return reply(self.commands[0].usage(given.slash, given.language))
        await self._set(given, self._places(given)[0], ACTIVATION, wanted)
        return Rewritten(self._activation(given))

    async def speakers(self, given: Invocation) -> Answer:
        """Show or set who may speak in the group, with its threads."""
        wanted = given.arguments.strip()
        if (refused := _refused(given, wanted)) is not None:
            return refused
        if not wanted:
            return self._speakers(given)
        try:
            speakers = self._parsed(given, wanted)
        except BadSpeakers as error:
            return reply(str(error))
        place = next(each for each in self._places(given) if each.level is Level.CHANNEL)
        await self._set(given, place, SPEAKERS, str(speakers))
        await self._sweep()
        return Rewritten(self._speakers(given))

    def _activation(self, given: Invocation) -> OutboundMessage:
        language, now = given.language, self._groups.activation(given.chat)
        where = say("in_this_group" if given.chat.thread is None else "in_this_very_thread", language)
        labels = {str(each): say(f"activation_button_{each}", language) for each in Activation if each is not now}
        text = say(f"activation_{now}", language, where=where, slash=given.slash)
        return _with_buttons(given, text, "activation", labels)

    def _speakers(self, given: Invocation) -> OutboundMessage:
        language, now = given.language, self._groups.speakers(given.chat)
        name = literal(_roles(given).get(now.server_role, now.server_role)[:LONGEST_NAME])
        rights = say(f"speakers_rights_{now.rights}", language)
        offered = [Audience.LISTED, Audience.EVERYBODY, *_of_platform(_channel(given))]
        labels = {str(each): say(f"speakers_button_{each}", language) for each in offered if each is not now.audience}
        text = say(f"speakers_{now.audience}", language, name=name, rights=rights, slash=given.slash)
        return _with_buttons(given, text, "speakers", labels)

    def _parsed(self, given: Invocation, wanted: str) -> Speakers:
        """Parse `everybody`, `workspace member`, `role NAME guest` and the like. Raises BadSpeakers."""
        first, *words = wanted.split()
        audience = _AUDIENCES.get(first) or next((each for each in Audience if each == first.lower()), None)
        rights = _RIGHTS.get(words[-1].lower()) if words else None
        name = words if rights is None or (audience is Audience.ROLE and len(words) == 1) else words[:-1]
        if audience is None or bool(name) != (audience is Audience.ROLE):
            raise BadSpeakers(self.commands[1].usage(given.slash, given.language))
        if audience is Audience.WORKSPACE and audience not in _of_platform(_channel(given)):
            raise BadSpeakers(say("speakers_no_workspace", given.language, slash=given.slash))
        role = _role_named(given, " ".join(name)) if audience is Audience.ROLE else ""
        return Speakers(audience, role, (rights if name != words else None) or Role.GUEST)

    async def _set(self, given: Invocation, place: Place, name: str, value: str) -> None:
        await self._settings.set(place, name, value, given.sender.id)
        self._groups.put(place.key, name, value)

    def _places(self, given: Invocation) -> list[Place]:
        return self._settings.places(given.chat)

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "activation",
                {"en": "Which messages I answer in a group", "zh": "我在群里回答哪些消息"},
                self.activation,
                arguments="[mention|thread|always]",
                example="mention",
            ),
            Command(
                "speakers",
                {"en": "Who may speak with me in a group", "zh": "群里谁可以与我对话"},
                self.speakers,
                arguments="[listed|everybody|workspace|role NAME] [guest|member]",
                example="everybody guest",
            ),
        )


def _refused(given: Invocation, wanted: str) -> OutboundMessage | None:
    """Return the refusal outside of groups, or to change something without the right to; None if there is none."""
    if not given.in_group:
        return reply(say("groups_only", given.language))
    return reply(say("groups_not_yours", given.language)) if wanted and not given.is_admin else None


def _with_buttons(given: Invocation, text: str, command: str, labels: Mapping[str, str]) -> OutboundMessage:
    choices = tuple((Button(label=label, action=f"/{command} {word}"),) for word, label in labels.items())
    return OutboundMessage(markdown=text, buttons=choices if given.is_admin else ())


def _channel(given: Invocation) -> Channel:
    return given.session.conversation.channel


def _of_platform(channel: Channel) -> list[Audience]:
    return [Audience.WORKSPACE] if channel.limits.tells_full_members else []


def _roles(given: Invocation) -> Mapping[str, str]:
    """Return the names of the server's roles by id."""
    channel = _channel(given)
    return channel.roles(given.chat) if isinstance(channel, HasRoles) else {}


def _role_named(given: Invocation, name: str) -> str:
    """Return the id of a role by its mention, id or name. Raises BadSpeakers."""
    if not isinstance(_channel(given), HasRoles):
        raise BadSpeakers(say("speakers_no_roles", given.language, slash=given.slash))
    roles, wanted = _roles(given), _MENTION.sub(r"\1", name).strip()
    if wanted in roles:
        return wanted
    wanted = wanted.removeprefix("@").casefold()
    found = [role for role, each in roles.items() if each.removeprefix("@").casefold() == wanted]
    if len(found) == 1:
        return found[0]
    listed = ", ".join(f"`{each}`" for each in found) or ", ".join(
        literal(each[:LONGEST_NAME]) for each in list(roles.values())[:MOST_ROLES]
    )
    key = "speakers_role_twice" if found else "speakers_role_unknown"
    raise BadSpeakers(say(key, given.language, name=literal(name[:LONGEST_NAME]), roles=listed))
