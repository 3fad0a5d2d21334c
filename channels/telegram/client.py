"""The Bot API over aiohttp: takes any method, returns raw results, raises ChannelErrors.

Results stay raw because one update with an odd part must not discard its whole batch.
"""

import json
import mimetypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus

import aiohttp
from pydantic import JsonValue
from pydantic_core import from_json

from channels.backoff import Cooldowns
from channels.base import AccountRefused, ChannelError, EditsRefused, MessageGone
from channels.reach import Reach
from channels.telegram.config import Config

CONNECT_SECONDS = 5.0
READ_SECONDS = 20.0
UPLOAD_SECONDS = 120.0
_JSON = {"Content-Type": "application/json"}
WRONG_TOKEN = "Telegram rejects the bot token; copy it again from @BotFather into TELEGRAM_BOT_TOKEN"  # noqa: S105
NO_REACTIONS = "this chat does not allow that reaction; an admin of it can allow it: the group's settings, Reactions"


@dataclass(frozen=True)
class Upload:
    """A file that goes with a call; `attach://` and the name of its parameter refer to it."""

    name: str
    content: bytes

    @property
    def mime_type(self) -> str:
        return mimetypes.guess_type(self.name, strict=False)[0] or "application/octet-stream"


Parameters = Mapping[str, JsonValue | Upload]


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


class _Connections:
    """Connections that open with the first request, so that these can be made outside of an event loop."""

    def __init__(self, most: int) -> None:
        """`most` limits them; 0 means no limit."""
        self._most = most
        self._session: aiohttp.ClientSession | None = None

    @property
    def session(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=self._most)
            self._session = aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())
        return self._session

    async def close(self) -> None:
        if self._session is not None:
            session, self._session = self._session, None
            await session.close()


class Client:
    """Calls in the name of one bot. The long poll has connections of its own."""

    def __init__(self, config: Config) -> None:
        base, token = config.base_url.rstrip("/"), config.bot_token.get_secret_value()
        self._methods = f"{base}/bot{token}"
        self._files = f"{base}/file/bot{token}"
        self._calls, self._polls = _Connections(0), _Connections(2)
        self._reach = Reach()
        self._cooldowns = Cooldowns()

    @property
    def reach(self) -> Reach:
        """Notes each call; a refusal is an answer."""
        return self._reach

    async def call(self, method: str, parameters: Parameters, *, seconds: float = READ_SECONDS) -> JsonValue:
        """Make one call; `seconds` limits the wait for its response. Raises ChannelError."""
        connections = self._polls if method == "getUpdates" else self._calls
        body = _body(parameters)
        with self._cooldowns.call(_rate_limit_key(method, parameters)):
            if isinstance(body, bytes):
                timeout, headers = _timeout(seconds), _JSON
            else:
                timeout, headers = _timeout(seconds + UPLOAD_SECONDS), None
            request = connections.session.post(f"{self._methods}/{method}", data=body, headers=headers, timeout=timeout)
            return _result(await self._answered(request))

    async def fetch(self, path: str, *, seconds: float) -> bytes:
        """Return the content of a file at a path from getFile. Raises ChannelError."""
        return await self._answered(self._calls.session.get(f"{self._files}/{path}", timeout=_timeout(seconds)))

    async def _answered(self, request: "aiohttp.client._RequestContextManager") -> bytes:
        """Return the body of the response. Raises ChannelError if there is none, or the server refuses."""
        try:
            async with request as response:
                body = await response.read()
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:  # so nothing was sent
            self._reach.failed()
            raise ChannelError(_reason(error)) from error
        except TimeoutError as error:
            self._reach.failed()
            raise ChannelError("no answer in time", ambiguous=True) from error
        except (aiohttp.ClientError, OSError) as error:
            self._reach.failed()
            raise ChannelError(_reason(error), ambiguous=True) from error
        self._reach.answered()
        if not HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES:
            raise refusal(response.status, body, response.headers.get("Retry-After", ""))
        return body

    async def close_connections(self) -> None:
        for connections in (self._calls, self._polls):
            await connections.close()


@cache
def _timeout(seconds: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=seconds + CONNECT_SECONDS, sock_connect=CONNECT_SECONDS)


def _reason(error: Exception) -> str:
    """Describe an error without its message, which may contain the address and so the token."""
    return f"no connection to Telegram ({type(error).__name__})"


def _body(parameters: Parameters) -> bytes | aiohttp.FormData:
    """Return the body of a call: JSON, or a form if a file goes with it."""
    uploads = {name: value for name, value in parameters.items() if isinstance(value, Upload)}
    if not uploads:
        return json.dumps(parameters).encode()
    form = aiohttp.FormData(quote_fields=False)
    for name, value in parameters.items():
        if name not in uploads:
            form.add_field(name, value if isinstance(value, str) else json.dumps(value))
    for name, file in uploads.items():
        form.add_field(name, file.content, filename=file.name, content_type=file.mime_type)
    return form


def _result(body: bytes) -> JsonValue:
    answer = _object(body)
    if answer is None or "result" not in answer:
        raise ChannelError("the response is not one of Telegram's")
    return answer["result"]


def _object(body: bytes) -> dict[str, JsonValue] | None:
    """Return the JSON object in a response; None for what a proxy sends instead of Telegram."""
    try:
        answer = _decoded(body)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None


def _rate_limit_key(method: str, parameters: Parameters) -> str:
    """Return the key by which Telegram counts a call: messages and edits by chat, all others by method and chat."""
    is_message = method.startswith(("send", "edit")) and method not in ("sendChatAction", "sendMessageDraft")
    return f"{'message' if is_message else method} {parameters.get('chat_id', '')}"


def _decoded(body: bytes) -> object:
    """Return the JSON in a response. Raises ValueError."""
    try:
        return from_json(body)
    except ValueError:  # half of a pair of surrogates, or no JSON
        return json.loads(body)


def refusal(status: int, body: bytes, retry_after: str = "") -> ChannelError:
    """Return the error that a response with a status of refusal means; `retry_after` is its header of that name."""
    answer = _object(body) or {}
    given = answer.get("parameters")
    told = given if isinstance(given, dict) else {}
    reason = str(answer.get("description") or f"{_phrase(status)} ({status})")
    match status:
        case HTTPStatus.TOO_MANY_REQUESTS:
            seconds = _wait(told.get("retry_after", retry_after))
            error = ChannelError(f"Too many requests; again in {seconds} s", retry_after=seconds)
        case HTTPStatus.BAD_REQUEST if isinstance(chat := told.get("migrate_to_chat_id"), int):
            error = Moved(chat)
        case HTTPStatus.BAD_REQUEST:
            error = _refused(reason)
        case HTTPStatus.NOT_FOUND if "method not found" in reason.lower():  # a 404, as for a token that is none
            error = UnknownMethod(reason, permanent=True)
        case HTTPStatus.NOT_FOUND | HTTPStatus.UNAUTHORIZED:
            error = AccountRefused(WRONG_TOKEN)
        case HTTPStatus.CONFLICT:
            error = Polled(reason)
        case _:
            is_lasting = status == HTTPStatus.FORBIDDEN or "too large" in reason.lower()
            error = ChannelError(reason, permanent=is_lasting)
    return error


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown status"


def _wait(told: object) -> float:
    """Return the seconds to wait, from the body, or from the header if a proxy answered instead of Telegram."""
    try:
        return max(float(str(told)), 0.0)
    except ValueError:
        return 1.0


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
