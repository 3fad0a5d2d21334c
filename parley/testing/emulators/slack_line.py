"""Delivery of events to the app: each to one connection, repeated until acknowledged, kept while there is none."""

import asyncio
import itertools
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from pydantic import JsonValue

from parley.testing.emulators.control import Changes, Faults
from parley.testing.emulators.slack_wire import Json

DeliveryKind = Literal["events_api", "slash_commands", "interactive"]
KEPT_FOR_REDELIVERY = 2000
MOST_RETRIES = 3


@dataclass(eq=False)
class Delivery:
    """One payload in delivery; only events are ever repeated."""

    kind: DeliveryKind
    payload: JsonValue
    on_ack: Callable[[Json], None] | None = None
    """Receives the content of the app's acknowledgement."""
    on_loss: Callable[[str], None] | None = None
    """Receives Slack's reason if the app did not acknowledge."""
    attempt: int = 0
    reason: str = ""
    since: float = 0.0
    envelope_id: str = ""
    timer: asyncio.TimerHandle | None = None

    def again(self) -> "Delivery":
        """Return the same event for a retry."""
        return Delivery(self.kind, self.payload, attempt=1, reason="timeout")

    def envelope(self) -> Json:
        about: Json = {
            "envelope_id": self.envelope_id,
            "payload": self.payload,
            "type": self.kind,
            "accepts_response_payload": self.kind != "events_api",
        }
        if self.kind == "events_api":
            about.update(retry_attempt=self.attempt, retry_reason=self.reason)
        return about


class Carrier(Protocol):
    """Socket Mode or signed HTTP."""

    timeout_reason: str

    def carry(self, delivery: Delivery) -> bool:
        """Send it; return False if there is no connection."""


@dataclass(eq=False)
class EventLine:
    faults: Faults
    changes: Changes
    clock: Callable[[], float]
    carrier: Carrier
    ack_timeout: float = 3.0
    """Seconds in which the app must acknowledge."""
    retry_delays: tuple[float, float, float] = (0.0, 60.0, 300.0)
    """Seconds before the first, second and third retry, as documented by Slack."""
    kept_seconds: float = 420.0
    """Seconds for which events are kept while no socket is open."""
    forgetful: bool = False
    """True to lose events while no socket is open, as in a longer outage."""
    open: dict[int, Delivery] = field(default_factory=dict)
    """Deliveries by `id()` that are neither acknowledged nor given up."""
    lost: list[Delivery] = field(default_factory=list)
    """Deliveries that were never acknowledged."""
    _sent: dict[str, Delivery] = field(default_factory=dict)
    _waiting: deque[Delivery] = field(default_factory=deque)
    _held_back: list[Delivery] = field(default_factory=list)
    _confirmed: deque[Delivery] = field(default_factory=lambda: deque(maxlen=KEPT_FOR_REDELIVERY))

    def push(self, delivery: Delivery) -> None:
        """Deliver a payload, subject to faults for events."""
        delivery.since = self.clock()
        self.open[id(delivery)] = delivery
        if self.faults.reordering:
            self.faults.reordering -= 1
            self._held_back.append(delivery)
            if self.faults.reordering:
                return
            ready, self._held_back = self._held_back[::-1], []
        else:
            ready = [delivery]
        for each in ready:
            self._send(each)
            if each.kind == "events_api" and self.faults.duplicates:
                self.faults.duplicates -= 1
                self._push_again(each)

    def redeliver(self, count: int) -> None:
        for each in list(self._confirmed)[-count:]:
            self._push_again(each)

    def flush(self) -> None:
        """Send payloads that waited for a connection, unless they waited too long."""
        waiting = [*self._waiting]
        self._waiting.clear()
        for each in waiting:
            if self.clock() - each.since > self.kept_seconds:
                self._lose(each, "timeout")
            else:
                self._send(each)

    def acknowledge(self, envelope_id: str, answer: Json) -> None:
        """Handle an acknowledgement; one after the time-out has no effect."""
        delivery = self._sent.pop(envelope_id, None)
        if delivery is not None:
            self._stop_timer(delivery)
            self._close(delivery)
            if delivery.kind == "events_api":
                self._confirmed.append(delivery)
            if delivery.on_ack is not None:
                delivery.on_ack(answer)
            self.changes.notify()

    def fail(self, envelope_id: str, reason: str, *, retry: bool = True) -> None:
        """Handle a failed or refused delivery."""
        delivery = self._sent.pop(envelope_id, None)
        if delivery is None:
            return
        self._stop_timer(delivery)
        if delivery.kind != "events_api":
            self._lose(delivery, "operation_timeout" if "timeout" in reason else "dispatch_failed")
        elif not retry or delivery.attempt >= MOST_RETRIES:
            self._lose(delivery, reason)
        else:
            delay = self.retry_delays[delivery.attempt]
            delivery.attempt, delivery.reason = delivery.attempt + 1, reason
            delivery.timer = asyncio.get_running_loop().call_later(delay, self._send, delivery)

    def expire(self) -> None:
        """Let the time for all unacknowledged deliveries run out."""
        for envelope_id in [*self._sent]:
            self.fail(envelope_id, self.carrier.timeout_reason)

    def close(self) -> None:
        for each in self.open.values():
            self._stop_timer(each)
        self.open.clear()

    def _push_again(self, delivery: Delivery) -> None:
        copy = delivery.again()
        copy.since = self.clock()
        self.open[id(copy)] = copy
        self._send(copy)

    def _send(self, delivery: Delivery) -> None:
        delivery.envelope_id = str(uuid.uuid4())
        if self.carrier.carry(delivery):
            self._sent[delivery.envelope_id] = delivery
            delivery.timer = asyncio.get_running_loop().call_later(
                self.ack_timeout, self.fail, delivery.envelope_id, self.carrier.timeout_reason
            )
        elif delivery.kind != "events_api":
            self._lose(delivery, "dispatch_failed")
        elif self.forgetful:
            self._lose(delivery, "connection_failed")
        else:
            self._waiting.append(delivery)

    def _lose(self, delivery: Delivery, why: str) -> None:
        self._close(delivery)
        self.lost.append(delivery)
        if delivery.on_loss is not None:
            delivery.on_loss(why)
        self.changes.notify()

    def _close(self, delivery: Delivery) -> None:
        self.open.pop(id(delivery), None)

    def _stop_timer(self, delivery: Delivery) -> None:
        if delivery.timer is not None:
            delivery.timer.cancel()


def counted(prefix: str) -> Callable[[], str]:
    """Return ids such as `Ev0000000001`."""
    numbers = itertools.count(1)
    return lambda: f"{prefix}{next(numbers):010d}"
