"""Keeps what people say of answers, by buttons or by reactions."""

import asyncio
from collections.abc import Mapping

from agent_core.background import Background
from agent_core.clock import Clock
from channels.base import ChatKey, ReactionAdded, ReactionRemoved, Sender
from gateway.chat.replies import Answer
from gateway.commands.command import Invocation
from gateway.plugins.feedback.table import Feedback, Rating
from gateway.store.store import Store

SAYS: Mapping[str, bool] = {"👍": True, "👎": False}
"""Reactions that praise or blame an answer."""


class Ratings:
    """Keeps one rating of each person for each run: the last one counts."""

    def __init__(self, rows: Feedback, store: Store, clock: Clock) -> None:
        self._rows = rows
        self._store = store
        self._clock = clock
        self._tasks = Background("a rating was not kept")
        self._in_turn = asyncio.Lock()

    async def praised(self, given: Invocation) -> Answer:
        """Keep that the answer was good. Returns no reply."""
        await self._pressed(given, is_good=True)
        return None

    async def blamed(self, given: Invocation) -> Answer:
        """Keep that the answer was bad. Returns no reply."""
        await self._pressed(given, is_good=False)
        return None

    def reacted(self, event: ReactionAdded | ReactionRemoved) -> None:
        """Keep or drop what a reaction says of an answer, if it says something."""
        if (is_good := SAYS.get(event.emoji)) is not None:
            self._tasks.start(self._reacted(event, is_good=is_good))

    async def close(self) -> None:
        """Wait until all is kept."""
        await self._tasks.join()

    async def _pressed(self, given: Invocation, *, is_good: bool) -> None:
        run = await self._store.run_records.find(given.arguments.strip(), given.chat)
        if run is not None:
            await self._rows.keep(self._rating(run.run, given.chat, given.sender, is_good=is_good))

    async def _reacted(self, event: ReactionAdded | ReactionRemoved, *, is_good: bool) -> None:
        async with self._in_turn:  # a reaction is kept before it is taken back
            post = await self._store.outbox.current(event.chat, event.message_id)
            if post is None or not post.key.startswith(f"{post.run}:answer:"):
                return
            rating = self._rating(post.run, event.chat, event.sender, is_good=is_good)
            await (self._rows.keep(rating) if isinstance(event, ReactionAdded) else self._rows.take_back(rating))

    def _rating(self, run: str, chat: ChatKey, sender: Sender, *, is_good: bool) -> Rating:
        return Rating(run, chat, sender.id, is_good, self._clock.time())
