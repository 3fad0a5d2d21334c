"""Long polling that stores each update before it is confirmed to Telegram, so that a crash loses none.

The SDK's own Updater confirms a batch with the next request, while the batch is still only in memory.
"""

import asyncio
import logging
import time
from collections.abc import Sequence

from pydantic import JsonValue

from channels.backoff import Backoff
from channels.base import ButtonPressed, ChannelError, Inbox, NotTakenIn
from channels.telegram.client import Client, Polled
from channels.telegram.content import Identity
from channels.telegram.joining import Arrival, Piece, join
from channels.telegram.normalise import normalise
from channels.telegram.wire import ALLOWED_UPDATES, read_update

log = logging.getLogger(__name__)

SAME_OFFSET_SECONDS = 0.75
"""Within 0.5 s Telegram answers a repeated offset with one update only."""
CONFLICT_SECONDS = 3.0
GRACE_SECONDS = 10.0


class Polling:
    """Passes updates to the inbox, in order, until cancelled."""

    def __init__(self, client: Client, me: Identity, inbox: Inbox, poll_seconds: int) -> None:
        self._client = client
        self._me = me
        self._inbox = inbox
        self._poll_seconds = poll_seconds
        self._offset = 0
        self._accepted: set[int] = set()
        """Ids of stored updates in the batch that is not confirmed yet."""
        self._answers: set[asyncio.Task[None]] = set()
        self._conflict_told = False

    async def run(self) -> None:
        """Run until cancelled. Raises ChannelError only if the token is rejected."""
        backoff = Backoff()
        try:
            while True:
                try:
                    await self._turn(self._poll_seconds)
                except ChannelError as error:
                    await self._recover(error, backoff)
                else:
                    self._conflict_told = False
                    backoff.succeeded("Telegram is heard again")
        finally:
            for answer in self._answers:
                answer.cancel()
            await asyncio.gather(*self._answers, return_exceptions=True)

    async def _turn(self, seconds: int) -> None:
        """Fetch and store one batch; the offset of the next request confirms it."""
        updates = await self._updates(seconds)
        pieces = join(self._arrivals(updates))
        await self._accept([piece for piece in pieces if not piece.unfinished])
        if any(piece.unfinished for piece in pieces):
            await asyncio.sleep(SAME_OFFSET_SECONDS)
            updates = await self._updates(0)
            await self._accept(join(self._arrivals(updates)))
        # An empty batch means that all is confirmed. Then no offset is safest: after a week without updates ids
        # restart.
        self._offset = max(_update_id(update) for update in updates) + 1 if updates else 0
        self._accepted.clear()

    async def _updates(self, seconds: int) -> Sequence[JsonValue]:
        """Fetch a batch; a poll without a response is abandoned after about twice its time."""
        parameters: dict[str, JsonValue] = {
            "offset": self._offset,
            "timeout": seconds,
            "allowed_updates": list(ALLOWED_UPDATES),
        }
        try:
            async with asyncio.timeout(2 * seconds + GRACE_SECONDS):
                updates = await self._client.call("getUpdates", parameters, seconds=seconds + GRACE_SECONDS)
        except TimeoutError as error:
            raise ChannelError("the poll did not come back") from error
        return updates if isinstance(updates, list) else []

    def _arrivals(self, updates: Sequence[JsonValue]) -> list[Arrival]:
        """Convert the updates of a batch that are not stored yet."""
        now = time.time()
        arrivals = []
        for raw in updates:
            if _update_id(raw) in self._accepted:
                continue
            update = read_update(raw)
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
                # Fetched again until it is stored; a known reason needs no traceback each time.
                known = isinstance(outcome, NotTakenIn)
                log.error(
                    "update not accepted event_id=%s: %s",
                    piece.event.event_id,
                    outcome,
                    exc_info=None if known else outcome,
                )
                continue
            self._accepted.update(piece.updates)
            if isinstance(piece.event, ButtonPressed):
                self._answer(piece.event)
        if failures:
            raise ChannelError(f"{failures} updates were not accepted; they are asked for again")

    def _answer(self, event: ButtonPressed) -> None:
        """Stop the button's progress indicator, in the background."""
        answer = asyncio.create_task(self._answer_press(event.event_id.rsplit(":", 1)[1]))
        self._answers.add(answer)
        answer.add_done_callback(self._answers.discard)

    async def _answer_press(self, query: str) -> None:
        try:
            await self._client.call("answerCallbackQuery", {"callback_query_id": query})
        except ChannelError as error:
            log.info("button press not answered query=%s: %s", query, error.reason)

    async def _recover(self, error: ChannelError, backoff: Backoff) -> None:
        if error.permanent:
            raise error
        if isinstance(error, Polled):
            await self._settle_conflict(error, backoff)
            return
        backoff.failed(f"Telegram is not heard: {error.reason}")
        await backoff.wait(error.retry_after or SAME_OFFSET_SECONDS)

    async def _settle_conflict(self, error: Polled, backoff: Backoff) -> None:
        if "webhook" in error.reason.lower():
            await self._remove_webhook()
            await backoff.wait()
            return
        if not self._conflict_told:
            self._conflict_told = True
            log.warning(
                "another program polls with this bot's token; only one may: stop the other, or give this one a bot of"
                " its own (@BotFather, /newbot)"
            )
        await backoff.wait(CONFLICT_SECONDS)

    async def _remove_webhook(self) -> None:
        """Remove a webhook, as it takes all updates; updates pending for it are kept."""
        log.warning("this bot has a webhook, which is removed, as Parley polls")
        try:
            await self._client.call("deleteWebhook", {"drop_pending_updates": False})
        except ChannelError as error:
            log.warning("webhook not removed: %s", error.reason)


def _update_id(update: JsonValue) -> int:
    found = update.get("update_id") if isinstance(update, dict) else None
    return found if isinstance(found, int) else -1
