"""Reads the providers of models that plugins add, and keeps what fails in them."""

import re
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from agent_core.background import done_within
from agent_core.clock import Clock
from agent_core.models.llm import (
    LlmClient,
    LlmOptions,
    LlmRequest,
    ModelInfo,
    StreamDone,
    StreamEvent,
    StreamStart,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
)
from agent_core.models.local_servers import LOCAL_SERVERS
from agent_core.models.provided import PROVIDER_NAME, ModelProvider
from agent_core.models.providers import PROVIDERS
from agent_core.models.selection import ModelSettingError
from gateway.app.plugins import PluginFailed, asked, blamed
from gateway.plugin import Plugin
from gateway.records.plugin_failures import PluginFailures, Unfit, expect, listed, reason_of
from gateway.settings.current import CurrentSettings
from gateway.texts.say import LANGUAGES

LOOK_UP_WITHIN = 30.0
"""Longest time in seconds for the properties of a model."""
CLOSE_WITHIN = 5.0
BUILT_IN = frozenset({"server", *(each.name for each in PROVIDERS), *(each.prefix for each in LOCAL_SERVERS)})
_PART = re.compile(r"\w[\w.-]*")
"""A part of the name of a sample file, which leads out of no folder."""
_EVENTS = (StreamStart, TextDelta, ThinkingDelta, ToolCallDelta, StreamDone)


def models_of(
    kinds: Iterable[type[Plugin]], settings: CurrentSettings, clock: Clock, failures: PluginFailures
) -> Mapping[str, Sequence[ModelProvider]]:
    """Return the providers of models of the plugins, by the plugin's name; their failures are kept.

    Raises PluginFailed if one is none, or if two have the same name.
    """
    found: dict[str, Sequence[ModelProvider]] = {}
    taken: set[str] = set()
    for kind in kinds:
        providers = asked(kind, "models", partial(_listed, kind, settings, clock))
        with blamed(kind.name, "models"):
            for each in providers:
                _check(each)
                if each.name in BUILT_IN:
                    raise PluginFailed(kind.name, f"Parley itself has a provider of models {each.name}")
                if each.name in taken:
                    raise PluginFailed(kind.name, f"two plugins have a provider of models {each.name}")
                taken.add(each.name)
        found[kind.name] = [_guarded(kind.name, each, clock, failures) for each in providers]
    return found


def _listed(kind: type[Plugin], settings: CurrentSettings, clock: Clock) -> Sequence[ModelProvider]:
    return listed("the result of models()", kind.models(settings, clock))


def _check(provider: ModelProvider) -> None:
    """Raise Unfit for what is no provider, and ValueError for one with a wrong name."""
    expect(provider, ModelProvider, "an item of models()")
    if not PROVIDER_NAME.fullmatch(provider.name):
        raise ValueError(f"the name of the provider {provider.name!r} is not made of a-z, 0-9, - and _")
    for member in ("look_up", "client"):
        if not callable(getattr(provider, member)):
            raise Unfit(f"{member} of the provider {provider.name} should be a function")
    if provider.about and (missing := [each for each in LANGUAGES if each not in provider.about]):
        raise Unfit(f"what the provider {provider.name} says of itself is missing in {', '.join(missing)}")
    for name, text in provider.samples.items():
        expect(text, str, f"the sample {name}")
        if not all(map(_PART.fullmatch, name.split("/"))):
            raise Unfit(f"the sample {name} is not named as a file, such as notes/garden.md")


def _guarded(plugin: str, provider: ModelProvider, clock: Clock, failures: PluginFailures) -> ModelProvider:
    where = f"models {provider.name}"

    async def look_up(model: str) -> ModelInfo:
        async def looked_up() -> ModelInfo:
            return await provider.look_up(model)

        try:
            found = await done_within(looked_up(), LOOK_UP_WITHIN, clock)
            expect(found, ModelInfo, "the result of look_up()")
        except ModelSettingError:
            raise
        except Exception as error:
            failures.keep(plugin, where, error)
            named, reason = provider.id_of(model), reason_of(error)
            raise ModelSettingError(f"The plugin {plugin} failed to look up the model {named}: {reason}") from error
        return found

    return replace(provider, look_up=look_up, client=lambda: _Guarded(plugin, where, provider, clock, failures))


class _Guarded:
    """A client of a plugin, whose failures are kept. It is made for its first call."""

    def __init__(
        self, plugin: str, where: str, provider: ModelProvider, clock: Clock, failures: PluginFailures
    ) -> None:
        self._plugin = plugin
        self._where = where
        self._provider = provider
        self._clock = clock
        self._failures = failures
        self._client: LlmClient | None = None

    async def stream(
        self, model: ModelInfo, request: LlmRequest, options: LlmOptions
    ) -> AsyncGenerator[StreamEvent, None]:
        """Yield the client's events. Raises what the client raises, and TimeoutError if it is silent for too long."""
        with self._failures.kept(self._plugin, self._where):
            if self._client is None:
                self._client = self._provider.client()
            stream = self._client.stream(model, request, options)
            expect(stream, AsyncGenerator, "the result of stream()")

            async def following() -> StreamEvent | None:
                return await anext(stream, None)

            try:
                while (event := await done_within(following(), options.timeout_s, self._clock)) is not None:
                    if not isinstance(event, _EVENTS):
                        raise Unfit(
                            f"the client of {self._provider.name} sent {type(event).__name__}, which is no event"
                        )
                    yield event
            finally:
                with suppress(RuntimeError):  # one that was silent for too long is cancelled, and may still run
                    await stream.aclose()

    async def close(self) -> None:
        """Close the client's connections."""
        if self._client is not None:
            with self._failures.contained(self._plugin, self._where):
                await done_within(self._client.close(), CLOSE_WITHIN, self._clock)
