"""Decides who may use the bot, for every kind of event and before anything is stored."""

import re
from collections.abc import Iterable
from enum import StrEnum

import structlog
from msgspec import Struct, field

from agent_core.clock import Clock
from channels.base import (
    Addressed,
    Channel,
    ChatKey,
    InboundEvent,
    MessageReceived,
    Sender,
)
from channels.connected import Connected
from channels.values import Standing
from gateway.permissions.groups import Activation, Groups
from gateway.permissions.names import Names
from gateway.permissions.rights import Place
from gateway.permissions.roles import Role, Roles, names_in_settings, without_workspace
from gateway.permissions.speakers import Speakers
from gateway.settings.permissions import Row
from gateway.store.person import Account
from gateway.store.standings import person_in

NOTICE_EVERY = 3600.0
"""Seconds between two log lines about the same unknown user."""
MOST_NOTICED = 1_000
"""Most unknown users whose last line is remembered, so that mass-created accounts cannot fill the memory."""

log = structlog.get_logger(__name__)


class Decision(StrEnum):
    ALLOWED = "allowed"
    REFUSED = "refused"
    IGNORED = "ignored"


class GroupAccess(Struct):
    """The rules of groups, and the standings of the people whom they admit."""

    rules: Groups = field(default_factory=Groups)
    standings: dict[str, Standing] = field(default_factory=dict)

    def role(self, chat: ChatKey, sender: Sender) -> Role | None:
        """Return the rights that the group gives to somebody without a role of their own."""
        return self.rules.speakers(chat).role_of(sender.standing or self.standings.get(person_in(chat, sender.id)))

    def is_news(self, chat: ChatKey, sender: Sender, told: Standing) -> bool:
        """Return True if a sender's standing must be stored: a new one of somebody whom a group admits or admitted."""
        known = self.standings.get(person_in(chat, sender.id))
        if told == known:
            return False
        speakers = self.rules.speakers(chat)
        return known is not None or bool(speakers.needs_standing and speakers.role_of(told))


