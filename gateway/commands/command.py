"""Slash commands, and their table: `gateway/app/parts/commands.py` fills it, and menus and help are made from it."""

import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import partial

from msgspec import Struct, field

from agent_core.origin import Origin, named
from agent_core.sources import person
from channels.attachments import Attachment
from channels.base import ButtonPressed, ChatKey, CommandInvoked, InboundEvent, MessageReceived, OutboundMessage, Sender
from channels.commands import CommandSpec, Form, Suggestion, Typed
from channels.text import literal
from gateway.chat.replies import Answer, Rewritten
from gateway.chat.run_pace import Pace
from gateway.chat.session import ChatSession
from gateway.commands.form import form_of
from gateway.commands.plugin_words import AbsentPlugin
from gateway.permissions.rights import Right, Rights
from gateway.permissions.roles import Role
from gateway.permissions.rules import Rules
from gateway.permissions.sources import origin_of_names
from gateway.texts.say import Language, arguments_in, say

LONGEST_ID = 20
"""Characters of a mistyped id that a reply quotes."""
MOST_SUGGESTED = 25
"""Values offered at once, as many as Discord shows."""
LONGEST_NAME = 40
"""Characters of an unknown command that a reply quotes."""
_TYPED = re.compile(r"[/!](?P<name>[A-Za-z0-9_]{1,32})(?=\s|$)")


class Invocation(Struct, frozen=True):
    """A command as given by a user.

    Attributes:
        session: The chat's session, which is Parley's own.
        event: The message, press or request with which it was given.
        arguments: What stands behind the command, without it; the value of a pressed button.
        language: The user's.
        slash: The prefix of commands on this platform.
        role: The user's role.
        may: Returns True if the user has a right in this chat.
        commands: The commands that the user is offered.
        names: The origin of the names that stand in its words for mentions.
        unknown: Returns the reply about a command of this name, which the user is not offered.
    """

    session: ChatSession
    event: InboundEvent
    arguments: str
    language: Language
    slash: str
    role: Role
    may: Callable[[Right], bool]
    commands: Sequence["Command"]
    names: Origin
    unknown: Callable[[str], Awaitable[str]]

    @property
    def chat(self) -> ChatKey:
        """The chat in which it was given."""
        return self.session.key

    @property
    def sender(self) -> Sender:
        """The person who gave it. On the page one without another name is `You`; `Insight.person` names the account."""
        return self.event.sender

    @property
    def at(self) -> float:
        """Seconds since the epoch at which it was given, by the platform's clock."""
        return self.event.at

    @property
    def asked(self) -> str:
        """The id of its event, which is the same if it is executed again after a crash."""
        return self.event.event_id

    @property
    def origin(self) -> Origin:
        """The origin of its words: what guests write is untrusted input."""
        is_trusted = self.role.is_at_least(Role.MEMBER)
        return self.names if is_trusted else self.names | named(person(self.sender.name))

    @property
    def pressed(self) -> str | None:
        """The id of the message whose button was pressed; it can be rewritten."""
        return self.event.message_id if isinstance(self.event, ButtonPressed) else None

    @property
    def is_owner(self) -> bool:
        return self.role is Role.OWNER

    @property
    def is_admin(self) -> bool:
        """True for owners and admins."""
        return self.role.is_at_least(Role.ADMIN)

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """The files of the message that it is."""
        return self.event.attachments if isinstance(self.event, CommandInvoked) else ()

    @property
    def in_group(self) -> bool:
        return self.session.conversation.channel.is_group(self.chat)

    @property
    def only_of(self) -> str | None:
        """The id of the person whose conversations may be shown alone, for guests in groups; None for those of all."""
        return self.sender.id if self.in_group and not self.role.is_at_least(Role.MEMBER) else None


Body = Callable[[Invocation], Awaitable[Answer]]


