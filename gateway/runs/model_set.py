"""The models in use, and how they are chosen from the settings, at the start and while Parley runs."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain

import structlog
from msgspec import Struct, field
from msgspec.structs import replace

from agent_core.clock import Clock, SystemClock
from agent_core.loop.model_chain import Candidate
from agent_core.models.llm import LlmClient
from agent_core.models.model_names import shown_name
from agent_core.models.no_model import NO_MODEL
from agent_core.models.provided import ModelProvider
from agent_core.models.selection import (
    ModelChoice,
    ModelSettingError,
    choose_fallback,
    choose_model,
    make_client,
    standby,
)
from channels.text import literal
from gateway.settings.settings import Settings
from gateway.texts.about import About
from gateway.texts.say import Language, say

log = structlog.get_logger(__name__)


class ModelMenu(Struct, frozen=True):
    """The models that the settings offer beside the default model and its fallbacks."""

    others: Sequence[Candidate] = ()
    unreachable: Mapping[str, str] = field(default_factory=dict)
    """The reason why each of the other models cannot be used."""


class ModelSet(Struct, frozen=True, dict=True):
    """All models in use."""

    default: Candidate
    why: str
    """Reason that the default model was selected, as a short phrase."""
    fallbacks: Sequence[Candidate] = ()
    """Models to ask in this order if another one fails."""
    cheaper: Candidate | None = None
    """Model to ask once most of a budget is used."""
    menu: ModelMenu = field(default_factory=ModelMenu)
    choices: Mapping[str, Sequence[ModelChoice]] = field(default_factory=dict)
    """The addresses of these models, by the setting that names them."""

    @cached_property
    def offered(self) -> Mapping[str, Candidate]:
        """All models that people can choose, by id, the default first."""
        every = [self.default, *self.fallbacks, *self.menu.others]
        first = {each.model.id: each for each in reversed(every)}
        return {each.model.id: first[each.model.id] for each in every}

    @property
    def is_ai(self) -> bool:
        """True unless the default model only plays one, or none is set."""
        return self.default.model.is_ai

    def notice(self, language: Language) -> str:
        """Return a sentence about what answers if that is no AI; empty for an AI."""
        if self.is_ai:
            return ""
        model = self.default.model.id
        return say("no_model" if model == NO_MODEL.id else "no_ai", language, model=literal(model))

    @property
    def samples(self) -> Mapping[str, str]:
        """The sample files of the default model's provider."""
        return next((each.provider.samples for each in self.choices.get("model", ()) if each.provider), {})

    @property
    def sees(self) -> bool:
        """True if the default model can see pictures."""
        return self.default.model.vision

    def told(self, about: About) -> About:
        """Return the facts about the process with those of the default model."""
        return about.model_copy(update={"model": self.default.model.id, "why": self.why, "is_ai": self.is_ai})


class CurrentModels:
    """The models in force. Parts look them up for each run, and never keep them."""

    def __init__(self, models: ModelSet) -> None:
        self.now = models
        """Replaced as a whole when one of them changes."""


class PluginModels:
    """The providers of models that plugins add."""

    def __init__(self) -> None:
        self._by_plugin: dict[str, Sequence[ModelProvider]] = {}
        self.lacks_some = False
        """True if a plugin is left out, which may have had the provider that a setting names."""

    @property
    def all(self) -> Sequence[ModelProvider]:
        """Return those of all plugins."""
        return tuple(chain.from_iterable(self._by_plugin.values()))

    def of(self, plugin: str) -> Sequence[ModelProvider]:
        """Return those of a plugin."""
        return self._by_plugin.get(plugin, ())

    @property
    def samples(self) -> Mapping[str, str]:
        """Return the sample files of all plugins, by name."""
        return {name: text for each in reversed(self.all) for name, text in each.samples.items()}

    def add(self, by_plugin: Mapping[str, Sequence[ModelProvider]]) -> None:
        """Add those of plugins, by the plugin's name."""
        self._by_plugin.update(by_plugin)

    def leave_out(self, plugin: str) -> None:
        """Forget those of a plugin that is left out."""
        self._by_plugin.pop(plugin, None)
        self.lacks_some = True


