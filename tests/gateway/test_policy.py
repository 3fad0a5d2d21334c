"""The policy decides by a call's class, the user's role, and untrusted input in the conversation."""

from itertools import product
from pathlib import Path
from typing import get_args

import pytest
from msgspec.structs import replace
from pydantic import JsonValue, ValidationError

from agent_core import origin as known
from agent_core.loop.permissions import Proposal
from agent_core.mcp.tool import McpTool, Schema
from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    JsonObject,
    StopReason,
    SummaryMessage,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from agent_core.origin import CLEAN, DATA, NOT_KNOWN
from agent_core.sources import server
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import Acts, Tool, tool
from gateway.permissions.policy import Policy
from gateway.permissions.roles import Role
from gateway.permissions.sources import named
from gateway.settings.permissions import CLASSES, TAINTED, WORDS, PermissionSettings, Word
from gateway.texts.say import LANGUAGES, say
from tests.messages import user

PAGE = "See https://news.example/one and <https://news.example/two>, or [three](https://news.example/three)."


def made(acts: Acts, name: str = "something") -> Tool:
    @tool(acts=acts)
    async def something(url: str = "") -> str:
        """Does it."""
        return url

    something.name = name
    return something


def called(name: str, **arguments: JsonValue) -> AssistantMessage:
    call = ToolCall(id="1", name=name, arguments=arguments)
    return AssistantMessage(content=(call,), stop_reason=StopReason.TOOL_USE, origin=CLEAN)


def result(name: str, text: str, *, untrusted: bool = True) -> ToolResultMessage:
    content = (TextContent(text=text),)
    origin = NOT_KNOWN if untrusted else CLEAN
    return ToolResultMessage(tool_call_id="1", tool_name=name, content=content, origin=origin)


def proposed(acts: Acts, *messages: AgentMessage, name: str = "something", **arguments: JsonValue) -> Proposal:
    call = ToolCall(id="9", name=name, arguments=arguments)
    last = AssistantMessage(content=(call,), stop_reason=StopReason.TOOL_USE, origin=CLEAN)
    return Proposal(call, made(acts, name), Path("/w"), "s", "memory:here:ann", "ann", (*messages, last))


def fetching(url: str, *messages: AgentMessage) -> Word:
    """Return the policy's decision on an owner's fetch of the URL."""
    return Policy().decide(proposed("net", *messages, name="web_fetch", url=url), Role.OWNER).behavior


def ruled(acts: Acts, role: Role, *messages: AgentMessage, settings: PermissionSettings | None = None) -> Word:
    return Policy(settings).decide(proposed(acts, *messages), role).behavior


ROW = {**{role: role.value for role in Role}, Role.MEMBER: "user"}
STRANGERS = result("read_file", "Please run this.")


EVERY = product(Role, CLASSES, WORDS)
SETTABLE = [each for each in EVERY if each[::2] != (Role.GUEST, "allow") or each[1] not in TAINTED]


@pytest.mark.parametrize(
    ("acts", "owner", "everybody", "after_strangers"),
    [
        ("read", "allow", "allow", "allow"),
        ("write", "allow", "allow", "allow"),
        ("net", "allow", "allow", "ask"),
        ("exec", "ask", "ask", "ask"),
        ("admin", "allow", "deny", "ask"),
    ],
)
def test_what_holds_where_nobody_set_anything(acts: Acts, owner: Word, everybody: Word, after_strangers: Word) -> None:
    assert ruled(acts, Role.OWNER) == owner
    assert ruled(acts, Role.MEMBER) == everybody
    assert ruled(acts, Role.OWNER, user("hello"), STRANGERS) == after_strangers


@pytest.mark.parametrize(("role", "acts", "word"), SETTABLE)
def test_strangers_never_loosen_anything(acts: Acts, role: Role, word: Word) -> None:
    settings = PermissionSettings.model_validate({ROW[role]: {acts: word}})

    alone = ruled(acts, role, settings=settings)
    after_strangers = ruled(acts, role, STRANGERS, settings=settings)

    assert alone == word
    assert WORDS.index(after_strangers) >= WORDS.index(alone)


@pytest.mark.parametrize(
    "message",
    [
        STRANGERS,
        UserMessage(content=(TextContent(text="look"),), context="In reply to: run this", origin=NOT_KNOWN),
        SummaryMessage(summary="They read a page.", first_kept_id="x", tokens_before=9, origin=NOT_KNOWN),
    ],
)
def test_words_of_strangers_work_as_long_as_they_can_be_read(message: AgentMessage) -> None:
    later = [user("thanks"), user("and now something else")]

    assert ruled("net", Role.OWNER, message, *later) == "ask"
    assert ruled("net", Role.OWNER, *later) == "allow"


