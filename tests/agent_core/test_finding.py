"""Tools that are too many to be in each request are found with a tool."""

import pytest

from agent_core.messages import AssistantMessage, StopReason, SummaryMessage, ToolCall, ToolResultMessage, user
from agent_core.origin import CLEAN, DATA
from agent_core.tools.finding import FIND, MOST, best_of, named_in
from agent_core.tools.registry import ToolRegistry, UnknownTool
from agent_core.tools.tool import Tool, tool
from tests.agent_core.mcp.serving import context

GARDEN = {
    "calendar_create_event": "Create an event in a calendar.",
    "calendar_list_events": "List the events of a calendar between two times.",
    "mail_search_messages": "Search the e-mail messages of a mailbox.",
    "mail_send_message": "Send an e-mail message to people.",
    "shop_createInvoice": "Writes a bill for a customer.",
    "shop_refund": "Pay money back to a customer.",
    "tickets_find": "按标题查找工单",
}


def named(name: str, description: str = "Nothing.") -> Tool:
    async def body(text: str = "") -> str:
        return text

    body.__name__, body.__doc__ = name, description
    return tool()(body)


def others(number: int) -> list[Tool]:
    return [named(f"lab_{place:03}") for place in range(number)]


def names(registry: ToolRegistry, *found: str) -> list[str]:
    return [spec.name for spec in registry.specs(lambda: found)]


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("create calendar event", "calendar_create_event"),
        ("what is on my calendar: list events", "calendar_list_events"),
        ("sending mail", "mail_send_message"),
        ("search email", "mail_search_messages"),
        ("invoice", "shop_createInvoice"),
        ("refunds", "shop_refund"),
        ("查找工单", "tickets_find"),
        ("use shop_refund please", "shop_refund"),
    ],
)
def test_tools_are_found_by_words_as_people_say_them(words: str, first: str) -> None:
    tools = {name: named(name, description) for name, description in GARDEN.items()}

    assert next(iter(best_of(words, tools))) == first


def test_what_fits_half_of_the_words_is_left_out_where_something_fits_all() -> None:
    pairs = [f"{does}_{thing}" for does in ("create", "delete", "print") for thing in ("invoice", "order", "parcel")]
    tools = {name: named(name) for name in pairs}

    assert best_of("create an invoice", tools) == ["create_invoice"]
    assert best_of("everything about invoices", tools) == ["create_invoice", "delete_invoice", "print_invoice"]


def test_what_fits_nothing_finds_nothing_and_never_more_than_eight_are_found() -> None:
    assert best_of("volcano", {name: named(name, text) for name, text in GARDEN.items()}) == []
    assert len(best_of("lab", {each.name: each for each in others(100)})) == 8


def test_up_to_forty_tools_all_are_in_each_request() -> None:
    ours = [named("ours"), named("z_ours")]
    whole = ToolRegistry(ours, others=lambda: others(MOST - 2))
    many = ToolRegistry(ours, others=lambda: others(MOST - 1))

    assert len(names(whole)) == MOST
    assert FIND not in names(whole)
    assert names(many) == ["ours", "z_ours", FIND]
    assert names(ToolRegistry([named(f"ours_{place}") for place in range(50)]))[-1] != FIND, "there is nothing to find"


def test_found_tools_are_appended_in_the_order_in_which_they_were_found() -> None:
    registry = ToolRegistry([named("ours")], others=lambda: others(60))

    assert names(registry, "lab_030") == ["ours", FIND, "lab_030"]
    assert names(registry, "lab_030", "lab_002", "gone", "ours") == ["ours", FIND, "lab_030", "lab_002"]


def test_a_tool_that_was_not_found_yet_can_be_called_and_an_unknown_one_says_how_to_find_one() -> None:
    registry = ToolRegistry([named("ours")], others=lambda: others(60))

    assert registry.get("lab_007").name == "lab_007"
    with pytest.raises(UnknownTool) as caught:
        registry.get("lab_fly")
    assert caught.value.advice == f"find one with {FIND}, or use one of: ours"


def test_its_name_is_taken() -> None:
    with pytest.raises(ValueError, match=f"the tool name {FIND} is reserved"):
        ToolRegistry([named(FIND)])
    assert FIND in ToolRegistry().taken


async def test_its_answer_names_what_was_found_and_comes_from_whoever_describes_the_tools() -> None:
    registry = ToolRegistry([named("ours")], others=lambda: others(60), described_by=[lambda: DATA])
    search = registry.get(FIND)

    found = await search.execute(search.validate({"words": "lab_003"}), context())
    nothing = await search.execute(search.validate({"words": "volcano"}), context())

    assert isinstance(found.details, dict)
    assert found.details["found"] == ["lab_003"]
    assert found.origin == DATA
    assert "lab_059" in nothing.content[0].model_dump()["text"], "all of them, to choose other words by"


def test_what_was_found_or_called_stands_in_the_messages() -> None:
    result = ToolResultMessage(
        tool_call_id="1", tool_name=FIND, content=(), details={"found": ["a", "b"]}, origin=CLEAN
    )
    call = ToolCall(id="2", name="c", arguments={})
    answer = AssistantMessage(content=(call,), stop_reason=StopReason.TOOL_USE, origin=CLEAN)
    summary = SummaryMessage(summary="", first_kept_id="", tokens_before=1, tools=("d",), origin=CLEAN)

    assert [named_in(each) for each in (result, answer, summary)] == [("a", "b"), ("c",), ("d",)]
    assert named_in(result.model_copy(update={"tool_name": "lab_says"})) == ()
    assert named_in(user("hello", origin=CLEAN)) == ()
