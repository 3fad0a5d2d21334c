"""Says by which clock the first time of a person is set and how it is known, or asks for their time zone."""

from collections.abc import Sequence

from channels.base import Button, OutboundMessage
from gateway.delivery.delivery import Delivery
from gateway.schedule.times.zone_names import city_of, shown_zone
from gateway.schedule.zones import Level, Zones
from gateway.store.job import Job
from gateway.store.person_zones import BROWSER, SAID
from gateway.store.rule import Every
from gateway.texts.say import Language, language_of, say

Rows = tuple[tuple[Button, ...], ...]


class ZoneNews:
    """Adds to the message about a job what its person was not told of their time zone."""

    def __init__(self, zones: Zones, delivery: Delivery) -> None:
        self._zones = zones
        self._delivery = delivery

    async def added(self, message: OutboundMessage, job: Job) -> OutboundMessage:
        """Return the message with the zone of its times, once for each person."""
        is_by_clock = job.is_by_own_clock and not isinstance(job.rule, Every)
        if not is_by_clock or not self._zones.is_news(job.chat, job.person):
            return message
        known = self._zones.known(job.chat, job.person)
        if job.zone != known.zone.key:  # that of the job which this one changes
            return message
        language = language_of(job.language, "en")
        if known.level is Level.PERSON:
            asks = message.asks
            text = say("zone_from", language, zone=shown_zone(job.zone), source=self._source(known.source, language))
            rows: Rows = ((Button(label=say("zone_change_button", language), action=f"/tz change {job.id}"),),)
        else:
            asks = job.person
            text = say("zone_ask", language, zone=shown_zone(job.zone))
            rows = zone_buttons(self._zones.likely(job.chat, job.person, job.language), job.id)
        longer = f"{message.markdown}\n\n{text}"
        told = message.model_copy(update={"markdown": longer, "buttons": (*message.buttons, *rows), "asks": asks})
        if len(self._delivery.masked_channel(job.chat).split(told)) > 1:
            return message
        self._zones.told(job.chat, job.person)
        return told

    def _source(self, source: str, language: Language) -> str:
        key = {BROWSER: "zone_of_browser", SAID: "zone_as_said"}.get(source, "zone_of_profile")
        return say(key, language, name=source.capitalize())


def zone_buttons(zones: Sequence[str], job_id: str = "") -> Rows:
    """Return buttons for zones, which move the job with this id as well."""
    buttons = [Button(label=city_of(zone), action=f"/tz mine {zone} {job_id}".strip()) for zone in zones]
    return tuple(buttons[:2]), tuple(buttons[2:])
