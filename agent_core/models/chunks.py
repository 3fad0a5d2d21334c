"""The chunks of a streamed answer, read field by field: whatever else stands in a chunk cannot fail the answer.

Reads JSON objects, and litellm's objects with the same fields.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field
from pydantic import BaseModel, JsonValue, TypeAdapter

from agent_core.json_text import read_json
from agent_core.messages import JsonObject, clean, clean_json
from agent_core.models.finish import Finish, meaning_of
from agent_core.models.protocols import Protocol, check_protocol
from agent_core.models.usual_chunk import usual_words
from agent_core.models.wire_errors import WireError, error_in
from agent_core.models.wire_usage import WireUsage, usage_in
from agent_core.models.wire_values import count_in, fields_of

REASONING = ("reasoning_content", "reasoning", "reasoning_text", "thinking", "thought")
"""The fields in which servers send reasoning as text, the most common first."""

_json: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)
_PRIVATE = re.compile(r"reasoning|thinking|thought|signature|extra_content|provider_specific_fields")
"""Names of fields that a model needs back as they came."""
_PICTURES = ("images", "image")
PICTURE = "\n[The model made a picture. Parley cannot pass it on.]\n"
"""Placeholder, in lines of its own, of a picture that an image model sends beside its words or among their parts."""
_SOURCES = ("citations", "search_results", "annotations")
_SIGNED_BY = "__thought__"
_ARGUMENTS = ("arguments", "parameters", "input")
_TEXTS = ("text", "content", "thinking", "summary", "value", "parts", "refusal")
_WHOLE = "chat.completion"
"""The kind of an answer that comes in one piece."""
_WORDS = frozenset({"content", "role"})
_NO_REASON = frozenset({"", "null", "none"})
_EMPTY: tuple[object, ...] = (None, "", [], {})


class Unreadable(ValueError):
    """The words or calls of a chunk have a shape that cannot be read."""


class Thought(Struct, frozen=True):
    """A piece of a reasoning block of Anthropic's; `signature` ends the block, or is the whole of a redacted one."""

    text: str = ""
    signature: str | None = None
    redacted: bool = False


class CallPiece(Struct, frozen=True):
    index: int | None = None
    id: str | None = None
    name: str = ""
    arguments: str = ""
    private: JsonObject = field(default_factory=dict)


class Delta(Struct, frozen=True):
    text: str = ""
    thinking: str = ""
    thoughts: tuple[Thought, ...] = ()
    refusal: str = ""
    calls: tuple[CallPiece, ...] = ()
    private: JsonObject = field(default_factory=dict)
    so_far: bool = False
    """True if the text and the calls may be all of the answer, which began before."""

    @property
    def says(self) -> bool:
        """Return True if anything is in it that people or tools get."""
        return bool(self.text or self.thinking or self.thoughts or self.refusal or self.calls)


class Chunk(Struct, frozen=True):
    delta: Delta | None = None
    choice: int | None = None
    """The number of the choice; answers that nobody asked for have others."""
    finish_reason: str | None = None
    usage: WireUsage | None = None
    error: WireError | None = None
    sources: tuple[str, ...] = ()
    """Addresses of pages to which numbers in the text refer, such as `[1]`."""


def read_chunk(value: object) -> Chunk:
    """Return what a chunk says. Raises Unreadable if its words or calls cannot be read, and OtherProtocol."""
    if (words := usual_words(value)) is not None:
        return Chunk(delta=Delta(text=words), choice=0)
    if value is None:
        return Chunk()
    fields = fields_of(value[0] if isinstance(value, list) and value else value)
    if fields is None:
        raise Unreadable("no JSON object")
    choices = fields.get("choices")
    if not choices:
        check_protocol(fields, Protocol.CHAT)
    error = error_in(fields)
    usage = usage_in(fields.get("usage")) or usage_in((fields_of(fields.get("x_groq")) or {}).get("usage"))
    if error is not None or not choices:
        return Chunk(usage=usage, error=error, sources=tuple(_addresses(fields)))
    first = _first(_listed(choices))
    if first is None:
        return Chunk(usage=usage)
    return Chunk(
        delta=_said(first),
        choice=count_in(first.get("index")),
        finish_reason=_finish(first, is_whole=fields.get("object") == _WHOLE),
        usage=usage or usage_in(first.get("usage")),
        error=error_in({"error": told}) if (told := first.get("error")) else None,
        sources=(*_addresses(fields), *_addresses(first.get("delta")), *_addresses(first.get("message"))),
    )


