"""The command /page: links that sign a browser in, and the browsers that are signed in."""

from collections.abc import Collection, Sequence
from typing import Protocol

from channels.base import OutboundMessage
from channels.text import literal
from gateway.commands.command import Command, Invocation, reply
from gateway.permissions.access import Access
from gateway.permissions.rights import Right, always
from gateway.permissions.roles import Role
from gateway.settings.current import CurrentSettings
from gateway.store.browsers import Browser
from gateway.texts.moments import moment_words
from gateway.texts.say import say

PAGE = "page"
BROWSERS, OUT, NAME, ALL = "browsers", "out", "name", "all"
LOCAL = "web:local"
"""Account of the person at this machine."""
MOST_LISTED = 50


class Entrance(Protocol):
    """The way into the page."""

    link_minutes: int

    @property
    def port(self) -> int:
        """The port on which the page listens."""

    @property
    def is_reachable(self) -> bool:
        """True if others than this machine can reach the page."""

    @property
    def browsers(self) -> Sequence[Browser]:
        """The browsers that are signed in, the one used last first."""

    def link_for(self, principal: str, person: str) -> str:
        """Return a new one-time link that signs a browser in as this account."""

    def open_links(self, principal: str) -> Sequence[tuple[str, float]]:
        """Return the links that this account asked for and that are still open, with when they expire."""

    async def sign_out(self, browsers: Collection[Browser], by: str) -> None:
        """Sign browsers out, and end what they have open."""

    async def rename(self, browser: Browser, name: str) -> None:
        """Give a browser another name."""

    async def reload(self) -> None:
        """Read again which browsers are signed in and which links are open, because another node has changed that."""

    async def sweep(self) -> None:
        """Sign out the browsers of people who may no longer use the page."""


class PageCommands:
    """The command /page. Owners see all browsers, admins their own."""

    def __init__(self, entrance: Entrance | None, access: Access, current: CurrentSettings) -> None:
        """`entrance` is None if the page is off."""
        self._entrance = entrance
        self._access = access
        self._current = current

    async def page(self, given: Invocation) -> OutboundMessage:
        """Give out a link, list the browsers, sign some out, or rename one."""
        if self._entrance is None:
            return reply(say("entry_off", given.language))
        match given.arguments.split():
            case []:
                return self._link(given, self._entrance)
            case [str(word)] if word.lower() == BROWSERS:
                return self._list(given, self._entrance)
            case [str(word), *ids] if word.lower() == OUT and ids:
                return await self._sign_out(given, self._entrance, ids)
            case [str(word), browser, *name] if word.lower() == NAME and name:
                return await self._rename(given, self._entrance, browser, " ".join(name))
        return reply(say("entry_no_browser", given.language, slash=given.slash))

    def _link(self, given: Invocation, entrance: Entrance) -> OutboundMessage:
        if not entrance.is_reachable:
            return reply(say("entry_not_reachable", given.language))
        principal = self._principal(given)
        person = "" if principal == LOCAL else given.sender.name
        link = entrance.link_for(principal, person)
        return reply(say("entry_link", given.language, link=link, minutes=entrance.link_minutes))

    def _list(self, given: Invocation, entrance: Entrance) -> OutboundMessage:
        mine = self._mine(given, entrance)[:MOST_LISTED]
        if not mine:
            return reply(say("entry_browsers_none", given.language))
        lines = [
            say(
                "entry_browser",
                given.language,
                id=each.id,
                name=literal(each.name),
                who=literal(each.person or each.principal),
                used=moment_words(each.used, self._current.zone),
                place=literal(each.place),
            )
            for each in mine
        ]
        return reply("\n".join([say("entry_browsers", given.language), *lines]))

    async def _sign_out(self, given: Invocation, entrance: Entrance, ids: Sequence[str]) -> OutboundMessage:
        """Sign out the named browsers, or everywhere this person is signed in."""
        mine = self._mine(given, entrance)
        if [each.lower() for each in ids] == [ALL]:
            accounts = self._accounts(given)
            chosen = [each for each in mine if each.principal in accounts]
        else:
            chosen = [each for each in mine if each.id in {word.strip("`") for word in ids}]
        if not chosen:
            return reply(say("entry_no_browser", given.language, slash=given.slash))
        await entrance.sign_out(chosen, self._principal(given))
        names = ", ".join(literal(each.name) for each in chosen)
        return reply(say("entry_signed_out", given.language, names=names))

    async def _rename(self, given: Invocation, entrance: Entrance, browser: str, name: str) -> OutboundMessage:
        chosen = [each for each in self._mine(given, entrance) if each.id == browser.strip("`")]
        if not chosen:
            return reply(say("entry_no_browser", given.language, slash=given.slash))
        await entrance.rename(chosen[0], name)
        return reply(say("entry_renamed", given.language, name=literal(name)))

    def _mine(self, given: Invocation, entrance: Entrance) -> list[Browser]:
        accounts = self._accounts(given)
        return [each for each in entrance.browsers if given.is_owner or each.principal in accounts]

    def _accounts(self, given: Invocation) -> set[str]:
        others = self._access.other_accounts(given.chat, given.sender)
        linked = {":".join(filter(None, each)) for each in others}
        return {self._principal(given), *linked}

    def _principal(self, given: Invocation) -> str:
        """Return the account of the person; all channels of this machine have the same one."""
        if ":" not in given.sender.id and given.session.conversation.channel.limits.is_local:
            return LOCAL
        return self._access.principal(given.chat, given.sender)

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                PAGE,
                {"en": "Open the page in a browser, or sign browsers out", "zh": "在浏览器中打开网页，或登出浏览器"},
                self.page,
                rights=always(Right("admin", Role.ADMIN, None, refusal="entry_not_yours", elsewhere="entry_alone")),
                arguments="[browsers|out|name ID TEXT]",
                example="browsers",
                private=True,
                offered_to=Role.ADMIN,
            ),
        )
