"""Looks at the added MCP servers for `parley doctor`: whether they answer, let us in, and show what was approved."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from agent_core.mcp.config import McpServer, plain
from agent_core.mcp.grants import Tokens
from agent_core.mcp.left_out import LeftOut
from agent_core.mcp.servers import Looked, McpServers, Reached
from agent_core.tools.tool import Tool
from agent_core.tools.web.fetch import MayReach
from channels.checkup import Finding, note, ok, problem
from gateway.permissions.approved_tools import ApprovedTools
from gateway.plugins.mcp.addresses import may_reach
from gateway.plugins.mcp.settings import McpSettings
from gateway.plugins.mcp.table import Account, accounts_in
from gateway.runs.added_servers import AddedServer, added_in
from gateway.security.sealed import FILE as KEY
from gateway.security.sealed import Sealed
from gateway.settings.settings import Settings
from gateway.store.connection import Connection
from gateway.upkeep.doctor.connections import MCP_WITHIN, left_out_findings, mcp_finding, unusable_finding


class _Shown(Struct, frozen=True):
    """The access that a look shows: the stored token, which is not renewed, as that is for a running Parley."""

    may_reach: MayReach
    access: str

    async def token(self) -> str:
        return self.access

    async def renewed(self, refused: str) -> str:
        return ""

    def challenged(self, header: str) -> None:
        """Leave it to the result of the look."""


class _Case(Struct, frozen=True):
    """An added server with the account that is tried: that of everybody, or the first one."""

    name: str
    server: AddedServer
    account: Account | None
    tokens: Tokens | None
    """None if there are none, or this machine has not the key to them."""


async def look_at_added(settings: Settings, connection: Connection) -> Sequence[Finding]:
    """Return the findings about all added servers, in their order."""
    added = {name: each for name, each in added_in(connection).items() if name not in settings.mcp}
    cases = [_case(settings, name, each, accounts_in(connection, name)) for name, each in added.items()]
    if not cases:
        return ()
    may, seen = may_reach(local=_settings(settings).local), dict[str, Sequence[Tool]]()

    def see(name: str, tools: Sequence[Tool], _: Sequence[LeftOut]) -> None:
        seen[name] = tools

    reached = {
        each.name: Reached(
            each.name, McpServer(url=each.server.url), see, _Shown(may, each.tokens.access if each.tokens else "")
        )
        for each in cases
    }
    try:
        looked = await McpServers({}, {}, reached=reached).look(MCP_WITHIN)
    except ImportError as error:
        return [unusable_finding(added, error)]
    approved = ApprovedTools(settings.home / "mcp.json", settings.mcp)
    approved.also({name: McpServer(url=each.url) for name, each in added.items()})
    return [
        finding
        for case, found in zip(cases, looked, strict=True)
        for finding in (*_findings(case, found), *_unapproved(case.name, approved, seen))
    ]


def _case(settings: Settings, name: str, server: AddedServer, accounts: Sequence[Account]) -> _Case:
    account = next((each for each in accounts if not each.refused), next(iter(accounts), None))
    has_key = account is not None and (settings.home / KEY).exists()
    text = Sealed(settings.home).opened(account.tokens) if account and has_key else None
    return _Case(name, server, account, Tokens.model_validate_json(text) if text else None)


def _findings(case: _Case, found: Looked) -> Sequence[Finding]:
    name, account = case.name, case.account
    if account is not None and account.refused:
        why = plain(account.refused)
        return [
            problem(
                f"MCP server {name} does not let in who has signed in any more: {why}",
                f"sign in again with /mcp in {name}",
            )
        ]
    if not found.asks_sign_in:
        return [mcp_finding(found), *left_out_findings(found)]
    if account is None and case.server.of_each:
        return [note(f"MCP server {name} answers, and nobody has signed in to it", f"people do with /mcp in {name}")]
    if account is None:
        return [problem(f"MCP server {name} asks for a sign-in", f"an owner signs in with /mcp in {name}")]
    if case.tokens is None or not case.tokens.refresh:
        return [problem(f"MCP server {name} refuses the sign-in that is stored", f"sign in again with /mcp in {name}")]
    return [ok(f"MCP server {name} answers; its access has ended, and is renewed with the next call")]


def _unapproved(name: str, approved: ApprovedTools, seen: Mapping[str, Sequence[Tool]]) -> Sequence[Finding]:
    new = len(approved.unapproved(name, seen[name])) if name in seen else 0
    if not new:
        return ()
    return [
        note(
            f"MCP server {name}: tools that are not approved as they are now: {new}", f"an owner looks with /mcp {name}"
        )
    ]


def _settings(settings: Settings) -> McpSettings:
    return next((each for each in settings.plugin.values() if isinstance(each, McpSettings)), McpSettings())
