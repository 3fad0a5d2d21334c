"""The OpenAI chat protocol: messages, tools and thinking options as JSON."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import is_
from typing import get_args

from msgspec import Struct
from pydantic import JsonValue

from agent_core.identity_cache import IdentityCache
from agent_core.messages import (
    AssistantContent,
    AssistantMessage,
    Frozen,
    ImageContent,
    LlmMessage,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserContent,
    UserMessage,
    text_of,
)
from agent_core.models.filled import filled
from agent_core.models.llm import LlmOptions, LlmRequest, ModelInfo, ThinkingLevel, ToolSpec
from agent_core.models.manner import AS_USUAL, Manner
from agent_core.models.plain_schema import plain_schema
from agent_core.models.roles import arranged
from agent_core.untrusted import inside

WireObject = dict[str, JsonValue]

_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_TAKEN = re.compile("[A-Za-z0-9_-]{1,40}")

NO_VISION = "[a picture ({}), which this model cannot see]"
"""Placeholder of a picture for models without vision."""
RESULTS_READ = "I have the results."
"""Answer between results and a user message, for models that refuse one directly after the other."""
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


class Reader(Struct, frozen=True):
    """The model for which messages are written: whatever it handed out itself goes back to it."""

    provider: str = ""
    model: str = ""
    vision: bool = True
    """Without it, a sentence replaces each picture."""
    manner: Manner = AS_USUAL

    def wrote(self, message: LlmMessage) -> bool:
        """Return True for an answer of this model that has something private. Rows of earlier versions do not name
        the provider, but have signatures of Anthropic's only."""
        if not isinstance(message, AssistantMessage) or message.model != self.model or self.manner.bare:
            return False
        if message.opaque is not None:
            return message.opaque.provider == self.provider
        return self.provider == "anthropic" and any(map(_is_signed, message.content))


def messages_to_wire(request: LlmRequest, reader: Reader) -> list[WireObject]:
    """Return the system prompt and the messages."""
    wire: list[WireObject] = []
    if request.system:
        wire.append({"role": "system", "content": request.system})
    for message, inserted in _with_inserted(request.messages, reader):
        wire.extend(_message(message, reader))
        wire.extend(inserted)
    return arranged(wire, reader.manner)


class WireText:
    """The messages as JSON; each is serialised once for a reader, for as long as its conversation holds it."""

    def __init__(self) -> None:
        self._written: dict[Reader, IdentityCache[LlmMessage, str]] = {}

    def of(self, request: LlmRequest, reader: Reader) -> str:
        """Return `messages_to_wire` as compact JSON."""
        if reader.manner.rearranges:
            return f"[{','.join(map(compact_json, messages_to_wire(request, reader)))}]"
        texts = [compact_json({"role": "system", "content": request.system})] if request.system else []
        if reader not in self._written:
            self._written[reader] = IdentityCache(partial(_message_text, reader=reader))
        written = self._written[reader].row(request.messages)
        if not _is_inserted_into(request.messages, reader):
            return f"[{','.join((*texts, *filter(None, written)))}]"
        for text, (_, inserted) in zip(written, _with_inserted(request.messages, reader), strict=True):
            texts.extend([text] if text else [])  # empty for an answer with reasoning only
            texts.extend(map(compact_json, inserted))
        return f"[{','.join(texts)}]"


def _is_inserted_into(messages: Sequence[LlmMessage], reader: Reader) -> bool:
    """Return True if something may go out between the messages."""
    results = [message for message in messages if isinstance(message, ToolResultMessage)]
    if reader.manner.answers_results:
        return bool(results)
    return reader.vision and any(isinstance(part, ImageContent) for each in results for part in each.content)


def _with_inserted(messages: Sequence[LlmMessage], reader: Reader) -> Iterator[tuple[LlmMessage, list[WireObject]]]:
    """Yield each message with what goes out after it: the pictures of consecutive tool results, after the last; before
    them and before a person's message, an answer to the results if the model wants one."""
    pictures: list[ImageContent] = []
    after_results = False
    for message, following in zip(messages, (*messages[1:], None), strict=True):
        if isinstance(message, ToolResultMessage):
            after_results = True
            pictures += [part for part in message.content if reader.vision and isinstance(part, ImageContent)]
        elif after_results and (not isinstance(message, AssistantMessage) or _is_sent(message.content)):
            after_results = False
        shown = [] if not pictures or isinstance(following, ToolResultMessage) else [_pictures_of_tools(pictures)]
        if after_results and reader.manner.answers_results and (shown or isinstance(following, UserMessage)):
            yield message, [{"role": "assistant", "content": RESULTS_READ}, *shown]
        else:
            yield message, shown
        if shown:
            pictures, after_results = [], False


def _message(message: LlmMessage, reader: Reader) -> Iterable[WireObject]:
    if isinstance(message, UserMessage):
        return ({"role": "user", "content": _user_content(message, vision=reader.vision)},)
    wire: Iterable[WireObject]
    if isinstance(message, AssistantMessage):
        wire = _own_answer(message) if reader.wrote(message) else _answer(message.content)
    else:
        wire = (_tool_result(message, vision=reader.vision),)
    return wire if reader.manner == AS_USUAL else filled(wire, reader.manner)