class Command(Struct, frozen=True):
    """The name, description by language, and implementation of a command.

    Attributes:
        name: 1 to 32 characters of a-z, 0-9 and _.
        about: What it does, in each language.
        run: Awaited with the `Invocation`; returns the answer.
        rights: Who may give it, and what it does at most.
        arguments: Usage hint, from which the options in menus are made, such as `NAME` or `[add TEXT | rm ID]`.
        example: Arguments of an example, in each language if they differ.
        main: Also listed by /help alone, which leaves out the others.
        hidden: Only used by buttons; not in menus or help.
        takes_files: A message with files can be this command; otherwise such a message is for the agent.
        private: Offered in private chats only.
        form: Pattern of the arguments after which a form asks for the others, where the platform has forms.
        on_messages: The entry in the menus on messages, by language, for commands that tell about a message.
        after: The command behind which menus and /help list it; empty, or one that is not there: behind all.
        offered_to: The least role whose menus and /help list it, if `rights` permit that role one of its forms.
        suggest: Awaited with the `Unfinished` argument that somebody is typing; returns values for it.
        waits_for_none: Runs at once beside the chat's other commands and messages, which do not wait for it either.
        takes_back: Takes back what was said, so that no run may begin meanwhile.
        secret_in: Returns the part of the arguments that is not stored; after a kill the command gets `[secret]` there.
        recorded: First words of the arguments with which each use is written to the audit file, with the next word.
    """

    name: str
    about: Mapping[Language, str]
    run: Body
    rights: Rights
    arguments: str = ""
    example: Mapping[Language, str] | str = ""
    main: bool = False
    hidden: bool = False
    takes_files: bool = False
    private: bool = False
    form: str | None = None
    on_messages: Mapping[Language, str] = field(default_factory=dict)
    after: str = ""
    offered_to: Role = Role.GUEST
    suggest: "Suggester | None" = None
    waits_for_none: bool = False
    takes_back: bool = False
    secret_in: Callable[[str], str] | None = None
    recorded: frozenset[str] = frozenset()

    @property
    def spec(self) -> CommandSpec:
        about = {**self.about}
        return CommandSpec(
            name=self.name,
            description=about,
            arguments=self.arguments,
            usage={language: arguments_in(self.arguments, language) for language in self.about},
            private=self.private,
            takes_files=self.takes_files,
            for_admins=self.offered_to.is_at_least(Role.ADMIN),
            form=self.form,
            on_messages={**self.on_messages},
        )

    def takes_suggestions(self, name: str) -> bool:
        """Return True for an option that is written by hand."""
        return any(option.name == name and not option.choices for option in self.spec.options)

    def usage(self, slash: str, language: Language) -> str:
        """Return how to write the command, with an example if it has one."""
        usage = f"{slash}{self.name} {arguments_in(self.arguments, language)}".rstrip()
        example = self.example if isinstance(self.example, str) else self.example[language]
        if not example:
            return say("usage", language, usage=usage)
        return say("usage_example", language, usage=usage, example=f"{slash}{self.name} {example}")


class Unfinished(Struct, frozen=True):
    """An argument of a command that somebody is typing."""

    session: ChatSession
    sender: Sender
    role: Role
    language: Language
    commands: Sequence[Command]
    """The commands that the person is offered."""
    option: str
    before: str
    """The other arguments."""

    @property
    def chat(self) -> ChatKey:
        return self.session.key

    @property
    def is_owner(self) -> bool:
        return self.role is Role.OWNER

    @property
    def is_admin(self) -> bool:
        """True for owners and admins."""
        return self.role.is_at_least(Role.ADMIN)

    @property
    def in_group(self) -> bool:
        return self.session.conversation.channel.is_group(self.chat)

    @property
    def is_guest_in_group(self) -> bool:
        return self.in_group and self.role is Role.GUEST


Suggester = Callable[[Unfinished], Awaitable[Iterable[Suggestion]]]
"""Returns values that an argument of a command can have."""
LookAt = Callable[[str], Awaitable[None]]
"""Sees to it that the rights of the person with an account are those that all nodes see now."""
Absent = Callable[[str], Awaitable[AbsentPlugin | None]]
"""Returns the plugin whose command this would be, if it is not loaded."""


