"""Slack's failures as channel errors, and settings that cannot work."""

import pytest
from pydantic import SecretStr, ValidationError

from channels.base import AccountRefused, ChannelError, EditsRefused, MessageGone
from channels.discovery import required_secret
from channels.slack.config import Config
from channels.slack.errors import BadBlocks, Failure, MissingScope, Nothing, error_for

BOT = SecretStr("xoxb-1-2-abc")
APP = SecretStr("xapp-1-A1-2-abc")
SECRET = SecretStr("0123456789abcdef0123456789abcdef")


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        ("token_revoked", AccountRefused, "SLACK_BOT_TOKEN"),
        ("invalid_auth", AccountRefused, "OAuth & Permissions"),
        ("account_inactive", AccountRefused, "install it again"),
        ("missing_scope", MissingScope, "lacks the scope files:write; add it at api.slack.com/apps"),
        ("is_archived", ChannelError, "the channel is archived"),
        ("not_in_channel", ChannelError, "/invite"),
        ("channel_not_found", ChannelError, "not in it"),
        ("messages_tab_disabled", ChannelError, "Messages Tab"),
        ("message_not_found", MessageGone, "message_not_found"),
        ("edit_window_closed", EditsRefused, ""),
        ("cant_update_message", EditsRefused, ""),
        ("msg_blocks_too_long", BadBlocks, ""),
        ("invalid_blocks", BadBlocks, ""),
        ("already_reacted", Nothing, ""),
        ("something_new", ChannelError, "chat.postMessage: something_new"),
    ],
)
def test_what_cannot_become_better_is_permanent_and_says_what_to_do(
    error: str, kind: type[ChannelError], words: str
) -> None:
    failure = error_for(Failure("chat.postMessage", error, 200, needed="files:write"))

    assert type(failure) is kind
    assert (failure.permanent, failure.ambiguous) == (True, False)
    assert words in failure.reason


@pytest.mark.parametrize(
    ("error", "status", "ambiguous"),
    [
        ("internal_error", 200, False),
        ("fatal_error", 200, True),
        ("request_timeout", 200, True),
        ("file_update_failed", 200, True),
        ("", 502, True),
    ],
)
def test_trouble_of_slacks_own_may_pass(error: str, status: int, ambiguous: bool) -> None:  # noqa: FBT001
    failure = error_for(Failure("chat.postMessage", error, status))

    assert (failure.permanent, failure.ambiguous) == (False, ambiguous)


@pytest.mark.parametrize(
    ("failure", "seconds"),
    [
        (Failure("chat.update", "ratelimited", 429, 30), 30),
        (Failure("chat.update", "ratelimited", 200, None), 5),
        (Failure("chat.update", "", 429, None), 5),
    ],
)
def test_429_says_when_to_try_again_with_and_without_words(failure: Failure, seconds: float) -> None:
    told = error_for(failure)

    assert (told.retry_after, told.permanent, told.ambiguous) == (seconds, False, False)


def test_the_bot_token_says_whether_slack_is_wanted() -> None:
    assert required_secret(Config) == "bot_token"


@pytest.mark.parametrize("token", ["", "abc", "xoxp-1-2-abc", "xapp-1-A1-2-abc", "xoxb-1 2"])
def test_a_bot_token_that_cannot_be_one_is_refused_with_the_fix(token: str) -> None:
    with pytest.raises(ValidationError, match="OAuth & Permissions"):
        Config(bot_token=SecretStr(token), app_token=APP)


@pytest.mark.parametrize("token", ["abc", "xoxb-1-2-abc"])
def test_an_app_token_that_cannot_be_one_is_refused_with_the_fix(token: str) -> None:
    with pytest.raises(ValidationError, match="connections:write"):
        Config(bot_token=BOT, app_token=SecretStr(token))


@pytest.mark.parametrize("secret", ["abc", "xoxb-1-2-abcdefghijklmnop"])
def test_a_signing_secret_that_cannot_be_one_is_refused_with_the_fix(secret: str) -> None:
    with pytest.raises(ValidationError, match="App Credentials"):
        Config(bot_token=BOT, signing_secret=SecretStr(secret))


def test_without_a_way_for_events_to_come_it_says_which_token_is_missing() -> None:
    with pytest.raises(ValidationError, match="SLACK_APP_TOKEN is missing"):
        Config.model_validate({"bot_token": "xoxb-1-2-abc", "app_token": "", "signing_secret": ""})


def test_either_way_for_events_to_come_will_do() -> None:
    assert Config(bot_token=BOT, app_token=APP).signing_secret is None
    assert Config(bot_token=BOT, signing_secret=SECRET).app_token is None
