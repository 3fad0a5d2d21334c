"""Selection of the model: the setting, else a key in the environment, else a local server, else what stands by.

Most hosted providers go through litellm; a few, and servers with a base URL, go through `OpenAiClient`.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Literal

from pydantic import SecretStr

from agent_core.clock import Clock, SystemClock
from agent_core.messages import Frozen
from agent_core.models.llm import LlmClient, ModelInfo
from agent_core.models.local_servers import (
    ASK_S,
    LOCAL_SERVERS,
    LocalModel,
    LocalServer,
    ask_server,
    find_local_model,
    is_private,
)
from agent_core.models.model_names import named, shown_name
from agent_core.models.no_model import NO_MODEL, NoModelClient
from agent_core.models.provided import ModelProvider
from agent_core.models.providers import OPENAI_KEY, PROVIDERS, Provider, address_of, key_of
from agent_core.models.server_address import deployment_in, is_address

BASE_URL = "OPENAI_BASE_URL"
OPENAI_HOST = "//api.openai.com"
"""A base URL with this host adds nothing to the key."""


class ModelSettingError(ValueError):
    """The model setting cannot be used; the text says what to change."""


class ModelChoice(Frozen):
    """The chosen model and the reason in one sentence for users."""

    model: ModelInfo
    client: Literal["none", "openai", "litellm", "plugin"]
    base_url: str | None = None
    api_key: SecretStr | None = None
    why: str
    provider: ModelProvider | None = None
    """The provider of a plugin's model."""

    def seeing(self, *, vision: bool) -> "ModelChoice":
        """Return the same choice with vision switched on or off."""
        return self.model_copy(update={"model": self.model.model_copy(update={"vision": vision})})


async def choose_model(
    setting: str | None,
    environ: Mapping[str, str],
    *,
    base_url: str | None = None,
    provided: Sequence[ModelProvider] = (),
    local_ports: Sequence[LocalServer] = LOCAL_SERVERS,
    host: str = "127.0.0.1",
) -> ModelChoice:
    """Select the model. `base_url` overrides OPENAI_BASE_URL. Raises ModelSettingError.

    A name with one of the `provided` providers goes there, whatever the base URL.
    """
    setting = (setting or "").strip()
    of_plugin, model = _of_plugin(setting, provided)
    if of_plugin is not None:
        return await _provided(of_plugin, model, "the settings ask for it")
    base_url = (base_url or environ.get(BASE_URL, "")).strip() or None
    if base_url and OPENAI_HOST not in base_url:
        return await _configured_server(setting, base_url, environ)
    if setting:
        return await _by_setting(setting, environ, local_ports, host, provided)
    for provider in PROVIDERS:
        if found := provider.key_in(environ):
            return await _hosted(provider, provider.model, environ, f"{found[0]} is set")
    local = await find_local_model(local_ports, host=host)
    return _local(local, "") if local else await standby(provided, "no key and no local model was found")


async def choose_fallback(
    setting: str,
    environ: Mapping[str, str],
    *,
    base_url: str | None = None,
    provided: Sequence[ModelProvider] = (),
) -> ModelChoice:
    """Select a fallback, which may be at another place than the model it replaces.

    A name with a provider goes there, whatever the base URL; any other is a model of the server at the base URL. Raises
    ModelSettingError.
    """
    name = setting.partition("/")[0].lower()
    known = {each.name for each in PROVIDERS} | {each.prefix for each in LOCAL_SERVERS}
    if name in known or address_of(name, environ):
        return await _by_setting(setting, environ, LOCAL_SERVERS, "127.0.0.1", provided)
    return await choose_model(setting, environ, base_url=base_url, provided=provided)


async def standby(provided: Sequence[ModelProvider], why: str) -> ModelChoice:
    """Return the model that answers as long as no other is set or found."""
    for provider in (each for each in provided if each.standby):
        with suppress(ModelSettingError):
            return await _provided(provider, provider.standby, why)
    return ModelChoice(model=NO_MODEL, client="none", why=why)


def make_client(choice: ModelChoice, clock: Clock | None = None) -> LlmClient:
    """Return the client for the chosen model."""
    if choice.provider is not None:
        return choice.provider.client()
    clock = clock or SystemClock()
    key = choice.api_key.get_secret_value() if choice.api_key else None
    match choice.client:
        case "none":
            return NoModelClient()
        case "litellm":
            from agent_core.models.litellm_client import LitellmClient  # noqa: PLC0415 (nobody needs both)

            return LitellmClient(key, choice.base_url, now=clock.time)
        case _:
            from agent_core.models.openai_client import OpenAiClient  # noqa: PLC0415

            hosted = {each.name for each in PROVIDERS if each.own_client} & {choice.model.provider}
            return OpenAiClient(choice.base_url or "", key, provider="".join(hosted), now=clock.time)