def _addresses(value: object) -> Iterator[str]:
    """Yield the sources of a chunk or a delta: Perplexity's, or the annotations of OpenAI and OpenRouter."""
    fields = fields_of(value) or {}
    told = next((told for name in _SOURCES if (told := fields.get(name))), ())
    for each in _listed(told):
        source = fields_of(each) or {"url": each}
        url = (fields_of(source.get("url_citation")) or source).get("url")
        if isinstance(url, str) and url.startswith(("https://", "http://")):
            yield url


def _first(choices: Sequence[object]) -> Mapping[str, object] | None:
    """Return the first of the choices; None if there is none. Raises Unreadable."""
    if len(choices) == 1 and isinstance(choices[0], dict):
        return choices[0]
    told = [each for each in choices if each is not None]
    read = [each for each in map(fields_of, told) if each is not None]
    if len(read) < len(told):
        raise Unreadable("choices that are no list of objects")
    return min(read, key=lambda each: count_in(each.get("index")) or 0, default=None)


def _finish(choice: Mapping[str, object], *, is_whole: bool) -> str | None:
    """Return why an answer ended, as told beside its last piece or in it; one in a single piece needs no reason."""
    told = _reason(choice.get("finish_reason"))
    if not told and (piece := fields_of(choice.get("delta"))):
        told = _reason(piece.get("finish_reason"))
    native = _reason(choice.get("native_finish_reason"))  # OpenRouter's, which calls some refusals "stop"
    if native and meaning_of(native) is Finish.REFUSED:
        return native
    return told or ("stop" if is_whole and choice.get("message") else None)


def _reason(value: object) -> str | None:
    """Return a reason that stands alone, in an object or in a list."""
    if not value:
        return None
    if isinstance(value, list | tuple):
        value = next(iter(value), None)
    if isinstance(value, dict):
        value = value.get("type") or value.get("reason")
    word = _word(value)
    return word if word and word.strip().lower() not in _NO_REASON else None


def _said(choice: Mapping[str, object]) -> Delta | None:
    """Return what a choice says: a piece, the whole of an answer, or the text of the older protocol."""
    said = _delta(piece) if (piece := choice.get("delta")) else None
    if said is not None and said.says:
        return said
    found = [
        *([_delta(whole, so_far=True)] if (whole := choice.get("message")) else []),
        *([Delta(text=_words(text))] if (text := choice.get("text")) else []),
    ]
    return next((each for each in found if each.says), said or next(iter(found), None))


def _delta(value: object, *, so_far: bool = False) -> Delta:
    if isinstance(value, dict) and (words := _only_words(value)) is not None:
        return Delta(text=words, so_far=so_far)
    fields = {"content": value} if _is_content(value) else fields_of(value)
    if fields is None:
        raise Unreadable("a delta that is no object")
    text, thinking = _content(fields.get("content"))
    if fields.get("thought") is True:
        text, thinking = "", thinking + text
    thinking = next((words for name in REASONING if (words := _words(fields.get(name)))), thinking)
    beside = next((_pictures(shown) for name in _PICTURES if (shown := fields.get(name))), "")
    return Delta(
        text=text + beside,
        thinking=thinking,
        thoughts=tuple(_thoughts(fields.get("thinking_blocks"))),
        refusal=_words(fields.get("refusal")),
        calls=tuple(_calls(fields.get("tool_calls") or _older_call(fields.get("function_call")))),
        private=_private(fields),
        so_far=so_far,
    )


def _only_words(fields: Mapping[str, object]) -> str | None:
    """Return the text of a piece that has nothing else, as most have; None for all others."""
    for name, value in fields.items():
        if name not in _WORDS and value not in _EMPTY:
            return None
    text = fields.get("content")
    return text if isinstance(text, str) else None


def _is_content(value: object) -> bool:
    """Return True for words, or a list of words and objects, that stand where an object with them belongs."""
    return isinstance(value, str) or (
        isinstance(value, list | tuple) and all(isinstance(each, str | dict) for each in value)
    )


def _private(fields: Mapping[str, object]) -> JsonObject:
    """Return the fields that only the model itself can use, as JSON; thoughts are read on their own."""
    found = {
        name: value if name in REASONING and isinstance(value, str) else _plain(value)
        for name, value in fields.items()
        if value and value is not True and _PRIVATE.search(name)  # a mark is of its chunk alone
    }
    found.pop("thinking_blocks", None)
    if isinstance(repeated := found.get("provider_specific_fields"), dict):  # litellm copies thoughts to here
        repeated.pop("thinking_blocks", None)
    return {name: value for name, value in found.items() if value}


