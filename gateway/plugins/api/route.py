"""The paths: who may ask, and what they are answered."""

import json
import math
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from uuid import uuid4

from agent_core.origin import DATA
from channels.base import Sender
from gateway.plugin import Core
from gateway.plugins.api.calls import DUTY, Call, Failed
from gateway.plugins.api.mcp import PATH as MCP
from gateway.plugins.api.mcp import McpTools
from gateway.plugins.api.plans import PlanWork
from gateway.plugins.api.protocol import EVENTS, JSON, Chunks, completion, error, models, read, refused, words_of
from gateway.plugins.api.table import ApiKey, ApiKeys
from gateway.runs.errands import Errand, Errands
from gateway.web.rate_limit import RateLimit
from gateway.web.route import Answer, Asked, Opening, Refused, Route

COMPLETIONS, MODELS = "/v1/chat/completions", "/v1/models"
MOST_BYTES = 4 * 1024 * 1024
OPENINGS: Mapping[str, Opening] = {
    COMPLETIONS: Opening(methods=("POST",), most_bytes=MOST_BYTES, seconds=900.0, is_waited_for=True),
    MODELS: Opening(),
}
WRONG_OF_ONE_PLACE = 30
"""Requests with a wrong key in a minute from one address."""
OF_ONE_KEY = 30
"""Calls in a minute."""
AT_ONCE = 3
"""Calls of one key under way."""
UNBUFFERED = {"X-Accel-Buffering": "no"}
"""Lets nginx pass pieces on as they come."""
AGAIN = 5.0
"""Seconds after which one of them may be over."""
_NO_KEY = "this needs a key, which /key add makes in a chat, as bearer token"


class ApiRoutes:
    """Answers programs that show a key."""

    def __init__(self, core: Core, keys: ApiKeys, errands: Errands, plans: PlanWork) -> None:
        self._core = core
        self._mcp = McpTools(core, self._asked, plans)
        self._keys = keys
        self._errands = errands
        self._places, self._calls = (RateLimit(core.clock.monotonic) for _ in range(2))
        self._under_way: Counter[int] = Counter()

    @property
    def routes(self) -> Mapping[str, Route]:
        return {COMPLETIONS: self.complete, MODELS: self.list, MCP: self.tools}

    async def list(self, asked: Asked) -> Answer:
        """Return the models. Raises Refused."""
        await self._key(asked)
        return models(await self._core.store.created_at())

    async def tools(self, asked: Asked) -> Answer:
        """Answer an MCP client. Raises Refused."""
        key = await self._caller(asked)
        return await self._mcp.answer(key, await _body(asked))

    async def _asked(self, key: ApiKey, question: str) -> str:
        """Let the agent answer a question. Raises Failed, and Refused."""
        await self._here(key)
        done = await self._call(key, question, "").whole()
        return done.report.text

    async def _caller(self, asked: Asked) -> ApiKey:
        """Return the key of a caller who may ask now. Raises Refused."""
        key = await self._key(asked)
        asked.showed_key()
        if self._is_full(key):
            raise _too_many(AGAIN)
        if seconds := self._calls.wait(str(key.id), OF_ONE_KEY):
            raise _too_many(seconds)
        return key

    def _is_full(self, key: ApiKey) -> bool:
        return self._under_way[key.id] >= AT_ONCE

    async def _here(self, key: ApiKey) -> None:
        """Raise Refused if another node works on the chat, or too many calls of the key are under way by now."""
        if not await self._errands.is_here(key.chat):
            raise refused(503, "another node works on this chat: ask again", kind="server_error", wait=2)
        if self._is_full(key):
            raise _too_many(AGAIN)

    async def complete(self, asked: Asked) -> Answer:
        """Let the agent answer. Raises Refused."""
        key = await self._caller(asked)
        request = read(await _body(asked))
        words, history = words_of(request)
        await self._here(key)
        call = self._call(key, words, history)
        now = self._core.clock.time()
        chunks = Chunks(call.errand.id, now)
        if request.stream:
            pieces = self._streamed(call, chunks, has_usage=request.has_usage)
            return Answer(chunks.begin(), content_type=EVENTS, headers=UNBUFFERED, chunks=pieces)
        try:
            done = await call.whole()
        except Failed as failed:
            body = json.dumps(error(failed.message, failed.kind, failed.code)).encode()
            return Answer(body, failed.status, JSON)
        return completion(call.errand.id, now, done.report.text, done.report.usage)

    async def _streamed(self, call: Call, chunks: Chunks, *, has_usage: bool) -> AsyncGenerator[bytes, None]:
        if self._is_full(call.key):  # as others have begun while the body was read
            yield chunks.failed("too many requests at once", "rate_limit_error", "rate_limit_exceeded")
            return
        async with aclosing(call.streamed(chunks, has_usage=has_usage)) as pieces:
            async for piece in pieces:
                yield piece

    def _call(self, key: ApiKey, words: str, history: str) -> Call:
        errand = Errand(
            f"api-{uuid4().hex}",
            key.chat,
            key.person,
            words,
            brought=f"Said before in the program:\n{history}" if history else "",
            origin=DATA,
            language=key.language,
            asks="api_asks",
            duty=DUTY,
        )
        return Call(self._core, self._keys, self._errands, key, errand, self._under_way)

    async def _key(self, asked: Asked) -> ApiKey:
        """Return the key that a request shows. Raises Refused."""
        scheme, _, secret = asked.headers.get("Authorization", "").partition(" ")
        key = await self._keys.shown(secret.strip()) if scheme.lower() == "bearer" and secret.strip() else None
        if key is not None and self._core.access.may_speak(key.chat, Sender(id=key.person, name="")):
            return key
        if seconds := self._places.wait(asked.place, WRONG_OF_ONE_PLACE):
            raise _too_many(seconds)
        raise refused(401, _NO_KEY, code="invalid_api_key")


async def _body(asked: Asked) -> bytes:
    """Return the body. Raises Refused in OpenAI's form."""
    try:
        return await asked.body()
    except Refused as error:
        raise refused(error.answer.status, error.answer.body.decode()) from error


def _too_many(seconds: float) -> Refused:
    return refused(
        429, "too many requests", code="rate_limit_exceeded", kind="rate_limit_error", wait=math.ceil(seconds)
    )
