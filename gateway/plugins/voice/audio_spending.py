"""Calls of servers that transcribe or speak: each attempt is reserved before it is made, and settled after it."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from msgspec import Struct

from agent_core.clock import Clock
from gateway.permissions.budgets import Budgets
from gateway.permissions.room import Lack
from gateway.plugins.voice.audio import AudioFailed, AudioServer
from gateway.settings.current import CurrentSettings
from gateway.store.budget import Payer, Spent
from gateway.store.spending import State
from gateway.texts.amounts import USD

T = TypeVar("T")
TRIES = 3
PAUSE = 1.0
"""Seconds before the second attempt; twice as long before the third."""
TOKENS_A_MINUTE = 1_000
TOKENS_A_CHARACTER = 2
"""More tokens than a minute of a recording, or a spoken character, has where models count tokens."""
_MILLION = 1_000_000


class NoRoom(Exception):
    """A budget has no room for the call."""


class AudioCall(Struct, frozen=True):
    """A call that is about to be made, and what it may cost."""

    payer: Payer
    server: AudioServer
    most: Spent


class AudioSpending:
    """Charges the budgets for recordings that are transcribed, and for answers that are spoken."""

    def __init__(self, budgets: Budgets, current: CurrentSettings, clock: Clock) -> None:
        self._budgets = budgets
        self._current = current
        self._clock = clock

    def of_recording(self, server: AudioServer, seconds: float) -> Spent:
        """Return what it costs to transcribe a recording. It counts no tokens, as servers tell none."""
        unknown = self._current.now.budgets.unknown_price * TOKENS_A_MINUTE / _MILLION
        return Spent(0, _billionths((unknown if server.price is None else server.price) * seconds / 60))

    def of_speech(self, server: AudioServer, words: str, tokens: int) -> Spent:
        """Return what it costs to speak these words, which have so many tokens."""
        price = self._current.now.budgets.unknown_price * TOKENS_A_CHARACTER if server.price is None else server.price
        return Spent(tokens, _billionths(price * len(words) / _MILLION))

    async def made(self, call: AudioCall, work: Callable[[], Awaitable[T]], spent_by: Callable[[T], Spent | None]) -> T:
        """Make a call, again after failures that may pass. Raises AudioFailed and NoRoom.

        Args:
            call: What is charged, and to whom.
            work: Makes one attempt. Raises AudioFailed.
            spent_by: Returns what a successful attempt has cost; None if that is unknown.
        """
        for tried in range(1, TRIES):
            try:
                return await self._attempt(call, work, spent_by)
            except AudioFailed as error:
                if not error.is_passing:
                    raise
                await self._clock.sleep(PAUSE * tried)
        return await self._attempt(call, work, spent_by)

    async def _attempt(
        self, call: AudioCall, work: Callable[[], Awaitable[T]], spent_by: Callable[[T], Spent | None]
    ) -> T:
        """Make one attempt. One whose outcome is unknown counts in full, as an estimate."""
        model = call.server.model
        charged = await self._budgets.reserve(call.payer, model, call.most)
        if isinstance(charged, Lack):
            raise NoRoom
        spent: Spent | None = None
        try:
            made = await work()
            spent = spent_by(made)
        except AudioFailed as error:
            spent = Spent() if error.is_free else None
            raise
        finally:
            state: State = "estimate" if spent is None else "settled"
            self._budgets.settle(charged, model, charged.spent if spent is None else spent, state)
        return made


def _billionths(dollars: float) -> int:
    return round(dollars * USD)
