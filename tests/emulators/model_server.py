"""Common parts of the emulated model servers: asking the script, and sending a turn to the client."""

import asyncio
import inspect
import json
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from aiohttp import web
from pydantic import JsonValue

from parley.testing.emulators.control import Call, Effect
from parley.testing.emulators.server import LoopbackServer
from tests.emulators.model_script import Answer, Break, Failure, Json, ModelRequest, Script, Turn

REASONS = {400: "bad_request", 401: "auth", 404: "not_found", 429: "rate_limit", 529: "overloaded"}


@dataclass(frozen=True)
class Frames:
    """The frames of a streamed answer. Breaks and delays count the `deltas`."""

    opening: Sequence[bytes]
    deltas: Sequence[bytes]
    closing: Sequence[bytes]


class ModelServer(LoopbackServer):
    """A model on loopback. `requests` has every request whole; an exhausted script is a violation."""

    cancel_on_disconnect = True

    def __init__(
        self, script: Script = (), *, api_key: str | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(clock)
        self.requests: list[ModelRequest] = []
        self.api_key = api_key
        self._script = script if callable(script) else None
        self._answers: list[Answer] = [] if callable(script) else list(script)
        self._next = 0

    def then(self, *answers: Answer) -> None:
        """Append answers to the script."""
        self._answers.extend(answers)

    @property
    def unused(self) -> int:
        """Number of answers that were not requested yet."""
        return len(self._answers) - self._next

    @property
    def open_requests(self) -> int:
        """Number of requests that are neither answered nor abandoned."""
        return sum(not each.finished and not each.abandoned for each in self.requests)

    # Differences between wires

    @abstractmethod
    def problem(self, body: Json) -> str | None:
        """Return the reason why the real service would refuse this request, or None."""

    @abstractmethod
    def key_of(self, request: web.Request) -> str: ...

    @abstractmethod
    def frames(self, turn: Turn, asked: ModelRequest) -> Frames: ...

    @abstractmethod
    def whole(self, turn: Turn, asked: ModelRequest) -> Json:
        """Return the response to a request without streaming."""

    @abstractmethod
    def failure(self, failure: Failure) -> tuple[int, Json]:
        """Return HTTP status and body."""

    misshapen: bytes
    """A chunk of valid JSON that no client can interpret."""

    def asked(self, body: Json, request: web.Request, size: int) -> ModelRequest:
        """Return the request as tests read it."""
        return _request(body, request, self.clock(), size)

    # Handling of a request

    async def complete(self, request: web.Request, route: str) -> web.StreamResponse:
        raw = await request.read()
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            self.violate(f"{route}: the body is no JSON object")
            return self._failed(Failure("bad_request", message="the body is no JSON object"))
        asked = self.asked(body, request, len(raw))
        call = Call(route, body, asked.at)
        self.requests.append(asked)
        try:
            return await self.perform(request, call, lambda: self._answer(request, asked), self._refuse)
        except (asyncio.CancelledError, ConnectionError):
            asked.abandoned = True
            self.changes.notify()
            raise
        finally:
            asked.finished = not asked.abandoned

    async def _answer(self, request: web.Request, asked: ModelRequest) -> web.StreamResponse:
        if self.api_key is not None and self.key_of(request) != self.api_key:
            return self._failed(Failure("auth"))
        problem = self.problem(asked.body)
        if problem is not None:
            self.violate(problem)
            return self._failed(Failure("bad_request", message=problem))
        self.changes.notify()
        answer = await self._ask(asked)
        if isinstance(answer, Failure):
            return self._failed(answer)
        if answer.hold is not None:
            await answer.hold.wait()
        if answer.first_byte:
            await asyncio.sleep(answer.first_byte)
        return await (self._stream if asked.stream else self._reply)(request, asked, answer)

    async def _ask(self, asked: ModelRequest) -> Answer:
        if self._script is not None:
            answer = self._script(asked)
            return await answer if inspect.isawaitable(answer) else answer
        if self._next >= len(self._answers):
            self.violate(f"the script has no answer to request {len(self.requests)}: {asked.last_text[:80]!r}")
            return Failure("server", message="the script has run out")
        self._next += 1
        return self._answers[self._next - 1]

    async def _reply(self, request: web.Request, asked: ModelRequest, turn: Turn) -> web.StreamResponse:
        if turn.breaks is None:
            return web.json_response(self.whole(turn, asked))
        if turn.breaks.kind == "garbage":
            return web.Response(text="<html>oops", content_type="application/json")
        if turn.breaks.kind == "stall":
            await asyncio.Event().wait()
        return self.kill(request)

    async def _stream(self, request: web.Request, asked: ModelRequest, turn: Turn) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
        await response.prepare(request)
        frames = self.frames(turn, asked)
        if turn.breaks is None and turn.pause is None and not turn.per_chunk:
            await response.write(b"".join([*frames.opening, *frames.deltas, *frames.closing]))
            return response
        await response.write(b"".join(frames.opening))
        breaks_at = -1 if turn.breaks is None else min(turn.breaks.after, len(frames.deltas))
        for number, frame in enumerate([*frames.deltas, b"".join(frames.closing)]):
            if turn.breaks is not None and number == breaks_at:
                over = await self._break(request, response, turn.breaks, frame)
                if over:
                    break
            if turn.pause is not None and number == turn.pause.after:
                await turn.pause.until.wait()
            if turn.per_chunk and number < len(frames.deltas):
                await asyncio.sleep(turn.per_chunk)
            await response.write(frame)
        return response

    async def _break(self, request: web.Request, response: web.StreamResponse, breaks: Break, frame: bytes) -> bool:
        """Break the stream; return True if it ends here."""
        match breaks.kind:
            case "garbage":
                await response.write(b"data: {oops\n\n")
                return False
            case "misshapen":
                await response.write(self.misshapen)
                return False
            case "cut":
                await response.write(frame[: len(frame) // 2])
                self.kill(request)
            case "error":
                _, body = self.failure(Failure("overloaded", message=breaks.message))
                await response.write(self.error_frame(body))
            case "stall":
                await asyncio.Event().wait()
            case "end":
                pass
        return True

    def error_frame(self, body: Json) -> bytes:
        return b"data: " + encoded(body) + b"\n\n"

    def _refuse(self, effect: Effect) -> web.Response:
        reason = REASONS.get(effect.status or 500, "server")
        return self._failed(_failure_for(reason, effect))

    def _failed(self, failure: Failure) -> web.Response:
        status, body = self.failure(failure)
        headers = {"Retry-After": str(failure.retry_after)} if failure.retry_after is not None else None
        return web.json_response(body, status=failure.status or status, headers=headers)


def encoded(body: Json) -> bytes:
    """Encode JSON as models do: UTF-8, with escapes only for lone surrogates."""
    try:
        return json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(body).encode()


def _failure_for(reason: str, effect: Effect) -> Failure:
    match reason:
        case "bad_request" | "auth" | "not_found" | "rate_limit" | "overloaded":
            return Failure(reason, effect.retry_after, effect.status)
        case _:
            return Failure("server", effect.retry_after, effect.status)


def _request(body: Json, request: web.Request, at: float, size: int) -> ModelRequest:
    messages = [each for each in _list(body.get("messages")) if isinstance(each, dict)]
    tools = [name for name in map(_tool_name, _list(body.get("tools"))) if name]
    return ModelRequest(
        model=str(body.get("model", "")),
        messages=messages,
        tools=tools,
        stream=body.get("stream") is True,
        body=body,
        headers=request.headers,
        at=at,
        size=size,
    )


def _list(value: JsonValue) -> Iterable[JsonValue]:
    return value if isinstance(value, list) else ()


def _tool_name(tool: JsonValue) -> str:
    if not isinstance(tool, dict):
        return ""
    function = tool.get("function")
    return str(function.get("name", "")) if isinstance(function, dict) else str(tool.get("name", ""))
