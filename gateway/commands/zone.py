"""The command for a chat's time zone: /tz."""

import asyncio
from dataclasses import replace
from functools import partial
from zoneinfo import ZoneInfo

from channels.base import Button, OutboundMessage
from channels.text import literal
from gateway.commands.table import Command, Invocation, reply
from gateway.schedule.zones import LONGEST, Known, Level, find_zone, nearest_zone
from gateway.store.job import Job
from gateway.texts.say import say
from gateway.timing.words import slot_words

_FROM = {Level.HERE: "zone_set_here", Level.CHANNEL: "zone_of_channel", Level.HOUSE: "zone_of_house"}
_RESET = ("reset", "default", "重置", "默认")


async def zone(given: Invocation) -> OutboundMessage:
    """Show or set the time zone. Everyone may see it; in groups only owners may change it."""
    wanted = " ".join(given.arguments.split())
    if not wanted:
        return await _shown(given)
    if not _may(given):
        return reply(say("zone_not_yours", given.language))
    if wanted.lower() == "move":
        return await _move(given)
    if wanted.lower() in _RESET:
        return await _set(given, None)
    found = await asyncio.to_thread(find_zone, wanted)
    return await _set(given, found) if found else await _unknown(given, wanted)


async def _shown(given: Invocation) -> OutboundMessage:
    known = await given.desk.zones.known(given.session.key)
    lines = [_now(given, known), say("zone_how", given.language, slash=given.slash)]
    return await _with_jobs(given, known, "\n\n".join(lines))


async def _set(given: Invocation, wanted: ZoneInfo | None) -> OutboundMessage:
    await given.session.conversation.go_by(wanted.key if wanted else None)
    known = await given.desk.zones.known(given.session.key)
    await _look_by(given, known.zone)
    if wanted is None:
        return await _with_jobs(given, known, _now(given, known))
    where = say("in_this_chat" if given.session.key.thread is None else "in_this_thread", given.language)
    done = say("zone_set", given.language, zone=known.zone.key, where=where, time=_time(given, known.zone))
    return await _with_jobs(given, known, done)


async def _unknown(given: Invocation, wanted: str) -> OutboundMessage:
    near, name = await asyncio.to_thread(nearest_zone, wanted), literal(wanted[:LONGEST])
    if near is None:
        return reply(say("zone_unknown", given.language, name=name, slash=given.slash))
    button = Button(label=near, action=f"/tz {near}", says="yes")
    text = say("zone_did_you_mean", given.language, name=name, near=near)
    return OutboundMessage(markdown=text, buttons=((button,),), asks=given.sender.id)


async def _move(given: Invocation) -> OutboundMessage:
    known = await given.desk.zones.known(given.session.key)
    count = len(await _elsewhere(given, known.zone))
    if not count:
        return reply(say("zone_nothing_to_move", given.language, zone=known.zone.key))
    await given.desk.jobs.move_zone(given.session.key, known.zone)
    return reply(say("zone_moved", given.language, count=count, zone=known.zone.key, slash=given.slash))


async def _with_jobs(given: Invocation, known: Known, text: str) -> OutboundMessage:
    """Add a note about jobs in other zones, with a button that moves them."""
    count = len(await _elsewhere(given, known.zone))
    if not count or not _may(given):
        return reply(text)
    note = say("zone_jobs_elsewhere", given.language, count=count, slash=given.slash)
    button = Button(label=say("zone_move_button", given.language), action="/tz move", says="yes")
    return OutboundMessage(markdown=f"{text}\n\n{note}", buttons=((button,),), asks=given.sender.id)


async def _elsewhere(given: Invocation, here: ZoneInfo) -> list[Job]:
    found = await given.desk.jobs.shown(given.session.key)
    return [job for job in found if job.zone != here.key]


async def _look_by(given: Invocation, here: ZoneInfo) -> None:
    """Use the zone for quiet hours as well. Check-ins run at intervals and are not affected."""
    heartbeat = await given.desk.store.heartbeats.find(given.session.key)
    if heartbeat is not None:
        await given.desk.store.jobs.change(heartbeat.job, partial(replace, zone=here.key))


def _now(given: Invocation, known: Known) -> str:
    source = say(_FROM[known.level], given.language)
    return say("zone_here", given.language, zone=known.zone.key, source=source, time=_time(given, known.zone))


def _time(given: Invocation, here: ZoneInfo) -> str:
    now = given.desk.clock.time()
    return slot_words(now, here, given.language, now)


def _may(given: Invocation) -> bool:
    key = given.session.key
    return not given.desk.delivery.channel(key).is_group(key) or given.desk.access.is_owner(key, given.sender)


COMMANDS = (
    Command("tz", {"en": "Show or set the time zone", "zh": "查看或设置时区"}, zone, arguments="[NAME|reset|move]"),
)