class CommandTable:
    """All commands, in the order of menus and /help."""

    def __init__(self, commands: Iterable[Command], rules: Rules, *, look_at: LookAt, absent: Absent) -> None:
        self.commands = in_order(commands)
        self.specs = tuple(command.spec for command in self.commands if not command.hidden)
        self._incomplete = {spec.name for spec in self.specs if any(option.required for option in spec.options)}
        """Commands that do nothing without arguments."""
        self._by_name = {command.name: command for command in self.commands}
        self.secrets_in = {command.name: command.secret_in for command in self.commands if command.secret_in}
        self._rules = rules
        self._look_at = look_at
        self._absent = absent

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def waits_for_none(self, name: str) -> bool:
        """Return True if the command runs beside the chat's other commands."""
        return name in self and self._by_name[name].waits_for_none

    def takes_back(self, name: str) -> bool:
        """Return True if no run may begin while the command is in progress."""
        return name in self and self._by_name[name].takes_back

    def refusal(self, chat: ChatKey, sender: Sender, name: str, arguments: str) -> str:
        """Return the key of the sentence that refuses somebody a command in a chat; empty if they may give it."""
        return self._rules.refusal(self._by_name[name].rights.of(arguments), chat, sender)

    def with_files(self, event: MessageReceived) -> MessageReceived | CommandInvoked:
        """Return the command that a message with files is, or the message as it is."""
        if event.shared:
            return event
        found = _TYPED.match(event.text.strip())
        command = self._by_name.get(found["name"].lower()) if found else None
        if found is None or command is None or not command.takes_files:
            return event
        return event.as_command(command.name, event.text.strip()[found.end() :].strip())

    async def run(self, session: ChatSession, event: InboundEvent, name: str, arguments: str) -> Answer:
        """Execute the command of an event. Returns the reply, or None if there is none."""
        conversation = session.conversation
        language = await conversation.language(event.sender)
        slash = (isinstance(event, CommandInvoked) and event.slash) or conversation.channel.limits.slash
        command = self._by_name.get(name)
        await self._look_at(self._rules.access.principal(session.key, event.sender))
        role = self._rules.access.role(session.key, event.sender)
        if role is None:
            return None  # it was taken away while the command waited
        if command is None and isinstance(event, ButtonPressed):
            return OutboundMessage(markdown=say("button_gone", language), respond=event.whisper)
        if command is None:
            return reply(await self._unknown(name, slash, language, role))
        given = Invocation(
            session,
            event,
            arguments,
            language,
            slash,
            role=role,
            may=partial(self._rules.may, chat=session.key, sender=event.sender),
            commands=self.offered(role),
            names=origin_of_names(event, self._rules.access.is_trusted),
            unknown=partial(self._unknown, slash=slash, language=language, role=role),
        )
        if name in self._incomplete and not arguments.strip():
            return reply(command.usage(slash, language))
        if refusal := self.refusal(session.key, event.sender, name, arguments):
            return whispered(given, say(refusal, language, slash=slash))
        return await command.run(given)

    def offered(self, role: Role) -> list[Command]:
        """Return the commands that people of this role are offered."""
        shown = (each for each in self.commands if not each.hidden and role.is_at_least(each.offered_to))
        return [each for each in shown if any(map(partial(self._rules.may_have, role), each.rights.forms.values()))]

    async def form(self, session: ChatSession, sender: Sender, line: str) -> Form | None:
        """Return the form for a command that was begun; None if it has none, or is not for this person."""
        name, _, begun = line.removeprefix("/").partition(" ")
        if name not in self or self.refusal(session.key, sender, name, f"{begun} x"):
            return None
        return form_of(self._by_name[name].spec, begun, await session.conversation.language(sender))

    async def suggest(self, session: ChatSession, sender: Sender, typed: Typed) -> list[Suggestion]:
        """Return values for an argument that contain what was typed; none for people who are not offered the command.

        Those that begin with it come first.
        """
        role, command = self._rules.access.role(session.key, sender), self._by_name.get(typed.command)
        if role is None or command is None or command.suggest is None:
            return []
        commands = self.offered(role)
        if command not in commands or not command.takes_suggestions(typed.option):
            return []
        if self.refusal(session.key, sender, command.name, f"{typed.before} {typed.text}"):
            return []
        language = await session.conversation.language(sender)
        unfinished = Unfinished(session, sender, role, language, commands, typed.option, typed.before)
        begun = typed.text.strip().casefold().replace("_", " ")
        found = await command.suggest(unfinished)
        fitting = [each for each in found if begun in f"{each.value} {each.label}".casefold().replace("_", " ")]
        fitting.sort(key=lambda each: not each.value.casefold().replace("_", " ").startswith(begun))
        return fitting[:MOST_SUGGESTED]

    async def _unknown(self, name: str, slash: str, language: Language, role: Role) -> str:
        """Return the reply about a command that somebody of this role is not offered.

        It is one for others, one of a plugin that is not loaded, or perhaps a similar one.
        """
        if any(spec.name == name for spec in self.specs):
            return say("help_for_admins", language, slash=slash, name=name)
        if plugin := await self._absent(name):
            return plugin.words(name, slash, language, is_owner=role is Role.OWNER)
        name = literal(name[:LONGEST_NAME])
        if meant := get_close_matches(name, [each.name for each in self.offered(role)], n=1):
            return say("unknown_command_meant", language, slash=slash, name=name, meant=meant[0])
        return say("unknown_command", language, slash=slash, name=name)


def in_order(commands: Iterable[Command]) -> tuple[Command, ...]:
    """Return the commands, those that name the same one in their order behind it, and behind all if it is not there.

    Raises ValueError for two of one name, and if some name each other.
    """
    by_name: dict[str, Command] = {}
    for command in commands:
        if by_name.setdefault(command.name, command) is not command:
            raise ValueError(f"two commands have the name /{command.name}")
    behind: dict[str, list[Command]] = defaultdict(list)
    for command in by_name.values():
        behind[command.after if command.after in by_name else ""].append(command)
    found, rest = list[Command](), behind[""][::-1]
    while rest:
        command = rest.pop()
        found.append(command)
        rest += behind[command.name][::-1]
    if circle := by_name.keys() - {each.name for each in found}:
        raise ValueError(f"these commands are listed behind each other: {', '.join(sorted(circle))}")
    return tuple(found)


def too_soon(pace: Pace, given: Invocation) -> OutboundMessage | None:
    """Return a refusal if the user has started too many runs lately; otherwise count this one."""
    seconds = pace.run_wait(given.chat, given.sender)
    return reply(say("wait_a_moment", given.language, seconds=round(seconds))) if seconds else None


def reply(markdown: str) -> OutboundMessage:
    """Return a reply with this text in Markdown."""
    return OutboundMessage(markdown=markdown)


def whispered(given: Invocation, markdown: str) -> OutboundMessage:
    """Reply to a press so that only its person sees it, where the platform can show such a message."""
    whisper = given.event.whisper if isinstance(given.event, ButtonPressed) else None
    return OutboundMessage(markdown=markdown, respond=whisper)


def rewritten(markdown: str) -> Rewritten:
    """Replace the pressed message by this text, without buttons."""
    return Rewritten(reply(markdown))
