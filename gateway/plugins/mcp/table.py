"""The tables of sign-ins to MCP servers: who has signed in, who is about to, and who is to be asked."""

from collections.abc import Sequence
from functools import partial

from msgspec import Struct

from channels.base import ChatKey
from gateway.store.connection import Connection
from gateway.store.erasures import Forgotten
from gateway.store.table import Table, first_readable, readable

START = """
CREATE TABLE mcp_accounts (
  id INTEGER PRIMARY KEY,
  server TEXT NOT NULL,
  person TEXT NOT NULL,
  principal TEXT NOT NULL,
  chat TEXT NOT NULL,
  language TEXT NOT NULL,
  tokens TEXT NOT NULL,
  refused TEXT NOT NULL,
  renewing REAL NOT NULL,
  UNIQUE (server, person)
);
CREATE TABLE mcp_sign_ins (
  id INTEGER PRIMARY KEY,
  state TEXT NOT NULL UNIQUE,
  server TEXT NOT NULL,
  url TEXT NOT NULL,
  person TEXT NOT NULL,
  principal TEXT NOT NULL,
  sender TEXT NOT NULL,
  chat TEXT NOT NULL,
  language TEXT NOT NULL,
  begun TEXT NOT NULL,
  at REAL NOT NULL
);
CREATE TABLE mcp_asked (
  id INTEGER PRIMARY KEY,
  server TEXT NOT NULL,
  person TEXT NOT NULL,
  principal TEXT NOT NULL,
  chat TEXT NOT NULL,
  language TEXT NOT NULL,
  zone TEXT NOT NULL,
  asked REAL NOT NULL,
  UNIQUE (server, person, chat)
);
"""
TABLES = "mcp_sign_ins", "mcp_accounts", "mcp_asked"
"""In the order in which rows of theirs go: a sign-in that ends meanwhile finds its row gone, or was seen."""
SIGN_IN_WITHIN = 600.0
"""Seconds in which a person has to come back."""
RENEW_WITHIN = 30.0
"""Seconds in which whoever renews tokens is waited for."""


class Account(Struct, frozen=True):
    """Somebody who has signed in to a server.

    Attributes:
        server: The server's name.
        person: Whose it is; empty if everybody uses it.
        principal: The account in a chat of whoever has signed in.
        chat: Where that was, and where they are asked again.
        language: The language of that person.
        tokens: Sealed.
        refused: Why the tokens are worth nothing any more; empty while they are.
    """

    server: str
    person: str
    principal: str
    chat: ChatKey
    language: str
    tokens: str
    refused: str = ""


class SignIn(Struct, frozen=True):
    """A sign-in that waits for a person's browser.

    Attributes:
        state: The digest of what the browser brings.
        server: The server's name.
        url: Its address when this was begun.
        person: Who signs in for themselves; empty if it is for everybody.
        principal: Their account.
        sender: Its id in the chat.
        chat: Where it was begun.
        language: Their language.
        begun: Sealed; empty once somebody has come back.
        at: When it was begun.
    """

    state: str
    server: str
    url: str
    person: str
    principal: str
    sender: str
    chat: ChatKey
    language: str
    begun: str
    at: float


class ToAsk(Struct, frozen=True):
    """Somebody who is to sign in again.

    Attributes:
        zone: The name of their time zone.
        asked: When they were asked; 0 if that is still to be done.
    """

    server: str
    person: str
    principal: str
    chat: ChatKey
    language: str
    zone: str
    asked: float = 0.0


_ACCOUNT = "SELECT server, person, principal, chat, language, tokens, refused FROM mcp_accounts"
_SIGN_IN = (
    "SELECT state, server, url, person, principal, sender, chat, language, begun, at FROM mcp_sign_ins WHERE state = ?"
)
_TO_ASK = "SELECT server, person, principal, chat, language, zone, asked FROM mcp_asked"


