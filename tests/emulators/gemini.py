"""An emulation of Gemini's own protocol on loopback: generateContent and streamGenerateContent under /v1beta/models.

async with GeminiEmulator([calls("clock"), says("It is noon.")]) as model:
    ... api_base=model.base_url, model "gemini/gemini-3-flash" ...
"""

import base64
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from aiohttp import web
from pydantic import JsonValue

from tests.emulators.gemini_fields import Refused
from tests.emulators.gemini_rules import check, objects, request_of
from tests.emulators.model_script import Failure, Json, ModelRequest, Script, Turn, Usage, pieces
from tests.emulators.model_server import Frames, ModelServer, encoded

ERRORS: dict[str, tuple[int, str, str]] = {
    "rate_limit": (
        429,
        "RESOURCE_EXHAUSTED",
        "You exceeded your current quota, please check your plan and billing details. Please retry in 26.4s.",
    ),
    "server": (500, "INTERNAL", "An internal error has occurred. Please retry or report in Google AI Studio."),
    "overloaded": (503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
    "auth": (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
    "bad_request": (400, "INVALID_ARGUMENT", "Request contains an invalid argument."),
    "not_found": (
        404,
        "NOT_FOUND",
        "models/none is not found for API version v1beta, or is not supported for generateContent. Call ListModels to "
        "see the list of available models and their supported methods.",
    ),
    "overflow": (
        400,
        "INVALID_ARGUMENT",
        "The input token count (1103423) exceeds the maximum number of tokens allowed (1048576).",
    ),
}
STREAMS = {"generateContent": False, "streamGenerateContent": True}
BLOCKED = "prompt:"
"""A finish reason that begins like this stands for a prompt that is blocked for the reason after it."""


class GeminiEmulator(ModelServer):
    """A call comes whole, in one part, with a signature on the first call of an answer. Models of the third generation
    and later give ids to their calls and check signatures; those before (`is_third` is False) do neither."""

    misshapen = b'data: {"candidates": [7]}\r\n\r\n'

    def __init__(
        self,
        script: Script = (),
        *,
        is_third: bool = True,
        api_key: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(script, api_key=api_key, clock=clock)
        self.is_third = is_third
        self.signatures: dict[str, str] = {}
        """The signatures that were handed out, by the ids of their calls."""

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1beta"

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.post("/v1beta/models/{model}:{method}", self._complete)]

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        return await self.complete(request, "generateContent")

    def key_of(self, request: web.Request) -> str:
        return request.headers.get("x-goog-api-key") or request.query.get("key", "")

    def asked(self, body: Json, request: web.Request, size: int) -> ModelRequest:
        """Return the request with its contents as messages of OpenAI's protocol, which tests read."""
        try:
            plain = request_of(body)
        except Refused:
            plain = {}
        contents = objects(plain.get("contents"))
        tools = [each for tool in objects(plain.get("tools")) for each in objects(tool.get("functionDeclarations"))]
        return replace(
            super().asked(body, request, size),
            model=request.match_info["model"],
            stream=STREAMS.get(request.match_info["method"], False),
            messages=[*_system(plain), *(message for content in contents for message in _messages(content))],
            tools=[str(each.get("name")) for each in tools],
        )

    def problem(self, body: Json) -> str | None:
        try:
            check(request_of(body), self.signatures, is_third=self.is_third)
        except Refused as refused:
            return str(refused)
        return None

    def failure(self, failure: Failure) -> tuple[int, Json]:
        code, status, words = ERRORS[failure.reason]
        error: Json = {"code": code, "message": failure.message or words, "status": status}
        if failure.reason == "auth":  # which the status does not tell
            error["details"] = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
        return code, {"error": error}

    def error_frame(self, body: Json) -> bytes:
        return _event(body)

    def frames(self, turn: Turn, asked: ModelRequest) -> Frames:
        if turn.finish and turn.finish.startswith(BLOCKED):
            feedback: Json = {"promptFeedback": {"blockReason": turn.finish.removeprefix(BLOCKED)}}
            return Frames([], [], [_event({**feedback, **self._head(asked, turn.usage)})])
        deltas = [self._chunk(asked, [part]) for part in self._parts(turn, asked)]
        last: list[JsonValue] = [{"text": "", "thoughtSignature": _signature("end")}] if self._signs_end(turn) else []
        return Frames([], deltas, [self._chunk(asked, last, turn.finish or "STOP", turn.usage)])

    def whole(self, turn: Turn, asked: ModelRequest) -> Json:
        content: Json = {"role": "model", "parts": [*self._parts(turn, asked)]}
        candidate: Json = {"content": content, "finishReason": turn.finish or "STOP", "index": 0}
        return {"candidates": [candidate], **self._head(asked, turn.usage)}

    def _signs_end(self, turn: Turn) -> bool:
        return self.is_third and bool(turn.thinking) and not turn.tools and not turn.finish

    def _parts(self, turn: Turn, asked: ModelRequest) -> Iterator[Json]:
        for thought in pieces(turn.thinking, turn.chunk) if _shows_thoughts(asked) else ():
            yield {"text": thought, "thought": True}
        for words in turn.text_deltas:
            yield {"text": words}
        for number, tool in enumerate(turn.tools):
            call: Json = {"name": tool.name, "args": json.loads(tool.raw)}
            part: Json = {"functionCall": call}
            if self.is_third:
                call["id"] = tool.id or f"fc{len(self.requests)}x{number}"
            if self.is_third and number == 0:
                part["thoughtSignature"] = self.signatures[str(call["id"])] = _signature(str(call["id"]))
            yield part

    def _chunk(
        self, asked: ModelRequest, parts: list[JsonValue], reason: str | None = None, usage: Usage | None = None
    ) -> bytes:
        content: Json = {"role": "model", **({"parts": parts} if parts else {})}
        ends: Json = {"finishReason": reason} if reason else {}
        candidate: Json = {"content": content, **ends, "index": 0}
        return _event({"candidates": [candidate], **self._head(asked, usage)})

    def _head(self, asked: ModelRequest, usage: Usage | None) -> Json:
        head: Json = {"modelVersion": asked.model, "responseId": "emulated"}
        if usage is None:
            return head
        counts: Json = {
            "promptTokenCount": usage.input,
            "candidatesTokenCount": usage.output,
            "totalTokenCount": usage.input + usage.output,
            "cachedContentTokenCount": usage.cached,
        }
        return {**head, "usageMetadata": counts}


def _event(body: Json) -> bytes:
    return b"data: " + encoded(body) + b"\r\n\r\n"


def _signature(of: str) -> str:
    """Return a signature with the letters of base64 that addresses do not take."""
    return base64.b64encode(f"signed \u00ff\u00fe {of}".encode("latin-1")).decode() + "+/="


def _shows_thoughts(asked: ModelRequest) -> bool:
    settings = asked.body.get("generationConfig")
    thinking = settings.get("thinkingConfig") if isinstance(settings, dict) else None
    return isinstance(thinking, dict) and thinking.get("includeThoughts") is True


def _system(request: Json) -> list[Json]:
    told = request.get("systemInstruction")
    return [{"role": "system", "content": told["parts"]}] if isinstance(told, dict) else []


def _messages(content: Json) -> Iterator[Json]:
    """Yield a content as messages: the results of tools, and the rest."""
    rest: list[JsonValue] = []
    for part in objects(content.get("parts")):
        answer = part.get("functionResponse")
        picture = part.get("inlineData")
        if isinstance(answer, dict):
            said = answer.get("response")
            words = said.get("content") if isinstance(said, dict) else None
            yield {"role": "tool", "content": words if isinstance(words, str) else json.dumps(said)}
        elif isinstance(picture, dict):
            url = f"data:{picture.get('mimeType')};base64,{picture.get('data')}"
            rest.append({"type": "image_url", "image_url": {"url": url}})
        elif "text" in part and not part.get("thought"):
            rest.append({"type": "text", "text": part["text"]})
    if rest:
        yield {"role": "assistant" if content.get("role") == "model" else "user", "content": rest}
