"""Slack's streamed message: the answer grows in it, and tool calls stand above it as the tasks of a plan.

What was appended cannot be taken back, so only settled words are. A stream cannot forbid link previews, for which Slack
fetches an address, and that may tell what the answer contains: so words up to the first address are streamed, and the
rest comes with an edit, at which Slack makes no previews. Slack ends a stream by itself, with an error mark
that stays, after half a minute without a part or after five minutes; a stream ends before that.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from typing import Protocol

from msgspec import Struct
from pydantic import JsonValue

from channels.base import AccountRefused, ChannelError, ChatKey, MessageGone, OutboundMessage, Posted
from channels.slack import plan, render
from channels.slack.client import Client
from channels.slack.errors import StoppedByReader, StreamOver
from channels.slack.interactions import Phrases
from channels.slack.mentions import without_mentions
from channels.slack.settled import ADDRESS, settled
from channels.streams import Live, StreamEnded
from channels.values import CallRow

log = logging.getLogger(__name__)

QUIET = 20.0
"""Seconds without a part after which the stream is kept open, or ended if there is nothing to say."""
LONGEST = 270.0
"""Seconds after which a stream is ended."""
MOST_THINKING = 10.0
"""Seconds without words and calls after which a message with a button to stop is shown instead."""
MOST_WAIT = 3.0
"""Seconds for which words behind an address wait; afterwards the message is edited, so that they are seen to grow."""
NO_ROOM = 1.0
"""Seconds until a part is tried again for which the rate limit left no room."""
MOST_WORDS = render.MAX_TEXT * 3 // 4
"""Characters of the answer that are streamed. The end of a longer one comes with the message that it becomes."""
Json = dict[str, JsonValue]


class _News(Struct, frozen=True):
    """A change that is not on the screen yet."""

    chunks: list[JsonValue]
    above: str
    """The part of `written` that the model said before it called tools, which is no part of the answer."""
    written: str
    """The Markdown that is on the screen afterwards."""
    tasks: Mapping[str, Json]
    title: str


class Owner(Protocol):
    """Is told of the course of a stream."""

    def begun(self, stream: "SlackStream", posted: Posted) -> None:
        """The message is on the screen."""

    def unconfirmed(self) -> None:
        """The message may be on the screen, although Slack did not confirm it."""

    def refused(self, chat: ChatKey, error: ChannelError) -> None:
        """Slack did not let it begin."""

    def stopped(self, posted: Posted) -> None:
        """A reader pressed Slack's own button to stop it."""

    def ended(self, posted: Posted) -> None:
        """The stream takes nothing more."""


