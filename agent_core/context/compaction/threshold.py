"""When a conversation is compacted, and to what size."""

from dataclasses import dataclass

from agent_core.events import CompactionReason

COMPACT_AT = 0.80
"""Fraction of the window at which compaction is due."""
SKILLS_UP_TO = 0.90
KEEP = 20_000
"""Tokens of recent messages that are kept; at most a quarter of the window."""
LONGEST_SUMMARY = 1_024
"""Tokens; at most an eighth of the window."""
AROUND_SUMMARY = 1_000
"""Tokens of the instructions for a summary."""
MOST_WRONG = 4.0
"""Upper bound of the correction for low estimates; a server that reports more counts something else."""


@dataclass(frozen=True)
class Window:
    """The window of a model, in tokens as its server counts them."""

    tokens: int
    answer: int
    """Kept free for the answer."""

    def is_too_full(self, used: int) -> bool:
        """Return True if a request of `used` tokens is to be compacted first."""
        return used > COMPACT_AT * self.tokens or used + self.answer > self.tokens


@dataclass(frozen=True)
class Size:
    """The size of the next request before a compaction."""

    tokens: int
    by: float
    """Tokens as the server counts them, per estimated token."""
    held: int
    """Tokens of the last request that a server took in which truncated it; 0 if none did."""
    prefix: int
    """Estimated tokens of prompt and tools."""


@dataclass(frozen=True)
class Room:
    """Token budget of a compaction, in estimated tokens."""

    keep: int
    """Recent messages that are kept unchanged."""
    target: int
    """Intended size of the next request."""
    limit: int
    """Maximum size of the next request."""
    prefix: int
    """Prompt and tools, which are part of every request."""
    summary: int
    """Maximum size of a summary."""
    telling: int
    """Maximum input of the model that makes the summary."""
    worthwhile: int
    """Minimum size of old turns for which a summary is worth a model call."""


def room_for(reason: CompactionReason, window: Window, size: Size, *, wanted: int) -> Room:
    """Return the token budget of a compaction; the target is at most half of the window.

    The target is lower if the server counted more than estimated, or took in less than it was sent, or if a skill needs
    room. A manual compaction keeps less.

    Args:
        wanted: Tokens that a skill needs, 0 if none does.
    """
    keep, target = min(KEEP, window.tokens // 4), window.tokens // 2
    if reason == "overflow":
        target = min(target, size.tokens // 2, 3 * size.held // 4 or target)
    if reason == "manual":
        keep = min(keep, size.tokens // 4)
    if wanted:
        target = min(target, int(window.tokens * SKILLS_UP_TO) - wanted)
    summary = min(LONGEST_SUMMARY, window.tokens // 8)
    return Room(
        keep=int(min(keep, target // 2) / size.by),
        target=int(target / size.by),
        limit=int((window.tokens - window.answer) / size.by),
        prefix=size.prefix,
        summary=summary,
        # Minus its answer and the earlier summary.
        telling=int((window.tokens - 2 * summary) / size.by) - AROUND_SUMMARY,
        worthwhile=window.tokens // 16 if reason == "threshold" else 1,
    )