class SignIns(Table):
    """Reads and changes sign-ins."""

    async def account(self, server: str, person: str) -> Account | None:
        """Return the account with which a person uses a server."""
        return await self.read(lambda connection: account_in(connection, server, person))

    async def accounts(self, server: str) -> Sequence[Account]:
        """Return all accounts at a server."""

        return await self.read(lambda connection: accounts_in(connection, server))

    async def sign_in(self, state: str) -> SignIn | None:
        """Return the sign-in with this digest."""

        def read(connection: Connection) -> SignIn | None:
            return first_readable(connection.execute(_SIGN_IN, (state,)).fetchall(), _sign_in, "mcp_sign_ins")

        return await self.read(read)

    async def take(self, state: str) -> bool:
        """Take a sign-in, which stays until it has ended. Returns False if somebody has come back with it before."""

        def change(connection: Connection) -> bool:
            taken = connection.execute("UPDATE mcp_sign_ins SET begun = '' WHERE state = ? AND begun != ''", (state,))
            return taken.rowcount == 1

        return await self.write(change)

    async def claim(self, account: Account, now: float) -> bool:
        """Begin to renew tokens. Returns False if somebody else does or has done that, on this node or another one."""

        def change(connection: Connection) -> bool:
            claimed = connection.execute(
                "UPDATE mcp_accounts SET renewing = ?"
                " WHERE server = ? AND person = ? AND tokens = ? AND refused = '' AND renewing < ?",
                (now, account.server, account.person, account.tokens, now - RENEW_WITHIN),
            )
            return claimed.rowcount == 1

        return await self.write(change)

    async def renew(self, before: Account, tokens: str, refused: str = "") -> None:
        """Keep renewed tokens, or why there are none, unless somebody has signed in anew or out meanwhile."""

        def change(connection: Connection) -> None:
            connection.execute(
                "UPDATE mcp_accounts SET tokens = ?, refused = ?, renewing = 0"
                " WHERE server = ? AND person = ? AND tokens = ?",
                (tokens, refused, before.server, before.person, before.tokens),
            )

        await self.write(change)

    async def forget(self, server: str, person: str | None) -> None:
        """Forget who has signed in to a server, and who is to be asked: one person, or everybody (None)."""

        await self.write(partial(forget, server=server, person=person))

    async def to_ask(self) -> Sequence[ToAsk]:
        """Return those who are still to be asked."""

        def read(connection: Connection) -> Sequence[ToAsk]:
            rows = connection.execute(f"{_TO_ASK} WHERE asked = 0 ORDER BY id").fetchall()
            return list(readable(rows, _asked, "mcp_asked"))

        return await self.read(read)

    async def tidy(self, now: float) -> None:
        """Drop sign-ins that nobody came back for."""

        def change(connection: Connection) -> None:
            connection.execute("DELETE FROM mcp_sign_ins WHERE at < ?", (now - SIGN_IN_WITHIN,))

        await self.write(change)


def forget(connection: Connection, server: str, person: str | None) -> None:
    """Forget who has signed in to a server, and who is to be asked, in a transaction: one person, or everybody."""
    who, values = ("", [server]) if person is None else (" AND person = ?", [server, person])
    for table in TABLES:
        connection.execute(f"DELETE FROM {table} WHERE server = ?{who}", values)  # noqa: S608 - our words


def accounts_in(connection: Connection, server: str) -> Sequence[Account]:
    """Return all accounts at a server, in a transaction."""
    rows = connection.execute(f"{_ACCOUNT} WHERE server = ? ORDER BY person", (server,)).fetchall()
    return list(readable(rows, _account, "mcp_accounts"))


def account_in(connection: Connection, server: str, person: str) -> Account | None:
    """Return the account with which a person uses a server, in a transaction."""
    rows = connection.execute(f"{_ACCOUNT} WHERE server = ? AND person = ?", (server, person)).fetchall()
    return first_readable(rows, _account, "mcp_accounts")