class ModelSource:
    """Chooses the models that the settings name. There is one client for each server and key."""

    def __init__(self, clock: Clock | None = None, plugins: PluginModels | None = None) -> None:
        self._clock = clock or SystemClock()
        self._plugins = plugins or PluginModels()
        self._clients: dict[tuple[str, str | None, str], LlmClient] = {}

    async def choose(self, settings: Settings) -> ModelSet:
        """Return the models of the settings. Raises ModelSettingError.

        Where a plugin is left out, what may have been its models are left out with it.
        """
        try:
            first = await self._default(settings)
        except ModelSettingError as error:
            first = await self._without(error)
        models = ModelSet(self._candidate(first), settings.secrets.mask(first.why), choices={"model": (first,)})
        return await self._others(models, settings, {"fallbacks", "budgets.cheaper_model", "models"})

    async def changed(self, models: ModelSet, before: Settings, after: Settings) -> ModelSet:
        """Return the models after a change of the settings; only those are looked for again that it concerns.

        Raises:
            ModelSettingError: A model cannot be used; the text says what to change.
        """
        chosen = chain.from_iterable(models.choices.values())
        is_gone = any(each.provider and each.provider not in self._plugins.all for each in chosen)
        if is_gone or (before.environ, before.openai_base_url) != (after.environ, after.openai_base_url):
            return await self.choose(after)
        if (before.model, before.vision) != (after.model, after.vision):
            first = await self._default(after)
            choices = {**models.choices, "model": (first,)}
            why = after.secrets.mask(first.why)
            models = replace(models, default=self._candidate(first), why=why, choices=choices)
        changed = {name for name in ("fallbacks", "models") if getattr(before, name) != getattr(after, name)}
        if before.budgets.cheaper_model != after.budgets.cheaper_model:
            changed.add("budgets.cheaper_model")
        return await self._others(models, after, changed)

    async def close(self) -> None:
        """Close all clients, also those of models that are no longer in use."""
        while self._clients:
            _, client = self._clients.popitem()
            await client.close()

    async def _default(self, settings: Settings) -> ModelChoice:
        choice = await choose_model(
            settings.model, settings.environ, base_url=settings.openai_base_url, provided=self._plugins.all
        )
        return choice if settings.vision is None else choice.seeing(vision=settings.vision)

    async def _others(self, models: ModelSet, settings: Settings, names: set[str]) -> ModelSet:
        """Choose anew the models that these settings name."""
        choices = dict(models.choices)
        if "fallbacks" in names:
            choices["fallbacks"] = await self._found(settings.fallbacks, settings)
            models = replace(models, fallbacks=[self._candidate(each) for each in choices["fallbacks"]])
        if "budgets.cheaper_model" in names:
            cheaper = settings.budgets.cheaper_model
            choices["budgets.cheaper_model"] = await self._found([cheaper] if cheaper else [], settings)
            found = [self._candidate(each) for each in choices["budgets.cheaper_model"]]
            models = replace(models, cheaper=found[0] if found else None)
        if "models" in names:
            choices["models"], unreachable = await self._offered(settings)
            menu = ModelMenu([self._candidate(each) for each in choices["models"]], unreachable)
            models = replace(models, menu=menu)
        return replace(models, choices=choices)

    def _candidate(self, choice: ModelChoice) -> Candidate:
        secret = choice.api_key.get_secret_value() if choice.api_key else ""
        key = choice.client, choice.provider.name if choice.provider else choice.base_url, secret
        if key not in self._clients:
            self._clients[key] = make_client(choice, self._clock)
        return Candidate(choice.model, self._clients[key])

    async def _found(self, names: Iterable[str], settings: Settings) -> Sequence[ModelChoice]:
        """Return the models with these names. Raises ModelSettingError."""
        found = []
        for each in names:
            try:
                found.append(await self._fallback(each, settings))
            except ModelSettingError as error:
                if not self._plugins.lacks_some:
                    raise
                log.warning("a model is left out, as a plugin is", model=each, reason=str(error))
        return found

    async def _without(self, error: ModelSettingError) -> ModelChoice:
        """Return what answers without the plugin of the model that is set. Raises the error if it is not for that."""
        if not self._plugins.lacks_some:
            raise error
        log.warning("the model is left out, as a plugin is", reason=str(error))
        return await standby(self._plugins.all, str(error))

    async def _fallback(self, setting: str, settings: Settings) -> ModelChoice:
        return await choose_fallback(
            setting, settings.environ, base_url=settings.openai_base_url, provided=self._plugins.all
        )

    async def _offered(self, settings: Settings) -> tuple[list[ModelChoice], dict[str, str]]:
        """Return the models that people can choose, and the reasons why others cannot be used."""
        choices, unreachable = [], {}
        for setting in settings.models:
            try:
                choices.append(await self._fallback(setting, settings))
            except ModelSettingError as error:
                unreachable[shown_name(setting)] = str(error)
                log.warning("a model cannot be chosen", model=setting, reason=str(error))
        return choices, unreachable
