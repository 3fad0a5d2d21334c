"""The Bot API through python-telegram-bot's Bot: takes any method, returns raw results, raises ChannelErrors.

Results stay raw because building the SDK's objects costs more than the call itself, and because one update that the SDK
cannot parse would discard its whole batch.
"""

from collections.abc import Mapping

from pydantic import JsonValue
from telegram import Bot, InputFile
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    TelegramError,
)

from channels.base import AccountRefused, ChannelError, EditsRefused, MessageGone
from channels.holds import Holds
from channels.telegram.config import Config
from channels.telegram.request import AiohttpRequest, Flooded, Unanswered

WRONG_TOKEN = "Telegram refuses the bot token; copy it again from @BotFather into TELEGRAM_BOT_TOKEN"  # noqa: S105
_GONE = (
    "message to edit not found",
    "message to delete not found",
    "message can't be deleted",
    "message_id_invalid",
)

Parameters = Mapping[str, JsonValue | InputFile]


class Polled(ChannelError):
    """Another poller or a webhook receives the updates: Telegram's 409."""


class Moved(ChannelError):
    """The group has become a supergroup with another id."""

    def __init__(self, chat_id: int) -> None:
        super().__init__(f"the group is now {chat_id}")
        self.chat_id = chat_id


class NotModified(ChannelError):
    """The message already has this content."""


class CaptionOnly(ChannelError):
    """The message is a file, so its text is a caption."""


class BadEntities(ChannelError):
    """Telegram rejected the formatting of a message."""


class Client(Bot):
    """Connections of one bot. The long poll has a request object of its own, to which the SDK sends getUpdates."""

    def __init__(self, config: Config) -> None:
        base = config.base_url.rstrip("/")
        super().__init__(
            config.bot_token.get_secret_value(),
            base_url=f"{base}/bot",
            base_file_url=f"{base}/file/bot",
            request=AiohttpRequest(),
            get_updates_request=AiohttpRequest(connections=2),
        )
        self._holds = Holds()

    async def call(self, method: str, parameters: Parameters, *, seconds: float | None = None) -> JsonValue:
        """Make one call; `seconds` limits the wait for its response. Raises ChannelError."""
        timeout = self.request.read_timeout if seconds is None else seconds
        with self._holds.kept(_counted(method, parameters)):
            try:
                result: JsonValue = await self._post(method, dict(parameters), read_timeout=timeout)
            except TelegramError as error:
                raise translate(error) from error
        return result

    async def fetch(self, path: str, *, seconds: float) -> bytes:
        """Return the content of a file at a path from getFile. Raises ChannelError."""
        try:
            return await self.request.retrieve(f"{self.base_file_url}/{path}", read_timeout=seconds)
        except TelegramError as error:
            raise translate(error) from error

    async def close_connections(self) -> None:
        for request in self._request:
            await request.shutdown()


def _counted(method: str, parameters: Parameters) -> str:
    """Return the key by which Telegram counts a call: messages and edits by chat, all others by method and chat."""
    is_message = method.startswith(("send", "edit")) and method != "sendChatAction"
    return f"{'message' if is_message else method} {parameters.get('chat_id', '')}"


def translate(error: TelegramError) -> ChannelError:
    """Translate an exception of the SDK into a ChannelError."""
    reason = error.message
    match error:
        case Flooded(seconds=seconds):
            meaning = ChannelError(reason, retry_after=seconds)
        case InvalidToken():
            meaning = AccountRefused(WRONG_TOKEN)
        case ChatMigrated(new_chat_id=chat_id):
            meaning = Moved(chat_id)
        case Conflict():
            meaning = Polled(reason)
        case BadRequest():
            meaning = _refused(reason)
        case _:
            gone = isinstance(error, Forbidden) or "too large" in reason.lower()
            meaning = ChannelError(reason, permanent=gone, ambiguous=isinstance(error, Unanswered))
    return meaning


def _refused(reason: str) -> ChannelError:
    """Translate a response with status 400, whose kinds differ only in their description."""
    words = reason.lower()
    if "message is not modified" in words:
        return NotModified(reason)
    if "entities" in words or "entity" in words:
        return BadEntities(reason)
    if "there is no text in the message" in words:
        return CaptionOnly(reason)
    if any(gone in words for gone in _GONE):
        return MessageGone(reason)
    if "message can't be edited" in words:
        return EditsRefused(reason)
    return ChannelError(reason, permanent=True)
