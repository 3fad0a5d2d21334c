"""The words that all parts of the Slack emulator share: JSON, errors, message times."""

from collections.abc import Mapping

from pydantic import JsonValue

Json = dict[str, JsonValue]


class SlackError(Exception):
    """An error in the Web API's words: `{"ok": false, "error": ...}`; `details` stand beside it."""

    def __init__(self, error: str, details: Mapping[str, JsonValue] | None = None) -> None:
        super().__init__(error)
        self.error = error
        self.details = dict(details or {})


class RateLimited(SlackError):
    """Answered with HTTP 429 and Retry-After (whole seconds)."""

    def __init__(self, retry_after: int) -> None:
        super().__init__("ratelimited")
        self.retry_after = retry_after


def micros(ts: str) -> int:
    """A message time as a number that sorts; whole seconds are taken too. SlackError for anything else."""
    seconds, _, fraction = ts.partition(".")
    if not (seconds + fraction).isdecimal():
        raise SlackError("invalid_ts_latest")
    return int(seconds) * 1_000_000 + int(fraction.ljust(6, "0")[:6] or 0)
