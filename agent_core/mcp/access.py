"""The access to an MCP server that somebody has added: which addresses it may have, and whose tokens it is shown."""

from typing import Protocol

from agent_core.tools.web.fetch import MayReach


class Access(Protocol):
    """The access to one server, for everybody or for one person."""

    @property
    def may_reach(self) -> MayReach:
        """Return what decides whether a connection to an address is allowed."""

    async def token(self) -> str:
        """Return the token that is shown to the server; empty if there is none."""

    async def renewed(self, refused: str) -> str:
        """Return a token in place of one that the server has refused; empty if there is none."""

    def challenged(self, header: str) -> None:
        """Take note that the server asks for a sign-in. `header` is its `WWW-Authenticate`."""
