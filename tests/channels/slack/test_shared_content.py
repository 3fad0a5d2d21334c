"""Files and shared messages in Slack's events: those that come along, and those of which little is told."""

import pytest
from pydantic import JsonValue

from tests.channels.slack.payloads import FILE, Json, received


def test_files_come_along() -> None:
    file = received(subtype="file_share", text="read <https://a.example>", files=[FILE]).attachments[0]

    assert (file.name, file.mime_type, file.size) == ("plan.pdf", "application/pdf", 1200)
    assert file.reference == "https://files.slack.com/files-pri/T1-F1/download/plan.pdf"


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

    assert event.shared == "Ben: Ship it"


def test_a_link_behind_words_in_blocks_has_its_address() -> None:
    link: Json = {"type": "link", "text": "the report", "url": "https://a.example/1"}
    section: Json = {"type": "rich_text_section", "elements": [{"type": "text", "text": "read "}, link]}
    event = received(text="", blocks=[{"type": "rich_text", "elements": [section]}])

    assert event.text == "read the report (https://a.example/1)"


def test_a_canvas_is_fetched_as_the_page_that_slack_gives() -> None:
    canvas: Json = {**FILE, "name": "Plan", "mimetype": "application/vnd.slack-docs", "mode": "quip"}

    event = received(files=[canvas])

    assert [(file.name, file.mime_type) for file in event.attachments] == [("Plan.html", "text/html")]
