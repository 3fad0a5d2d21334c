"""The settings in force, which people may change in chats while Parley runs."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar
from zoneinfo import ZoneInfo

from agent_core.context.prompt import Persona
from agent_core.loop.limits import LoopLimits
from agent_core.sandbox.limits import CommandLimits
from gateway.settings.limits import QuotaSettings, loop_limits
from gateway.settings.plugin_settings import PluginSettings
from gateway.settings.settings import Settings
from gateway.texts.amounts import Allowance, parse_allowances
from gateway.texts.say import Language

T = TypeVar("T", bound=PluginSettings)
_parsed = lru_cache(parse_allowances)


class CurrentSettings:
    """The settings in force. Parts read a value whenever they need it, and never keep it."""

    def __init__(self, settings: Settings, port: int | None = None) -> None:
        """`port` is that on which the page listens; None if it does not yet."""
        self.now = settings
        """All settings; replaced as a whole when one of them changes."""
        self._port = settings.web.port if port is None else port

    @property
    def language(self) -> Language:
        """The language for people whose language is unknown."""
        return self.now.language

    @property
    def address_for_programs(self) -> str:
        """The address at which other programs reach what plugins open to them."""
        web = self.now.web
        return web.programs_url or web.url or f"http://127.0.0.1:{self._port}"

    @property
    def zone(self) -> ZoneInfo:
        """The time zone of chats without one of their own."""
        return ZoneInfo(self.now.timezone)

    def of(self, kind: type[T]) -> T:
        """Return the settings of a plugin, by their class."""
        return next((each for each in self.now.plugin.values() if isinstance(each, kind)), None) or kind()

    def allowances(self, scope: str) -> Sequence[Allowance]:
        """Return the budgets of everything, or of each chat, person or job."""
        return _parsed(getattr(self.now.budgets, scope))

    def persona(self) -> Persona:
        return Persona(ai_name=self.now.ai_name, personality=self.now.personality)

    def quotas(self) -> QuotaSettings:
        """Return the disk and memory quotas of chats and people."""
        return self.now.quotas

    def limits_of_a_command(self) -> CommandLimits:
        return self.now.quotas.of_a_command

    def limits(self) -> LoopLimits:
        """Return the limits of each answer."""
        return loop_limits(self.now.limits)
