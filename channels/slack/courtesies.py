"""Optional reactions to Slack events that are not stored: the shortcut's dialog and suggested prompts."""

import asyncio
import logging
from collections.abc import Coroutine, Mapping

from pydantic import JsonValue

from channels.base import ChannelError
from channels.slack.client import Client
from channels.slack.content import Identity
from channels.slack.interactions import ASK, question_window
from channels.slack.people import People
from channels.slack.phrases import phrases
from channels.slack.wire import AssistantThread, Interaction, read_assistant_thread, read_interaction

log = logging.getLogger(__name__)


class Courtesies:
    """Runs beside the acknowledgement; failures are only logged."""

    def __init__(self, client: Client, me: Identity, people: People) -> None:
        self._client = client
        self._me = me
        self._people = people
        self._tasks: set[asyncio.Task[None]] = set()

    def take(self, body: Mapping[str, JsonValue]) -> None:
        """Handle a payload that is not an inbound event; most need nothing but the acknowledgement."""
        event = body.get("event")
        if isinstance(event, dict) and event.get("type") == "assistant_thread_started":
            thread = read_assistant_thread(event.get("assistant_thread"))
            if thread is not None:
                self._start(self._suggest(thread))
        elif body.get("type") == "message_action" and body.get("callback_id") == ASK:
            shortcut = read_interaction(body)
            if shortcut is not None and shortcut.channel is not None:
                self._start(self._open_window(shortcut))

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _start(self, courtesy: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(courtesy)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _suggest(self, thread: AssistantThread) -> None:
        await self._people.meet(thread.user_id)
        prompts: list[JsonValue] = [{"title": title, "message": said} for title, said in self._phrases(thread.user_id)]
        await self._call(
            "assistant.threads.setSuggestedPrompts",
            {"channel_id": thread.channel_id, "thread_ts": thread.thread_ts, "prompts": prompts},
        )

    async def _open_window(self, shortcut: Interaction) -> None:
        person = self._people(shortcut.user.id)
        window = question_window(shortcut, self._me, self._people, phrases(person.language if person else None))
        await self._call("views.open", {"trigger_id": shortcut.trigger_id, "view": window})

    def _phrases(self, user: str) -> tuple[tuple[str, str], ...]:
        person = self._people(user)
        return phrases(person.language if person else None).prompts

    async def _call(self, method: str, parameters: Mapping[str, JsonValue]) -> None:
        try:
            await self._client.call(method, parameters)
        except ChannelError as error:
            log.info("%s: %s", method, error.reason)
