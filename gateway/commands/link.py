"""The command /link: several accounts of one person."""

from collections.abc import Awaitable, Callable, Sequence

from channels.base import Button, OutboundMessage
from gateway.chat.replies import Answer
from gateway.commands.table import Command, Invocation, reply, rewritten
from gateway.permissions.access import Access
from gateway.permissions.codes import typed
from gateway.permissions.membership import Membership, RoleRefused
from gateway.store.links import LASTS
from gateway.store.person import Account
from gateway.texts.say import say
from gateway.upkeep.stranger_notices import StrangerNotices, shown_account
from gateway.upkeep.strangers import LINK, account_from

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
    ) -> None:
        """`revoked` ends what is open for people who may not speak any more."""
        self._membership = membership
        self._access = access
        self._notices = notices
        self._revoked = revoked

    async def link(self, given: Invocation) -> Answer:
        """Give out a code, take one, or separate the account again."""
        if given.in_group:
            return reply(say("pair_alone", given.language))
        words, account = given.arguments.split(), account_from(self._access, given.event)
        if not words:
            code = await self._membership.offer_link(account)
            return reply(say("link_code", given.language, slash=given.slash, code=code, minutes=round(LASTS / MINUTE)))
        if words[0].lower() == OFF:
            return await self._separated(given, account, words[1:])
        code = typed(words[0])
        if words[1:] != [YES]:
            return await self._asked(given, code)
        giver = await self._membership.giver(code)
        try:
            person = await self._membership.link(code, account)
        except RoleRefused as refused:
            return reply(say(str(refused), given.language, slash=given.slash))
        if giver is not None:
            self._notices.tell_giver(giver, account, code)
        accounts = ", ".join(f"`{each.principal}`" for each in person.accounts)
        done_text = say("linked", given.language, accounts=accounts)
        return rewritten(done_text) if given.pressed else reply(done_text)

    async def _separated(self, given: Invocation, account: Account, named: Sequence[str]) -> Answer:
        """Separate this account, or one that is named and used a code of this one."""
        if not named:
            done = await self._membership.unlink(account)
            return reply(say("link_off" if done else "link_none", given.language, slash=given.slash))
        principal = self._access.named(named[0].strip("`"), given.chat)
        person = await self._membership.separate(account, principal) if principal else None
        if person is None:
            return reply(say("link_not_yours", given.language, slash=given.slash))
        await self._revoked()
        return rewritten(
            say("link_separated", given.language, slash=given.slash, who=shown_account(person.accounts[0]))
        )

    async def _asked(self, given: Invocation, code: str) -> OutboundMessage:
        """Name the other account before anything is linked, as somebody else may have sent the code."""
        giver = await self._membership.giver(code)
        if giver is None:
            return reply(say("link_unknown", given.language, slash=given.slash))
        who = shown_account(giver)
        button = Button(label=say("link_button", given.language), action=f"/{LINK} {code} {YES}")
        return OutboundMessage(
            markdown=say("link_asked", given.language, slash=given.slash, who=who), buttons=((button,),)
        )

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                LINK,
                {"en": "Link your accounts on several platforms", "zh": "关联您在多个平台上的账号"},
                self.link,
                arguments="[off|CODE]",
                example="k7m2xq9d",
                private=True,
            ),
        )
