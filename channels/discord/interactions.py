"""The acknowledgement of slash commands and button presses.

Discord waits three seconds for the acknowledgement before it shows a failure. The answer follows later over the
interaction's own address, which is valid for 15 minutes.
"""

import asyncio
import logging
import math
from collections.abc import Callable

from pydantic import JsonValue

from channels.base import Accepted, ChannelError
from channels.discord.client import Call, Endpoint, Rest
from channels.discord.errors import ALREADY_ANSWERED, UNKNOWN_INTERACTION, UNKNOWN_WEBHOOK, Refused
from channels.discord.normalise import created_at
from channels.discord.respond import Address
from channels.discord.wire import COMPONENT, SUBMISSION, Interaction
from channels.tasks import BackgroundTasks

log = logging.getLogger(__name__)

ACKNOWLEDGE_AFTER = 0.5
"""Seconds to wait for the store before the interaction is acknowledged anyway."""
ACKNOWLEDGED_WITHIN = 3.0
"""Seconds that Discord gives for it."""
ASK_EVERY = 0.2
MOST_KNOWN = 1_000
"""Interactions that are remembered once they are acknowledged."""
DEFER, DEFER_UPDATE = 5, 6
Outcome = asyncio.Future[Accepted | None]
"""The outcome of an event; None if there was none for the bot."""
_ANSWERED = (Accepted.NEW, Accepted.DUPLICATE)


class Interactions:
    """The interactions that came to this process, newest last. Each has an event, set once it is acknowledged."""

    def __init__(self, rest: Rest, now: Callable[[], float]) -> None:
        self._rest = rest
        self._now = now
        self._acknowledged: dict[str, asyncio.Event] = {}
        self._tasks = BackgroundTasks()

    def start(self, interaction: Interaction, outcome: Outcome) -> None:
        if interaction.id in self._acknowledged:
            return  # delivered twice
        self._acknowledged[interaction.id] = asyncio.Event()
        if len(self._acknowledged) > MOST_KNOWN:
            self._acknowledged.pop(next(iter(self._acknowledged))).set()
        self._tasks.start(self._acknowledge(interaction, outcome))

    async def acknowledged(self, interaction: str, token: str) -> None:
        """Wait until an interaction is acknowledged; answers sent before would fail.

        One that has just come to another process is asked for. Raises ChannelError.
        """
        event = self._acknowledged.get(interaction)
        if event is not None:
            await event.wait()
            return
        age = self._now() - created_at(interaction)
        for _ in range(math.ceil((ACKNOWLEDGED_WITHIN - age) / ASK_EVERY)):
            if await self._is_acknowledged(token):
                return
            await asyncio.sleep(ASK_EVERY)

    async def _is_acknowledged(self, token: str) -> bool:
        """Return False if Discord does not know the answer yet. Raises ChannelError."""
        try:
            await self._rest.call(Call(original("GET", (await self._rest.me()).application, token)))
        except Refused as error:
            return error.code not in (UNKNOWN_WEBHOOK, UNKNOWN_INTERACTION)
        return True

    async def settled(self) -> None:
        """Wait until all are acknowledged."""
        await self._tasks.settled()

    async def close(self) -> None:
        await self._tasks.close()
        for event in self._acknowledged.values():
            event.set()

    async def _acknowledge(self, interaction: Interaction, outcome: Outcome) -> None:
        """Wait briefly for the store, then acknowledge. In servers only the user sees the answer. Senders without
        permission are not acknowledged, so Discord shows them that the bot did not respond."""
        deferred = await self._defer(interaction, outcome)
        if interaction.id in self._acknowledged:
            self._acknowledged[interaction.id].set()
        if deferred and interaction.type != COMPONENT and _has_no_answer(interaction, await outcome):
            try:
                await self._delete_placeholder(interaction.token)
            except ChannelError as error:
                log.info("placeholder not deleted id=%s: %s", interaction.id, error.reason)

    async def _defer(self, interaction: Interaction, outcome: Outcome) -> bool:
        """Acknowledge with a deferred answer; return True if that was done."""
        await asyncio.wait([outcome], timeout=ACKNOWLEDGE_AFTER)
        if outcome.done() and outcome.result() not in _ANSWERED:
            return False
        body: JsonValue = {"type": DEFER_UPDATE}
        if interaction.type != COMPONENT:
            flags = Address.of(interaction).flags(in_private=interaction.guild_id is None)
            body = {"type": DEFER, "data": {"flags": flags}}
        try:
            await self._rest.call(Call(callback(interaction.id, interaction.token), json=body))
        except ChannelError as error:
            if not (isinstance(error, Refused) and error.code == ALREADY_ANSWERED):
                log.warning("interaction not answered in time id=%s: %s", interaction.id, error.reason)
            return False
        return True

    async def close_command(self, respond: str) -> None:
        """Remove the "thinking" placeholder of a command without an answer. Raises ChannelError."""
        address = Address.parse(respond)
        await self.acknowledged(address.interaction, address.token)
        await self._delete_placeholder(address.token)

    async def _delete_placeholder(self, token: str) -> None:
        me = await self._rest.me()
        await self._rest.call(Call(original("DELETE", me.application, token)))


def _has_no_answer(interaction: Interaction, outcome: Accepted | None) -> bool:
    """Return True if no answer will replace the placeholder; that of a modal submitted again is on its way."""
    return outcome not in _ANSWERED or (interaction.type == SUBMISSION and outcome is Accepted.DUPLICATE)


def callback(interaction: str, token: str) -> Endpoint:
    path = "/interactions/{webhook_id}/{webhook_token}/callback"
    return Endpoint("POST", path, {"webhook_id": interaction, "webhook_token": token})


def original(method: str, application: str, token: str) -> Endpoint:
    """Return the endpoint of the first answer to an interaction, or of the message whose button was pressed."""
    path = "/webhooks/{webhook_id}/{webhook_token}/messages/@original"
    return Endpoint(method, path, {"webhook_id": application, "webhook_token": token})


def follow_up(application: str, token: str) -> Endpoint:
    """Return the endpoint for a further answer to an interaction."""
    return Endpoint(
        "POST", "/webhooks/{webhook_id}/{webhook_token}", {"webhook_id": application, "webhook_token": token}
    )
