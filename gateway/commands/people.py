"""The commands for roles: /people, /allow, /role, /block and /whoami, and the buttons about strangers."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping

from msgspec.structs import replace

from channels.base import Button, OutboundMessage
from channels.commands import Suggestion
from gateway.chat.replies import Answer, Unfolded
from gateway.commands.choice import Asked, Page, choice, entry, more
from gateway.commands.command import Command, Invocation, Unfinished, reply, rewritten
from gateway.commands.suggested import suggested
from gateway.permissions.access import Access
from gateway.permissions.membership import By, Membership, RoleRefused
from gateway.permissions.namesakes import Namesakes
from gateway.permissions.rights import TALK, Right, always
from gateway.permissions.roles import Role, Roles
from gateway.store.person import Account, Person
from gateway.store.strangers import Stranger
from gateway.texts.say import Language, say
from gateway.upkeep.stranger_notices import (
    LONGEST_NAME,
    OUTCOMES,
    VERDICTS,
    as_code,
    plain_name,
    quoted_name,
    verdict_buttons,
)
from gateway.upkeep.strangers import Strangers, account_of

MOST_LISTED = 30
MOST_BUTTONS = 8
LONGEST_LABEL = 30
"""Characters of a name on a button."""
LONGEST_WHO = 80
"""Characters of an id that a reply quotes."""
NONE, BLOCKED = "none", "blocked"
PEOPLE = Right("admin", Role.ADMIN, Role.ADMIN, refusal="role_not_yours")
ROLES: Mapping[str, str] = {
    Role.OWNER: "role_owner",
    Role.ADMIN: "role_admin",
    Role.MEMBER: "role_member",
    Role.GUEST: "role_guest",
    NONE: "role_none",
    BLOCKED: "role_blocked",
}
"""Text keys."""


def known_people(roles: Roles, typing: Unfinished) -> Iterable[Suggestion]:
    """Return the accounts of all known people, with their roles."""
    for person in roles.people:
        role = BLOCKED if person.is_blocked else roles.of(person.accounts[0].principal) or NONE
        words = say(ROLES[role], typing.language)
        yield from (suggested(each.principal, f"{each.name} ({words})") for each in person.accounts)


class PeopleCommands:
    """The commands that show and change the roles of people."""

    def __init__(
        self,
        access: Access,
        roles: Roles,
        membership: Membership,
        strangers: Strangers,
        revoked: Callable[[], Awaitable[object]],
    ) -> None:
        """`revoked` ends what is open for people who may not speak any more."""
        self._access = access
        self._roles = roles
        self._namesakes = Namesakes(roles, access)
        self._membership = membership
        self._strangers = strangers
        self._revoked = revoked

    async def people(self, given: Invocation) -> Answer:
        """List everybody with a role or a block, and the strangers who wait."""
        waiting = await self._strangers.waiting()
        words, page = Asked.parse(given.arguments)
        wanted = words.casefold()
        known = [list(map(self._named, each)) for each in self._namesakes.everybody()]
        listed = [each for each in known if wanted in _described(*each).casefold()]
        people = [person for each in listed for person in each]
        lines = [say("people" if people or waiting else "people_none", given.language), ""]
        lines += [self._line(given, *each) for each in listed[:MOST_LISTED]]
        if len(listed) > MOST_LISTED:
            lines.append(say("people_more", given.language, count=len(listed) - MOST_LISTED, slash=given.slash))
        lines += [say("people_waits", given.language, who=quoted_name(each)) for each in waiting[:MOST_LISTED]]
        own = self._access.principal(given.chat, given.sender)
        others = [each for each in people if own not in {account.principal for account in each.accounts}]
        entries = [each for one in waiting for each in entry(_label(one), f"/person {one.id}")]
        names = Counter(map(_name, others))
        for each in others:
            label, shows = _button(each, is_only=names[_name(each)] == 1), _shows(each.accounts[0].principal)
            entries += entry(label, shows, say(self._role_of(each), given.language))
        buttons = tuple((Button(label=each.label, action=each.action),) for each in entries[:MOST_BUTTONS])
        shown = Page.of(entries, page)
        menu = [*shown.shown, *more(shown, f"people {words}".rstrip(), given.language)]
        made = choice(say("people_choose", given.language), menu, len(buttons))
        answer = OutboundMessage(markdown="\n".join(lines), buttons=buttons, choice=made)
        return Unfolded(answer) if given.pressed and page > 1 else answer

    async def person(self, given: Invocation) -> OutboundMessage:
        """Show one person or stranger, with buttons for what can be changed."""
        who = given.arguments.strip()
        stranger = next((each for each in await self._strangers.waiting() if each.id == who), None)
        if stranger is not None:
            buttons = tuple(verdict_buttons(who, given.language))
            text = say("people_waits", given.language, who=quoted_name(stranger))
            return OutboundMessage(markdown=text, buttons=(buttons[:2], buttons[2:]))
        principal = self._access.named(who, given.chat)
        if principal is None:
            return reply(self._unknown(given, who))
        person = self._membership.known(Account(principal))
        present = self._roles.of(principal)
        roles = [role for role in Role if role is not present and (given.is_owner or not role.is_at_least(Role.ADMIN))]
        row = tuple(
            Button(label=say(ROLES[role], given.language), action=f"/role {principal} {role}") for role in roles
        )
        block = Button(label=say("block_button", given.language), action=f"/block {principal}", style="danger")
        rows = (row, (block,)) if not person.is_blocked else (row,)
        return OutboundMessage(markdown=self._line(given, self._named(person)), buttons=rows)

    async def allow(self, given: Invocation) -> Answer:
        """Let somebody in as a member, or as a guest; this ends a block."""
        who, _, role = given.arguments.strip().partition(" ")
        wanted = Role.GUEST if role.strip().lower() == Role.GUEST else Role.MEMBER
        if role.strip().lower() not in {"", Role.GUEST, Role.MEMBER}:
            return reply(say("allow_how", given.language, slash=given.slash))
        return await self._give(given, who, wanted)

    async def role(self, given: Invocation) -> Answer:
        """Show somebody's role, or change it."""
        who, _, name = given.arguments.strip().partition(" ")
        name = name.strip().lower()
        if not name:
            return await self.person(given)
        if name != NONE and name not in set(Role):
            return reply(say("role_how", given.language, slash=given.slash))
        return await self._give(given, who, None if name == NONE else Role(name))

    async def block(self, given: Invocation) -> Answer:
        """Refuse everything from somebody, and forget what they wrote as a stranger."""
        account = await self._account(given, given.arguments.strip())
        if account is None:
            return reply(self._unknown(given, given.arguments.strip()))
        by = By(given.chat, given.sender)
        try:
            person = await self._membership.block(by, account)
        except RoleRefused as refused:
            return reply(say(str(refused), given.language, slash=given.slash))
        await self._revoked()
        await self._strangers.known_now(account.principal, "block", by)
        text = say("person_blocked", given.language, who=_described(self._named(person)), slash=given.slash)
        return rewritten(text) if given.pressed else reply(text)

    async def stranger(self, given: Invocation) -> Answer:
        """Decide about a stranger; the arguments of the button are the decision and the stranger's id."""
        verdict, _, key = given.arguments.strip().partition(" ")
        if verdict not in VERDICTS:
            return reply(say("stranger_decided", given.language, slash=given.slash))
        try:
            stranger = await self._strangers.decide(key, verdict, By(given.chat, given.sender))
        except RoleRefused as refused:
            return reply(say(str(refused), given.language, slash=given.slash))
        if stranger is None:
            return reply(say("stranger_decided", given.language, slash=given.slash))
        by = as_code(given.sender.name)
        return rewritten(say(OUTCOMES[verdict], given.language, who=quoted_name(stranger), by=by))

    async def whoami(self, given: Invocation) -> OutboundMessage:
        """Show the sender's role and accounts."""
        principal = self._access.principal(given.chat, given.sender)
        person = self._roles.person(principal)
        accounts = ", ".join(f"`{each.principal}`" for each in person.accounts) if person else f"`{principal}`"
        role = say(ROLES[given.role], given.language)
        lines = [say("whoami", given.language, role=role, accounts=accounts)]
        if (seeded := self._roles.seeded(principal)) is not None:
            key = "whoami_owner_settings" if seeded is Role.OWNER else "whoami_settings"
            lines.append(say(key, given.language))
        return reply("\n".join(lines))

    async def _give(self, given: Invocation, who: str, role: Role | None) -> Answer:
        account = await self._account(given, who)
        if account is None:
            return reply(self._unknown(given, who))
        by = By(given.chat, given.sender)
        try:
            person = await self._membership.give(by, account, role)
        except RoleRefused as refused:
            return reply(say(str(refused), given.language, slash=given.slash))
        await self._revoked()
        if role is not None:
            await self._strangers.known_now(account.principal, "guest" if role is Role.GUEST else "member", by)
        named = say(ROLES[role or NONE], given.language)
        text = say("role_set", given.language, who=_described(self._named(person)), role=named)
        return rewritten(text) if given.pressed else reply(text)

    async def _account(self, given: Invocation, who: str) -> Account | None:
        principal = self._access.named(who.strip("`"), given.chat)
        if principal is None:
            return None
        waiting = await self._strangers.waiting()
        return next((account_of(each) for each in waiting if each.principal == principal), Account(principal))

    def _unknown(self, given: Invocation, who: str) -> str:
        return say("who_unknown", given.language, who=as_code(who[:LONGEST_WHO]) or "?", slash=given.slash)

    def _named(self, person: Person) -> Person:
        """Return a person with the names that the platforms last told, where none are stored."""
        names = ((each, each.name or self._access.name_of(each.principal)) for each in person.accounts)
        return replace(person, accounts=tuple(replace(each, name=name) for each, name in names))

    def _line(self, given: Invocation, person: Person, *alike: Person) -> str:
        """Return the row of a person, with the owners who look like the same one."""
        language = given.language
        facts = list(self._facts(person, language))
        if alike:
            facts.append(say("people_alike", language, slash=given.slash))
        row = say("people_row", language, role=say(self._role_of(person), language), who=_described(person, *alike))
        return row + (say("people_facts", language, facts=", ".join(facts)) if facts else "")

    def _role_of(self, person: Person) -> str:
        """Return the text key of a person's role."""
        role = self._roles.of(person.accounts[0].principal)
        return ROLES[role.value if role else BLOCKED if person.is_blocked else NONE]

    def _facts(self, person: Person, language: Language) -> Iterator[str]:
        if self._roles.seeded(person.accounts[0].principal) is not None:
            yield say("person_settings", language)
        if person.by:
            yield say("person_by", language, by=as_code(self._access.name_of(person.by) or person.by))

    async def _known(self, typing: Unfinished) -> Iterable[Suggestion]:
        return known_people(self._roles, typing)

    async def _newcomers(self, typing: Unfinished) -> Iterable[Suggestion]:
        """Return the strangers who wait, then those who are blocked or were let out."""
        waiting = [suggested(each.principal, each.event.sender.name) for each in await self._strangers.waiting()]
        out = [each for person in self._roles.people for each in person.accounts if not self._roles.of(each.principal)]
        return [*waiting, *(suggested(each.principal, each.name) for each in out)]

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "people",
                {"en": "List who may talk to me, with buttons", "zh": "查看谁可以和我说话"},
                self.people,
                rights=always(PEOPLE),
                suggest=self._known,
                arguments="[WORDS]",
                example={"en": "ann", "zh": "小安"},
                offered_to=Role.ADMIN,
            ),
            Command(
                "allow",
                {"en": "Let somebody in, as a member or guest", "zh": "允许某人使用，作为成员或访客"},
                self.allow,
                rights=always(PEOPLE),
                suggest=self._newcomers,
                arguments="PERSON [member|guest]",
                example="telegram:123456789 guest",
                offered_to=Role.ADMIN,
            ),
            Command(
                "role",
                {"en": "Show or change somebody's role", "zh": "查看或更改某人的角色"},
                self.role,
                rights=always(PEOPLE),
                suggest=self._known,
                arguments="PERSON [owner|admin|member|guest|none]",
                example="telegram:123456789 admin",
                offered_to=Role.ADMIN,
            ),
            Command(
                "block",
                {"en": "Refuse everything from somebody", "zh": "拉黑某人"},
                self.block,
                rights=always(PEOPLE),
                suggest=self._known,
                arguments="PERSON",
                example="telegram:123456789",
                offered_to=Role.ADMIN,
            ),
            Command(
                "whoami",
                {"en": "Show your role and accounts", "zh": "查看您的角色和账号"},
                self.whoami,
                rights=always(TALK),
            ),
            Command(
                "person", {"en": "Show one person", "zh": "查看某人"}, self.person, rights=always(PEOPLE), hidden=True
            ),
            Command(
                "stranger",
                {"en": "Decide about a stranger", "zh": "决定是否允许"},
                self.stranger,
                rights=always(PEOPLE),
                hidden=True,
            ),
        )


def _name(person: Person) -> str:
    return next((each.name for each in person.accounts if each.name), person.accounts[0].principal)


def _button(person: Person, *, is_only: bool) -> str:
    """Return the label of a person; the platform tells people of the same name apart."""
    platform = person.accounts[0].principal.partition(":")[0]
    name = plain_name(_name(person))[:LONGEST_LABEL]
    return name if is_only else f"{name} ({platform})"


def _shows(principal: str) -> str:
    return f"/person {principal}"[:64]


def _described(*people: Person) -> str:
    """Return the name and the accounts of a person, or of several who may be one, as code."""
    accounts = [account for person in people for account in person.accounts]
    name = next((as_code(each.name[:LONGEST_NAME]) for each in accounts if each.name), "")
    return " ".join(filter(None, (name, ", ".join(f"`{each.principal}`" for each in accounts))))


def _label(stranger: Stranger) -> str:
    platform = stranger.principal.partition(":")[0]
    return f"? {plain_name(stranger.event.sender.name or stranger.principal)[:LONGEST_LABEL]} ({platform})"