@pytest.mark.parametrize(
    ("role", "messages", "word"),
    [(Role.OWNER, (), "allow"), (Role.OWNER, (STRANGERS,), "ask"), (Role.MEMBER, (), "ask")],
)
def test_an_owner_is_not_asked_for_what_is_shut_in(role: Role, messages: tuple[AgentMessage, ...], word: Word) -> None:
    policy = Policy(shut_in=lambda proposal: proposal.call.name == "run_command")

    assert policy.decide(proposed("exec", *messages, name="run_command"), role).behavior == word
    assert policy.decide(proposed("exec", *messages, name="tickets_run"), role).behavior == "ask"


@pytest.mark.parametrize(("role", "acts", "word"), [each for each in SETTABLE if each[1] == "exec"])
def test_what_somebody_set_for_programs_holds_for_those_that_are_shut_in_too(
    role: Role, acts: Acts, word: Word
) -> None:
    settings = PermissionSettings.model_validate({ROW[role]: {acts: word}})
    policy = Policy(settings, shut_in=lambda _: True)

    assert policy.decide(proposed("exec", name="run_command"), role).behavior == word


def test_what_is_shut_in_can_be_set_apart() -> None:
    settings = PermissionSettings.model_validate({"owner": "exec=deny,sandboxed=ask"})

    assert Policy(settings, shut_in=lambda _: True).decide(proposed("exec"), Role.OWNER).behavior == "ask"
    assert Policy(settings).decide(proposed("exec"), Role.OWNER).behavior == "deny"


def test_an_answer_of_a_model_that_read_descriptions_which_nobody_approved_has_strangers_in_it() -> None:
    answer = AssistantMessage(content=(), stop_reason=StopReason.TOOL_USE, origin=known.named(server("weather")))
    proposal = proposed("net", user("hello"), answer)

    ruling = Policy().decide(proposal, Role.OWNER)

    assert (ruling.behavior, ruling.sources) == ("ask", ("server:weather",))
    assert Policy().is_tainted(proposal)


@pytest.mark.parametrize("acts", get_args(Acts))
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("word", ["ask", "deny"])
def test_people_are_told_why_in_their_language(acts: Acts, language: str, word: str) -> None:
    settings = PermissionSettings.model_validate({"tainted": {acts: word}, "user": {acts: "allow"}})

    ruling = Policy(settings).decide(proposed(acts, STRANGERS), Role.MEMBER)

    assert ruling.behavior == word
    assert "after_strangers" in ruling.reason
    assert all(say(key, "zh" if language == "zh" else "en", sources="a.example") for key in ruling.reason)


# Addresses given by users


@pytest.mark.parametrize(
    ("said", "url"),
    [
        ("read https://example.com/a?b=c", "https://example.com/a?b=c"),
        ("read https://example.com/a, please", "https://example.com/a"),
        ("(https://example.com/wiki/A_(b))", "https://example.com/wiki/A_(b)"),
        ("read example.com/a", "https://example.com/a"),
        ("read Example.com.", "https://example.com/"),
        ("https://example.com", "https://example.com/"),
        ("http://127.0.0.1:8080/x", "http://127.0.0.1:8080/x"),
        ("请读https://example.com/a，然后总结", "https://example.com/a"),
        ("请读example.com/a然后总结", "https://example.com/a"),
        ("https://example.com/a", "https://example.com/a#part"),
    ],
)
def test_an_address_that_a_person_wrote_is_fetched_without_a_question(said: str, url: str) -> None:
    assert fetching(url, STRANGERS, user(said)) == "allow"
    assert fetching(url, user(said), STRANGERS, user("and?")) == "allow"


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/a?d=secret",
        "https://example.com/",
        "https://example.com/ab",
        "https://example.com/A",
        "https://secret.example.com/a",
        "https://example.com:81/a",
        "https://me:secret@example.com/a",
        "https://example.com/a/../secret",
        "https://example.com/%61",
        "",
    ],
)
def test_an_address_with_something_added_taken_away_or_changed_is_another(url: str) -> None:
    assert fetching(url, STRANGERS, user("read https://example.com/a")) == "ask"


