"""Tool names and descriptions of MCP servers are made fit for models and users."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import (
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
)

from agent_core.mcp.config import LONGEST_NAME, plain, tool_names
from agent_core.mcp.tool import MOST_IMAGES, Schema, as_result
from agent_core.messages import JsonObject, text_of
from agent_core.origin import NOT_KNOWN
from agent_core.tools.registry import ToolRegistry, UnknownTool
from agent_core.tools.tool import Tool, tool
from tests.emulators.mcp_server import PIXEL_IN_BASE64


@given(st.lists(st.text(), max_size=20), st.lists(st.text(max_size=3), max_size=3))
def test_every_tool_gets_one_name_that_all_providers_take(originals: list[str], taken: list[str]) -> None:
    names = tool_names("emu", originals, taken)

    assert names.keys() == set(originals)
    assert len(set(names.values())) == len(names)
    for name in names.values():
        assert name.startswith("emu_")
        assert len(name) <= LONGEST_NAME
        assert all(char.isascii() and (char.isalnum() or char in "_-") for char in name)
        assert name not in taken


def test_a_plain_name_is_kept_whatever_else_there_is() -> None:
    names = tool_names("web", ["get.page", "get_page", "fetch", "x" * 80], taken={"web_fetch"})

    assert names["get_page"] == "web_get_page"
    assert names["get.page"].startswith("web_get_page_")
    assert names["fetch"].startswith("web_fetch_")
    assert tool_names("web", ["get_page", "x" * 80])["x" * 80] == names["x" * 80], "it means the same in every list"


def test_words_are_one_line_without_anything_unseen() -> None:
    assert plain("a\n\nb\x1b[31m\u202e\u200bc\td") == "a b [31m c d"
    assert plain("x" * 1_000) == "x" * 299 + "…"


def test_the_model_sees_a_schema_without_what_it_does_not_need() -> None:
    schema = Schema(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Arguments",
            "properties": {
                "title": {"type": "string", "title": "Title", "description": "Of the\nbook. " * 100},
                "examples": {"type": "array", "items": {"$ref": "#/$defs/Item"}, "examples": [["x"]]},
            },
            "$defs": {"Item": {"title": "Item", "type": "string"}},
        }
    )

    assert schema.shown.keys() == {"type", "properties", "$defs"}
    properties = schema.shown["properties"]
    assert isinstance(properties, dict)
    assert properties["examples"] == {"type": "array", "items": {"$ref": "#/$defs/Item"}}
    title = properties["title"]
    assert isinstance(title, dict)
    assert title.keys() == {"type", "description"}
    assert len(str(title["description"])) == 300


@pytest.mark.parametrize(
    ("arguments", "problems"),
    [
        ({"city": "Oslo", "days": 2, "where": {"lat": 1.5}}, []),
        ({"city": 5}, ["city: 5 is not of type 'string'"]),
        ({"city": "Oslo", "where": {"lat": "x"}}, ["where.lat: 'x' is not of type 'number'"]),
        ({"city": "Oslo", "days": 0, "when": 1}, ["days: 0 is less than the minimum of 1", "when"]),
        ({}, ["'city' is a required property"]),
    ],
)
def test_what_does_not_fit_is_named_by_its_path(arguments: JsonObject, problems: list[str]) -> None:
    schema = Schema(
        {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer", "minimum": 1},
                "where": {"$ref": "#/$defs/Place"},
            },
            "required": ["city"],
            "additionalProperties": False,
            "$defs": {"Place": {"type": "object", "properties": {"lat": {"type": "number"}}}},
        }
    )

    found = schema.problems(arguments)

    assert len(found) == len(problems)
    for problem in problems:
        assert any(problem in each for each in found)


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"text": {"type": "string", "pattern": "^(a+)+$"}}},
        {"patternProperties": {"^(a+)+$": {"type": "integer"}}, "additionalProperties": False},
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"$schema": "http://127.0.0.1:9/meta.json", "properties": {"text": {"$ref": "#/nowhere"}}},
        {"$schema": {"no": "text"}, "type": 5, "properties": "none", "required": 7},
        {"type": "object", "properties": {"text": {"minLength": "x"}}},
    ],
)
def test_a_schema_that_is_a_trap_or_none_at_all_leaves_the_decision_to_the_server(schema: JsonObject) -> None:
    assert Schema(schema).problems({"text": "a" * 40 + "!"}) == []


def test_more_pictures_than_a_chat_can_bear_are_left_out() -> None:
    picture = ImageContent(data=PIXEL_IN_BASE64, mime_type="image/png")

    result = as_result(CallToolResult(content=[*[picture] * (MOST_IMAGES + 2), TextContent(text="seen")]), NOT_KNOWN)

    assert len(result.content) == 1 + MOST_IMAGES
    assert text_of(result.content) == "seen\n[2 more pictures are left out]"


def named(name: str) -> Tool:
    @tool()
    async def body() -> str:
        """Nothing."""
        return name

    body.name = name
    return body


def test_tools_that_come_and_go_stand_behind_ours_and_never_take_their_place() -> None:  # S2-25, S0-07
    coming = [named("a_new"), named("ours"), named("load_skill")]
    registry = ToolRegistry([named("z_ours"), named("ours")], others=lambda: coming)
    ours = registry.get("ours")
    called = registry.get("a_new")

    assert [spec.name for spec in registry.specs()] == ["ours", "z_ours", "a_new"]
    assert ours is not coming[1]
    assert "ours" in registry.taken
    with pytest.raises(UnknownTool):
        registry.get("load_skill")

    coming.clear()

    assert [spec.name for spec in registry.specs()] == ["ours", "z_ours"]
    assert registry.get("a_new") is called, "its call may be running"


@pytest.mark.parametrize(
    "data",
    [
        f"data:image/png;base64,{PIXEL_IN_BASE64}",
        f"{PIXEL_IN_BASE64[:20]}\n{PIXEL_IN_BASE64[20:]}\n",
        PIXEL_IN_BASE64.replace("+", "-").replace("/", "_"),
        PIXEL_IN_BASE64.rstrip("="),
    ],
)
def test_a_picture_is_shown_however_its_bytes_are_written(data: str) -> None:
    result = as_result(CallToolResult(content=[ImageContent(data=data, mime_type="image/png")]), NOT_KNOWN)

    assert [type(part).__name__ for part in result.content] == ["ImageContent"]


def test_a_resource_in_bytes_is_read_if_it_is_a_text() -> None:
    kinds = {"repo://a.json": b'{"a": 1}', "repo://a.bin": b"\0\1"}
    blobs = [BlobResourceContents(uri=uri, blob=base64.b64encode(each).decode()) for uri, each in kinds.items()]
    content = [EmbeddedResource(resource=blob) for blob in blobs]

    shown = 'repo://a.json:\n{"a": 1}\n[repo://a.bin, which is no text, is left out]'
    assert text_of(as_result(CallToolResult(content=content), NOT_KNOWN).content) == shown


def test_a_link_is_told_with_what_it_is_about() -> None:
    link = ResourceLink(uri="file:///a.txt", name="a.txt", description="The lease\nof flat 7")

    assert text_of(as_result(CallToolResult(content=[link]), NOT_KNOWN).content) == (
        "[a.txt: file:///a.txt] The lease of flat 7"
    )


@pytest.mark.parametrize(
    ("texts", "structured", "shown"),
    [
        (["Found 2 flights."], {"flights": ["LH 1", "BA 2"]}, 'Found 2 flights.\n{"flights": ["LH 1", "BA 2"]}'),
        ([""], {"total": 3}, '\n{"total": 3}'),
        (['{\n  "total": 3, "note": "a\\nb"\n}'], {"total": 3, "note": "a\nb"}, '{\n  "total": 3, "note": "a\\nb"\n}'),
        (["5"], {"result": 5}, "5"),
        (['{"id": 1}', '{"id": 2}'], {"result": [{"id": 1}, {"id": 2}]}, '{"id": 1}\n{"id": 2}'),
        (
            ["# Issue 7\n**Größe** is open"],
            {"number": 7, "title": "Größe", "open": True},
            "# Issue 7\n**Größe** is open",
        ),
    ],
)
def test_structured_content_is_shown_unless_the_text_says_the_same(
    texts: list[str], structured: JsonObject, shown: str
) -> None:
    content = [TextContent(text=text) for text in texts]

    assert (
        text_of(as_result(CallToolResult(content=content, structured_content=structured), NOT_KNOWN).content) == shown
    )
