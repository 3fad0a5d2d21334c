"""Slack's messages of blocks without a text: marks that are read, and kinds that are said to be unreadable."""

import pytest
from pydantic import JsonValue

from channels.base import Addressed
from tests.channels.slack.payloads import CHANNEL, ROOT, Json, post, read, received

KINDS: list[tuple[Json, str]] = [
    ({"blocks": [{"type": "call", "call_id": "R1", "call": {"v1": {"id": "R1"}}}]}, "call"),
    ({"blocks": [{"type": "hologram", "hologram_id": "H1"}]}, "app"),
    ({"blocks": [{"type": "divider"}, {"type": "actions", "elements": []}]}, "app"),
    ({"attachments": [{"id": 1}]}, "app"),
    ({"blocks": [{"type": "rich_text", "elements": [{"type": "hologram"}]}]}, "unknown"),
    ({"subtype": "hologram_of_2031"}, "unknown"),
    ({}, "unknown"),
]


@pytest.mark.parametrize(("content", "kind"), KINDS)
def test_what_cannot_be_read_in_private_is_named(content: Json, kind: str) -> None:
    event = received(**{"text": "", **content})

    assert (event.text, event.shared, event.unread) == ("", "", (kind,))


@pytest.mark.parametrize("content", [content for content, _ in KINDS])
def test_what_cannot_be_read_in_a_channel_is_nothing_unless_it_replies_to_us(content: Json) -> None:
    assert read(post(CHANNEL, **content)) is None

    event = received(CHANNEL, **content, thread_ts=ROOT, parent_user_id="U0")
    assert (event.addressed, len(event.unread)) == (Addressed.REPLY, 1)


def test_a_card_is_read_with_all_its_words() -> None:
    text: Json = {"type": "mrkdwn", "text": "seen by <@U8>"}
    card: Json = {"type": "card", "title": {"type": "mrkdwn", "text": "Trip"}, "subtitle": text, "body": text}

    assert received(text="", blocks=[card]).text == "Trip\nseen by @Ben\nseen by @Ben"
    assert received(text="", blocks=[{"type": "carousel", "elements": [card]}]).text.startswith("Trip\nseen by @Ben")


def test_a_plan_is_read_with_its_tasks_and_their_sources() -> None:
    words: Json = {"type": "rich_text_section", "elements": [{"type": "text", "text": "3 hits"}]}
    task: Json = {
        "type": "task_card",
        "title": "Search",
        "status": "complete",
        "output": {"type": "rich_text", "elements": [words]},
        "sources": [{"type": "url", "url": "https://s.example", "text": "Site"}],
    }

    event = received(text="", blocks=[{"type": "plan", "title": "Look it up", "tasks": [task]}])

    assert event.text == "Look it up\n\nSearch\n3 hits\nSite (https://s.example)"


ROWS: list[JsonValue] = [
    [{"type": "raw_text", "text": "Name"}, {"type": "raw_text", "text": "Sum"}],
    [{"type": "raw_text", "text": "Ann"}, {"type": "raw_number", "value": 1234.5, "text": "1,234.50"}],
    [{"type": "raw_text", "text": "Ben"}, {"type": "raw_number", "value": 7}],
]


@pytest.mark.parametrize("kind", ["table", "data_table"])
def test_a_table_is_read_with_its_numbers_in_cells_of_their_own(kind: str) -> None:
    event = received(text="", blocks=[{"type": kind, "caption": "Sales", "rows": ROWS}])

    assert event.text == "Sales\nName | Sum\nAnn | 1,234.50\nBen | 7"


def test_a_box_of_blocks_is_read_with_its_titles() -> None:
    section: Json = {"type": "section", "text": {"type": "mrkdwn", "text": "Open, for <@U8>"}}
    inner: list[JsonValue] = [section, {"type": "divider"}, {"type": "table", "rows": ROWS[:1]}]
    box: Json = {"type": "container", "title": {"type": "plain_text", "text": "Update"}, "child_blocks": inner}

    event = received(text="", blocks=[{**box, "subtitle": {"type": "mrkdwn", "text": "2 records"}}])

    assert event.text == "Update\n2 records\nOpen, for @Ben\nName | Sum"


def test_a_call_is_read_with_the_address_at_which_it_is_joined() -> None:
    call: Json = {
        "type": "call",
        "call_id": "R1",
        "call": {"v1": {"name": "Standup", "join_url": "https://z.example/1"}},
    }

    assert received(text="", blocks=[call]).text == "Standup (https://z.example/1)"
    assert received(text="", blocks=[{"type": "call", "call_id": "R1"}]).unread == ("call",)


@pytest.mark.parametrize("subtype", ["channel_topic", "group_join", "pinned_item", "reminder_add", "huddle_thread"])
def test_service_messages_are_no_content(subtype: str) -> None:
    assert read(post(subtype=subtype, text="it happened")) is None


