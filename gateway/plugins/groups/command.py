"""Commands about groups: /activation, and /speakers for who may speak there."""

import re
from collections.abc import Iterable, Mapping

import structlog

from channels.base import Channel, ChannelError, OutboundMessage
from channels.capabilities import HasRoles
from channels.commands import Suggestion
from channels.text import literal
from gateway.chat.replies import Answer, Rewritten
from gateway.commands.command import LONGEST_NAME, Command, Invocation, Unfinished, reply
from gateway.commands.levels import DEFAULT, WORDS, Aimed, aimed, place_of
from gateway.commands.suggested import suggested
from gateway.permissions.group_rules import GroupRules
from gateway.permissions.groups import ACTIVATION, SPEAKERS, Activation, Audience, Speakers
from gateway.permissions.roles import Role
from gateway.plugins.groups.told import OF_GROUPS, Told, told, with_buttons
from gateway.texts.say import say

MOST_ROLES = 20
log = structlog.get_logger(__name__)

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

    def __init__(self, rules: GroupRules) -> None:
        self._rules = rules

    async def activation(self, given: Invocation) -> Answer:
        """Show or set which messages are taken: for a thread where it is said in one, else for the whole group."""
        at = aimed(given)
        word = at.words.lower()
        if not word:
            return self._activation(given, told(self._rules.groups, given, ACTIVATION))
        if word not in {*Activation, *DEFAULT}:
            return reply(self.commands[0].usage(given.slash, given.language))
        await self._rules.set(given.chat, given.sender.id, at.place, ACTIVATION, None if word in DEFAULT else word)
        return Rewritten(self._activation(given, told(self._rules.groups, given, ACTIVATION, at.place)))

    async def speakers(self, given: Invocation) -> Answer:
        """Show or set who may speak: in the group with its threads, unless another level is named."""
        at = _aimed_at_people(given)
        if not at.words:
            return await self._speakers(given, told(self._rules.groups, given, SPEAKERS))
        try:
            value = None if at.words.lower() in DEFAULT else str(await self._parsed(given, at.words))
        except BadSpeakers as error:
            return reply(str(error))
        await self._rules.set(given.chat, given.sender.id, at.place, SPEAKERS, value)
        return Rewritten(await self._speakers(given, told(self._rules.groups, given, SPEAKERS, at.place)))

    def _activation(self, given: Invocation, words: Told) -> OutboundMessage:
        language, now = given.language, self._rules.groups.activation(given.chat)
        labels = {str(each): say(f"activation_button_{each}", language) for each in Activation if each is not now}
        text = say(f"activation_{now}", language, where=words.where, slash=given.slash)
        return with_buttons(given, words.around(text), "activation", labels)

    async def _speakers(self, given: Invocation, words: Told) -> OutboundMessage:
        language, now = given.language, self._rules.groups.speakers(given.chat)
        name = literal((await _roles(given)).get(now.server_role, now.server_role)[:LONGEST_NAME])
        rights = say(f"speakers_rights_{now.rights}", language)
        offered = [Audience.LISTED, Audience.EVERYBODY, *_of_platform(_channel(given))]
        labels = {str(each): say(f"speakers_button_{each}", language) for each in offered if each is not now.audience}
        text = say(f"speakers_{now.audience}", language, where=words.where, name=name, rights=rights, slash=given.slash)
        return with_buttons(given, words.around(text), "speakers", labels)

    async def _parsed(self, given: Invocation, wanted: str) -> Speakers:
        """Parse `everybody`, `workspace member`, `role NAME guest` and the like. Raises BadSpeakers."""
        first, *words = wanted.split()
        audience = _AUDIENCES.get(first) or next((each for each in Audience if each == first.lower()), None)
        rights = _RIGHTS.get(words[-1].lower()) if words else None
        name = words if rights is None or (audience is Audience.ROLE and len(words) == 1) else words[:-1]
        if audience is None or bool(name) != (audience is Audience.ROLE):
            raise BadSpeakers(self.commands[1].usage(given.slash, given.language))
        if audience is Audience.WORKSPACE and audience not in _of_platform(_channel(given)):
            raise BadSpeakers(say("speakers_no_workspace", given.language, slash=given.slash))
        role = await _role_named(given, " ".join(name)) if audience is Audience.ROLE else ""
        return Speakers(audience, role, (rights if name != words else None) or Role.GUEST)

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "activation",
                {"en": "Which messages I answer in a group", "zh": "我在群里回答哪些消息"},
                self.activation,
                rights=OF_GROUPS,
                arguments="[mention|thread|always|default] [channel|workspace|everywhere]",
                example="mention",
                offered_to=Role.MEMBER,
                after="rules",
            ),
            Command(
                "speakers",
                {"en": "Who may speak with me in a group", "zh": "群里谁可以与我对话"},
                self.speakers,
                rights=OF_GROUPS,
                suggest=_server_roles,
                arguments="[listed|everybody|workspace|default|role NAME] [guest|member] [here|workspace|everywhere]",
                example="everybody guest",
                offered_to=Role.MEMBER,
                after="activation",
            ),
        )


def _aimed_at_people(given: Invocation) -> Aimed:
    """Split the level off the arguments of /speakers, where a lone `workspace` means its members."""
    words, is_alone = given.arguments.strip(), len(given.arguments.split()) == 1
    if is_alone and (words in _AUDIENCES or words.lower() in set(Audience)):
        return Aimed(words, place_of(given.chat, "channel"))
    rest, _, last = words.rpartition(" ")
    word = WORDS.get(last.lower())
    return Aimed(rest.strip() if word else words, place_of(given.chat, word or "channel"))


def _channel(given: Invocation) -> Channel:
    return given.session.conversation.channel


def _of_platform(channel: Channel) -> list[Audience]:
    return [Audience.WORKSPACE] if channel.limits.tells_full_members else []


async def _roles(given: Invocation) -> Mapping[str, str]:
    """Return the names of the server's roles by id; none if the platform does not tell now."""
    channel = _channel(given)
    if not isinstance(channel, HasRoles):
        return {}
    try:
        return await channel.roles(given.chat)
    except ChannelError as error:
        log.info("the roles of a server are not known", chat=str(given.chat), reason=error.reason)
        return {}


async def _role_named(given: Invocation, name: str) -> str:
    """Return the id of a role by its mention, id or name. Raises BadSpeakers."""
    if not isinstance(_channel(given), HasRoles):
        raise BadSpeakers(say("speakers_no_roles", given.language, slash=given.slash))
    roles, wanted = await _roles(given), _MENTION.sub(r"\1", name).strip()
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


async def _server_roles(typing: Unfinished) -> Iterable[Suggestion]:
    channel = typing.session.conversation.channel
    if typing.before != "role" or not isinstance(channel, HasRoles):
        return ()
    return [suggested(each.removeprefix("@")) for each in (await channel.roles(typing.chat)).values()]
