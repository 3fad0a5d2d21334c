"""Changes of settings while Parley runs.

A value set in a chat wins over the environment and the files until it is reset.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from pydantic import BaseModel

from gateway.security.secrets import Secrets
from gateway.settings.current import CurrentSettings
from gateway.settings.run_time import RUN_TIME, BadValue, checked, value_of, with_value
from gateway.settings.settings import FOUND, Settings, setting_names
from gateway.store.chat_settings import EVERYWHERE, ChatSetting, ChatSettings

_PREFIX = "config."
"""Before the name in the table of settings."""
_NAMELESS = FOUND - {"channels", "mcp"}


@dataclass(frozen=True)
class Reread:
    """What reading the files again has changed, as names of settings and variables."""

    applied: list[str]
    overridden: list[str]
    """Changed in the files, but another value was set in a chat."""
    restart: list[str]


class LiveSettings:
    """Combines the settings of the files with those set in chats, and puts them in force."""

    def __init__(
        self, current: CurrentSettings, rows: ChatSettings, secrets: Secrets, applied: Callable[[], None]
    ) -> None:
        """Begin with the settings of the files.

        Args:
            secrets: Learns of new ones.
            applied: Called when settings have changed, for those who wait for that.
        """
        self._files = current.now
        self._current = current
        self._rows = rows
        self._secrets = secrets
        self._applied = applied
        self._one_at_a_time = asyncio.Lock()

    async def load(self) -> None:
        """Put in force what was set in chats. A value that is no longer allowed is left out."""
        now = self._files
        for name in RUN_TIME:
            row = await self.chosen(name)
            if row is not None:
                try:
                    now = with_value(now, name, checked(name, row.value))
                except BadValue:
                    continue
        self._current.now = now
        self._applied()

    async def chosen(self, name: str) -> ChatSetting | None:
        """Return what was set in a chat, by whom and when; None if nothing was."""
        return await self._rows.at(EVERYWHERE, f"{_PREFIX}{name}")

    def place(self, name: str) -> str | None:
        """Return the place of a setting in the environment or a file; None if it has its default."""
        return self._files.places.get(name)

    async def choose(self, name: str, text: str | None, by: str) -> tuple[object, object]:
        """Set a value, or return to that of the files (None). Returns the values before and after.

        Raises:
            BadValue: The text is no value of this setting.
        """
        if text is not None:
            checked(name, text)
        async with self._one_at_a_time:
            before = value_of(self._current.now, name)
            await self._rows.set(EVERYWHERE, f"{_PREFIX}{name}", text, by)
            await self.load()
            return before, value_of(self._current.now, name)

    @property
    def can_reload(self) -> bool:
        return self._files.reread is not None

    async def reload(self) -> Reread:
        """Read the files again and put in force what may change. All secrets in them are masked from now on.

        Raises:
            SettingsError: The files cannot be used, and nothing has changed.
        """
        async with self._one_at_a_time:
            files = await asyncio.to_thread(self._files.reread) if self._files.reread else self._files
            for secret in files.secret_values:
                self._secrets.add(secret)
            changed, before = list(_changed(self._files, files)), self._current.now
            for name in changed:
                if name in RUN_TIME:
                    self._files = with_value(self._files, name, value_of(files, name))
            self._files = self._files.model_copy(update={"places": files.places})
            await self.load()
            live = [name for name in changed if name in RUN_TIME]
            applied = [name for name in live if value_of(before, name) != value_of(self._current.now, name)]
            overridden = [name for name in live if name not in applied]
            return Reread(applied, overridden, [name for name in changed if name not in RUN_TIME])


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
    yield from (key for key in _differing(before.environ, after.environ) if key not in setting_names().flat)


def _differing(old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    return sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
