"""Signs a person in to an MCP server by OAuth 2.1: finds where, registers, makes the address, gets and renews tokens.

The person's browser comes between, so what has to be known then is a value that can be kept. No redirect is followed,
each answer is limited in time and size, and only allowed addresses are connected to.
"""

import asyncio
import base64
import secrets
from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import quote, urlencode, urlsplit

import httpx2
from mcp.client.auth import OAuthFlowError, OAuthRegistrationError, PKCEParameters
from mcp.client.auth.oauth2 import check_registration_usable
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
    create_client_registration_request,
    create_oauth_metadata_request,
    extract_resource_metadata_from_www_auth,
    extract_scope_from_www_auth,
    get_client_metadata_scopes,
    handle_auth_metadata_response,
    handle_protected_resource_response,
    handle_registration_response,
    issuers_match,
    validate_metadata_issuer,
)
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
    TokenEndpointAuthMethod,
)
from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url
from pydantic import AnyUrl, ValidationError

from agent_core.mcp.config import plain
from agent_core.mcp.grants import Begun, Grant, SignInFailed, Tokens
from agent_core.mcp.http import REFUSED, CheckedTransport
from agent_core.tools.web.fetch import ForbiddenAddress, MayReach, is_public

WITHIN = 20.0
"""Seconds for one answer."""
MOST_BYTES = 256 * 1024
"""Of an answer."""
GRANTS = ["authorization_code", "refresh_token"]
METHODS: tuple[TokenEndpointAuthMethod, ...] = ("none", "client_secret_post", "client_secret_basic")
"""Ways in which a client is known at the token endpoint, best first."""
_OK, _FAILED, _OUR_FAULT = (200, 201), 500, range(400, 500)
_LATER = (408, 425, 429)
"""Statuses of 4xx after which the same request may succeed."""
_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "parley", "version": "1"},
    },
}


