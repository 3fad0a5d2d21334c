"""The settings that may change while Parley runs.

A value set in a chat wins over the environment and the files until it is reset. Everything else needs a restart, and
what decides about rights, addresses, tokens and the sandbox is set in files only.
"""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BaseModel, TypeAdapter, ValidationError

from gateway.security.secrets import Secrets
from gateway.settings.settings import FOUND, Settings
from gateway.store.chat_settings import EVERYWHERE, ChatSetting, ChatSettings

RUN_TIME: dict[str, Literal["tonight", "next_stop"]] = {
    "backups": "tonight",
    "keep_days": "tonight",
    "drain_seconds": "next_stop",
}
"""The names of the settings that may change, and when each takes effect."""
_PREFIX = "config."
"""Before the name in the table of settings."""
_NAMELESS = FOUND - {"channels", "mcp"}


class BadValue(Exception):
    """A value that the setting's type does not allow; the text says what it allows."""


class LiveSettings:
    """The settings in force: those of the files, and those set in chats."""

    def __init__(self, files: Settings, rows: ChatSettings, secrets: Secrets) -> None:
        """`files` are the settings as they were loaded; `secrets` learns of new ones."""
        self._files = files
        self._rows = rows
        self._secrets = secrets
        self._reread = files.reread
        self.now = files
        """The settings in force."""

    async def load(self) -> None:
        """Take over what was set in chats. A value that is no longer allowed is left out."""
        values: dict[str, object] = {}
        for name in RUN_TIME:
            row = await self.chosen(name)
            if row is not None:
                try:
                    values[name] = checked(name, row.value)
                except BadValue:
                    continue
        self.now = self._files.model_copy(update=values)

    async def chosen(self, name: str) -> ChatSetting | None:
        """Return what was set in a chat, by whom and when; None if nothing was."""
        return await self._rows.at(EVERYWHERE, f"{_PREFIX}{name}")

    async def choose(self, name: str, value: str | None, by: str) -> None:
        """Set a value, or return to that of the files (None). Raises BadValue, and KeyError for other settings."""
        if name not in RUN_TIME:
            raise KeyError(name)
        if value is not None:
            checked(name, value)
        await self._rows.set(EVERYWHERE, f"{_PREFIX}{name}", value, by)
        await self.load()

    @property
    def can_reload(self) -> bool:
        return self._reread is not None

    def read(self) -> Settings:
        """Read the files again; blocks. Raises SettingsError, and then nothing has changed."""
        return self._reread() if self._reread else self._files

    async def take_over(self, files: Settings) -> tuple[list[str], list[str]]:
        """Take over the files' settings that may change. Returns the names that changed, and that need a restart.

        All secrets in them are masked from now on.
        """
        for value in files.secret_values:
            self._secrets.add(value)
        changed = list(_changed(self._files, files))
        applied = [name for name in changed if name in RUN_TIME]
        self._files = self._files.model_copy(update={name: getattr(files, name) for name in applied})
        await self.load()
        return applied, [name for name in changed if name not in RUN_TIME]


def checked(name: str, value: str) -> object:
    """Return a value as the setting's type. Raises BadValue."""
    field = Settings.model_fields[name]
    try:
        adapter: TypeAdapter[object] = TypeAdapter(Annotated[(field.annotation, *field.metadata)])  # type: ignore[arg-type]
        return adapter.validate_python(value)
    except ValidationError as error:
        raise BadValue(error.errors()[0]["msg"]) from error


def shown(value: object) -> str:
    """Return a setting's value for people."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _changed(before: Settings, after: Settings) -> Iterator[str]:
    """Yield the names of settings with other values; tokens and keys by their names only."""
    for name in type(before).model_fields:
        old, new = getattr(before, name), getattr(after, name)
        if name in _NAMELESS or old == new:
            continue
        if isinstance(old, BaseModel) and isinstance(new, BaseModel):
            fields = type(old).model_fields
            yield from (f"{name}.{field}" for field in fields if getattr(old, field) != getattr(new, field))
        else:
            yield name
    keys = before.environ.keys() | after.environ.keys()
    yield from sorted(key for key in keys if before.environ.get(key) != after.environ.get(key))
