"""Translation of Web API failures into exceptions, in one table for all methods."""

from http import HTTPStatus
from typing import NamedTuple

from channels.base import AccountRefused, ChannelError, EditsRefused, MessageGone
from channels.slack.config import APPS

_ANEW = f"copy the Bot User OAuth Token again from {APPS}, your app, OAuth & Permissions, into SLACK_BOT_TOKEN"
_APP_ANEW = f"make a new one at {APPS}, your app, Basic Information, App-Level Tokens, and put it into SLACK_APP_TOKEN"
DEFAULT_WAIT = 5.0
"""Wait in seconds for a 429 response without Retry-After, as proxies send it."""


class MissingScope(ChannelError):
    """The app lacks a scope."""

    def __init__(self, method: str, needed: str) -> None:
        super().__init__(
            f"Slack does not allow the app to call {method}: it lacks the scope {needed or '(unnamed)'}; add it at"
            f" {APPS}, your app, OAuth & Permissions, then reinstall the app",
            permanent=True,
        )


class BadBlocks(ChannelError):
    """Slack rejected the formatting of a message."""


class Nothing(ChannelError):
    """The requested state exists already, such as a reaction that is already added or removed."""


class OnlyHere(ChannelError):
    """Slack refused this thread or this message; others in the channel may be accepted."""


class NotOffered(ChannelError):
    """Slack does not offer a method to this app."""


class StillStreaming(ChannelError):
    """The message cannot be edited while it is being streamed."""


class StreamOver(ChannelError):
    """The stream takes nothing more: it has ended, or Slack has closed it."""


class StoppedByReader(StreamOver):
    """A reader pressed Slack's own button to stop the stream."""


class Failure(NamedTuple):
    """A failed call of the Web API."""

    method: str
    error: str
    """Slack's error code; empty if the response did not come from Slack."""
    status: int
    retry_after: float | None = None
    needed: str = ""


_TOKEN = frozenset(
    (
        "not_allowed_token_type",
        "invalid_auth",
        "not_authed",
        "token_revoked",
        "token_expired",
        "account_inactive",
        "user_removed_from_team",
    )
)
_GONE = frozenset(("message_not_found", "cant_delete_message"))
_FIXED = frozenset(("cant_update_message", "edit_window_closed"))
_BLOCKS = frozenset(("invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long"))
_ONLY_HERE = frozenset(
    ("thread_not_found", "cannot_reply_to_message", "restricted_action_thread_locked", "msg_too_long")
)
_NOT_OFFERED = frozenset(("not_authorized", "unknown_method", "feature_disabled", "method_deprecated"))
_SLOWER = frozenset(("ratelimited", "rate_limited"))
_ALREADY = frozenset(("already_reacted", "no_reaction"))
_STREAMS: dict[str, type[ChannelError]] = {
    "streaming_state_conflict": StillStreaming,
    "message_not_in_streaming_state": StreamOver,
    "stopped_by_user": StoppedByReader,
}
_LATER = frozenset(("internal_error", "service_unavailable", "team_added_to_org", "accesslimited"))
_UNKNOWN_OUTCOME = frozenset(("fatal_error", "request_timeout", "file_update_failed"))
_KINDS: tuple[tuple[frozenset[str], type[ChannelError]], ...] = (
    (_BLOCKS, BadBlocks),
    (_ALREADY, Nothing),
    (_ONLY_HERE, OnlyHere),
    (_NOT_OFFERED, NotOffered),
)
_WORDS = {
    "is_archived": "the channel is archived",
    "not_in_channel": "Parley is not in the channel: invite it there (/invite)",
    "channel_not_found": "there is no such channel, or Parley is not in it",
    "thread_not_found": "the thread no longer exists",
    "cannot_reply_to_message": "that message cannot be replied to",
    "restricted_action": "the workspace does not allow Parley to write there",
    "restricted_action_read_only_channel": "the workspace does not allow Parley to write there",
    "restricted_action_thread_locked": "the thread is locked",
    "restricted_action_thread_only_channel": "that channel only allows messages in threads",
    "messages_tab_disabled": f"the app does not accept direct messages: turn on its Messages Tab at {APPS}, App Home",
    "msg_too_long": "the message is too long for Slack",
}


def error_for(failure: Failure) -> ChannelError:
    """Return the exception for a failed call."""
    error, method = failure.error, failure.method
    if failure.status == HTTPStatus.TOO_MANY_REQUESTS or error in _SLOWER:
        wait = DEFAULT_WAIT if failure.retry_after is None else failure.retry_after
        return ChannelError(f"Slack asks to wait {wait:g} s with {method}", retry_after=wait)
    if not error or error in _UNKNOWN_OUTCOME:
        # Slack may have done it before a proxy in front of its servers failed.
        return ChannelError(f"{method}: {error or f'HTTP {failure.status}'}", ambiguous=True)
    if error in _LATER:
        return ChannelError(f"{method}: {error}")
    return _final(failure)


def _final(failure: Failure) -> ChannelError:
    """Return the exception for a call that Slack understood and refused."""
    error, method = failure.error, failure.method
    if error in _TOKEN:
        return AccountRefused(_refused(method, error))
    if error == "missing_scope":
        return MissingScope(method, failure.needed)
    if error in _GONE:
        return MessageGone(f"{method}: {error}")
    if error in _FIXED:
        return EditsRefused(f"{method}: {error}")
    if error in _STREAMS:
        return _STREAMS[error](f"{method}: {error}", permanent=True)
    kind = next((kind for codes, kind in _KINDS if error in codes), ChannelError)
    return kind(_WORDS.get(error, f"{method}: {error}"), permanent=True)


def _refused(method: str, error: str) -> str:
    if method == "apps.connections.open":
        return f"Slack rejects the app-level token ({error}); {_APP_ANEW}"
    if error == "account_inactive":
        return f"Slack rejects the bot token (account_inactive): the app was removed; install it again, then {_ANEW}"
    return f"Slack rejects the bot token ({error}); {_ANEW}"
