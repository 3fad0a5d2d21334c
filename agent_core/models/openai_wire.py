"""The OpenAI chat protocol: requests as JSON, thinking options, and the chunks of a streamed answer.

The classes of chunks read JSON (`model_validate` of a dict) and litellm's objects, which have the same attributes.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, JsonValue

from agent_core.identity_cache import IdentityCache
from agent_core.messages import (
    AssistantMessage,
    Frozen,
    ImageContent,
    JsonObject,
    LlmMessage,
    Text,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserContent,
    UserMessage,
    text_of,
)
from agent_core.models.llm import LlmOptions, LlmRequest, ModelInfo, ThinkingLevel, ToolSpec
from agent_core.untrusted import inside

WireObject = dict[str, JsonValue]

_TAKEN = re.compile("[A-Za-z0-9_-]{1,40}")

NO_VISION = "[a picture ({}), which this model cannot see]"
"""Placeholder of a picture for models without vision."""
BUDGETS: Mapping[str, int] = {
    "minimal": 1024,
    "low": 2048,
    "medium": 8192,
    "high": 16384,
    "xhigh": 16384,
    "max": 16384,
}
"""Tokens; `LlmOptions.thinking_budgets` overrides each."""
ANSWER_ROOM = 1024
"""Tokens reserved for the answer besides the reasoning."""
LEAST_BUDGET = 1024
"""Smallest budget that providers accept."""

_LEVELS: tuple[ThinkingLevel, ...] = get_args(ThinkingLevel)
MILLION = 1_000_000
MOST_TOKENS = 1_000_000_000
"""More than any call uses."""


def messages_to_wire(request: LlmRequest, *, vision: bool = True, signed_by: str = "") -> list[WireObject]:
    """Return the system prompt and the messages.

    Without `vision`, a sentence replaces each picture. Reasoning with a signature is sent back only to models whose id
    starts with `signed_by`, as Anthropic requires between tool calls; foreign signatures are rejected.
    """
    wire: list[WireObject] = []
    if request.system:
        wire.append({"role": "system", "content": request.system})
    for message, pictures in _with_pictures(request.messages, vision=vision):
        wire.extend(_message(message, vision=vision, signed_by=signed_by))
        wire.extend([_pictures_of_tools(pictures)] if pictures else [])
    return wire


class WireText:
    """The messages as JSON; each is serialised once for as long as its conversation holds it."""

    def __init__(self) -> None:
        self._written = {
            vision: IdentityCache[LlmMessage, str](partial(_message_text, vision=vision)) for vision in (True, False)
        }

    def of(self, request: LlmRequest, *, vision: bool) -> str:
        """Return `messages_to_wire` as compact JSON."""
        texts = [compact_json({"role": "system", "content": request.system})] if request.system else []
        written = self._written[vision].row(request.messages)
        for text, (_, pictures) in zip(written, _with_pictures(request.messages, vision=vision), strict=True):
            texts.extend([text] if text else [])  # empty for an answer with reasoning only
            texts.extend([compact_json(_pictures_of_tools(pictures))] if pictures else [])
        return f"[{','.join(texts)}]"


def _with_pictures(
    messages: Sequence[LlmMessage], *, vision: bool
) -> Iterator[tuple[LlmMessage, Sequence[ImageContent]]]:
    """Yield each message with the pictures to insert after it: those of consecutive tool results, after the last."""
    pictures: list[ImageContent] = []
    for message, following in zip(messages, (*messages[1:], None), strict=True):
        if vision and isinstance(message, ToolResultMessage):
            pictures += [part for part in message.content if isinstance(part, ImageContent)]
        if pictures and not isinstance(following, ToolResultMessage):
            yield message, pictures
            pictures = []
        else:
            yield message, ()


def _message(message: LlmMessage, *, vision: bool, signed_by: str = "") -> Iterable[WireObject]:
    if isinstance(message, UserMessage):
        return ({"role": "user", "content": _user_content(message, vision=vision)},)
    if isinstance(message, AssistantMessage):
        return _assistant(message, signed_by)
    return (_tool_result(message, vision=vision),)


def _message_text(message: LlmMessage, *, vision: bool) -> str:
    return ",".join(map(compact_json, _message(message, vision=vision)))


def compact_json(value: Mapping[str, JsonValue]) -> str:
    """Return the JSON without spaces between its parts: they are paid for with every request."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def tools_to_wire(tools: Sequence[ToolSpec]) -> list[JsonValue]:
    """Return the tools' schemas."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
        }
        for tool in tools
    ]


def user_text(message: UserMessage) -> str:
    """Return the text as the model reads it: the context, the sender, the message."""
    text = text_of(message.content)
    if message.source:
        text = f"{message.source}: {text}"
    if message.context:
        text = f"<context>\n{inside(message.context, 'context')}\n</context>\n{text}"  # may contain untrusted input
    return text


def _user_content(message: UserMessage, *, vision: bool) -> JsonValue:
    text = user_text(message)
    pictures = [part for part in message.content if isinstance(part, ImageContent)]
    if not pictures:
        return text
    if not vision:
        return "\n".join([*(NO_VISION.format(picture.mime_type) for picture in pictures), text])
    parts: list[JsonValue] = [_picture(picture) for picture in pictures]
    return [*parts, {"type": "text", "text": text}] if text else parts


def _assistant(message: AssistantMessage, signed_by: str) -> Iterable[WireObject]:
    """Yield the answer; nothing if it has reasoning only, because servers reject empty messages."""
    text = message.text
    calls: list[JsonValue] = [_call(part) for part in message.content if isinstance(part, ToolCall)]
    if not text and not calls:
        return
    wire: WireObject = {"role": "assistant", "content": text}
    if calls:
        wire["content"] = text or None
        wire["tool_calls"] = calls
    if signed_by and (message.model or "").startswith(signed_by) and (blocks := _signed_thinking(message)):
        wire["thinking_blocks"] = blocks
    yield wire


def _call(call: ToolCall) -> JsonValue:
    arguments = json.dumps(call.arguments, ensure_ascii=False) if call.arguments else "{}"
    return {"id": call_id(call.id), "type": "function", "function": {"name": call.name, "arguments": arguments}}


def call_id(own: str) -> str:
    """Return a tool call's id in a form that every provider accepts: unchanged, or else a hash.

    vLLM's ids have 46 characters, of which OpenAI accepts 40; Anthropic accepts no dots or colons.
    """
    return own if _TAKEN.fullmatch(own) else f"call_{hashlib.sha256(own.encode('utf-8', 'replace')).hexdigest()[:32]}"


def _signed_thinking(message: AssistantMessage) -> list[JsonValue]:
    return [
        {"type": "thinking", "thinking": part.thinking, "signature": part.signature}
        for part in message.content
        if isinstance(part, ThinkingContent) and part.signature
    ]


def _tool_result(message: ToolResultMessage, *, vision: bool) -> WireObject:
    text = text_of(message.content)
    notes = [_picture_note(part, vision=vision) for part in message.content if not isinstance(part, TextContent)]
    if notes:
        text = "\n".join([text, *notes] if text else notes)
    return {"role": "tool", "tool_call_id": call_id(message.tool_call_id), "content": text}


def _picture_note(picture: UserContent, *, vision: bool) -> str:
    if vision:
        return "[a picture, shown below]"
    return NO_VISION.format(picture.mime_type if isinstance(picture, ImageContent) else "")


def _pictures_of_tools(pictures: Sequence[ImageContent]) -> WireObject:
    """Return a user message with the pictures: a tool message cannot hold them, and nothing may stand between the
    results of one answer."""
    parts: list[JsonValue] = [_picture(picture) for picture in pictures]
    return {"role": "user", "content": [*parts, {"type": "text", "text": "The pictures that the tools returned."}]}


def _picture(picture: ImageContent) -> JsonValue:
    return {"type": "image_url", "image_url": {"url": f"data:{picture.mime_type};base64,{picture.data}"}}


class Thinking(Frozen):
    """The reasoning settings of a request."""

    level: ThinkingLevel
    """A level that the model supports."""
    budget: int
    max_tokens: int
    """Limit of reasoning and answer together."""


def thinking_for(model: ModelInfo, options: LlmOptions) -> Thinking | None:
    """Return the settings, or None if reasoning is off or not supported, so that the request omits them."""
    if options.thinking == "off" or not model.reasoning:
        return None
    budget = options.thinking_budgets.get(options.thinking, BUDGETS[options.thinking])
    room = min(budget + max(options.max_tokens, ANSWER_ROOM), model.max_output)
    return Thinking(
        level=_clamped(options.thinking, model),
        budget=max(LEAST_BUDGET, min(budget, room - ANSWER_ROOM)),
        max_tokens=room,
    )


def most_output(model: ModelInfo, options: LlmOptions) -> int:
    """Return the most tokens that an answer may have, reasoning included: the limit that is sent with the request."""
    thinking = thinking_for(model, options)
    return thinking.max_tokens if thinking else model.answer_tokens(options.max_tokens)


def _clamped(wanted: ThinkingLevel, model: ModelInfo) -> ThinkingLevel:
    """Return the highest supported level up to the wanted one, else the lowest supported."""
    known = sorted(model.thinking_levels, key=_LEVELS.index) or [wanted]
    return next((level for level in reversed(known) if _LEVELS.index(level) <= _LEVELS.index(wanted)), known[0])


class _Wire(BaseModel):
    model_config = ConfigDict(extra="ignore", from_attributes=True)


class FunctionPiece(_Wire):
    name: Text | None = None
    arguments: Text | JsonObject | None = None
    """A piece of JSON; some servers send the object itself."""


class CallPiece(_Wire):
    index: int | None = None
    id: str | None = None
    function: FunctionPiece | None = None


class ContentPart(_Wire):
    text: Text | None = None


class ThinkingBlock(_Wire):
    signature: str | None = None


class Delta(_Wire):
    content: Text | list[ContentPart] | None = None
    reasoning_content: Text | None = None
    reasoning: object = None
    """Used by OpenRouter, Ollama and newer vLLM; a text, or elsewhere an object, which is ignored."""
    thinking_blocks: list[ThinkingBlock] | None = None
    tool_calls: list[CallPiece] | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):
            return "".join(part.text or "" for part in self.content)
        return self.content or ""

    @property
    def thinking(self) -> str:
        return self.reasoning_content or (self.reasoning if isinstance(self.reasoning, str) else "")

    @property
    def signature(self) -> str | None:
        return next((block.signature for block in self.thinking_blocks or () if block.signature), None)


class Choice(_Wire):
    delta: Delta | None = None
    message: Delta | None = None
    """The whole answer, from a server that does not stream."""
    finish_reason: str | None = None


def _possible(count: int | None) -> int | None:
    """Return a number of tokens, or None for one that no call can have used: then it counts as not told."""
    return count if count is not None and 0 <= count <= MOST_TOKENS else None


_Tokens = Annotated[int | None, AfterValidator(_possible)]


class _InputDetails(_Wire):
    cached_tokens: _Tokens = None
    cache_creation_tokens: _Tokens = None


class WireUsage(_Wire):
    prompt_tokens: _Tokens = None
    completion_tokens: _Tokens = None
    prompt_tokens_details: _InputDetails | None = None

    def priced(self, model: ModelInfo) -> Usage:
        """Return usage with cost. `prompt_tokens` includes cached tokens; `Usage` counts each token once."""
        details = self.prompt_tokens_details or _InputDetails()
        cache_read, cache_write = details.cached_tokens or 0, details.cache_creation_tokens or 0
        fresh = max(0, (self.prompt_tokens or 0) - cache_read - cache_write)
        output = self.completion_tokens or 0
        price = model.input_price or 0.0
        read_price = price if model.cache_read_price is None else model.cache_read_price
        write_price = price if model.cache_write_price is None else model.cache_write_price
        cost = (
            fresh * price + cache_read * read_price + cache_write * write_price + output * (model.output_price or 0.0)
        )
        return Usage(
            input=fresh,
            output=output,
            cache_read=cache_read,
            cache_write=cache_write,
            total=fresh + cache_read + cache_write + output,
            cost_usd=cost / MILLION,
        )


class ErrorDetail(_Wire):
    message: Text | None = None
    code: str | int | None = None
    type: str | None = None


class Chunk(_Wire):
    choices: list[Choice] | None = None
    usage: WireUsage | None = None
    error: ErrorDetail | Text | None = None
