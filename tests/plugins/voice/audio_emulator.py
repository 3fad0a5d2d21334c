"""An emulation of OpenAI's audio endpoints on loopback: /v1/audio/transcriptions and /v1/audio/speech.

A recording is any bytes that begin with `SOUND`; what is said in it is the rest of them. Faults are injected under the
methods "transcribe" and "speak".
"""

from collections.abc import Sequence
from typing import cast

from aiohttp import web
from pydantic import JsonValue

from parley.testing.emulators.control import Call, Effect
from parley.testing.emulators.server import LoopbackServer

SOUND = b"\x00sound\x00"
KEY = "sk-audio-key-of-the-owner"
FORMATS = frozenset({"flac", "m4a", "mp3", "mp4", "mpeg", "mpga", "oga", "ogg", "wav", "webm"})


def recording(words: str) -> bytes:
    """Return a file in which these words are said."""
    return SOUND + words.encode()


class AudioEmulator(LoopbackServer):
    """Understands `recording`s. `seconds` is the length that it reports for each; None for none."""

    def __init__(self, seconds: float | None = 3.0, key: str = "") -> None:
        super().__init__()
        self.seconds = seconds
        self.speech = {"mp3": b"ID3", "opus": b"OggS"}
        """The kinds of files in which it speaks, with their first characters."""
        self.key = key
        """Key that each call must carry, if any."""

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def routes(self) -> Sequence[web.RouteDef]:
        return [
            web.post("/v1/audio/transcriptions", self._transcriptions),
            web.post("/v1/audio/speech", self._speech),
        ]

    async def _transcriptions(self, request: web.Request) -> web.StreamResponse:
        form = await request.post()
        file = form.get("file")
        content, name = b"", ""
        if isinstance(file, web.FileField):
            name = file.filename
            with file.file as opened:
                content = opened.read()
        params: dict[str, object] = {"model": form.get("model"), "name": name, "size": len(content)}
        call = Call("transcribe", params, self.clock())

        async def process() -> web.StreamResponse:
            if refused := self._refused(request, cast(str, form.get("model", ""))):
                return refused
            if not content.startswith(SOUND) or name.rpartition(".")[2].lower() not in FORMATS:
                return _error(400, "Invalid file format. Supported formats: ['flac', 'm4a', 'mp3', 'ogg', 'wav']")
            answer: dict[str, JsonValue] = {"text": content.removeprefix(SOUND).decode()}
            if self.seconds is not None:
                answer["usage"] = {"type": "duration", "seconds": self.seconds}
            return web.json_response(answer)

        return await self.perform(request, call, process, _broken)

    async def _speech(self, request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        call = Call("speak", dict(asked), self.clock())

        async def process() -> web.StreamResponse:
            if refused := self._refused(request, str(asked.get("model", ""))):
                return refused
            if not asked.get("input") or len(asked["input"]) > 4096 or not asked.get("voice"):
                return _error(400, "Invalid input")
            kind = str(asked.get("response_format", "mp3"))
            if kind not in self.speech:
                return _error(400, f"Unsupported response_format: {kind}")
            return web.Response(body=self.speech[kind] + asked["input"].encode(), content_type="audio/mpeg")

        return await self.perform(request, call, process, _broken)

    def _refused(self, request: web.Request, model: str) -> web.Response | None:
        if self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
            return _error(401, f"Incorrect API key provided: {request.headers.get('Authorization')}")
        return None if model else _error(400, "you must provide a model parameter")


def _error(status: int, message: str) -> web.Response:
    return web.json_response({"error": {"message": message, "type": "invalid_request_error"}}, status=status)


def _broken(effect: Effect) -> web.Response:
    return _error(effect.status or 500, "The server had an error while processing your request")
