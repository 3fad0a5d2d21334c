"""The command for the heartbeat of a chat: /heartbeat."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from agent_core.clock import Clock
from agent_core.file_handles import raise_lack
from agent_core.late_pattern import LatePattern
from agent_core.tools.tool import ToolFailed
from agent_core.workspace.keeper import Author
from channels.base import Button, OutboundMessage
from channels.text import literal
from gateway.chat.replies import Answer, Rewritten
from gateway.chat.run_pace import Pace
from gateway.commands.command import Command, Invocation, reply, too_soon
from gateway.permissions.access import Access
from gateway.permissions.rights import END_JOB, JOB, LOOK, OTHERWISE, Rights
from gateway.permissions.roles import Role
from gateway.permissions.workspaces import Workspaces
from gateway.schedule.heartbeat.checklist import (
    DRAFT,
    NAME,
    digest_of,
    draft_checklist,
    drop_draft,
    read_checklist,
    read_draft,
    take_draft,
)
from gateway.schedule.heartbeat.heartbeats import Heartbeats, Standing
from gateway.schedule.heartbeat.settings import EVERY
from gateway.schedule.jobs.firings import Firings
from gateway.schedule.times.quiet import QuietHours, parse_quiet
from gateway.schedule.times.words import slot_words
from gateway.schedule.times.zone_names import shown_zone
from gateway.store.job import Heartbeat
from gateway.store.rule import BadRule
from gateway.store.store import Store
from gateway.texts.say import has_text, say

OFFERED = ("21-8", "22-7", "23-9")
LONGEST_SNOOZE = 30 * 24 * 3600
LONGEST_FACT = 200
_DAY = 24 * 3600
_LENGTH = LatePattern(r"(\d{1,4})\s*(m|min|minutes?|分钟|h|hours?|小时|d|days?|天)")
_SECONDS = {"m": 60, "分": 60, "h": 3600, "小": 3600, "d": _DAY, "天": _DAY}
_AND = LatePattern(r"[;；\n]")

Act = Callable[[Invocation, str], Awaitable[Answer]]
"""A subcommand, called with the rest of the arguments."""


class HeartbeatCommands:
    """The command /heartbeat."""

    def __init__(
        self,
        heartbeats: Heartbeats,
        workspaces: Workspaces,
        store: Store,
        firings: Firings,
        pace: Pace,
        clock: Clock,
        *,
        access: Access,
    ) -> None:
        self._access = access
        self._heartbeats = heartbeats
        self._workspaces = workspaces
        self._store = store
        self._firings = firings
        self._pace = pace
        self._clock = clock
        self._acts: Mapping[str, Act] = {
            "": self._status,
            "on": self._on,
            "use": self._use,
            "plain": self._plain,
            "cancel": self._cancel,
            "off": self._off,
            "now": self._now,
            "quiet": self._quiet,
            "snooze": self._snooze,
        }

    async def heartbeat(self, given: Invocation) -> Answer:
        verb, _, rest = given.arguments.strip().partition(" ")
        act = self._acts.get(verb.lower())
        if act is None:
            return reply(say("heartbeat_how", given.language, slash=given.slash))
        if act != self._status and not await self._may(given):
            return reply(say("heartbeat_not_yours", given.language))
        try:
            return await act(given, rest.strip())
        except ToolFailed as error:
            raise_lack(error)
            return reply(say("heartbeat_list_failed", given.language, fact=literal(error.fact[:LONGEST_FACT])))

    async def _may(self, given: Invocation) -> bool:
        """Return True if the user may change it; in groups only the heartbeat's user and owners may."""
        if given.is_admin or not given.in_group:
            return True
        found = await self._store.heartbeats.find(given.chat)
        return found is not None and found.person == given.sender.id

    async def _status(self, given: Invocation, _: str) -> Answer:
        standing = await self._heartbeats.standing(given.chat)
        if standing is None:
            return OutboundMessage(markdown=say("heartbeat_stands_off", given.language), buttons=_buttons(given, "on"))
        is_on = standing.is_on
        lines = [
            say("heartbeat_stands_on", given.language, minutes=EVERY // 60)
            if is_on
            else say("heartbeat_stands_off", given.language),
            *self._times(given, standing),
            *_limits(given, standing),
            *_things(given, standing),
        ]
        buttons = _buttons(given, *(("off", "quiet", "now") if is_on else ("on",)))
        return OutboundMessage(markdown="\n".join(f"- {line}" for line in lines), buttons=buttons)

    def _times(self, given: Invocation, standing: Standing) -> list[str]:
        found, language = standing.heartbeat, given.language
        lines = []
        if standing.next_check_in is not None:
            lines.append(say("heartbeat_next", language, next=self._shown(given, standing, standing.next_check_in)))
        if found.snoozed_until > self._clock.time():
            lines.append(
                say("heartbeat_snoozed_until", language, until=self._shown(given, standing, found.snoozed_until))
            )
        if found.last_look is not None and has_text(found.last_outcome):
            last = self._shown(given, standing, found.last_look)
            lines.append(say("heartbeat_last", language, last=last, outcome=say(found.last_outcome, language)))
        return lines

    async def _on(self, given: Invocation, rest: str) -> Answer:
        """Switch on at once if there is a checklist; otherwise show a draft of one for confirmation."""
        workspace = self._workspaces.folder(given.chat)
        wanted = [words.strip() for words in _AND.split(rest) if words.strip()]
        if not wanted and await read_checklist(workspace):
            return await self._begun(given)
        language = given.language
        usual = [say("heartbeat_list_first", language), say("heartbeat_list_second", language)]
        files = self._workspaces.sources(given.chat)
        origin = files.of([NAME]) | given.origin
        text = await draft_checklist(workspace, say("heartbeat_list_title", language), wanted or usual)
        files.wrote(DRAFT, origin)
        return await self._shown_draft(given, text)

    async def _shown_draft(self, given: Invocation, text: str) -> OutboundMessage:
        """Return a preview, whose button takes this very draft."""
        language = given.language
        found = await self._store.heartbeats.find(given.chat) or Heartbeat(given.chat, "", "")
        quiet = QuietHours.of(found)
        words = say(
            "heartbeat_preview",
            language,
            file=NAME,
            text=text.rstrip().replace("```", ""),
            minutes=EVERY // 60,
            quiet=quiet.words_with_zone if quiet else say("heartbeat_without_quiet", language),
            looks=_awake(quiet) * 60 // EVERY,
            most=found.most_a_day,
            slash=given.slash,
        )
        buttons = (_button(given, "use", digest_of(text)), _button(given, "plain"), _button(given, "cancel"))
        return OutboundMessage(markdown=words, buttons=(buttons,), asks=given.sender.id)

    async def _use(self, given: Invocation, digest: str) -> Answer:
        """Use the draft with this digest, which was shown; another one is shown first."""
        workspace = self._workspaces.folder(given.chat)
        files = self._workspaces.sources(given.chat)
        origin = files.of([DRAFT])
        author = Author("heartbeat", given.asked, given.sender.id)
        if await take_draft(workspace, self._workspaces.versions.of(given.chat), author, digest):
            files.wrote(NAME, origin)
        else:
            if text := await read_draft(workspace):
                return await self._shown_draft(given, text)
            standing = await self._heartbeats.standing(given.chat)
            if standing is not None and standing.is_on:  # pressed twice
                return await self._status(given, "")
            return reply(say("heartbeat_draft_gone", given.language, slash=given.slash))
        return await self._begun(given)

    async def _plain(self, given: Invocation, _: str) -> Answer:
        await drop_draft(self._workspaces.folder(given.chat))
        return await self._begun(given)

    async def _cancel(self, given: Invocation, _: str) -> Answer:
        await drop_draft(self._workspaces.folder(given.chat))
        return Rewritten(reply(say("heartbeat_dropped", given.language)))

    async def _begun(self, given: Invocation) -> Answer:
        chat = given.chat
        zone = given.session.conversation.zone()
        job = await self._heartbeats.settings.on(chat, given.sender, given.language, zone)
        now = self._clock.time()
        standing = await self._heartbeats.standing(chat)
        next_check = (standing and standing.next_check_in) or job.next_at or now
        next_at = slot_words(next_check, zone, given.language, now)
        return Rewritten(
            OutboundMessage(
                markdown=say("heartbeat_switched_on", given.language, next=next_at),
                buttons=_buttons(given, "off", "quiet", "now"),
            )
        )

    async def _off(self, given: Invocation, _: str) -> Answer:
        done = await self._heartbeats.settings.off(given.chat)
        await self._ready(given)
        text = say("heartbeat_switched_off" if done else "heartbeat_was_off", given.language)
        return Rewritten(OutboundMessage(markdown=text, buttons=_buttons(given, "on")))

    async def _ready(self, given: Invocation) -> None:
        """Create the heartbeat's row if it is missing, so that the setting is stored."""
        zone = given.session.conversation.zone()
        await self._heartbeats.settings.ready(given.chat, given.sender, given.language, zone)

    async def _now(self, given: Invocation, _: str) -> Answer:
        """Run a check-in now, unless there is nothing to check; then no model is called."""
        standing = await self._heartbeats.standing(given.chat)
        if standing is None:
            return reply(say("heartbeat_off_here", given.language, slash=given.slash))
        if not self._access.may_act_for(given.chat, given.sender, standing.job.person):  # it runs with their rights
            return reply(say("job_not_yours", given.language))
        agenda = standing.state.agenda
        if agenda is None:
            return reply(say("heartbeat_list_unreadable", given.language, file=f"`{NAME}`"))
        if not (agenda.has_something or agenda.due):
            return OutboundMessage(
                markdown=say("heartbeat_nothing_there", given.language), buttons=_buttons(given, "list")
            )
        if refusal := too_soon(self._pace, given):
            return refusal
        await self._firings.run_now(standing.job, given.asked)
        return reply(say("heartbeat_looking", given.language))

    async def _quiet(self, given: Invocation, rest: str) -> Answer:
        zone = given.session.conversation.zone()
        if not rest:
            offered = [Button(label=parsed.words, action=f"/heartbeat quiet {each}") for each, parsed in _offered()]
            none = Button(label=say("heartbeat_no_quiet_button", given.language), action="/heartbeat quiet off")
            text = say("heartbeat_quiet_ask", given.language, zone=zone.key)
            return OutboundMessage(markdown=text, buttons=(tuple(offered), (none,)))
        try:
            quiet = parse_quiet(rest)
        except BadRule as error:
            return reply(say(error.key, given.language, **error.facts))
        await self._ready(given)
        await self._heartbeats.settings.keep_quiet(given.chat, quiet)
        if quiet is None:
            return Rewritten(reply(say("heartbeat_quiet_unset", given.language)))
        there = shown_zone(quiet.zone or zone.key)
        return Rewritten(reply(say("heartbeat_quiet_set", given.language, quiet=quiet.words, zone=there)))

    async def _snooze(self, given: Invocation, rest: str) -> Answer:
        found = _LENGTH.fullmatch(rest.lower())
        seconds = int(found[1]) * _SECONDS[found[2][0]] if found else 0
        if not 0 < seconds <= LONGEST_SNOOZE:
            return reply(say("heartbeat_snooze_how", given.language, slash=given.slash))
        standing = await self._heartbeats.standing(given.chat)
        is_on = standing is not None and standing.is_on
        until = await self._heartbeats.settings.snooze(given.chat, seconds) if is_on else None
        if until is None:
            return reply(say("heartbeat_off_here", given.language, slash=given.slash))
        shown = slot_words(until, given.session.conversation.zone(), given.language, self._clock.time())
        return Rewritten(reply(say("heartbeat_snoozed", given.language, until=shown)))

    def _shown(self, given: Invocation, standing: Standing, at: float) -> str:
        return slot_words(at, standing.state.zone, given.language, self._clock.time())

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "heartbeat",
                {"en": "Check regularly and write only if needed", "zh": "设置主动关照"},
                self.heartbeat,
                rights=Rights({"": LOOK, "off": END_JOB, OTHERWISE: JOB}),
                arguments="[on|off|now|quiet 22-7|snooze 3h]",
                example="quiet 22-7",
                offered_to=Role.MEMBER,
            ),
        )


