"""The command /link: several accounts of one person."""

from collections.abc import Awaitable, Callable, Sequence

from channels.base import Button, OutboundMessage
from gateway.chat.replies import Answer, Once, Rewritten
from gateway.commands.command import Command, Invocation, reply, rewritten
from gateway.commands.people import ROLES
from gateway.permissions.access import Access
from gateway.permissions.codes import typed
from gateway.permissions.membership import Membership, RoleRefused
from gateway.permissions.rights import Right, always
from gateway.security.masking import MASK
from gateway.store.links import LASTS, LINKED, Link
from gateway.store.person import Account, Person
from gateway.texts.say import say
from gateway.upkeep.stranger_notices import StrangerNotices, shown_account
from gateway.upkeep.strangers import LINK, account_from, link_post

YES, OFF = "yes", "off"
MINUTE = 60


class LinkCommands:
    """The command /link. The codes of unknown people are taken by `Strangers`."""

    def __init__(
        self,
        membership: Membership,
        access: Access,
        notices: StrangerNotices,
        revoked: Callable[[], Awaitable[object]],
        outcome: Callable[[str], Awaitable[str | None]],
    ) -> None:
        """Create the command.

        Args:
            revoked: Ends what is open for people who may not speak any more.
            outcome: Returns what came of the code of an event, if the event was handled before.
        """
        self._outcome = outcome
        self._membership = membership
        self._access = access
        self._notices = notices
        self._revoked = revoked

    async def link(self, given: Invocation) -> Answer:
        """Give out a code, take one, or separate the account again."""
        words, account = given.arguments.split(), account_from(self._access, given.event)
        if not words:
            code = await self._membership.offer_link(account)
            text = say("link_code", given.language, code=code, minutes=round(LASTS / MINUTE))
            return OutboundMessage(markdown=text, forget=code)
        if words[0].lower() == OFF:
            return await self._separated(given, account, words[1:])
        if await self._outcome(given.asked) == LINKED:  # the event is handled again after a crash
            done = self._linked(given, self._membership.known(account))
            return done if given.pressed else Once(f"{link_post(given.asked)}:reply", done.message)
        return await self._take(given, account, words)

    async def _take(self, given: Invocation, account: Account, words: Sequence[str]) -> Answer:
        """Take a code, or a yes to the account that it is from."""
        if words[0] == YES and len(words) > 1:
            link = await self._membership.offered(words[1], account)
        else:
            link = await self._membership.said(typed(words[0]), account)
        if link is None:
            key = "code_lost" if words[0] == MASK else "link_unknown"  # the code is stored nowhere
            return reply(say(key, given.language, slash=given.slash))
        return await (self._link(given, link, account) if YES in words[:2] else self._asked(given, link))

    async def _link(self, given: Invocation, link: Link, account: Account) -> Answer:
        try:
            person = await self._membership.link(link, account, given.asked)
        except RoleRefused as refused:
            return reply(say(str(refused), given.language, slash=given.slash))
        self._notices.tell_giver(link, account)
        done = self._linked(given, person)
        return done if given.pressed else done.message

    def _linked(self, given: Invocation, person: Person) -> Rewritten:
        accounts = ", ".join(f"`{each.principal}`" for each in person.accounts)
        return rewritten(say("linked", given.language, accounts=accounts))

    async def _separated(self, given: Invocation, account: Account, named: Sequence[str]) -> Answer:
        """Separate this account, or one that is named and used a code of this one."""
        if not named:
            if not await self._membership.unlink(account):
                return reply(say("link_none", given.language))
            role = self._access.role_of(account.principal)
            await self._revoked()
            if role is None:
                return reply(say("link_off_out", given.language))
            return reply(say("link_off", given.language, role=say(ROLES[role], given.language)))
        principal = self._access.named(named[0].strip("`"), given.chat)
        person = await self._membership.separate(account, principal) if principal else None
        if person is None:
            return reply(say("link_not_yours", given.language, slash=given.slash))
        await self._revoked()
        return rewritten(
            say("link_separated", given.language, slash=given.slash, who=shown_account(person.accounts[0]))
        )

    async def _asked(self, given: Invocation, link: Link) -> OutboundMessage:
        """Name the other account before anything is linked, as somebody else may have sent the code."""
        who = shown_account(link.giver)
        button = Button(label=say("link_button", given.language), action=f"/{LINK} {YES} {link.id}")
        return OutboundMessage(markdown=say("link_asked", given.language, who=who), buttons=((button,),))

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                LINK,
                {"en": "Link your accounts on several platforms", "zh": "关联您在多个平台上的账号"},
                self.link,
                rights=always(Right("talk", group=None, elsewhere="pair_alone")),
                arguments="[off|CODE]",
                example="k7m2xq9d",
                private=True,
            ),
        )
