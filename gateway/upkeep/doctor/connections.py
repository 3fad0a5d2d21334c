"""Checks the configured model with its key, by a free request, and that each MCP server answers."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence

import aiohttp
from msgspec.structs import replace

from agent_core.mcp.config import plain
from agent_core.mcp.servers import Looked, McpServers, how_to_install
from agent_core.models.failures import cause_of
from agent_core.models.llm import FailureCause
from agent_core.models.provided import ModelProvider
from agent_core.models.providers import PROVIDERS, KeyCheck, Provider
from agent_core.models.selection import ModelChoice, ModelSettingError, choose_model
from agent_core.models.server_address import below, with_key
from channels.checkup import Finding, note, ok, problem
from gateway.settings.settings import Settings

WITHIN = 5.0
"""Seconds."""
REFUSED = (401, 403)
MOVED = (301, 302, 303, 307, 308)
BROKEN = 500
"""From this status on the fault is the server's."""
MCP_WITHIN = 30.0
"""Seconds; programs take a while to start, and all are asked at the same time."""
MOST_LEFT_OUT = 10
"""Tools of one server that are named."""


async def look_at_model(
    settings: Settings, providers: Sequence[Provider] = PROVIDERS, provided: Sequence[ModelProvider] = ()
) -> list[Finding]:
    """Check the model. `provided` are the providers of the plugins that come with Parley; others are not imported."""
    try:
        choice = await choose_model(
            settings.model, settings.environ, base_url=settings.openai_base_url, provided=provided
        )
    except ModelSettingError as error:
        if settings.plugins:
            what = f"model: {settings.model} is none of Parley's own"
            return [note(what, "`parley plugin check NAME` tells which providers of models a plugin has")]
        return [problem("no model can be chosen", str(error))]
    if not choice.model.is_ai:
        return [note(f"model: {choice.why}", "for a real one set ANTHROPIC_API_KEY or another key of .env.example")]
    return list(_verdict(choice, await _ask(choice, providers)))


def _verdict(choice: ModelChoice, answer: int | str | FailureCause | None) -> Iterator[Finding]:
    name = f"model: {choice.model.id} ({choice.why})"
    if answer is None:
        yield ok(f"{name}; its server was not asked")
    elif isinstance(answer, FailureCause):
        yield problem(
            f"{name}, whose provider does not serve the place where Parley runs",
            "set PARLEY_MODEL to a model of a provider that serves it; another key would not help",
        )
    elif isinstance(answer, str):
        yield problem(f"{name}, but Parley could not reach {answer}", "check the network, or whether it runs")
    elif answer in REFUSED:
        yield problem(f"{name}, but its server refuses the key", "replace the key by a valid one")
    elif answer in MOVED:
        yield note(f"{name}, whose server redirects to another address", "if no answers come, set that address")
    elif answer >= BROKEN:
        yield note(f"{name}, whose server has trouble now ({answer})", "try again later")
    else:
        yield ok(f"{name}; its server answers")


async def _ask(choice: ModelChoice, providers: Sequence[Provider]) -> int | str | FailureCause | None:
    """Return the response status, or why it is one of an error; the host if there was no response; None if no request
    is known that asks it."""
    provider = next((each for each in providers if each.name == choice.model.provider), None)
    check = provider.check if provider else None
    if choice.base_url and (check is None or provider is None or provider.base_url != choice.base_url):
        url = below(choice.base_url, "/models")
        check = replace(check, url=url) if check else KeyCheck(url)
    if check is None:
        return None
    name, value = check.header
    headers = {"anthropic-version": "2023-06-01"}
    if choice.api_key is not None:
        key = choice.api_key.get_secret_value()
        headers |= {name: value.format(key)} if name != "Authorization" else with_key(check.url, key)
    try:
        async with (
            asyncio.timeout(WITHIN),
            aiohttp.ClientSession(trust_env=True) as session,
            session.get(check.url, headers=headers, allow_redirects=False) as answer,
        ):
            if answer.status not in REFUSED:
                return answer.status
            cause = cause_of(answer.status, await answer.text("utf-8", "replace"))
            return cause if cause is FailureCause.REGION else answer.status
    except (aiohttp.ClientError, TimeoutError, ValueError):
        return check.url.partition("://")[2].partition("/")[0]


async def look_at_mcp(settings: Settings) -> list[Finding]:
    """Return one finding per configured server."""
    if not settings.mcp:
        return []
    try:
        looked = await McpServers(settings.mcp, settings.environ).look(MCP_WITHIN)
    except ImportError as error:
        return [unusable_finding(settings.mcp, error)]
    return [finding for each in looked for finding in (mcp_finding(each), *left_out_findings(each))]


def unusable_finding(names: Iterable[str], error: ImportError) -> Finding:
    """Return that no server can be used, as the package for them is missing."""
    return problem(f"MCP servers are set up ({', '.join(names)}), and cannot be used: {error}", how_to_install())


def left_out_findings(server: Looked) -> Iterator[Finding]:
    """Yield a finding for each tool that cannot be offered."""
    for each in server.left_out[:MOST_LEFT_OUT]:
        what = f"MCP server {server.name}: its tool {plain(each.tool, 60) or '-'} is left out: {each.words}"
        yield note(what, "whoever maintains the server can correct it")
    if (more := len(server.left_out) - MOST_LEFT_OUT) > 0:
        yield note(f"MCP server {server.name}: {more} more tools are left out")


def mcp_finding(server: Looked) -> Finding:
    """Return what came of looking at a server."""
    name = f"MCP server {server.name}"
    if server.trouble:
        return problem(f"{name}: {server.trouble}", server.fix)
    if not server.tools:
        return note(f"{name} answers, and has no tools")
    return ok(f"{name}: {server.tools} tool{'s' if server.tools > 1 else ''}")
