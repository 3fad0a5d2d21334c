"""Queues of messages for a running agent: steering redirects it, follow-ups arrive when it would stop."""

import asyncio
from collections import deque
from typing import Literal

from agent_core.messages import AgentMessage

DrainMode = Literal["one-at-a-time", "all"]


class MessageQueues:
    """The steering and follow-up queues; the modes say whether a drain takes one message or all."""

    def __init__(self, steering_mode: DrainMode = "one-at-a-time", follow_up_mode: DrainMode = "one-at-a-time") -> None:
        self._steering: deque[AgentMessage] = deque()
        self._follow_up: deque[AgentMessage] = deque()
        self._steering_mode = steering_mode
        self._follow_up_mode = follow_up_mode
        self._steered = asyncio.Event()

    def steer(self, message: AgentMessage) -> None:
        """Queue a message behind those that were said before it; they may have arrived in another order."""
        later = sum(queued.created_at > message.created_at for queued in self._steering)
        self._steering.insert(len(self._steering) - later, message)
        self._steered.set()

    def follow_up(self, message: AgentMessage) -> None:
        self._follow_up.append(message)

    @property
    def has_steering(self) -> bool:
        return bool(self._steering)

    async def wait_for_steering(self) -> None:
        """Wait until there is a steering message."""
        while not self._steering:
            self._steered.clear()
            await self._steered.wait()

    def drain_steering(self) -> list[AgentMessage]:
        return _drain(self._steering, self._steering_mode)

    def drain_follow_up(self) -> list[AgentMessage]:
        return _drain(self._follow_up, self._follow_up_mode)

    def peek(self) -> tuple[list[AgentMessage], list[AgentMessage]]:
        """Return the queued messages, steering first, without removing them."""
        return list(self._steering), list(self._follow_up)

    def replace(self, message: AgentMessage) -> None:
        """Replace the queued message with the same id; does nothing if there is none."""
        for queue in (self._steering, self._follow_up):
            for index, waiting in enumerate(queue):
                if waiting.id == message.id:
                    queue[index] = message

    def clear_steering(self) -> None:
        self._steering.clear()

    def clear_follow_up(self) -> None:
        self._follow_up.clear()

    def __bool__(self) -> bool:
        return bool(self._steering or self._follow_up)


def _drain(queue: deque[AgentMessage], mode: DrainMode) -> list[AgentMessage]:
    if mode == "all":
        taken = list(queue)
        queue.clear()
        return taken
    return [queue.popleft()] if queue else []
