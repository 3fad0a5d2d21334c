"""Entry point for everything that Bolt receives: each event is stored before it is acknowledged to Slack.

This is a middleware in front of Bolt's authorization, not a set of listeners: the authorization calls Slack with the
first events and fails on unknown payloads, and Bolt builds two dozen arguments per listener.
"""

import asyncio
import itertools
import logging
import weakref
from bisect import insort
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Set
from contextlib import asynccontextmanager

from pydantic import JsonValue
from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from channels.base import (
    Accepted,
    AccountRefused,
    ChannelError,
    ChatKey,
    InboundEvent,
    Inbox,
    MessageReceived,
    NotTakenIn,
    Posted,
)
from channels.moved import chat_moved
from channels.slack.client import Client
from channels.slack.errors import Failure, error_for
from channels.slack.interactions import (
    ASK,
    Phrases,
    command_invoked,
    command_on_message,
    not_asked,
    phrases,
    pressed,
    question_asked,
    question_window,
    stop_pressed,
)
from channels.slack.mentions import Identity, Names
from channels.slack.normalise import normalise
from channels.slack.sessions import title_of
from channels.slack.shared_files import SharedFiles
from channels.slack.users import Users
from channels.slack.wire import AssistantThread, Interaction, Message, SessionStopped, SlashCommand
from channels.tasks import BackgroundTasks
from channels.values import parse

log = logging.getLogger(__name__)

MALFORMED = (AttributeError, LookupError, TypeError, ValueError)
"""Exceptions that Bolt raises for payloads of an unexpected shape."""
_CHALLENGE = "url_verification"
"""Slack's test of an address, which Bolt answers."""
_MESSAGES = ("message", "app_mention")
_INTERACTIONS = ("block_actions", "view_submission", "message_action")
_MOVED = "channel_id_changed"
_STOPPED = "agent_session_stopped"
_REMOVED = ("app_uninstalled", "tokens_revoked")
Body = Mapping[str, JsonValue]
MOST_UNNAMED = 1_000
SETTLE_SECONDS = 0.01
"""Time within which an earlier message may still arrive on the other socket."""