def _message_text(message: LlmMessage, reader: Reader) -> str:
    return ",".join(map(compact_json, _message(message, reader)))


def compact_json(value: Mapping[str, JsonValue]) -> str:
    """Return the JSON without spaces between its parts: they are paid for with every request."""
    return _COMPACT.encode(value)


def tools_to_wire(tools: Sequence[ToolSpec], manner: Manner) -> list[JsonValue]:
    """Return the tools' schemas in the form that the model takes. Each is made once and must not be changed."""
    made = _plain if manner.plain_schemas else _as_it_is
    return [*made.each(tools)]


def tools_text(tools: Sequence[ToolSpec], manner: Manner) -> str:
    """Return `tools_to_wire` as compact JSON; each is serialised once."""
    before, text = _tools_before.get(manner.plain_schemas, ((), "[]"))
    if len(before) != len(tools) or not all(map(is_, before, tools)):
        made = _plain_text if manner.plain_schemas else _text_as_it_is
        text = f"[{','.join(made.each(tools))}]"
        _tools_before[manner.plain_schemas] = tools, text
    return text


def _tool(tool: ToolSpec, *, plain: bool) -> WireObject:
    parameters = plain_schema(tool.parameters) if plain else tool.parameters
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": parameters},
    }


def _tool_text(tool: ToolSpec, *, plain: bool) -> str:
    return compact_json(_tool(tool, plain=plain))


_as_it_is: IdentityCache[ToolSpec, JsonValue] = IdentityCache(partial(_tool, plain=False))
_plain: IdentityCache[ToolSpec, JsonValue] = IdentityCache(partial(_tool, plain=True))
_text_as_it_is: IdentityCache[ToolSpec, str] = IdentityCache(partial(_tool_text, plain=False))
_plain_text: IdentityCache[ToolSpec, str] = IdentityCache(partial(_tool_text, plain=True))
_tools_before: dict[bool, tuple[Sequence[ToolSpec], str]] = {}
"""The tools of the last request, and their text, by whether their schemas are plain."""


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


def _answer(content: Sequence[AssistantContent], *, own: bool = False) -> Iterable[WireObject]:
    """Yield the answer; nothing if it has reasoning only, because servers reject empty messages."""
    text = text_of(content)
    calls: list[JsonValue] = [_call(part, own=own) for part in content if isinstance(part, ToolCall)]
    if not text and not calls:
        return
    wire: WireObject = {"role": "assistant", "content": text}
    if calls:
        wire["content"] = text or None
        wire["tool_calls"] = calls
    yield wire


def _is_sent(content: Sequence[AssistantContent]) -> bool:
    """Return True if there is more in an answer than reasoning."""
    return any(isinstance(part, ToolCall) or (isinstance(part, TextContent) and part.text) for part in content)


def _own_answer(message: AssistantMessage) -> Iterator[WireObject]:
    """Yield the answer for the model that gave it, with what belongs to that model."""
    fields: WireObject = message.opaque.fields if message.opaque else {}
    if any(map(_is_signed, message.content)):
        for content in _blocks(message.content):
            thoughts: list[JsonValue] = [_thought(part) for part in content if _is_signed(part)]
            for wire in _answer(content, own=True):
                yield wire | ({"thinking_blocks": thoughts} if thoughts else {}) | fields
                fields = {}
    elif message.opaque is not None:
        thinking = "".join(part.thinking for part in message.content if isinstance(part, ThinkingContent))
        for wire in _answer(message.content, own=True):
            yield wire | dict.fromkeys(message.opaque.reasoning_in, thinking) | fields


def _blocks(content: Sequence[AssistantContent]) -> Iterator[Sequence[AssistantContent]]:
    """Yield the parts of an answer, cut before each thought that follows words or a call: Anthropic wants thoughts back
    at their places, and litellm joins messages in a row but puts the thoughts of each first."""
    start = 0
    for place in range(1, len(content)):
        if _is_signed(content[place]) and not isinstance(content[place - 1], ThinkingContent):
            yield content[start:place]
            start = place
    yield content[start:]


def _is_signed(part: AssistantContent) -> bool:
    return isinstance(part, ThinkingContent) and bool(part.signature)


def _thought(part: AssistantContent) -> JsonValue:
    if not isinstance(part, ThinkingContent):
        return None
    if part.redacted:
        return {"type": "redacted_thinking", "data": part.signature}
    return {"type": "thinking", "thinking": part.thinking, "signature": part.signature}


def _call(call: ToolCall, *, own: bool) -> JsonValue:
    arguments = json.dumps(call.arguments, ensure_ascii=False) if call.arguments else "{}"
    function: WireObject = {"name": call.name, "arguments": arguments}
    private = dict(call.opaque) if own and call.opaque else {}
    inside = private.pop("function", None)
    if isinstance(inside, dict):
        function |= inside
    return {"id": call_id(call.id), "type": "function", "function": function, **private}


def call_id(own: str) -> str:
    """Return a tool call's id in a form that every provider accepts: unchanged, or else a hash.

    vLLM's ids have 46 characters, of which OpenAI accepts 40; Anthropic accepts no dots or colons.
    """
    return own if _TAKEN.fullmatch(own) else f"call_{hashlib.sha256(own.encode('utf-8', 'replace')).hexdigest()[:32]}"


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
