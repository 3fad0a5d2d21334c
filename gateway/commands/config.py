"""The commands /config and /reload: settings that may change while Parley runs."""

import asyncio
from difflib import get_close_matches

from channels.base import OutboundMessage
from channels.text import literal
from gateway.commands.table import Command, Invocation, reply
from gateway.errors import SettingsError
from gateway.permissions.access import Access
from gateway.permissions.roles import Role
from gateway.records.audit import AuditLog, is_secret_name
from gateway.security.secrets import Secrets
from gateway.texts.say import Language, say
from gateway.upkeep.live_settings import RUN_TIME, BadValue, LiveSettings, shown

MOST_QUOTED = 60
MOST_NAMED = 20
_WHEN = {"tonight": "config_tonight", "next_stop": "config_next_stop"}


class ConfigCommands:
    """The commands /config and /reload."""

    def __init__(self, live: LiveSettings, access: Access, audit: AuditLog, secrets: Secrets) -> None:
        self._live = live
        self._access = access
        self._audit = audit
        self._secrets = secrets
        self._one_at_a_time = asyncio.Lock()

    async def config(self, given: Invocation) -> OutboundMessage:
        verb, _, rest = given.arguments.strip().partition(" ")
        name, _, value = rest.strip().partition(" ")
        name = name.lower().removeprefix("parley_")
        if is_secret_name(name) and value:
            self._secrets.add(value.strip())  # before anything is said about it
            return reply(say("config_token", given.language, slash=given.slash))
        if refusal := self._refusal(given):
            return refusal
        if verb in ("", "get") and not name:
            rows = [f"- {await self._row(each, given.language)}" for each in RUN_TIME]
            return reply("\n".join([say("config_title", given.language), "", *rows]))
        return await self._about(given, verb, name, value.strip())

    async def _about(self, given: Invocation, verb: str, name: str, value: str) -> OutboundMessage:
        """Show, set or reset one setting."""
        if name not in RUN_TIME:
            return reply(_unknown(name, given.language))
        if verb == "get":
            return reply(await self._row(name, given.language))
        if (verb == "set") == bool(value) and verb in ("set", "reset"):
            return await self._choose(given, name, value or None)
        return reply(say("config_usage", given.language, slash=given.slash))

    async def reload(self, given: Invocation) -> OutboundMessage:
        """Read the files again, and say what changed and what needs a restart."""
        if refusal := self._refusal(given):
            return refusal
        if not self._live.can_reload:
            return reply(say("reload_none", given.language))
        async with self._one_at_a_time:
            try:
                files = await asyncio.to_thread(self._live.read)
            except SettingsError as error:
                sentences = literal(self._secrets.mask(error.sentence))
                return reply(say("reload_refused", given.language, reason=sentences))
            applied, restart = await self._live.take_over(files)
        if not (applied or restart):
            return reply(say("reload_same", given.language))
        self._audit.changed(given.chat, given.sender.id, "reload", details=", ".join([*applied, *restart]))
        lines = [f"- {await self._row(name, given.language)}" for name in applied]
        if restart:
            names = ", ".join(literal(name) for name in restart[:MOST_NAMED])
            lines.append(f"- {say('reload_restart', given.language, names=names)}")
        return reply("\n".join([say("reload_done", given.language), "", *lines]))

    async def _choose(self, given: Invocation, name: str, value: str | None) -> OutboundMessage:
        by = self._access.principal(given.chat, given.sender)
        async with self._one_at_a_time:
            before = shown(getattr(self._live.now, name))
            try:
                await self._live.choose(name, value, by)
            except BadValue as error:
                bad = literal((value or "")[:MOST_QUOTED])
                return reply(say("config_bad", given.language, name=literal(name), value=bad, reason=str(error)))
            after = shown(getattr(self._live.now, name))
        self._audit.changed(given.chat, given.sender.id, f"config {name}", details=f"{before} → {after}")
        when = say(_WHEN[RUN_TIME[name]], given.language)
        key = "config_set" if value is not None else "config_reset"
        return reply(say(key, given.language, name=name, value=literal(after), when=when))

    async def _row(self, name: str, language: Language) -> str:
        """Return the value of a setting and where it comes from."""
        row = await self._live.chosen(name)
        if row is not None:
            source = say("config_from_chat", language, by=literal(row.by))
        else:
            source = say("config_from_files", language)
        value = literal(shown(getattr(self._live.now, name)))
        return say("config_row", language, name=name, value=value, source=source)

    def _refusal(self, given: Invocation) -> OutboundMessage | None:
        if not given.is_admin:
            return reply(say("only_admins", given.language))
        return reply(say("only_in_direct_chat", given.language)) if given.in_group else None

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "config",
                {"en": "Show and change settings", "zh": "查看和更改设置"},
                self.config,
                arguments="[get|set|reset NAME TEXT]",
                example="set keep_days 60",
                offered_to=Role.ADMIN,
            ),
            Command(
                "reload",
                {"en": "Read the settings files again", "zh": "重新读取设置文件"},
                self.reload,
                offered_to=Role.ADMIN,
            ),
        )


def _unknown(name: str, language: Language) -> str:
    names = ", ".join(literal(each) for each in RUN_TIME)
    if meant := get_close_matches(name, RUN_TIME, n=1):
        return say("config_meant", language, name=literal(name[:MOST_QUOTED]), meant=literal(meant[0]))
    return say("config_unknown", language, name=literal(name[:MOST_QUOTED]), names=names)