class Inbound(AsyncMiddleware):
    """Converts payloads to events and passes them to the inbox. `app_id` is set once Slack has told it."""

    def __init__(
        self,
        client: Client,
        me: Identity,
        users: Users,
        inbox: Inbox,
        *,
        noted: Callable[[InboundEvent], None],
        commands: Set[str],
        now: Callable[[], float],
    ) -> None:
        self.app_id = ""
        self._client = client
        self._me = me
        self._users = users
        self._noted = noted
        self._inbox = inbox
        self._commands = commands
        self._now = now
        self._shortcuts = Shortcuts(client, me, users)
        self._files = SharedFiles(client)
        self._order = ChatOrder()

    async def close(self) -> None:
        await self._shortcuts.close()

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
            log.warning("event not accepted: %s", error)  # repeated with each redelivery
            return self._not_taken(body)
        return BoltResponse(status=200, body="")

    def _not_taken(self, body: Body) -> BoltResponse:
        """Return the response for what the inbox refused: Slack sends events again, and a user a dialog."""
        interaction = parse(Interaction, body) if body.get("type") == "view_submission" else None
        if interaction is None or interaction.view is None or interaction.view.callback_id != ASK:
            return BoltResponse(status=503, body="")
        return BoltResponse(status=200, body=not_asked(interaction.user.id, self._users))

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
            self._refuse_account(event)
            return
        if isinstance(event, dict) and event.get("type") == _MOVED:
            await self._move(event)
            return
        if isinstance(event, dict) and event.get("type") == _STOPPED:
            await self._stop(event)
            return
        missing: list[str] = []
        found = self._event(body, self._users.noting(missing))
        if found is None:
            self._shortcuts.take(body)
            return
        async with self._order.of(str(found.chat), found.at):
            if missing:  # perhaps they became known while this event waited for its turn
                await self._users.wait_for([found.sender.id], missing)
                found = self._event(body, self._users) or found
            found = await self._files.told(found)
        await self._accept(found)

    def _event(self, body: Body, names: Names) -> InboundEvent | None:
        """Convert a payload to an event."""
        if body.get("type") == "event_callback":
            return self._message(body, names)
        if "command" in body:
            command = parse(SlashCommand, body)
            return command_invoked(command, self._me, names, self._now()) if command else None
        interaction = parse(Interaction, body) if body.get("type") in _INTERACTIONS else None
        if interaction is None:
            return None
        now = self._now()
        return (
            pressed(interaction, self._me, names)
            or question_asked(interaction, self._me, names, now)
            or command_on_message(interaction, self._me, names, self._commands, now)
        )

    def _message(self, body: Body, names: Names) -> InboundEvent | None:
        raw = body.get("event")
        if not isinstance(raw, dict) or raw.get("type") not in _MESSAGES:
            return None
        message = parse(Message, raw)
        if message is None:
            log.warning("malformed event event_id=%s", body.get("event_id"))
            return None
        return normalise(message, self._me, names, self._commands)

    async def _accept(self, event: InboundEvent) -> None:
        self._noted(event)
        if await self._inbox(event) is Accepted.NEW and isinstance(event, MessageReceived):
            self._shortcuts.name(event.chat, event.text)

    async def _move(self, event: Mapping[str, JsonValue]) -> None:
        """Pass on that a channel has another id, as when it was shared. Its messages keep theirs."""
        old, new = event.get("old_channel_id"), event.get("new_channel_id")
        if isinstance(old, str) and isinstance(new, str) and old and new and old != new:
            chat = ChatKey(platform="slack", account=self._me.team, chat=old)
            await self._inbox(chat_moved(chat, new, self._now(), keeps_messages=True))

    async def stopped(self, posted: Posted, person: str) -> None:
        """Pass on that a reader stopped a streamed message, by Slack's own button."""
        await self._accept(stop_pressed(posted.chat, posted.message_id, person, self._me, self._users, self._now()))

    async def _stop(self, event: Mapping[str, JsonValue]) -> None:
        """Pass on that a reader stopped what goes on in a thread, by Slack's own button."""
        stopped = parse(SessionStopped, event)
        if stopped is None:
            log.warning("malformed event of a stopped session")
            return
        await self._users.wait_for([stopped.user], ())
        chat = ChatKey(platform="slack", account=self._me.team, chat=stopped.channel, thread=stopped.thread_ts)
        message = next(iter(stopped.streaming_message_ts), stopped.event_ts)
        await self._accept(stop_pressed(chat, message, stopped.user, self._me, self._users, self._now()))

    def _refuse_account(self, event: Mapping[str, JsonValue]) -> None:
        tokens = event.get("tokens")
        bots = tokens.get("bot") if isinstance(tokens, dict) else None
        if event.get("type") == "tokens_revoked" and not (isinstance(bots, list) and self._me.user in bots):
            return
        error = "account_inactive" if event.get("type") == "app_uninstalled" else "token_revoked"
        failure = error_for(Failure("an event", error, 200))
        if isinstance(failure, AccountRefused):
            self._client.give_up(failure)


class _ChatQueue:
    def __init__(self) -> None:
        self.waiting: list[tuple[float, int]] = []
        self.moved = asyncio.Condition()