class Access:
    """Authorises by the platform's stable ids, never by names.

    Empty lists admit nobody, except on a channel that can be reached only from this machine: its users are owners.
    """

    def __init__(
        self,
        roles: Roles,
        channels: Iterable[Channel],
        spoken_in: Iterable[str],
        clock: Clock,
        *,
        groups: GroupAccess | None = None,
        seen: Iterable[tuple[ChatKey, Sender, str]] = (),
    ) -> None:
        """`seen` are chats, people who spoke there, and names of groups, oldest first, for their names."""
        self.groups = groups or GroupAccess()
        self._roles = roles
        self._channels = Connected.of(channels)
        self._spoken_in = set(spoken_in)
        self._clock = clock
        self._names = Names()
        self.speakers = Speakers()
        for chat, sender, group in seen:
            self._saw(chat, sender, group)
        self._noticed: dict[str, float] = {}
        """Time of the log line about each unknown user of the last hour, oldest first."""

    def authorize(self, event: InboundEvent) -> Decision:
        """Decide on an event of any kind. It is the only way in: for messages, edits, commands, presses, reactions,
        deletions, uploads and requests of the page.

        Unaddressed messages of a group are accepted as its activation says.
        """
        if event.sender.is_bot:
            return Decision.IGNORED
        if _is_principal(event.sender) and not self._is_local(event.chat):
            return Decision.REFUSED  # no platform has such ids
        if not self.may_speak(event.chat, event.sender):
            if event.addressed is not Addressed.AMBIENT:
                self._notice(event)
            return Decision.REFUSED
        self._saw(event.chat, event.sender, event.group)
        ambient = event.addressed is Addressed.AMBIENT and isinstance(event, MessageReceived)
        if ambient and not self._takes_ambient(event.chat):
            return Decision.IGNORED
        if (event.chat.without_thread, event.sender.id) not in self.speakers.known:
            self.speakers.add(event.chat.without_thread, event.sender.id)
        return Decision.ALLOWED

    def role(self, chat: ChatKey, sender: Sender) -> Role | None:
        """Return the sender's role, or None if they may not speak."""
        if _is_principal(sender):
            return self.role_of(sender.id)
        channel = self._channels.on(chat.platform)
        if channel is not None and channel.limits.is_local:
            return Role.OWNER
        principal = _account_on(channel, chat, sender)
        role = self._roles.of(principal)
        if role is not None or self._is_blocked(principal) or not self.is_group(chat):
            return role
        return self.groups.role(chat, sender)

    def may_speak(self, chat: ChatKey, sender: Sender) -> bool:
        return self.role(chat, sender) is not None

    def is_admin(self, chat: ChatKey, sender: Sender) -> bool:
        """Return True for owners and admins."""
        role = self.role(chat, sender)
        return role is not None and role.is_at_least(Role.ADMIN)

    def is_trusted(self, chat: ChatKey, sender: Sender) -> bool:
        """Return True for people whose words are no untrusted input: all who may speak but guests."""
        return self.role(chat, sender) not in (None, Role.GUEST)

    def is_owner(self, chat: ChatKey, sender: Sender) -> bool:
        return self.role(chat, sender) is Role.OWNER

    def may_act_for(self, chat: ChatKey, by: Sender, person: str) -> bool:
        """Return True for the person, and for admins and owners with no less rights.

        So an admin never acts with the rights of an owner, as by steering an owner's run.
        """
        return by.id == person or (self.is_admin(chat, by) and self._outranks(chat, by, person))

    def is_own_chat(self, chat: ChatKey, at: ChatKey, by: Sender) -> bool:
        """Return True for a private chat or conversation of the sender, who speaks in the chat `at`."""
        person = self._roles.person(self.principal(at, by))
        direct = {each.chat for each in person.accounts} if person else set()
        whole, here = (each.without_thread for each in (chat, at))
        return whole in direct or (whole == here and not self.is_group(here) and not self.is_visiting(at, by))

    def place(self, chat: ChatKey, sender: Sender) -> Place:
        """Return what a chat is for somebody. A private chat of which the person is not known counts as an owner's."""
        if self.is_group(chat):
            return Place.VISITED if self.is_visiting(chat, sender) else Place.GROUP
        if self._is_whose(chat, sender):
            return Place.DIRECT
        owner = self.whose(chat)
        role = Role.OWNER if owner is None else self.role_of(owner)
        return Place.OWNERS if role is Role.OWNER else Place.OTHERS

    def whose(self, chat: ChatKey) -> str | None:
        """Return the principal whose private chat it is, or None if it is not known."""
        whole = chat.without_thread
        accounts = (account for person in self._roles.people for account in person.accounts)
        if self._is_local(chat):  # the account in the key is the principal, without colons
            return next((each.principal for each in accounts if _account_of(each.principal) == chat.account), None)
        return self._names.whose(whole) or next((each.principal for each in accounts if each.chat == whole), None)

    def _is_whose(self, chat: ChatKey, sender: Sender) -> bool:
        """Return True if a private chat is that of the sender, or of one of their linked accounts."""
        if self._is_local(chat) and chat.account == _account_of(sender.id):
            return True
        if not _is_principal(sender):  # on the platform itself nobody else is in a private chat
            return not self._is_local(chat)
        owner = self.whose(chat)
        return owner is not None and self.person_with(owner) == self.person_with(sender.id)

    def is_visitor(self, sender: Sender) -> bool:
        """Return True for a visitor of the page who acts with an account of another platform, or in its chats."""
        return _is_principal(sender)

    def is_visiting(self, chat: ChatKey, sender: Sender) -> bool:
        """Return True for a visitor of the page who acts in a chat of another platform, where they may be no member."""
        return _is_principal(sender) and not self._is_local(chat)

    def limits(self, chat: ChatKey) -> Row:
        """Return what a group's rules leave to tools; a class that is not in it has no limit."""
        return self.groups.rules.limits(chat) if self.is_group(chat) else {}

    def takes_threads(self, chat: ChatKey) -> bool:
        """Return True if unaddressed messages in threads of the bot are taken."""
        return self.groups.rules.activation(chat) is not Activation.MENTION

    def is_blocked(self, chat: ChatKey, sender: Sender) -> bool:
        return self._is_blocked(self.principal(chat, sender)) and self.role(chat, sender) is None

    def role_of(self, principal: str) -> Role | None:
        """Return the role of an account outside groups."""
        channel = self._channels.on(principal.partition(":")[0])
        return Role.OWNER if channel is not None and channel.limits.is_local else self._roles.of(principal)

    def other_accounts(self, chat: ChatKey, sender: Sender) -> list[tuple[str, str, str]]:
        """Return platform, workspace (or "") and id of each other account of the sender."""
        principal = self.principal(chat, sender)
        person = self._roles.person(principal)
        others = [each.principal for each in person.accounts if each.principal != principal] if person else []
        parts = [each.partition(":") for each in others]
        return [(platform, *rest.rpartition(":")[::2]) for platform, _, rest in parts]

    def named(self, text: str, near: ChatKey) -> str | None:
        """Return the principal that somebody typed as `platform:id`, or None if it has no such form.

        An id without workspace is one of the workspace in which it was typed.
        """
        platform, _, rest = text.partition(":")
        workspace, _, person = rest.rpartition(":")
        channel = self._channels.on(platform)
        if channel is None or channel.limits.is_local or not re.fullmatch(channel.limits.id_form, person):
            return None
        if not channel.limits.ids_per_workspace:
            return None if workspace else text
        workspace = workspace or (near.account if near.platform == platform else "")
        return f"{platform}:{workspace}:{person}" if workspace and not re.search(r"[\s:]", workspace) else None

    def principal(self, chat: ChatKey, sender: Sender) -> str:
        """Return the stable name of a sender's account: `platform:id`, or `platform:workspace:id`.

        A visitor of the page who acts in chats of other platforms has that name as id.
        """
        if _is_principal(sender):
            return sender.id
        return _account_on(self._channels.on(chat.platform), chat, sender)

    def person(self, chat: ChatKey, sender: Sender) -> str:
        """Return the principal that stands for all linked accounts of the sender."""
        return self._roles.linked(self.principal(chat, sender))[0]

    def person_with(self, principal: str) -> str:
        """Return the principal that stands for all accounts linked with this one."""
        return self._roles.linked(principal)[0]

    def is_page(self, chat: ChatKey, sender: Sender) -> bool:
        """Return True if the sender acts from the page or the terminal of this machine."""
        return self._is_local(chat) or _is_principal(sender)

    def accounts_of_chat(self, chat: ChatKey) -> list[str]:
        """Return the principals of all linked accounts of the person whose private chat it is; none if not known."""
        owner = None if self.is_group(chat) else self.whose(chat)
        return self._roles.linked(owner) if owner else []

    def accounts(self, chat: ChatKey, sender: Sender) -> list[str]:
        """Return the principals of all linked accounts of the sender."""
        return self._roles.linked(self.principal(chat, sender))

    def known_in(self, there: ChatKey, chat: ChatKey, sender: Sender) -> Sender | None:
        """Return the account with which somebody who acts in `chat` is known in another chat, or None."""
        for account in self.accounts(chat, sender):
            found = Sender(id=account.rpartition(":")[2], name=self.name_of(account))
            if self.principal(there, found) == account:
                return found
        return None

    def private_chats(self, chat: ChatKey, sender: Sender) -> list[ChatKey]:
        """Return the private chats with the linked accounts of the sender, as far as they have written there."""
        person = self._roles.person(self.principal(chat, sender))
        return [account.chat for account in person.accounts if account.chat] if person else []

    def ids(self, chat: ChatKey, sender: Sender) -> list[str]:
        """Return all linked accounts of the sender as `platform:id`, without workspaces; the own one is the first."""
        own = without_workspace(self.principal(chat, sender))
        return list(dict.fromkeys([own, *map(without_workspace, self.accounts(chat, sender))]))

    def person_named(self, text: str, near: ChatKey) -> str | None:
        """Return the principal that stands for the person somebody typed as `platform:id`, see `named`."""
        principal = self.named(text, near)
        return None if principal is None else self.person_with(principal)

    def name_of(self, principal: str) -> str:
        """Return the name of an account on its platform, or ""."""
        person = self._roles.person(principal)
        named = next((each.name for each in person.accounts if each.principal == principal), "") if person else ""
        return named or self._names.person(principal)

    def turn_of(self, account: Account) -> int:
        """Return a number that is higher the later an account was heard; 0 for one that was not."""
        in_chat = account.chat and self._names.whose(account.chat)
        return max(self._names.turn(account.principal), self._names.turn(in_chat or ""))

    def name_of_chat(self, chat: ChatKey) -> str:
        """Return the name of a group or of the person of a private chat, as last seen, or ""."""
        return self._names.chat(chat)

    def spoke(self, chat: ChatKey) -> None:
        """Record that the bot has posted in the chat."""
        if chat.thread is not None:
            self._spoken_in.add(str(chat))

    def also_spoke(self, chats: Iterable[str]) -> None:
        """Record that the bot has posted in chats from other nodes."""
        self._spoken_in.update(chats)

    def _saw(self, chat: ChatKey, sender: Sender, group: str) -> None:
        principal, private = self.principal(chat, sender), None if self.is_group(chat) else chat
        known_as, is_heard = names_in_settings(principal), not _is_principal(sender)
        self._names.saw(principal, known_as, sender.name, private, is_heard=is_heard)
        if private is None:
            self._names.saw_group(chat, group)

    def _takes_ambient(self, chat: ChatKey) -> bool:
        match self.groups.rules.activation(chat):
            case Activation.ALWAYS:
                return True
            case Activation.THREAD:
                return chat.thread is not None and str(chat) in self._spoken_in
            case Activation.MENTION:
                return False

    def _outranks(self, chat: ChatKey, by: Sender, person: str) -> bool:
        role, other = self.role(chat, by), self.role(chat, Sender(id=person, name=""))
        return role is not None and (other is None or role.is_at_least(other))

    def _is_blocked(self, principal: str) -> bool:
        person = self._roles.person(principal)
        return person is not None and person.is_blocked

    def only_of(self, chat: ChatKey, person: str | None) -> str | None:
        """Return the person if they are a guest in a group: they see only the conversations that they took part in."""
        if person is None or not self.is_group(chat):
            return None
        role = self.role(chat, Sender(id=person, name=""))
        return None if role is not None and role.is_at_least(Role.MEMBER) else person

    def channel(self, chat: ChatKey) -> Channel | None:
        """Return the channel of a chat's platform, or None if it is not connected."""
        return self._channels.on(chat.platform)

    def is_group(self, chat: ChatKey) -> bool:
        """Return True if others may read the chat."""
        channel = self._channels.on(chat.platform)
        return channel is not None and channel.is_group(chat)

    def _is_local(self, chat: ChatKey) -> bool:
        channel = self._channels.on(chat.platform)
        return channel is not None and channel.limits.is_local

    def _notice(self, event: InboundEvent) -> None:
        """Log that an unknown user wrote, at most once an hour each."""
        who = f"{event.chat.platform}:{event.sender.id}"
        now = self._clock.monotonic()
        while self._noticed and now - next(iter(self._noticed.values())) >= NOTICE_EVERY:
            del self._noticed[next(iter(self._noticed))]
        if who in self._noticed:
            return
        self._noticed[who] = now
        if len(self._noticed) > MOST_NOTICED:
            del self._noticed[next(iter(self._noticed))]
        log.warning("message from an unknown user", who=who)


def _is_principal(sender: Sender) -> bool:
    """Return True for a visitor of the page who acts with an account of another platform, or in its chats."""
    return ":" in sender.id


def _account_on(channel: Channel | None, chat: ChatKey, sender: Sender) -> str:
    """Return the principal of somebody who writes in a chat of a platform."""
    if channel is not None and channel.limits.ids_per_workspace:
        return f"{chat.platform}:{chat.account}:{sender.id}"
    return f"{chat.platform}:{sender.id}"


def _account_of(sender: str) -> str:
    """Return the account in the keys of a visitor's chats on the page, which has no colons."""
    return sender.replace(":", ".")
