"""Sign-ins to MCP servers as they are kept, and the client that speaks OAuth."""

import asyncio
import importlib
from typing import Protocol, cast

from pydantic import BaseModel, ConfigDict

from agent_core.tools.web.fetch import MayReach

OAUTH = "agent_core.mcp.oauth"


class SignInFailed(Exception):
    """Somebody cannot be signed in, or is not any more; the text says why, for people."""

    def __init__(self, fact: str, *, is_final: bool = True) -> None:
        super().__init__(fact)
        self.fact = fact
        self.is_final = is_final
        """False if the same may succeed later."""


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True)


class Grant(_Kept):
    """The endpoint that issues tokens for a server, and the client and person that get them."""

    issuer: str
    token_endpoint: str
    revocation_endpoint: str = ""
    resource: str = ""
    """The server that the tokens are for; empty if it has not told its name."""
    scope: str = ""
    redirect: str
    """The address to which a browser comes back."""
    client_id: str
    client_secret: str = ""
    method: str
    """How the client is known at the token endpoint."""
    names_issuer: bool = False
    """True if a browser brings the issuer's name (RFC 9207)."""


class Begun(_Kept):
    """A sign-in that waits for a person."""

    grant: Grant
    state: str
    """Comes back with the browser."""
    verifier: str
    """Proves that whoever exchanges the code has begun the sign-in."""
    address: str
    """The page on which the person signs in."""


class Tokens(_Kept):
    """The tokens of somebody who has signed in."""

    grant: Grant
    access: str
    refresh: str = ""
    """Empty if the access cannot be renewed."""
    until: float | None = None
    """When the access ends; None if that was not told."""


class OAuthClient(Protocol):
    """Speaks with servers, and with those that sign people in to them."""

    async def begin(self, url: str, redirect: str) -> Begun:
        """Find out where a person signs in to a server, and register there. Raises SignInFailed."""

    async def exchange(self, begun: Begun, code: str, now: float) -> Tokens:
        """Return the tokens for the code with which a person came back. Raises SignInFailed."""

    async def renewed(self, tokens: Tokens, now: float) -> Tokens:
        """Return new tokens in place of those. Raises SignInFailed."""

    async def revoke(self, tokens: Tokens) -> bool:
        """Let tokens be worth nothing any more. Returns False if that was not confirmed."""


async def oauth_client(may_reach: MayReach) -> OAuthClient:
    """Return what speaks OAuth. The SDK takes a second to import, so it is imported in a thread when it is needed."""
    module = await asyncio.to_thread(importlib.import_module, OAUTH)
    return cast("OAuthClient", module.OAuth(may_reach))