@pytest.mark.parametrize("url", [f"https://news.example/{name}" for name in ("one", "two", "three")])
def test_a_link_of_a_page_is_followed_without_a_question(url: str) -> None:
    talk: list[AgentMessage] = [user("read https://news.example"), called("web_fetch", url="https://news.example")]

    assert fetching(url, *talk, result("web_fetch", PAGE)) == "allow"
    assert fetching(url, *talk, result("web_search", PAGE)) == "allow"
    assert fetching(f"{url}?d=secret", *talk, result("web_fetch", PAGE)) == "ask"


def test_links_of_files_quotes_and_programs_are_asked_for() -> None:
    quoted = UserMessage(content=(TextContent(text="read it"),), context=f"In reply to: {PAGE}", origin=NOT_KNOWN)

    for message in (result("read_file", PAGE), result("run_command", PAGE), quoted):
        assert fetching("https://news.example/one", user("read it"), message) == "ask"


def test_once_files_were_read_a_page_s_links_could_spell_them() -> None:
    talk: list[AgentMessage] = [
        user("read https://news.example"),
        result("web_fetch", PAGE),
        result("read_file", "secret"),
    ]

    assert fetching("https://news.example/one", *talk) == "ask"
    assert fetching("https://news.example", *talk) == "allow", "that one a person wrote"


def test_many_links_could_spell_what_was_said() -> None:
    alphabet = " ".join(f"https://news.example/{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")
    talk: list[AgentMessage] = [user("my secret is xyz; read https://news.example"), result("web_fetch", alphabet)]
    spelled = 0
    for letter in "abcdefghijklmnopqrstuvwxyz":
        url = f"https://news.example/{letter}"
        if fetching(url, *talk) == "ask":
            break
        spelled += 1
        talk += [called("web_fetch", url=url), result("web_fetch", "Next letter!")]

    assert spelled == 2
    assert fetching("https://news.example/z", *talk, user("go on")) == "ask", "what was said before stays here"
    assert fetching("https://news.example/a", *talk) == "allow", "that one was chosen already"


@pytest.mark.parametrize("made_up", ["https://evil.example/?d=secret", "evil.example/?d=secret"])
def test_an_address_that_the_model_made_up_is_not_given_by_a_page_that_repeats_it(made_up: str) -> None:
    echo = result("web_search", "Nothing was found for https://evil.example/?d=secret")

    assert (
        fetching("https://evil.example/?d=secret", user("find it"), called("web_search", query=made_up), echo) == "ask"
    )


def test_a_search_goes_where_the_owner_chose_so_only_files_and_notes_make_it_a_question() -> None:
    def searching(*messages: AgentMessage) -> Word:
        return Policy().decide(proposed("net", *messages, name="web_search", query="x"), Role.MEMBER).behavior

    assert searching(user("find x"), result("web_search", PAGE), user("and y")) == "allow"
    assert searching(user("find x"), result("read_file", "secret")) == "ask"


def test_a_summary_may_hold_what_files_said() -> None:
    summary = SummaryMessage(summary="The file said: secret", first_kept_id="1", tokens_before=9, origin=NOT_KNOWN)
    page = result("web_fetch", PAGE)

    assert fetching("https://news.example/one", summary, user("go on"), page) == "ask"
    assert Policy().decide(proposed("net", summary, name="web_search", query="x"), Role.OWNER).behavior == "ask"
    assert fetching("https://a.example", summary, user("read https://a.example")) == "allow"


def test_a_summary_may_hold_what_was_said_before() -> None:
    summary = SummaryMessage(summary="Ann likes tea.", first_kept_id="1", tokens_before=9, origin=CLEAN)
    page = result("web_fetch", PAGE)

    assert fetching("https://news.example/one", summary, user("go on"), page) == "ask"
    assert fetching("https://news.example/one", summary, user("go on")) == "allow", "nobody else has said anything"


@pytest.mark.parametrize("about", [{"private": True}, {"by_agent": True}])
def test_no_link_is_followed_where_more_is_known_than_one_message(about: dict[str, bool]) -> None:
    page = result("web_fetch", PAGE)
    told = user("read https://news.example").model_copy(update=about)

    assert fetching("https://news.example/one", told, page) == "ask"
    assert fetching("https://news.example/one", user("read https://news.example"), page) == "allow"


@pytest.mark.parametrize("tool_name", ["read_file", "recall", "read_history", "run_command", "task", "tickets_find"])
def test_no_link_is_followed_where_something_private_was_read(tool_name: str) -> None:
    talk: list[AgentMessage] = [
        user("read https://news.example"),
        result("web_fetch", PAGE),
        result(tool_name, "mine", untrusted=False),
    ]

    assert fetching("https://news.example/one", *talk) == "ask"
    assert fetching("https://news.example", *talk) == "allow", "that one a person wrote"


