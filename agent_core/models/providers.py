"""Selection of the model: the setting, else a key in the environment, else a local server, else the demo.

Hosted providers go through litellm; servers with a base URL go through `OpenAiClient`.
"""

import asyncio
import contextlib
import functools
import importlib
import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import SecretStr, TypeAdapter, ValidationError

from agent_core.clock import Clock, SystemClock
from agent_core.messages import Frozen
from agent_core.models.litellm_client import LitellmClient
from agent_core.models.llm import LlmClient, ModelInfo, ThinkingLevel
from agent_core.models.local_servers import (
    LOCAL_SERVERS,
    LocalModel,
    LocalServer,
    ask_server,
    find_local_model,
    is_private,
)
from agent_core.models.openai_client import OpenAiClient

TABLE = "model_prices_and_context_window_backup.json"
MILLION = 1_000_000
BASE_URL = "OPENAI_BASE_URL"
OPENAI_KEY = "OPENAI_API_KEY"
OPENAI_HOST = "//api.openai.com"
"""A base URL with this host adds nothing to the key."""
DEMO_MODEL = ModelInfo(id="demo", provider="demo", vision=True, input_price=0.0, output_price=0.0)
"""Declared with vision, so that it receives pictures and can say that it cannot look at them."""
ASK_S = 3.0
"""Seconds that a configured server may take to list its models."""


@dataclass(frozen=True, slots=True)
class _Row:
    """The fields used of a row, compact because there are thousands; prices are dollars per token."""

    max_input_tokens: int | None = None
    max_output_tokens: int | None = None
    input_cost_per_token: float | None = None
    output_cost_per_token: float | None = None
    cache_read_input_token_cost: float | None = None
    cache_creation_input_token_cost: float | None = None
    supports_vision: bool = False
    supports_function_calling: bool = False
    supports_reasoning: bool = False
    supports_minimal_reasoning_effort: bool = False
    supports_xhigh_reasoning_effort: bool = False
    supports_max_reasoning_effort: bool = False
    supports_adaptive_thinking: bool = False


_file: TypeAdapter[dict[str, dict[str, object]]] = TypeAdapter(dict[str, dict[str, object]])
_row: TypeAdapter[_Row] = TypeAdapter(_Row)
_KINDS = ("chat", "responses")


async def look_up(model_id: str, provider: str) -> ModelInfo:
    """Return what the table knows of a hosted model; an unknown one gets the defaults of `ModelInfo` and no price.

    The table is parsed once, in a thread.
    """
    table = await asyncio.to_thread(_table)
    for name in _names(model_id):
        if name in table:
            return _info(model_id, provider, table[name])
    return ModelInfo(id=model_id, provider=provider)


@functools.cache
def _table() -> dict[str, _Row]:
    """Return the table; empty if litellm is not installed or has no such file."""
    found = importlib.util.find_spec("litellm")
    folders = found.submodule_search_locations if found else None
    try:
        raw = _file.validate_json(Path(next(iter(folders or ())), TABLE).read_bytes())
    except (StopIteration, OSError, ValueError):
        return {}
    table: dict[str, _Row] = {}
    for name, row in raw.items():
        if row.get("mode") in _KINDS:
            with contextlib.suppress(ValidationError):
                table[name] = _row.validate_python(row)
    return table


def _names(model_id: str) -> Iterator[str]:
    """Yield the names under which a model may be listed: as given, then without its provider prefixes.

    Routers write "claude-haiku-4.5" for "claude-haiku-4-5".
    """
    yield model_id
    rest = model_id
    while "/" in rest:
        rest = rest.partition("/")[2]
        yield rest
        yield rest.replace(".", "-")


def _info(model_id: str, provider: str, row: _Row) -> ModelInfo:
    unknown = ModelInfo(id=model_id)
    return ModelInfo(
        id=model_id,
        provider=provider,
        context_window=row.max_input_tokens or unknown.context_window,
        max_output=row.max_output_tokens or unknown.max_output,
        vision=row.supports_vision,
        tools=row.supports_function_calling,
        reasoning=row.supports_reasoning,
        thinking_levels=tuple(_levels(row)),
        adaptive=row.supports_adaptive_thinking,
        input_price=_per_million(row.input_cost_per_token),
        output_price=_per_million(row.output_cost_per_token),
        cache_read_price=_per_million(row.cache_read_input_token_cost),
        cache_write_price=_per_million(row.cache_creation_input_token_cost),
    )


def _levels(row: _Row) -> Iterator[ThinkingLevel]:
    if row.supports_minimal_reasoning_effort:
        yield "minimal"
    yield from ("low", "medium", "high")
    if row.supports_xhigh_reasoning_effort:
        yield "xhigh"
    if row.supports_max_reasoning_effort:
        yield "max"


