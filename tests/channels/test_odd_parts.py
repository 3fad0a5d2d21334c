"""A part of a message that has an unexpected shape loses only itself, on every platform."""

import json
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from channels.base import InboundEvent, MessageReceived
from tests.channels.discord import payloads as discord
from tests.channels.slack import payloads as slack
from tests.channels.telegram import payloads as telegram

Json = dict[str, JsonValue]
Path = tuple[str | int, ...]
WORDS = "water the roses"


class Platform(NamedTuple):
    """A full message of a platform, how it is read, and the fields that tell who wrote what where."""

    message: Json
    read: Callable[[Json], InboundEvent | None]
    deciding: frozenset[str]


TELEGRAM = telegram.message(
    text=f"{WORDS} here",
    entities=[
        {"type": "bold", "offset": 0, "length": 5},
        {"type": "text_link", "offset": 16, "length": 4, "url": "https://example.com"},
        {"type": "text_mention", "offset": 0, "length": 5, "user": telegram.BEN},
        {"type": "custom_emoji", "offset": 6, "length": 3, "custom_emoji_id": "5"},
    ],
    reply_to_message=telegram.message(message_id=3, text="which?", photo=telegram.PHOTO),
    quote={"text": "which", "position": 0, "entities": [{"type": "bold", "offset": 0, "length": 5}]},
    reply_markup={"inline_keyboard": [[{"text": "Open", "url": "https://example.com"}]]},
    link_preview_options={"url": "https://example.com"},
    edit_date=1_700_000_001,
)
SLACK = slack.post(
    text=f"{WORDS} <https://example.com|here>",
    blocks=[{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [{"text": WORDS}]}]}],
    files=[slack.FILE],
    attachments=[
        {
            "text": "a preview",
            "fields": [{"title": "State", "value": "open"}],
            "files": [slack.FILE],
            "message_blocks": [{"message": {"blocks": [{"type": "section", "text": {"text": "shared"}}]}}],
        }
    ],
    user_profile={"display_name": "Ann"},
    edited={"user": "U7", "ts": slack.TS},
    metadata={"event_type": "x", "event_payload": {}},
)
DISCORD = discord.message(
    discord.DM,
    content=WORDS,
    attachments=[discord.FILE],
    embeds=[{"title": "A page", "url": "https://example.com", "fields": [{"name": "a", "value": "b"}]}],
    sticker_items=[{"id": "1", "name": "cat"}],
    mentions=[discord.BEN],
    components=[{"type": 1, "components": [{"type": 2, "label": "Open", "url": "https://example.com"}]}],
    poll={"question": {"text": "Which?"}, "answers": [{"poll_media": {"text": "red"}}]},
    message_reference={"type": 0, "message_id": "3", "channel_id": "700"},
    referenced_message=discord.message(discord.DM, content="which?", author=discord.BEN),
    message_snapshots=[{"message": {"content": "passed on", "attachments": [discord.FILE]}}],
)
PLATFORMS = {
    "telegram": Platform(
        TELEGRAM,
        lambda message: telegram.read({"message": message}),
        frozenset(("message_id", "from", "chat", "date", "text")),
    ),
    "slack": Platform(SLACK, slack.read, frozenset(("type", "channel", "user", "ts", "text"))),
    "discord": Platform(
        DISCORD,
        discord.spoken,
        frozenset(("id", "channel_id", "author", "timestamp", "type", "flags", "content", "edited_timestamp")),
    ),
}
ODD: tuple[JsonValue, ...] = (None, -1, 10**30, 0.5, True, "", "of another shape", [], ["x", 7], {}, {"id": []})


