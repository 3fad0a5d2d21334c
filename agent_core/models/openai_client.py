"""A light client for servers with the OpenAI chat protocol: local ones, and hosted ones that litellm does not do
justice to.

Takes about 1 ms of CPU per call, which limits how many chats a machine can serve; other hosted providers go through
litellm.
"""

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from functools import cache, cached_property, partial
from http import HTTPStatus
from itertools import chain
from urllib.parse import urlsplit

import aiohttp
from msgspec import Struct
from pydantic import SecretStr
from pydantic_core import from_json

from agent_core.clock import NewId, new_id
from agent_core.json_text import read_json
from agent_core.models.answer import Answer
from agent_core.models.chunks import Chunk, read_chunk
from agent_core.models.event_stream import EVENTS, NotAnEventStream, SseReader, Utf8, documents_in, in_utf8
from agent_core.models.failures import (
    cause_of,
    classify,
    http_failure,
    message_in,
    redact,
    redirected,
    reported_cause,
    retry_after_s,
    unreadable,
)
from agent_core.models.joined_deltas import joined
from agent_core.models.llm import (
    FailureKind,
    LlmFailure,
    LlmOptions,
    LlmRequest,
    ModelInfo,
    StreamDelta,
    StreamEvent,
)
from agent_core.models.lost import causes_of, lost
from agent_core.models.manner import AS_USUAL, REFUSED, TOOLS, Manner
from agent_core.models.manners import Manners
from agent_core.models.openai_wire import Reader, WireObject, WireText, compact_json, thinking_for, tools_text
from agent_core.models.protocols import NoChat, check_whole, other_in
from agent_core.models.server_address import CHAT, below, with_key
from agent_core.models.usual_chunk import usual_words
from agent_core.models.wire_errors import WireError

CONNECT_S = 10.0
ERROR_BODY = 64 * 1024
"""Bytes of an error page that are read."""
WHOLE_BODY = 16 * 1024 * 1024
"""Bytes of an answer that comes in one piece."""
LINGER_S = 0.05
"""Seconds to wait for the end of the response after the answer, so that the connection can be reused."""

_BOM = "\ufeff"
_END = "[DONE]"
_HTTP_CODE = re.compile("[45][0-9][0-9]")


class _StreamFailed(Exception):
    """The server reported or showed that the answer will not be completed."""

    def __init__(self, failure: LlmFailure, refusal: str = "") -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.refusal = refusal
        """The server's words, if it refused the request."""


class _Call:
    """A call, whose answer is collected from when the server has one."""

    def __init__(self, begin: Callable[[], Answer]) -> None:
        self._begin = begin

    @cached_property
    def answer(self) -> Answer:
        return self._begin()


class _Progress(Struct):
    """The place in a response."""

    is_first: bool = True
    """True until a document of it was read."""
    is_over: bool = False
    """True once the server has said that nothing follows."""


