"""The commands /config and /reload: settings that may change while Parley runs."""

from collections.abc import Iterable
from difflib import get_close_matches

from agent_core.models.selection import ModelSettingError
from channels.base import OutboundMessage
from channels.commands import Suggestion
from channels.text import in_code, literal
from gateway.chat.replies import Answer
from gateway.commands.command import Command, Invocation, Unfinished, reply
from gateway.commands.more import MORE, short_first
from gateway.commands.suggested import suggested
from gateway.errors import SettingsError
from gateway.permissions.access import Access
from gateway.permissions.rights import Right, always
from gateway.permissions.roles import Role
from gateway.records.audit import AuditLog
from gateway.security.masking import MASK
from gateway.security.secrets import Secrets
from gateway.settings.current import CurrentSettings
from gateway.settings.run_time import (
    BadValue,
    Change,
    all_names,
    allowed,
    change_of,
    changeable,
    named,
    shown,
    value_of,
)
from gateway.texts.moments import moment_words
from gateway.texts.say import Language, say
from gateway.upkeep.live_settings import LiveSettings

MOST_QUOTED = 60
MOST_NAMED = 20
SETTINGS = Right("admin", Role.ADMIN, None, refusal="only_admins")
_WHEN = {
    Change.NOW: "config_now",
    Change.TONIGHT: "config_tonight",
    Change.NEXT_STOP: "config_next_stop",
}
_REFUSED = {Change.NEVER: "config_never", Change.RESTART: "config_needs_restart"}
_VERBS = ("get", "set", "reset")


