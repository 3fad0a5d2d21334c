"""Rate limit on runs per user, and the limits on a user's waiting messages, commands and edits. Linked accounts are one
user.

Messages over the rate wait, and later ones join the turn that waits. Commands and buttons that cost a run count too
(`/compact`, `/cron run`, `/cron test`, `/heartbeat now`, Continue, Try again); those that begin no turn of the chat are
refused, with the seconds to wait. Not counted are owners, messages sent while Parley was not listening, and scheduled
runs, whose concurrency is limited instead (`gateway/schedule/jobs/firings.py`). Background tasks belong to the run that
begins them and are limited by `gateway/runs/tasks/workers.py`; the report of one counts as a run of its user.

An edit holds its chat back until it is known what it changes, so those of one user are limited as runs are. One beyond
that only changes a message that still waits. Commands are limited by the replies that the platform has not taken yet,
behind which answers to others stand in line.
"""

import math
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from agent_core.clock import Clock
from channels.base import ChatKey, InboundEvent, MessageReceived, OutboundMessage, Sender
from channels.text import literal
from gateway.permissions.access import Access
from gateway.permissions.roles import without_workspace
from gateway.store.rows import InboxItem
from gateway.texts.say import Language, say

BURST = 10
PER_SECOND = 10 / 60
ROUNDING = 1e-6
REMEMBERED = 10_000
"""Most users tracked. Beyond that the oldest are dropped, which only resets their limit."""
MOST_WAITING = 200
"""Most messages of one user that may wait; further ones are refused, each quoted."""
MOST_COMMANDS = 10
"""Most commands of one user in a chat whose replies are still to be delivered; further ones are refused."""
LONGEST_QUOTE = 80
"""Characters of a refused message that are quoted."""


class _Bucket(Struct):
    tokens: float
    filled_at: float


class Pace:
    """Token bucket per user; a token is one run."""

    def __init__(self, access: Access, clock: Clock) -> None:
        self.waiting: Counter[str] = Counter()
        """Number of messages waiting for a run, by account."""
        self._access = access
        self._clock = clock
        self._began = clock.time()
        self._listening_since: dict[str, float] = {}
        self._runs: dict[str, _Bucket] = {}
        self._edits: dict[str, _Bucket] = {}

    def listens(self, platform: str) -> None:
        """Record that a platform is connected from now on; older messages from it do not count."""
        self._listening_since[platform] = self._clock.time()

    def is_full(self, chat: ChatKey, sender: Sender) -> bool:
        """Return True if the user has as many messages waiting as allowed."""
        if self.waiting.total() < MOST_WAITING:
            return False
        return sum(self.waiting[each] for each in self._access.ids(chat, sender)) >= MOST_WAITING

    def turn_wait(self, items: Sequence[InboxItem]) -> float:
        """Return the seconds until these messages may begin a run together; 0 also takes a token.

        Those count that were sent after Parley began to listen, by the platform's time of sending.
        """
        for event in (item.event for item in items):
            if event.at >= self._listening_since.get(event.chat.platform, self._began):
                return self.run_wait(event.chat, event.sender)
        return 0.0

    def run_wait(self, chat: ChatKey, sender: Sender) -> float:
        """Return the seconds until the user may cause a run in the chat; 0 also takes a token."""
        if self._access.is_owner(chat, sender):
            return 0.0
        return self._taken(self._runs, self._access.person(chat, sender))

    def may_hold_by_edit(self, chat: ChatKey, sender: Sender) -> bool:
        """Return True, and count it, if an edit of the user may hold back the chat."""
        return not self._taken(self._edits, self._access.person(chat, sender))

    def _taken(self, buckets: dict[str, _Bucket], person: str) -> float:
        """Return the seconds until a user's bucket has a token; 0 also takes it."""
        now = self._clock.monotonic()
        bucket = buckets.setdefault(person, _Bucket(BURST, now))
        bucket.tokens = min(BURST, bucket.tokens + (now - bucket.filled_at) * PER_SECOND)
        bucket.filled_at = now
        if len(buckets) > REMEMBERED:
            del buckets[next(iter(buckets))]
        if bucket.tokens >= 1 - ROUNDING:
            bucket.tokens -= 1
            return 0.0
        return math.ceil((1 - bucket.tokens) / PER_SECOND)


def account_of(chat: ChatKey, sender: Sender) -> str:
    """Return the sender's account as `platform:id`, which is the same whatever accounts are linked."""
    return without_workspace(sender.id) if ":" in sender.id else f"{chat.platform}:{sender.id}"


def refusal(items: Sequence[InboxItem], language: Language) -> OutboundMessage:
    """Return the reply to the first of these messages that refuses all of them, quoting each."""
    key = "too_many_waiting" if len(items) == 1 else "too_many_waiting_more"
    names = [f"> {literal(quoted(item.event))}  " for item in items]
    text = "\n".join([say(key, language, most=MOST_WAITING, count=len(items)), "", *names])
    first = items[0].event
    replied = first.message_id if isinstance(first, MessageReceived) else None
    return OutboundMessage(markdown=text, reply_to=replied)


def refusal_of_commands(items: Sequence[InboxItem], language: Language) -> OutboundMessage:
    """Return the reply to commands of one person that refuses all of them."""
    return OutboundMessage(markdown=say("too_many_commands", language, most=MOST_COMMANDS, count=len(items)))


def quoted(event: InboundEvent) -> str:
    """Return the first words of a message, and the names of its files."""
    if not isinstance(event, MessageReceived):
        return ""
    files = [f"[{file.safe_name}]" for file in event.attachments]
    return " ".join(filter(None, (first_words(event.words), *files)))


def first_words(text: str) -> str:
    """Return the beginning of a text in one line."""
    words = " ".join(text.split())
    return words if len(words) <= LONGEST_QUOTE else f"{words[:LONGEST_QUOTE]}..."
