"""Detection of model servers on this machine. All known ports are probed at the same time, with a short timeout."""

import asyncio
import ipaddress
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from urllib.parse import urlsplit

import aiohttp
from msgspec import Struct
from pydantic import BaseModel, ConfigDict, ValidationError

from agent_core.json_text import read_json
from agent_core.models.llm import ModelInfo
from agent_core.models.model_names import named_apart
from agent_core.models.server_address import below, with_key

PROBE_S = 2.0
"""Seconds for all servers together. One that is computing an answer is late; where nothing listens, nothing waits."""
ASK_S = 3.0
"""Seconds for a server that somebody has named, which may be far away or busy."""
LARGEST_BODY = 4 * 1024 * 1024

_NO_CHAT = ("embed", "bge-", "minilm", "rerank", "whisper", "tts", "nomic-", "clip")
"""Parts of the names of models that cannot chat."""
_NAMED_BY = ("id", "model", "name")


class LocalServer(Struct, frozen=True):
    name: str
    port: int
    tells_abilities: bool = False
    """True if it supports `/api/show`, as Ollama does."""

    @property
    def prefix(self) -> str:
        """Return the server's name in a model setting, such as "lmstudio" for "LM Studio"."""
        return "".join(letter for letter in self.name.lower() if letter.isalnum())


def is_private(base_url: str) -> bool:
    """Return True if the address is in this machine or in a private network."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return host == "localhost" or host.endswith((".localhost", ".local", ".internal"))


LOCAL_SERVERS: Sequence[LocalServer] = (
    LocalServer("Ollama", 11434, tells_abilities=True),
    LocalServer("LM Studio", 1234),
    LocalServer("llama.cpp", 8080),
    LocalServer("vLLM", 8000),
)


class LocalModel(Struct, frozen=True):
    """A model that a local server offers; `base_url` is for `OpenAiClient`."""

    server: LocalServer
    base_url: str
    model: ModelInfo


class _Wire(BaseModel):
    model_config = ConfigDict(extra="ignore", defer_build=True)


class _Shown(_Wire):
    """Response of Ollama's `/api/show`."""

    capabilities: list[str] | None = None


async def find_local_model(
    servers: Sequence[LocalServer] = LOCAL_SERVERS,
    *,
    wanted: str | None = None,
    host: str = "127.0.0.1",
    within_s: float = PROBE_S,
) -> LocalModel | None:
    """Return the best model, or the one called `wanted`, of the first server in the list that offers one.

    Waits at most `within_s` seconds for all servers.
    """
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
        probes = [asyncio.create_task(_probe(session, server, host, wanted)) for server in servers]
        try:
            if probes:
                await asyncio.wait(probes, timeout=within_s)
            return next((found for probe in probes if probe.done() and (found := probe.result())), None)
        finally:
            for probe in probes:
                probe.cancel()
            await asyncio.gather(*probes, return_exceptions=True)


async def ask_server(base_url: str, api_key: str | None, *, within_s: float = ASK_S) -> list[ModelInfo]:
    """Return the chat models of an OpenAI-compatible server; empty if it does not answer in time."""
    headers = with_key(base_url, api_key or "")
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar(), headers=headers) as session:
        try:
            async with asyncio.timeout(within_s):
                return await _list(session, base_url)
        except TimeoutError:
            return []


async def is_answering(base_url: str, *, within_s: float = ASK_S) -> bool:
    """Return True if something at the address answers HTTP, whatever it says. False for what is no such address."""
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
        try:
            async with asyncio.timeout(within_s), session.get(base_url, allow_redirects=False):
                return True
        except (aiohttp.ClientError, OSError, ValueError):  # TimeoutError is an OSError
            return False


async def _probe(
    session: aiohttp.ClientSession, server: LocalServer, host: str, wanted: str | None
) -> LocalModel | None:
    root = f"http://{host}:{server.port}"
    models = [each for each in await _list(session, f"{root}/v1") if wanted in (None, each.id, each.wire_name)]
    if server.tells_abilities and models:
        models = await _ask_ollama(session, root, models)
    if not models:
        return None
    best = next((model for model in models if model.tools), models[0])
    free = {"provider": server.prefix, "input_price": 0.0, "output_price": 0.0}
    return LocalModel(server, f"{root}/v1", best.model_copy(update=free))


async def _list(session: aiohttp.ClientSession, base_url: str) -> list[ModelInfo]:
    body = await _fetch(session, "GET", below(base_url, "/models"))
    models = (_info(each) for each in _listed(body))
    return named_apart(each for each in models if each and not any(word in each.id.lower() for word in _NO_CHAT))


def _listed(body: bytes) -> Sequence[object]:
    """Return what a server lists: in OpenAI's field, in that of others, or without one, as Together does."""
    try:
        told: object = read_json(body)
    except ValueError:
        return ()
    if isinstance(told, dict):
        told = told.get("data") or told.get("models")
    return told if isinstance(told, list) else ()


def _info(listed: object) -> ModelInfo | None:
    """Return what is told of a model; None for an entry without a name."""
    fields = listed if isinstance(listed, dict) else {"id": listed}
    name = next((told for each in _NAMED_BY if isinstance(told := fields.get(each), str) and told), None)
    if name is None:
        return None
    meta = fields.get("meta")
    told = fields.get("max_model_len"), meta.get("n_ctx") if isinstance(meta, dict) else None  # vLLM's and llama.cpp's
    window = next((each for each in told if type(each) is int and each > 0), None)
    model = ModelInfo(id=name, provider="server")
    return model.model_copy(update={"context_window": window}) if window else model


async def _ask_ollama(session: aiohttp.ClientSession, root: str, models: Sequence[ModelInfo]) -> list[ModelInfo]:
    """Add the abilities of the newest models. Ollama lists the newest first, so four are enough."""
    shown = await asyncio.gather(*(_show(session, root, model) for model in models[:4]))
    return [*(model for model in shown if model is not None), *models[4:]]


async def _show(session: aiohttp.ClientSession, root: str, model: ModelInfo) -> ModelInfo | None:
    """Return the model with its abilities, or None if it cannot chat. The window is left alone, because Ollama serves
    less than a model was trained for."""
    body = await _fetch(session, "POST", f"{root}/api/show", {"model": model.wire_name})
    try:
        capabilities = _Shown.model_validate_json(body).capabilities
    except ValidationError:
        return model
    if capabilities is None:
        return model
    if "completion" not in capabilities:
        return None
    return model.model_copy(
        update={
            "tools": "tools" in capabilities,
            "vision": "vision" in capabilities,
            "reasoning": "thinking" in capabilities,
        }
    )


async def _fetch(
    session: aiohttp.ClientSession, method: str, url: str, asked: Mapping[str, str] | None = None
) -> bytes:
    """Return the body of a successful response, else empty."""
    try:
        async with session.request(method, url, json=asked, allow_redirects=False) as response:
            if response.status != HTTPStatus.OK:
                return b""
            body = bytearray()
            async for chunk in response.content.iter_any():
                body += chunk
                if len(body) > LARGEST_BODY:
                    return b""
            return bytes(body)
    except (aiohttp.ClientError, OSError, ValueError):
        return b""
