"""An MCP server that people sign in to, with the authorization server of the official SDK, over real HTTP."""

import asyncio
import secrets
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from urllib.parse import parse_qsl, urlsplit

import aiohttp
import uvicorn
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    TokenError,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

Answer = Callable[[], Response]


class SignInServer(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """The authorization server: people consent at once, each in their own name, and tokens end when a test says so."""

    def __init__(self) -> None:
        self.url = ""
        self.who = "nobody"
        """Who signs in next."""
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}
        self.revoked: list[str] = []
        self.renewals = 0
        self.refuses_renewal = False
        self.answers: dict[str, Answer] = {}
        """What is answered at a path instead."""
        self.slow: set[str] = set()
        """Paths at which nothing is answered for long."""
        self.held: dict[str, asyncio.Event] = {}
        """Paths at which nothing is answered before the event is set."""
        self.fails: set[str] = set()
        """Paths at which it fails."""
        self.asked: list[str] = []
        """The paths that were asked for, in order."""

    def end_access(self) -> None:
        """Let all access tokens end."""
        self.access.clear()

    async def hears_of(self, path: str) -> None:
        """Note that a path is asked for, and keep whoever asks waiting."""
        self.asked.append(path)
        if path in self.slow:
            await asyncio.sleep(5)
        if path in self.held:
            await self.held[path].wait()

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        code = secrets.token_urlsafe(24)
        self.codes[code] = AuthorizationCode(
            code=code,
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
            subject=self.who,
        )
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self._given(client, authorization_code.scopes, authorization_code.subject, authorization_code.resource)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        return None if self.refuses_renewal else self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        if self.refresh.pop(refresh_token.token, None) is None:  # each is worth one renewal
            raise TokenError("invalid_grant")
        self.renewals += 1
        return self._given(client, scopes, refresh_token.subject, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.revoked.append(token.token)
        self.access.pop(token.token, None)
        self.refresh.pop(token.token, None)

    def _given(
        self, client: OAuthClientInformationFull, scopes: list[str], who: str | None, resource: str | None
    ) -> OAuthToken:
        access, refresh = f"access-{secrets.token_urlsafe(24)}", f"refresh-{secrets.token_urlsafe(24)}"
        facts = {"client_id": client.client_id, "scopes": scopes, "subject": who, "resource": resource}
        self.access[access] = AccessToken.model_validate({"token": access, **facts})
        self.refresh[refresh] = RefreshToken.model_validate({"token": refresh, **facts})
        return OAuthToken(access_token=access, refresh_token=refresh, expires_in=3600, scope=" ".join(scopes))


def _plants(server: MCPServer) -> None:
    @server.tool()
    def water(plant: str) -> str:
        """Water a plant, in the name of whoever has signed in."""
        return f"{caller()} waters the {plant}"


def caller() -> str:
    """Return who has signed in, within a call of a tool."""
    token = get_access_token()
    return str(token.subject) if token else "nobody"


class _Quiet(uvicorn.Server):
    """Leaves signals to the program in which it runs."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def sign_in_server(
    add_tools: Callable[[MCPServer], None] = _plants, *, port: int = 0
) -> AsyncIterator[SignInServer]:
    """Serve an MCP server with its authorization server on loopback. `add_tools` adds its tools.

    Port 0 takes any free one. Raises OSError if the port is taken.
    """
    provider, listening = SignInServer(), socket.create_server(("127.0.0.1", port))
    origin = f"http://127.0.0.1:{listening.getsockname()[1]}"
    provider.url = f"{origin}/mcp"
    server: MCPServer = MCPServer(
        "garden",
        auth_server_provider=provider,
        auth=AuthSettings.model_validate(
            {
                "issuer_url": origin,
                "resource_server_url": provider.url,
                "required_scopes": ["plants"],
                "validate_token_resource": True,
                "client_registration_options": ClientRegistrationOptions(
                    enabled=True, valid_scopes=["plants"], default_scopes=["plants"]
                ),
                "revocation_options": RevocationOptions(enabled=True),
            }
        ),
    )

    add_tools(server)
    app = server.streamable_http_app()

    async def answering(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] == "http":
            await provider.hears_of(path)
            if path in provider.fails:
                await Response("out of order", status_code=503)(scope, receive, send)
                return
            if path in provider.answers:
                await provider.answers[path]()(scope, receive, send)
                return
        await app(scope, receive, send)

    running = _Quiet(uvicorn.Config(answering, log_level="critical", timeout_graceful_shutdown=0))
    serving = asyncio.create_task(running.serve(sockets=[listening]))
    try:
        yield provider
    finally:
        running.should_exit = running.force_exit = True
        with suppress(asyncio.CancelledError, SystemExit):
            await serving


def says(**facts: object) -> Answer:
    """Return an answer in JSON."""
    return lambda: JSONResponse(facts)


def leads_to(address: str) -> Answer:
    """Return an answer that leads elsewhere."""
    return lambda: RedirectResponse(address)


async def comes_back(address: str) -> dict[str, str]:
    """Open the address of a sign-in as a browser does. Returns what the browser brings back."""
    async with aiohttp.ClientSession() as browser, browser.get(address, allow_redirects=False) as answer:
        assert answer.status == 302, await answer.text()
        return dict(parse_qsl(urlsplit(answer.headers["Location"]).query))
