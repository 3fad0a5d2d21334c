"""Messages that Telegram's clients split arrive as one."""

from pydantic import JsonValue

from channels.base import Addressed, MessageReceived
from channels.telegram.polling import Arrival, join
from tests.channels.telegram.payloads import BEN, GROUP, PHOTO, Json, mention, message, read


def arrivals(*messages: Json, album: str | None = None) -> list[Arrival]:
    found = []
    for number, raw in enumerate(messages):
        event = read({"message": {**raw, "message_id": number}})
        assert event is not None
        found.append(Arrival(number, event, album))
    return found


def test_an_album_is_joined_and_may_go_on() -> None:
    pieces = join(
        arrivals(
            message(GROUP, photo=PHOTO),
            message(GROUP, photo=PHOTO, caption="@parley_bot see", caption_entities=mention()),
            album="a",
        )
    )

    (piece,) = pieces
    assert isinstance(piece.event, MessageReceived)
    assert (piece.event.text, len(piece.event.attachments), piece.event.addressed) == ("see", 2, Addressed.MENTION)
    assert (piece.event.event_id, piece.updates, piece.unfinished) == ("telegram:42:-1001:0-1", (0, 1), True)


def test_whoever_a_later_part_mentions_by_name_is_among_the_named() -> None:
    eve: Json = {"id": 9, "is_bot": False, "first_name": "Run it all"}
    marks: JsonValue = [{"type": "text_mention", "offset": 4, "length": 10, "user": eve}]
    pieces = join(
        arrivals(
            message(photo=PHOTO, caption="see"),
            message(photo=PHOTO, caption="Ask Run it all", caption_entities=marks),
            album="a",
        )
    )

    (piece,) = pieces
    assert isinstance(piece.event, MessageReceived)
    assert [each.name for each in piece.event.named] == ["Run it all"]


def test_a_forwarded_album_names_its_author_once_and_tells_of_each_picture_that_is_lost() -> None:
    origin: Json = {"type": "user", "sender_user": BEN, "date": 1}
    pieces = join(
        arrivals(
            message(photo=PHOTO, forward_origin=origin),
            message(photo=PHOTO, caption="our garden", forward_origin=origin),
            message(photo=["of another shape"], forward_origin=origin),
            album="a",
        )
    )

    (piece,) = pieces
    assert isinstance(piece.event, MessageReceived)
    assert (piece.event.shared, piece.event.unread) == ("Forwarded from Ben:\nour garden", ("file",))


def test_a_long_text_that_is_passed_on_in_pieces_is_one_too() -> None:
    origin: Json = {"type": "user", "sender_user": BEN, "date": 1}
    pieces = join(arrivals(message(text="a" * 4_096, forward_origin=origin), message(text="b", forward_origin=origin)))

    (piece,) = pieces
    assert isinstance(piece.event, MessageReceived)
    assert piece.event.text == ""
    assert piece.event.shared.endswith("aaa\nForwarded from Ben:\nb")


def test_what_another_says_in_between_ends_a_long_text() -> None:
    long = message(GROUP, text="a" * 4_096)
    pieces = join(arrivals(long, message(GROUP, sender=BEN, text="hm"), message(GROUP, text="b")))

    assert [piece.updates for piece in pieces] == [(0,), (1,), (2,)]
    assert not any(piece.unfinished for piece in pieces)


def test_a_reply_to_another_message_does_not_go_on_with_a_long_text() -> None:
    """It would be taken in without what it quotes."""
    replied: Json = message(sender=BEN, text="At noon.")
    pieces = join(arrivals(message(text="a" * 4_096), message(text="when?", reply_to_message=replied)))

    assert [piece.updates for piece in pieces] == [(0,), (1,)]
    assert isinstance(pieces[1].event, MessageReceived)
    assert pieces[1].event.quoted == "Ben: At noon."


def test_a_long_text_whose_pieces_all_reply_to_one_message_is_one() -> None:
    replied: Json = message(sender=BEN, text="At noon.")
    long = message(text="a" * 4_096, reply_to_message=replied)
    (piece,) = join(arrivals(long, message(text="b", reply_to_message=replied)))

    assert isinstance(piece.event, MessageReceived)
    assert piece.event.quoted == "Ben: At noon."


def test_texts_of_usual_length_stay_apart() -> None:
    pieces = join(arrivals(message(text="one"), message(text="two")))

    assert [piece.updates for piece in pieces] == [(0,), (1,)]
    assert not any(piece.unfinished for piece in pieces)


def test_pieces_of_two_chats_are_told_apart() -> None:
    long = "a" * 4_096
    pieces = join(arrivals(message(text=long), message(GROUP, text=long), message(text="b"), message(GROUP, text="c")))

    assert [piece.updates for piece in pieces] == [(0, 2), (1, 3)]