class ChatOrder:
    def __init__(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._sleep = sleep
        self._queues: weakref.WeakValueDictionary[str, _ChatQueue] = weakref.WeakValueDictionary()
        self._numbers = itertools.count()

    @asynccontextmanager
    async def of(self, chat: str, at: float) -> AsyncIterator[None]:
        """Enter when all earlier messages of the chat are done. Code that follows without awaiting keeps the order
        too."""
        queue = self._queues.setdefault(chat, _ChatQueue())
        place = (at, next(self._numbers))
        insort(queue.waiting, place)
        try:
            await self._sleep(SETTLE_SECONDS)
            async with queue.moved:
                await queue.moved.wait_for(lambda: queue.waiting[0] == place)
                try:
                    yield
                finally:
                    queue.waiting.remove(place)
                    queue.moved.notify_all()
        finally:
            if place in queue.waiting:  # cancelled; let the next one continue
                queue.waiting.remove(place)
                async with queue.moved:
                    queue.moved.notify_all()


class Shortcuts:
    """Runs beside the acknowledgement; failures are only logged."""

    def __init__(self, client: Client, me: Identity, users: Users) -> None:
        self._client = client
        self._me = me
        self._users = users
        self._tasks = BackgroundTasks()
        self._unnamed: dict[tuple[str, str | None], None] = {}
        """Threads of the assistant's pane in which nobody has written yet."""

    def take(self, body: Mapping[str, JsonValue]) -> None:
        """Handle a payload that is not an inbound event; most need nothing but the acknowledgement."""
        event = body.get("event")
        if isinstance(event, dict) and event.get("type") == "assistant_thread_started":
            thread = parse(AssistantThread, event.get("assistant_thread"))
            if thread is not None:
                self._begin(thread)
        elif body.get("type") == "message_action" and body.get("callback_id") == ASK:
            shortcut = parse(Interaction, body)
            if shortcut is not None and shortcut.channel is not None:
                self._tasks.start(self._open_window(shortcut))

    def name(self, chat: ChatKey, words: str) -> None:
        """Name a new thread of the assistant's pane after its first message, by which people find it again."""
        place = (chat.chat, chat.thread)
        if place not in self._unnamed:
            return
        del self._unnamed[place]
        if title := title_of(words):
            about: dict[str, JsonValue] = {"channel_id": chat.chat, "thread_ts": chat.thread, "title": title}
            self._tasks.start(self._call("assistant.threads.setTitle", about))

    async def close(self) -> None:
        await self._tasks.close()

    def _begin(self, thread: AssistantThread) -> None:
        self._unnamed[thread.channel_id, thread.thread_ts] = None
        if len(self._unnamed) > MOST_UNNAMED:
            del self._unnamed[next(iter(self._unnamed))]
        self._tasks.start(self._suggest(thread))

    async def _suggest(self, thread: AssistantThread) -> None:
        await self._users.wait_for([thread.user_id], ())
        prompts: list[JsonValue] = [
            {"title": title, "message": said} for title, said in self._phrases(thread.user_id).prompts
        ]
        await self._call(
            "assistant.threads.setSuggestedPrompts",
            {"channel_id": thread.channel_id, "thread_ts": thread.thread_ts, "prompts": prompts},
        )

    async def _open_window(self, shortcut: Interaction) -> None:
        user = shortcut.user.id
        window = question_window(shortcut, self._me, self._users, self._phrases(user))
        try:
            await self._client.call("views.open", {"trigger_id": shortcut.trigger_id, "view": window})
        except ChannelError as error:
            log.info("views.open: %s", error.reason)
            await self._users.wait_for([user], ())
            await self._whisper(shortcut.response_url, self._phrases(user).not_opened)

    async def _whisper(self, address: str, words: str) -> None:
        """Tell something to the user of a shortcut alone."""
        try:
            await self._client.respond(address, {"response_type": "ephemeral", "text": words})
        except ChannelError as error:
            log.info("nobody was told: %s", error.reason)

    def _phrases(self, user: str) -> Phrases:
        person = self._users(user)
        return phrases(person.language if person else None)

    async def _call(self, method: str, parameters: Mapping[str, JsonValue]) -> None:
        try:
            await self._client.call(method, parameters)
        except ChannelError as error:
            log.info("%s: %s", method, error.reason)
