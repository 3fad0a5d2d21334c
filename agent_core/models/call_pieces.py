"""Assembly of tool calls from the pieces in which servers send them; each names and numbers them in its own way."""

import re
from collections.abc import Collection, Iterator, Mapping

from msgspec import Struct, field

from agent_core.clock import NewId
from agent_core.json_text import TooDeep, read_first, read_json, read_python
from agent_core.messages import JsonObject, ToolCall, clean
from agent_core.models.chunks import CallPiece
from agent_core.models.private_fields import PrivateFields

RAW_CHARS = 200
"""Characters of unreadable arguments that are shown to the model again."""

_FENCE = "```"
_LANGUAGE = re.compile("[a-zA-Z]*")
_CONTROL = "<|"
"""Control tokens of a chat template begin like this."""
_SPACE = re.compile("[.:]")
_NEXT = re.compile(r"\S")
_AFTER = re.compile(r"\s*(?:<[^<>{}]{1,40}>\s*)+")
"""Marks of a chat template behind the arguments."""
_WRAPPERS = ("arguments", "parameters", "input", "args")
_NO_TEXT = ("", "None", "undefined")
"""Takes line breaks within a text, as models write them."""
_NUMBERED = re.compile(r":\d+$")


class OpenCall(Struct):
    """A call of which further pieces may come."""

    position: int
    id: str
    wire_id: str | None
    """The id from the server; None if it sent none."""
    names: list[str] = field(default_factory=list)
    """The pieces of the name."""
    pieces: list[str] = field(default_factory=list)
    """The pieces of the arguments."""
    private: PrivateFields = field(default_factory=PrivateFields)

    def add(self, piece: CallPiece) -> str | None:
        """Add a piece; return the piece of the name in it, if that is new."""
        name = piece.name.strip()
        is_new = bool(name) and name not in self.names and not (self.names and self.pieces)
        if is_new:
            self.names.append(name)
        if piece.arguments:
            self.pieces.append(piece.arguments)
        self.private.add(piece.private)
        return name if is_new else None

    def begins_another(self, piece: CallPiece) -> bool:
        """Return True if a piece starts a new call: some servers give all calls the same index or none, or repeat a
        call."""
        if not (self.names and piece.name.strip()):
            return False
        if piece.id and self.wire_id and piece.id != self.wire_id:
            return True
        if self.pieces and piece.name.strip() not in self.names:
            return True
        if not (piece.arguments.lstrip().startswith("{") and self.pieces and self.pieces[-1].rstrip().endswith("}")):
            return False  # decides most cases without parsing everything again
        return not isinstance(arguments_in("".join(self.pieces)), str)

    def whole(self, tools: Mapping[str, JsonObject]) -> ToolCall:
        """Return the call; arguments that cannot be parsed become its `arguments_error`. `tools` have their schemas."""
        call = tool_call(self.id, name_in(self.names, tools), str(clean("".join(self.pieces))))
        inner = _unwrapped(call.arguments, tools.get(call.name, {}))
        return call if inner is None else call.model_copy(update={"arguments": inner})


class OpenCalls:
    """The calls of one answer, in the order in which they began."""

    def __init__(self, make_id: NewId) -> None:
        self._make_id = make_id
        self._calls: list[OpenCall] = []
        self._by_index: dict[int, OpenCall] = {}
        self._by_id: dict[str, OpenCall] = {}

    def __iter__(self) -> Iterator[OpenCall]:
        return iter(self._calls)

    def __bool__(self) -> bool:
        return bool(self._calls)

    def find(self, piece: CallPiece) -> OpenCall | None:
        """Return the call that a piece continues: by index, else by id, else the last one; None if it starts a new
        call."""
        last = self._calls[-1] if self._calls else None
        same_id = self._by_id.get(piece.id) if piece.id else None
        if piece.index is not None:
            found = self._by_index.get(piece.index)
            if found and same_id and found.wire_id != piece.id:
                found = same_id  # calls that take turns under the same index
        elif piece.id:
            found = same_id or (None if piece.name.strip() else last)
        else:
            found = last
        return None if found and found.begins_another(piece) else found

    def whole(self, call: OpenCall, tools: Mapping[str, JsonObject]) -> ToolCall:
        """Return a call as a whole. One that was sent twice has the same id both times, so that it is made once."""
        whole, first = call.whole(tools), self._by_id.get(call.wire_id or "", call)
        is_twice = first is not call and first.whole(tools).model_copy(update={"id": whole.id}) == whole
        return whole.model_copy(update={"id": first.id}) if is_twice else whole

    def open(self, piece: CallPiece, position: int) -> OpenCall:
        """Return a new call at this position of the answer, with an id that no other call of it has so far."""
        is_taken = piece.id in self._by_id
        identity = piece.id if piece.id and not is_taken else f"call_{self._make_id()}"
        call = OpenCall(position=position, id=identity, wire_id=piece.id)
        self._calls.append(call)
        if piece.index is not None:
            self._by_index[piece.index] = call
        if piece.id:
            self._by_id.setdefault(piece.id, call)
        return call


