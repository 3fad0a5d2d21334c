"""Counts of the messages that are sent."""

from collections import Counter

from channels.base import ChannelError
from gateway.store.rows import Post


class DeliveryTally:
    """Counts what becomes of the messages that are sent since the program started, by platform."""

    def __init__(self) -> None:
        self.deliveries: Counter[tuple[str, str]] = Counter()
        """Messages by outcome: sent, edited, removed, failed, unconfirmed or kept."""
        self.retries: Counter[str] = Counter()
        """Calls that failed and are repeated."""
        self.rate_limits: Counter[str] = Counter()
        """Calls that the platform refused with a wait."""

    def done(self, post: Post) -> None:
        how = "removed" if post.is_removal else "sent" if post.message_id is None else "edited"
        self.ended(post, how)

    def ended(self, post: Post, outcome: str) -> None:
        self.deliveries[post.chat.platform, outcome] += 1

    def refused(self, post: Post, error: ChannelError) -> None:
        """Count a call that the platform refused, if it asks for a wait."""
        if error.retry_after is not None:
            self.rate_limits[post.chat.platform] += 1

    def repeated(self, post: Post) -> None:
        self.retries[post.chat.platform] += 1
