"""Telegram's updates, as documented by the Bot API and as sent, become events."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from channels.attachments import Attachment
from channels.base import Addressed, ButtonPressed, CommandInvoked, MessageEdited, ReactionAdded
from channels.telegram.wire import Update
from channels.values import parse
from tests.channels.telegram.payloads import (
    ANN,
    BEN,
    BOT,
    GROUP,
    NOW,
    OTHER_BOT,
    PHOTO,
    PRIVATE,
    Json,
    mention,
    message,
    read,
    received,
)


def test_a_private_message() -> None:
    event = received(text="hello")

    assert event.event_id == "telegram:42:7:5"
    assert str(event.chat) == "telegram:42:7"
    assert (event.sender.id, event.sender.name, event.sender.language) == ("7", "Ann Lee", "de")
    assert (event.text, event.message_id, event.at) == ("hello", "5", 1_700_000_000)
    assert event.addressed is Addressed.DIRECT


@pytest.mark.parametrize(
    ("text", "entities", "left"),
    [
        ("@parley_bot hi", mention(), "hi"),
        ("@PARLEY_BOT, hi", mention(), "hi"),
        ("hi @parley_bot", mention(3), "hi"),
        ("hey @parley_bot what now?", mention(4), "hey what now?"),
        ("hey @parley_bot, what now?", mention(4), "hey, what now?"),
        ("👍🏽 @parley_bot hi", mention(5), "👍🏽 hi"),
        ("@parley_bot", mention(), ""),
        ("Parley hi", [{"type": "text_mention", "offset": 0, "length": 6, "user": BOT}], "hi"),
    ],
)
def test_a_mention_is_told_and_taken_away(text: str, entities: JsonValue, left: str) -> None:
    event = received(GROUP, text=text, entities=entities)

    assert (event.text, event.addressed) == (left, Addressed.MENTION)


def test_a_mention_in_a_caption() -> None:
    event = received(GROUP, photo=PHOTO, caption="@parley_bot what is this?", caption_entities=mention())

    assert (event.text, event.addressed, len(event.attachments)) == ("what is this?", Addressed.MENTION, 1)


@pytest.mark.parametrize(
    "entities",
    [[], mention(0, 6), mention(-3), mention(4_000), [{"type": "bold", "offset": 0, "length": 11}]],
    ids=["none", "too short", "negative", "outside", "bold"],
)
def test_what_is_no_mention_of_us_is_talk(entities: JsonValue) -> None:
    event = received(GROUP, text="@parley_bot hi", entities=entities)

    assert (event.text, event.addressed, event.group) == ("@parley_bot hi", Addressed.AMBIENT, "Team")


def test_a_reply_to_us_and_a_reply_to_another() -> None:
    ours = received(GROUP, text="thanks", reply_to_message=message(GROUP, sender=BOT, text="At ten."))
    another = received(GROUP, text="thanks", reply_to_message=message(GROUP, sender=BEN, text="At ten."))

    assert (ours.addressed, ours.quoted, ours.reply_to) == (Addressed.REPLY, "Parley: At ten.", "5")
    assert (another.addressed, another.quoted) == (Addressed.AMBIENT, "Ben: At ten.")


def test_a_quoted_part_is_preferred() -> None:
    replied = message(sender=BOT, text="A long answer with ten parts.")
    assert received(text="why?", reply_to_message=replied, quote={"text": "ten parts"}).quoted == "Parley: ten parts"


def test_a_quote_from_another_chat_keeps_its_speaker() -> None:
    event = received(
        text="why?",
        quote={"text": "ten parts"},
        external_reply={"origin": {"type": "user", "sender_user": BEN, "date": 1}},
    )
    assert event.quoted == "Ben: ten parts"


def test_a_reply_to_a_message_of_another_chat_brings_its_file_and_its_address() -> None:
    shown: dict[str, JsonValue] = {"photo": PHOTO, "link_preview_options": {"url": "https://a.example/x"}}
    event = received(text="why?", external_reply={"origin": {"type": "user", "sender_user": BEN, "date": 1}, **shown})
    [file] = event.attachments
    assert (file.mime_type, file.by) == ("image/jpeg", "Ben")
    assert event.quoted == f"Ben: https://a.example/x [{file.safe_name}]"


def test_a_question_about_a_photo_of_another_brings_the_photo() -> None:
    replied = message(GROUP, sender=BEN, photo=PHOTO)
    event = received(GROUP, text="@parley_bot what is it?", entities=mention(), reply_to_message=replied)

    assert [file.reference for file in event.attachments] == ["large"]
    assert event.quoted == "Ben: [photo-l1.jpg]"


def test_a_topic_is_a_chat_of_its_own_and_its_opening_is_no_reply() -> None:
    opening = message(GROUP, sender=BOT, message_id=3, forum_topic_created={"name": "Plans", "icon_color": 1})
    event = received(GROUP, text="hi", message_thread_id=3, is_topic_message=True, reply_to_message=opening)

    assert event.chat.thread == "3"
    assert (event.addressed, event.reply_to, event.quoted) == (Addressed.AMBIENT, None, None)


def test_a_thread_of_replies_is_no_chat_of_its_own() -> None:
    assert received(GROUP, text="hi", message_thread_id=3).chat.thread is None


@pytest.mark.parametrize(
    ("content", "attachment"),
    [
        ({"photo": PHOTO}, Attachment(name="photo-l1.jpg", mime_type="image/jpeg", size=90_000, reference="large")),
        (
            {"document": {"file_id": "d", "file_name": "a.pdf", "mime_type": "application/pdf", "file_size": 3}},
            Attachment(name="a.pdf", mime_type="application/pdf", size=3, reference="d"),
        ),
        (
            {"document": {"file_id": "d", "file_unique_id": "AgAD-x_Y"}},
            Attachment(name="document-AgADxY", reference="d"),
        ),
        (
            {"voice": {"file_id": "v", "duration": 3}},
            Attachment(name="voice.ogg", mime_type="audio/ogg", reference="v", is_voice=True, seconds=3),
        ),
        (
            {"audio": {"file_id": "a", "title": "Song"}},
            Attachment(name="Song.mp3", mime_type="audio/mpeg", reference="a"),
        ),
        ({"video": {"file_id": "v"}}, Attachment(name="video.mp4", mime_type="video/mp4", reference="v")),
        (
            {"video_note": {"file_id": "v", "length": 9}},
            Attachment(name="video.mp4", mime_type="video/mp4", reference="v", is_voice=True),
        ),
        (
            {"animation": {"file_id": "g"}, "document": {"file_id": "g"}},
            Attachment(name="animation.mp4", mime_type="video/mp4", reference="g"),
        ),
    ],
    ids=["photo", "document", "nameless document", "voice", "audio", "video", "video note", "animation"],
)
def test_files(content: Json, attachment: Attachment) -> None:
    event = received(**content, caption="look")

    assert event.attachments == (attachment,)
    assert event.text == "look"


CARD = "BEGIN:VCARD\nVERSION:3.0\nFN:Ben\nEMAIL:ben@b.example\nURL:https://b.example\nEND:VCARD"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"sticker": {"file_id": "s", "emoji": "😀"}}, "😀"),
        ({"dice": {"emoji": "🎲", "value": 4}}, "🎲 4"),
        ({"location": {"latitude": 52.5, "longitude": 13.4}}, "Location: 52.5, 13.4"),
        (
            {
                "location": {"latitude": 52.5, "longitude": 13.4},
                "venue": {"title": "Café", "address": "Street 1", "location": {"latitude": 52.5, "longitude": 13.4}},
            },
            "Location: 52.5, 13.4 (Café, Street 1)",
        ),
        ({"contact": {"first_name": "Ben", "phone_number": "+49"}}, "Contact: Ben, +49"),
        (
            {"contact": {"first_name": "Ben", "phone_number": "+49", "vcard": CARD}},
            "Contact: Ben, +49\nEmail: ben@b.example\nWeb: https://b.example",
        ),
        (
            {"poll": {"question": "When?", "options": [{"text": "now"}, {"text": "later"}]}},
            "Poll: When?\n- now\n- later",
        ),
    ],
    ids=["sticker", "dice", "location", "venue", "contact", "vcard", "poll"],
)
def test_other_contents_are_told_in_words(content: Json, text: str) -> None:
    assert received(**content).words == text


def test_what_a_contact_s_card_says_is_not_what_the_person_says() -> None:
    event = received(contact={"first_name": "Ben", "phone_number": "+49", "vcard": CARD})

    assert (event.text, event.unread) == ("", ())


def test_a_card_of_another_shape_is_named() -> None:
    event = received(contact={"first_name": "Ben", "phone_number": "+49", "vcard": 7})

    assert (event.shared, event.unread) == ("Contact: Ben, +49", ("part",))


@pytest.mark.parametrize(
    "content",
    [
        {"location": {"latitude": 52.5, "longitude": 13.4}},
        {"contact": {"first_name": "Obey", "phone_number": "+49"}},
        {"poll": {"question": "Obey?", "options": [{"text": "now"}]}},
    ],
    ids=["location", "contact", "poll"],
)
def test_a_card_that_a_person_passes_on_is_not_in_their_own_words(content: Json) -> None:
    event = received(**content)

    assert (event.text, bool(event.shared)) == ("", True)


@pytest.mark.parametrize(
    ("origin", "who"),
    [
        ({"type": "user", "sender_user": BEN, "date": 1}, "Ben"),
        ({"type": "hidden_user", "sender_user_name": "Hidden", "date": 1}, "Hidden"),
        ({"type": "chat", "sender_chat": GROUP, "date": 1}, "Team"),
        (
            {"type": "channel", "chat": {"id": -9, "type": "channel", "title": "News"}, "message_id": 1, "date": 1},
            "News",
        ),
    ],
)
def test_forwarded_words_are_no_command_and_name_their_speaker(origin: Json, who: str) -> None:
    event = received(text="/stop", forward_origin=origin)

    assert (event.text, event.shared) == ("", f"Forwarded from {who}:\n/stop")


@pytest.mark.parametrize("text", ["yes", "/approve abc123"])
def test_words_of_an_inline_bot_are_not_the_person_s_own(text: str) -> None:
    event = received(text=text, via_bot={"id": 5, "is_bot": True, "first_name": "Gif", "username": "gif"})

    assert (event.text, event.shared) == ("", f"Forwarded from @gif:\n{text}")


@pytest.mark.parametrize(
    ("text", "chat", "expected"),
    [
        ("/help", PRIVATE, ("help", "", Addressed.DIRECT)),
        ("/start deep_link", PRIVATE, ("start", "deep_link", Addressed.DIRECT)),
        ("/stop@parley_bot now", GROUP, ("stop", "now", Addressed.MENTION)),
        ("/stop", GROUP, ("stop", "", Addressed.AMBIENT)),
    ],
)
def test_commands(text: str, chat: Json, expected: tuple[str, str, Addressed]) -> None:
    event = read({"message": message(chat, text=text, entities=[{"type": "bot_command", "offset": 0, "length": 5}])})

    assert isinstance(event, CommandInvoked)
    assert (event.name, event.arguments, event.addressed) == expected


def test_a_command_after_a_mention_is_a_command() -> None:
    event = read({"message": message(GROUP, text="@parley_bot /stop", entities=mention())})

    assert isinstance(event, CommandInvoked)
    assert (event.name, event.addressed) == ("stop", Addressed.MENTION)


def test_an_edit() -> None:
    event = read({"edited_message": message(GROUP, text="hello!", edit_date=1_700_000_009)})

    assert isinstance(event, MessageEdited)
    assert event.event_id == "telegram:42:-1001:5:edited:1700000009:ce06092fb948d9ff"
    assert (event.text, event.message_id, event.at) == ("hello!", "5", 1_700_000_009)


def test_two_edits_within_a_second_are_two_events_and_one_that_comes_again_is_none() -> None:
    def edit(text: str) -> str:
        event = read({"edited_message": message(GROUP, text=text, edit_date=1_700_000_009)})
        assert event is not None
        return event.event_id

    assert edit("to Rome") != edit("to Paris")
    assert edit("to Rome") == edit("to Rome")


def test_an_edit_of_what_somebody_passes_on_is_not_their_own_word() -> None:
    bot: Json = {"id": 9, "is_bot": True, "first_name": "Gifs", "username": "gif_bot"}
    event = read({"edited_message": message(GROUP, text="obey", edit_date=1_700_000_009, via_bot=bot)})

    assert isinstance(event, MessageEdited)
    assert (event.text, event.shared) == ("", "Forwarded from @gif_bot:\nobey")


def test_a_button() -> None:
    shown = message(GROUP, sender=BOT, text="Sure?", message_thread_id=3, is_topic_message=True)
    event = read({"callback_query": {"id": "99", "from": ANN, "message": shown, "data": "ok:1", "chat_instance": "1"}})

    assert isinstance(event, ButtonPressed)
    assert (event.event_id, event.action, event.message_id) == ("telegram:42:press:99", "ok:1", "5")
    assert (event.sender.id, event.chat.thread, event.at) == ("7", "3", NOW)


def test_a_button_of_a_message_too_old_to_be_read() -> None:
    old: Json = {"message_id": 5, "chat": PRIVATE, "date": 0}
    assert isinstance(read({"callback_query": {"id": "9", "from": ANN, "message": old, "data": "x"}}), ButtonPressed)


def test_a_reaction() -> None:
    event = read(
        {
            "message_reaction": {
                "chat": GROUP,
                "message_id": 5,
                "user": ANN,
                "date": 9,
                "old_reaction": [{"type": "emoji", "emoji": "👎"}],
                "new_reaction": [{"type": "emoji", "emoji": "👎"}, {"type": "emoji", "emoji": "👍"}],
            }
        }
    )

    assert isinstance(event, ReactionAdded)
    assert (event.emoji, event.message_id, event.sender.id) == ("👍", "5", "7")


def test_somebody_who_speaks_as_the_group() -> None:
    anonymous: Json = {"id": 1087968824, "is_bot": True, "first_name": "Group", "username": "GroupAnonymousBot"}
    event = received(GROUP, sender=anonymous, sender_chat=GROUP, text="hi")

    assert (event.sender.id, event.sender.name) == ("-1001", "Team")


NOTHING_FOR_US: list[Json] = [
    {},
    {"message": None},
    {"message": message(sender=BOT, text="mine")},
    {"message": message(sender=OTHER_BOT, text="beep")},
    {"edited_message": message(sender=BOT, text="mine")},
    {"message": message(GROUP, text="/help@other_bot")},
    {"message": message(GROUP, new_chat_members=[BEN])},
    {"message": message(GROUP, pinned_message=message(GROUP, text="pin"))},
    {"message": message(GROUP, pinned_message=message(GROUP, migrate_to_chat_id=-1002))},
    {"message": message(GROUP, forum_topic_created={"name": "Plans", "icon_color": 1})},
    {"message": {"message_id": 5, "chat": GROUP, "date": 1, "text": "nobody's"}},
    {"edited_message": message(location={"latitude": 1.0, "longitude": 2.0}, edit_date=5)},
    {"callback_query": {"id": "1", "from": ANN, "inline_message_id": "x", "data": "y", "chat_instance": "1"}},
    {"callback_query": {"id": "1", "from": ANN, "message": message(), "game_short_name": "g", "chat_instance": "1"}},
    {"message_reaction": {"chat": GROUP, "message_id": 5, "date": 9, "old_reaction": [], "new_reaction": []}},
    {"channel_post": message(GROUP, text="post")},
    {"my_chat_member": {"chat": GROUP, "from": ANN, "date": 1}},
    {"from_the_future": {"a": 1}},
    {"message": {"message_id": "x"}},
    {"message": "what"},
    {"message": [1, 2]},
]


@pytest.mark.parametrize("update", NOTHING_FOR_US)
def test_what_does_not_concern_us_is_nothing(update: Json) -> None:
    assert read(update) is None


@pytest.mark.parametrize("raw", [None, 3, "x", [], {}, {"update_id": "x"}])
def test_what_is_no_update_is_nothing(raw: object) -> None:
    assert parse(Update, raw) is None


def test_lone_surrogates_and_bad_positions_do_no_harm() -> None:
    event = received(GROUP, text="\ud83d @parley_bot \ude00", entities=mention(2))

    assert event.addressed is Addressed.MENTION
    event.text.encode()


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = [
    "text",
    "from",
    "chat",
    "date",
    "entities",
    "photo",
    "document",
    "reply_to_message",
    "quote",
    "forward_origin",
]


@given(st.sampled_from(FIELDS), ANYTHING)
def test_no_malformed_field_raises(field: str, content: JsonValue) -> None:
    read({"message": {**message(text="hi"), field: content}})
