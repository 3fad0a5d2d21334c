"""The Bot API through python-telegram-bot's Bot: takes any method, returns raw results, raises ChannelErrors.

Results stay raw because building the SDK's objects costs more than the call itself, and because one update that the SDK
cannot parse would discard its whole batch.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

import aiohttp
from msgspec import Struct
from pydantic import JsonValue
from pydantic_core import from_json

from channels.backoff import Cooldowns
from channels.base import AccountRefused, ChannelError, EditsRefused, MessageGone
from channels.reach import Reach
from channels.telegram.config import Config
from channels.telegram.sdk import (
    BadRequest,
    BaseRequest,
    Bot,
    ChatMigrated,
    Conflict,
    Forbidden,
    InputFile,
    InputMediaAudio,
    InputMediaDocument,
    InputMediaPhoto,
    InvalidToken,
    NetworkError,
    RequestData,
    TelegramError,
)

CONNECT_SECONDS = 5.0
READ_SECONDS = 20.0
UPLOAD_SECONDS = 120.0
_JSON = {"Content-Type": "application/json"}
Timeout = object
"""Seconds, None for no limit, or the SDK's DEFAULT_NONE."""
WRONG_TOKEN = "Telegram rejects the bot token; copy it again from @BotFather into TELEGRAM_BOT_TOKEN"  # noqa: S105
NO_REACTIONS = "this chat does not allow that reaction; an admin of it can allow it: the group's settings, Reactions"
_UPLOADS = frozenset({"sendPhoto", "sendVoice", "sendAudio", "sendDocument", "sendMediaGroup"})
"""The methods with files."""
Media = InputMediaAudio | InputMediaDocument | InputMediaPhoto
Parameters = Mapping[str, JsonValue | InputFile | Sequence[Media]]


class Unreachable(NetworkError):
    """No connection was made, so nothing was sent."""


class Unanswered(NetworkError):
    """The connection broke or timed out after the request may have been sent."""


class Flooded(TelegramError):
    """Telegram's rate limit. Replaces the SDK's RetryAfter, which issues a deprecation warning when created."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"Too many requests; again in {seconds} s")
        self.seconds = seconds


class AiohttpRequest(BaseRequest):
    """HTTP client that opens its session with the first request, so it can be created outside of an event loop."""

    def __init__(self, *, connections: int = 0) -> None:
        """`connections` limits concurrent connections; 0 means no limit."""
        self._connections = connections
        self._session: aiohttp.ClientSession | None = None

    @property
    def read_timeout(self) -> float | None:
        return READ_SECONDS

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        """Parse a response; for one that a proxy sends instead of Telegram, the SDK would log a traceback."""
        try:
            answer = _decoded(payload)
        except ValueError as error:
            raise TelegramError("the response is not JSON") from error
        if not isinstance(answer, dict):
            raise TelegramError("the response is not a JSON object")
        return answer

    async def initialize(self) -> None:
        """Do nothing; the session opens with the first request."""

    async def shutdown(self) -> None:
        if self._session is not None:
            session, self._session = self._session, None
            await session.close()

    async def do_request(  # noqa: PLR0917 (the SDK's signature)
        self,
        url: str,
        method: str,
        request_data: RequestData | None = None,
        read_timeout: Timeout = BaseRequest.DEFAULT_NONE,
        write_timeout: Timeout = BaseRequest.DEFAULT_NONE,
        connect_timeout: Timeout = BaseRequest.DEFAULT_NONE,
        pool_timeout: Timeout = BaseRequest.DEFAULT_NONE,
    ) -> tuple[int, bytes]:
        body, headers = _body(request_data)
        upload = request_data is not None and request_data.contains_files
        read = _seconds(read_timeout, READ_SECONDS)
        write = _seconds(write_timeout, UPLOAD_SECONDS) if upload else 0
        timeout = aiohttp.ClientTimeout(
            total=None if read is None or write is None else read + write + CONNECT_SECONDS,
            sock_connect=_seconds(connect_timeout, CONNECT_SECONDS),
        )
        try:
            async with self._opened().request(method, url, data=body, headers=headers, timeout=timeout) as response:
                payload = await response.read()
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise Unreachable(_reason(error)) from error
        except TimeoutError as error:
            raise Unanswered("no answer in time") from error
        except aiohttp.ClientError as error:
            raise Unanswered(_reason(error)) from error
        if response.status == HTTPStatus.TOO_MANY_REQUESTS:
            raise Flooded(_retry_after(payload, response.headers.get("Retry-After", "")))
        return response.status, payload

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._connections),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"User-Agent": self.USER_AGENT},
            )
        return self._session


def _decoded(payload: bytes) -> object:
    """Return the JSON in a response. Raises ValueError."""
    try:
        return from_json(payload)
    except ValueError:  # half of a pair of surrogates, or no JSON
        return json.loads(payload)


def _reason(error: aiohttp.ClientError) -> str:
    """Describe an error without its message, which may contain the address and so the token."""
    return f"no connection to Telegram ({type(error).__name__})"


def _seconds(given: Timeout, default: float) -> float | None:
    if given is None or isinstance(given, int | float):
        return given
    return default


def _body(request_data: RequestData | None) -> tuple[bytes | aiohttp.FormData | None, dict[str, str] | None]:
    if request_data is None:
        return None, None
    if not request_data.contains_files:
        return json.dumps(request_data.parameters).encode(), _JSON
    form = aiohttp.FormData(quote_fields=False)
    for name, value in request_data.json_parameters.items():
        form.add_field(name, value)
    for name, (filename, content, mime_type) in request_data.multipart_data.items():
        form.add_field(name, content, filename=filename, content_type=mime_type)
    return form, None


def _retry_after(payload: bytes, header: str) -> float:
    """Return the wait from the body, or from the header if a proxy answered instead of Telegram."""
    try:
        said = json.loads(payload)["parameters"]["retry_after"]
    except (ValueError, LookupError, TypeError):
        said = header
    try:
        return max(float(said), 0.0)
    except ValueError:
        return 1.0


class _Plain(Struct, frozen=True):
    """Parameters that are JSON, in place of a RequestData with an object for each."""

    parameters: Mapping[str, object]
    contains_files = False


class Polled(ChannelError):
    """Another poller or a webhook receives the updates: Telegram's 409."""