class SlackStream:
    """The streamed message of one run. Implements `Stream`."""

    is_message = True

    def __init__(
        self,
        client: Client,
        chat: ChatKey,
        recipient: Mapping[str, JsonValue],
        phrases: Phrases,
        owner: Owner,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.posted: Posted | None = None
        self._client = client
        self._chat = chat
        self._recipient = recipient
        self._phrases = phrases
        self._owner = owner
        self._now = now
        self._above = self._written = ""
        self._calls_before = 0
        """Number of calls when the words below `_above` began."""
        self._goes_before_calls = False
        """True if tools were called after these words, so that others will follow them."""
        self._tasks: Mapping[str, Json] = {}
        self._title = ""
        self._since: dict[str, float] = {}
        """When each call that runs was seen first."""
        self._waits_since: float | None = None
        """Since when there are words behind an address."""
        self._ended = ""
        """Why it takes nothing more; empty while it does."""
        self._made = self._began = self._seen = now()
        self._turn = asyncio.Lock()
        self._keeper: asyncio.Task[None] | None = None

    def has_news(self, live: Live) -> bool:
        """See `Stream.has_news`."""
        news = self._news(live)
        return bool(self._ended) or news is None or bool(news.chunks) or bool(self._halt(live, news))

    async def show(self, live: Live) -> None:
        """See `Stream.show`."""
        async with self._turn:
            if self._ended:
                raise StreamEnded(self._ended)
            news = self._news(live)
            if news is None:
                raise StreamEnded("what it shows was replaced")
            if why := self._halt(live, news):
                raise StreamEnded(why)
            if not news.chunks:
                return
            if self.posted is None:
                await self._begin(news)
            else:
                await self._append(news.chunks)
            self._note(news, live)

    async def become(self, message: OutboundMessage, key: str) -> bool:
        """End as this message, if it is what the stream shows and more; else end, for the message to be edited.

        Returns False if it must be edited. Raises ChannelError.
        """
        async with self._turn:
            if self._ended:
                return False
            rest = self._rest(message)
            if rest is None:
                await self._stop({})
                return False
            blocks = render.actions(message.buttons)
            return await self._stop(
                {**({"chunks": rest} if rest else {}), "blocks": blocks, "metadata": render.metadata(key)}
            )

    async def end(self, why: str) -> None:
        """End it as it is. Failures are logged: whoever edits the message next ends it first."""
        async with self._turn:
            if not self._ended:
                try:
                    await self._stop({})
                except ChannelError as error:
                    log.info("stream not ended chat=%s: %s", self._chat, error.reason)
                    self._over(why)

    async def close(self) -> None:
        """Keep it open no longer."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait([self._keeper])

    def _news(self, live: Live) -> _News | None:
        """Return what is to be appended; None if what is on the screen is no longer true."""
        if len(live.calls) > plan.MOST_TASKS or not self._tasks.keys() <= {call.id for call in live.calls}:
            return None
        above = self._above
        if not without_mentions(live.words).startswith(self._written[len(above) :]):
            if not (self._goes_before_calls or len(live.calls) > self._calls_before):
                return None
            above = f"{self._written}\n\n"
        grown = without_mentions(settled(_before_addresses(live.words[: max(0, MOST_WORDS - len(above))])))
        written = above + grown if grown and (above + grown).startswith(self._written) else self._written
        title = self._title_of(live) if live.calls or live.note or self._title else ""
        chunks, tasks = self._changes(live.calls, title)
        if written != self._written:
            chunks.append({"type": "markdown_text", "text": written[len(self._written) :]})
        return _News(chunks, above, written, tasks, title)

    def _halt(self, live: Live, news: _News) -> str:
        """Return why an edited message shows more than the stream can; empty if it does not."""
        if self.posted is None and not news.chunks and self._now() - self._made > MOST_THINKING:
            return "a message has a button to stop"
        if not ADDRESS.search(live.words):
            self._waits_since = None
        elif self._waits_since is None:
            self._waits_since = self._now()
        elif self._now() - self._waits_since > MOST_WAIT:
            return "words wait behind an address"
        return ""

    def _note(self, news: _News, live: Live) -> None:
        """Remember what is on the screen now."""
        has_words = len(news.written) > len(news.above)
        if news.above != self._above or len(self._written) <= len(self._above):  # they begin now, or later
            self._calls_before, self._goes_before_calls = len(live.calls), False
        if has_words:
            self._goes_before_calls |= any(call.state in ("running", "waiting") for call in live.calls)
        self._above, self._written, self._tasks, self._title = news.above, news.written, news.tasks, news.title

    def _title_of(self, live: Live) -> str:
        """Return the title of the plan: what goes on, and for how long."""
        running = [call.id for call in live.calls if call.state in ("running", "waiting")]
        self._since = {call: self._since.get(call, self._now()) for call in running}
        if live.note or (live.words and live.calls and not running):
            return live.note or plan.title(live.calls, self._phrases)
        title = plan.title(live.calls, self._phrases) if running else self._phrases.working
        seconds = self._now() - (self._since[running[-1]] if running else self._made)
        return f"{title} ({seconds:.0f} s)" if seconds >= 1 else title

    def _changes(self, calls: tuple[CallRow, ...], title: str) -> tuple[list[JsonValue], Mapping[str, Json]]:
        tasks = {call.id: plan.update(call) for call in calls}
        chunks: list[JsonValue] = [plan.title_update(title)] if title != self._title else []
        chunks += [task for call, task in tasks.items() if task != self._tasks.get(call)]
        return chunks, tasks

    def _rest(self, message: OutboundMessage) -> list[JsonValue] | None:
        """Return the parts that are missing to this message; None if it shows something else."""
        shown = render.body(message, self._phrases)
        written = render.written(message)
        calls = {call.id for call in message.calls}
        rest = written[len(self._written) :]
        same = written.startswith(self._written) and not ADDRESS.search(rest) and len(calls) <= plan.MOST_TASKS
        if (
            not same
            or render.has_block(shown, render.NOT_STREAMED)
            or not self._tasks.keys() <= calls
            or (self._title and not calls)
        ):
            return None
        chunks, _ = self._changes(message.calls, plan.title(message.calls, self._phrases) if calls else "")
        if rest:
            chunks.append({"type": "markdown_text", "text": rest})
        return chunks

    async def _begin(self, news: _News) -> None:
        thread: Json = {"thread_ts": self._chat.thread} if self._chat.thread is not None else {}
        mode: Json = {"chunks": news.chunks, "task_display_mode": "plan"}
        try:
            answer = await self._client.call(
                "chat.startStream", {"channel": self._chat.chat, **thread, **self._recipient, **mode}
            )
        except ChannelError as error:
            if error.ambiguous:
                self._owner.unconfirmed()
            if error.ambiguous or isinstance(error, AccountRefused):
                raise
            self._owner.refused(self._chat, error)
            raise self._over(error.reason) from error  # also for a wait: an edited message need not wait
        ts = str(answer.get("ts"))
        self.posted = Posted(chat=self._chat, message_id=ts, at=float(ts))
        self._began = self._seen = self._now()
        self._keeper = asyncio.create_task(self._keep(), name=f"slack stream {ts}")
        self._owner.begun(self, self.posted)

    async def _append(self, chunks: list[JsonValue]) -> None:
        """Add a part, if Slack's rate limit leaves room for it now: the answer would wait behind it. Raises
        ChannelError."""
        try:
            is_added = await self._client.offer("chat.appendStream", {**self._where, "chunks": chunks})
        except StoppedByReader as error:
            if self.posted is not None:
                self._owner.stopped(self.posted)
            raise self._over(error.reason) from error
        except (AccountRefused, MessageGone) as error:
            self._over(error.reason)
            raise
        except ChannelError as error:
            if error.permanent or error.ambiguous:  # of a part that may have arrived nobody knows what is on the screen
                raise self._over(error.reason) from error
            raise
        if not is_added:
            raise ChannelError("Slack takes no more parts for now", retry_after=NO_ROOM)
        self._seen = self._now()

    async def _stop(self, how: Json) -> bool:
        """Stop the stream. Returns False if what was to be added may be missing. Raises ChannelError to be repeated."""
        try:
            await self._client.call("chat.stopStream", {**self._where, **how})
        except (AccountRefused, MessageGone) as error:
            self._over(error.reason)
            raise
        except ChannelError as error:
            if not (error.permanent or error.ambiguous):
                raise
            if not isinstance(error, StreamOver):
                log.info("stream not ended as wanted chat=%s: %s", self._chat, error.reason)
            self._over(error.reason)
            return False
        self._over("it has ended")
        return True

    def _over(self, why: str) -> StreamEnded:
        self._ended = self._ended or why
        if self.posted is not None:
            self._owner.ended(self.posted)
        if self._keeper is not None and self._keeper is not asyncio.current_task():
            self._keeper.cancel()
        return StreamEnded(why)

    async def _keep(self) -> None:
        """Keep the stream open while tools run, and end it before Slack does."""
        while not self._ended:
            due = min(self._seen + QUIET, self._began + LONGEST)
            if (left := due - self._now()) > 0:
                await asyncio.sleep(left)
            elif self._now() >= self._began + LONGEST or not self._title:
                await self.end("it has lasted long enough")
            elif not await self._renew():
                await self.end("it could not be kept open")

    async def _renew(self) -> bool:
        """Add something for Slack to keep the stream open. Returns False if that failed."""
        async with self._turn:
            try:
                await self._append([plan.title_update(self._title)])
            except ChannelError as error:
                log.info("stream not kept open chat=%s: %s", self._chat, error.reason)
                return False
        return True

    @property
    def _where(self) -> Json:
        return {"channel": self._chat.chat, "ts": self.posted.message_id if self.posted else ""}


def _before_addresses(markdown: str) -> str:
    found = ADDRESS.search(markdown)
    return markdown if found is None else markdown[: found.start()]