def _of_plugin(setting: str, provided: Sequence[ModelProvider]) -> tuple[ModelProvider | None, str]:
    """Return the provider of a plugin and its model that a setting names; None if it names none."""
    name, _, model = setting.partition("/")
    for provider in provided:
        if provider.name == name.lower() and (wanted := model or provider.standby):
            return provider, wanted
    return None, ""


async def _provided(provider: ModelProvider, model: str, why: str) -> ModelChoice:
    found = await provider.look_up(model)
    of_provider = {"id": provider.id_of(model), "sent_as": found.wire_name, "provider": provider.name}
    return ModelChoice(model=found.model_copy(update=of_provider), client="plugin", why=why, provider=provider)


def _name(provider: Provider | ModelProvider) -> str:
    return provider.name


async def _by_setting(
    setting: str,
    environ: Mapping[str, str],
    servers: Sequence[LocalServer],
    host: str,
    provided: Sequence[ModelProvider],
) -> ModelChoice:
    name, _, model = setting.partition("/")
    provider = next((each for each in PROVIDERS if each.name == name.lower()), None)
    if model and provider is None and (address := address_of(name, environ)):
        return await _named_server(name, model, address, key_of(name, environ))
    if model and (server := next((each for each in servers if each.prefix == name.lower()), None)):
        return await _local_by_setting(server, model, host)
    if provider is None or not model:
        known = ", ".join([*map(_name, PROVIDERS), *(each.prefix for each in servers), *map(_name, provided)])
        raise ModelSettingError(
            f'The model "{setting}" names no provider that is known: write "provider/model" with one of {known}; '
            f'for a server of your own set {BASE_URL}, or NAME_API_BASE for "NAME/model".'
        )
    found = provider.key_in(environ)
    if found is None:
        raise ModelSettingError(f'The model "{setting}" needs a key: set {provider.keys[0]}.')
    return await _hosted(provider, model, environ, f"the settings ask for it, and {found[0]} is set")


async def _local_by_setting(server: LocalServer, model: str, host: str) -> ModelChoice:
    found = await find_local_model([server], wanted=model, host=host, within_s=ASK_S)
    if found is None:
        raise ModelSettingError(
            f"{server.name} does not answer on port {server.port} with the model {shown_name(model)}: start it, or "
            "fetch the model."
        )
    return _local(found, "the settings ask for it, and ")


async def _hosted(provider: Provider, model: str, environ: Mapping[str, str], why: str) -> ModelChoice:
    from agent_core.models.model_table import look_up  # noqa: PLC0415 (servers of one's own are not in it)

    info = await look_up(provider.litellm_id(model), provider.name)
    base_url, found = address_of(provider.name, environ) or provider.base_url, provider.key_in(environ)
    if base_url:
        _check_address(base_url)
    client: Literal["openai", "litellm"] = "openai" if provider.own_client else "litellm"
    return ModelChoice(model=info, client=client, base_url=base_url, api_key=found and found[1], why=why)


def _check_address(base_url: str) -> None:
    if not is_address(base_url):
        raise ModelSettingError(
            f'The base URL "{base_url}" is no address of a server: write one such as http://host:8000/v1.'
        )


async def _named_server(name: str, model: str, address: str, key: SecretStr | None) -> ModelChoice:
    """Choose a model of a server that has a name of its own in the settings, which the model has before its own."""
    choice = await _own_server(model, address, key)
    wanted = choice.model.model_copy(
        update={"id": f"{name.lower()}/{choice.model.id}", "sent_as": choice.model.wire_name}
    )
    return choice.model_copy(update={"model": wanted})


async def _configured_server(setting: str, base_url: str, environ: Mapping[str, str]) -> ModelChoice:
    key = environ.get(OPENAI_KEY, "").strip()
    return await _own_server(setting, base_url, SecretStr(key) if key else None)


async def _own_server(setting: str, base_url: str, key: SecretStr | None) -> ModelChoice:
    """Choose a model of the user's own server: any name is accepted, and without one the server's first model is
    used."""
    _check_address(base_url)
    deployment = deployment_in(base_url)
    offered = [] if deployment else await ask_server(base_url, key.get_secret_value() if key else None)
    model = next((each for each in offered if setting in (each.id, each.wire_name)), None)
    if model is None and (name := setting or deployment):
        model = named(ModelInfo(id=name, provider="server"))
    if model is None and offered:
        model = offered[0]
    if model is None:
        raise ModelSettingError(f"The server at {base_url} names no model: is it running? Else set the model's name.")
    if is_private(base_url):
        model = _free(model)
    why = f"the settings name the server at {base_url}"
    return ModelChoice(model=model, client="openai", base_url=base_url, api_key=key, why=why)


def _local(found: LocalModel, reason: str) -> ModelChoice:
    why = f"{reason}{found.server.name} answers on port {found.server.port} with {found.model.id}"
    return ModelChoice(model=_free(found.model), client="openai", base_url=found.base_url, why=why)


def _free(model: ModelInfo) -> ModelInfo:
    """Return a model of the user's own machine, which costs nothing."""
    return model.model_copy(update={"input_price": 0.0, "output_price": 0.0})