class Moved(ChannelError):
    """The group has become a supergroup with another id."""

    def __init__(self, chat_id: int) -> None:
        super().__init__(f"the group is now {chat_id}")
        self.chat_id = chat_id


class UnknownMethod(ChannelError):
    """The server is older than this method."""


class NotModified(ChannelError):
    """The message already has this content."""


class ThreadGone(ChannelError):
    """The topic no longer exists."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, permanent=True)


class CaptionOnly(ChannelError):
    """The message is a file, so its text is a caption."""


class BadEntities(ChannelError):
    """Telegram rejected the formatting of a message."""


class Client(Bot):
    """Connections of one bot. The long poll has a request object of its own, to which the SDK sends getUpdates."""

    def __init__(self, config: Config) -> None:
        base = config.base_url.rstrip("/")
        self._calls, self._polls = AiohttpRequest(), AiohttpRequest(connections=2)
        super().__init__(
            config.bot_token.get_secret_value(),
            base_url=f"{base}/bot",
            base_file_url=f"{base}/file/bot",
            request=self._calls,
            get_updates_request=self._polls,
        )
        self._reach = Reach()
        self._cooldowns = Cooldowns()

    @property
    def reach(self) -> Reach:
        """Notes each call; a refusal is an answer."""
        return self._reach

    async def call(self, method: str, parameters: Parameters, *, seconds: float | None = None) -> JsonValue:
        """Make one call; `seconds` limits the wait for its response. Raises ChannelError."""
        timeout = READ_SECONDS if seconds is None else seconds
        with self._cooldowns.call(_rate_limit_key(method, parameters)):
            try:
                result: JsonValue = await self._made(method, parameters, timeout)
            except TelegramError as error:
                self._note(error)
                raise translate(error) from error
        self._reach.answered()
        return result

    async def _made(self, method: str, parameters: Parameters, seconds: float | None) -> Any:
        """Make a call, by the SDK if files go with it. Raises TelegramError."""
        if method in _UPLOADS:
            return await self._post(method, dict(parameters), read_timeout=seconds)
        request = self._polls if method == "getUpdates" else self._calls
        plain: Any = _Plain({name: value for name, value in parameters.items() if value is not None})
        return await request.post(f"{self.base_url}/{method}", plain, read_timeout=seconds)

    async def fetch(self, path: str, *, seconds: float) -> bytes:
        """Return the content of a file at a path from getFile. Raises ChannelError."""
        try:
            return await self.request.retrieve(f"{self.base_file_url}/{path}", read_timeout=seconds)
        except TelegramError as error:
            raise translate(error) from error

    def _note(self, error: TelegramError) -> None:
        if isinstance(error, Unreachable | Unanswered):
            self._reach.failed()
        else:
            self._reach.answered()

    async def close_connections(self) -> None:
        for request in self._request:
            await request.shutdown()


def _rate_limit_key(method: str, parameters: Parameters) -> str:
    """Return the key by which Telegram counts a call: messages and edits by chat, all others by method and chat."""
    is_message = method.startswith(("send", "edit")) and method not in ("sendChatAction", "sendMessageDraft")
    return f"{'message' if is_message else method} {parameters.get('chat_id', '')}"


def translate(error: TelegramError) -> ChannelError:
    """Translate an exception of the SDK into a ChannelError."""
    reason = error.message
    match error:
        case Flooded(seconds=seconds):
            translated = ChannelError(reason, retry_after=seconds)
        case InvalidToken() if "method not found" in reason.lower():  # a 404, as for a token that is none
            translated = UnknownMethod(reason, permanent=True)
        case InvalidToken():
            translated = AccountRefused(WRONG_TOKEN)
        case ChatMigrated(new_chat_id=chat_id):
            translated = Moved(chat_id)
        case Conflict():
            translated = Polled(reason)
        case BadRequest():
            translated = _refused(reason)
        case _:
            gone = isinstance(error, Forbidden) or "too large" in reason.lower()
            translated = ChannelError(reason, permanent=gone, ambiguous=isinstance(error, Unanswered))
    return translated


def _refused(reason: str) -> ChannelError:
    """Translate a response with status 400, whose kinds differ only in their description."""
    words = reason.lower()
    for signs, kind in _REFUSALS:
        if any(sign in words for sign in signs):
            return kind(reason)
    return ChannelError(NO_REACTIONS if "reaction_invalid" in words else reason, permanent=True)


_REFUSALS: tuple[tuple[tuple[str, ...], Callable[[str], ChannelError]], ...] = (
    (("message thread not found", "topic_deleted", "topic_id_invalid"), ThreadGone),
    (("message is not modified",), NotModified),
    (("entities", "entity"), BadEntities),
    (("there is no text in the message",), CaptionOnly),
    (
        (
            "message to edit not found",
            "message to delete not found",
            "message can't be deleted",
            "message_id_invalid",
        ),
        MessageGone,
    ),
    (("message can't be edited",), EditsRefused),
)
"""Words of a description, and what they mean; the first that fit count."""
