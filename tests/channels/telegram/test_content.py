"""What Telegram hides behind words, and what it sends that cannot be read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from channels.base import Addressed
from channels.telegram.entities import spelled
from channels.telegram.wire import Entity
from tests.channels.telegram.payloads import ANN, BOT, GROUP, PRIVATE, Json, message, read, received

ADDRESS = "https://example.com/report?id=7"


def link(offset: int, length: int, url: str = ADDRESS) -> Json:
    return {"type": "text_link", "offset": offset, "length": length, "url": url}


@pytest.mark.parametrize(
    ("text", "entities", "read_as"),
    [
        ("summarise this", [link(10, 4)], f"summarise this ({ADDRESS})"),
        ("👍🏽 this", [link(5, 4)], f"👍🏽 this ({ADDRESS})"),
        ("𝒜 a 𝒜", [link(5, 2)], f"𝒜 a 𝒜 ({ADDRESS})"),
        ("one two", [link(0, 3), link(4, 3, "https://example.org")], f"one ({ADDRESS}) two (https://example.org)"),
        ("one two", [link(0, 7), link(4, 3, "https://example.org")], f"one two ({ADDRESS}) (https://example.org)"),
        ("example.com/report?id=7", [link(0, 23)], "example.com/report?id=7"),
        ("Parley read this", [{"type": "text_mention", "offset": 0, "length": 6, "user": BOT}, link(12, 4)], None),
        ("far", [link(90, 4)], f"far ({ADDRESS})"),
        ("cut", [link(1, 90)], f"cut ({ADDRESS})"),
    ],
)
def test_an_address_behind_words_stands_after_them(text: str, entities: JsonValue, read_as: str | None) -> None:
    assert received(text=text, entities=entities).text == (read_as or f"read this ({ADDRESS})")


def test_a_caption_a_quote_and_a_reply_have_their_addresses() -> None:
    entities: JsonValue = [link(10, 4)]
    whole = message(PRIVATE, message_id=3, text="summarise this", entities=entities)

    captioned = received(photo=[{"file_id": "p", "file_unique_id": "u"}], caption="this", caption_entities=[link(0, 4)])
    replied = received(text="what?", reply_to_message=whole)
    part = received(text="what?", reply_to_message=whole, quote={"text": "this", "position": 10})

    assert captioned.text == f"this ({ADDRESS})"
    assert ADDRESS in (replied.quoted or "")
    assert (part.quoted or "").endswith(f"this ({ADDRESS})")


def test_the_address_of_a_forwarded_post_is_not_in_the_person_s_own_words() -> None:
    origin: JsonValue = {"type": "hidden_user", "sender_user_name": "Eve", "date": 1}
    event = received(text="read this", entities=[link(5, 4)], forward_origin=origin)

    assert ADDRESS not in event.text
    assert ADDRESS in (event.shared or "")


KINDS: list[tuple[Json, str]] = [
    ({"story": {"chat": {"id": 1, "type": "private"}, "id": 2}}, "story"),
    ({"giveaway": {"chats": [], "winners_selection_date": 1, "winner_count": 2}}, "giveaway"),
    ({"giveaway_winners": {"winner_count": 2}}, "giveaway"),
    ({"paid_media": {"star_count": 5, "paid_media": [{"type": "preview", "width": 1}]}}, "paid"),
    ({"checklist": "of another shape"}, "checklist"),
    ({"poll": {"question": ["of another shape"]}}, "poll"),
    ({"hologram_of_2031": {"id": 1}}, "unknown"),
]


@pytest.mark.parametrize(("content", "kind"), KINDS)
def test_what_cannot_be_read_is_named(content: Json, kind: str) -> None:
    event = received(**content)

    assert (event.text, event.shared, event.unread) == ("", "", (kind,))
    assert event.addressed is Addressed.DIRECT


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            {
                "checklist": {
                    "title": "Trip",
                    "tasks": [{"id": 1, "text": "pack"}, {"text": "go", "completion_date": 9}],
                }
            },
            "Checklist: Trip\n- [ ] pack\n- [x] go",
        ),
        ({"game": {"title": "Chess", "description": "Your move"}}, "Game: Chess\nYour move"),
        (
            {"invoice": {"title": "Tea", "description": "green", "currency": "EUR", "total_amount": 500}},
            "Invoice: Tea, 500 of the smallest unit of EUR\ngreen",
        ),
    ],
)
def test_lists_games_and_invoices_are_told_in_words(content: Json, words: str) -> None:
    event = received(**content)

    assert (event.text, event.shared, event.unread) == ("", words, ())


@pytest.mark.parametrize(
    "service",
    [
        {"new_chat_title": "Team"},
        {"pinned_message": {"message_id": 1, "date": 1, "chat": PRIVATE}},
        {"left_chat_member": ANN},
        {"video_chat_started": {}},
    ],
)
def test_service_messages_are_no_content(service: Json) -> None:
    assert read(message(GROUP, **service)) is None


@given(
    st.text(alphabet=st.sampled_from("ab 👍𝒜é\ufe0f"), max_size=12),
    st.lists(st.tuples(st.integers(-2, 30), st.integers(-2, 30)), max_size=5),
)
def test_no_position_loses_a_character_or_raises(text: str, places: list[tuple[int, int]]) -> None:
    entities = [Entity(type="text_link", offset=start, length=length, url="u:1") for start, length in places]
    spelled_out = spelled(text, entities).text

    for addition in (" (u:1)", "u:1"):
        spelled_out = spelled_out.replace(addition, "")
    assert spelled_out == text


def test_a_preview_of_what_must_be_paid_for_is_named_beside_its_words() -> None:
    paid: JsonValue = {"star_count": 5, "paid_media": [{"type": "preview", "width": 1}]}
    event = received(caption="look", paid_media=paid)

    assert (event.text, event.attachments, event.unread) == ("look", (), ("paid",))


def test_a_story_that_somebody_replies_to_is_named_beside_their_words() -> None:
    event = received(text="nice", reply_to_story={"id": 1, "chat": PRIVATE})

    assert (event.text, event.unread) == ("nice", ("story",))


def test_the_links_of_a_checklist_keep_their_addresses() -> None:
    tasks: JsonValue = [{"id": 1, "text": "buy tea", "text_entities": [link(4, 3)]}]
    event = received(checklist={"title": "Today", "tasks": tasks})

    assert event.shared == f"Checklist: Today\n- [ ] buy tea ({ADDRESS})"


def test_a_poll_has_its_description_with_addresses_and_its_picture() -> None:
    poll: Json = {
        "id": "1",
        "question": "Lunch?",
        "options": [{"text": "yes", "persistent_id": "a"}, {"text": "no", "persistent_id": "b"}],
        "description": "See this",
        "description_entities": [link(4, 4)],
        "media": {"photo": [{"file_id": "p", "file_unique_id": "u1"}]},
    }

    event = received(poll=poll)

    assert event.shared == f"Poll: Lunch?\nSee this ({ADDRESS})\n- yes\n- no"
    assert [each.name for each in event.attachments] == ["photo-u1.jpg"]


def test_the_votes_of_a_poll_are_read() -> None:
    options: list[JsonValue] = [{"text": "now", "voter_count": 3}, {"text": "later", "voter_count": 0}]

    event = received(poll={"id": "1", "question": "When?", "options": options, "total_voter_count": 3})

    assert event.shared == "Poll: When?\n- now (votes: 3)\n- later (votes: 0)"


def test_a_reply_to_one_task_or_option_says_which() -> None:
    tasks: list[JsonValue] = [{"id": 1, "text": "shop"}, {"id": 2, "text": "cook", "completion_date": 9}]
    options: list[JsonValue] = [{"text": "yes", "persistent_id": "a"}, {"text": "no", "persistent_id": "b"}]
    checklist = message(PRIVATE, message_id=3, checklist={"title": "Dinner", "tasks": tasks})
    poll = message(PRIVATE, message_id=3, poll={"id": "1", "question": "Lunch?", "options": options})

    task = received(text="when?", reply_to_message=checklist, reply_to_checklist_task_id=2)
    option = received(text="why?", reply_to_message=poll, reply_to_poll_option_id="b")

    assert (task.quoted or "").startswith("Ann Lee: - [x] cook\n\nChecklist: Dinner\n")
    assert (option.quoted or "").startswith("Ann Lee: - no\n\nPoll: Lunch?\n")


@pytest.mark.parametrize("kind", ["poll_option_added", "poll_option_deleted", "managed_bot_created"])
def test_news_of_polls_and_bots_need_no_answer(kind: str) -> None:
    news: Json = {kind: {"option_text": "soup"}}
    assert read({"message": {**message(PRIVATE), **news}}) is None