class OpenAiClient:
    """Client of the server at `base_url` (including `/v1`, if it has one), for any number of chats.

    Names of models begin with `provider`, if that is given: a hosted one, which may stand behind a proxy. A `session`
    passed in stays open; without one the client opens its own at the first call.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | None,
        session: aiohttp.ClientSession | None = None,
        *,
        provider: str = "",
        make_id: NewId = new_id,
        now: Callable[[], float] = time.time,
    ) -> None:
        key = (api_key or "").strip()
        self._base_url = base_url
        self._url = below(base_url, CHAT)
        self._host = urlsplit(base_url).netloc.rpartition("@")[2]
        self._hosted = provider
        self._provider = provider or self._host
        self._secrets: set[str] = set()
        """All keys ever sent, because servers repeat them in error messages."""
        self._headers = {"Content-Type": "application/json", "Accept": EVENTS}
        self._headers |= self._authorization(SecretStr(key))
        self._session = session
        self._owns_session = session is None
        self._make_id = make_id
        self._now = now
        self._wire = WireText()
        self._manners = Manners()

    async def stream(
        self, model: ModelInfo, request: LlmRequest, options: LlmOptions
    ) -> AsyncGenerator[StreamEvent, None]:
        """See `LlmClient.stream`."""
        tools = {tool.name: tool.parameters for tool in request.tools}
        call = _Call(partial(Answer, model, self._make_id, provider=self._provider, tools=tools))
        name = model.wire_name
        before = self._manners.of(name)
        while True:
            failure = None
            manner = self._manners.of(name, request.messages)
            body = self._body(model, request, options)
            if manner != AS_USUAL:
                body = manner.fits(body)
            written = self._written(model, body, request, manner)
            try:
                async with contextlib.aclosing(self._events(call, written, options)) as events:
                    async for event in events:
                        yield event
            except _StreamFailed as error:
                if self._manners.learn(name, error.refusal, body, request.messages):
                    continue
                failure = error.failure
            break
        for late in call.answer.rest():
            yield late
        done = call.answer.done(None if call.answer.finished else failure)
        lost_tools = bool(tools) and manner.without_tools(before)
        yield done.model_copy(update={"lost_tools": True}) if lost_tools else done

    async def _events(self, call: "_Call", body: bytes, options: LlmOptions) -> AsyncGenerator[StreamEvent, None]:
        """Send one request and yield what comes, up to the end of the answer. Raises _StreamFailed."""
        progress = _Progress()
        session = self._session or self._open_session()
        try:
            async with session.post(
                self._url,
                data=body,
                headers=self._headers | (self._authorization(options.api_key) if options.api_key else {}),
                timeout=_timeout(options.timeout_s),
                allow_redirects=False,
            ) as response:
                await self._check(response, options.timeout_s)
                for start in call.answer.begins():
                    yield start
                if response.content_type == "application/json":
                    for delta in self._deltas(call.answer, await _whole(response), progress):
                        yield delta
                else:
                    reader, utf8, is_empty = SseReader(), Utf8(), True
                    while not progress.is_over:
                        part = await response.content.readany()
                        is_empty = is_empty and not part.strip()
                        payloads = reader.feed(utf8.of(part)) if part else reader.finish()
                        for delta in self._deltas(call.answer, payloads, progress):
                            yield delta
                        if not part:
                            break
                    if is_empty:
                        check_whole("", response.status, streams=response.content_type == EVENTS)
                if progress.is_over:
                    await _drain(response)
                    return
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _StreamFailed(self._lost(error, options.timeout_s, is_first=progress.is_first)) from error
        raise _StreamFailed(_transient("the stream ended before the answer did"))

    def _deltas(self, answer: Answer, payloads: Iterable[str], progress: "_Progress") -> Iterator[StreamDelta]:
        """Add what came together to the answer and yield the deltas in it. Raises _StreamFailed, and ValueError."""
        deltas: list[StreamDelta] = []
        words: list[str] = []
        try:
            for payload in payloads:
                if payload == _END:
                    progress.is_over = True
                    break
                chunk = self._chunk(payload, answer, is_first=progress.is_first)
                progress.is_first = False
                if isinstance(chunk, str):
                    words.append(chunk)
                elif chunk:
                    deltas += answer.hear(words)
                    deltas += answer.take(chunk)
                    words = []
        finally:
            deltas += answer.hear(words)
            yield from deltas if len(deltas) == 1 else joined(deltas)

    async def close(self) -> None:
        """Close the client's own connections."""
        if self._owns_session and self._session is not None:
            await self._session.close()
            self._session = None

    def _authorization(self, api_key: SecretStr | None) -> dict[str, str]:
        key = api_key.get_secret_value() if api_key else ""
        if not key:
            return {}
        self._secrets.add(key)
        return with_key(self._base_url, key)

    def _open_session(self) -> aiohttp.ClientSession:
        # uvicorn drops idle connections after 5 s; a request on a dropped one would fail.
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=4.0)
        self._session = aiohttp.ClientSession(
            connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trust_env=bool(self._hosted)
        )
        return self._session

    def _body(self, model: ModelInfo, request: LlmRequest, options: LlmOptions) -> WireObject:
        """Return the request without its messages and the schemas of its tools, as a usual server takes it."""
        body: WireObject = {
            "model": model.wire_name.removeprefix(f"{self._hosted}/" if self._hosted else ""),
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": model.answer_tokens(options.max_tokens),
        }
        if options.temperature is not None:
            body["temperature"] = options.temperature
        if request.tools:
            body[TOOLS] = [tool.name for tool in request.tools]  # in place of what `_written` inserts
            if request.tool_choice != "auto":
                body["tool_choice"] = request.tool_choice
        if thinking := thinking_for(model, options):
            level = "xhigh" if thinking.level == "max" else thinking.level  # the protocol has no "max"
            body |= {"reasoning_effort": level, "max_tokens": thinking.max_tokens}
            if self._hosted:
                body.pop("temperature", None)  # models of Anthropic's refuse one while they think
        return body

    def _written(self, model: ModelInfo, body: WireObject, request: LlmRequest, manner: Manner) -> bytes:
        sees = model.vision and not manner.takes_no_pictures
        reader = Reader(self._provider, model.id, vision=sees, manner=manner)
        tools = f'"{TOOLS}":{tools_text(request.tools, manner)},' if TOOLS in body else ""
        rest = compact_json({name: value for name, value in body.items() if name != TOOLS}).removeprefix("{")
        return f'{{"messages":{self._wire.of(request, reader)},{tools}{rest}'.encode("utf-8", "replace")

    async def _check(self, response: aiohttp.ClientResponse, timeout_s: float) -> None:
        if HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES:
            return
        if response.status < HTTPStatus.BAD_REQUEST:
            body = redirected(response.headers.get("Location"))
        else:
            body = await _read(response, ERROR_BODY, timeout_s)
        failure = http_failure(response.status, response.headers, body, now=self._now(), secrets=self._secrets)
        told = f"{message_in(body)}\n{body}"  # the letters of words may be escaped in the body
        raise _StreamFailed(failure, refusal=told if response.status in REFUSED else "")

    def _chunk(self, payload: str, answer: Answer, *, is_first: bool) -> Chunk | str | None:
        """Return the chunk, or the words of a usual one; None for one that cannot be read, or reports an error, after
        the end of the answer.

        An error instead of an answer may refuse the request: LM Studio begins its response before it has read that.
        """
        try:
            text = payload.removeprefix(_BOM)
            try:
                value: object = from_json(text)
            except ValueError:  # half of a pair of surrogates, or no JSON
                value = read_json(text, strict=False)  # a raw tab within a text
            if (words := usual_words(value)) is not None:
                return words
            chunk = read_chunk(value)
        except ValueError as error:
            if answer.finished:
                return None
            told = error.failure if isinstance(error, NoChat) else self._garbage(payload, is_first=is_first)
            raise _StreamFailed(told) from error
        if chunk.error is not None and not answer.finished:
            raise _StreamFailed(self._reported(chunk.error, payload), refusal=payload if is_first else "")
        return chunk

    def _reported(self, error: WireError, payload: str) -> LlmFailure:
        """Return the failure for an error inside a stream; OpenRouter tells the wait beside its words."""
        words = " ".join(word for word in (error.message, error.type, error.code) if word)
        status = int(error.code) if _HTTP_CODE.fullmatch(error.code) else None
        message = redact(words, self._secrets) or "an unnamed error"
        kind = classify(status, words)
        cause = reported_cause(kind, words) if status is None else cause_of(status, words)
        wait = retry_after_s({}, payload, now=self._now())
        return LlmFailure(kind=kind, cause=cause, message=message, retry_after_s=wait)

    def _garbage(self, text: str, *, is_first: bool) -> LlmFailure:
        if is_first and (other := other_in(text)):
            return other.failure
        return unreadable(text, self._secrets)

    def _lost(
        self, error: aiohttp.ClientError | OSError | ValueError, timeout_s: float, *, is_first: bool
    ) -> LlmFailure:
        if isinstance(error, NoChat):
            return error.failure
        if isinstance(error, NotAnEventStream):
            return self._garbage(str(error), is_first=is_first)
        if isinstance(error, ValueError):
            words = redact(f"the request cannot be made: {error}", self._secrets)
            return LlmFailure(kind=FailureKind.INVALID, message=words)
        never_sent = isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError)
        silence = f"the server was silent for {timeout_s:g} s"
        return lost(list(causes_of(error)), self._host, sent=not never_sent, silence=silence)


