"""The command /link: several accounts of one person."""

from channels.base import Button, OutboundMessage
from gateway.chat.replies import Answer
from gateway.commands.table import Command, Invocation, reply, rewritten
from gateway.permissions.access import Access
from gateway.permissions.codes import typed
from gateway.permissions.membership import Membership, RoleRefused
from gateway.store.links import LASTS
from gateway.texts.say import say
from gateway.upkeep.stranger_notices import as_code
from gateway.upkeep.strangers import LINK, account_from

YES, OFF = "yes", "off"
MINUTE = 60


class LinkCommands:
    """The command /link. The codes of unknown people are taken by `Strangers`."""

    def __init__(self, membership: Membership, access: Access) -> None:
        self._membership = membership
        self._access = access

    async def link(self, given: Invocation) -> Answer:
        """Give out a code, take one, or separate the account again."""
        if given.in_group:
            return reply(say("pair_alone", given.language))
        words, account = given.arguments.split(), account_from(self._access, given.event)
        if not words:
            code = await self._membership.offer_link(account)
            return reply(say("link_code", given.language, slash=given.slash, code=code, minutes=round(LASTS / MINUTE)))
        if words[0].lower() == OFF:
            done = await self._membership.unlink(account)
            return reply(say("link_off" if done else "link_none", given.language, slash=given.slash))
        code = typed(words[0])
        if words[1:] != [YES]:
            return await self._asked(given, code)
        try:
            person = await self._membership.link(code, account)
        except RoleRefused as refused:
            return reply(say(str(refused), given.language, slash=given.slash))
        accounts = ", ".join(f"`{each.principal}`" for each in person.accounts)
        done_text = say("linked", given.language, accounts=accounts)
        return rewritten(done_text) if given.pressed else reply(done_text)

    async def _asked(self, given: Invocation, code: str) -> OutboundMessage:
        """Name the other account before anything is linked, as somebody else may have sent the code."""
        giver = await self._membership.giver(code)
        if giver is None:
            return reply(say("link_unknown", given.language, slash=given.slash))
        who = " ".join(filter(None, (as_code(giver.name), f"(`{giver.principal}`)")))
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
