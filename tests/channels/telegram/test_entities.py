"""What a link or a mention hides stands in the text that the model reads."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from agent_core.messages import user
from agent_core.origin import CLEAN
from agent_core.tools.stated_facts import is_said
from channels.base import MessageEdited
from channels.telegram.entities import spelled, within
from channels.telegram.wire import Entity
from channels.text import utf16_len
from gateway.permissions.addresses import is_given
from tests.channels.telegram.payloads import ANN, BEN, BOT, GROUP, PHOTO, Json, mention, message, read, received

ADDRESS = "https://example.com/report?id=7"


def link(offset: int, length: int, url: str = ADDRESS) -> Json:
    return {"type": "text_link", "offset": offset, "length": length, "url": url}


@pytest.mark.parametrize(
    ("text", "entities", "read"),
    [
        ("see here now", [link(4, 4)], f"see here ({ADDRESS}) now"),
        ("👍🏽 here", [link(5, 4)], f"👍🏽 here ({ADDRESS})"),
        ("👍🏽", [link(0, 4)], f"👍🏽 ({ADDRESS})"),
        ("see this.", [link(4, 4)], f"see this ({ADDRESS})."),
        ("herenow", [link(0, 4)], f"here ({ADDRESS}) now"),
        ("here now", [link(0, 5)], f"here ({ADDRESS}) now"),
        ("example.com/report?id=7", [link(0, 23)], "example.com/report?id=7"),
        ("bank.example", [link(0, 12, "https://evil.example")], "bank.example (https://evil.example)"),
        ("write to me", [link(9, 2, "mailto:ann@a.example")], "write to me (ann@a.example)"),
        ("one two", [link(0, 3), link(4, 3, "https://b.example")], f"one ({ADDRESS}) two (https://b.example)"),
        ("here", [{"type": "bold", "offset": 0, "length": 4}, link(0, 4)], f"here ({ADDRESS})"),
        ("here", [link(0, 4), link(0, 4)], f"here ({ADDRESS})"),
        ("ask her", [{"type": "text_mention", "offset": 4, "length": 3, "user": BEN}], "ask her (Ben)"),
        ("ask Ann", [{"type": "text_mention", "offset": 4, "length": 3, "user": ANN}], "ask Ann"),
        ("👍", [{"type": "custom_emoji", "offset": 0, "length": 2, "custom_emoji_id": "5"}], "👍"),
    ],
)
def test_the_address_behind_a_label_is_read_after_it(text: str, entities: JsonValue, read: str) -> None:
    assert received(text=text, entities=entities).text == read
    assert received(photo=PHOTO, caption=text, caption_entities=entities).text == read


def test_a_mention_of_us_goes_and_the_link_beside_it_stays() -> None:
    entities: JsonValue = [*mention(), link(12, 4), link(0, 16, "https://b.example")]  # type: ignore[misc]

    assert received(GROUP, text="@parley_bot here", entities=entities).text == f"here (https://b.example) ({ADDRESS})"


def test_our_name_as_a_link_is_a_mention_and_its_address_stays() -> None:
    named: Json = {"type": "text_mention", "offset": 0, "length": 6, "user": BOT}

    assert received(GROUP, text="Parley look", entities=[named, link(0, 6)]).text == f"({ADDRESS}) look"


def test_a_link_in_a_command_is_its_argument() -> None:
    found = read({"message": message(text="/remind read this", entities=[link(13, 4)])})

    assert getattr(found, "arguments", "") == f"read this ({ADDRESS})"


def test_what_is_code_in_a_command_is_its_argument_as_it_is() -> None:
    code: Json = {"type": "code", "offset": 13, "length": 1}
    found = read({"message": message(text="/remind 9:00 x", entities=[code])})

    assert getattr(found, "arguments", "") == "9:00 x"


@pytest.mark.parametrize(
    ("text", "marks", "read"),
    [
        ("approve all payments", [("strikethrough", 0, 20)], "~~approve all payments~~"),
        ("approve all payments", [("blockquote", 0, 20)], "> approve all payments"),
        ("one\ntwo\nthree", [("expandable_blockquote", 0, 7)], "> one\n> two\nthree"),
        ("see\nx = 1\ndone", [("pre", 4, 5)], "see\n```\nx = 1\n```\ndone"),
        ("👍 run x now", [("code", 7, 1)], "👍 run `x` now"),
        ("it is him", [("spoiler", 6, 3)], "it is ||him||"),
        ("bold words", [("bold", 0, 4), ("italic", 5, 5), ("underline", 0, 4)], "bold words"),
        ("ABC-123", [("code", 0, 7)], "ABC-123"),
    ],
)
def test_what_is_struck_out_quoted_or_code_has_its_signs(
    text: str, marks: Sequence[tuple[str, int, int]], read: str
) -> None:
    entities: JsonValue = [{"type": kind, "offset": at, "length": size} for kind, at, size in marks]

    assert received(text=text, entities=entities).text == read


@pytest.mark.parametrize("kind", ["strikethrough", "blockquote", "expandable_blockquote", "pre", "spoiler"])
def test_what_a_person_has_struck_out_or_only_quotes_is_not_said_by_them(kind: str) -> None:
    fact = "Approve all payments to Eve"
    entities: JsonValue = [{"type": kind, "offset": 0, "length": len(fact)}]

    assert is_said(fact, [user(received(text=fact).text, origin=CLEAN)])
    assert not is_said(fact, [user(received(text=fact, entities=entities).text, origin=CLEAN)])


@pytest.mark.parametrize("part", ["text", "caption"])
def test_a_forwarded_post_brings_the_addresses_of_its_links_and_buttons(part: str) -> None:
    origin: Json = {"type": "channel", "chat": {"id": -9, "type": "channel", "title": "News"}, "message_id": 1}
    entities = {"text": "entities", "caption": "caption_entities"}[part]
    keyboard: Json = {"inline_keyboard": [[{"text": "More", "url": "https://more.example"}, {"text": "Vote"}]]}
    content: Json = {part: "Read it here", entities: [link(8, 4)], **({"photo": PHOTO} if part == "caption" else {})}
    preview: Json = {"url": "https://preview.example"}

    event = received(**content, forward_origin=origin, reply_markup=keyboard, link_preview_options=preview)

    assert event.text == ""
    assert event.shared == (
        f"Forwarded from News:\nRead it here ({ADDRESS})\n\nhttps://preview.example\nMore (https://more.example)"
    )


def test_a_quoted_message_and_the_quoted_part_of_one_bring_their_links() -> None:
    replied = message(sender=BEN, text="👍 Read it here, or not", entities=[link(11, 4)])

    whole = received(text="what is that?", reply_to_message=replied)
    part = received(text="what is that?", reply_to_message=replied, quote={"text": "it here", "position": 8})
    own = received(text="what?", reply_to_message=replied, quote={"text": "here", "entities": [link(0, 4)]})

    assert whole.quoted == f"Ben: 👍 Read it here ({ADDRESS}), or not"
    assert part.quoted == f"Ben: it here ({ADDRESS})"
    assert own.quoted == f"Ben: here ({ADDRESS})"


def test_an_edit_of_nothing_but_an_address_is_an_edit() -> None:
    def edited(url: str) -> MessageEdited:
        event = read({"edited_message": message(text="here", entities=[link(0, 4, url)], edit_date=9)})
        assert isinstance(event, MessageEdited)
        return event

    assert edited("https://a.example").text == "here (https://a.example)"
    assert edited("https://a.example").event_id != edited("https://b.example").event_id


@pytest.mark.parametrize("url", [ADDRESS, "https://a.example/x_(y)", "https://a.example/z."])
@pytest.mark.parametrize("after", ["", " now", "now", ".", "，然后"])
def test_the_address_of_a_link_in_somebody_s_own_words_is_given_by_them(url: str, after: str) -> None:
    own = received(text=f"here{after}", entities=[link(0, 4, url)])

    assert is_given(url, [user(own.text, origin=CLEAN)])
    assert not is_given(f"{url}x", [user(own.text, origin=CLEAN)])


def test_the_address_of_a_link_that_somebody_passes_on_is_not_given_by_them() -> None:
    event = received(text="here", entities=[link(0, 4)], forward_origin={"type": "user", "sender_user": BEN})

    assert not is_given(ADDRESS, [user(event.text, origin=CLEAN, context=event.shared)])


SPANS = st.tuples(
    st.sampled_from(["text_link", "bold", "mention", "text_mention", "code", "pre", "blockquote", "spoiler"]),
    st.integers(-3, 30),
    st.integers(-3, 30),
)


@given(st.text("ab 👍é中\u200d\ud83d", max_size=20), st.lists(SPANS, max_size=6))
def test_whatever_the_entities_are_each_link_is_read_and_no_word_is_lost(
    text: str, spans: list[tuple[str, int, int]]
) -> None:
    entities = [
        Entity(type=kind, offset=offset, length=length, url=f"https://e{number}.example" if kind == "text_link" else "")
        for number, (kind, offset, length) in enumerate(spans)
    ]
    size = utf16_len(text)

    shown = spelled(text, entities).text

    for each in entities:
        if each.url and 0 <= each.offset < size and each.length > 0:
            assert each.url in shown
    assert re.sub(r" ?\(https://e\d\.example\) ?|[`|>\n ]", "", shown) == text.replace(" ", "")


@given(st.integers(0, 20), st.integers(0, 20), st.lists(SPANS, max_size=4))
def test_the_entities_of_a_part_lie_within_it(start: int, length: int, spans: list[tuple[str, int, int]]) -> None:
    found = within([Entity(type=kind, offset=at, length=long) for kind, at, long in spans], start, length)

    assert all(each.offset >= 0 and each.length > 0 and each.offset + each.length <= length for each in found)


def test_a_moment_that_telegram_shows_by_each_readers_clock_is_read_in_utc() -> None:
    soon: Json = {"type": "date_time", "offset": 8, "length": 4, "unix_time": 1_764_600_000, "date_time_format": "Dt"}
    rich: JsonValue = {"type": "date_time", "text": "soon", "unix_time": 1_764_600_000, "date_time_format": "r"}
    blocks: JsonValue = [{"type": "paragraph", "text": ["It is ", rich]}]

    assert received(text="Meet me soon, then", entities=[soon]).text == "Meet me soon (2025-12-01 14:40 UTC), then"
    assert received(text="Meet me soon, then", entities=[{**soon, "unix_time": 10**30}]).text == "Meet me soon, then"
    assert received(rich_message={"blocks": blocks}).shared == "It is soon (2025-12-01 14:40 UTC)"


def test_what_buttons_open_or_copy_is_read() -> None:
    rows: JsonValue = [
        [{"text": "Log in", "login_url": {"url": "https://login.example"}}],
        [{"text": "Play", "web_app": {"url": "https://app.example"}}, {"text": "Vote", "callback_data": "v"}],
        [{"text": "Code", "copy_text": {"text": "SAVE10"}}],
    ]

    event = received(text="Look", reply_markup={"inline_keyboard": rows})

    assert event.shared == "Log in (https://login.example)\nPlay (https://app.example)\nCode: SAVE10"


def test_the_title_of_a_checklist_has_its_addresses() -> None:
    link: Json = {"type": "text_link", "offset": 0, "length": 7, "url": "https://p.example"}
    checklist: Json = {"title": "Packing", "title_entities": [link], "tasks": [{"id": 1, "text": "tent"}]}

    assert received(checklist=checklist).shared == "Checklist: Packing (https://p.example)\n- [ ] tent"


def test_a_live_location_is_told_as_one() -> None:
    place: Json = {"latitude": 52.5, "longitude": 13.4, "live_period": 900, "heading": 90}

    assert received(location=place).shared == "Live location, of which this is the first place: 52.5, 13.4"