class OAuth:
    """Speaks with a server, and with the one that signs people in to it."""

    def __init__(self, may_reach: MayReach) -> None:
        self._may_reach = may_reach
        self._is_local = may_reach(ip_address("127.0.0.1"), 80)

    async def begin(self, url: str, redirect: str) -> Begun:
        """Find out where a person signs in to a server, and register there. Raises SignInFailed."""
        challenge = await self._challenge(url)
        resource = await self._resource(url, challenge)
        metadata = await self._metadata(url, resource)
        scope = get_client_metadata_scopes(extract_scope_from_www_auth(challenge), resource, metadata, GRANTS)
        client = await self._registered(metadata, redirect, scope)
        grant = Grant(
            issuer=str(metadata.issuer),
            token_endpoint=str(metadata.token_endpoint),
            revocation_endpoint=str(metadata.revocation_endpoint or ""),
            resource=_resource_of(url, resource),
            scope=scope or "",
            redirect=redirect,
            client_id=client.client_id,
            client_secret=client.client_secret or "",
            method=client.token_endpoint_auth_method or ("client_secret_post" if client.client_secret else "none"),
            names_issuer=bool(metadata.authorization_response_iss_parameter_supported),
        )
        return _begun(grant, str(metadata.authorization_endpoint))

    async def exchange(self, begun: Begun, code: str, now: float) -> Tokens:
        """Return the tokens for the code with which a person came back. Raises SignInFailed."""
        grant = begun.grant
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": grant.redirect,
            "code_verifier": begun.verifier,
        }
        return _tokens(grant, await self._token(grant, form), now)

    async def renewed(self, tokens: Tokens, now: float) -> Tokens:
        """Return new tokens in place of those. Raises SignInFailed."""
        form = {"grant_type": "refresh_token", "refresh_token": tokens.refresh}
        return _tokens(tokens.grant, await self._token(tokens.grant, form), now, tokens.refresh)

    async def revoke(self, tokens: Tokens) -> bool:
        """Let a token be worth nothing any more. Returns False if the server does not offer that, or did not do it."""
        grant = tokens.grant
        if not grant.revocation_endpoint:
            return False
        hints = {"refresh_token": tokens.refresh, "access_token": tokens.access}
        try:
            for hint, token in hints.items():
                if token:
                    form = {"token": token, "token_type_hint": hint}
                    answer = await self._post(grant.revocation_endpoint, grant, form)
                    if answer.status_code not in _OK:
                        return False
        except SignInFailed:
            return False
        return True

    async def _token(self, grant: Grant, form: Mapping[str, str]) -> OAuthToken:
        named = {**form, "resource": grant.resource} if grant.resource else form
        answer = await self._post(grant.token_endpoint, grant, named)
        host = urlsplit(grant.token_endpoint).netloc
        if answer.status_code not in _OK:
            is_final = answer.status_code in _OUR_FAULT and answer.status_code not in _LATER
            raise SignInFailed(f"{host} refuses ({_error_in(answer)})", is_final=is_final)
        try:
            return OAuthToken.model_validate_json(answer.content)
        except ValidationError as error:
            raise SignInFailed(f"{host} sent no token that can be read", is_final=False) from error

    async def _post(self, url: str, grant: Grant, form: Mapping[str, str]) -> httpx2.Response:
        """Post a form as the registered client."""
        fields, headers = {**form, "client_id": grant.client_id}, dict[str, str]()
        if grant.method == "client_secret_basic":
            name = f"{quote(grant.client_id, safe='')}:{quote(grant.client_secret, safe='')}"
            headers["Authorization"] = f"Basic {base64.b64encode(name.encode()).decode()}"
        elif grant.method == "client_secret_post":
            fields["client_secret"] = grant.client_secret
        return await self._ask(httpx2.Request("POST", url, data=fields, headers=headers))

    async def _challenge(self, url: str) -> httpx2.Response:
        """Return the server's refusal of somebody unknown, without its body. Raises SignInFailed if there is none."""
        accept = {"Accept": "application/json, text/event-stream"}
        answer = await self._ask(httpx2.Request("POST", url, json=_HELLO, headers=accept), reads=False)
        if answer.status_code != REFUSED:
            raise SignInFailed(f"{urlsplit(url).netloc} asks for no sign-in (HTTP {answer.status_code})")
        return answer

    async def _resource(self, url: str, challenge: httpx2.Response) -> ProtectedResourceMetadata | None:
        """Return what a server says of itself (RFC 9728). Raises SignInFailed if it says that it is another one."""
        named = extract_resource_metadata_from_www_auth(challenge)
        for place in build_protected_resource_metadata_discovery_urls(named, url):
            answer = await self._ask(create_oauth_metadata_request(self._checked(place)))
            if answer.status_code >= _FAILED:
                raise SignInFailed(f"{urlsplit(place).netloc} fails (HTTP {answer.status_code})", is_final=False)
            found = await handle_protected_resource_response(answer)
            if found is None:
                continue
            if not check_resource_allowed(resource_url_from_server_url(url), str(found.resource)):
                raise SignInFailed(f"it says that it is {plain(str(found.resource), 100)}, which is another server")
            return found
        return None

    async def _metadata(self, url: str, resource: ProtectedResourceMetadata | None) -> OAuthMetadata:
        """Return what the sign-in server says of itself (RFC 8414). Raises SignInFailed if its name is another."""
        issuer = str(resource.authorization_servers[0]) if resource else None
        for place in build_oauth_authorization_server_metadata_discovery_urls(issuer, url):
            ok, found = await handle_auth_metadata_response(
                await self._ask(create_oauth_metadata_request(self._checked(place)))
            )
            if not ok:
                raise SignInFailed(f"{urlsplit(place).netloc} fails", is_final=False)
            if found is not None:
                _check_issuer(found, issuer, url)
                self._check_places(found)
                if "S256" not in (found.code_challenge_methods_supported or ()):
                    raise SignInFailed(f"{urlsplit(place).netloc} does not take PKCE (S256)")
                return found
        raise SignInFailed("it does not say where to sign in")

    async def _registered(
        self, metadata: OAuthMetadata, redirect: str, scope: str | None
    ) -> OAuthClientInformationFull:
        """Register Parley (RFC 7591). Raises SignInFailed."""
        host = urlsplit(str(metadata.issuer)).netloc
        if metadata.registration_endpoint is None:
            raise SignInFailed(f"{host} lets no program register itself")
        taken = metadata.token_endpoint_auth_methods_supported or METHODS
        wanted = OAuthClientMetadata(
            redirect_uris=[AnyUrl(redirect)],
            token_endpoint_auth_method=next((each for each in METHODS if each in taken), "none"),
            grant_types=[*GRANTS],
            client_name="Parley",
            scope=scope,
            application_type="web" if redirect.startswith("https://") else "native",
        )
        answer = await self._ask(create_client_registration_request(metadata, wanted, ""))
        try:
            client = await handle_registration_response(answer)
            check_registration_usable(client)
        except OAuthRegistrationError as error:
            raise SignInFailed(f"{host} does not register Parley ({_error_in(answer)})") from error
        return client

    def _check_places(self, found: OAuthMetadata) -> None:
        """Raise SignInFailed if a sign-in server leads to where nobody may be led."""
        places = found.authorization_endpoint, found.token_endpoint, found.registration_endpoint
        for place in (*places, found.revocation_endpoint):
            self._checked(str(place or ""))

    def _checked(self, url: str) -> str:
        """Return an address that a server has named; empty if that is. Raises SignInFailed if it may not be asked."""
        try:
            parts = urlsplit(url)
            host = parts.hostname or ""
        except ValueError as error:
            raise SignInFailed("it names an address that is none") from error
        is_here = host == "localhost" or _is_number(host, loopback=True)
        if "@" in parts.netloc:
            raise SignInFailed("it names an address with a name or a password in it")
        if url and is_here and not self._is_local:
            raise SignInFailed(f"it leads to {plain(parts.netloc, 100)}, a private address")
        if url and parts.scheme != "https" and not (is_here and parts.scheme == "http"):
            raise SignInFailed(f"it leads to {plain(parts.netloc, 100)} without https")
        if _is_number(host, loopback=False):
            raise SignInFailed(f"it leads to {plain(parts.netloc, 100)}, a private address")
        return url

    async def _ask(self, request: httpx2.Request, *, reads: bool = True) -> httpx2.Response:
        """Return an answer, which is not followed elsewhere. Raises SignInFailed."""
        host = request.url.netloc.decode()
        try:
            async with (
                asyncio.timeout(WITHIN),
                httpx2.AsyncClient(transport=CheckedTransport(self._may_reach), timeout=WITHIN) as client,
            ):
                answer = await client.send(request, stream=True, follow_redirects=False)
                try:
                    body = await _read(answer, host) if reads else b""
                finally:
                    await answer.aclose()
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise SignInFailed(f"{host} does not answer in time", is_final=False) from error
        except ForbiddenAddress as error:
            raise SignInFailed(f"{host} has a private or special address") from error
        except httpx2.HTTPError as error:
            raise SignInFailed(f"{host} cannot be reached", is_final=False) from error
        named = {"WWW-Authenticate": answer.headers.get("WWW-Authenticate", "")}
        return httpx2.Response(answer.status_code, headers=named, content=body, request=request)


