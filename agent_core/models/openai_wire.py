"""What we say, in the words of the OpenAI chat protocol. Run before every model call: plain dicts, no checks."""

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from pydantic import JsonValue

from agent_core.llm import LlmRequest, ToolSpec
from agent_core.messages import (
    AssistantMessage,
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
from agent_core.remembered import Remembered
from agent_core.untrusted import inside

WireObject = dict[str, JsonValue]

NO_VISION = "[a picture ({}), which this model cannot see]"
"""Stands for a picture where the model has no eyes (S2-15)."""


def messages_to_wire(request: LlmRequest, *, vision: bool = True, signed_by: str = "") -> list[WireObject]:
    """The system prompt and the messages.

    `vision`: pictures are sent; otherwise a sentence stands for each. `signed_by`: reasoning that carries a signature
    of a model whose id begins so goes back, as Anthropic wants it between tool calls; everyone else's reasoning is
    never sent back, for a signature of others is refused.
    """
    wire: list[WireObject] = []
    if request.system:
        wire.append({"role": "system", "content": request.system})
    for message, pictures in _with_pictures(request.messages, vision=vision):
        wire.extend(_message(message, vision=vision, signed_by=signed_by))
        wire.extend([_pictures_of_tools(pictures)] if pictures else [])
    return wire


class WireText:
    """The messages as JSON; each is written once for as long as its conversation holds it."""

    def __init__(self) -> None:
        self._written = {
            vision: Remembered[LlmMessage, str](partial(_message_text, vision=vision)) for vision in (True, False)
        }

    def of(self, request: LlmRequest, *, vision: bool) -> str:
        """What `json.dumps` makes of `messages_to_wire`."""
        texts = [_json({"role": "system", "content": request.system})] if request.system else []
        written = self._written[vision].row(request.messages)
        for text, (_, pictures) in zip(written, _with_pictures(request.messages, vision=vision), strict=True):
            texts.extend([text] if text else [])  # an answer that held only thinking
            texts.extend([_json(_pictures_of_tools(pictures))] if pictures else [])
        return f"[{', '.join(texts)}]"


def _with_pictures(
    messages: Sequence[LlmMessage], *, vision: bool
) -> Iterator[tuple[LlmMessage, Sequence[ImageContent]]]:
    """Each message, and the pictures that are to stand behind it: those of a row of tool results, after the last."""
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
    return ", ".join(map(_json, _message(message, vision=vision)))


def _json(value: WireObject) -> str:
    return json.dumps(value, ensure_ascii=False)


def tools_to_wire(tools: Sequence[ToolSpec]) -> list[JsonValue]:
    """The tools' schemas."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
        }
        for tool in tools
    ]


def user_text(message: UserMessage) -> str:
    """The words as the model reads them: the context, the speaker, what was said (S2-44, D-04)."""
    text = text_of(message.content)
    if message.source:
        text = f"{message.source}: {text}"
    if message.context:
        text = f"<context>\n{inside(message.context, 'context')}\n</context>\n{text}"  # others' words stand in it
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
    """Nothing for an answer that held only thinking: no server takes an empty message."""
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
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


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
    return {"role": "tool", "tool_call_id": message.tool_call_id, "content": text}


def _picture_note(picture: UserContent, *, vision: bool) -> str:
    if vision:
        return "[a picture, shown below]"
    return NO_VISION.format(picture.mime_type if isinstance(picture, ImageContent) else "")


def _pictures_of_tools(pictures: Sequence[ImageContent]) -> WireObject:
    """Pictures cannot stand in a tool's message, and nothing may stand between the results of one answer."""
    parts: list[JsonValue] = [_picture(picture) for picture in pictures]
    return {"role": "user", "content": [*parts, {"type": "text", "text": "The pictures that the tools returned."}]}


def _picture(picture: ImageContent) -> JsonValue:
    return {"type": "image_url", "image_url": {"url": f"data:{picture.mime_type};base64,{picture.data}"}}