def tool_call(identity: str, name: str, raw: str) -> ToolCall:
    """Return a call with these arguments as JSON."""
    arguments = arguments_in(raw)
    if isinstance(arguments, str):
        advice = f"The arguments of {name[:64]} {arguments}. Call it again with one JSON object that fits its schema."
        error = f"{advice} What arrived begins: {raw[:RAW_CHARS]}"
        return ToolCall(id=identity, name=name, arguments={}, arguments_error=error)
    try:
        return ToolCall(id=identity, name=name, arguments=arguments)
    except (ValueError, RecursionError):
        return ToolCall(id=identity, name=name, arguments={}, arguments_error=f"The arguments of {name} nest too deep.")


def _unwrapped(arguments: JsonObject, schema: JsonObject) -> JsonObject | None:
    """Return arguments that stand in a field of their own, as in the JSON of a whole call; None if they do not."""
    properties = schema.get("properties")
    if not (isinstance(properties, dict) and properties) or arguments.keys() & properties.keys():
        return None
    inner = [value for name, value in arguments.items() if name in _WRAPPERS]
    is_whole = len(inner) == 1 and arguments.keys() <= {"name", "type", *_WRAPPERS}
    return inner[0] if is_whole and isinstance(inner[0], dict) else None


def name_in(pieces: list[str], tools: Collection[str]) -> str:
    """Return the name of a call: as it came, unless only a part or the whole of its pieces names a tool."""
    if not pieces:
        return "unnamed"
    for written in ("".join(pieces), *reversed(pieces)):
        for name in (written, _bare(written)):
            if name in tools:
                return name
            if same := [tool for tool in tools if tool.casefold() == name.casefold()]:
                return same[0]
    return _bare(pieces[0] if pieces[0] == pieces[-1] else "".join(pieces)) or "unnamed"


def _bare(name: str) -> str:
    """Return a name without control tokens, quotes, a namespace (`functions.`, `default_api:`) and the number of the
    call."""
    bare = name.partition(_CONTROL)[0].strip().strip("\"'`").removesuffix("()")
    return _SPACE.split(_NUMBERED.sub("", bare))[-1]


def arguments_in(raw: str) -> JsonObject | str:
    """Return the parsed arguments, or a text that says what is wrong. No text at all means no arguments, and neither
    does an empty list: PHP writes an empty object like that. An object alone in a list is meant by itself."""
    if raw.strip() in _NO_TEXT:
        return {}
    try:
        value = _decoded(_without_fence(raw.strip()))
        if isinstance(value, str) and value.strip().startswith("{"):
            value = _decoded(value.strip())  # JSON within a JSON text
        if isinstance(value, list) and len(value) == 1:
            (value,) = value
    except TooDeep:
        return "nest too deep"
    except ValueError as error:
        return f"are not complete JSON ({error})"
    if value in (None, []):
        return {}
    return value if isinstance(value, dict) else "are not a JSON object"


def _decoded(text: str) -> object:
    """Return the value of a JSON text; also of one that a proxy has sent twice, or behind an empty object, and of one
    with marks behind it or in the notation of Python."""
    try:
        return read_json(text, strict=False)
    except ValueError:
        if (literal := read_python(text)) is not None:
            return literal
        found: object = {}
        at: int | None = 0
        while at is not None:
            value, end = read_first(text, at, strict=False)
            if found and value not in ({}, found):
                raise
            found = value or found
            if (marks := _AFTER.match(text, end)) is not None:
                end = marks.end()
            following = _NEXT.search(text, end)
            at = following.start() if following else None
        return found


def _without_fence(text: str) -> str:
    """Return the text inside a code fence, if it stands in one."""
    if not (text.startswith(_FENCE) and text.endswith(_FENCE) and len(text) > 2 * len(_FENCE)):
        return text
    return _LANGUAGE.sub("", text[len(_FENCE) : -len(_FENCE)], count=1)
