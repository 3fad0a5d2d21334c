"""Checks the configured model with its key, by a free request, and that each MCP server answers."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import aiohttp

from agent_core.mcp.servers import Looked, McpServers, how_to_install
from agent_core.models.providers import ModelChoice, ModelSettingError, choose_model
from channels.checkup import Finding, note, ok, problem
from gateway.settings.settings import Settings

WITHIN = 5.0
"""Seconds."""
REFUSED = (401, 403)
BROKEN = 500
"""From this status on the fault is the server's."""
MCP_WITHIN = 30.0
"""Seconds; programs take a while to start, and all are asked at the same time."""


@dataclass(frozen=True)
class Endpoint:
    """A free GET request that needs the key; `header` is its name and a format for the key."""

    url: str
    header: tuple[str, str] = ("Authorization", "Bearer {}")


ENDPOINTS: Mapping[str, Endpoint] = {
    "anthropic": Endpoint("https://api.anthropic.com/v1/models", ("x-api-key", "{}")),
    "openai": Endpoint("https://api.openai.com/v1/models"),
    "gemini": Endpoint("https://generativelanguage.googleapis.com/v1beta/models", ("x-goog-api-key", "{}")),
    # Its list of models is public; this endpoint checks the key.
    "openrouter": Endpoint("https://openrouter.ai/api/v1/key"),
    "deepseek": Endpoint("https://api.deepseek.com/models"),
    "groq": Endpoint("https://api.groq.com/openai/v1/models"),
    "mistral": Endpoint("https://api.mistral.ai/v1/models"),
    "xai": Endpoint("https://api.x.ai/v1/models"),
    "moonshot": Endpoint("https://api.moonshot.ai/v1/models"),
    "zai": Endpoint("https://api.z.ai/api/paas/v4/models"),
    "dashscope": Endpoint("https://dashscope-intl.aliyuncs.com/compatible-mode/v1/models"),
}
"""The endpoints of providers that have servers of their own."""


async def look_at_model(settings: Settings, endpoints: Mapping[str, Endpoint] = ENDPOINTS) -> list[Finding]:
    try:
        choice = await choose_model(settings.model, settings.environ, base_url=settings.openai_base_url)
    except ModelSettingError as error:
        return [problem("no model can be chosen", str(error))]
    if choice.client == "demo":
        return [note(f"model: {choice.why}", "for a real one set ANTHROPIC_API_KEY or another key of .env.example")]
    return list(_verdict(choice, await _ask(choice, endpoints)))


def _verdict(choice: ModelChoice, answer: int | str | None) -> Iterator[Finding]:
    name = f"model: {choice.model.id} ({choice.why})"
    if answer is None:
        yield ok(f"{name}; its server was not asked")
    elif isinstance(answer, str):
        yield problem(f"{name}, but Parley could not reach {answer}", "check the network, or whether it runs")
    elif answer in REFUSED:
        yield problem(f"{name}, but its server refuses the key", "replace the key by a valid one")
    elif answer >= BROKEN:
        yield note(f"{name}, whose server has trouble now ({answer})", "try again later")
    else:
        yield ok(f"{name}; its server answers")


async def _ask(choice: ModelChoice, endpoints: Mapping[str, Endpoint]) -> int | str | None:
    """Return the response status; the host if there was no response; None if the endpoint is not known."""
    endpoint = (
        Endpoint(f"{choice.base_url.rstrip('/')}/models") if choice.base_url else endpoints.get(choice.model.provider)
    )
    if endpoint is None:
        return None
    name, value = endpoint.header
    headers = {"anthropic-version": "2023-06-01"}
    if choice.api_key is not None:
        headers[name] = value.format(choice.api_key.get_secret_value())
    try:
        async with (
            asyncio.timeout(WITHIN),
            aiohttp.ClientSession(trust_env=True) as session,
            session.get(endpoint.url, headers=headers) as answer,
        ):
            return answer.status
    except (aiohttp.ClientError, TimeoutError, ValueError):
        return endpoint.url.partition("://")[2].partition("/")[0]


async def look_at_mcp(settings: Settings) -> list[Finding]:
    """Return one finding per configured server."""
    if not settings.mcp:
        return []
    try:
        looked = await McpServers(settings.mcp, settings.environ).look(MCP_WITHIN)
    except ImportError as error:
        names = ", ".join(settings.mcp)
        return [problem(f"MCP servers are set up ({names}), and cannot be used: {error}", how_to_install())]
    return [_mcp_finding(each) for each in looked]


def _mcp_finding(server: Looked) -> Finding:
    name = f"MCP server {server.name}"
    if server.trouble:
        return problem(f"{name}: {server.trouble}", server.fix)
    if not server.tools:
        return note(f"{name} answers, and has no tools")
    return ok(f"{name}: {server.tools} tool{'s' if server.tools > 1 else ''}")
