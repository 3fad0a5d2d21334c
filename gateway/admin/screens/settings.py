"""The screen of settings: their values, where these come from, and who changed them."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import SecretStr

from gateway.admin.screen import Group, View, Visit
from gateway.records.audit_actions import changes
from gateway.security.secrets import Secrets
from gateway.settings.current import CurrentSettings
from gateway.settings.env_example import described
from gateway.settings.run_time import Change, allowed, change_of, changeable, shown, value_of
from gateway.settings.settings import Settings, channel_configs, setting_names
from gateway.store.chat_settings import ChatSetting
from gateway.texts.settings_in_chinese import SETTINGS
from gateway.upkeep.live_settings import LiveSettings

MOST_CHANGES = 30
_WORDS = {"allowed_bool": ("on", "off")}
_AUDITED = "config "
"""Before the name of a setting in the audit file."""


@dataclass(frozen=True)
class Row:
    """A setting as it is shown."""

    name: str
    variable: str
    about: str
    value: str
    is_hidden: bool
    """True if the visitor may not see the value."""
    default: str
    place: str
    """Place in a file or the environment; empty if the value is no other than the default."""
    chosen: ChatSetting | None
    """What was set in a chat or on this page."""
    change: Change
    words: Sequence[str]
    """The values to choose from; empty if any text may be one."""
    takes: str
    """Sentence that says what a value may be; empty if it cannot be changed here."""


@dataclass(frozen=True)
class Changed:
    """A change of a setting."""

    at: float
    name: str
    by: str
    details: str


class SettingsScreen:
    """Shows all settings, and lets the visitor change those that may change while Parley runs."""

    name = "settings"
    group = Group.SYSTEM
    icon = "settings"

    def __init__(self, live: LiveSettings, current: CurrentSettings, home: Path, secrets: Secrets) -> None:
        self._live = live
        self._current = current
        self._home = home
        self._secrets = secrets

    async def view(self, visit: Visit) -> View:
        """Return the settings whose name or description contains the words of the query."""
        wanted = visit.query.get("q", "").strip()
        rows = [await self._row(visit, variable, key) for variable, key in setting_names().flat.items()]
        tables: dict[str, list[Row]] = {}
        for each in rows:
            if wanted.casefold() in f"{each.name} {each.variable} {each.about}".casefold():
                tables.setdefault(each.name.rpartition(".")[0], []).append(each)
        facts = {
            "tables": tables,
            "wanted": wanted,
            "where": {each: f"page_settings_{each}" for each in Change},
            "history": await asyncio.to_thread(self._history),
            "can_reload": self._live.can_reload,
            "unusable": self._live.unusable,
        }
        return View("settings.html", facts)

    async def _row(self, visit: Visit, variable: str, key: tuple[str, ...]) -> Row:
        name, about = ".".join(key), described(key)
        change, rule = change_of(name), allowed(name) if name in changeable() else None
        value = self._value(key)
        return Row(
            name=name,
            variable=variable,
            about=about.chinese or SETTINGS.get(name, about.words) if visit.language == "zh" else about.words,
            value=visit.say("page_settings_secret")
            if isinstance(value, SecretStr)
            else self._secrets.mask(shown(value)),
            is_hidden=change is Change.NEVER and not visit.is_owner,
            default=about.default,
            place=place.words(visit.language) if (place := self._live.place(name)) else "",
            chosen=await self._live.chosen(name),
            change=change,
            words=_words(rule.key, rule.facts.get("words", "")) if rule else (),
            takes=visit.say(rule.key, **rule.facts) if rule else "",
        )

    def _value(self, key: tuple[str, ...]) -> object:
        """Return the value in force; None if it is empty or its channel is not set up."""
        settings: Settings = self._current.now
        if key[0] in channel_configs():
            return getattr(settings.channels.get(key[0]), key[-1], None)
        return value_of(settings, ".".join(key))

    def _history(self) -> list[Changed]:
        """Return the last changes, newest first. Blocks."""
        try:
            found = changes(self._home, _AUDITED, MOST_CHANGES)
        except OSError:
            return []
        return [
            Changed(
                datetime.fromisoformat(each.at).timestamp(), each.what.removeprefix(_AUDITED), each.person, each.details
            )
            for each in found
        ]


def _words(key: str, words: str) -> Sequence[str]:
    return _WORDS.get(key) or (words.split(", ") if key == "allowed_words" else ())
