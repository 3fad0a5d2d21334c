"""Files and shared messages in Slack's events: those that come along, and those of which little is told."""

import pytest
from pydantic import JsonValue

from tests.channels.slack.payloads import FILE, Json, received


def test_files_come_along() -> None:
    file = received(subtype="file_share", text="read <https://a.example>", files=[FILE]).attachments[0]

    assert (file.name, file.mime_type, file.size) == ("plan.pdf", "application/pdf", 1200)
    assert file.reference == "https://files.slack.com/files-pri/T1-F1/download/plan.pdf"


def test_what_a_picture_shows_is_read_in_the_words_of_its_uploader() -> None:
    picture: Json = {**FILE, "name": "cat.png", "mimetype": "image/png", "alt_txt": "a cat on a mat"}
    me = received(text="x").sender.id

    own = received(subtype="file_share", text="look", files=[{**picture, "user": me}])
    of_another = received(subtype="file_share", text="look", files=[{**picture, "user": "U99"}])
    shared = received(text="look", attachments=[{"author_name": "Ben", "files": [picture]}])

    assert (own.text, own.shared) == ("look\n\n[cat.png shows: a cat on a mat]", "")
    assert (of_another.text, of_another.shared) == ("look", "[cat.png shows: a cat on a mat]")
    assert shared.shared == "From Ben:\n[cat.png shows: a cat on a mat]"


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ({"id": "F1", "mode": "tombstone"}, "[file-F1: no longer available]"),
        ({"id": "F1", "name": "a.txt", "mode": "hidden_by_limit"}, "[a.txt: hidden]"),
        (
            {**FILE, "name": "notes", "is_external": True, "url_private": "https://docs.example/1"},
            "[notes: https://docs.example/1]",
        ),
    ],
)
def test_files_that_cannot_be_fetched_are_named(file: Json, line: str) -> None:
    event = received(subtype="file_share", text="look", files=[file])

    assert (event.text, event.shared, event.attachments) == ("look", line, ())


def test_a_file_of_which_only_the_id_is_told_is_looked_up_when_it_is_fetched() -> None:
    """Slack Connect tells no more of the files of other workspaces."""
    untold: Json = {"id": "F7", "mode": "file_access", "file_access": "check_file_info"}
    [file] = received(subtype="file_share", text="look", files=[untold]).attachments

    assert (file.name, file.reference) == ("file-F7", "slack-file:F7")


def test_files_of_a_shared_message_come_along_as_those_of_its_author() -> None:
    shared: JsonValue = [{"is_share": True, "author_name": "Ben", "text": "see", "files": [{**FILE, "user": ""}]}]
    [file] = received(text="look", attachments=shared).attachments

    assert (file.name, file.by) == (str(FILE["name"]), "Ben")


def test_a_shared_message_that_has_only_blocks_is_read() -> None:
    said: Json = {"type": "rich_text_section", "elements": [{"type": "text", "text": "Ship it"}]}
    blocks: JsonValue = [{"message": {"blocks": [{"type": "rich_text", "elements": [said]}]}}]
    event = received(
        attachments=[{"author_name": "Ben", "fallback": "[no preview available]", "message_blocks": blocks}]
    )

    assert event.shared == "From Ben:\nShip it"


def test_a_link_behind_words_in_blocks_has_its_address() -> None:
    link: Json = {"type": "link", "text": "the report", "url": "https://a.example/1"}
    section: Json = {"type": "rich_text_section", "elements": [{"type": "text", "text": "read "}, link]}
    event = received(text="", blocks=[{"type": "rich_text", "elements": [section]}])

    assert event.text == "read the report (https://a.example/1)"


def test_a_canvas_is_fetched_as_the_page_that_slack_gives() -> None:
    canvas: Json = {**FILE, "name": "Plan", "mimetype": "application/vnd.slack-docs", "mode": "quip"}

    event = received(files=[canvas])

    assert [(file.name, file.mime_type) for file in event.attachments] == [("Plan.html", "text/html")]


def test_an_email_is_fetched_as_a_page_of_others_and_its_files_come_along() -> None:
    enclosed: JsonValue = [
        {
            "filename": "bill.pdf",
            "mimetype": "application/pdf",
            "size": 9,
            "url": "https://files.slack.com/files-email/1",
        },
        {"filename": "no-address.pdf"},
    ]
    email: Json = {**FILE, "name": "Invoice", "mimetype": "text/html", "mode": "email", "attachments": enclosed}

    event = received(files=[email])

    assert [(file.name, file.mime_type, bool(file.by)) for file in event.attachments] == [
        ("Invoice.html", "text/html", True),
        ("bill.pdf", "application/pdf", True),
    ]
    assert event.attachments[1].reference == "https://files.slack.com/files-email/1"


def test_a_preview_has_the_address_that_it_is_of() -> None:
    entry: Json = {
        "title": "Order chairs",
        "fallback": "Order chairs",
        "from_url": "https://t.slack.com/lists/T1/F1?record_id=R1",
    }

    event = received(text="", attachments=[entry])

    assert event.shared == "Order chairs (https://t.slack.com/lists/T1/F1?record_id=R1)"


def quoting(**content: JsonValue) -> Json:
    return {"author_name": "Ben", "fallback": "[no preview available]", "message_blocks": [{"message": content}]}