def _plain(value: object) -> JsonValue:
    """Return the value as JSON; None if that cannot be."""
    try:
        return _json.validate_python(clean_json(value.model_dump() if isinstance(value, BaseModel) else value))
    except (ValueError, RecursionError):
        return None


def _content(value: object) -> tuple[str, str]:
    """Return the text and the reasoning of an answer's content, which may be a list of parts."""
    if not isinstance(value, list | tuple):
        return _words(value), ""
    text, thinking = "", ""
    for part in value:
        fields = fields_of(part) or {}
        kind = str(fields.get("type", ""))
        if kind.startswith(("thinking", "reasoning")):
            thinking += _words(part)
        elif kind.startswith(("image", "output_image")):
            text += _pictures(part)
        else:
            text += _words(part)
    return text, thinking


def _pictures(value: object) -> str:
    """Return a placeholder for each picture in a list of them, or for one."""
    shown = value if isinstance(value, list | tuple) else [value]
    return "".join(PICTURE for each in shown if each)


def _words(value: object) -> str:
    """Return the text in a value: a text, a number, an object with a text, or a list of these."""
    match value:
        case str():
            return value  # not cleaned, for the other half of a character may come in the next chunk
        case list() | tuple():
            return "".join(map(_words, value))
        case dict():
            return next((words for name in _TEXTS if (words := _words(value.get(name)))), "")
        case int() | float() if not isinstance(value, bool):
            return str(value)
        case _:
            return ""


def _word(value: object) -> str | None:
    """Return a text that is not empty."""
    return value if isinstance(value, str) and value else None


def _thoughts(value: object) -> Iterator[Thought]:
    for block in value if isinstance(value, list | tuple) else ():
        fields = fields_of(block) or {}
        if fields.get("type") == "redacted_thinking":
            yield Thought(signature=_word(fields.get("data")), redacted=True)
        else:
            yield Thought(text=_words(fields.get("thinking")), signature=_word(fields.get("signature")))


def _older_call(value: object) -> object:
    """Return the one call of the older protocol as one of today's."""
    fields = fields_of(next(iter(value), None) if isinstance(value, list | tuple) else value)
    return {"index": 0, "function": fields} if fields and (fields.get("name") or fields.get("arguments")) else None


def _calls(value: object) -> Iterator[CallPiece]:
    if isinstance(value, str):
        value = _decoded(value)
    for piece in _listed(value) if value else ():
        if piece in (None, {}, []):
            continue
        fields = fields_of(piece)
        if fields is None:
            raise Unreadable("a tool call that is no object")
        call = _call(fields)
        if call.id or call.name or call.arguments or call.private:
            yield call


def _call(fields: Mapping[str, object]) -> CallPiece:
    given = fields.get("function") or fields.get("custom")
    if isinstance(given, str):
        fields = {**fields, "name": given}
    function = fields_of(given) or fields
    identity, signed = _identity(fields.get("id"))
    inside = _private(function) if function is not fields else {}
    name = function.get("name")
    return CallPiece(
        index=count_in(fields.get("index")),
        id=identity or None,
        name=_words(name.get("name") if isinstance(name, dict) else name),
        arguments="".join(_arguments(function[each]) for each in _ARGUMENTS if function.get(each) is not None),
        private={**signed, **_private(fields), **({"function": inside} if inside else {})},
    )


def _decoded(text: str) -> object:
    """Return the calls that a text holds as JSON; None if there are none in it."""
    try:
        return read_json(text) if "{" in text else None
    except ValueError as error:
        raise Unreadable("tool calls in a text that is no JSON") from error


def _listed(value: object) -> Sequence[object]:
    """Return what stands in a list, in an object by number, or on its own."""
    if isinstance(value, list | tuple):
        return value
    if isinstance(value, dict) and all(str(key).isdigit() for key in value):
        return [*value.values()]
    return (value,)


def _identity(value: object) -> tuple[str, JsonObject]:
    """Return a call's id, and the signature of Gemini's that litellm appends to it, in the field in which litellm takes
    it back."""
    identity, _, signature = ("" if value is None else str(clean(str(value)))).partition(_SIGNED_BY)
    return identity, {"provider_specific_fields": {"thought_signature": signature}} if signature else {}


def _arguments(value: object) -> str:
    """Return a piece of the JSON; some servers send the object itself."""
    if value is None or isinstance(value, str):
        return value or ""
    plain = _plain(value)
    return json.dumps(plain, ensure_ascii=False)
