"""Tools of MCP servers: their schemas, calls, and results as ours."""

import base64
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import cached_property

from jsonschema import Draft202012Validator, SchemaError
from mcp import types
from pydantic import BaseModel, JsonValue, TypeAdapter
from referencing import Registry
from referencing.exceptions import Unresolvable

from agent_core.mcp.argument_names import restored, with_plain_names
from agent_core.mcp.config import Class, plain
from agent_core.messages import Frozen, ImageContent, Json, JsonObject, TextContent, clean_json
from agent_core.models.llm import ToolSpec
from agent_core.origin import DATA, Origin
from agent_core.sources import server as server_source
from agent_core.tool_result import ToolResult
from agent_core.tools.argument_schema import UnusableSchema, mended
from agent_core.tools.files.pictures import picture_type, show_picture
from agent_core.tools.tool import InvalidArguments, Tool, ToolContext, ToolFailed, Traits

MOST_IMAGES = 5
MOST_PROBLEMS = 3
_WORDS = frozenset({"description", "title", "$comment"})
_UNSHOWN = frozenset({"title", "$comment", "$schema", "$id", "examples"})
_ADDRESS = re.compile(r"\s*data:[^,]{0,200},")
_WORD = re.compile(r"\w+")
_ESCAPED = re.compile(r"\\[bfnrt]")
"""Signs between words, as JSON within a text has them."""
_UNCHECKED = frozenset({"pattern", "patternProperties", "format"})
"""Regular expressions of the server can take exponential time on the model's text; the server checks these itself."""
Call = Callable[[str, JsonObject], Awaitable[ToolResult]]
"""Takes the server's own name of the tool and the arguments. Raises ToolFailed."""

TIMEOUT_S = 60.0
_JSON: TypeAdapter[JsonValue] = TypeAdapter(Json)


def as_result(answer: types.CallToolResult, origin: Origin) -> ToolResult:
    """Convert a result: text first, then pictures. Structured content is left out where the text says the same."""
    parts = [part for block in answer.content for part in _parts(block)]
    texts = [part for part in parts if isinstance(part, str)]
    images = [part for part in parts if isinstance(part, ImageContent)]
    if len(images) > MOST_IMAGES:
        texts.append(f"[{len(images) - MOST_IMAGES} more pictures are left out]")
    structured = _JSON.validate_python(clean_json(answer.structured_content))
    if structured is not None and not (texts and _is_said(structured, "\n".join(texts))):
        texts.append(json.dumps(structured, ensure_ascii=False))
    text = (TextContent(text="\n".join(texts)),) if texts else ()
    return ToolResult(content=(*text, *images[:MOST_IMAGES]), origin=origin, is_error=bool(answer.is_error))


def _is_said(value: JsonValue, text: str) -> bool:
    """Return True if a text has all words and numbers of a value."""
    said = {*_WORD.findall(text), *_WORD.findall(_ESCAPED.sub(" ", text))}
    return all(said.issuperset(_WORD.findall(each)) for each in _leaves(value))


def _leaves(value: JsonValue) -> Iterator[str]:
    match value:
        case dict() | list():
            for each in value.values() if isinstance(value, dict) else value:
                yield from _leaves(each)
        case None | bool():
            return
        case _:
            yield str(value)


def _parts(block: types.ContentBlock) -> Iterator[str | ImageContent]:
    match block:
        case types.TextContent(text=text):
            yield text
        case types.ImageContent(data=data, mime_type=kind):
            yield _picture(data) or f"[a picture ({plain(kind, 60)}) that cannot be shown is left out]"
        case types.AudioContent(mime_type=kind):
            yield f"[a sound ({plain(kind, 60)}) is left out]"
        case types.ResourceLink(uri=uri, name=name, description=about):
            yield f"[{plain(name, 100)}: {plain(str(uri))}] {plain(about or '')}".rstrip()
        case types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, text=text)):
            yield f"{plain(str(uri))}:\n{text}"
        case types.EmbeddedResource(resource=types.BlobResourceContents(uri=uri, blob=data)):
            yield _picture(data) or _text(str(uri), data) or f"[{plain(str(uri))}, which is no text, is left out]"


def _picture(data: str) -> ImageContent | None:
    """Return a picture that models accept, or None. Its type is detected from its bytes, because providers reject a
    request whose declared type is wrong."""
    content = _decoded(data)
    kind = picture_type(content)
    if kind is None:
        return None
    try:
        shown = show_picture(content, kind, "picture", DATA)
    except ToolFailed:
        return None
    return next((part for part in shown.content if isinstance(part, ImageContent)), None)


def _text(uri: str, data: str) -> str:
    """Return the text of a resource that is sent as bytes; "" if it is none."""
    try:
        content = _decoded(data).decode()
    except ValueError:
        return ""
    return "" if "\0" in content else f"{plain(uri)}:\n{content}"


