"""OpenAI's chat protocol as one provider speaks it: what its answers carry, and what it refuses."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from aiohttp import web
from pydantic import JsonValue

from tests.emulators.dialects.lessons import Lesson
from tests.emulators.dialects.server import DialectServer
from tests.emulators.model_script import Failure, Json, ModelRequest, Script, Turn
from tests.emulators.model_server import Frames, encoded
from tests.emulators.openai import OpenAiEmulator

Handed = Mapping[str, Json]
"""The answers that a server has given with calls, each by the ids of its calls."""
Rule = Callable[[Json, Handed], str | None]
"""Returns the sentence with which a request is refused, or None."""
ErrorForm = Callable[[str], Json]


def openai_error(sentence: str) -> Json:
    """Return the error that OpenAI and most of its imitators send."""
    return {"error": {"message": sentence, "type": "invalid_request_error", "param": None, "code": None}}


def openai_id(number: int) -> str:
    return f"call_{number:024d}"


@dataclass(frozen=True)
class OpenAiChat:
    """One provider's way to speak OpenAI's chat protocol."""

    path: str = "/v1"
    reasoning_in: Literal["", "reasoning_content", "reasoning", "reasoning_details"] = ""
    """The field in which reasoning comes."""
    signs_calls: bool = False
    """The first call of an answer has a signature in `extra_content`."""
    parameters: frozenset[str] = frozenset()
    """Parameters that it takes beside those of OpenAI."""
    rules: tuple[Rule, ...] = ()
    error: ErrorForm = openai_error
    call_id: Callable[[int], str] = openai_id
    opening: Json | None = None
    """A chunk that it sends before all others."""
    after_words: Json | None = None
    """A chunk that it sends before the finish reason."""
    version: str = ""
    """Azure's `api-version`, which each address must have; the key then has a header of its own."""

    def server(
        self, model: str, lessons: Sequence[Lesson], script: Script, *, api_key: str | None
    ) -> "OpenAiChatServer":
        """Return a server that speaks like this."""
        return OpenAiChatServer(self, model, lessons, script, api_key=api_key)


class OpenAiChatServer(DialectServer, OpenAiEmulator):
    """A server that speaks one dialect of OpenAI's chat protocol."""

    def __init__(
        self,
        chat: OpenAiChat,
        model: str,
        lessons: Sequence[Lesson] = (),
        script: Script = (),
        *,
        api_key: str | None = None,
    ) -> None:
        super().__init__(model, lessons, script, api_key=api_key)
        self.chat = chat
        self.models = [model]
        self.handed: dict[str, Json] = {}
        """What each answer with calls had for the model alone, by the ids of its calls."""
        self._calls = 0
        self._first_id = secrets.randbelow(9_000) * 100_000
        """Ids of calls differ from those of other servers, as real ones do: a conversation may go on at another."""

    def results(self, asked: ModelRequest) -> list[str]:
        return asked.texts("tool")

    def pictures(self, asked: ModelRequest) -> int:
        return str(asked.messages).count("'image_url': {")

    @property
    def base_url(self) -> str:
        version = f"?api-version={self.chat.version}" if self.chat.version else ""
        return f"{self.url}{self.chat.path}{version}"

    def key_of(self, request: web.Request) -> str:
        return request.headers.get("api-key", "") if self.chat.version else super().key_of(request)

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        if request.query.get("api-version", "") != self.chat.version:
            self.violate(f"an address with the version {request.query_string!r}")
            return web.json_response({"error": {"code": "404", "message": "Resource not found"}}, status=404)
        return await super()._complete(request)

    def routes(self) -> Sequence[web.RouteDef]:
        return [
            web.post(f"{self.chat.path}/chat/completions", self._complete),
            web.get(f"{self.chat.path}/models", self._list_models),
        ]

    def problem(self, body: Json) -> str | None:
        known = {name: value for name, value in body.items() if name not in self.chat.parameters}
        if found := super().problem(known):
            return found
        return next((said for rule in self.chat.rules if (said := rule(body, self.handed))), None)

    def failure(self, failure: Failure) -> tuple[int, Json]:
        if failure.reason == "bad_request" and failure.message:
            return 400, self.chat.error(failure.message)
        return super().failure(failure)

    def frames(self, turn: Turn, asked: ModelRequest) -> Frames:
        """Return the answer's frames; reasoning and signatures come before the words, in the dialect's own fields."""
        plain = super().frames(self._numbered(turn, thinking=""), asked)
        private = self._private(turn)
        deltas = [self._chunk(asked, private)] if private else []
        if turn.tools and self.chat.signs_calls:
            signed = self.handed[self._id_of(0)]["extra_content"]
            deltas.append(self._chunk(asked, {"tool_calls": [{"index": 0, "extra_content": signed}]}))
            return Frames(self._opening(plain), [*plain.deltas, *deltas], plain.closing)
        last = [b"data: " + encoded(self.chat.after_words) + b"\n\n"] if self.chat.after_words else []
        return Frames(self._opening(plain), [*deltas, *plain.deltas, *last], plain.closing)

    def _opening(self, plain: Frames) -> list[bytes]:
        first = self.chat.opening
        return [*([b"data: " + encoded(first) + b"\n\n"] if first else []), *plain.opening]

    def _chunk(self, asked: ModelRequest, delta: Json) -> bytes:
        choice: JsonValue = {"index": 0, "delta": delta, "finish_reason": None}
        return b"data: " + encoded({**self._head(asked, "chat.completion.chunk"), "choices": [choice]}) + b"\n\n"

    def _numbered(self, turn: Turn, *, thinking: str) -> Turn:
        """Return the turn without its reasoning, after noting what goes out with its calls."""
        self._calls += len(turn.tools)
        private = self._private(turn)
        if self.chat.signs_calls:
            private["extra_content"] = {"google": {"thought_signature": f"c2lnbmVk{self._calls}/+="}}
        for index in range(len(turn.tools)):
            self.handed[self._id_of(index)] = private
        return Turn(**{**vars(turn), "thinking": thinking})

    def _private(self, turn: Turn) -> Json:
        thinking, field = turn.thinking, self.chat.reasoning_in
        if not thinking or not field:
            return {}
        if field == "reasoning_details":
            detail: Json = {"type": "reasoning.text", "text": thinking, "index": 0, "signature": "c2ln", "format": "x"}
            return {"reasoning": thinking, "reasoning_details": [detail]}
        return {field: thinking}

    def _id_of(self, index: int) -> str:
        return self.chat.call_id(self._first_id + len(self.requests) * 100 + index)

    def _call_id(self, index: int) -> str:
        return self._id_of(index)


def assistant_calls(body: Json) -> list[tuple[int, Json, list[Json]]]:
    """Return the answers with calls in a request: place, message, calls."""
    found = []
    for place, message in enumerate(_objects(body.get("messages"))):
        calls = _objects(message.get("tool_calls"))
        if message.get("role") == "assistant" and calls:
            found.append((place, message, calls))
    return found


def parameters_of(body: Json) -> list[tuple[str, Json]]:
    """Return the name and the schema of each tool in a request."""
    functions = [_object(tool.get("function")) for tool in _objects(body.get("tools"))]
    return [(str(each.get("name")), _object(each.get("parameters"))) for each in functions]


def messages_of(body: Json) -> list[Json]:
    return _objects(body.get("messages"))


def _objects(value: JsonValue) -> list[Json]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _object(value: JsonValue) -> Json:
    return value if isinstance(value, dict) else {}
