"""The share of a platform's limit for all chats that each of several processes keeps to."""

from dataclasses import dataclass
from itertools import count
from random import Random

import pytest

from channels.base import ChatKey
from channels.limits import Limits
from channels.memory import MemoryChannel
from gateway.delivery.limiter import ChatLimiter
from gateway.delivery.sending import SendsAlways
from tests.clock import FakeClock

PER_SECOND = 30.0
ROUNDING = 1e-6


@dataclass
class Crowd(SendsAlways):
    """One of several processes that send."""

    processes: int = 1


class Platform:
    """A platform that takes a burst of calls and then a steady stream, from all processes together."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.sending = Crowd()
        self.limiters = [self._limiter()]
        self.room = PER_SECOND
        """The calls that it would still take now; a process that joins brings its share of the burst along."""
        self._chats = map(str, count())

    def _limiter(self) -> ChatLimiter:
        limits = Limits(max_text=100, calls_per_second=PER_SECOND)
        return ChatLimiter(MemoryChannel(limits=limits), self.clock, self.sending)

    def join(self) -> None:
        self.sending.processes += 1
        self.limiters.append(self._limiter())
        self._look()
        self._make_room(max(1.0, PER_SECOND / self.sending.processes))

    def leave(self, number: int) -> None:
        del self.limiters[number]
        self.sending.processes -= 1
        self._look()

    def wait(self, seconds: float) -> None:
        self.clock.now += seconds
        self._make_room(seconds * PER_SECOND)

    def calls(self, limiter: ChatLimiter) -> bool:
        """Make a call if the process may."""
        chat = ChatKey(platform="memory", account="here", chat=next(self._chats))
        if limiter.delay(chat) > 0:
            return False
        limiter.take(chat)
        self.room -= 1
        return True

    def _look(self) -> None:
        """Let each process see its share, which it does whenever it has something to send."""
        for limiter in self.limiters:
            limiter.queue()

    def _make_room(self, calls: float) -> None:
        self.room = min(self.room + calls, max(PER_SECOND, self.sending.processes))


@pytest.mark.parametrize("seed", range(20))
def test_processes_that_come_and_go_never_exceed_the_limit_together(seed: int) -> None:
    random, platform = Random(seed), Platform()  # noqa: S311
    for _ in range(400):
        what = random.random()
        if what < 0.03:
            platform.join()
        elif what < 0.05 and len(platform.limiters) > 1:
            platform.leave(random.randrange(len(platform.limiters)))
        elif what < 0.3:
            platform.wait(random.random() / 5)
        limiter = random.choice(platform.limiters)
        while random.random() < 0.8 and platform.calls(limiter):
            pass
        assert platform.room > -ROUNDING


@pytest.mark.parametrize("processes", [1, 7, 30, 200])
def test_together_they_use_the_whole_limit_and_each_gets_its_share(processes: int) -> None:
    platform = Platform()
    while len(platform.limiters) < processes:
        platform.join()
    made = [0] * processes
    for _ in range(100):
        platform.wait(0.2)
        for number, limiter in enumerate(platform.limiters):
            while platform.calls(limiter):
                made[number] += 1

    assert sum(made) >= 20 * PER_SECOND
    assert min(made) >= 0.7 * 20 * PER_SECOND / processes


@pytest.mark.parametrize("processes", [1, 7, 30, 200])
def test_what_may_be_dropped_is_sent_by_a_process_that_rests_however_many_there_are(processes: int) -> None:
    platform = Platform()
    while len(platform.limiters) < processes:
        platform.join()
    platform.wait(60.0)
    chat = ChatKey(platform="memory", account="here", chat="ann")

    assert platform.limiters[0].delay(chat, keep=1) == 0
