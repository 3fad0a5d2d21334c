"""Entry point for everything that Bolt receives: each event is stored before it is acknowledged to Slack.

This is a middleware in front of Bolt's authorization, not a set of listeners: the authorization calls Slack with the
first events and fails on unknown payloads, and Bolt builds two dozen arguments per listener.
"""

import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Set

from pydantic import JsonValue
from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from channels.base import (
    AccountRefused,
    ButtonPressed,
    CommandInvoked,
    InboundEvent,
    Inbox,
    MessageReceived,
    NotTakenIn,
)
from channels.slack.client import Client
from channels.slack.content import Identity
from channels.slack.courtesies import Courtesies
from channels.slack.errors import Failure, meaning
from channels.slack.interactions import command_invoked, pressed, question_asked
from channels.slack.normalise import normalise
from channels.slack.people import People
from channels.slack.signs import Signs
from channels.slack.turns import Turns
from channels.slack.wire import read_command, read_interaction, read_message

log = logging.getLogger(__name__)

MALFORMED = (AttributeError, LookupError, TypeError, ValueError)
"""Exceptions that Bolt raises for payloads of an unexpected shape."""
_CHALLENGE = "url_verification"
"""Slack's test of an address, which Bolt answers."""
_MESSAGES = ("message", "app_mention")
_INTERACTIONS = ("block_actions", "view_submission")
_REMOVED = ("app_uninstalled", "tokens_revoked")

Body = Mapping[str, JsonValue]


class Intake(AsyncMiddleware):
    """Converts payloads to events and passes them to the inbox. `app_id` is set once Slack has told it."""

    def __init__(
        self,
        client: Client,
        me: Identity,
        people: People,
        signs: Signs,
        inbox: Inbox,
        commands: Set[str],
    ) -> None:
        self.app_id = ""
        self._client = client
        self._me = me
        self._people = people
        self._signs = signs
        self._inbox = inbox
        self._commands = commands
        self._courtesies = Courtesies(client, me, people)
        self._turns = Turns()

    async def close(self) -> None:
        await self._courtesies.close()

    async def async_process(
        self,
        *,
        req: AsyncBoltRequest,
        resp: BoltResponse,
        next: Callable[[], Awaitable[BoltResponse]],  # noqa: A002 (the SDK's signature)
    ) -> BoltResponse | None:
        """Respond with 200, or with 503 for events that Slack should send again."""
        body: Body = req.body
        if body.get("type") == _CHALLENGE:
            return await next()
        if self._is_foreign(body, req.context.team_id):
            return BoltResponse(status=200, body="")
        try:
            await self._take(body)
        except NotTakenIn as error:
            log.error("event not accepted: %s", error)  # noqa: TRY400 (repeated with each redelivery)
            return BoltResponse(status=503, body="")
        return BoltResponse(status=200, body="")

    def _is_foreign(self, body: Body, team: str | None) -> bool:
        app = body.get("api_app_id")
        if team in (None, self._me.team) and (not app or not self.app_id or app == self.app_id):
            return False
        log.warning("ignored an event of another app or workspace app=%s team=%s", app, team)
        return True

    async def _take(self, body: Body) -> None:
        """Handle one payload. Raises NotTakenIn or any other error of the inbox, and then nothing is acknowledged."""
        event = body.get("event")
        if isinstance(event, dict) and event.get("type") in _REMOVED:
            self._give_up(event)
            return
        found = self._event(body)
        if found is None:
            self._courtesies.take(body)
            return
        unknown = self._people(found.sender.id) is None
        async with self._turns.of(str(found.chat), found.at):
            if unknown:  # perhaps the name became known while this event waited for its turn
                await self._people.meet(found.sender.id)
                found = self._event(body) or found
        await self._accept(found)

    def _event(self, body: Body) -> InboundEvent | None:
        """Convert a payload to an event, with the names that are known so far."""
        if body.get("type") == "event_callback":
            return self._message(body)
        if "command" in body:
            command = read_command(body)
            return command_invoked(command, self._me, self._people, time.time()) if command else None
        interaction = read_interaction(body) if body.get("type") in _INTERACTIONS else None
        if interaction is None:
            return None
        press = pressed(interaction, self._me, self._people)
        return press or question_asked(interaction, self._me, self._people, time.time())

    def _message(self, body: Body) -> InboundEvent | None:
        raw = body.get("event")
        if not isinstance(raw, dict) or raw.get("type") not in _MESSAGES:
            return None
        message = read_message(raw)
        if message is None:
            log.warning("malformed event event_id=%s", body.get("event_id"))
            return None
        return normalise(message, self._me, self._people, self._commands)

    async def _accept(self, event: InboundEvent) -> None:
        if isinstance(event, MessageReceived | CommandInvoked | ButtonPressed):
            self._signs.heard(event.chat, event.message_id, event.sender.language)
        await self._inbox(event)

    def _give_up(self, event: Mapping[str, JsonValue]) -> None:
        tokens = event.get("tokens")
        bots = tokens.get("bot") if isinstance(tokens, dict) else None
        if event.get("type") == "tokens_revoked" and not (isinstance(bots, list) and self._me.user in bots):
            return
        error = "account_inactive" if event.get("type") == "app_uninstalled" else "token_revoked"
        failure = meaning(Failure("an event", error, 200))
        if isinstance(failure, AccountRefused):
            self._client.give_up(failure)
