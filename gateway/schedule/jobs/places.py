"""Limits concurrent job runs and shares the places fairly among users."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Places:
    """A limiter. The next place goes to the user with the fewest runs, and among those to the longest waiting one."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._at_work: Counter[str] = Counter()
        """Running, by user."""
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def of(self, person: str) -> AsyncIterator[None]:
        """Wait for a place and hold it."""
        turn = person, asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._let_in()
        try:
            await turn[1]
            yield
        finally:
            if turn in self._waiting:
                self._waiting.remove(turn)
            else:
                self._at_work[person] -= 1
            self._let_in()

    def _let_in(self) -> None:
        while self._waiting and self._at_work.total() < self._most:
            turn = min(self._waiting, key=lambda each: self._at_work[each[0]])
            self._waiting.remove(turn)
            person, future = turn
            self._at_work[person] += 1
            if not future.done():  # otherwise its task is being cancelled and gives the place back
                future.set_result(None)
