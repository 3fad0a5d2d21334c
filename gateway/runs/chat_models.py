"""The models that people can choose in chats, and the choice that holds for a run."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import get_args

from msgspec import Struct

from agent_core.agent import Agent
from agent_core.clock import Clock
from agent_core.loop.agent_loop import Models
from agent_core.loop.model_chain import Candidate, ModelChain
from agent_core.models.llm import LlmClient, ModelInfo, ThinkingLevel
from agent_core.models.model_names import shown_name
from channels.base import ChatKey, Sender
from gateway.permissions.access import Access
from gateway.permissions.roles import Role
from gateway.runs.agents import masked
from gateway.runs.model_set import CurrentModels, ModelSet
from gateway.runs.warm_models import WarmModels
from gateway.security.masking_client import MaskingClient
from gateway.security.secrets import Secrets
from gateway.settings.current import CurrentSettings
from gateway.store.chat_settings import ChatSetting, ChatSettings
from gateway.store.rows import Run
from gateway.texts.say import Language

MODEL, THINKING = "model", "thinking"
"""The names of the settings."""
LEVELS: tuple[ThinkingLevel, ...] = get_args(ThinkingLevel)


class Chosen(Struct, frozen=True):
    """A setting of a chat that holds, and where it was made; `setting` is None for the default."""

    model: ModelInfo
    thinking: ThinkingLevel
    setting: ChatSetting | None
    thinking_setting: ChatSetting | None

    @property
    def is_gone(self) -> bool:
        """True if the model that people chose is no longer offered."""
        return self.setting is not None and self.setting.value not in (self.model.id, self.model.wire_name)


class ChatModels:
    """Looks up which model answers in a chat, and gives it to the agent of each run."""

    def __init__(
        self,
        models: CurrentModels,
        settings: ChatSettings,
        access: Access,
        secrets: Secrets,
        current: CurrentSettings,
        clock: Clock,
    ) -> None:
        self.warm = WarmModels()
        self.chain = ModelChain((), clock, expects=self._expect)
        """The fallbacks of all agents."""
        self.cheaper: Candidate | None = None
        """The model to ask once most of a budget is used."""
        self._models = models
        self._settings = settings
        self._access = access
        self._secrets = secrets
        self._current = current
        self._take(models.now)

    def use(self, models: ModelSet) -> None:
        """Let other models answer, from the next run on."""
        self._take(models)
        self.warm.begin(models.default.llm)

    async def prepare(self) -> None:
        """Prepare the default model and those that were chosen anywhere, beside everything else."""
        self.warm.begin(self._models.now.default.llm)
        for _, _, value in await self._settings.named(MODEL):
            if (found := self._chosen(value)) is not None:
                self.warm.begin(found.llm)

    def prepare_for(self, model: str) -> None:
        """Prepare a model that is offered."""
        self.warm.begin(self._models.now.offered[model].llm)

    def _expect(self, candidate: Candidate) -> None:
        llm = candidate.llm
        self.warm.begin(llm.llm if isinstance(llm, MaskingClient) else llm)

    def _take(self, models: ModelSet) -> None:
        self._models.now = models
        self.chain.fallbacks = tuple(masked(each, self._secrets) for each in models.fallbacks)
        self.cheaper = masked(models.cheaper, self._secrets) if models.cheaper else None

    def notice(self, language: Language) -> str:
        """Return a sentence about what answers if that is no AI; empty for an AI."""
        return self._models.now.notice(language)

    @property
    def default(self) -> ModelInfo:
        """The model of chats that have chosen none."""
        return self._models.now.default.model

    @property
    def offered(self) -> list[ModelInfo]:
        """All models that can be chosen, the default first."""
        return [each.model for each in self._models.now.offered.values()]

    def client_of(self, model: str) -> LlmClient:
        """Return the client of a model that is offered, which masks secrets."""
        return MaskingClient(self._models.now.offered[model].llm, self._secrets)

    def uses(self, model: str) -> list[str]:
        """Return what the settings use a model for: `default`, `fallback`, `cheaper`."""
        now = self._models.now
        cheaper = [now.cheaper] if now.cheaper else []
        by_use = {"default": [now.default], "fallback": now.fallbacks, "cheaper": cheaper}
        return [use for use, found in by_use.items() if any(each.model.id == model for each in found)]

    @property
    def unreachable(self) -> Mapping[str, str]:
        """The configured models that cannot be used, with the reason."""
        return self._models.now.menu.unreachable

    def allows(self, role: Role | None, model: str) -> bool:
        """Return True if people of this role may use the model. Everyone may use the default one."""
        now = self._current.now
        allowed = {Role.MEMBER: now.member_models, Role.GUEST: now.guest_models}.get(role or Role.GUEST, frozenset())
        if not allowed or model == self._models.now.default.model.id:
            return True
        names = {model, _bare(model)} | {each.wire_name for each in self.offered if each.id == model}
        return bool(names & allowed)

    def named(self, text: str) -> ModelInfo | None:
        """Return the model with this name, with or without its provider, or with this path."""
        wanted = text.strip().lower()
        exact = [each for each in self.offered if wanted in map(str.lower, _full_names(each))]
        bare = [each for each in self.offered if _bare(each.id).lower() == shown_name(wanted)]
        return next(iter(exact or (bare if len(bare) == 1 else [])), None)

    def nearest(self, text: str, role: Role) -> str | None:
        """Return the name most like a mistyped one, among those that the role may use."""
        ids = [each.id for each in self.offered if self.allows(role, each.id)]
        names = {name.lower(): each for each in ids for name in (each, _bare(each))}
        near = get_close_matches(text.strip().lower(), names, n=1, cutoff=0.5)
        return names[near[0]] if near else None

    async def chosen(self, chat: ChatKey) -> Chosen:
        """Return what holds in a chat. A model that is no longer offered gives way to the default."""
        setting = await self._settings.find(chat, MODEL)
        level = await self._settings.find(chat, THINKING)
        found = self._chosen(setting.value) if setting else None
        thinking = level.value if level and level.value in LEVELS else self._current.now.thinking
        model = (found or self._models.now.default).model
        return Chosen(model, thinking, setting, level)

    def _chosen(self, wanted: str) -> Candidate | None:
        """Return the offered model that a setting names."""
        offered = self._models.now.offered.values()
        return next((each for each in offered if wanted in (each.model.id, each.model.wire_name)), None)

    async def model_for(self, chat: ChatKey, person: str) -> ModelInfo:
        """Return the model that answers a person in a chat."""
        chosen = await self.chosen(chat)
        return self._allowed(self._role(chat, person), chosen.model.id).model

    async def model_of(self, run: Run) -> ModelInfo:
        """Return the model that answers in a run: the one that was chosen for it, or else for its chat."""
        if run.model is not None and run.model in self._models.now.offered:
            return self._allowed(self._role(run.chat, run.person), run.model).model
        return await self.model_for(run.chat, run.person)

    async def give(self, agent: Agent, run: Run) -> None:
        """Give the agent of a run the model that was chosen for the run, or else for its chat.

        If the person's role does not allow that model, the default one answers.
        """
        await self.equip(agent, run.chat, self._role(run.chat, run.person), run.model)

    async def equip(self, agent: Agent, chat: ChatKey, role: Role | None, once: str | None = None) -> None:
        """Give an agent the model `once`, or that of the chat, as far as the role allows."""
        chosen = await self.chosen(chat)
        wanted = once if once is not None and once in self._models.now.offered else chosen.model.id
        candidate, default, models = self._allowed(role, wanted), self._models.now.default, agent.loop.models
        models.model, models.llm = candidate.model, self._client(models, candidate.llm)
        models.default = Candidate(default.model, self._client(models, default.llm))
        gone = chosen.setting if chosen.setting and chosen.is_gone and wanted != once else None
        models.wanted = shown_name(gone.value) if gone else ""
        if models.options.thinking != chosen.thinking:
            agent.set_thinking_level(chosen.thinking)

    def _client(self, models: Models, wanted: LlmClient) -> LlmClient:
        """Return an agent's masking client of a server; a new one if it has none."""
        known = [Candidate(models.model, models.llm), *([models.default] if models.default else [])]
        mine = (each.llm for each in known if isinstance(each.llm, MaskingClient) and each.llm.llm is wanted)
        return next(mine, None) or MaskingClient(wanted, self._secrets)

    def _allowed(self, role: Role | None, model: str) -> Candidate:
        now = self._models.now
        return now.default if model == now.default.model.id or not self.allows(role, model) else now.offered[model]

    def _role(self, chat: ChatKey, person: str) -> Role | None:
        return self._access.role(chat, Sender(id=person, name=""))


def _full_names(model: ModelInfo) -> Sequence[str]:
    """Return the name of a model, with the path for which it stands, too."""
    provider, slash, _ = model.id.rpartition("/")
    return model.id, model.wire_name, f"{provider}{slash}{model.wire_name}"


def _bare(model: str) -> str:
    return model.rpartition("/")[2]