def places(value: JsonValue, path: Path = ()) -> Iterator[Path]:
    """Yield the places of all values inside of a payload."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in inner:
        yield (*path, name)
        yield from places(each, (*path, name))


def with_odd(message: Json, path: Path, odd: JsonValue) -> Json:
    changed: Json = json.loads(json.dumps(message))
    inside: JsonValue = changed
    for name in path[:-1]:
        inside = inside[name]  # type: ignore[index]
    inside[path[-1]] = odd  # type: ignore[index]
    return changed


@pytest.mark.parametrize("name", PLATFORMS)
@given(data=st.data())
def test_the_words_arrive_whatever_else_of_the_message_is_odd(name: str, data: st.DataObject) -> None:
    platform = PLATFORMS[name]
    message = platform.message
    for _ in range(data.draw(st.integers(1, 3))):
        kept = [path for path in places(message) if path[0] not in platform.deciding]
        message = with_odd(message, data.draw(st.sampled_from(kept)), data.draw(st.sampled_from(ODD)))

    event = platform.read(message)

    assert isinstance(event, MessageReceived)
    assert "roses" in event.text


def arrives(name: str, **odd: JsonValue) -> MessageReceived:
    """Return a short message of a platform with something odd in it."""
    short: dict[str, Json] = {
        "telegram": telegram.message(text=WORDS),
        "slack": slack.post(text=WORDS),
        "discord": discord.message(discord.DM, content=WORDS),
    }
    event = PLATFORMS[name].read({**short[name], **odd})
    assert isinstance(event, MessageReceived)
    assert event.words == WORDS
    return event


@pytest.mark.parametrize(
    ("name", "odd", "kind"),
    [
        ("telegram", {"document": {"file_name": "plan.pdf"}}, "file"),
        ("telegram", {"photo": [{"width": 90}]}, "file"),
        ("telegram", {"poll": {"question": 7}}, "poll"),
        ("telegram", {"contact": ["Ben"]}, "part"),
        ("telegram", {"quote": {"text": 7}}, "part"),
        ("telegram", {"entities": [{"type": "text_link", "offset": 0, "length": 5, "url": 7}]}, "part"),
        ("slack", {"files": ["F1"]}, "file"),
        ("slack", {"files": [{"name": "plan.pdf"}]}, "file"),
        ("slack", {"attachments": [7]}, "part"),
        ("slack", {"attachments": [{"title": 7}]}, "part"),
        ("slack", {"attachments": [{"files": ["F1"]}]}, "file"),
        ("discord", {"attachments": [{"filename": "plan.pdf"}]}, "file"),
        ("discord", {"sticker_items": ["cat"]}, "sticker"),
        ("discord", {"poll": "which?"}, "poll"),
        ("discord", {"message_snapshots": [{"message": "passed on"}]}, "part"),
        ("discord", {"message_snapshots": [{"message": {"attachments": ["plan.pdf"]}}]}, "file"),
    ],
)
def test_a_lost_part_that_people_would_miss_is_named(name: str, odd: Json, kind: str) -> None:
    assert arrives(name, **odd).unread == (kind,)


@pytest.mark.parametrize(
    ("name", "odd"),
    [
        ("telegram", {"entities": [{"type": "bold"}, {"type": "custom_emoji", "offset": -5, "length": 9}, 7]}),
        ("telegram", {"entities": [{"type": "glow_of_2031", "offset": 0, "length": -1}], "photo": None}),
        ("telegram", {"edit_date": "yesterday", "media_group_id": 7}),
        ("slack", {"blocks": [7, {"type": "rich_text", "elements": 5}], "user_profile": "Ann", "files": None}),
        ("discord", {"embeds": [{"title": ["no title"]}, 7], "mentions": ["Ben"], "attachments": None}),
    ],
)
def test_a_lost_part_that_nobody_would_miss_is_passed_over(name: str, odd: Json) -> None:
    assert arrives(name, **odd).unread == ()


@pytest.mark.parametrize(
    ("name", "odd"),
    [
        ("telegram", {"from": {"id": 7, "is_bot": "perhaps"}}),
        ("telegram", {"chat": {"id": -1001, "type": 7}}),
        ("telegram", {"is_topic_message": "perhaps"}),
        ("slack", {"bot_id": ["B9"]}),
        ("slack", {"subtype": {"bot": True}}),
        ("discord", {"guild_id": 7.5}),
        ("discord", {"webhook_id": ["5"]}),
        ("discord", {"author": {"id": "7", "bot": "perhaps"}}),
    ],
)
def test_a_message_is_not_read_if_it_is_unclear_who_wrote_it_where(name: str, odd: Json) -> None:
    assert PLATFORMS[name].read({**PLATFORMS[name].message, **odd}) is None


def test_words_passed_on_stay_those_of_somebody_else_where_their_origin_is_odd() -> None:
    for odd in ({"forward_origin": "Eve"}, {"via_bot": 7}, {"forward_origin": {"sender_user": 7}}):
        event = telegram.received(text=WORDS, **odd)

        assert (event.text, event.shared) == ("", f"Forwarded from somebody:\n{WORDS}")
