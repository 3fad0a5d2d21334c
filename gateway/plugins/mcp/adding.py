"""Adds MCP servers, removes them, and tells which there are."""

from collections.abc import Iterator

from agent_core.mcp.servers import is_installed
from channels.base import Button, OutboundMessage
from channels.text import in_code
from gateway.chat.replies import Answer
from gateway.commands.command import Invocation, reply
from gateway.plugin import Core
from gateway.plugins.mcp.addresses import shown, wrong_with
from gateway.plugins.mcp.settings import McpSettings
from gateway.plugins.mcp.signing_in import SigningIn
from gateway.runs.added_servers import AddedServer
from gateway.settings.mcp import LONGEST_NAME, NAME
from gateway.texts.say import Language, say

TRIED_WITHIN = 25.0
"""Seconds in which a new server is tried before the owner is told of it."""
EACH = "each"
"""The word for a server that everybody uses with an account of their own."""
MOST_SERVERS = 30


class Adding:
    """Adds and removes servers."""

    def __init__(self, core: Core, signing_in: SigningIn, taken: frozenset[str]) -> None:
        """`taken` are words that no server may have as its name."""
        self._core = core
        self._servers = core.servers
        self._signing_in = signing_in
        self._taken = taken

    async def add(self, given: Invocation, name: str, words: str) -> Answer:
        """Add a server, and tell what came of it."""
        url, _, how = words.partition(" ")
        if wrong := self._wrong(given, name, url, how.strip().lower()):
            return wrong
        of_each = how.strip().lower() == EACH
        await self._servers.add(name, AddedServer(url, of_each=of_each), given.sender.id)
        if of_each:
            return _with_button(say("mcp_added_each", given.language, name=name), _sign_in(given, name))
        trouble = await self._servers.tried(name, TRIED_WITHIN)
        if trouble is None and not self._servers.approved.shown(name):
            return _say(given, "mcp_added_slow", name=name)
        if trouble is None:
            count = len(self._servers.approved.shown(name))
            look = Button(label=say("look_button", given.language), action=f"/mcp {name}", style="primary")
            return _with_button(say("mcp_added", given.language, name=name, count=count), look)
        if trouble.asks_sign_in:
            return _with_button(say("mcp_added_sign_in", given.language, name=name), _sign_in(given, name))
        return _say(given, "mcp_added_trouble", name=name, why=in_code(trouble.fact), slash=given.slash)

    def _wrong(self, given: Invocation, name: str, url: str, how: str) -> OutboundMessage | None:
        """Return what is said instead of adding a server."""
        if not url or how not in ("", EACH):
            return _say(given, "mcp_add_usage", slash=given.slash)
        if not is_installed():
            return _say(given, "mcp_not_installed")
        if not NAME.fullmatch(name) or name.lower() in self._taken:
            return _say(given, "mcp_no_name", name=in_code(name), most=LONGEST_NAME)
        if name in self._servers.approved.names:
            return _say(given, "mcp_taken", name=in_code(name), slash=given.slash)
        if len(self._servers.added) >= MOST_SERVERS:
            return _say(given, "mcp_too_many", most=MOST_SERVERS, slash=given.slash)
        key = wrong_with(url, local=self._core.settings.of(McpSettings).local)
        return _say(given, key) if key else None

    async def remove(self, given: Invocation, name: str, _: str) -> Answer:
        """Remove a server."""
        if name not in self._servers.added:
            return _say(given, "mcp_not_added", name=in_code(name))
        await self._signing_in.forget(name)
        await self._servers.remove(name, given.sender.id)
        await self._signing_in.forget(name)  # of those who came back meanwhile, too
        return _say(given, "mcp_removed", name=name)

    def lines(self, language: Language) -> Iterator[str]:
        """Yield a line for each server that owners have added."""
        for name, server in self._servers.added.items():
            yield say(
                "mcp_line", language, name=name, url=in_code(shown(server.url)), state=self._state(name, language)
            )

    def _state(self, name: str, language: Language) -> str:
        if self._servers.added[name].of_each:
            return say("mcp_state_each", language)
        trouble = self._servers.trouble(name)
        if trouble is not None and trouble.asks_sign_in:
            return say("mcp_state_sign_in", language)
        if trouble is None:
            return say("mcp_state_tools", language, count=len(self._servers.approved.shown(name)))
        return f"`{in_code(trouble.fact)}`"


def _sign_in(given: Invocation, name: str) -> Button:
    return Button(label=say("mcp_sign_in_button", given.language), action=f"/mcp in {name}", style="primary")


def _with_button(text: str, *buttons: Button) -> OutboundMessage:
    return OutboundMessage(markdown=text, buttons=(buttons,))


def _say(given: Invocation, key: str, **facts: str | int) -> OutboundMessage:
    return reply(say(key, given.language, **facts))
