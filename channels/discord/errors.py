"""Translation of Discord's failures into exceptions with readable messages, in one table."""

from collections.abc import Mapping
from http import HTTPStatus

import aiohttp
from discord import HTTPException, LoginFailure, RateLimited

from channels.base import AccountRefused, ChannelError, MessageGone
from channels.discord.config import PORTAL, TOKEN_PAGE

WRONG_TOKEN = f"Discord rejects the bot token; copy it again into DISCORD_BOT_TOKEN: {TOKEN_PAGE}"
NO_CONTENT_INTENT = (
    "Discord does not let the bot read messages: turn on the Message Content Intent"
    f" ({PORTAL}, your application, Bot, Privileged Gateway Intents), save, and start Parley again"
)
BLOCKED_SECONDS = 5.0
"""Wait in seconds after a block that does not state its length."""
_TOO_MANY = "Discord has blocked this address for a while: too many calls"

UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, UNKNOWN_WEBHOOK, UNKNOWN_INTERACTION = 10003, 10008, 10015, 10062
NO_ACCESS, NO_PERMISSION, BAD_INTERACTION_TOKEN = 50001, 50013, 50027
THREAD_EXISTS, ALREADY_ANSWERED, TOO_LARGE, CANNOT_REPLY = 160004, 40060, 40005, 160002
TOO_OLD, INVALID_BODY = 30046, 50035
UNKNOWN_EMOJI = 10014
UNKNOWN_MEMBER, UNKNOWN_USER = 10007, 10013
ENOUGH_FOLLOW_UPS = 40094
"""The bot is not in the place of an interaction, and has answered as often as it may."""
GONE = {
    UNKNOWN_MESSAGE: "the message no longer exists",
    TOO_OLD: "the message is too old to be edited",
    50005: "the message is not the bot's own",
}
REASONS = {
    UNKNOWN_CHANNEL: "the channel or thread no longer exists",
    10004: "the bot is no longer in that server",
    NO_ACCESS: "the bot can no longer see that channel: it was removed from the server, or lacks View Channels",
    50007: "this user does not accept direct messages from the bot",
    NO_PERMISSION: "the bot lacks a permission in that channel",
    50083: "the thread is archived",
    160005: "the thread is locked",
    TOO_LARGE: "the file is too large for Discord",
}
"""Messages for refusals that a retry does not change, by error code."""


class Refused(ChannelError):
    """A refusal by Discord; `code` is its error code, or 0."""

    def __init__(self, reason: str, code: int, status: int) -> None:
        super().__init__(reason, permanent=True)
        self.code = code
        self.status = status


class Revoked(AccountRefused):
    """The token is no longer valid. Further calls with it would count towards a ban of this address."""

    def __init__(self) -> None:
        super().__init__(WRONG_TOKEN)


class Blocked(ChannelError):
    """A block of all calls, not of one: a 429 by Cloudflare, whose body is a web page."""


def translate(error: Exception, needs: str = "", *, edits: bool = False) -> ChannelError:
    """Translate an exception of the SDK. `needs` names the permissions that the call needs, for the message of a
    permission error; `edits` is True if the call edits a message."""
    match error:
        case LoginFailure():
            return Revoked()
        case RateLimited(retry_after=seconds):
            return ChannelError("Discord's rate limit", retry_after=seconds)
        case HTTPException():
            return _answered(error, needs)
        case KeyError(args=("retry_after",)):  # the SDK expects it in every 429; that of an edit too late has none
            return MessageGone(GONE[TOO_OLD]) if edits else Blocked(_TOO_MANY, retry_after=BLOCKED_SECONDS)
        case aiohttp.ClientConnectorError() | aiohttp.ConnectionTimeoutError():
            return ChannelError(f"Discord cannot be reached: {error}")
        case _:
            return ChannelError(f"Discord did not answer: {error or type(error).__name__}", ambiguous=True)


def _answered(error: HTTPException, needs: str) -> ChannelError:
    code, status = error.code, error.status
    if code in GONE:
        return MessageGone(GONE[code])
    if status == HTTPStatus.UNAUTHORIZED and code != BAD_INTERACTION_TOKEN:
        return Revoked()
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return _blocked(error)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return ChannelError(f"Discord server error: HTTP {status}", ambiguous=True)
    reason = REASONS.get(code, f"{error.text} ({code or status})")
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        reason = REASONS[TOO_LARGE]
    if code == NO_PERMISSION and needs:
        reason = f"{reason}: give its role {needs} there"
    return Refused(reason, code, status)


def _blocked(error: HTTPException) -> ChannelError:
    headers: Mapping[str, str] = error.response.headers
    try:
        seconds = float(headers.get("Retry-After", BLOCKED_SECONDS))
    except ValueError:
        seconds = BLOCKED_SECONDS
    return Blocked(_TOO_MANY, retry_after=seconds)