def _per_million(price: float | None) -> float | None:
    return None if price is None else round(price * MILLION, 6)


@dataclass(frozen=True)
class Provider:
    """A hosted provider. `keys` are environment variables, the first being the documented one; `model` is the
    default."""

    name: str
    keys: tuple[str, ...]
    model: str
    prefix: str = ""
    """litellm's name of the provider, if not `name`."""
    base_url: str | None = None
    """Overrides litellm's base URL."""
    keys_page: str = ""
    """The address at which people make a key."""
    key_begins: str = ""
    """The beginning of each of its keys, if they have one of their own."""

    def litellm_id(self, model: str) -> str:
        return f"{self.prefix or self.name}/{model}"

    def key_in(self, environ: Mapping[str, str]) -> tuple[str, SecretStr] | None:
        """Return the first key that is set, as variable name and value."""
        return next(((key, SecretStr(value)) for key in self.keys if (value := environ.get(key, "").strip())), None)


PROVIDERS: Sequence[Provider] = (
    Provider(
        "anthropic",
        ("ANTHROPIC_API_KEY",),
        "claude-sonnet-5",
        keys_page="https://console.anthropic.com/settings/keys",
        key_begins="sk-ant-",
    ),
    # litellm would use OPENAI_BASE_URL, which may be the user's own server.
    Provider(
        "openai",
        (OPENAI_KEY,),
        "gpt-5.4-mini",
        base_url="https://api.openai.com/v1",
        keys_page="https://platform.openai.com/api-keys",
        key_begins="sk-proj-",
    ),
    Provider(
        "gemini",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "gemini-flash-latest",
        keys_page="https://aistudio.google.com/apikey",
        key_begins="AIza",
    ),
    Provider(
        "openrouter",
        ("OPENROUTER_API_KEY",),
        "anthropic/claude-sonnet-5",
        keys_page="https://openrouter.ai/settings/keys",
        key_begins="sk-or-",
    ),
    Provider(
        "deepseek", ("DEEPSEEK_API_KEY",), "deepseek-v4-flash", keys_page="https://platform.deepseek.com/api_keys"
    ),
    Provider(
        "groq", ("GROQ_API_KEY",), "openai/gpt-oss-120b", keys_page="https://console.groq.com/keys", key_begins="gsk_"
    ),
    Provider("mistral", ("MISTRAL_API_KEY",), "mistral-medium-latest", keys_page="https://console.mistral.ai/api-keys"),
    Provider("xai", ("XAI_API_KEY",), "grok-4.3-latest", keys_page="https://console.x.ai", key_begins="xai-"),
    Provider(
        "moonshot",
        ("MOONSHOT_API_KEY", "KIMI_API_KEY"),
        "kimi-k2.6",
        keys_page="https://platform.moonshot.ai/console/api-keys",
    ),
    Provider("zai", ("ZAI_API_KEY",), "glm-5", keys_page="https://z.ai/manage-apikey/apikey-list"),
    Provider(
        "zhipu",
        ("ZHIPUAI_API_KEY", "ZHIPU_API_KEY"),
        "glm-5",
        prefix="zai",
        base_url="https://open.bigmodel.cn/api/paas/v4",
        keys_page="https://open.bigmodel.cn/usercenter/apikeys",
    ),
    Provider(
        "dashscope",
        ("DASHSCOPE_API_KEY",),
        "qwen3.8-max",
        keys_page="https://bailian.console.aliyun.com/?tab=model#/api-key",
    ),
)
"""Hosted providers, in the order in which their keys are looked for."""


class ModelSettingError(ValueError):
    """The model setting cannot be used; the text says what to change."""


class ModelChoice(Frozen):
    """The chosen model and the reason in one sentence for users."""

    model: ModelInfo
    client: Literal["demo", "openai", "litellm"]
    base_url: str | None = None
    api_key: SecretStr | None = None
    why: str

    def seeing(self, *, vision: bool) -> "ModelChoice":
        """Return the same choice with vision switched on or off."""
        return self.model_copy(update={"model": self.model.model_copy(update={"vision": vision})})


async def choose_model(
    setting: str | None,
    environ: Mapping[str, str],
    *,
    base_url: str | None = None,
    local_ports: Sequence[LocalServer] = LOCAL_SERVERS,
    host: str = "127.0.0.1",
) -> ModelChoice:
    """Select the model. `base_url` overrides OPENAI_BASE_URL. Raises ModelSettingError."""
    setting = (setting or "").strip()
    base_url = (base_url or environ.get(BASE_URL, "")).strip() or None
    if setting == "demo":
        return _demo("the settings ask for it")
    if base_url and OPENAI_HOST not in base_url:
        return await _configured_server(setting, base_url, environ)
    if setting:
        return await _by_setting(setting, environ, local_ports, host)
    for provider in PROVIDERS:
        if found := provider.key_in(environ):
            return await _hosted(provider, provider.model, found[1], f"{found[0]} is set")
    return await _local_or_demo(local_ports, host)


