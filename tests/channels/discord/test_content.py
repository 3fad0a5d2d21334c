"""Content of Discord's messages besides their text: what can be read of it, and what is said to be unreadable."""

import pytest
from pydantic import JsonValue

from channels.base import Addressed
from tests.channels.discord.payloads import BOT, DM, FILE, GENERAL, GUILD, Json, from_history, heard, message, spoken

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


STICKER: Json = {"id": "1", "name": "Run it all", "format_type": 1}


def test_a_sticker_beside_words_is_read_and_is_not_what_the_person_says() -> None:
    event = heard(DM, content="look", sticker_items=[STICKER, {"id": "2", "format_type": 1}])

    assert (event.text, event.shared) == ("look", "[sticker: Run it all] [sticker]")


def test_a_sticker_beside_a_poll_loses_neither() -> None:
    event = heard(DM, content="vote", sticker_items=[STICKER], poll={"question": {"text": "Tea?"}, "answers": []})

    assert (event.text, event.shared) == ("vote", "[sticker: Run it all]\nPoll: Tea?")


def test_a_forwarded_poll_and_the_entries_of_a_menu_are_read() -> None:
    poll: Json = {"question": {"text": "Tea?"}, "answers": [{"poll_media": {"text": "Green"}}]}
    options: JsonValue = [{"label": "Cooks", "value": "1"}, {"label": "Guests", "value": "2"}, 7]
    menu: JsonValue = [{"type": 1, "components": [{"type": 3, "placeholder": "Role", "options": options}]}]

    assert heard(DM, **forward(poll=poll)).shared == "Forwarded:\nPoll: Tea?\n- Green"
    assert heard(DM, **forward(components=menu)).shared == "Forwarded:\n- Cooks\n- Guests"


def test_a_sticker_beside_forwarded_words_is_read() -> None:
    event = heard(DM, **forward(content="old", sticker_items=[STICKER]))

    assert event.shared == "Forwarded:\nold\n\n[sticker: Run it all]"


@pytest.mark.parametrize(
    ("filename", "title", "name"),
    [
        ("c953b519a8c28c42.pdf", "8월 추천 여행지", "8월 추천 여행지.pdf"),
        ("________.txt", "план", "план.txt"),
        ("v2.docx", "报告.v2", "报告.v2.docx"),
        ("x.PNG", "画像.png", "画像.png"),
        ("notes", "заметки", "заметки"),
        ("plan.txt", None, "plan.txt"),
        ("plan.txt", " \u200b", "plan.txt"),
        ("plan.txt", 7, "plan.txt"),
        ("", None, "file-5001"),
    ],
)
def test_a_file_has_the_name_that_it_was_given(filename: str, title: JsonValue, name: str) -> None:
    file = {**FILE, "filename": filename, "title": title}

    [alone] = heard(DM, attachments=[file]).attachments
    [inside] = heard(DM, **forward(attachments=[file])).attachments

    assert (alone.name, inside.name, inside.by) == (name, name, "somebody")


def test_what_a_picture_shows_is_read_in_the_words_of_its_sender() -> None:
    picture: Json = {**FILE, "filename": "a/b.png", "content_type": "image/png", "description": " a cat on a mat\n"}

    alone, beside = heard(DM, attachments=[picture]), heard(DM, content="look", attachments=[picture, FILE])
    inside = heard(DM, **forward(attachments=[picture, {**picture, "description": None}]))

    assert (alone.text, beside.text) == ("[b.png shows: a cat on a mat]", "look\n\n[b.png shows: a cat on a mat]")
    assert (inside.text, inside.shared) == ("", "Forwarded:\n[b.png shows: a cat on a mat]")


def test_a_forward_of_a_forward_is_read_with_its_files_to_the_innermost() -> None:
    innermost: Json = {"message": {"content": "third", "attachments": [{**FILE, "filename": "third.txt"}]}}
    second: Json = {"message": {"content": "second", "message_snapshots": [innermost]}}
    beside: Json = {"message": {"content": "", "message_snapshots": [innermost], "attachments": [FILE]}}

    event = heard(DM, **FORWARDS, message_snapshots=[second, beside])

    shown = ("second", "third", "", "third")
    assert event.text == ""
    assert event.shared == "\n\n".join(f"Forwarded:\n{words}".strip() for words in shown)
    assert [(file.name, file.by) for file in event.attachments] == [
        (name, "somebody") for name in ("third.txt", "notes.txt", "third.txt")
    ]


def test_what_is_odd_in_a_forward_of_a_forward_is_named() -> None:
    event = heard(DM, **forward(content="hi", message_snapshots=[{"message": {"attachments": [7]}}, 7]))

    assert (event.shared, event.unread) == ("Forwarded:\nhi", ("part", "file"))


def test_forwards_inside_one_another_without_end_lose_no_message() -> None:
    content: Json = {"content": "innermost"}
    for _ in range(150):
        content = {"content": "", "message_snapshots": [{"message": content}]}

    assert heard(DM, content="hi", **FORWARDS, message_snapshots=[{"message": content}]).text == "hi"


def test_the_answers_of_a_poll_are_read_with_their_emoji() -> None:
    answers: list[JsonValue] = [
        {"answer_id": 1, "poll_media": {"text": "Green", "emoji": {"id": None, "name": "🍵"}}},
        {"answer_id": 2, "poll_media": {"text": "Black", "emoji": {"id": "77", "name": "mug"}}},
        {"answer_id": 3, "poll_media": {"emoji": {"id": None, "name": "💧"}}},
        {"answer_id": 4, "poll_media": {"text": "None", "emoji": 7}},
    ]

    event = heard(DM, poll={"question": {"text": "Tea?"}, "answers": answers})

    assert event.shared == "Poll: Tea?\n- 🍵 Green\n- :mug: Black\n- 💧\n- None"


def test_the_votes_of_a_poll_are_read() -> None:
    answers: list[JsonValue] = [
        {"answer_id": 1, "poll_media": {"text": "Green"}},
        {"answer_id": 2, "poll_media": {"text": "Black"}},
    ]
    results: Json = {"is_finalized": True, "answer_counts": [{"id": 2, "count": 4, "me_voted": False}]}

    event = heard(DM, poll={"question": {"text": "Tea?"}, "answers": answers, "results": results})

    assert event.shared == "Poll: Tea?\n- Green (votes: 0)\n- Black (votes: 4)"


@pytest.mark.parametrize(
    ("name", "told"),
    [("party", ":party:"), ("party_parrot", ":party_parrot:"), ("now_run_all_of_it", ":emoji:"), ("x" * 32, ":emoji:")],
)
def test_an_emoji_of_a_server_tells_no_more_than_a_name(name: str, told: str) -> None:
    assert heard(DM, content=f"nice <a:{name}:77> work").text == f"nice {told} work"


def test_whoever_named_a_command_of_another_app_is_among_the_named() -> None:
    event = heard(DM, content="try </run all of it:77>")

    assert (event.text, [each.name for each in event.named]) == ("try /run all of it", ["run all of it"])


@pytest.mark.parametrize(
    ("text", "read_as"),
    [
        ("at <t:1800000000:f> then", "at 2027-01-15 08:00 UTC then"),
        ("<t:1800000000>", "2027-01-15 08:00 UTC"),
        ("<t:999999999999:R>", "<t:999999999999:R>"),
    ],
)
def test_a_moment_is_read_by_the_clock_of_utc(text: str, read_as: str) -> None:
    assert heard(DM, content=text).text == read_as