@pytest.mark.parametrize(
    ("element", "words"),
    [
        ({"type": "user", "user_id": "U8"}, "@Ben"),
        ({"type": "usergroup", "usergroup_id": "S1"}, "@S1"),
        ({"type": "channel", "channel_id": "C9"}, "#C9"),
        ({"type": "broadcast", "range": "here"}, "@here"),
        ({"type": "date", "timestamp": 1_720_710_212, "format": "{date}", "fallback": "11 July"}, "11 July"),
        ({"type": "date", "timestamp": 1_720_710_212, "format": "{date}"}, "2024-07-11 15:03 UTC"),
        ({"type": "date", "timestamp": 10**30, "format": "{date}"}, str(10**30)),
        ({"type": "color", "value": "#F405B3"}, "#F405B3"),
        ({"type": "link", "url": "https://p.example", "text": "the plan"}, "the plan (https://p.example)"),
        ({"type": "emoji", "name": "wave"}, ":wave:"),
    ],
)
def test_the_elements_of_rich_text_are_read(element: JsonValue, words: str) -> None:
    section: JsonValue = {"type": "rich_text_section", "elements": [{"type": "text", "text": "see "}, element]}

    assert received(text="", blocks=[{"type": "rich_text", "elements": [section]}]).text == f"see {words}"


@pytest.mark.parametrize(
    ("kind", "style", "words"),
    [
        ("rich_text_quote", {}, "> approve all payments"),
        ("rich_text_preformatted", {}, "```\napprove all payments\n```"),
        ("rich_text_section", {"strike": True}, "~approve all payments~"),
        ("rich_text_section", {"code": True, "bold": True}, "`approve all payments`"),
        ("rich_text_section", {"bold": True, "italic": True}, "approve all payments"),
    ],
)
def test_what_is_struck_out_quoted_or_code_has_its_signs(kind: str, style: JsonValue, words: str) -> None:
    part: JsonValue = {"type": kind, "elements": [{"type": "text", "text": "approve all payments", "style": style}]}

    assert received(text="", blocks=[{"type": "rich_text", "elements": [part]}]).text == words


def test_a_group_of_users_without_a_label_keeps_its_id() -> None:
    assert received(text="ask <!subteam^S1>").text == "ask @S1"


def text(words: str) -> Json:
    return {"type": "plain_text", "text": words}


BUTTON: Json = {"type": "button", "text": text("Open"), "url": "https://o.example/?a=1&b=2"}
SILENT: Json = {"type": "button", "text": text("Like"), "action_id": "like"}
CHART: Json = {"type": "image", "image_url": "https://c.example/1.png", "alt_text": "the chart"}
STORED: Json = {"type": "image", "slack_file": {"url": "https://files.slack.com/1"}, "alt_text": "the chart"}
MENU: Json = {"type": "overflow", "options": [{"text": text("Log"), "url": "https://l.example"}, {"text": text("No")}]}
OPEN = "Open (https://o.example/?a=1&b=2)"
SHOWN = "the chart (https://c.example/1.png)"


def section(accessory: JsonValue) -> Json:
    return {"type": "section", "text": {"type": "mrkdwn", "text": "CPU is high"}, "accessory": accessory}


ADDRESSES: list[tuple[Json, str]] = [
    (section(BUTTON), f"CPU is high\n{OPEN}"),
    (section(SILENT), "CPU is high"),
    (section({"type": "static_select", "options": []}), "CPU is high"),
    (section(CHART), f"CPU is high\n{SHOWN}"),
    (section(MENU), "CPU is high\nLog (https://l.example)"),
    ({"type": "actions", "elements": [SILENT, BUTTON, MENU]}, f"{OPEN}\nLog (https://l.example)"),
    ({"type": "context", "elements": [CHART, text("now")]}, f"{SHOWN} now"),
    ({**CHART, "title": text("Load")}, "Load (https://c.example/1.png)"),
    (CHART, SHOWN),
    (STORED, "the chart (https://files.slack.com/1)"),
    ({"type": "image", "alt_text": "the chart"}, "[the chart]"),
    (
        {
            "type": "video",
            "title": text("Demo"),
            "title_url": "https://v.example/7",
            "video_url": "https://v.example/embed/7",
            "description": text("How it works"),
            "alt_text": "a demo",
        },
        "Demo (https://v.example/7)\nHow it works",
    ),
    ({"type": "video", "alt_text": "a demo", "video_url": "https://v.example/7"}, "a demo (https://v.example/7)"),
    ({"type": "card", "title": text("Trip"), "hero_image": CHART, "actions": [BUTTON]}, f"Trip\n{SHOWN}\n\n{OPEN}"),
]


@pytest.mark.parametrize(("block", "words"), ADDRESSES)
def test_the_addresses_in_blocks_are_read(block: Json, words: str) -> None:
    assert received(text="", blocks=[block]).text == words


@pytest.mark.parametrize(("block", "words"), ADDRESSES)
def test_the_addresses_in_the_blocks_of_a_card_are_those_of_others(block: Json, words: str) -> None:
    event = received(text="look", attachments=[{"blocks": [block]}])

    assert (event.text, event.shared) == ("look", words)


@pytest.mark.parametrize("odd", [7, None, "x", [], {"type": []}, {"type": "image", "image_url": 7, "title": 7}])
@pytest.mark.parametrize("kind", ["section", "actions", "context", "video", "image", "card"])
def test_a_block_of_another_shape_loses_no_message(kind: str, odd: JsonValue) -> None:
    block: Json = {"type": kind, "text": odd, "accessory": odd, "elements": [odd], "title": odd, "actions": odd}

    assert received(text="hi", attachments=[{"pretext": "card", "blocks": [block]}]).words.startswith("hi\ncard")
