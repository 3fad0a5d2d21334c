"""Twice the text takes at most two and a half times as long, in each renderer, parser and pattern.

Users, pages and models choose these texts; quadratic code would let any of them block everyone.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent_core.mcp.config import plain
from agent_core.messages import AssistantMessage, StopReason, ToolResultMessage
from agent_core.models.event_stream import SseReader
from agent_core.models.failures import message_in, redact
from agent_core.models.protocols import other_in
from agent_core.models.tokens import clipped, estimate
from agent_core.models.written_calls import calls_in
from agent_core.origin import CLEAN
from agent_core.skills.header import BadSkill, read_header
from agent_core.tools.calculator import calculate
from agent_core.tools.files.editing import find
from agent_core.tools.stated_facts import is_said
from agent_core.tools.tool import ToolFailed
from agent_core.tools.web.invisible_characters import visible
from agent_core.tools.web.page import read_page
from agent_core.tools.web.text import read_feed
from agent_core.untrusted import bare, harmless
from channels.base import ChatKey, MessageReceived, OutboundMessage, Sender
from channels.discord import render as discord
from channels.discord.layout import layout
from channels.fences import Fences
from channels.links import show_link_targets
from channels.slack import render as slack
from channels.slack.mentions import readable
from channels.telegram import render as telegram
from channels.terminal import text as terminal
from channels.terminal.render import Drawing
from channels.terminal.text import Abilities
from channels.text import parse_command, split_markdown
from channels.web import render as web
from gateway.app.languages import written_in
from gateway.app.typed_secrets import typed_code, typed_secret
from gateway.errors import ParleyError
from gateway.permissions.question_text import one_line, shown
from gateway.runs.cards import repeats_cards
from gateway.schedule.times.grammar import parse_when
from gateway.schedule.times.zone_words import zone_said
from gateway.security.secrets import Secrets
from gateway.store.rule import BadRule
from tests.cpu import cpu_seconds, cpu_seconds_at_most, growth
from tests.examples import examples
from tests.messages import user

SIZE = 8_000
"""Characters of the first measurement."""
QUICK = 0.008
"""CPU seconds below which nothing is compared; quadratic code takes longer for `SIZE` characters."""
MOST = 2.5
DOUBLINGS = 2
"""How often the text is doubled at once. Whatever disturbs a measurement is then a smaller part of the growth."""
REFUSES = (ToolFailed, BadSkill, BadRule, ParleyError, ValueError)

MARKS = r"""
* ** _ __ ` ``` ~~~ ~~ [ ] ( ) [a](b) [a](https://x.y/ ![ < > <!-- <@U <a> </a> <b> <td> <table> <script> & &amp; &#115;
| || \ \* *a a* **a _a_ `a $ @ # 。 字 每天 9点 9 at {"a": [1, " data: %41 : = /* ]( [[ ]] x: - sk-abcdefghijklmnop word
"""
SPACES = [
    " ",
    "\n",
    "\n\n",
    "\n> ",
    "\n- ",
    "\n1. ",
    "\n# ",
    "\n```\n",
    "\n|-|-|\n",
    "\t",
    "\r\n",
    "\0",
    "\u200b",
    "e\u0301",
]
UNITS = st.lists(st.sampled_from([*MARKS.split(), *SPACES]), min_size=1, max_size=2)

DRAWING = Drawing(Abilities("256", links=True))
SECRETS = Secrets(["sk-abcdefghijklmnopqrstuvwxyz", "correct-horse%battery"])


def said(text: str) -> OutboundMessage:
    return OutboundMessage(markdown=text)


def received(text: str) -> MessageReceived:
    chat, who = ChatKey(platform="memory", account="here", chat="ann"), Sender(id="ann", name="Ann")
    return MessageReceived(event_id="1", chat=chat, sender=who, at=1.0, message_id="1", text=text)


def streamed(text: str) -> None:
    reader = SseReader()
    for at in range(0, len(text), 1_000):
        list(reader.feed(text[at : at + 1_000].encode("utf-8", "replace")))


DONE = (
    ToolResultMessage(tool_call_id="1", tool_name="schedule", content=user("set").content, origin=CLEAN),
    AssistantMessage(content=user("Done.").content, stop_reason=StopReason.STOP, origin=CLEAN),
)


