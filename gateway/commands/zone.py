"""The command for a chat's time zone: /tz."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from zoneinfo import ZoneInfo

from agent_core.clock import Clock
from agent_core.tools.clock import zone_names
from channels.base import Button, OutboundMessage
from channels.commands import Suggestion
from channels.text import literal
from gateway.chat.replies import Answer, Quoting, Rewritten
from gateway.commands.command import Command, Invocation, Unfinished, reply
from gateway.commands.suggested import suggested
from gateway.permissions.request import typed_id
from gateway.permissions.rights import LOOK, OTHERWISE, Right, Rights
from gateway.permissions.roles import Role
from gateway.schedule.jobs.jobs import JobRefused, Jobs
from gateway.schedule.jobs.preview import set_message
from gateway.schedule.jobs.zone_news import zone_buttons
from gateway.schedule.times.words import slot_words
from gateway.schedule.times.zone_names import LONGEST, find_zone, shown_zone
from gateway.schedule.zones import Known, Level, Zones, nearest_zone
from gateway.store.job import Job, JobState
from gateway.store.store import Store
from gateway.texts.say import say

_FROM = {
    Level.HERE: "zone_set_here",
    Level.CHANNEL: "zone_of_channel",
    Level.PERSON: "zone_of_yours",
    Level.DEFAULT: "zone_of_house",
}
SET = Right("write", group=Role.ADMIN, away=Role.ADMIN, refusal="zone_not_yours")
OWN = Right("talk")
"""To name one's own zone."""
_MINE = ("mine", "我的")
_RESET = ("reset", "default", "重置", "默认")