def _decoded(data: str) -> bytes:
    """Return the bytes; servers also send Base64 in lines, as an address, in the letters of addresses, or cut short."""
    bare = "".join(_ADDRESS.sub("", data).split()).rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
    except ValueError:
        return b""


class Schema:
    """The schema of one tool's arguments."""

    def __init__(self, schema: Mapping[str, object]) -> None:
        """Read the schema. Raises UnusableSchema."""
        whole = mended(_JSON.validate_python(dict(schema)))
        shown = _shown(whole)
        names, self.shown = with_plain_names(shown if isinstance(shown, dict) else whole)
        """The schema as the model sees it."""
        self._names = names
        try:
            Draft202012Validator.check_schema(self.shown)
        except SchemaError as error:
            raise UnusableSchema("invalid") from error
        # An empty registry, so that references in the schema are never fetched.
        self._validator = Draft202012Validator(_checked(whole), registry=Registry())

    def originals(self, arguments: JsonObject) -> JsonObject:
        """Return the arguments of a call under the server's own names for them."""
        return restored(arguments, self._names)

    def problems(self, arguments: JsonObject) -> list[str]:
        """Return at most three validation errors with their paths. Where a schema cannot be applied, the server
        decides."""
        try:
            return list(self._problems(arguments))[:MOST_PROBLEMS]
        except (SchemaError, Unresolvable, ValueError, TypeError, LookupError, AttributeError, RecursionError):
            return []

    def _problems(self, arguments: JsonObject) -> Iterator[str]:
        for error in self._validator.iter_errors(arguments):
            path = ".".join(str(part) for part in error.absolute_path)
            yield f"{path}: {plain(error.message, 100)}" if path else plain(error.message, 100)


def _shown(value: JsonValue, *, names: bool = False) -> JsonValue:
    """Return the schema for the model. `names` is True if the keys are argument names, not schema keywords."""
    if isinstance(value, list):
        return [_shown(item) for item in value]
    if not isinstance(value, dict):
        return value
    if names:
        return {key: _shown(item) for key, item in value.items()}
    return {
        key: plain(item)
        if key in _WORDS and isinstance(item, str)
        else _shown(item, names=key in ("properties", "$defs"))
        for key, item in value.items()
        if key not in _UNSHOWN or isinstance(item, dict)
    }


def _checked(value: JsonValue, *, names: bool = False) -> JsonValue:
    if isinstance(value, list):
        return [_checked(item) for item in value]
    if not isinstance(value, dict):
        return value
    if names:
        return {key: _checked(item) for key, item in value.items()}
    # Additional properties cannot be checked without the patterns.
    left_out = _UNCHECKED | ({"additionalProperties"} if "patternProperties" in value else frozenset())
    return {
        key: item if key in ("const", "enum") else _checked(item, names=key in ("properties", "$defs"))
        for key, item in value.items()
        if key not in left_out
    }


class _Arguments(Frozen):
    values: JsonObject


class McpTool(Tool):
    """A tool of an MCP server. Its results are untrusted, and failed calls are not retried, because they may have had
    an effect. A server's claims that a tool is read-only are not trusted either, so calls run one by one."""

    def __init__(
        self, *, name: str, server: str, original: str, description: str, schema: Schema, acts: Class, call: Call
    ) -> None:
        super().__init__(
            name,
            Traits(
                execution="sequential",
                retry="never",
                timeout_s=TIMEOUT_S,
                acts=acts,
                untrusted=True,
                source=server_source(server),
            ),
        )
        self._label = f"{server}: {plain(original, 60)}"
        self._description = (
            f"A tool of the MCP server {server}, in its own words: {plain(description) or plain(original)}"
        )
        self._original = original
        self._schema = schema
        self._call = call
        self.when_refused: Callable[[], None] | None = None
        """Has the tool left out from now on."""

    @cached_property
    def spec(self) -> ToolSpec:
        return ToolSpec(name=self.name, description=self._description, parameters=self._schema.shown)

    def leave_out(self) -> bool:
        if self.when_refused is None:
            return False
        self.when_refused()
        return True

    def validate(self, arguments: JsonObject) -> BaseModel:
        """See `Tool.validate`; null for an optional argument counts as left out."""
        arguments = self._schema.originals(arguments)
        problems = self._schema.problems(arguments)
        if problems:
            arguments = {key: value for key, value in arguments.items() if value is not None}
            problems = self._schema.problems(arguments) and problems
        if problems:
            raise InvalidArguments(f"{self.name}: {'; '.join(problems)}", "call it again with arguments of its schema")
        return _Arguments(values=arguments)

    def describe(self, arguments: JsonObject) -> str:
        return self._label

    async def execute(self, arguments: BaseModel, context: ToolContext) -> ToolResult:
        if not isinstance(arguments, _Arguments):
            raise TypeError("arguments that validate did not return")
        return await self._call(self._original, arguments.values)
