"""Who may speak: one decision for every kind of event, made before anything is stored."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

import structlog

from agent_core.clock import Clock
from channels.base import Addressed, Channel, ChatKey, InboundEvent, MessageReceived, Sender

NOTICE_EVERY = 3600.0
"""Seconds between two notices about the same stranger."""
MOST_NOTICED = 1_000
"""Strangers whose last notice is remembered; whoever opens accounts without end must not fill our memory."""

log = structlog.get_logger(__name__)


class Decision(StrEnum):
    ALLOWED = "allowed"
    REFUSED = "refused"
    IGNORED = "ignored"


@dataclass(frozen=True)
class People:
    """Who is known: `platform:id` each."""

    owners: frozenset[str]
    allow: frozenset[str]

    def on(self, platform: str) -> list[str]:
        """The ids of those on one platform, owners first."""
        named = [*sorted(self.owners), *sorted(self.allow - self.owners)]
        return [person for name, _, person in (each.partition(":") for each in named) if name == platform]


class Access:
    """Decides by the platform's stable ids, never by names. Empty lists mean nobody, except where the channel can be
    reached from this machine only: whoever speaks there owns it."""

    def __init__(
        self,
        people: People,
        channels: Iterable[Channel],
        spoken_in: Iterable[str],
        clock: Clock,
        console: Callable[[str], None],
    ) -> None:
        """`console` shows a line to whoever started Parley."""
        self._people = people
        self._channels = {channel.name: channel for channel in channels}
        self._spoken_in = set(spoken_in)
        self._clock = clock
        self._console = console
        self._noticed: dict[str, float] = {}
        """Strangers of the last hour and when they were noticed, oldest first."""

    def authorize(self, event: InboundEvent) -> Decision:
        """Whether to take the event in. Talk in a group that does not name us is for us only in a thread of which we
        are already a part."""
        if event.sender.is_bot:
            return Decision.IGNORED
        if not self.may_speak(event.chat, event.sender):
            if event.addressed is not Addressed.AMBIENT:
                self._notice(event)
            return Decision.REFUSED
        ambient = event.addressed is Addressed.AMBIENT and isinstance(event, MessageReceived)
        if ambient and not (event.chat.thread is not None and str(event.chat) in self._spoken_in):
            return Decision.IGNORED
        return Decision.ALLOWED

    def may_speak(self, chat: ChatKey, sender: Sender) -> bool:
        return self.is_owner(chat, sender) or f"{chat.platform}:{sender.id}" in self._people.allow

    def is_owner(self, chat: ChatKey, sender: Sender) -> bool:
        local = chat.platform in self._channels and self._channels[chat.platform].limits.is_local
        return local or f"{chat.platform}:{sender.id}" in self._people.owners

    def spoke(self, chat: ChatKey) -> None:
        """We have said something there."""
        if chat.thread is not None:
            self._spoken_in.add(str(chat))

    def _notice(self, event: InboundEvent) -> None:
        """Tell the console what to paste, at most once an hour for each stranger; the chat hears nothing."""
        who = f"{event.chat.platform}:{event.sender.id}"
        now = self._clock.monotonic()
        while self._noticed and now - next(iter(self._noticed.values())) >= NOTICE_EVERY:
            del self._noticed[next(iter(self._noticed))]
        if who in self._noticed:
            return
        self._noticed[who] = now
        if len(self._noticed) > MOST_NOTICED:
            del self._noticed[next(iter(self._noticed))]
        known = sorted({*self._people.allow, who})
        line = ", ".join(f'"{person}"' for person in known)
        log.warning("an unknown person wrote", who=who)
        self._console(f"To let them in, put this into parley.toml; where a list is there, add to it:\nallow = [{line}]")
        if self._people.allow:  # a line in parley.toml does nothing beside one in .env
            self._console(f"or, where they stand in .env, this one:\nPARLEY_ALLOW={','.join(known)}")