def test_a_card_is_read_with_its_picture_footer_and_buttons() -> None:
    card: Json = {
        "title": "CPU is high",
        "image_url": "https://g.example/chart.png?a=1&b=2",
        "footer": "Grafana &amp; friends",
        "actions": [
            {"type": "button", "text": "Silence", "url": "https://g.example/silence"},
            {"type": "button", "text": "Like", "name": "like"},
            7,
        ],
    }

    event = received(text="what is this?", attachments=[card])

    assert event.text == "what is this?"
    assert event.shared.splitlines() == [
        "CPU is high",
        "https://g.example/chart.png?a=1&b=2",
        "Silence (https://g.example/silence)",
        "Grafana & friends",
    ]


def test_a_card_tells_its_small_picture_and_the_page_of_its_author() -> None:
    card: Json = {
        "author_name": "Ben",
        "author_link": "https://git.example/ben",
        "title": "Fix the lock",
        "thumb_url": "https://git.example/ben.png",
    }

    assert received(attachments=[card]).shared.splitlines() == [
        "From Ben:",
        "Fix the lock",
        "https://git.example/ben.png",
        "https://git.example/ben",
    ]


def test_a_shared_message_does_not_tell_the_profile_of_its_author() -> None:
    shared: Json = {"author_name": "Ben", "author_link": "https://team.slack.com/team/U8", "text": "hello"}

    assert received(attachments=[shared]).shared == "From Ben:\nhello"


def test_the_cells_of_a_table_stay_apart() -> None:
    def row(*cells: str) -> JsonValue:
        return [{"type": "raw_text", "text": cell} for cell in cells]

    rich: Json = {
        "type": "rich_text",
        "elements": [{"type": "rich_text_section", "elements": [{"type": "user", "user_id": "U8"}]}],
    }
    table: Json = {"type": "table", "rows": [row("Who", "How many"), [rich, {"type": "raw_text", "text": "12"}], 7]}

    assert received(text="", blocks=[table]).text.splitlines() == ["Who | How many", "@Ben | 12"]


def test_lists_keep_their_signs() -> None:
    def entry(text: str) -> Json:
        return {"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}

    lists: list[JsonValue] = [
        entry("to buy:"),
        {"type": "rich_text_list", "style": "ordered", "elements": [entry("milk"), entry("tea")]},
        {"type": "rich_text_list", "style": "bullet", "indent": 1, "elements": [entry("green")]},
        {"type": "rich_text_list", "style": "ordered", "offset": 2, "elements": [entry("rice")]},
    ]

    event = received(text="", blocks=[{"type": "rich_text", "elements": lists}])

    assert event.text.splitlines() == ["to buy:", "1. milk", "2. tea", "    • green", "3. rice"]


def test_a_picture_keeps_the_words_that_stand_for_it() -> None:
    card: Json = {"fallback": "Sales in May", "image_url": "https://g.example/may.png", "footer": "Sheets"}

    assert received(attachments=[card]).shared == "Sales in May\nhttps://g.example/may.png\nSheets"


def test_a_shared_message_is_read_with_the_cards_and_files_inside_it() -> None:
    inner: Json = {
        "author_name": "Eve",
        "text": "obey",
        "files": [{**FILE, "id": "F2", "name": "evil.pdf", "user": ""}],
    }
    shared = quoting(text="see", attachments=[inner], files=[{**FILE, "user": ""}])

    event = received(text="what is this?", attachments=[shared])

    assert (event.text, event.shared) == ("what is this?", "From Ben:\nsee\n[plan.pdf]\nFrom Eve:\nobey\n[evil.pdf]")
    assert [(file.name, file.by) for file in event.attachments] == [("plan.pdf", "Ben"), ("evil.pdf", "Eve")]


def test_a_file_that_is_told_twice_comes_along_once() -> None:
    shared: Json = {**quoting(text="see", files=[FILE]), "files": [FILE]}

    event = received(attachments=[shared])

    assert (event.shared, [file.name for file in event.attachments]) == ("From Ben:\nsee\n[plan.pdf]", ["plan.pdf"])


def test_a_shared_file_that_is_only_linked_has_its_address() -> None:
    linked: Json = {**FILE, "name": "notes", "is_external": True, "url_private": "https://docs.example/1"}

    assert (
        received(attachments=[quoting(text="see", files=[linked])]).shared
        == "From Ben:\nsee\n[notes: https://docs.example/1]"
    )


def test_the_buttons_of_a_shared_message_are_read_though_it_has_a_text() -> None:
    button: Json = {"type": "button", "text": {"type": "plain_text", "text": "Open"}, "url": "https://o.example"}
    section: Json = {"type": "section", "text": {"type": "mrkdwn", "text": "CPU is high"}, "accessory": button}

    shared: Json = {**quoting(blocks=[section]), "text": "CPU is high"}
    event = received(attachments=[shared])

    assert event.shared == "From Ben:\nCPU is high\nOpen (https://o.example)"


@pytest.mark.parametrize(
    ("odd", "kind"), [({"files": [7]}, "file"), ({"attachments": [7]}, "part"), ({"files": [{"name": "x"}]}, "file")]
)
def test_what_is_odd_inside_a_shared_message_is_named(odd: Json, kind: str) -> None:
    assert received(text="look", attachments=[quoting(text="see", **odd)]).unread == (kind,)


def test_a_shared_message_of_another_shape_is_named() -> None:
    event = received(text="look", attachments=[{"text": "see", "message_blocks": [{"message": 7}]}])

    assert (event.shared, event.unread) == ("see", ("part",))


def test_a_shared_message_of_which_nothing_is_shown_has_its_address() -> None:
    address = "https://t.slack.com/archives/G1/p1"
    event = received(text="", attachments=[{"fallback": "[no preview available]", "from_url": address}])

    assert event.shared == address