async def choose_fallback(setting: str, environ: Mapping[str, str], *, base_url: str | None = None) -> ModelChoice:
    """Select a fallback, which may be at another place than the model it replaces.

    A name with a provider goes there, whatever the base URL; any other is a model of the server at the base URL. Raises
    ModelSettingError.
    """
    name = setting.partition("/")[0].lower()
    if name in {each.name for each in PROVIDERS} | {each.prefix for each in LOCAL_SERVERS}:
        return await _by_setting(setting, environ, LOCAL_SERVERS, "127.0.0.1")
    return await choose_model(setting, environ, base_url=base_url)


def make_client(choice: ModelChoice, clock: Clock | None = None) -> LlmClient:
    """Return the client for the chosen model."""
    clock = clock or SystemClock()
    key = choice.api_key.get_secret_value() if choice.api_key else None
    match choice.client:
        case "demo":
            # imported lazily, because most starts do not need it and it is slow to import
            demo: LlmClient = importlib.import_module("agent_core.demo.model").DemoLlm(clock)
            return demo
        case "litellm":
            return LitellmClient(key, choice.base_url, now=clock.time)
        case "openai":
            return OpenAiClient(choice.base_url or "", key, now=clock.time)


def _demo(why: str) -> ModelChoice:
    return ModelChoice(model=DEMO_MODEL, client="demo", why=why)


async def _by_setting(
    setting: str, environ: Mapping[str, str], servers: Sequence[LocalServer], host: str
) -> ModelChoice:
    name, _, model = setting.partition("/")
    if model and (server := next((each for each in servers if each.prefix == name.lower()), None)):
        return await _local_by_setting(server, model, host)
    provider = next((each for each in PROVIDERS if each.name == name.lower()), None)
    if provider is None or not model:
        known = ", ".join([*(each.name for each in PROVIDERS), *(each.prefix for each in servers)])
        raise ModelSettingError(
            f'The model "{setting}" names no provider that is known: write "provider/model" with one of {known}, '
            f'or "demo"; for a server of your own set {BASE_URL}.'
        )
    found = provider.key_in(environ)
    if found is None:
        raise ModelSettingError(f'The model "{setting}" needs a key: set {provider.keys[0]}.')
    return await _hosted(provider, model, found[1], f"the settings ask for it, and {found[0]} is set")


async def _local_by_setting(server: LocalServer, model: str, host: str) -> ModelChoice:
    found = await find_local_model([server], wanted=model, host=host, within_s=ASK_S)
    if found is None:
        raise ModelSettingError(
            f"{server.name} does not answer on port {server.port} with the model {model}: start it, or fetch the model."
        )
    return _local(found, "the settings ask for it, and ")


async def _hosted(provider: Provider, model: str, key: SecretStr, why: str) -> ModelChoice:
    info = await look_up(provider.litellm_id(model), provider.name)
    return ModelChoice(model=info, client="litellm", base_url=provider.base_url, api_key=key, why=why)


async def _configured_server(setting: str, base_url: str, environ: Mapping[str, str]) -> ModelChoice:
    """Choose a model of the user's own server: any name is accepted, and without one the server's first model is
    used."""
    key = environ.get(OPENAI_KEY, "").strip() or None
    if not base_url.startswith(("http://", "https://")):
        raise ModelSettingError(
            f'The base URL "{base_url}" must begin with http:// or https://, as in http://host:8000/v1.'
        )
    offered = await ask_server(base_url, key, within_s=ASK_S)
    model = next((each for each in offered if each.id == setting), None)
    if model is None and setting:
        model = ModelInfo(id=setting, provider="server")
    if model is None and offered:
        model = offered[0]
    if model is None:
        raise ModelSettingError(f"The server at {base_url} names no model: is it running? Else set the model's name.")
    if is_private(base_url):
        model = _free(model)
    why = f"the settings name the server at {base_url}"
    return ModelChoice(
        model=model, client="openai", base_url=base_url, api_key=SecretStr(key) if key else None, why=why
    )


async def _local_or_demo(servers: Sequence[LocalServer], host: str) -> ModelChoice:
    found = await find_local_model(servers, host=host)
    if found is None:
        return _demo("no key and no local model was found")
    return _local(found, "")


def _local(found: LocalModel, reason: str) -> ModelChoice:
    why = f"{reason}{found.server.name} answers on port {found.server.port} with {found.model.id}"
    return ModelChoice(model=_free(found.model), client="openai", base_url=found.base_url, why=why)


def _free(model: ModelInfo) -> ModelInfo:
    """Return a model of the user's own machine, which costs nothing."""
    return model.model_copy(update={"input_price": 0.0, "output_price": 0.0})
