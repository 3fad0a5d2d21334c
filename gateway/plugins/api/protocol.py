"""OpenAI's protocol of chat completions, as far as it is spoken here: requests, answers and errors."""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from agent_core.messages import Usage
from gateway.web.route import Answer, Refused

MODEL = "parley"
"""The only model: the agent of the chat."""
JSON = "application/json"
EVENTS = "text/event-stream; charset=utf-8"
LONGEST_TEXT = 400_000
"""Characters of the last message."""
MOST_HISTORY = 19_000
"""Characters of what was said before, which an errand brings along as a whole."""


class Part(BaseModel, defer_build=True):
    """A part of a message."""

    type: str
    text: str = ""


class Said(BaseModel, defer_build=True):
    """A message of the conversation that a program has."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None

    @property
    def text(self) -> str:
        """Its words. Raises Refused for what is no text."""
        if isinstance(self.content, list):
            if odd := [part.type for part in self.content if part.type not in ("text", "input_text")]:
                raise refused(400, f"messages may hold text only, and here is one with {odd[0]}", param="messages")
            return "\n".join(part.text for part in self.content)
        return self.content or ""


class StreamOptions(BaseModel, defer_build=True):
    """The options of a streamed answer."""

    include_usage: bool = False


class Completion(BaseModel):
    """A request for an answer. What it asks for besides, such as a temperature, is passed over."""

    model_config = ConfigDict(extra="ignore", defer_build=True)

    model: str
    messages: Annotated[list[Said], Field(min_length=1, max_length=2_000)]
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: int | None = 1

    @property
    def has_usage(self) -> bool:
        return self.stream_options is not None and self.stream_options.include_usage


def read(body: bytes) -> Completion:
    """Return the request in a body. Raises Refused."""
    try:
        asked = Completion.model_validate_json(body)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise refused(400, f"{where}: {first['msg']}" if where else first["msg"], param=where) from error
    if asked.model != MODEL:
        raise refused(404, f"the model {asked.model[:80]} does not exist; there is {MODEL}", code="model_not_found")
    if asked.n not in (None, 1):
        raise refused(400, "n has to be 1", param="n")
    return asked


def words_of(asked: Completion) -> tuple[str, str]:
    """Return the words of the person, which are the last message, and what was said before. Raises Refused."""
    *before, last = asked.messages
    if last.role != "user" or not last.text.strip():
        raise refused(400, "the last message has to be one of the user, with text", param="messages")
    history = "\n".join(f"{each.role}: {each.text}" for each in before if each.text)
    if len(history) > MOST_HISTORY:  # the newest of it is what this is about
        history = f"[... {len(history) - MOST_HISTORY} characters cut]\n{history[-MOST_HISTORY:]}"
    if len(last.text) > LONGEST_TEXT:
        raise refused(400, f"the last message may have {LONGEST_TEXT} characters", param="messages")
    return last.text, history


def refused(status: int, message: str, *, code: str = "", param: str = "", kind: str = "", wait: int = 0) -> Refused:
    """Return the refusal of a request."""
    headers = {"Retry-After": str(wait)} if wait else {}
    body = json.dumps(error(message, kind or "invalid_request_error", code, param)).encode()
    return Refused(Answer(body, status, JSON, headers))


def error(message: str, kind: str, code: str = "", param: str = "") -> JsonValue:
    """Return an error in OpenAI's form."""
    return {"error": {"message": message, "type": kind, "param": param or None, "code": code or None}}


def models(created: float) -> Answer:
    """Return the list of models."""
    model: JsonValue = {"id": MODEL, "object": "model", "created": int(created), "owned_by": "parley"}
    return Answer(json.dumps({"object": "list", "data": [model]}).encode(), content_type=JSON)


def completion(run: str, now: float, text: str, usage: Usage) -> Answer:
    """Return a whole answer."""
    body: Mapping[str, JsonValue] = {
        "id": f"chatcmpl-{run}",
        "object": "chat.completion",
        "created": int(now),
        "model": MODEL,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": counted(usage),
    }
    return Answer(json.dumps(body).encode(), content_type=JSON)


def counted(usage: Usage) -> JsonValue:
    """Return what an answer has used."""
    asked = usage.input + usage.cache_read + usage.cache_write
    return {"prompt_tokens": asked, "completion_tokens": usage.output, "total_tokens": asked + usage.output}


class Chunks:
    """Makes the pieces of an answer that comes as a stream."""

    def __init__(self, run: str, now: float) -> None:
        self._base: dict[str, JsonValue] = {
            "id": f"chatcmpl-{run}",
            "object": "chat.completion.chunk",
            "created": int(now),
            "model": MODEL,
        }

    def begin(self) -> bytes:
        return self._chunk([{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}])

    def words(self, text: str) -> bytes:
        return self._chunk([{"index": 0, "delta": {"content": text}, "finish_reason": None}])

    def end(self, usage: Usage | None) -> bytes:
        """Return the end of an answer, with what it has used if that is asked for."""
        last = self._chunk([{"index": 0, "delta": {}, "finish_reason": "stop"}])
        if usage is not None:
            last += self._chunk([], usage=counted(usage))
        return last + b"data: [DONE]\n\n"

    @staticmethod
    def failed(message: str, kind: str, code: str = "") -> bytes:
        """Return the end of an answer that failed after it had begun."""
        return _event(error(message, kind, code))

    def _chunk(self, choices: Sequence[JsonValue], **more: JsonValue) -> bytes:
        return _event({**self._base, "choices": list(choices), **more})


ALIVE = b": working\n\n"
"""A comment, which shows that the connection is still used."""


def _event(data: JsonValue) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()
