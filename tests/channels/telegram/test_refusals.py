"""The meaning of Telegram's refusals, of which most are only told in words."""

import json

import pytest

from channels.base import AccountRefused, ChannelError, EditsRefused, MessageGone
from channels.telegram.client import BadEntities, Moved, NotModified, Polled, UnknownMethod, refusal

FAILURES: list[tuple[int, dict[str, object], type[ChannelError]]] = [
    (400, {"description": "Bad Request: message is not modified: specified new message content..."}, NotModified),
    (400, {"description": "Bad Request: can't parse entities: unsupported start tag at byte offset 3"}, BadEntities),
    (400, {"description": "Bad Request: message to edit not found"}, MessageGone),
    (400, {"description": "Bad Request: message can't be edited"}, EditsRefused),
    (400, {"description": "Bad Request: group ...", "parameters": {"migrate_to_chat_id": -100}}, Moved),
    (401, {"description": "Unauthorized"}, AccountRefused),
    (404, {"description": "Not Found"}, AccountRefused),
    (404, {"description": "Not Found: method not found"}, UnknownMethod),
    (409, {"description": "Conflict: terminated by other getUpdates request"}, Polled),
]


@pytest.mark.parametrize(("status", "answer", "meaning"), FAILURES)
def test_failures_mean_what_telegram_says_in_words(
    status: int, answer: dict[str, object], meaning: type[ChannelError]
) -> None:
    assert type(refusal(status, json.dumps(answer).encode())) is meaning


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "Bad Request: chat not found"),
        (403, "Forbidden: bot was blocked by the user"),
        (413, "Request Entity Too Large"),
    ],
)
def test_what_cannot_become_better_is_permanent(status: int, words: str) -> None:
    assert refusal(status, json.dumps({"description": words}).encode()).permanent


@pytest.mark.parametrize(
    ("body", "header", "seconds"),
    [
        (b'{"ok": false, "description": "Too Many Requests", "parameters": {"retry_after": 7}}', "3", 7.0),
        (b"<html>slow down</html>", "3", 3.0),
        (b"[]", "soon", 1.0),
    ],
)
def test_a_rate_limit_says_how_long_to_wait_in_the_body_or_the_header(body: bytes, header: str, seconds: float) -> None:
    assert refusal(429, body, header).retry_after == seconds


def test_a_page_of_a_proxy_is_a_failure_that_may_pass() -> None:
    told = refusal(502, b"<html>Bad Gateway</html>")

    assert (told.reason, told.permanent, told.ambiguous) == ("Bad Gateway (502)", False, False)