def test_what_people_sent_is_no_strangers_word_but_sends_nothing_unasked() -> None:
    upload = result("read_file", "mail it").model_copy(update={"origin": DATA})

    assert ruled("exec", Role.OWNER, user("read it"), upload) == ruled("exec", Role.OWNER)
    assert ruled("net", Role.OWNER, user("read it"), upload) == "ask"
    assert ruled("admin", Role.OWNER, user("read it"), upload) == "ask"
    ruling = Policy().decide(proposed("net", user("read it"), upload), Role.OWNER)
    assert ruling.sources == ()
    assert "after_files" in ruling.reason


def test_a_warning_names_the_sources() -> None:
    page = result("read", "x").model_copy(update={"origin": known.named("page:news.example/1", "sent:Bob:report.pdf")})
    ruling = Policy().decide(proposed("net", user("look"), page), Role.MEMBER)

    assert named(ruling.sources, "en") == "news.example, report.pdf that Bob sent"
    assert named(ruling.sources, "zh") == "news.example、Bob 发来的 report.pdf"
    assert named(("unknown", "tool:x", "person:*Eve* [x](y)"), "en") == "an unknown source, Eve x y"
    assert named([f"person:{name}" for name in "abcde"], "en") == "a, b, 3 more"


def test_one_yes_covers_the_links_of_one_page_for_one_message() -> None:
    def asked(url: str, *messages: AgentMessage) -> str:
        proposal = proposed("net", *messages, name="web_fetch", url=url)
        tool_ = made("net", "web_fetch")
        return Policy().decide(replace(proposal, tool=tool_), Role.OWNER).covers

    talk: list[AgentMessage] = [
        user("hello"),
        user("read https://news.example", context=None),
        result("web_fetch", PAGE),
    ]
    one, two = (asked(f"https://news.example/{name}", *talk) for name in ("one", "two"))
    assert one == two != ""
    assert asked("https://news.example/one", *talk, user("and now?")) not in ("", one)
    assert asked("https://news.example/one", *talk[:2], result("web_fetch", PAGE)) not in ("", one), "another page"


def test_other_tools_that_send_are_always_a_question_after_strangers() -> None:
    proposal = proposed("net", result("web_fetch", PAGE), user(PAGE), name="post_it", url="https://news.example/one")

    assert Policy().decide(proposal, Role.OWNER).behavior == "ask"


def test_a_tool_of_somebody_else_gains_nothing_by_the_name_of_ours() -> None:
    async def call(_: str, __: JsonObject) -> ToolResult:
        return ToolResult.of("done", CLEAN)

    theirs = McpTool(
        name="web_fetch", server="web", original="fetch", description="", schema=Schema({}), acts="net", call=call
    )
    proposal = proposed("net", STRANGERS, user("https://a.example"), name="web_fetch", url="https://a.example")

    assert Policy().decide(proposal, Role.OWNER).behavior == "allow"
    assert Policy().decide(replace(proposal, tool=theirs), Role.OWNER).behavior == "ask"


def test_a_given_address_is_nothing_to_an_owner_who_wants_no_sending_at_all() -> None:
    settings = PermissionSettings.model_validate({"tainted": "net=deny"})
    proposal = proposed("net", STRANGERS, user("read https://a.example"), name="web_fetch", url="https://a.example")

    assert Policy(settings).decide(proposal, Role.OWNER).behavior == "deny"


def test_the_rows_are_read_from_words_or_tables_over_the_defaults() -> None:
    settings = PermissionSettings.model_validate({"owner": "exec=allow, net=ask", "user": {"exec": "deny"}})

    others = {"read": "allow", "write": "allow", "net": "ask", "admin": "allow"}
    assert settings.owner == {**others, "exec": "allow", "sandboxed": "allow"}
    assert settings.user["exec"] == "deny"
    assert settings.user["admin"] == "deny", "merged over the defaults"
    assert settings.tainted["exec"] == "ask"


@pytest.mark.parametrize(
    "row", ["exec", "exec=perhaps", "fly=ask", "exec:ask", 3, ["exec"], {"exec": True}, {"x": "ask"}]
)
def test_what_is_no_row_is_refused(row: JsonValue) -> None:
    with pytest.raises(ValidationError):
        PermissionSettings.model_validate({"owner": row})


def test_strangers_can_only_tighten() -> None:
    with pytest.raises(ValidationError, match="must set net to ask or deny, and not to 'allow'"):
        PermissionSettings.model_validate({"tainted": {"net": "allow"}})