async def _read(answer: httpx2.Response, host: str) -> bytes:
    body = bytearray()
    async for piece in answer.aiter_bytes():
        body += piece
        if len(body) > MOST_BYTES:
            raise SignInFailed(f"{host} sent more than {MOST_BYTES // 1024} kB")
    return bytes(body)


def _check_issuer(found: OAuthMetadata, issuer: str | None, url: str) -> None:
    """Raise SignInFailed for a sign-in server that has another name than the one under which it was looked for."""
    parts = urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}"
    if issuer is None and issuers_match(str(found.issuer), origin):
        return
    try:
        validate_metadata_issuer(found, issuer or origin)
    except OAuthFlowError as error:
        told, wanted = plain(str(found.issuer), 100), plain(issuer or origin, 100)
        raise SignInFailed(f"its sign-in server calls itself {told}, not {wanted}") from error


def _resource_of(url: str, resource: ProtectedResourceMetadata | None) -> str:
    """Return the name of the server that tokens are meant for (RFC 8707); empty for one that has told none."""
    return str(resource.resource) if resource else ""


def _begun(grant: Grant, endpoint: str) -> Begun:
    pkce, state = PKCEParameters.generate(), secrets.token_urlsafe(32)
    fields = {
        "response_type": "code",
        "client_id": grant.client_id,
        "redirect_uri": grant.redirect,
        "state": state,
        "code_challenge": pkce.code_challenge,
        "code_challenge_method": "S256",
    }
    if grant.resource:
        fields["resource"] = grant.resource
    if grant.scope:
        fields["scope"] = grant.scope
    if "offline_access" in grant.scope.split():
        fields["prompt"] = "consent"
    address = f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(fields)}"
    return Begun(grant=grant, state=state, verifier=pkce.code_verifier, address=address)


def _tokens(grant: Grant, found: OAuthToken, now: float, refresh: str = "") -> Tokens:
    until = None if found.expires_in is None else now + found.expires_in
    return Tokens(grant=grant, access=found.access_token, refresh=found.refresh_token or refresh, until=until)


def _error_in(answer: httpx2.Response) -> str:
    """Return the error that an answer names, or its status."""
    try:
        said = answer.json()
    except ValueError:
        said = None
    named = said.get("error") if isinstance(said, dict) else None
    return plain(named, 60) if isinstance(named, str) and named else f"HTTP {answer.status_code}"


def _is_number(host: str, *, loopback: bool) -> bool:
    """Return True for an address of this machine written as a number, or for another private one."""
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return address.is_loopback if loopback else not (address.is_loopback or is_public(address))
