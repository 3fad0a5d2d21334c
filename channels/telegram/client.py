"""The Bot API through python-telegram-bot's Bot: any method, raw results, and every failure as a ChannelError.

Raw results, because building the SDK's objects costs more than the call, and one update that it does not understand
would take its whole batch along.
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

from channels.base import AccountRefused, ChannelError, MessageGone
from channels.telegram.config import Config
from channels.telegram.request import AiohttpRequest, Flooded, Unanswered

WRONG_TOKEN = "Telegram refuses the bot token; copy it again from @BotFather into TELEGRAM_BOT_TOKEN"  # noqa: S105
_GONE = (
    "message to edit not found",
    "message to delete not found",
    "message can't be edited",
    "message can't be deleted",
    "message_id_invalid",
)

Parameters = Mapping[str, JsonValue | InputFile]


class Polled(ChannelError):
    """Another poller or a webhook takes the updates: Telegram's 409."""


class Moved(ChannelError):
    """The group has become a supergroup with another id."""

    def __init__(self, chat_id: int) -> None:
        super().__init__(f"the group is now {chat_id}")
        self.chat_id = chat_id


class NotModified(ChannelError):
    """The message reads so already."""


class CaptionOnly(ChannelError):
    """The message is a file, whose words are its caption."""


class BadEntities(ChannelError):
    """Telegram does not accept the formatting."""


class Client(Bot):
    """One bot's connection. The long poll has a request object of its own: the SDK sends getUpdates there."""

    def __init__(self, config: Config) -> None:
        base = config.base_url.rstrip("/")
        super().__init__(
            config.bot_token.get_secret_value(),
            base_url=f"{base}/bot",
            base_file_url=f"{base}/file/bot",
            request=AiohttpRequest(),
            get_updates_request=AiohttpRequest(connections=2),
        )

    async def call(self, method: str, parameters: Parameters, *, seconds: float | None = None) -> JsonValue:
        """One call; `seconds` limits the wait for its answer. Raises ChannelError."""
        timeout = self.request.read_timeout if seconds is None else seconds
        try:
            result: JsonValue = await self._post(method, dict(parameters), read_timeout=timeout)
        except TelegramError as error:
            raise translate(error) from error
        return result

    async def fetch(self, path: str, *, seconds: float) -> bytes:
        """A file that getFile told of. Raises ChannelError."""
        try:
            return await self.request.retrieve(f"{self.base_file_url}/{path}", read_timeout=seconds)
        except TelegramError as error:
            raise translate(error) from error

    async def close_connections(self) -> None:
        for request in self._request:
            await request.shutdown()


def translate(error: TelegramError) -> ChannelError:
    """What a failure of the SDK means to the house."""
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
    """Telegram tells the kinds of 400 apart only in words."""
    words = reason.lower()
    if "message is not modified" in words:
        return NotModified(reason)
    if "entities" in words or "entity" in words:
        return BadEntities(reason)
    if "there is no text in the message" in words:
        return CaptionOnly(reason)
    if any(gone in words for gone in _GONE):
        return MessageGone(reason)
    return ChannelError(reason, permanent=True)