@cache
def _timeout(silence: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S, sock_read=silence)


def _transient(message: str) -> LlmFailure:
    return LlmFailure(kind=FailureKind.TRANSIENT, message=message)


async def _whole(response: aiohttp.ClientResponse) -> Iterable[str]:
    """Return the JSON documents of a body that says it is one, as a server sends it that does not stream."""
    body = (await _read(response, WHOLE_BODY, None)).removeprefix(_BOM).strip()
    is_stream = body.startswith(("data:", "event:", ":"))
    check_whole(body, response.status, streams=is_stream)
    reader = SseReader()
    return chain(reader.feed(body.encode()), reader.finish()) if is_stream else documents_in(body)


async def _read(response: aiohttp.ClientResponse, limit: int, timeout_s: float | None) -> str:
    """Return at most `limit` bytes of the body as text; what has arrived, if it is cut or too slow."""
    body = bytearray()
    with contextlib.suppress(aiohttp.ClientError, OSError):
        async with asyncio.timeout(timeout_s):
            async with contextlib.aclosing(in_utf8(response.content.iter_any())) as chunks:
                async for chunk in chunks:
                    body += chunk
                    if len(body) >= limit:
                        break
    return body[:limit].decode("utf-8", "replace")


async def _drain(response: aiohttp.ClientResponse) -> None:
    if response.content.at_eof():
        return
    with contextlib.suppress(aiohttp.ClientError, OSError):
        async with asyncio.timeout(LINGER_S):
            async for _ in response.content.iter_any():
                pass
