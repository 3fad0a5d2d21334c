"""What people paste is recognised with everything around it."""

import pytest

from channels.slack.config import Config as Slack
from channels.telegram.config import Config as Telegram
from gateway.connect.pasted import cleaned, flaw, whose

TELEGRAM = "1234567890:AbCdEfGhIjKlMnOpQrStUvWxYz012345678"
DISCORD = "MTIwNDI0MjAwMDAwMDAwMDAwMQ.Gemula.ted_token-of-a-bot-that-is-none"


@pytest.mark.parametrize(
    "pasted",
    [
        "{}",
        "  {}\n",
        '"{}"',
        "“{}”",
        "`{}`\r\n",
        "<{}>",
        "Bearer {}",
        "Authorization: Bearer {}",
        "bot {}",
        "TELEGRAM_BOT_TOKEN={}",
        "export TELEGRAM_BOT_TOKEN = '{}'",
        "\u200b{}\ufeff",
    ],
)
def test_a_token_is_taken_out_of_what_surrounds_it(pasted: str) -> None:
    assert cleaned(pasted.format(TELEGRAM)) == TELEGRAM
    assert cleaned(pasted.format("xoxb-1-2")) == "xoxb-1-2"


def test_a_token_says_whose_it_is() -> None:
    assert whose(TELEGRAM) == "Telegram"
    assert whose("xoxb-1234-5678") == whose("xapp-1-A1-2-3") == "Slack"
    assert whose(DISCORD) == "Discord"
    assert whose("sk-ant-api03-abc") == "anthropic"
    assert whose("sk-or-v1-abc") == "openrouter"
    assert whose("hello") == whose("") == ""


def test_a_value_of_another_form_has_a_flaw_in_words() -> None:
    assert flaw(Telegram, "bot_token", TELEGRAM) == ""
    assert "@BotFather" in flaw(Telegram, "bot_token", "hello")
    assert "xoxb-" in flaw(Slack, "bot_token", "xapp-1-A1-2-3")