class ZoneCommands:
    """The command /tz."""

    def __init__(self, zones: Zones, jobs: Jobs, store: Store, clock: Clock) -> None:
        self._zones = zones
        self._jobs = jobs
        self._store = store
        self._clock = clock

    async def zone(self, given: Invocation) -> Answer:
        """Show or set the time zone. Everyone may see it; in groups only owners may change it."""
        wanted = " ".join(given.arguments.split())
        if not wanted:
            return await self._shown(given)
        verb, _, rest = wanted.partition(" ")
        if verb.lower() == "change":
            return await self._offered(given, typed_id(rest))
        if verb.lower() in _MINE:
            return await self._mine(given, rest)
        if wanted.lower() == "move":
            return await self._move(given)
        if wanted.lower() in _RESET:
            return await self._set(given, None)
        found = await asyncio.to_thread(find_zone, wanted)
        return await self._set(given, found) if found else await _unknown(given, wanted, "/tz")

    async def _shown(self, given: Invocation) -> OutboundMessage:
        known = self._zones.known(given.chat, given.sender.id)
        lines = [self._now(given, known), say("zone_how", given.language, slash=given.slash)]
        return await self._with_jobs(given, known.zone, reply("\n\n".join(lines)))

    async def _offered(self, given: Invocation, job_id: str) -> OutboundMessage:
        """Offer likely zones to the person; the chosen one is that of their job as well, whose time of day stays."""
        if await self._is_theirs(given, job_id):
            text = say("zone_which_is_yours", given.language)
        else:
            job_id, text = "", say("zone_where", given.language)
        buttons = zone_buttons(self._zones.likely(given.chat, given.sender.id, given.language), job_id)
        return OutboundMessage(markdown=text, buttons=buttons, asks=given.sender.id)

    async def _is_theirs(self, given: Invocation, job_id: str) -> bool:
        """Return True for a draft or job that goes on and that the person may change."""
        try:
            job = await self._jobs.known(job_id, given.chat, given.sender)
        except JobRefused:
            return False
        return job.state in (JobState.DRAFT, JobState.ACTIVE)

    async def _mine(self, given: Invocation, words: str) -> Answer:
        """Set the person's own zone, and take the times of the job that is named behind it by that clock."""
        name, _, job_id = words.rpartition(" ")
        found, job_id = await asyncio.to_thread(find_zone, words), typed_id(job_id)
        if found is None and name:
            found = await asyncio.to_thread(find_zone, name)
        else:
            job_id = ""
        if found is None:
            return await _unknown(given, words, "/tz mine")
        await self._zones.say(given.chat, given.sender.id, found.key, is_told=True)
        if job_id and (shown := await self._with_job(given, job_id, found)):
            return shown
        if self._zones.is_own_chat(given.chat, given.sender):
            await given.session.conversation.go_by(None)
            await self._look_by(given, found)
        known = self._zones.known(given.chat, given.sender.id)
        text = say("zone_mine_set", given.language, zone=shown_zone(found.key), time=self._time(given, found))
        return await self._with_jobs(given, known.zone, reply(text))

    async def _with_job(self, given: Invocation, job_id: str, zone: ZoneInfo) -> Answer | None:
        """Return the message about a job whose time is by the zone from now on; None if it is over, or not theirs."""
        try:
            job = await self._jobs.go_by(job_id, given.chat, given.sender, zone)
            if job.state is JobState.DRAFT:
                return Quoting(Rewritten(await self._jobs.question(job, given.slash)), job.origin)
        except JobRefused:
            return None
        if job.state is not JobState.ACTIVE:
            return None
        message = await self._with_jobs(given, zone, set_message(job, self._clock.time()))
        return Quoting(Rewritten(message), job.origin)

    async def _set(self, given: Invocation, wanted: ZoneInfo | None) -> OutboundMessage:
        """Set the zone of the chat; in a private one it is the person's own as well."""
        if self._zones.is_own_chat(given.chat, given.sender):
            await self._zones.say(given.chat, given.sender.id, wanted.key if wanted else None, is_told=True)
        await given.session.conversation.go_by(wanted.key if wanted else None)
        known = self._zones.known(given.chat, given.sender.id)
        await self._look_by(given, known.zone)
        if wanted is None:
            return await self._with_jobs(given, known.zone, reply(self._now(given, known)))
        where = say("in_this_chat" if given.chat.thread is None else "in_this_thread", given.language)
        done = say(
            "zone_set", given.language, zone=shown_zone(known.zone.key), where=where, time=self._time(given, known.zone)
        )
        return await self._with_jobs(given, known.zone, reply(done))

    async def _move(self, given: Invocation) -> OutboundMessage:
        known = self._zones.known(given.chat, given.sender.id)
        count = len(await self._elsewhere(given, known.zone))
        if not count:
            return reply(say("zone_nothing_to_move", given.language, zone=shown_zone(known.zone.key)))
        await self._jobs.move_zone(given.chat, known.zone)
        return reply(say("zone_moved", given.language, count=count, zone=shown_zone(known.zone.key), slash=given.slash))

    async def _with_jobs(self, given: Invocation, here: ZoneInfo, message: OutboundMessage) -> OutboundMessage:
        """Add a note about jobs in other zones, with a button that moves them."""
        count = len(await self._elsewhere(given, here))
        if not count or not given.may(SET):
            return message
        note = say("zone_jobs_elsewhere", given.language, count=count, slash=given.slash)
        button = Button(label=say("zone_move_button", given.language), action="/tz move", says="yes")
        longer = f"{message.markdown}\n\n{note}"
        update = {"markdown": longer, "buttons": (*message.buttons, (button,)), "asks": given.sender.id}
        return message.model_copy(update=update)

    async def _elsewhere(self, given: Invocation, here: ZoneInfo) -> list[Job]:
        """Return the jobs in other zones. Drafts go by the zone of the moment in which they are confirmed."""
        found = await self._jobs.shown(given.chat)
        return [job for job in found if job.state is not JobState.DRAFT and job.zone != here.key]

    async def _look_by(self, given: Invocation, here: ZoneInfo) -> None:
        """Use the zone for quiet hours as well. Check-ins run at intervals and are not affected."""
        heartbeat = await self._store.heartbeats.find(given.chat)
        if heartbeat is not None:
            await self._store.jobs.change(heartbeat.job, partial(replace, zone=here.key))

    def _now(self, given: Invocation, known: Known) -> str:
        source = say(_FROM[known.level], given.language)
        return say(
            "zone_here",
            given.language,
            zone=shown_zone(known.zone.key),
            source=source,
            time=self._time(given, known.zone),
        )

    def _time(self, given: Invocation, here: ZoneInfo) -> str:
        now = self._clock.time()
        return slot_words(now, here, given.language, now)

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "tz",
                {"en": "Show or set the time zone", "zh": "查看或设置时区"},
                self.zone,
                rights=Rights({"": LOOK, "change": LOOK, **dict.fromkeys(_MINE, OWN), OTHERWISE: SET}),
                suggest=_zones,
                arguments="[NAME|mine NAME|reset|move]",
                example="Europe/Paris",
            ),
        )


async def _unknown(given: Invocation, wanted: str, command: str) -> OutboundMessage:
    near, name = await asyncio.to_thread(nearest_zone, wanted), literal(wanted[:LONGEST])
    if near is None:
        return reply(say("zone_unknown", given.language, name=name, slash=given.slash))
    button = Button(label=near, action=f"{command} {near}", says="yes")
    text = say("zone_did_you_mean", given.language, name=name, near=near)
    return OutboundMessage(markdown=text, buttons=((button,),), asks=given.sender.id)


async def _zones(_: Unfinished) -> Iterable[Suggestion]:
    names = await asyncio.to_thread(zone_names)
    return (suggested(each) for each in sorted({*names.values()}) if "/" in each)
