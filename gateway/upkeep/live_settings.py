"""Changes of settings while Parley runs.

A value set in a chat wins over the environment and the files until it is reset.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping

import structlog
from msgspec import Struct
from pydantic import BaseModel

from agent_core.models.selection import ModelSettingError
from gateway.errors import SettingsError
from gateway.runs.model_set import CurrentModels, ModelSet, ModelSource
from gateway.security.secrets import Secrets
from gateway.settings.current import CurrentSettings
from gateway.settings.plugin_settings import TABLE as PLUGINS
from gateway.settings.plugin_settings import each_setting
from gateway.settings.run_time import MODELS, BadValue, changeable, checked, spellings, value_of, with_value
from gateway.settings.settings import FOUND, Settings, setting_names
from gateway.settings.sources import Origin
from gateway.store.chat_settings import EVERYWHERE, ChatSetting, ChatSettings

log = structlog.get_logger(__name__)

_PREFIX = "config."
"""Before the name in the table of settings."""
Apply = Callable[[Settings, ModelSet], Awaitable[None]]
"""Lets the parts go by other settings and models; called with the settings of before."""
_NAMELESS = FOUND - {"channels", "mcp"}


class Reread(Struct, frozen=True):
    """The settings and variables, by name, that reading the files again has changed."""

    applied: list[str]
    overridden: list[str]
    """Changed in the files, but another value was set in a chat."""
    restart: list[str]


class LiveModels(Struct, frozen=True):
    """The models in force, and how others are chosen."""

    current: CurrentModels
    source: ModelSource


class LiveSettings:
    """Combines the settings of the files with those set in chats, and puts them in force."""

    def __init__(
        self, current: CurrentSettings, rows: ChatSettings, secrets: Secrets, models: LiveModels, apply: Apply
    ) -> None:
        """Begin with the settings of the files, and with the models that these name.

        Args:
            secrets: Learns of new ones.
            apply: Called when settings have changed.
        """
        self.unusable = ""
        """Reason that the models set in chats are not in force; empty if they are."""
        self._files = current.now
        self._current = current
        self._rows = rows
        self._secrets = secrets
        self._models = models
        self._apply = apply
        self._one_at_a_time = asyncio.Lock()

    async def load(self) -> None:
        """Put in force what was set in chats. A value that is no longer allowed is left out."""
        wanted = await self._over(self._files)
        try:
            models = await self._models_for(wanted)
        except ModelSettingError as error:
            self.unusable = self._secrets.mask(str(error))
            log.warning("models that were set in a chat cannot be used; those of the files answer", reason=str(error))
            for name in MODELS:
                wanted = with_value(wanted, name, value_of(self._files, name))
            models = await self._models_for(wanted)
        await self._put(wanted, models)

    async def refresh(self) -> None:
        """Put in force what was set in chats on other nodes."""
        async with self._one_at_a_time:
            if await self._over(self._files) != self._current.now:
                await self.load()

    async def chosen(self, name: str) -> ChatSetting | None:
        """Return what was set in a chat, by whom and when; None if nothing was."""
        for each in spellings(name):
            if row := await self._rows.at(EVERYWHERE, f"{_PREFIX}{each}"):
                return row
        return None

    @property
    def files(self) -> Settings:
        """The settings of the environment and the files, as far as they are in force."""
        return self._files

    def place(self, name: str) -> Origin | None:
        """Return the place of a setting in the environment or a file; None if it has its default."""
        return self._files.places.get(name)

    async def choose(self, name: str, text: str | None, by: str) -> tuple[object, object]:
        """Set a value, or return to that of the files (None). Returns the values before and after.

        Raises:
            BadValue: The text is no value of this setting.
            ModelSettingError: The text names a model that cannot be used.
        """
        value = checked(name, text) if text is not None else None
        async with self._one_at_a_time:
            before = value_of(self._current.now, name)
            after = value if text is not None else value_of(self._files, name)
            wanted = with_value(self._current.now, name, after)
            models = await self._models_for(wanted)
            await self._rows.set(EVERYWHERE, f"{_PREFIX}{name}", text, by)
            await self._forget_former(name, by)
            if name in MODELS:
                self.unusable = ""
            await self._put(wanted, models)
            return before, after

    @property
    def can_reload(self) -> bool:
        return self._files.reread is not None

    async def reload(self) -> Reread:
        """Read the files again, on all nodes, and put in force what may change. All secrets in them are masked.

        Raises:
            SettingsError: The files cannot be used, and nothing has changed.
        """
        reread = await self.reread()
        await self._rows.tell_of_files()
        return reread

    async def reread(self) -> Reread:
        """Do what `reload` does on this node. Raises SettingsError."""
        async with self._one_at_a_time:
            files, may_change = await self._reread(), changeable()
            changed, before, now = list(_changed(self._files, files)), self._current.now, self._files
            for name in changed:
                if name in may_change:
                    now = with_value(now, name, value_of(files, name))
            wanted = await self._over(now)
            try:
                models = await self._models_for(wanted)
            except ModelSettingError as error:
                raise SettingsError(str(error)) from error
            self._files = now.model_copy(update={"places": files.places})
            self.unusable = ""
            await self._put(wanted, models)
            live = [name for name in changed if name in may_change]
            applied = [name for name in live if value_of(before, name) != value_of(self._current.now, name)]
            overridden = [name for name in live if name not in applied]
            return Reread(applied, overridden, [name for name in changed if name not in may_change])

    async def _forget_former(self, name: str, by: str) -> None:
        """Remove what was set under the name that the setting had before."""
        for each in spellings(name)[1:]:
            if await self._rows.at(EVERYWHERE, f"{_PREFIX}{each}"):
                await self._rows.set(EVERYWHERE, f"{_PREFIX}{each}", None, by)

    async def _over(self, files: Settings) -> Settings:
        """Return the settings of the files with those that were set in chats."""
        for name in changeable() if await self._rows.names(_PREFIX) else ():
            row = await self.chosen(name)
            if row is not None:
                try:
                    files = with_value(files, name, checked(name, row.value))
                except BadValue:
                    continue
        return files

    async def _models_for(self, wanted: Settings) -> ModelSet:
        return await self._models.source.changed(self._models.current.now, self._current.now, wanted)

    async def _put(self, wanted: Settings, models: ModelSet) -> None:
        before, self._current.now = self._current.now, wanted
        await self._apply(before, models)

    async def adopt(self, *fields: str) -> Settings:
        """Read the files again and put these fields of the settings in force, which `reload` leaves to a restart.

        Raises:
            SettingsError: The files cannot be used, and nothing has changed.
        """
        async with self._one_at_a_time:
            files = await self._reread()
            now = self._files.model_copy(update={name: getattr(files, name) for name in (*fields, "places")})
            wanted = await self._over(now)
            try:
                models = await self._models_for(wanted)
            except ModelSettingError as error:
                raise SettingsError(str(error)) from error
            self._files = now
            await self._put(wanted, models)
            return files

    async def _reread(self) -> Settings:
        """Read the files again. All secrets in them are masked from now on."""
        files = await asyncio.to_thread(self._files.reread, {}) if self._files.reread else self._files
        for secret in files.secret_values:
            self._secrets.add(secret)
        return files


def _changed(before: Settings, after: Settings) -> Iterator[str]:
    """Yield the names of settings with other values; tokens and keys by their names only."""
    for name in type(before).model_fields:
        old, new = getattr(before, name), getattr(after, name)
        if name in _NAMELESS or old == new:
            continue
        if isinstance(old, BaseModel) and isinstance(new, BaseModel):
            fields = type(old).model_fields
            yield from (f"{name}.{field}" for field in fields if getattr(old, field) != getattr(new, field))
        elif isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from (f"{name}.{key}" for key in _differing(old, new))
        else:
            yield name
    yield from (f"{PLUGINS}.{name}" for name in _differing(_of_plugins(before), _of_plugins(after)))
    yield from (key for key in _differing(before.environ, after.environ) if key not in setting_names().flat)


def _of_plugins(settings: Settings) -> Mapping[str, object]:
    return {each.name: value_of(settings, ".".join(each.key)) for each in each_setting()}


def _differing(old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    return sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
