"""Takes back people who have signed in at a server: their browser brings a code, and they say whether it was them."""

import html
import math
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl, urlsplit

from agent_core.mcp.grants import Begun, SignInFailed, Tokens
from agent_core.origin import CLEAN
from channels.base import OutboundMessage, Sender
from gateway.plugin import Core
from gateway.plugins.mcp.accounts import ServerAccounts, may_sign_in
from gateway.plugins.mcp.signing_in import digest
from gateway.plugins.mcp.table import SIGN_IN_WITHIN, Account, SignIn, sign_in
from gateway.plugins.mcp.texts import reading
from gateway.store.connection import Connection
from gateway.store.owed import Owed
from gateway.store.rows import Post
from gateway.texts.say import Language, say
from gateway.web.rate_limit import RateLimit
from gateway.web.route import Answer, Asked, Opening

OPENING = Opening(methods=("GET", "POST"), most_bytes=16 * 1024, seconds=60.0)
SIGNED_IN = "mcp_signed_in"
"""The kind of what a chat is owed once somebody has signed in."""
OF_ONE_PLACE = 60
"""Requests in a minute from one address."""
TRIED_WITHIN = 10.0
"""Seconds in which a server is tried before the chat is told how many tools it has."""
FIELDS = ("state", "code", "iss", "error")
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
PAGE = """<!doctype html>
<html lang="{language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Parley</title></head><body><main><h1>{title}</h1><p>{text}</p>{form}</main></body></html>
"""
FORM = '<form method="post">{fields}<p><button>{label}</button></p></form>'
FIELD = '<input type="hidden" name="{name}" value="{value}">'


class SignInRoute:
    """Answers browsers that come back."""

    def __init__(self, core: Core, accounts: ServerAccounts) -> None:
        self._core = core
        self._accounts = accounts
        self._places = RateLimit(core.clock.monotonic)

    async def answer(self, asked: Asked) -> Answer:
        """Ask whether it was this person who began the sign-in, and end it if they say so."""
        if seconds := self._places.wait(f"place {asked.place}", OF_ONE_PLACE):
            return Answer(b"too many requests", status=429, headers={"Retry-After": str(math.ceil(seconds))})
        brought = asked.query if asked.method == "GET" else _fields(await asked.body())
        row = await self._accounts.rows.sign_in(digest(brought.get("state", "")))
        if row is None or not row.begun or self._core.clock.time() > row.at + SIGN_IN_WITHIN:
            return self._page(self._core.settings.language, "mcp_page_gone", status=404)
        asked.showed_key()
        if brought.get("error") or not brought.get("code"):
            await self._accounts.rows.take(row.state)
            return self._page(self._language(row), "mcp_page_refused", name=row.server)
        if asked.method == "GET":
            return self._question(row, brought)
        return await self._ended(row, brought)

    def _question(self, row: SignIn, brought: Mapping[str, str]) -> Answer:
        """Return a page that names who has begun the sign-in: their link may have been passed on."""
        language = self._language(row)
        fields = "".join(
            FIELD.format(name=name, value=html.escape(brought[name])) for name in FIELDS if brought.get(name)
        )
        form = FORM.format(fields=fields, label=html.escape(say("mcp_page_yes", language)))
        who = self._core.access.name_of(row.principal) or row.principal
        key, host = "mcp_page_ask" if row.person else "mcp_page_ask_all", urlsplit(row.url).netloc
        return self._page(language, key, form, name=row.server, who=who, host=host)

    async def _ended(self, row: SignIn, brought: Mapping[str, str]) -> Answer:
        """End a sign-in, if it may still be."""
        language, name = self._language(row), row.server
        if not await self._accounts.rows.take(row.state):
            return self._page(language, "mcp_page_gone", status=404)
        text = await self._accounts.opened(row.begun)
        server = self._core.servers.added.get(name)
        role = self._core.access.role(row.chat, Sender(id=row.sender, name=""))
        if server is None or server.url != row.url or server.of_each != bool(row.person) or text is None:
            return self._page(language, "mcp_page_gone", status=404)
        if not may_sign_in(role, of_each=server.of_each):
            return self._page(language, "mcp_page_no_right", status=403, name=name)
        return await self._exchanged(row, text, brought)

    async def _exchanged(self, row: SignIn, text: str, brought: Mapping[str, str]) -> Answer:
        """Get the tokens for what a browser brings, and keep them. `text` is what was begun."""
        language, name = self._language(row), row.server
        begun = Begun.model_validate_json(text)
        if wrong := _wrong_issuer(begun, brought.get("iss")):
            return self._page(language, "mcp_page_failed", status=400, name=name, why=wrong)
        try:
            oauth = await self._accounts.oauth()
            tokens = await oauth.exchange(begun, brought["code"], self._core.clock.time())
        except SignInFailed as error:
            return self._page(language, "mcp_page_failed", status=502, name=name, why=error.fact)
        if await self._is_kept(row, tokens):
            return self._page(language, "mcp_page_done", name=name)
        await oauth.revoke(tokens)
        return self._page(language, "mcp_page_gone", status=404)

    async def _is_kept(self, row: SignIn, tokens: Tokens) -> bool:
        """Keep the tokens, unless the sign-in was forgotten meanwhile, as when its server was removed."""
        sealed = await self._accounts.sealed_tokens(tokens)
        account = Account(row.server, row.person, row.principal, row.chat, row.language, sealed)
        key = f"{row.server}:{row.language}:{row.person}:{row.state[:16]}"

        def change(connection: Connection) -> Sequence[Owed]:
            return [Owed(SIGNED_IN, key, row.chat)] if sign_in(connection, row.state, account) else ()

        return bool(await self._core.owe(change))

    async def told(self, item: Owed) -> Sequence[Post]:
        """Connect with the new tokens, and tell the chat what came of it."""
        name, language, rest = item.key.split(":", 2)
        person = rest.rpartition(":")[0]
        servers, spoken = self._core.servers, reading(language, self._core.settings.language)
        if name not in servers.added:
            return ()
        self._accounts.access_of(name, person).signed_in()
        await servers.tell()
        servers.retry(name, person)
        trouble = await servers.tried(name, TRIED_WITHIN, person)
        key, count = "mcp_signed_in" if trouble is None else "mcp_signed_in_trouble", len(servers.approved.shown(name))
        words = say(key, spoken, name=name, count=count)
        run = f"mcp-signed-in-{rest.rpartition(':')[2]}"
        parts = self._core.delivery.masked_channel(item.chat).split(OutboundMessage(markdown=words))
        return [Post(f"{run}:proactive:{number}", run, item.chat, part, CLEAN) for number, part in enumerate(parts)]

    def _page(self, language: Language, key: str, form: str = "", *, status: int = 200, **facts: str) -> Answer:
        title = html.escape(say("mcp_page_title", language))
        text = html.escape(say(key, language, **facts))
        body = PAGE.format(language=language, title=title, text=text, form=form)
        return Answer(body.encode(), status=status, content_type="text/html; charset=utf-8", headers=HEADERS)

    def _language(self, row: SignIn) -> Language:
        return reading(row.language, self._core.settings.language)


def _fields(body: bytes) -> Mapping[str, str]:
    """Return the fields of a form."""
    return dict(parse_qsl(body.decode(errors="replace")))


def _wrong_issuer(begun: Begun, named: str | None) -> str:
    """Return what is wrong with the issuer that a browser brings (RFC 9207); empty if nothing is."""
    if named is None:
        return "its answer does not name who gave it" if begun.grant.names_issuer else ""
    return "" if named == begun.grant.issuer else "its answer comes from another sign-in server"