def _limits(given: Invocation, standing: Standing) -> list[str]:
    found, language = standing.heartbeat, given.language
    quiet = QuietHours.of(found)
    return [
        say(
            "heartbeat_quiet_hours", language, quiet=quiet.words, zone=shown_zone(quiet.zone or standing.state.zone.key)
        )
        if quiet
        else say("heartbeat_no_quiet_hours", language),
        say("heartbeat_today", language, count=standing.state.recent.said_today, most=found.most_a_day),
    ]


def _things(given: Invocation, standing: Standing) -> list[str]:
    agenda = standing.state.agenda
    if agenda is None:
        return [say("heartbeat_list_unreadable", given.language, file=f"`{NAME}`")]
    lines = [say("heartbeat_list", given.language, file=f"`{NAME}`", count=len(agenda.lines))]
    return [*lines, *([say("heartbeat_due", given.language, count=len(agenda.due))] if agenda.due else [])]


_LABELS = {
    "on": ("heartbeat_on_button", "on"),
    "list": ("heartbeat_list_button", "on"),
    "off": ("heartbeat_off_button", "off"),
    "quiet": ("heartbeat_quiet_button", "quiet"),
    "now": ("heartbeat_now_button", "now"),
    "use": ("heartbeat_use_button", "use"),
    "plain": ("heartbeat_plain_button", "plain"),
    "cancel": ("heartbeat_cancel_button", "cancel"),
}


def _buttons(given: Invocation, *wanted: str) -> tuple[tuple[Button, ...], ...]:
    """Return buttons in one row."""
    return (tuple(_button(given, name) for name in wanted),)


def _button(given: Invocation, name: str, of: str = "") -> Button:
    key, verb = _LABELS[name]
    button = Button(label=say(key, given.language), action=f"/heartbeat {verb} {of}".rstrip())
    match name:
        case "use":
            return button.model_copy(update={"style": "primary", "says": "yes"})
        case "cancel":
            return button.model_copy(update={"style": "quiet", "says": "no"})
        case _:
            return button


def _offered() -> Sequence[tuple[str, QuietHours]]:
    return [(each, parsed) for each in OFFERED if (parsed := parse_quiet(each))]


def _awake(quiet: QuietHours | None) -> int:
    """Return the minutes of a day outside quiet hours."""
    whole = _DAY // 60
    return whole if quiet is None else whole - ((quiet.end - quiet.start) % whole or whole)
