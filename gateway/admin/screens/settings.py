"""The screen of settings: their values, where these come from, and who changed them."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from msgspec import Struct
from pydantic import SecretStr

from gateway.admin.screen import Group, NoSuchItem, View, Visit
from gateway.admin.setting_words import about_of, facts_of, shown_title
from gateway.records.audit_actions import changes
from gateway.security.secrets import Secrets
from gateway.settings.current import CurrentSettings
from gateway.settings.permissions import NAMES, WORDS
from gateway.settings.run_time import Change, all_names, allowed, change_of, changeable, shown, value_of
from gateway.settings.settings import Settings, channel_configs, setting_names
from gateway.store.chat_settings import ChatSetting
from gateway.texts.setting_titles import TOPICS, is_rare, topic_of
from gateway.upkeep.live_settings import LiveSettings

MOST_CHANGES = 30
FIRST = next(iter(TOPICS))
"""The topic that is shown if none is asked for."""
_WORDS = {"allowed_bool": ("on", "off")}
_AUDITED = "config "
"""Before the name of a setting in the audit file."""


class Row(Struct, frozen=True):
    """A setting as it is shown."""

    name: str
    variable: str
    title: str
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

    @property
    def is_changed(self) -> bool:
        """Return True if the value is no default."""
        return bool(self.chosen or self.place)

    def has(self, words: str) -> bool:
        """Return True if its name, title or description has these words."""
        return words in f"{self.name} {self.variable} {self.title} {self.about}".casefold()


class Topic(Struct, frozen=True):
    """The settings of a topic, those that hardly anybody changes apart."""

    name: str
    title: str
    rows: Sequence[Row]
    rare: Sequence[Row]


class Changed(Struct, frozen=True):
    """A change of a setting."""

    at: float
    title: str
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
        """Return the changed settings and those of a topic, or those of all topics that have the words of the query.

        Raises NoSuchItem.
        """
        wanted, topic = " ".join(visit.query.get("q", "").split()), visit.query.get("topic", FIRST)
        if topic not in TOPICS:
            raise NoSuchItem
        rows = [await self._row(visit, variable, key) for variable, key in setting_names().flat.items()]
        found = [each for each in rows if each.has(wanted.casefold()) and (wanted or topic_of(each.name) == topic)]
        facts = {
            "changed": [] if wanted else [each for each in rows if each.is_changed],
            "names": {name: titles[visit.language] for name, titles in TOPICS.items()},
            "topic": "" if wanted else topic,
            "topics": _topics(found, visit, is_whole=not wanted),
            "wanted": wanted,
            "where": {each: f"page_settings_{each}" for each in Change},
            "history": await asyncio.to_thread(self._history, visit),
            "can_reload": self._live.can_reload,
            "unusable": self._live.unusable,
        }
        return View("settings.html", facts)

    async def _row(self, visit: Visit, variable: str, key: tuple[str, ...]) -> Row:
        name = ".".join(key)
        change, rule = change_of(name), allowed(name) if name in changeable() else None
        value = self._value(key)
        return Row(
            name=name,
            variable=variable,
            title=shown_title(name, visit.language),
            about=about_of(name, visit.language),
            value=visit.say("page_settings_secret")
            if isinstance(value, SecretStr)
            else _in_words(name, self._secrets.mask(shown(value)), visit),
            is_hidden=change is Change.NEVER and not visit.is_owner,
            default=_in_words(name, facts_of(name).default, visit),
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

    def _history(self, visit: Visit) -> list[Changed]:
        """Return the last changes, newest first. Blocks."""
        try:
            found = changes(self._home, _AUDITED, MOST_CHANGES)
        except OSError:
            return []
        known = all_names()
        return [
            Changed(
                datetime.fromisoformat(each.at).timestamp(),
                shown_title(name, visit.language) if name in known else name,
                each.person,
                each.details,
            )
            for each in found
            for name in [each.what.removeprefix(_AUDITED)]
        ]


def _topics(rows: Sequence[Row], visit: Visit, *, is_whole: bool) -> list[Topic]:
    """Return the topics with these settings. Only in the whole list the rare ones stand apart."""
    topics = []
    for name, titles in TOPICS.items():
        of_topic = [each for each in rows if topic_of(each.name) == name]
        rare = [each for each in of_topic if is_whole and is_rare(each.name) and not each.is_changed]
        common = [each for each in of_topic if each not in rare]
        if of_topic:
            topics.append(Topic(name, titles[visit.language], common, rare))
    return topics


def _in_words(name: str, value: str, visit: Visit) -> str:
    """Return a value as people read it, for rules of permissions."""
    if not name.startswith("permissions."):
        return value
    rules = [part.strip().partition("=") for part in value.split(",") if "=" in part]
    words = [
        visit.say("page_settings_rule", what=visit.say(f"tools_class_{what}"), word=visit.say(f"page_settings_{word}"))
        for what, _, word in rules
        if what in NAMES and word in WORDS
    ]
    return " · ".join(words) if len(words) == len(rules) else value


def _words(key: str, words: str) -> Sequence[str]:
    return _WORDS.get(key) or (words.split(", ") if key == "allowed_words" else ())
