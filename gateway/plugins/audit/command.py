"""The command /audit: the last actions, and who allowed them."""

import asyncio
from datetime import datetime
from zoneinfo import ZoneInfo

from agent_core.file_handles import raise_lack
from channels.base import OutboundMessage
from channels.text import literal
from gateway.commands.command import Command, Invocation, reply
from gateway.permissions.rights import Right, always
from gateway.permissions.roles import Role
from gateway.plugin import Core
from gateway.records.audit import CHANGED
from gateway.records.audit_actions import Action, last_actions
from gateway.texts.say import Language, say

USUAL, MOST = 15, 50
"""Actions that are listed, and how many can be asked for."""
MOST_DETAILS = 80
"""Characters of the arguments that are shown."""


_STATUSES = {
    "ok": "audit_ok",
    "error": "audit_error",
    "denied": "audit_denied",
    "aborted": "audit_aborted",
    "changed": "audit_changed",
}
_DECIDED = {"rule": "audit_by_rule", "nobody": "audit_by_nobody"}


class AuditCommand:
    """The command /audit."""

    def __init__(self, core: Core) -> None:
        self._home = core.home
        self._is_on = core.settings.now.audit

    async def audit(self, given: Invocation) -> OutboundMessage:
        if not self._is_on:
            return reply(say("audit_off", given.language))
        if (count := _count(given.arguments.strip())) is None:
            return reply(say("audit_usage", given.language, slash=given.slash, most=MOST))
        try:
            actions = await asyncio.to_thread(last_actions, self._home, count)
        except OSError as error:
            raise_lack(error)
            return reply(say("audit_unreadable", given.language, reason=literal(str(error.strerror or error))))
        if not actions:
            return reply(say("audit_none", given.language))
        zone = given.session.conversation.zone()
        rows = [f"- {_row(each, zone, given.language, may_read=_may_read(given, each))}" for each in actions]
        return reply("\n".join([say("audit_title", given.language), "", *rows]))

    @property
    def command(self) -> Command:
        return Command(
            "audit",
            {"en": "Show the last actions and who allowed them", "zh": "显示最近的操作以及批准者"},
            self.audit,
            rights=always(Right("read", Role.ADMIN, None, refusal="only_admins")),
            arguments="[N]",
            example="30",
            after="undo",
            offered_to=Role.ADMIN,
        )


def _count(typed: str) -> int | None:
    """Return how many actions somebody asks for, or None if they wrote something else."""
    if not typed:
        return USUAL
    is_number = typed.isascii() and typed.isdigit() and len(typed) <= len(str(MOST))
    return int(typed) if is_number and 0 < int(typed) <= MOST else None


def _may_read(given: Invocation, action: Action) -> bool:
    """Return True if somebody may read what an action was given: admins only their own, and changes of settings."""
    own = {given.sender.id, f"{given.chat.platform}:{given.sender.id}"}
    is_setting = action.status == CHANGED and not action.what.startswith("/")
    return given.is_owner or is_setting or action.person in own


def _row(action: Action, zone: ZoneInfo, language: Language, *, may_read: bool) -> str:
    when = f"{datetime.fromisoformat(action.at).astimezone(zone):%m-%d %H:%M}"
    if action.is_erased:
        return say("audit_erased", language, when=when)
    what = f"**{literal(action.what)}**"
    if action.details and may_read:
        details = " ".join(action.details.split())
        details = details if len(details) <= MOST_DETAILS else f"{details[:MOST_DETAILS]}…"
        what += f" {literal(details)}"
    key = _STATUSES.get(action.status)
    status = say(key, language) if key else literal(action.status)
    row = say("audit_row", language, when=when, what=what, status=status, who=literal(action.person))
    if not action.decided_by:
        return row
    decided = _DECIDED.get(action.decided_by, "audit_by")
    return f"{row}, {say(decided, language, who=literal(action.decided_by))}"
