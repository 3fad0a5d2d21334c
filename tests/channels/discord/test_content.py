"""Content of Discord's messages besides their text: what can be read of it, and what is said to be unreadable."""

import pytest
from pydantic import JsonValue

from channels.base import Addressed
from tests.channels.discord.payloads import BOT, DM, GENERAL, GUILD, Json, from_history, heard, message, spoken

FORWARDS: Json = {"message_reference": {"type": 1, "channel_id": "5", "message_id": "6"}}


def forward(**content: JsonValue) -> Json:
    return {**FORWARDS, "message_snapshots": [{"message": {"content": "", **content}}]}


KINDS: list[tuple[Json, str]] = [
    ({"activity": {"type": 3, "party_id": "spotify:7"}, "application": {"id": "9"}}, "activity"),
    ({"poll": {"question": ["of another shape"]}}, "poll"),
    (forward(components=[{"type": 14, "divider": True}]), "app"),
    (forward(embeds=[{"type": "rich"}]), "app"),
    (forward(), "unknown"),
    ({"type": 2031}, "unknown"),
    ({}, "unknown"),
]


@pytest.mark.parametrize(("content", "kind"), KINDS)
def test_what_cannot_be_read_in_private_is_named(content: Json, kind: str) -> None:
    event = heard(DM, **content)

    assert (event.text, event.shared, event.unread) == ("", "", (kind,))


@pytest.mark.parametrize("content", [content for content, _ in KINDS])
def test_what_cannot_be_read_in_a_server_is_nothing_unless_it_replies_to_us(content: Json) -> None:
    assert spoken(message(GENERAL, **content)) is None

    reply: Json = {
        "message_reference": {"type": 0, "channel_id": GENERAL, "message_id": "999", "guild_id": GUILD},
        "referenced_message": message(author=BOT, id="999", content="At ten.", guild_id=None),
    }
    if "message_snapshots" not in content:
        event = heard(GENERAL, **content, **reply)
        assert (event.addressed, len(event.unread)) == (Addressed.REPLY, 1)


def test_other_bots_are_not_told_what_cannot_be_read() -> None:
    assert from_history(message(DM, author={"id": "77", "username": "b", "bot": True})) is None


COMPONENTS: JsonValue = [
    {
        "type": 17,
        "components": [
            {"type": 10, "content": "# Menu"},
            {
                "type": 9,
                "components": [{"type": 10, "content": "Soup"}],
                "accessory": {"type": 11, "media": {"url": "https://c.example/soup.png"}, "description": "a bowl"},
            },
            {"type": 12, "items": [{"media": {"url": "https://c.example/cake.png"}}]},
            {"type": 13, "file": {"url": "attachment://menu.pdf"}},
            {"type": 1, "components": [{"type": 2, "style": 5, "label": "Order", "url": "https://o.example"}]},
            {"type": 1, "components": [{"type": 2, "style": 1, "label": "Like", "custom_id": "x"}]},
        ],
    }
]
WORDS = """# Menu
Soup
a bowl (https://c.example/soup.png)
https://c.example/cake.png
attachment://menu.pdf
Order (https://o.example)"""


def test_a_forwarded_message_of_components_is_read_with_its_addresses() -> None:
    event = heard(DM, **forward(components=COMPONENTS))

    assert (event.text, event.shared) == ("", f"Forwarded:\n{WORDS}")


@pytest.mark.parametrize(
    ("embed", "words"),
    [
        ({"title": "News", "url": "https://n.example"}, "News (https://n.example)"),
        ({"author": {"name": "Eve", "url": "https://e.example"}, "title": "T"}, "Eve (https://e.example)\nT"),
        (
            {"description": "[here](https://h.example)", "image": {"url": "https://i.example/1.png"}},
            "[here](https://h.example)\nhttps://i.example/1.png",
        ),
        ({"type": "gifv", "video": {"url": "https://v.example/1.mp4"}}, "https://v.example/1.mp4"),
        ({"type": "image", "thumbnail": {"url": "https://t.example/1.png"}}, "https://t.example/1.png"),
    ],
)
def test_the_embeds_of_a_forwarded_message_keep_their_addresses(embed: JsonValue, words: str) -> None:
    assert heard(DM, **forward(embeds=[embed])).shared == f"Forwarded:\n{words}"


def test_a_masked_link_is_read_with_its_address() -> None:
    assert heard(DM, content="see [the plan](https://p.example)").text == "see [the plan](https://p.example)"


@pytest.mark.parametrize("components", [None, 7, "x", [7, None, [[]]], {"components": {"media": 7, "file": []}}])
def test_components_of_another_shape_lose_no_message(components: JsonValue) -> None:
    assert heard(DM, **forward(content="hi", components=components)).shared == "Forwarded:\nhi"