TAKES_TEXT: dict[str, Callable[[str], object]] = {
    "Slack's markup": slack.mrkdwn,
    "Slack's messages": lambda text: [slack.body(part) for part in slack.split(said(text))],
    "Slack's plain texts": lambda text: slack.plain_texts(said(text)),
    "what Slack says": lambda text: readable(text, lambda _: None),
    "Telegram's messages": lambda text: telegram.split(said(text)),
    "Discord's markdown": discord.render.__wrapped__,
    "Discord's messages": lambda text: discord.split(said(text)),
    "Discord's boxes": lambda text: layout(said(f"{text}\n|a|b|\n|---|---|\n|{text}|c|")),
    "the page": web.render,
    "the terminal": lambda text: terminal.readable(said(text)),
    "the terminal with styles": lambda text: DRAWING.settled(said(text), 80, 24),
    "an answer in progress on the terminal": lambda text: DRAWING.live([said(text)], 80, 24),
    "fences": Fences,
    "links": show_link_targets,
    "links that lie": lambda text: show_link_targets(text.replace("a](", "a.b](").replace("x", "c.d]")),
    "splitting": lambda text: split_markdown(text, lambda part: len(part) <= 4_000),
    "commands": lambda text: parse_command(f"/{text}", ["ada"]),
    "tokens typed for a setting": lambda text: typed_secret(received(f"/config set x {text}")),
    "codes typed for an account": lambda text: typed_code(received(f"/link {text}").as_command("link", text)),
    "languages": written_in,
    "zones of people": lambda text: zone_said(f"I am in {text}"),
    "requests that a card answers": lambda text: repeats_cards([user(text.replace("word", "and ")), *DONE], ["card"]),
    "times": lambda text: parse_when(text, ZoneInfo("UTC"), 1.8e9),
    "web pages": lambda text: read_page(f"<body>{text}", "https://example.org/"),
    "feeds": lambda text: read_feed(f"<rss><channel><item><title>{text}", "https://example.org/"),
    "visible text": visible,
    "skill headers": lambda text: read_header(f"---\nname: x\ndescription: {text}\n---\n".encode(), "x"),
    "event streams": streamed,
    "errors of providers": lambda text: (message_in(text), redact(text, ["sk-abc"])),
    "pages of providers": other_in,
    "pages of providers behind comments": lambda text: other_in(f"<!---->{text}"),
    "calls that a model writes": lambda text: calls_in(f"<tool_call>{text}", {}),
    "values of such calls": lambda text: calls_in("<|tool_call>call:x{" + text + "}", {}),
    "secrets": lambda text: Secrets.mask(SECRETS, text + str(time.perf_counter())),
    "token estimates": lambda text: (estimate(text), clipped(text, 100)),
    "strangers' words": lambda text: (harmless(text), bare(text)),
    "statements": lambda text: is_said("likes tea", [user(text)]),
    "statements of one's own": lambda text: is_said("likes tea", [user(text.replace("word", "I like tea in Oslo. "))]),
    "sums": calculate,
    "edits": lambda text: find(text, text[: len(text) // 2] + "x", "a", everywhere=False),
    "words of servers": lambda text: plain(text, 1_000),
    "questions": lambda text: (shown(text), one_line(text, 100)),
}


def reading(take: Callable[[str], object], text: str) -> Callable[[], None]:
    """Return what reads a text, which may be refused."""

    def read() -> None:
        with suppress(*REFUSES):
            take(text)

    return read


def made_of(units: list[str], size: int, *, opened: bool) -> str:
    """Return the units repeated up to `size`; if `opened`, the first one once and the last one repeated."""
    if opened:
        return units[0] + units[-1] * (size // len(units[-1]))
    unit = "".join(units)
    return unit * (size // len(unit))


@pytest.mark.parametrize("name", TAKES_TEXT)
@settings(max_examples=examples(30))
@given(units=UNITS, opened=st.booleans())
@example(units=["https://x.y/", ")"], opened=True)
@example(units=["a"], opened=False)
def test_twice_the_text_takes_at_most_two_and_a_half_times_the_time(
    name: str, *, units: list[str], opened: bool
) -> None:
    short, text, longer = (
        reading(TAKES_TEXT[name], made_of(units, size, opened=opened))
        for size in (SIZE, 2 * SIZE, 2 * SIZE * 2**DOUBLINGS)  # fixed costs no longer count from twice the size on
    )
    if cpu_seconds(short) < QUICK:
        return
    grown = growth(text, longer, times=2**DOUBLINGS, most=MOST**DOUBLINGS)
    assert grown <= MOST**DOUBLINGS, f"{units!r}, {opened}: {grown ** (1 / DOUBLINGS):.1f} times"


@pytest.mark.parametrize("unit", ["<!---->", "<!-- -->\n", "<!--", "-->"])
def test_comments_before_the_page_of_a_provider_take_no_time_to_count(unit: str) -> None:
    few = 22
    """Comments that take half a second if each more of them doubles the time."""
    with cpu_seconds_at_most(0.1):
        other_in(f"{unit * few}<x")
    first = SIZE // len(unit)

    grown = growth(
        lambda: other_in(f"{unit * first}<x"),
        lambda: other_in(f"{unit * first * 2**DOUBLINGS}<x"),
        times=2**DOUBLINGS,
        most=MOST**DOUBLINGS,
    )

    assert grown <= MOST**DOUBLINGS