class ConfigCommands:
    """The commands /config and /reload."""

    def __init__(
        self, live: LiveSettings, current: CurrentSettings, access: Access, audit: AuditLog, secrets: Secrets
    ) -> None:
        self._live = live
        self._current = current
        self._access = access
        self._audit = audit
        self._secrets = secrets

    async def config(self, given: Invocation) -> Answer:
        verb, _, rest = given.arguments.strip().partition(" ")
        if verb and not rest and verb.lower() not in (*_VERBS, *MORE):  # the name of a setting alone
            verb, rest = "get", verb
        typed, value = (*rest.split(maxsplit=1), "", "")[:2]
        if verb in ("", "get", *MORE) and not typed:
            return await self._listed(given)
        if MASK in value:
            return reply(say("config_token", given.language, slash=given.slash))
        name = named(typed)
        if not typed:
            return reply(say("config_usage", given.language, slash=given.slash))
        if name is None:
            return reply(_unknown(typed, given))
        return await self._about(given, verb.lower(), name, value.strip())

    async def _listed(self, given: Invocation) -> Answer:
        """List the settings that are not at their defaults; with *More* all that can change here."""
        language = given.language
        rows = {each: f"- {await self._row(each, given)}" for each in changeable()}
        unusable = []
        if self._live.unusable:
            unusable = [f"- {say('config_not_in_force', language, reason=literal(self._live.unusable))}"]
        made = [row for each, row in rows.items() if await self._is_made(each)]
        others = say("config_others", language, count=len(rows) - len(made), slash=given.slash)
        title = [say("config_made", language), "", *made, *unusable, ""] if made or unusable else []
        short = reply("\n".join([*title, others]))
        return short_first(
            given, "config", short, reply("\n".join([say("config_title", language), "", *rows.values(), *unusable]))
        )

    async def _is_made(self, name: str) -> bool:
        return await self._live.chosen(name) is not None or self._live.place(name) is not None

    async def reload(self, given: Invocation) -> OutboundMessage:
        """Read the files again, and say what changed and what needs a restart."""
        if not self._live.can_reload:
            return reply(say("reload_none", given.language))
        try:
            found = await self._live.reload()
        except SettingsError as error:
            sentences = literal(self._secrets.mask(error.sentence))
            return reply(say("reload_refused", given.language, reason=sentences))
        everything = [*found.applied, *found.overridden, *found.restart]
        if not everything:
            return reply(say("reload_same", given.language))
        self._audit.changed(given.chat, given.sender.id, "reload", details=", ".join(everything))
        lines = [f"- {await self._row(name, given)}" for name in found.applied]
        for key, names in (("reload_overridden", found.overridden), ("reload_restart", found.restart)):
            if names:
                shown_names = ", ".join(f"`{in_code(name)}`" for name in names[:MOST_NAMED])
                lines.append(f"- {say(key, given.language, names=shown_names)}")
        return reply("\n".join([say("reload_done", given.language), "", *lines]))

    async def _about(self, given: Invocation, verb: str, name: str, value: str) -> OutboundMessage:
        """Show, set or reset one setting."""
        change = change_of(name)
        if change in _REFUSED:
            return reply(say(_REFUSED[change], given.language, name=in_code(name)))
        if verb == "get" and not value:
            return reply(await self._row(name, given))
        if (verb, bool(value)) in (("set", True), ("reset", False)):
            return await self._choose(given, name, value or None)
        return reply(say("config_usage", given.language, slash=given.slash))

    async def _choose(self, given: Invocation, name: str, value: str | None) -> OutboundMessage:
        by = self._access.principal(given.chat, given.sender)
        try:
            before, after = await self._live.choose(name, value, by)
        except BadValue:
            return reply(_bad(given, name, value or ""))
        except ModelSettingError as error:
            reason = literal(self._secrets.mask(str(error)))
            return reply(say("config_model_refused", given.language, name=in_code(name), reason=reason))
        self._audit.changed(given.chat, given.sender.id, f"config {name}", details=f"{shown(before)} → {shown(after)}")
        key = "config_set" if value is not None else "config_reset"
        text = say(
            key,
            given.language,
            name=name,
            value=_words(after, given.language),
            when=say(_WHEN[change_of(name)], given.language),
            source=await self._source(name, given),
            slash=given.slash,
        )
        return reply(text)

    async def _row(self, name: str, given: Invocation) -> str:
        """Return the value of a setting and where it comes from."""
        value, source = shown(value_of(self._current.now, name)), await self._source(name, given)
        key = "config_row" if value else "config_row_empty"
        return say(key, given.language, name=in_code(name), value=literal(value), source=source)

    async def _source(self, name: str, given: Invocation) -> str:
        row = await self._live.chosen(name)
        if row is not None:
            zone = given.session.conversation.zone()
            when = moment_words(row.at, zone)
            return say("config_from_chat", given.language, by=literal(row.by), when=when)
        place = self._live.place(name)
        if place is None:
            return say("config_default", given.language)
        return say("config_from_place", given.language, place=in_code(place.words(given.language)))

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "config",
                {"en": "Show and change settings", "zh": "查看和更改设置"},
                self.config,
                rights=always(SETTINGS),
                suggest=_settings,
                arguments="[get|set|reset|more NAME TEXT]",
                form="set",
                example="set keep_days 60",
                offered_to=Role.ADMIN,
            ),
            Command(
                "reload",
                {"en": "Read the settings files again", "zh": "重新读取设置文件"},
                self.reload,
                rights=always(SETTINGS),
                offered_to=Role.ADMIN,
            ),
        )


def _bad(given: Invocation, name: str, value: str) -> str:
    """Return the refusal of a value, with those that are allowed and an example."""
    rule = allowed(name)
    return say(
        "config_bad",
        given.language,
        name=name,
        value=in_code(value[:MOST_QUOTED]),
        allowed=say(rule.key, given.language, **rule.facts),
        example=changeable()[name],
        slash=given.slash,
    )


def _words(value: object, language: Language) -> str:
    return literal(shown(value)) or say("config_empty", language)


def _unknown(typed: str, given: Invocation) -> str:
    name = in_code(typed[:MOST_QUOTED])
    if meant := get_close_matches(typed.lower().removeprefix("parley_"), all_names(), n=1):
        return say("config_meant", given.language, name=name, meant=in_code(meant[0]))
    return say("config_unknown", given.language, name=name, slash=given.slash)


async def _settings(typing: Unfinished) -> Iterable[Suggestion]:
    """Return the names of settings, where /config answers."""
    return () if typing.in_group else (suggested(each) for each in changeable())