def begin(connection: Connection, row: SignIn) -> None:
    """Keep a sign-in in place of an earlier one of the same person."""
    connection.execute("DELETE FROM mcp_sign_ins WHERE server = ? AND principal = ?", (row.server, row.principal))
    connection.execute(
        "INSERT INTO mcp_sign_ins (state, server, url, person, principal, sender, chat, language, begun, at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            row.state,
            row.server,
            row.url,
            row.person,
            row.principal,
            row.sender,
            str(row.chat),
            row.language,
            row.begun,
            row.at,
        ),
    )


def sign_in(connection: Connection, state: str, account: Account) -> bool:
    """Keep the tokens of somebody who has signed in; nobody has to be asked any more.

    Returns False, and keeps nothing, if the sign-in was forgotten while it ended: its server was removed, perhaps.
    """
    if connection.execute("DELETE FROM mcp_sign_ins WHERE state = ?", (state,)).rowcount != 1:
        return False
    connection.execute(
        "DELETE FROM mcp_asked WHERE server = ? AND person = ?",
        (account.server, account.person),
    )
    connection.execute(
        "INSERT INTO mcp_accounts (server, person, principal, chat, language, tokens, refused, renewing)"
        " VALUES (?, ?, ?, ?, ?, ?, '', 0) ON CONFLICT (server, person) DO UPDATE SET principal = excluded.principal,"
        " chat = excluded.chat, language = excluded.language, tokens = excluded.tokens, refused = '', renewing = 0",
        (
            account.server,
            account.person,
            account.principal,
            str(account.chat),
            account.language,
            account.tokens,
        ),
    )
    return True


def is_to_be_asked(connection: Connection, who: ToAsk, asked_since: float) -> bool:
    """Note that somebody is to be asked in a chat. Returns False if they were asked there since then."""
    [found] = connection.execute(
        "SELECT count(*) FROM mcp_asked WHERE server = ? AND person = ? AND chat = ? AND asked > ?",
        (who.server, who.person, str(who.chat), asked_since),
    ).fetchone()
    if found:
        return False
    connection.execute(
        "INSERT INTO mcp_asked (server, person, principal, chat, language, zone, asked) VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (server, person, chat) DO UPDATE SET principal = excluded.principal,"
        " language = excluded.language, zone = excluded.zone, asked = excluded.asked",
        (who.server, who.person, who.principal, str(who.chat), who.language, who.zone, who.asked),
    )
    return True


def asked(connection: Connection, who: ToAsk, now: float) -> bool:
    """Note that somebody is asked now. Returns False if they are not to be any more."""
    changed = connection.execute(
        "UPDATE mcp_asked SET asked = ? WHERE server = ? AND person = ? AND chat = ? AND asked = 0",
        (now, who.server, who.person, str(who.chat)),
    )
    return changed.rowcount == 1


def erase(connection: Connection, forgotten: Forgotten) -> None:
    """Erase what a person has signed in to, and what their direct chats were asked."""
    for table in TABLES:
        connection.execute(f"DELETE FROM {table} WHERE principal = ?", (forgotten.principal,))  # noqa: S608 - our words
        for chat in forgotten.direct:
            connection.execute(f"DELETE FROM {table} WHERE chat = ?", (str(chat),))  # noqa: S608 - our words


def _account(row: tuple[str, ...]) -> Account:
    server, person, principal, chat, language, tokens, refused = row
    return Account(server, person, principal, ChatKey.parse(chat), language, tokens, refused)


def _sign_in(row: tuple[str, str, str, str, str, str, str, str, str, float]) -> SignIn:
    state, server, url, person, principal, sender, chat, language, begun, at = row
    return SignIn(state, server, url, person, principal, sender, ChatKey.parse(chat), language, begun, at)


def _asked(row: tuple[str, str, str, str, str, str, float]) -> ToAsk:
    server, person, principal, chat, language, zone, asked_at = row
    return ToAsk(server, person, principal, ChatKey.parse(chat), language, zone, asked_at)
