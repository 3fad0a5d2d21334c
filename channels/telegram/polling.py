"""Long polling that stores each update before it is confirmed to Telegram, so that a crash loses none.

Messages that Telegram's clients send in pieces are joined: albums, and texts longer than a message.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from pydantic import JsonValue

from channels.backoff import Backoff
from channels.base import Addressed, ButtonPressed, ChannelError, InboundEvent, Inbox, MessageReceived, NotTakenIn
from channels.tasks import BackgroundTasks
from channels.telegram.client import Client, Polled
from channels.telegram.identity import Identity
from channels.telegram.normalise import normalise
from channels.telegram.wire import Update
from channels.text import utf16_len
from channels.values import parse

log = logging.getLogger(__name__)

_NEARLY_FULL = 4_000
_FULL = 4_096
_ONE_BREATH = 2
"""Longest time in seconds between two pieces of one text."""
BATCH = 100
"""Most updates that Telegram gives at once."""
SAME_OFFSET_SECONDS = 0.75
"""Within 0.5 s Telegram answers a repeated offset with one update only."""
CONFLICT_SECONDS = 3.0
ALLOWED_UPDATES = ("message", "edited_message", "callback_query", "message_reaction")
GRACE_SECONDS = 10.0


class Arrival(NamedTuple):
    """An update that has become an event."""

    update_id: int
    event: InboundEvent
    album: str | None = None


class Piece(NamedTuple):
    """Events joined into one."""

    event: InboundEvent
    updates: tuple[int, ...]
    unfinished: bool
    """True if further parts may follow."""


def join(arrivals: Sequence[Arrival]) -> list[Piece]:
    """Join events that belong together, each at the position of its first part."""
    groups: list[list[Arrival]] = []
    last_of_chat: dict[str, list[Arrival]] = {}
    for arrival in arrivals:
        chat = str(arrival.event.chat)
        group = last_of_chat.get(chat)
        if group is not None and _belongs(group[-1], arrival):
            group.append(arrival)
        else:
            last_of_chat[chat] = group = [arrival]
            groups.append(group)
    return [_piece(group, is_last=last_of_chat[str(group[0].event.chat)] is group) for group in groups]


def _belongs(before: Arrival, after: Arrival) -> bool:
    first, second = before.event, after.event
    if not isinstance(first, MessageReceived) or not isinstance(second, MessageReceived):
        return False
    if first.sender.id != second.sender.id or first.event_id == second.event_id:
        return False
    if before.album or after.album:
        return before.album == after.album
    goes_on = second.reply_to in (None, first.reply_to) and not second.attachments
    return _is_cut_off(first) and goes_on and second.at - first.at <= _ONE_BREATH


def _is_cut_off(message: MessageReceived) -> bool:
    return not message.attachments and utf16_len(message.words) >= _NEARLY_FULL


def _piece(group: list[Arrival], *, is_last: bool) -> Piece:
    messages = [arrival.event for arrival in group if isinstance(arrival.event, MessageReceived)]
    updates = tuple(arrival.update_id for arrival in group)
    if not messages:
        return Piece(group[0].event, updates, unfinished=False)
    unfinished = is_last and (group[-1].album is not None or _is_cut_off(messages[-1]))
    return Piece(_joined(messages) if len(messages) > 1 else messages[0], updates, unfinished)


def _joined(messages: list[MessageReceived]) -> MessageReceived:
    """Join messages. The id names the first and the last: the same parts give the same event, later ones another."""
    first = messages[0]
    text = first.text
    for before, message in pairwise(messages):
        glue = "" if utf16_len(before.text) == _FULL or not text or not message.text else "\n"
        text += glue + message.text
    addressed = [message.addressed for message in messages if message.addressed is not Addressed.AMBIENT]
    return first.model_copy(
        update={
            "event_id": f"{first.event_id}-{messages[-1].message_id}",
            "text": text,
            "shared": _shared([message.shared for message in messages]),
            "unread": tuple(dict.fromkeys(kind for message in messages for kind in message.unread)),
            "attachments": tuple(file for message in messages for file in message.attachments),
            "named": tuple(dict.fromkeys(name for message in messages for name in message.named)),
            "addressed": addressed[0] if addressed else first.addressed,
        }
    )


def _shared(parts: list[str]) -> str:
    """Return what messages carry, each once: a forwarded album names its author with every picture."""
    given = dict.fromkeys(filter(None, parts))
    return "\n".join(part for part in given if not any(each.startswith(f"{part}\n") for each in given))


class Polling:
    """Passes updates to the inbox, in order, until cancelled."""

    def __init__(self, client: Client, me: Identity, inbox: Inbox, poll_seconds: int, now: Callable[[], float]) -> None:
        self._client = client
        self._me = me
        self._inbox = inbox
        self._poll_seconds = poll_seconds
        self._now = now
        self._offset = 0
        self._accepted: set[int] = set()
        """Ids of stored updates in the batch that is not confirmed yet."""
        self._answers = BackgroundTasks()
        self._conflict_told = False
        self._backoff = Backoff()

    @property
    def is_working(self) -> bool:
        """True unless the last poll failed or another program polls too."""
        return not (self._backoff.is_failing or self._conflict_told)

    async def run(self) -> None:
        """Run until cancelled. Raises ChannelError only if the token is rejected."""
        try:
            while True:
                try:
                    await self._turn(self._poll_seconds)
                except ChannelError as error:
                    await self._recover(error)
                else:
                    self._conflict_told = False
                    self._backoff.succeeded("updates from Telegram again")
        finally:
            await self._answers.close()

    async def _turn(self, seconds: int) -> None:
        """Fetch and store one batch; the offset of the next request confirms it."""
        updates = await self._updates(seconds)
        pieces = join(self._arrivals(updates))
        await self._accept([piece for piece in pieces if not piece.unfinished])
        unfinished = [piece.updates[0] for piece in pieces if piece.unfinished]
        if unfinished and len(updates) >= BATCH and min(unfinished) > min(map(_update_id, updates)):
            self._go_on_from(min(unfinished))
            return
        if unfinished:
            await asyncio.sleep(SAME_OFFSET_SECONDS)
            updates = await self._updates(0)
            await self._accept(join(self._arrivals(updates)))
        # An empty batch means that all is confirmed. Then no offset is safest: after a week without updates ids
        # restart.
        self._offset = max(_update_id(update) for update in updates) + 1 if updates else 0
        self._accepted.clear()

    def _go_on_from(self, update_id: int) -> None:
        """Confirm what is before an update, whose further parts are in the next batch."""
        self._offset = update_id
        self._accepted = {each for each in self._accepted if each >= update_id}

    async def _updates(self, seconds: int) -> Sequence[JsonValue]:
        """Fetch a batch; the client abandons a poll without a response."""
        parameters: dict[str, JsonValue] = {
            "offset": self._offset,
            "timeout": seconds,
            "allowed_updates": list(ALLOWED_UPDATES),
        }
        updates = await self._client.call("getUpdates", parameters, seconds=seconds + GRACE_SECONDS)
        return updates if isinstance(updates, list) else []

    def _arrivals(self, updates: Sequence[JsonValue]) -> list[Arrival]:
        """Convert the updates of a batch that are not stored yet."""
        now = self._now()
        arrivals = []
        for raw in updates:
            if _update_id(raw) in self._accepted:
                continue
            update = parse(Update, raw)
            if update is None:
                log.warning("malformed update update_id=%s", _update_id(raw))
                continue
            event = normalise(update, self._me, now)
            if event is None:
                log.debug("ignored update update_id=%s", update.update_id)
                continue
            album = update.message.media_group_id if update.message else None
            arrivals.append(Arrival(update.update_id, event, album))
        return arrivals

    async def _accept(self, pieces: Sequence[Piece]) -> None:
        """Store all events concurrently, so that the store commits them together; they start in order, which is kept.

        Raises ChannelError if one could not be stored. Then none is confirmed, and the stored ones are skipped next
        time.
        """
        outcomes = await asyncio.gather(*(self._inbox(piece.event) for piece in pieces), return_exceptions=True)
        failures = 0
        for piece, outcome in zip(pieces, outcomes, strict=True):
            if isinstance(outcome, BaseException):
                failures += 1
                _log_refused(piece.event.event_id, outcome)
                continue
            self._accepted.update(piece.updates)
            if isinstance(piece.event, ButtonPressed):
                self._answers.start(self._answer_press(piece.event.event_id.rsplit(":", 1)[1]))
        if failures:
            raise ChannelError(f"{failures} updates could not be stored and will be fetched again")

    async def _answer_press(self, query: str) -> None:
        """Stop the button's progress indicator."""
        try:
            await self._client.call("answerCallbackQuery", {"callback_query_id": query})
        except ChannelError as error:
            log.info("button press not answered query=%s: %s", query, error.reason)

    async def _recover(self, error: ChannelError) -> None:
        if error.permanent:
            raise error
        if isinstance(error, Polled):
            await self._settle_conflict(error)
            return
        self._backoff.failed(f"no updates from Telegram: {error.reason}")
        await self._backoff.wait(error.retry_after or SAME_OFFSET_SECONDS)

    async def _settle_conflict(self, error: Polled) -> None:
        if "webhook" in error.reason.lower():
            await self._remove_webhook()
            await self._backoff.wait()
            return
        if not self._conflict_told:
            self._conflict_told = True
            log.warning(
                "another program is polling with this bot's token, and only one may: stop it, or create another bot for"
                " this one (@BotFather, /newbot)"
            )
        await self._backoff.wait(CONFLICT_SECONDS)

    async def _remove_webhook(self) -> None:
        """Remove a webhook, as it takes all updates; updates pending for it are kept."""
        log.warning("removing this bot's webhook, because Parley polls")
        try:
            await self._client.call("deleteWebhook", {"drop_pending_updates": False})
        except ChannelError as error:
            log.warning("webhook not removed: %s", error.reason)


def _log_refused(event_id: str, error: BaseException) -> None:
    """Log an update that is fetched again until it is stored; a known reason needs no traceback each time."""
    if isinstance(error, NotTakenIn):
        log.warning("update not accepted event_id=%s: %s", event_id, error)
    else:
        log.error("update not accepted event_id=%s: %s", event_id, error, exc_info=error)


def _update_id(update: JsonValue) -> int:
    found = update.get("update_id") if isinstance(update, dict) else None
    return found if isinstance(found, int) else -1
