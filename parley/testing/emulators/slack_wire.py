"""Common types of the Slack emulator: JSON, errors, message timestamps."""

from collections.abc import Mapping

from pydantic import JsonValue

Json = dict[str, JsonValue]


class SlackError(Exception):
    """An error of the Web API: `{"ok": false, "error": ...}` with further `details`."""

    def __init__(self, error: str, details: Mapping[str, JsonValue] | None = None) -> None:
        super().__init__(error)
        self.error = error
        self.details = dict(details or {})


class RateLimited(SlackError):
    """Response with status 429 and Retry-After in whole seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__("ratelimited")
        self.retry_after = retry_after


def micros(ts: str) -> int:
    """Return a message timestamp as a sortable number; whole seconds are accepted. Raises SlackError."""
    seconds, _, fraction = ts.partition(".")
    if not (seconds + fraction).isdecimal():
        raise SlackError("invalid_ts_latest")
    return int(seconds) * 1_000_000 + int(fraction.ljust(6, "0")[:6] or 0)
