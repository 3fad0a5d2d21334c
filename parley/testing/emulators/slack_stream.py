"""A message that is being streamed: how long Slack keeps the stream open, and why it refuses more of it."""

from dataclasses import dataclass

IDLE_SECONDS = 30.0
"""Seconds without a part after which Slack closes a stream. Undocumented; others report five minutes."""
TOTAL_SECONDS = 300.0
"""Seconds after its begin at which Slack closes a stream, as those who use it report."""
NOT_STREAMING = "message_not_in_streaming_state"


@dataclass
class Stream:
    """The stream of one message. Times are those of the emulator's clock."""

    began: float
    seen: float
    """Time of the last part."""
    idle: float
    total: float
    is_plan: bool
    """True if tasks are shown together in a plan, not each as a card."""
    ended: bool = False
    stopped_by_user: bool = False

    def refusal(self, now: float) -> str:
        """Return the error with which Slack refuses a part of it; empty while it is open."""
        if self.stopped_by_user:
            return "stopped_by_user"
        return "" if self.is_open(now) else NOT_STREAMING

    def is_open(self, now: float) -> bool:
        return not (self.ended or self.stopped_by_user or self._is_over(now))

    def is_broken(self, now: float) -> bool:
        """Return True if Slack closed it, which leaves an error mark on the message for good."""
        return not (self.ended or self.stopped_by_user) and self._is_over(now)

    def _is_over(self, now: float) -> bool:
        return now - self.seen > self.idle or now - self.began > self.total
