"""A client for servers with the OpenAI audio protocol: speech to text, and text to speech.

Hosted ones and local ones (whisper.cpp, faster-whisper-server, speaches) speak it alike.
"""

from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Annotated, Literal
from urllib.parse import urlsplit

import aiohttp
from msgspec import Struct
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from agent_core.models.failures import message_in, redact, redirected
from agent_core.models.local_servers import is_private

OPENAI = "https://api.openai.com/v1"
PRICES = {
    "transcription": {"whisper-1": 0.006, "gpt-4o-transcribe": 0.006, "gpt-4o-mini-transcribe": 0.003},
    "speech": {"tts-1": 15.0, "tts-1-hd": 30.0},
}
"""US dollars at OpenAI: for a minute of a recording, and for a million characters that are spoken."""
DEFAULT_MODELS = {"transcription": "whisper-1", "speech": "tts-1"}
VOICE = "alloy"
SECONDS = 120.0
"""Longest time of one call."""
CONNECT_S = 10.0
LONGEST_RECORDING = 86_400.0
"""Seconds; more than any recording that is sent has."""
MOST_TEXT_BYTES = 1024 * 1024
MOST_AUDIO_BYTES = 25 * 1024 * 1024
SpeechKind = Literal["mp3", "opus"]
OGG = b"OggS"
"""First characters of Opus in OGG."""
_OPENINGS = (b"{", b"<")
"""First characters of documents and pages, with which no audio begins."""
_UNREADABLE = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNSUPPORTED_MEDIA_TYPE, HTTPStatus.UNPROCESSABLE_ENTITY})


@dataclass(frozen=True)
class AudioServer:
    """An endpoint, and the model to ask for."""

    base_url: str
    model: str
    key: str | None = field(default=None, repr=False)
    price: float | None = None
    """US dollars for a minute of a recording, or for a million characters that are spoken; None if it is not known."""


def audio_server(value: str, use: str, key: str | None, openai_key: str | None) -> AudioServer:
    """Return the server that a setting names: `openai/MODEL`, or `http://.../v1#MODEL`. Raises ValueError.

    `use` is "transcription" or "speech"; `key` is for a server that is given by its address.
    """
    value = value.strip()
    provider, _, model = value.partition("/")
    if provider == "openai":
        name = model or DEFAULT_MODELS[use]
        return AudioServer(OPENAI, name, openai_key, PRICES[use].get(name))
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
        raise ValueError("it is neither openai/MODEL nor an address such as http://127.0.0.1:8000/v1#MODEL")
    base = parts._replace(fragment="").geturl().rstrip("/")
    return AudioServer(base, parts.fragment or DEFAULT_MODELS[use], key, 0.0 if is_private(base) else None)


class AudioFailed(Exception):
    """A call that failed; the text is one clause for people, without secrets.

    Attributes:
        is_unreadable: The server says that the file is no audio that it can read.
        is_passing: The same call may succeed later.
        is_free: The server has certainly done nothing that it could charge for.
    """

    def __init__(
        self, reason: str, *, is_unreadable: bool = False, is_passing: bool = False, is_free: bool = False
    ) -> None:
        super().__init__(reason)
        self.is_unreadable = is_unreadable
        self.is_passing = is_passing
        self.is_free = is_free


class Transcript(Struct, frozen=True):
    text: str
    seconds: float | None
    """Length of the audio, if the server tells."""


def _possible(seconds: float | None) -> float | None:
    """Return the length of a recording, or None for one that none can have: then it counts as not told."""
    return seconds if seconds is not None and 0 <= seconds <= LONGEST_RECORDING else None


_Seconds = Annotated[float | None, AfterValidator(_possible)]


class _Usage(BaseModel):
    model_config = ConfigDict(extra="ignore", defer_build=True)

    seconds: _Seconds = None


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore", defer_build=True)

    text: str
    duration: _Seconds = None
    usage: _Usage = Field(default_factory=_Usage)


class AudioClient:
    """Client of one server. It keeps no connection open."""

    def __init__(self, server: AudioServer) -> None:
        self.server = server

    async def transcribe(self, content: bytes, name: str, mime_type: str) -> Transcript:
        """Return what is said in a recording. Raises AudioFailed."""
        form = aiohttp.FormData()
        form.add_field("model", self.server.model)
        form.add_field("response_format", "json")
        form.add_field("file", content, filename=name, content_type=mime_type)
        body = await self._post("audio/transcriptions", MOST_TEXT_BYTES, data=form)
        try:
            answer = _Answer.model_validate_json(body)
        except ValidationError as error:
            raise AudioFailed(f"the server sent no transcript{self._told(body)}") from error
        return Transcript(answer.text.strip(), answer.usage.seconds or answer.duration)

    async def speak(self, text: str, kind: SpeechKind = "mp3") -> bytes:
        """Return the text as speech. Some servers send MP3 although Opus was asked for. Raises AudioFailed."""
        asked = {"model": self.server.model, "input": text, "voice": VOICE, "response_format": kind}
        audio = await self._post("audio/speech", MOST_AUDIO_BYTES, json=asked)
        if not audio or audio.lstrip().startswith(_OPENINGS):
            raise AudioFailed(f"the server sent no audio{self._told(audio)}")
        return audio

    async def _post(self, path: str, most: int, **content: object) -> bytes:
        headers = {"Authorization": f"Bearer {self.server.key}"} if self.server.key else {}
        timeout = aiohttp.ClientTimeout(total=SECONDS, sock_connect=CONNECT_S)
        try:
            async with (
                aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar(), timeout=timeout) as session,
                session.post(
                    f"{self.server.base_url}/{path}",
                    headers=headers,
                    allow_redirects=False,  # they would take the recording to another server
                    **content,  # type: ignore[arg-type]
                ) as response,
            ):
                if response.status >= HTTPStatus.BAD_REQUEST:
                    body = await response.content.read(most + 1)
                    raise self._failure(response.status, body.decode("utf-8", "replace"))
                if response.status >= HTTPStatus.MULTIPLE_CHOICES:
                    raise AudioFailed(redirected(response.headers.get("Location")), is_free=True)
                return await _whole(response, most)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise AudioFailed("the server cannot be reached", is_passing=True, is_free=True) from error
        except TimeoutError as error:
            raise AudioFailed(f"the server did not answer within {SECONDS:g} s", is_passing=True) from error
        except (aiohttp.ClientError, ValueError) as error:
            raise AudioFailed("the connection to the server was lost", is_passing=True) from error

    def _told(self, body: bytes) -> str:
        """Return the words of a document or a page that came instead, in brackets."""
        said = self._words(body.decode("utf-8", "replace")) if body.lstrip().startswith(_OPENINGS) else ""
        return f" ({said})" if said else ""

    def _words(self, body: str) -> str:
        return redact(message_in(body), [self.server.key] if self.server.key else [])[:200]

    def _failure(self, status: int, body: str) -> AudioFailed:
        said = self._words(body)
        if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            return AudioFailed("the server refused the key", is_free=True)
        if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            return AudioFailed("the file is too large for the server", is_free=True)
        reason = f"the server answered {status}" + (f" ({said})" if said else "")
        is_passing = status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR
        return AudioFailed(reason, is_unreadable=status in _UNREADABLE, is_passing=is_passing, is_free=True)


async def _whole(response: aiohttp.ClientResponse, most: int) -> bytes:
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > most:
            raise AudioFailed("the server sent too much")
    return bytes(body)
